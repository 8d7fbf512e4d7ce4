//! The size of a file, as far as it follows from calls that change it and calls that show it. The
//! log does not show which of two calls that overlap came first.

use crate::kernel::transfers::position::{CallStart, CallsInProgress};

/// A moment of the model. A new one begins with each entry of a call and each change of a file.
pub(crate) type Moment = u64;

/// Which descriptions append to a file of unknown size. As long as only one does, the end is known
/// relative to its first append.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Appender {
    /// Nobody so far.
    #[default]
    Nobody,
    /// The description with this number, which has appended so many bytes.
    One(u32, i64),
    /// Several descriptions.
    Several,
}

/// What a call did to the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    Nothing,
    /// It appended so many bytes; the number is that of its description if the end is counted from
    /// the first append.
    Append(i64, Option<u32>),
    /// The file has at least this size.
    Reach(i64),
    /// The file has this size.
    Cut(i64),
    /// The file has so many bytes more, or less.
    Shift(i64),
    /// The file may be longer now.
    Longer,
    /// The file may be longer or shorter now.
    Any,
}

/// What calls that overlap have done: if all did the same, their order may not matter.
const APPENDED: u8 = 1;
const REACHED: u8 = 2;
const UNCLEAR: u8 = 4;

/// What a call may do to the size, as its entry shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Make the file longer.
    Longer,
    /// Make it longer, or shorter.
    Any,
}

/// A call under way that may change the size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResizeStart {
    call_start: CallStart,
    changes: Changes,
}

/// The size of a file.
#[derive(Debug)]
pub(crate) struct Length {
    size: Option<i64>,
    appender: Appender,
    /// Calls under way that may change it.
    in_progress: CallsInProgress,
    /// How many of them may make it shorter.
    cutting: u32,
    /// What those that have ended did, since the first of them began.
    did: u8,
    /// Changes are known from here on.
    born: Moment,
    /// When it last changed, as far as the log shows.
    changed: Moment,
    /// When the file was last made shorter.
    cut: Moment,
    /// The description with this number wrote last: if it appends, the file ends where that write
    /// ended. 0: none.
    last_writer: u32,
    /// When the size became known or last changed.
    size_since: Moment,
    /// A call in the log gave it a length, so it is probably nobody else's.
    own: bool,
    /// Until then, no file that may be the same one under another name has changed.
    proved: Moment,
    /// The file may be shorter than its known size by now, since another one has changed that may be
    /// the same. What is written next may make it longer.
    stale: bool,
}

/// What a read at the end of the file shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ended {
    /// The size.
    pub size: Option<i64>,
    /// Where relative positions count from.
    pub base: Option<i64>,
}

impl Length {
    /// An unknown size. Calls that began before `born` may have changed it unseen.
    pub(crate) fn unknown(born: Moment) -> Self {
        Self {
            size: None,
            appender: Appender::Nobody,
            in_progress: CallsInProgress::default(),
            cutting: 0,
            did: 0,
            born,
            changed: 0,
            cut: 0,
            last_writer: 0,
            size_since: 0,
            own: false,
            proved: born,
            stale: false,
        }
    }

    /// What it was when the file was closed, and until when that was proved.
    pub(crate) fn restore(&mut self, (size, proved): (i64, Moment)) {
        (self.size, self.size_since, self.appender) = (Some(size), self.born, Appender::Several);
        (self.own, self.proved) = (true, proved);
    }

    /// What to restore when the file is opened again.
    pub(crate) fn to_restore(&self) -> Option<(i64, Moment)> {
        Some((self.size.filter(|_| self.own)?, self.proved))
    }

    /// Calls that began before `born` may have changed it unseen.
    pub(crate) fn followed_from(&mut self, born: Moment) {
        self.born = self.born.max(born);
    }

    /// The log does not show in which order it changes: it is never known.
    pub(crate) fn lose_order(&mut self) {
        (self.size, self.appender, self.born) = (None, Appender::Several, Moment::MAX);
    }

    /// The size, if it is known.
    pub(crate) fn size(&self) -> Option<i64> {
        self.size
    }

