//! Calls over time, by size and by duration.

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt32Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::syscalls::{Classes, classes_of};
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// Calls and transfers in the background so far, counted in five ways.
///
/// The table has rows for each `source` and, as its column `by` says,
///
/// - `task`: by `task` and `step`, the step of time in which calls start; null if the log has no
///   times;
/// - `name`: by `name` and `step`;
/// - `start`: by `task` and `name`, of calls that start processes;
/// - `duration`: by `name` and `ns_bits`, the bits of the time of a call, 0 for 0;
/// - `size`: by `name` and `bytes_bits`, the bits of the bytes that a call moved.
///
/// Other columns are null. `ns` is of system calls, and the first three count only them as `calls`;
/// bytes are also of transfers in the background.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::tallies::ActivityTally;
/// let table = ActivityTally::new([], 1_000, 240).finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("bytes_bits").is_some());
/// ```
#[derive(Debug)]
pub struct ActivityTally {
    /// When each log starts.
    starts: HashMap<Box<str>, i64>,
    step_ns: i64,
    steps: u32,
    sources: Names,
    names: Names,
    index: HashMap<Key, u32>,
    /// Those of a task and step in the row before, and their place.
    last: Option<(Key, u32)>,
    tallies: Vec<(Key, Tally)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// Number of the source plus one, 0 for none.
    source: u32,
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum By {
    Task { task: Packed<u32>, step: Packed<u32> },
    Name { name: u32, step: Packed<u32> },
    Start { task: Packed<u32>, name: u32 },
    Duration { name: u32, bits: u32 },
    Size { name: u32, bits: u32 },
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    calls: u64,
    ns: i64,
    read: i64,
    written: i64,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.ns = self.ns.saturating_add(other.ns);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
    }
}

/// What a row is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Call,
    /// A transfer in the background.
    Transfer,
    Nothing,
}

impl Counted {
    fn from_kind(kind: &str) -> Self {
        match kind {
            "syscall" => Self::Call,
            "aio" => Self::Transfer,
            _ => Self::Nothing,
        }
    }
}

/// What a call of some name does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Does {
    name: u32,
    reads: bool,
    writes: bool,
    starts: bool,
}

impl Does {
    fn new(name: u32, word: &str) -> Self {
        let classes = classes_of(word.as_bytes());
        // What copies from one descriptor to another reads and writes.
        let copies = classes.has(Classes::TRANSFERS);
        Self {
            name,
            reads: copies || classes.has(Classes::READS.and(Classes::RECEIVES)),
            writes: copies || classes.has(Classes::WRITES.and(Classes::SENDS)),
            starts: classes.has(Classes::FORKS.and(Classes::EXECS)),
        }
    }
}

/// The source of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source {
    number: u32,
    start: i64,
}

event_columns! {
    pub(crate) struct CallColumns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        task: Numbers<UInt32Type> = "task",
        kind: Words<Counted> = "kind",
        name: Words<Does> = "name",
        bytes: Numbers<Int64Type> = "bytes",
        injected: Words<bool> = "status",
        source: Words<Source> = "source",
    }
}

/// The bits of a number, 0 for 0; none below 0.
fn bits(number: i64) -> Option<u32> {
    (number >= 0).then(|| i64::BITS - number.leading_zeros())
}

impl ActivityTally {
    /// Counts in `steps` steps of `step_ns` from the start of each source; what is after them is in
    /// the last one. A source without a start counts from 0.
    pub fn new(starts: impl IntoIterator<Item = (String, i64)>, step_ns: u64, steps: u32) -> Self {
        Self {
            starts: starts.into_iter().map(|(source, start)| (source.into(), start)).collect(),
            step_ns: i64::try_from(step_ns).unwrap_or(i64::MAX).max(1),
            steps,
            sources: Names::default(),
            names: Names::default(),
            index: HashMap::default(),
            last: None,
            tallies: Vec::new(),
        }
    }

    fn step(&self, ts: Option<i64>, start: i64) -> Packed<u32> {
        let last = i64::from(self.steps).saturating_sub(1).max(0);
        ts.map(|ts| (ts.saturating_sub(start) / self.step_ns).clamp(0, last) as u32).into()
    }

