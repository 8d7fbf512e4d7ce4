//! Rows by task and kind: how many, and from when to when.

use arrow_array::RecordBatch;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

const SECOND: i64 = 1_000_000_000;

/// Rows by source, task and kind so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::tallies::TaskTally;
/// let table = TaskTally::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("with_cpu").is_some());
/// ```
#[derive(Debug, Default)]
pub struct TaskTally {
    sources: Names,
    kinds: Names,
    index: HashMap<Key, u32>,
    /// Those of the row before, and their place.
    last: Option<(Key, u32)>,
    tallies: Vec<(Key, Tally)>,
}

/// Numbers of the source and the kind, plus one: 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    source: u32,
    task: Packed<u32>,
    kind: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    rows: u64,
    with_cpu: u64,
    with_tid: u64,
    timed: u64,
    /// Of those with a time, how many are at a whole second.
    whole: u64,
    /// The last one that is known.
    pid: Packed<i32>,
    first: Packed<i64>,
    last: Packed<i64>,
    /// The end of the last call.
    end: Packed<i64>,
    line: Packed<u64>,
}

event_columns! {
    pub(crate) struct RowColumns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        task: Numbers<UInt32Type> = "task",
        pid: Numbers<Int32Type> = "pid",
        tid: Numbers<Int32Type> = "tid",
        cpu: Numbers<UInt16Type> = "cpu",
        kind: Words<u32> = "kind",
        line: Numbers<UInt64Type> = "line",
        source: Words<u32> = "source",
    }
}

impl RowFold for TaskTally {
    type Columns<'a> = RowColumns<'a>;

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn row(&mut self, columns: &mut RowColumns<'_>, row: usize) {
        let key = Key {
            source: columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0),
            task: columns.task.get(row).into(),
            kind: columns.kind.get(row, |text| self.kinds.number(text) + 1).unwrap_or(0),
        };
        let at = match self.last {
            Some((last, at)) if last == key => at,
            _ => *self.index.entry(key).or_insert_with(|| {
                self.tallies.push((key, Tally::default()));
                self.tallies.len() as u32 - 1
            }),
        };
        self.last = Some((key, at));
        let Some((_, tally)) = self.tallies.get_mut(at as usize) else { return };
        tally.rows += 1;
        tally.with_cpu += u64::from(columns.cpu.get(row).is_some());
        tally.with_tid += u64::from(columns.tid.get(row).is_some());
        tally.pid.set_last(columns.pid.get(row));
        if let Some(ts) = columns.ts.get(row) {
            tally.timed += 1;
            tally.whole += u64::from(ts % SECOND == 0);
            tally.first.lower(ts);
            tally.last.raise(ts);
            tally.end.raise(ts.saturating_add(columns.dur.get(row).unwrap_or(0)));
        }
        tally.line.lower(columns.line.get(row));
    }

    /// The table, in the order in which tasks and kinds appear.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let Self { sources, kinds, tallies, .. } = self;
        build_by_parts(tallies, |rows| {
            let mut table = TableBuilder::new(&rows);
            table.text("source", |(key, _)| sources.text(key.source.checked_sub(1)?));
            table.uint32("task", |(key, _)| key.task.get());
            table.text("kind", |(key, _)| kinds.text(key.kind.checked_sub(1)?));
            table.int32("pid", |(_, tally)| tally.pid.get());
            table.uint64("rows", |(_, tally)| Some(tally.rows));
            table.uint64("with_cpu", |(_, tally)| Some(tally.with_cpu));
            table.uint64("with_tid", |(_, tally)| Some(tally.with_tid));
            table.uint64("timed", |(_, tally)| Some(tally.timed));
            table.uint64("whole_seconds", |(_, tally)| Some(tally.whole));
            table.timestamp("first", |(_, tally)| tally.first.get());
            table.timestamp("last", |(_, tally)| tally.last.get());
            table.timestamp("end", |(_, tally)| tally.end.get());
            table.uint64("line", |(_, tally)| tally.line.get());
            table.finish()
        })
    }
}
