//! One record of Darshan's POSIX module, with its own idea of the file's position.
//!
//! The oddities are those of Darshan 3.4, and intended: the numbers must agree. The offset belongs
//! to the record, which all descriptors of a path share. Every open sets it to 0, even one for
//! appending. Calls with an offset of their own move it too. An access ends at its last byte, not
//! at the byte after, and 0 also means that there was no access. So a first read at 0 is neither
//! sequential nor consecutive, and a read at the end of the file that returns nothing is both.

/// How many distinct sizes, or strides, are counted.
const TRACKED: usize = 32;

/// The largest size of each bucket except the last.
const BUCKETS: [i64; 9] =
    [100, 1024, 10_240, 102_400, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30];

/// When a call started and ended, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallSpan {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

/// The first start and the last end of calls of a kind.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamps {
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
}

impl Stamps {
    fn add(&mut self, span: Option<CallSpan>) {
        if let Some(span) = span {
            self.start = Some(self.start.map_or(span.start, |start| start.min(span.start)));
            // The end of the last call, not the latest end.
            self.end = Some(span.end);
        }
    }
}

/// Time in calls, without overlaps between a call and the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Timer {
    /// Calls, and how many of them have a duration.
    calls: u64,
    known: u64,
    ns: i64,
    last: Option<i64>,
}

impl Timer {
    fn add(&mut self, span: Option<CallSpan>) {
        self.calls += 1;
        let Some(CallSpan { start, end }) = span else { return };
        self.known += 1;
        let from = self.last.filter(|&last| start <= last).unwrap_or(start);
        // In logs whose times step back, a call may end before the previous one did.
        self.ns = self.ns.saturating_add(end.saturating_sub(from).max(0));
        self.last = self.last.max(Some(end));
    }

    /// The sum; None if there were calls but no durations.
    pub(crate) fn ns(&self) -> Option<i64> {
        (self.calls == 0 || self.known > 0).then_some(self.ns)
    }
}

/// How often each value occurred, for the first 32 distinct values only.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    values: Vec<(i64, i64)>,
}

impl Common {
    fn add(&mut self, value: i64) {
        if let Some((_, count)) = self.values.iter_mut().find(|(known, _)| *known == value) {
            *count += 1;
        } else if self.values.len() < TRACKED {
            self.values.push((value, 1));
        }
    }

    /// The four most common values; of equally common ones, the larger first. Zero counts among the
    /// 32, but is left out here.
    pub(crate) fn top(&self) -> [(i64, i64); 4] {
        let mut values: Vec<_> = self.values.iter().filter(|(value, _)| *value != 0).collect();
        values.sort_by_key(|&&(value, count)| std::cmp::Reverse((count, value)));
        let mut top = [(0, 0); 4];
        for (slot, &&found) in top.iter_mut().zip(&values) {
            *slot = found;
        }
        top
    }
}

/// Reads, or writes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flow {
    pub(crate) count: i64,
    pub(crate) bytes: i64,
    pub(crate) max_byte: i64,
    pub(crate) consecutive: i64,
    pub(crate) sequential: i64,
    pub(crate) buckets: [i64; 10],
    pub(crate) stamps: Stamps,
    pub(crate) timer: Timer,
    pub(crate) longest: i64,
    pub(crate) longest_size: i64,
    last_byte: i64,
}

/// Reads, by position.
pub(crate) const READ: usize = 0;
/// Writes, by position.
pub(crate) const WRITE: usize = 1;

/// The counters of one path.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The path was opened. Darshan ignores calls on descriptors that it did not see opened.
    pub(crate) opened: bool,
    pub(crate) opens: i64,
    pub(crate) dups: i64,
    pub(crate) seeks: i64,
    pub(crate) stats: i64,
    pub(crate) mmaps: i64,
    pub(crate) fsyncs: i64,
    pub(crate) fdatasyncs: i64,
    pub(crate) rename_sources: i64,
    pub(crate) rename_targets: i64,
    pub(crate) switches: i64,
    pub(crate) flows: [Flow; 2],
    pub(crate) sizes: Common,
    pub(crate) strides: Common,
    pub(crate) open: Stamps,
    pub(crate) close: Stamps,
    pub(crate) meta: Timer,
    offset: i64,
    last_direction: Option<usize>,
}

impl Record {
    /// An open, which resets the offset to 0.
    pub(crate) fn open(&mut self, span: Option<CallSpan>) {
        self.opened = true;
        self.offset = 0;
        self.forget();
        self.refer(span);
    }

    /// Another descriptor for the path, which resets nothing.
    pub(crate) fn dup(&mut self, span: Option<CallSpan>) {
        self.dups += 1;
        self.refer(span);
    }

    fn refer(&mut self, span: Option<CallSpan>) {
        self.opens += 1;
        self.open.add(span);
        self.meta.add(span);
    }

    fn forget(&mut self) {
        for flow in &mut self.flows {
            flow.last_byte = 0;
        }
    }

    /// A close of any descriptor of the path.
    pub(crate) fn close(&mut self, span: Option<CallSpan>) {
        self.forget();
        self.close.add(span);
        self.meta.add(span);
    }

    /// A seek that ended at `offset`.
    pub(crate) fn seek(&mut self, offset: i64, span: Option<CallSpan>) {
        self.offset = offset;
        self.seeks += 1;
        self.meta.add(span);
    }

    pub(crate) fn stat(&mut self, span: Option<CallSpan>) {
        self.stats += 1;
        self.meta.add(span);
    }

    /// A call that flushed the file's data to disk.
    pub(crate) fn sync(&mut self, data_only: bool, span: Option<CallSpan>) {
        *(if data_only { &mut self.fdatasyncs } else { &mut self.fsyncs }) += 1;
        self.flows[WRITE].timer.add(span);
    }

    /// A rename of this path to another.
    pub(crate) fn renamed(&mut self, span: Option<CallSpan>) {
        self.rename_sources += 1;
        self.meta.add(span);
    }

    /// A read or write that returned `ret`, at an offset of its own if it has one.
    pub(crate) fn access(
        &mut self,
        direction: usize,
        ret: i64,
        at: Option<i64>,
        span: Option<CallSpan>,
    ) {
        let at = at.unwrap_or(self.offset);
        let flow = &mut self.flows[direction & 1];
        if at > flow.last_byte {
            flow.sequential += 1;
        }
        if Some(at) == flow.last_byte.checked_add(1) {
            flow.consecutive += 1;
        }
        let ahead = at > 0 && at > flow.last_byte && flow.last_byte != 0;
        let stride = if ahead { at.saturating_sub(flow.last_byte).saturating_sub(1) } else { 0 };
        let end = at.saturating_add(ret);
        flow.last_byte = end.saturating_sub(1);
        self.offset = end;
        flow.max_byte = flow.max_byte.max(flow.last_byte);
        flow.bytes = flow.bytes.saturating_add(ret);
        flow.count += 1;
        let bucket = BUCKETS.iter().position(|&most| ret <= most).unwrap_or(BUCKETS.len());
        flow.buckets[bucket] += 1;
        self.sizes.add(ret);
        self.strides.add(stride);
        if self.last_direction.is_some_and(|last| last != direction) {
            self.switches += 1;
        }
        self.last_direction = Some(direction);
        flow.stamps.add(span);
        if let Some(span) = span {
            let elapsed = span.end.saturating_sub(span.start);
            if elapsed > flow.longest {
                flow.longest = elapsed;
                flow.longest_size = ret;
            }
        }
        flow.timer.add(span);
    }
}