    fn place(&mut self, key: Key) -> u32 {
        *self.index.entry(key).or_insert_with(|| {
            self.tallies.push((key, Tally::default()));
            self.tallies.len() as u32 - 1
        })
    }

    fn add(&mut self, key: Key, tally: Tally) {
        let at = self.place(key);
        self.add_at(at, tally);
    }

    fn add_at(&mut self, at: u32, tally: Tally) {
        if let Some((_, sum)) = self.tallies.get_mut(at as usize) {
            sum.add(tally);
        }
    }
}

impl RowFold for ActivityTally {
    type Columns<'a> = CallColumns<'a>;

    fn empty(&self) -> Self {
        Self::new([], 1, 1)
    }

    #[inline]
    fn row(&mut self, columns: &mut CallColumns<'_>, row: usize) {
        let counted = columns.kind.get(row, Counted::from_kind).unwrap_or(Counted::Nothing);
        if counted == Counted::Nothing {
            return;
        }
        let does = columns.name.get(row, |word| Does::new(self.names.number(word), word));
        let Some(Does { name, reads, writes, starts }) = does else { return };
        let source = columns.source.get(row, |text| Source {
            number: self.sources.number(text) + 1,
            start: self.starts.get(text).copied().unwrap_or(0),
        });
        let Source { number: source, start } = source.unwrap_or(Source { number: 0, start: 0 });
        let step = self.step(columns.ts.get(row), start);
        let task = columns.task.get(row).into();
        let called = counted == Counted::Call;
        let ns = if called { columns.dur.get(row) } else { None };
        let real = columns.injected.get(row, |word| word == "injected") != Some(true);
        let bytes = if real && (reads || writes) { columns.bytes.get(row) } else { None };
        let tally = Tally {
            calls: called.into(),
            ns: ns.unwrap_or(0),
            read: if reads { bytes.unwrap_or(0) } else { 0 },
            written: if writes { bytes.unwrap_or(0) } else { 0 },
        };

        let key = Key { source, by: By::Task { task, step } };
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => self.place(key),
        };
        self.last = Some((key, at));
        self.add_at(at, tally);
        self.add(Key { source, by: By::Name { name, step } }, tally);
        if starts {
            self.add(Key { source, by: By::Start { task, name } }, tally);
        }
        let one = Tally { calls: 1, ..tally };
        if let Some(bits) = ns.and_then(bits) {
            self.add(Key { source, by: By::Duration { name, bits } }, one);
        }
        if let Some(bits) = bytes.and_then(bits) {
            self.add(Key { source, by: By::Size { name, bits } }, one);
        }
    }

    /// The table, in the order in which its rows appear.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let Self { sources, names, tallies, .. } = self;
        build_by_parts(tallies, |rows| {
            let mut table = TableBuilder::new(&rows);
            table.text("source", |(key, _)| sources.text(key.source.checked_sub(1)?));
            table.uint32("task", |(key, _)| match key.by {
                By::Task { task, .. } | By::Start { task, .. } => task.get(),
                _ => None,
            });
            table.text("name", |(key, _)| match key.by {
                By::Task { .. } => None,
                By::Name { name, .. }
                | By::Start { name, .. }
                | By::Duration { name, .. }
                | By::Size { name, .. } => names.text(name),
            });
            table.uint32("step", |(key, _)| match key.by {
                By::Task { step, .. } | By::Name { step, .. } => step.get(),
                _ => None,
            });
            table.uint32("ns_bits", |(key, _)| match key.by {
                By::Duration { bits, .. } => Some(bits),
                _ => None,
            });
            table.uint32("bytes_bits", |(key, _)| match key.by {
                By::Size { bits, .. } => Some(bits),
                _ => None,
            });
            table.text("by", |(key, _)| {
                Some(match key.by {
                    By::Task { .. } => "task",
                    By::Name { .. } => "name",
                    By::Start { .. } => "start",
                    By::Duration { .. } => "duration",
                    By::Size { .. } => "size",
                })
            });
            table.uint64("calls", |(_, tally)| Some(tally.calls));
            table.int64("ns", |(_, tally)| Some(tally.ns));
            table.int64("read_bytes", |(_, tally)| Some(tally.read));
            table.int64("write_bytes", |(_, tally)| Some(tally.written));
            table.finish()
        })
    }
}
