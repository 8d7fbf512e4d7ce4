//! One row of the table while events are folded.

use crate::linux::waits::Giver;
use crate::tables::busy_time::BusyTime;
use crate::tables::syscalls::durations::Durations;
use crate::tables::syscalls::word_classes::{End, Fault, Meaning, Role};

/// What the table needs of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallFacts {
    pub(crate) meaning: Meaning,
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    pub(crate) end: End,
    pub(crate) fault: Option<Fault>,
    pub(crate) giver: Giver,
    pub(crate) bytes: Option<i64>,
}

impl CallFacts {
    /// Whether its time was spent waiting; None if the log does not show it.
    fn waits(&self) -> Option<bool> {
        self.meaning.time.waits_for(self.giver, self.dur)
    }
}

/// The calls of one name, and of one process if rows are split by process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) unfinished: u64,
    /// Of those without a duration: how many have a start, and the sum of these.
    pub(crate) open: u64,
    pub(crate) begun: i128,
    /// Calls whose duration is known, and those of them whose start is not.
    pub(crate) timed: u64,
    pub(crate) timeless: u64,
    pub(crate) total: i128,
    pub(crate) durations: Durations,
    pub(crate) wall: BusyTime,
    /// Calls with a duration that are known to have waited or not.
    pub(crate) judged: u64,
    pub(crate) waited: i128,
    /// Calls that say how many bytes they moved.
    pub(crate) moved: u64,
    pub(crate) bytes: i128,
}

impl Entry {
    #[inline]
    pub(crate) fn count(&mut self, call: &CallFacts, distributions: bool) {
        self.calls += 1;
        if call.end == End::None && call.meaning.role != Role::Exit {
            self.unfinished += 1;
            if let (Some(ts), None) = (call.ts, call.dur) {
                self.open += 1;
                self.begun += i128::from(ts);
            }
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
        if distributions {
            self.durations.push(dur);
        }
        match call.ts {
            Some(ts) if distributions => self.wall.insert(ts, ts.saturating_add(dur)),
            Some(_) => {}
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
        self.open += other.open;
        self.begun += other.begun;
        self.timed += other.timed;
        self.timeless += other.timeless;
        self.total += other.total;
        self.durations.absorb(other.durations);
        self.wall.absorb(&mut other.wall);
        self.judged += other.judged;
        self.waited += other.waited;
        self.moved += other.moved;
        self.bytes += other.bytes;
    }
}
