//! Offsets and positions, the classes of accesses, and calls that overlap on one position.
//!
//! The position of a description that is older than the log is not known. Its offsets count from
//! its first access until something proves where that was.

use crate::events::vocabulary::Access;

/// An offset in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offset {
    /// Bytes from the start of the file.
    Exact(i64),
    /// Bytes from the start of the description's first access.
    Relative(i64),
}

impl Offset {
    /// The offset `bytes` further on.
    pub(crate) fn plus(self, bytes: i64) -> Self {
        match self {
            Self::Exact(at) => Self::Exact(at.saturating_add(bytes)),
            Self::Relative(at) => Self::Relative(at.saturating_add(bytes)),
        }
    }

    /// The same offset once relative ones are known to count from `base`.
    fn based(self, base: i64) -> Self {
        match self {
            Self::Relative(at) => Self::Exact(at.wrapping_add(base)),
            exact @ Self::Exact(_) => exact,
        }
    }
}

/// The position of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// It has none: a pipe, a socket, a terminal.
    None,
    /// Not known.
    Unknown,
    /// Known.
    At(Offset),
}

impl Position {
    /// The position after `bytes` more.
    pub(crate) fn plus(self, bytes: i64) -> Self {
        match self {
            Self::At(spot) => Self::At(spot.plus(bytes)),
            other => other,
        }
    }

    /// Relative positions count from `base`.
    pub(crate) fn based(self, base: i64) -> Self {
        match self {
            Self::At(spot) => Self::At(spot.based(base)),
            other => other,
        }
    }
}

/// The reads of a description, or its writes: each access is compared with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stream {
    /// No access so far.
    #[default]
    Fresh,
    /// The last one ended here.
    End(Offset),
    /// Where the last one ended is not known.
    Lost,
}

impl Stream {
    /// The class of an access of `bytes` bytes at `at`, which becomes the last one; `None` if the
    /// class is not known.
    #[inline]
    pub(crate) fn see(&mut self, at: Option<Offset>, bytes: i64) -> Option<Access> {
        let before = *self;
        let Some(at) = at else {
            *self = Self::Lost;
            return None;
        };
        *self = Self::End(at.plus(bytes));
        let (at, end) = match (before, at) {
            (Self::Fresh, _) => return Some(Access::First),
            (Self::End(Offset::Exact(end)), Offset::Exact(at))
            | (Self::End(Offset::Relative(end)), Offset::Relative(at)) => (at, end),
            _ => return None,
        };
        Some(match at.cmp(&end) {
            std::cmp::Ordering::Less => Access::Backward,
            std::cmp::Ordering::Equal => Access::Consecutive,
            std::cmp::Ordering::Greater => Access::Forward,
        })
    }

    /// Relative offsets count from `base`.
    pub(crate) fn base(&mut self, base: i64) {
        if let Self::End(spot) = self {
            *spot = spot.based(base);
        }
    }

    /// The last access ended here.
    pub(crate) fn ended_at(&self, at: Offset) -> bool {
        *self == Self::End(at)
    }
}

/// Calls under way that move the same position. Which of them the kernel handled first is known
/// only where one ended before the other began.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallsInProgress {
    /// How many are under way.
    count: u32,
    /// Counts entries and exits.
    steps: u32,
    /// How far those that have ended moved the position, since the first of them began.
    moved: i64,
    /// Where the position will be depends on their order.
    lost: bool,
    /// Whether reads, and writes, among them moved it.
    moved_by: [bool; 2],
    /// How many of them moved it.
    moves: u32,
}

/// One of these calls, from entry to exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallStart {
    steps: u32,
    alone: bool,
}

/// How far the position moved since the first of them began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Total {
    /// Others are still under way.
    Open,
    /// By so many bytes.
    Moved(i64),
    /// That depends on their order.
    Lost,
}

/// What is known when one of them ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallOverlap {
    /// Others were under way at the same time.
    pub overlapped: bool,
    /// How far all of them moved the position.
    pub total: Total,
    /// Whether reads, and writes, among them moved it.
    pub moved_by: [bool; 2],
}

impl CallsInProgress {
    /// Whether no such call is under way.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether one such call is under way.
    pub(crate) fn is_single(&self) -> bool {
        self.count == 1
    }

    /// A call begins.
    pub(crate) fn begin(&mut self) -> CallStart {
        let alone = self.count == 0;
        if alone {
            self.reset();
        }
        self.count += 1;
        self.steps = self.steps.wrapping_add(1);
        CallStart { steps: self.steps, alone }
    }

