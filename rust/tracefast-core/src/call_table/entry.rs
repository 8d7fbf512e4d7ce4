//! One row of the table in the making.

use super::durations::Durations;
use super::words::{End, Fault, Meaning, Role};
use crate::uses::Ranges;
use crate::waits::Giver;

/// A call, as far as every row of the table needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) meaning: Meaning,
    pub(super) ts: Option<i64>,
    pub(super) dur: Option<i64>,
    pub(super) end: End,
    pub(super) fault: Option<Fault>,
    pub(super) giver: Giver,
    pub(super) bytes: Option<i64>,
}

impl Call {
    /// Whether its time was spent waiting; None where the log cannot say.
    fn waits(&self) -> Option<bool> {
        self.meaning.time.waits_for(self.giver)
    }
}

/// The calls of one name, of one process if rows are parted by them.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) calls: u64,
    pub(super) errors: u64,
    pub(super) unfinished: u64,
    /// Calls whose duration is known, and those of them whose beginning is not.
    pub(super) timed: u64,
    pub(super) timeless: u64,
    pub(super) total: i128,
    pub(super) durations: Durations,
    pub(super) wall: Ranges,
    /// Timed calls of which it is known whether they waited.
    pub(super) judged: u64,
    pub(super) waited: i128,
    /// Calls that say how many bytes they moved.
    pub(super) moved: u64,
    pub(super) bytes: i128,
}

impl Entry {
    #[inline]
    pub(super) fn count(&mut self, call: &Call) {
        self.calls += 1;
        if call.end == End::None && call.meaning.role != Role::Exit {
            self.unfinished += 1;
        }
        if call.fault == Some(Fault::Error) && call.meaning.role != Role::Sigreturn {
            self.errors += 1;
        }
        if let Some(bytes) = call.bytes {
            self.moved += 1;
            self.bytes += i128::from(bytes);
        }
        let Some(dur) = call.dur else { return };
        self.timed += 1;
        self.total += i128::from(dur);
        self.durations.push(dur);
        match call.ts {
            Some(ts) => self.wall.insert(ts, ts.saturating_add(dur)),
            None => self.timeless += 1,
        }
        if let Some(waits) = call.waits() {
            self.judged += 1;
            if waits {
                self.waited += i128::from(dur);
            }
        }
    }

    /// Adds all of `other`.
    pub(super) fn absorb(&mut self, mut other: Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.unfinished += other.unfinished;
        self.timed += other.timed;
        self.timeless += other.timeless;
        self.total += other.total;
        self.durations.absorb(other.durations);
        self.wall.absorb(&mut other.wall, 0);
        self.judged += other.judged;
        self.waited += other.waited;
        self.moved += other.moved;
        self.bytes += other.bytes;
    }
}