    /// Whether the size, or who appends, counts for anything.
    #[inline]
    pub(crate) fn counts(&self) -> bool {
        self.size.is_some() || self.last_writer != 0 || matches!(self.appender, Appender::One(..))
    }

    /// See [`crate::kernel::files::other_names`].
    #[inline]
    pub(crate) fn proved(&self) -> Moment {
        self.proved
    }

    /// No other file that may be this one has changed until `now`.
    pub(crate) fn prove(&mut self, now: Moment) {
        self.proved = now;
    }

    /// The call that has cut the file began at `since`: what other calls did since then to files that
    /// may be this one may have come after it.
    pub(crate) fn cut_since(&mut self, since: Moment) {
        self.proved = self.proved.min(since);
    }

    /// Another name of this file may have been used to change it.
    pub(crate) fn lose(&mut self) {
        (self.size, self.appender, self.last_writer) = (None, Appender::Several, 0);
    }

    /// The same, but that is found out only when the size counts.
    #[inline]
    pub(crate) fn doubt(&mut self, doubtful: bool) {
        self.stale = doubtful;
    }

    /// A call is under way that may change the size.
    pub(crate) fn is_changing(&self) -> bool {
        !self.in_progress.is_empty()
    }

    /// The description that wrote last, if nothing has changed the file since.
    pub(crate) fn last_writer(&self) -> u32 {
        self.last_writer
    }

    /// The description with this number has written, while nothing else changed the file.
    pub(crate) fn wrote(&mut self, number: u32) {
        self.last_writer = number;
    }

    /// Which descriptions have appended while the size was not known.
    pub(crate) fn appender(&self) -> Appender {
        self.appender
    }

    /// A call is entered that may change it.
    pub(crate) fn begin(&mut self, changes: Changes) -> ResizeStart {
        if self.in_progress.is_empty() {
            self.did = 0;
        }
        self.cutting += u32::from(changes == Changes::Any);
        ResizeStart { call_start: self.in_progress.begin(), changes }
    }

    /// Such a call, which began at `since`, is over. Returns whether other calls may have changed
    /// the size meanwhile.
    pub(crate) fn end(&mut self, resize: Option<ResizeStart>, since: Moment) -> bool {
        let unordered = self.born == Moment::MAX;
        match resize {
            Some(resize) => {
                self.cutting =
                    self.cutting.saturating_sub(u32::from(resize.changes == Changes::Any));
                self.in_progress.end(resize.call_start, None, true).overlapped || unordered
            }
            None if !self.in_progress.is_empty() => self.in_progress.pass(None, true).overlapped,
            None => {
                let raced = !self.unchanged(since);
                // The calls that it overlaps are over, and what they did is not known any more.
                self.did = if raced { UNCLEAR } else { 0 };
                raced
            }
        }
    }

    /// Whether such a call is under way, and no other one since it began.
    pub(crate) fn is_only(&self, resize: ResizeStart) -> bool {
        self.in_progress.is_only(resize.call_start)
    }

    /// Applies what a call did that is over `now`.
    pub(crate) fn change(&mut self, change: Change, raced: bool, now: Moment) {
        if change == Change::Nothing {
            return;
        }
        if let (Change::Reach(end), Some(size)) = (change, self.size)
            && end <= size
            && self.did & !REACHED == 0
            && !std::mem::take(&mut self.stale)
        {
            // If another call cuts the file meanwhile, that will show.
            self.did |= REACHED;
            return;
        }
        if !self.counts() || matches!(change, Change::Cut(_)) {
            self.proved = now;
        }
        self.last_writer = 0;
        self.own |= matches!(change, Change::Cut(_));
        (self.changed, self.size_since) = (now, now);
        if matches!(change, Change::Cut(_) | Change::Any | Change::Shift(..0)) {
            self.cut = now;
        }
        self.did |= match change {
            Change::Append(..) => APPENDED,
            Change::Reach(_) => REACHED,
            _ => UNCLEAR,
        };
        let appender = std::mem::replace(&mut self.appender, Appender::Several);
        self.size = match (change, self.size) {
            (Change::Cut(size), _) if !raced => Some(size),
            (Change::Shift(by), Some(size)) if !raced => {
                size.checked_add(by).filter(|&size| size >= 0)
            }
            (Change::Append(bytes, _), Some(size)) if !raced || self.did == APPENDED => {
                Some(size.saturating_add(bytes))
            }
            (Change::Reach(end), Some(size)) if !raced || self.did == REACHED => {
                Some(size.max(end))
            }
            _ => None,
        };
        if let (Change::Append(bytes, Some(by)), false) = (change, raced) {
            self.appender = match appender {
                Appender::Nobody => Appender::One(by, bytes),
                Appender::One(one, end) if one == by => {
                    Appender::One(by, end.saturating_add(bytes))
                }
                _ => Appender::Several,
            };
        }
    }

