//! One row of the table in the making.

use crate::linux::waits::Giver;
use crate::tables::ranges::Ranges;
use crate::tables::syscalls::durations::Durations;
use crate::tables::syscalls::words::{End, Fault, Meaning, Role};

/// A call, as far as every row of the table needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) meaning: Meaning,
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    pub(crate) end: End,
    pub(crate) fault: Option<Fault>,
    pub(crate) giver: Giver,
    pub(crate) bytes: Option<i64>,
}

impl Call {
    /// Whether its time was spent waiting; None where the log cannot say.
    fn waits(&self) -> Option<bool> {
        self.meaning.time.waits_for(self.giver)
    }
}

/// The calls of one name, of one process if rows are parted by them.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) unfinished: u64,
    /// Calls whose duration is known, and those of them whose beginning is not.
    pub(crate) timed: u64,
    pub(crate) timeless: u64,
    pub(crate) total: i128,
    pub(crate) durations: Durations,
    pub(crate) wall: Ranges,
    /// Timed calls of which it is known whether they waited.
    pub(crate) judged: u64,
    pub(crate) waited: i128,
    /// Calls that say how many bytes they moved.
    pub(crate) moved: u64,
    pub(crate) bytes: i128,
}

impl Entry {
    #[inline]
    pub(crate) fn count(&mut self, call: &Call) {
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
    pub(crate) fn absorb(&mut self, mut other: Self) {
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
