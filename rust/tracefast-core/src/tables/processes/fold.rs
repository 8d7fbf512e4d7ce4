//! The fold: events in order to processes, and what each of their tasks did.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_schema::ArrowError;

use crate::linux::waits::{CallTime, Giver, spent};
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::process_tracking::group;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::process_tracking::word_classes::RowKind;
use crate::tables::processes::table;
use crate::tables::processes::word_classes::Meaning;
use crate::tables::processes::work::Work;
use crate::tables::streams::Streams;

/// The processes so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::processes::Processes;
/// let table = Processes::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("lifetime_ns").is_some());
/// ```
#[derive(Debug, Clone)]
pub struct Processes {
    pub(crate) tracker: Tracker,
    /// What each task did.
    pub(crate) work: Vec<Work>,
    streams: Streams,
}

impl Default for Processes {
    fn default() -> Self {
        Self { tracker: Tracker::with_argv(), work: Vec::new(), streams: Streams::default() }
    }
}

event_columns! {
    pub(crate) struct WorkColumns {
        dur: Numbers<Int64Type> = "dur_ns",
        name: Words<Meaning> = "name",
        path: Text = "path",
        path2: Text = "path2",
        ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        file_type: Words<Giver> = "file_type",
        bytes: Numbers<Int64Type> = "bytes",
    }
}

impl RowFold for Processes {
    type Columns<'a> = (TaskColumns<'a>, WorkColumns<'a>);

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn fetch(&mut self, columns: &mut Self::Columns<'_>, rows: Range<usize>) {
        columns.0.fetch(rows);
    }

    #[inline]
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        let found = self.tracker.row(&mut columns.0, row);
        self.follow(columns, row, found);
    }

    /// The table, in order of source and start.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        self.tracker.finish();
        let processes = group::processes(&self.tracker.tasks);
        Ok(vec![table::build(&self, &processes)?])
    }
}

impl Processes {
    /// Adds one row that the tracker has taken in.
    #[inline]
    fn follow(
        &mut self,
        (_, columns): &mut <Self as RowFold>::Columns<'_>,
        row: usize,
        found: Option<TaskRow>,
    ) {
        let Some(TaskRow { task: number, kind, .. }) = found else { return };
        if !matches!(kind, RowKind::Call | RowKind::Part) {
            return;
        }
        let Some(meaning) = columns.name.get(row, Meaning::from_name) else { return };
        if self.work.len() < self.tracker.tasks.len() {
            self.work.resize(self.tracker.tasks.len(), Work::default());
        }
        let Some(work) = self.work.get_mut(number as usize) else { return };
        if kind == RowKind::Call {
            work.calls += 1;
            let dur = columns.dur.get(row);
            let source = self.tracker.tasks.get(number as usize).map_or(0, |task| task.source);
            let ofd = |which: usize| columns.ofd.get(which).and_then(|ofd| ofd.get(row));
            if meaning.makes_stream {
                self.streams.made(source, [ofd(0), ofd(1)]);
            }
            let mut giver = if meaning.spent.asks_for_giver(dur) {
                columns
                    .file_type
                    .get(row, Giver::from_file_type)
                    .unwrap_or(Giver::Unknown)
                    .known_as(|| columns.path.get(row))
            } else {
                Giver::Unknown
            };
            if meaning.spent == CallTime::Transfers {
                giver = giver.to(self.streams.taker(source, ofd(1), columns.path2.get(row)));
            }
            work.spend(spent(meaning.spent, giver, dur), dur);
        }
        let bytes = columns.bytes.get(row).unwrap_or(0).max(0);
        if meaning.reads {
            work.read = work.read.saturating_add(bytes);
        }
        if meaning.writes {
            work.written = work.written.saturating_add(bytes);
        }
    }
}
