//! What was read from a file, or written to it: counts, sizes, ranges, times.

use std::ops::AddAssign;

use crate::tables::busy_time::BusyTime;
use crate::tables::files::position::Stream;
use crate::tables::files::shared_bytes::ProcessRanges;
use crate::tables::files::word_classes::Class;
use crate::tables::packed::Packed;
use crate::tables::values::Values;

/// What both sides of a data call have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DataCall {
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    pub(crate) ret: Option<i64>,
    pub(crate) requested: Option<i64>,
    pub(crate) bytes: Option<i64>,
    pub(crate) pid: Option<i32>,
}

impl DataCall {
    /// Whether it hit the end of the file.
    pub(crate) fn ended(&self) -> bool {
        self.bytes == Some(0) && self.requested != Some(0)
    }
}

/// A sum of values that only some calls have.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum(Packed<i64>);

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, value: Option<i64>) {
        if let Some(value) = value {
            self.0.set(self.0.get().unwrap_or(0).saturating_add(value));
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.add(other.0.get());
    }

    /// The sum; None if there were calls but none of them had a value.
    pub(crate) fn total(self, calls: u64) -> Option<i64> {
        self.0.get().or_else(|| (calls == 0).then_some(0))
    }
}

/// A count that stops at the largest number that the table holds. There are many in each row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count(u32);

impl Count {
    pub(crate) fn get(self) -> u64 {
        self.0.into()
    }
}

impl AddAssign<u64> for Count {
    #[inline]
    fn add_assign(&mut self, more: u64) {
        self.0 = self.0.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
    }
}

/// The reads, or the writes, of one row of the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Direction {
    /// All calls, failed ones too.
    pub(crate) calls: Count,
    /// Calls whose duration is known, but not their start.
    pub(crate) timeless: Count,
    pub(crate) ns: Sum,
    /// Calls that succeeded.
    pub(crate) done: Count,
    pub(crate) errors: Count,
    pub(crate) bytes: Sum,
    pub(crate) requested: Sum,
    pub(crate) first: Count,
    pub(crate) consecutive: Count,
    pub(crate) forward: Count,
    pub(crate) backward: Count,
    pub(crate) eof: Count,
    pub(crate) near: Count,
    pub(crate) rewinds: Count,
    pub(crate) short: Count,
    /// Calls that moved data, and how many of them have a known position.
    pub(crate) moved: Count,
    pub(crate) placed: Count,
    pub(crate) placed_bytes: i64,
    /// Bytes of calls that have a class, and of those that are not random.
    pub(crate) judged_bytes: i64,
    pub(crate) straight_bytes: i64,
    pub(crate) runs: Values,
    pub(crate) jumps: Option<Box<Values>>,
    pub(crate) sizes: Values,
    pub(crate) asked: Values,
    pub(crate) durations: Values,
    pub(crate) wall: BusyTime,
    pub(crate) ranges: ProcessRanges,
    /// What descriptions of unknown position add: bytes in union, and bytes that processes share.
    pub(crate) apart: Option<Box<(i64, i64)>>,
    /// The stream of accesses whatever the description, if the table has such streams.
    pub(crate) stream: Option<Box<Stream>>,
}

impl Direction {
    /// Counts a call, and returns whether it moved data. `distributions`: see
    /// [`Options`](crate::tables::files::Options).
    pub(crate) fn count(&mut self, call: &DataCall, distributions: bool) -> bool {
        self.calls += 1;
        self.ns.add(call.dur);
        if let Some(dur) = call.dur {
            if distributions {
                self.durations.push(dur);
            }
            match call.ts {
                Some(_) if !distributions => {}
                Some(ts) => self.wall.insert(ts, ts.saturating_add(dur)),
                None => self.timeless += 1,
            }
        }
        let Some(ret) = call.ret else { return false };
        if ret < 0 {
            self.errors += 1;
            return false;
        }
        self.done += 1;
        self.bytes.add(call.bytes);
        self.requested.add(call.requested);
        if distributions && let Some(asked) = call.requested {
            self.asked.push(asked);
        }
        let Some(bytes) = call.bytes else { return false };
        if distributions {
            self.sizes.push(bytes);
        }
        if bytes <= 0 {
            return false;
        }
        self.moved += 1;
        if call.requested.is_some_and(|asked| bytes < asked) {
            self.short += 1;
        }
        true
    }

