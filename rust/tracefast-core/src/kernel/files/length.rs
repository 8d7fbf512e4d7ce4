//! How long a file is, as far as calls that change it and calls that see it tell. Of calls that
//! overlap the log does not imply which came first.

use crate::kernel::transfers::position::{Flight, Ticket};

/// A moment of the model: it goes on with each call that begins, and each change of a file.
pub(crate) type Moment = u64;

/// Who writes to the end of a file of unknown length: as long as it is one description alone, the
/// end is known relative to where its first write began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Appender {
    /// Nobody so far.
    #[default]
    Nobody,
    /// The description with this number, so many bytes.
    One(u32, i64),
    /// Others too.
    Several,
}

/// What a call did to the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing.
    Nothing,
    /// It added so many bytes at the end: those of a description with this number, if the end is
    /// counted from its first write.
    Append(i64, Option<u32>),
    /// The file reaches to here, at least.
    Reach(i64),
    /// The file is so long.
    Cut(i64),
    /// The file may be longer.
    Longer,
    /// The file may be longer, or shorter.
    Any,
}

/// What has been done by calls that overlap: if all of them did the same, their order may not
/// matter.
const APPENDED: u8 = 1;
const REACHED: u8 = 2;
const UNCLEAR: u8 = 4;

/// What a call that begins may do to the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Make the file longer.
    Longer,
    /// Make it longer, or shorter.
    Any,
}

/// A call under way that may change the length, from its begin to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    ticket: Ticket,
    changes: Changes,
}

/// The length of a file.
#[derive(Debug)]
pub(crate) struct Length {
    size: Option<i64>,
    appender: Appender,
    /// Calls under way that may change it.
    flight: Flight,
    /// How many of them may make it shorter.
    cutting: u32,
    /// What those did that are over, since one was under way.
    did: u8,
    /// Since when changes are followed.
    born: Moment,
    /// When it changed last, as far as the log shows.
    changed: Moment,
    /// When the file was made shorter last.
    cut: Moment,
    /// When the size became known, or changed.
    told: Moment,
}

/// What a read tells that found the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ended {
    /// The length.
    pub size: Option<i64>,
    /// Where relative positions count from.
    pub base: Option<i64>,
}

impl Length {
    /// One of which changes are followed from `born` on: calls that began before that may have
    /// made some.
    pub(crate) fn unknown(born: Moment) -> Self {
        Self {
            size: None,
            appender: Appender::Nobody,
            flight: Flight::default(),
            cutting: 0,
            did: 0,
            born,
            changed: 0,
            cut: 0,
            told: 0,
        }
    }

    /// Changes that began before `born` may have gone unseen.
    pub(crate) fn followed_from(&mut self, born: Moment) {
        self.born = self.born.max(born);
    }

    /// The length, if it is known.
    pub(crate) fn size(&self) -> Option<i64> {
        self.size
    }

    /// Who appended while it was not.
    pub(crate) fn appender(&self) -> Appender {
        self.appender
    }

    /// A call begins that may change it.
    pub(crate) fn begin(&mut self, changes: Changes) -> Turn {
        if self.flight.is_quiet() {
            self.did = 0;
        }
        self.cutting += u32::from(changes == Changes::Any);
        Turn { ticket: self.flight.begin(), changes }
    }

    /// Such a call is over, which began at `since`; says whether others may have changed the length
    /// meanwhile.
    pub(crate) fn land(&mut self, turn: Option<Turn>, since: Moment) -> bool {
        match turn {
            Some(turn) => {
                self.cutting = self.cutting.saturating_sub(u32::from(turn.changes == Changes::Any));
                self.flight.end(turn.ticket, None, true).overlapped
            }
            None if !self.flight.is_quiet() => self.flight.pass(None, true).overlapped,
            None => {
                let raced = !self.unchanged(since);
                // Those that it overlaps are over: nobody knows what they did.
                self.did = if raced { UNCLEAR } else { 0 };
                raced
            }
        }
    }

    /// What the call did that is over `now`.
    pub(crate) fn change(&mut self, change: Change, raced: bool, now: Moment) {
        if change == Change::Nothing {
            return;
        }
        if let (Change::Reach(end), Some(size)) = (change, self.size)
            && end <= size
            && self.did & !REACHED == 0
        {
            // Even if another call cuts the file meanwhile, which will show.
            self.did |= REACHED;
            return;
        }
        (self.changed, self.told) = (now, now);
        if matches!(change, Change::Cut(_) | Change::Any) {
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

    /// Nothing changed it since, and nothing is about to.
    pub(crate) fn is_still(&self, since: Moment) -> bool {
        self.flight.is_quiet() && self.unchanged(since)
    }

    fn unchanged(&self, since: Moment) -> bool {
        self.born <= since && self.changed <= since
    }

    /// When it changed last, as far as that was followed; 0 for never.
    pub(crate) fn changed(&self) -> Moment {
        self.changed
    }

    /// A call that began at `since` found the length `now`. Gives who appended until then; `None`
    /// where it is not clear of which moment the length is.
    pub(crate) fn see(&mut self, size: i64, since: Moment, now: Moment) -> Option<Appender> {
        if !self.is_still(since) {
            return None;
        }
        if self.size.is_some_and(|known| size < known) {
            self.cut = now;
        }
        (self.size, self.told) = (Some(size), now);
        Some(std::mem::replace(&mut self.appender, Appender::Several))
    }

    /// Somebody found out that it was cut before `now`.
    pub(crate) fn was_cut(&mut self, now: Moment) {
        self.cut = now;
    }

    /// The length follows from where the first relative write was.
    pub(crate) fn based(&mut self, number: u32, base: i64, now: Moment) {
        if let Appender::One(one, end) = self.appender
            && one == number
        {
            (self.size, self.told) = (Some(base.saturating_add(end)), now);
            self.appender = Appender::Several;
        }
    }

    /// A read that began at `since` found data up to `end`.
    pub(crate) fn reaches(&mut self, end: i64, since: Moment) {
        // Somebody made the file longer, whom the log does not show.
        if self.size.is_some_and(|size| size < end) && self.is_still(since) {
            self.size = None;
        }
    }

    /// A read that began at `since` found the end of the file at `at`, where the read before it
    /// ended, which began at `read`.
    pub(crate) fn ends(&mut self, at: i64, since: Moment, read: Moment, now: Moment) -> Ended {
        let none = Ended::default();
        // Who cut the file after that read may have cut it far before here.
        if self.cutting > 0 || self.cut > read {
            return none;
        }
        if !self.is_still(since) {
            // It was so long at that moment; it may be longer by now.
            let fits = self.size.is_none_or(|size| size >= at);
            return Ended { size: Some(at).filter(|_| fits), base: None };
        }
        match self.size {
            // The other read may be older than what is known.
            Some(size) if size < at && self.told > read => none,
            Some(size) if size > at => {
                // Somebody cut it, whom the log does not show.
                (self.size, self.cut) = (None, now);
                none
            }
            _ => {
                (self.size, self.told) = (Some(at), now);
                Ended { size: Some(at), base: None }
            }
        }
    }

    /// The same at `at` bytes from where relative positions count.
    pub(crate) fn ends_relative(&self, at: i64, since: Moment, read: Moment) -> Ended {
        let still = self.is_still(since) && self.cut <= read;
        let base = self.size.and_then(|size| size.checked_sub(at));
        match base.filter(|&base| still && base >= 0) {
            Some(base) => Ended { size: self.size, base: Some(base) },
            None => Ended::default(),
        }
    }
}