    /// A call has ended that moved the position by `moved` bytes, `None` if the position may be
    /// anywhere.
    pub(crate) fn end(
        &mut self,
        call_start: CallStart,
        moved: Option<i64>,
        write: bool,
    ) -> CallOverlap {
        // Those that moved nothing displace nobody. Whether one that is still under way does, is not
        // known.
        let displaced = self.count > 1 || self.lost || self.moves > 0;
        let overlapped = displaced && (!call_start.alone || self.steps != call_start.steps);
        self.count = self.count.saturating_sub(1);
        self.record(overlapped, moved, write)
    }

    /// Ends the call of `call_start`, or one that begins and ends here, but only if no other call
    /// was under way meanwhile. Returns whether it did.
    #[inline]
    pub(crate) fn is_alone(&mut self, call_start: Option<CallStart>) -> bool {
        match call_start {
            None => self.is_empty(),
            Some(start) => {
                let only = self.is_only(start);
                if only {
                    self.count = 0;
                    self.steps = self.steps.wrapping_add(1);
                }
                only
            }
        }
    }

    /// Whether the call of `call_start` is under way, and no other one since it began.
    #[inline]
    pub(crate) fn is_only(&self, call_start: CallStart) -> bool {
        call_start.alone && call_start.steps == self.steps && self.count == 1
    }

    /// A call begins and ends here, while others are under way.
    pub(crate) fn pass(&mut self, moved: Option<i64>, write: bool) -> CallOverlap {
        self.record(true, moved, write)
    }

    fn record(&mut self, overlapped: bool, moved: Option<i64>, write: bool) -> CallOverlap {
        self.steps = self.steps.wrapping_add(1);
        match moved {
            Some(moved) => {
                self.moved = self.moved.wrapping_add(moved);
                self.moved_by[usize::from(write)] |= moved != 0;
                self.moves = self.moves.saturating_add(u32::from(moved != 0));
            }
            None => self.lost = true,
        }
        let total = match (self.count, self.lost) {
            (1.., _) => Total::Open,
            (0, true) => Total::Lost,
            (0, false) => Total::Moved(self.moved),
        };
        CallOverlap { overlapped, total, moved_by: self.moved_by }
    }

    /// How many calls have moved the position since the first of them began, and how far.
    pub(crate) fn moves(&self) -> (u32, i64) {
        (self.moves, self.moved)
    }

    fn reset(&mut self) {
        (self.moved, self.lost, self.moved_by, self.moves) = (0, false, [false; 2], 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_from_the_end_before() {
        let mut stream = Stream::default();
        let mut see = |at, bytes| stream.see(Some(Offset::Exact(at)), bytes);
        assert_eq!(see(100, 10), Some(Access::First));
        assert_eq!(see(110, 10), Some(Access::Consecutive));
        assert_eq!(see(130, 10), Some(Access::Forward));
        assert_eq!(see(0, 10), Some(Access::Backward));
        assert_eq!(see(10, 10), Some(Access::Consecutive));
    }

    #[test]
    fn what_is_not_known_makes_the_next_one_unknown_too() {
        let mut stream = Stream::default();
        assert_eq!(stream.see(None, 10), None);
        assert_eq!(stream.see(Some(Offset::Exact(0)), 10), None);
        assert_eq!(stream.see(Some(Offset::Exact(10)), 10), Some(Access::Consecutive));
        // Relative and exact offsets cannot be compared until the base is known.
        assert_eq!(stream.see(Some(Offset::Relative(0)), 10), None);
        stream.base(20);
        assert_eq!(stream.see(Some(Offset::Exact(30)), 1), Some(Access::Consecutive));
    }

    #[test]
    fn overlapping_calls_are_distinguished_from_consecutive_ones() {
        let mut in_progress = CallsInProgress::default();
        let first = in_progress.begin();
        let alone = in_progress.end(first, Some(5), false);
        assert_eq!(
            alone,
            CallOverlap { overlapped: false, total: Total::Moved(5), moved_by: [true, false] }
        );
        let (first, second) = (in_progress.begin(), in_progress.begin());
        let overlap = in_progress.end(second, Some(1), false);
        assert_eq!((overlap.overlapped, overlap.total), (true, Total::Open));
        let third = in_progress.begin();
        assert_eq!(in_progress.end(first, Some(2), true).total, Total::Open);
        let overlap = in_progress.end(third, Some(4), false);
        assert_eq!(
            overlap,
            CallOverlap { overlapped: true, total: Total::Moved(7), moved_by: [true, true] }
        );
        // A call that is not split, while another one is under way.
        let first = in_progress.begin();
        assert!(in_progress.pass(Some(3), false).overlapped);
        let overlap = in_progress.end(first, None, false);
        assert_eq!((overlap.overlapped, overlap.total), (true, Total::Lost));
        assert!(in_progress.is_empty());
    }
}