    /// Counts the class of a call that moved `bytes`, `gap` bytes after the previous access.
    pub(crate) fn judge(&mut self, class: Class, bytes: i64, gap: Option<i64>, near: i64) {
        match class {
            Class::First => self.first += 1,
            Class::Consecutive => {
                self.consecutive += 1;
                self.straight_bytes = self.straight_bytes.saturating_add(bytes);
            }
            Class::Forward => {
                self.forward += 1;
                // The class comes from the whole log. If these events are only a part of it, the
                // previous access may be missing, and the gap does not fit the class.
                if let Some(gap) = gap.filter(|&gap| gap > 0) {
                    self.jumps.get_or_insert_default().push(gap);
                    if gap <= near {
                        self.near += 1;
                        self.straight_bytes = self.straight_bytes.saturating_add(bytes);
                    }
                }
            }
            Class::Backward => {
                self.backward += 1;
                if let Some(gap) = gap.filter(|&gap| gap < 0) {
                    self.jumps.get_or_insert_default().push(gap.saturating_neg());
                }
            }
            Class::Eof | Class::Other => return,
        }
        if class != Class::First {
            self.judged_bytes = self.judged_bytes.saturating_add(bytes);
        }
    }

    /// Counts consecutive calls that moved `bytes` together.
    pub(crate) fn follow(&mut self, calls: u64, bytes: i64) {
        self.consecutive += calls;
        self.straight_bytes = self.straight_bytes.saturating_add(bytes);
        self.judged_bytes = self.judged_bytes.saturating_add(bytes);
    }

    /// Adds those of another row that is about the same.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        for (count, more) in [
            (&mut self.calls, other.calls),
            (&mut self.timeless, other.timeless),
            (&mut self.done, other.done),
            (&mut self.errors, other.errors),
            (&mut self.first, other.first),
            (&mut self.consecutive, other.consecutive),
            (&mut self.forward, other.forward),
            (&mut self.backward, other.backward),
            (&mut self.eof, other.eof),
            (&mut self.near, other.near),
            (&mut self.rewinds, other.rewinds),
            (&mut self.short, other.short),
            (&mut self.moved, other.moved),
            (&mut self.placed, other.placed),
        ] {
            *count += more.get();
        }
        self.ns.join(other.ns);
        self.bytes.join(other.bytes);
        self.requested.join(other.requested);
        self.placed_bytes = self.placed_bytes.saturating_add(other.placed_bytes);
        self.judged_bytes = self.judged_bytes.saturating_add(other.judged_bytes);
        self.straight_bytes = self.straight_bytes.saturating_add(other.straight_bytes);
        self.runs.absorb(other.runs);
        if let Some(jumps) = other.jumps {
            self.jumps.get_or_insert_default().absorb(*jumps);
        }
        self.sizes.absorb(other.sizes);
        self.asked.absorb(other.asked);
        self.durations.absorb(other.durations);
        self.wall.absorb(&mut other.wall);
        other.ranges.move_to(&mut self.ranges, 0);
        if let Some(apart) = other.apart {
            let own = self.apart.get_or_insert_default();
            **own = (own.0.saturating_add(apart.0), own.1.saturating_add(apart.1));
        }
    }

    /// Calls that succeeded and have no class.
    pub(crate) fn unknown(&self) -> u64 {
        let known = [self.first, self.consecutive, self.forward, self.backward, self.eof];
        self.done.get().saturating_sub(known.into_iter().map(Count::get).sum())
    }

    pub(crate) fn prove(&mut self, ofd: u32, base: i64) {
        if let Some(stream) = &mut self.stream {
            stream.prove(ofd, base);
        }
    }

    /// Adds an access at a known position.
    pub(crate) fn cover(&mut self, pid: Option<i32>, start: i64, bytes: i64) {
        self.place(bytes);
        self.ranges.insert(pid, start, start.saturating_add(bytes));
    }

    /// Counts `bytes` at a position that is known, perhaps only relative to the first access.
    pub(crate) fn place(&mut self, bytes: i64) {
        self.placed += 1;
        self.placed_bytes = self.placed_bytes.saturating_add(bytes);
    }
}