    /// Whether nothing has changed it since, and no call is under way that may.
    pub(crate) fn is_still(&self, since: Moment) -> bool {
        self.in_progress.is_empty() && self.unchanged(since)
    }

    fn unchanged(&self, since: Moment) -> bool {
        self.born <= since && self.changed <= since
    }

    /// When it last changed, as far as it was followed; 0 for never.
    pub(crate) fn changed(&self) -> Moment {
        self.changed
    }

    /// A call that began at `since` and is over `now` has shown the size. Returns who has appended
    /// until then; `None` if it is not clear at which moment the file had this size.
    pub(crate) fn see(&mut self, size: i64, since: Moment, now: Moment) -> Option<Appender> {
        if !self.is_still(since) {
            return None;
        }
        if self.size.is_some_and(|known| size < known) {
            self.cut = now;
        }
        (self.size, self.size_since, self.proved) = (Some(size), now, since);
        Some(std::mem::replace(&mut self.appender, Appender::Several))
    }

    /// A call has shown that the file was cut before `now`.
    pub(crate) fn was_cut(&mut self, now: Moment) {
        self.cut = now;
    }

    /// The place of the first append is known, and the size follows from it.
    pub(crate) fn based(&mut self, number: u32, base: i64, now: Moment) {
        if let Appender::One(one, end) = self.appender
            && one == number
        {
            (self.size, self.size_since) = (Some(base.saturating_add(end)), now);
            self.appender = Appender::Several;
        }
    }

    /// A read that began at `since` returned data up to `end`.
    pub(crate) fn reaches(&mut self, end: i64, since: Moment) {
        // Something outside of the log made the file longer.
        if self.size.is_some_and(|size| size < end) && self.is_still(since) {
            self.size = None;
        }
    }

    /// A read that began at `since` found the end of the file at `at`, where the previous read
    /// ended, which began at `read`.
    pub(crate) fn ends(&mut self, at: i64, since: Moment, read: Moment, now: Moment) -> Ended {
        let none = Ended::default();
        // A cut since the previous read may have left the end far before `at`.
        if self.cutting > 0 || self.cut > read || self.born == Moment::MAX {
            return none;
        }
        if !self.is_still(since) {
            // The file had this size at that moment; it may be longer by now.
            let fits = self.size.is_none_or(|size| size >= at);
            return Ended { size: Some(at).filter(|_| fits), base: None };
        }
        match self.size {
            // The previous read may be older than the known size.
            Some(size) if size < at && self.size_since > read => none,
            Some(size) if size > at => {
                // Something outside of the log cut the file.
                (self.size, self.cut) = (None, now);
                none
            }
            _ => {
                (self.size, self.size_since, self.proved) = (Some(at), now, since);
                Ended { size: Some(at), base: None }
            }
        }
    }

    /// The same, where `at` is relative.
    pub(crate) fn ends_relative(&self, at: i64, since: Moment, read: Moment) -> Ended {
        let still = self.is_still(since) && self.cut <= read;
        let base = self.size.and_then(|size| size.checked_sub(at));
        match base.filter(|&base| still && base >= 0) {
            Some(base) => Ended { size: self.size, base: Some(base) },
            None => Ended::default(),
        }
    }
}
