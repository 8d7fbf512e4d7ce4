//! Calls that ask and get nothing, by task.

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::syscalls::{Classes, classes_of};
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::syscalls::word_classes::RowKind;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// A poll that took longer has slept: with a timeout of 0 the kernel returns at once.
const AT_ONCE: i64 = 1_000_000;

/// Questions without an answer so far, by source, task and name of the call.
///
/// These are polls that return 0 at once, calls that find no data on a descriptor that does not
/// block (`EAGAIN`), and `sched_yield`.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::tallies::PollTally;
/// let table = PollTally::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("polls").is_some());
/// ```
#[derive(Debug, Default)]
pub struct PollTally {
    sources: Names,
    names: Names,
    tallies: HashMap<Key, Tally>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// Number of the source plus one, 0 for none.
    source: u32,
    task: Packed<u32>,
    name: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    polls: u64,
    first: Packed<i64>,
    last: Packed<i64>,
    line: Packed<u64>,
}

/// How a call shows that there was nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// It returns 0 at once.
    Empty,
    /// It fails with `EAGAIN`.
    Again,
    /// Always.
    Yields,
    /// It does not ask.
    No,
}

impl Asks {
    fn from_name(name: &str) -> Self {
        let classes = classes_of(name.as_bytes());
        if classes.has(Classes::POLLS) {
            Self::Empty
        } else if classes.has(Classes::READS.and(Classes::RECEIVES)) || name == "accept4" {
            Self::Again
        } else if name == "sched_yield" {
            Self::Yields
        } else {
            Self::No
        }
    }
}

event_columns! {
    pub(crate) struct CallColumns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        task: Numbers<UInt32Type> = "task",
        kind: Words<RowKind> = "kind",
        name: Words<(u32, Asks)> = "name",
        ret: Numbers<Int64Type> = "ret",
        errno: Words<bool> = "errno",
        line: Numbers<UInt64Type> = "line",
        source: Words<u32> = "source",
    }
}

impl RowFold for PollTally {
    type Columns<'a> = CallColumns<'a>;

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn row(&mut self, columns: &mut CallColumns<'_>, row: usize) {
        if columns.kind.get(row, RowKind::from_word) != Some(RowKind::Call) {
            return;
        }
        let names = &mut self.names;
        let name = columns.name.get(row, |word| (names.number(word), Asks::from_name(word)));
        let Some((name, asks)) = name else { return };
        let in_vain = match asks {
            Asks::Empty => {
                columns.ret.get(row) == Some(0)
                    && columns.dur.get(row).is_some_and(|dur| dur < AT_ONCE)
            }
            Asks::Again => columns.errno.get(row, |word| word == "EAGAIN") == Some(true),
            Asks::Yields => true,
            Asks::No => false,
        };
        if !in_vain {
            return;
        }
        let source = columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0);
        let key = Key { source, task: columns.task.get(row).into(), name };
        let tally = self.tallies.entry(key).or_default();
        tally.polls += 1;
        tally.first.lower(columns.ts.get(row));
        tally.last.raise(columns.ts.get(row));
        tally.line.lower(columns.line.get(row));
    }

    /// The table, in the order of the first lines.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let Self { sources, names, tallies } = self;
        let mut rows: Vec<_> = tallies.into_iter().collect();
        rows.sort_by_key(|(key, tally)| (key.source, tally.line.get(), key.task.get(), key.name));
        build_by_parts(rows, |rows| {
            let mut table = TableBuilder::new(&rows);
            table.text("source", |(key, _)| sources.text(key.source.checked_sub(1)?));
            table.uint32("task", |(key, _)| key.task.get());
            table.text("name", |(key, _)| names.text(key.name));
            table.uint64("polls", |(_, tally)| Some(tally.polls));
            table.timestamp("first", |(_, tally)| tally.first.get());
            table.timestamp("last", |(_, tally)| tally.last.get());
            table.uint64("line", |(_, tally)| tally.line.get());
            table.finish()
        })
    }
}
