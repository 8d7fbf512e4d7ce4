//! Calls by name and file.

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::syscalls::word_classes::RowKind;
use crate::tables::table_builder::{TableBuilder, build_by_parts};

/// Calls by source, name and file so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::tallies::FileTally;
/// let table = FileTally::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("error_ns").is_some());
/// ```
#[derive(Debug, Default)]
pub struct FileTally {
    sources: Names,
    names: Names,
    tallies: HashMap<Key, Tally>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    /// Numbers of the source and the name, plus one: 0 for none.
    source: u32,
    name: u32,
    file: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    calls: u64,
    errors: u64,
    dur: i64,
    error_dur: i64,
    bytes: i64,
    line: Packed<u64>,
}

event_columns! {
    pub(crate) struct CallColumns {
        kind: Words<RowKind> = "kind",
        name: Words<u32> = "name",
        file: Numbers<UInt64Type> = "file",
        errno: Words<()> = "errno",
        dur: Numbers<Int64Type> = "dur_ns",
        bytes: Numbers<Int64Type> = "bytes",
        line: Numbers<UInt64Type> = "line",
        source: Words<u32> = "source",
    }
}

impl RowFold for FileTally {
    type Columns<'a> = CallColumns<'a>;

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn row(&mut self, columns: &mut CallColumns<'_>, row: usize) {
        if columns.kind.get(row, RowKind::from_word) != Some(RowKind::Call) {
            return;
        }
        let key = Key {
            source: columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0),
            name: columns.name.get(row, |text| self.names.number(text) + 1).unwrap_or(0),
            file: columns.file.get(row),
        };
        let tally = self.tallies.entry(key).or_default();
        let dur = columns.dur.get(row).unwrap_or(0);
        tally.calls += 1;
        tally.dur = tally.dur.saturating_add(dur);
        if columns.errno.get(row, |_| ()).is_some() {
            tally.errors += 1;
            tally.error_dur = tally.error_dur.saturating_add(dur);
        }
        tally.bytes = tally.bytes.saturating_add(columns.bytes.get(row).unwrap_or(0));
        tally.line.lower(columns.line.get(row));
    }

    /// The table, in the order of the first lines.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let Self { sources, names, tallies } = self;
        let mut rows: Vec<_> = tallies.into_iter().collect();
        rows.sort_by_key(|(key, tally)| (key.source, tally.line.get(), key.name, key.file));
        build_by_parts(rows, |rows| {
            let mut table = TableBuilder::new(&rows);
            table.text("source", |(key, _)| sources.text(key.source.checked_sub(1)?));
            table.text("name", |(key, _)| names.text(key.name.checked_sub(1)?));
            table.uint64("file", |(key, _)| key.file);
            table.uint64("calls", |(_, tally)| Some(tally.calls));
            table.uint64("errors", |(_, tally)| Some(tally.errors));
            table.int64("dur_ns", |(_, tally)| Some(tally.dur));
            table.int64("error_ns", |(_, tally)| Some(tally.error_dur));
            table.int64("bytes", |(_, tally)| Some(tally.bytes));
            table.uint64("line", |(_, tally)| tally.line.get());
            table.finish()
        })
    }
}
