//! The fold: events in order to phases.

use arrow_array::RecordBatch;
use arrow_array::types::UInt16Type;
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::syscalls::{Classes, classes_of};
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::phases::open::{Now, Open, Phase};
use crate::tables::process_tracking::task::Task;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::process_tracking::word_classes::{RowKind, Status};
use crate::tables::table_builder::TableBuilder;

/// The phases so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::phases::Phases;
/// let table = Phases::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("ts_end").is_some());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Phases {
    tracker: Tracker,
    watched: Watched,
    /// By the number of the source, the time of the last end of an event.
    last: HashMap<u32, i64>,
    /// Calls of processes whose maker the log does not show yet, and of their children.
    unborn: HashMap<u32, u64>,
}

event_columns! {
    /// The columns that show marks.
    pub(crate) struct MarkColumns {
        looks: Words<bool> = "name",
        marker: Words<bool> = "kind",
        cpu: Numbers<UInt16Type> = "cpu",
    }
}

/// The phases, as the rows of a log show them. Every table that knows phases has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched {
    pub(crate) open: Open,
}

impl Watched {
    /// Takes in a row of the process that `owner` leads, before the table counts it. Returns whether
    /// it is a mark, and no other call.
    #[inline]
    pub(crate) fn row(
        &mut self,
        (tasks, own): (&mut TaskColumns<'_>, &mut MarkColumns<'_>),
        row: usize,
        found: TaskRow,
        (owner, tracker): (u32, &Tracker),
    ) -> bool {
        match found.kind {
            RowKind::Call => {
                if own.looks.get(row, looks) == Some(true)
                    && let Some(path) = tasks.path.get(row)
                    && path.starts_with("/tracefast/")
                {
                    return self.open.call(owner, path, tasks.ts.get(row));
                }
                if !self.open.is_empty() && tasks.child.get(row).is_some() {
                    self.open.born();
                }
            }
            RowKind::Exit if !self.open.is_empty() => {
                let task = tracker.tasks.get(found.task as usize);
                let stays =
                    task.and_then(|task| task.end.as_ref()).is_some_and(|end| end.superseded);
                if owner == found.task && !stays {
                    self.open.ended(owner, tasks.ts.get(row));
                }
            }
            RowKind::Event if !self.open.is_empty() => {
                let task = tracker.tasks.get(found.task as usize);
                let ended = task.and_then(|task| task.end.as_ref());
                if owner == found.task && ended.is_some_and(|end| end.row == tracker.row) {
                    self.open.ended(owner, tasks.ts.get(row));
                }
            }
            RowKind::Other
                if own.cpu.get(row).is_some()
                    && own.marker.get(row, |kind| kind == "marker") == Some(true) =>
            {
                if let Some(text) = tasks.args.get(row) {
                    self.open.marker(owner, text, tasks.ts.get(row));
                }
            }
            _ => {}
        }
        false
    }
}

/// Whether a call looks up a path: access(2), stat(2), open(2).
fn looks(name: &str) -> bool {
    classes_of(name.as_bytes()).has(Classes::LOOKS.and(Classes::OPENS))
}

/// A row of the table.
struct Row<'a> {
    phase: &'a Phase,
    /// The first task of its process.
    task: Option<&'a Task>,
    source: Option<&'a str>,
    end: Option<i64>,
}

impl RowFold for Phases {
    type Columns<'a> = (TaskColumns<'a>, MarkColumns<'a>);

    fn empty(&self) -> Self {
        Self::default()
    }

    #[inline]
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        let Some(found) = self.tracker.row(&mut columns.0, row) else { return };
        let owner = self.tracker.leader(found.task);
        let (tasks, own) = (&mut columns.0, &mut columns.1);
        if let Some(ts) = tasks.ts.get(row)
            && let Some(task) = self.tracker.tasks.get(found.task as usize)
        {
            let end = ts.saturating_add(tasks.dur.get(row).unwrap_or(0));
            let last = self.last.entry(task.source).or_insert(end);
            *last = end.max(*last);
        }
        let marks = self.watched.row((tasks, own), row, found, (owner, &self.tracker));
        if found.kind != RowKind::Call || marks || self.watched.open.is_empty() {
            return;
        }
        if tasks.status(row) == Some(Status::Injected) {
            return;
        }
        self.count(owner, tasks.ts.get(row), 1);
        if let Some(child) = tasks.child.get(row)
            && let Some(task) = self.tracker.tasks.get(found.task as usize)
        {
            let source = task.source;
            let child = self.tracker.number(source, child);
            if let Some(calls) = self.unborn.remove(&child) {
                self.count(owner, tasks.ts.get(row), calls);
            }
        }
    }

    /// The table, in order of source and start.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        for (process, calls) in std::mem::take(&mut self.unborn) {
            let now = self.watched.open.made_in(process, &self.tracker);
            self.add(now, calls);
        }
        let open = &self.watched.open;
        let mut rows: Vec<Row<'_>> = open
            .phases
            .iter()
            .map(|phase| {
                let task = self.tracker.tasks.get(phase.owner as usize);
                let last = || self.last.get(&task?.source).copied();
                let end = if phase.ended { phase.end.get() } else { last() };
                let source = task.and_then(|task| self.tracker.source_name(task.source));
                Row { phase, task, source, end: end.filter(|_| phase.start.is_some()) }
            })
            .collect();
        rows.sort_by_key(|row| {
            let start = (row.phase.start.is_none(), row.phase.start.get());
            ((row.source.is_none(), row.source), start)
        });
        let mut table = TableBuilder::new(&rows);
        table.text("source", |row| row.source);
        table.text("name", |row| open.name(row.phase.name));
        table.uint32("task", |row| row.task.map(|task| task.id));
        table.int32("pid", |row| row.task.and_then(|task| task.pid.get().or(task.tid.get())));
        table.timestamp("ts_start", |row| row.phase.start.get());
        table.timestamp("ts_end", |row| row.end);
        table.int64("dur_ns", |row| Some(row.end?.saturating_sub(row.phase.start.get()?)));
        table.uint64("count", |row| Some(row.phase.calls));
        Ok(vec![table.finish()?])
    }
}

impl Phases {
    /// Counts calls of a process that began at `ts`.
    fn count(&mut self, owner: u32, ts: Option<i64>, calls: u64) {
        let now = self.watched.open.now(owner, ts, &self.tracker);
        self.add(now, calls);
    }

    fn add(&mut self, now: Now, calls: u64) {
        match now {
            Now::None => {}
            Now::Phase(at) => {
                if let Some(phase) = self.watched.open.phases.get_mut(at as usize) {
                    phase.calls = phase.calls.saturating_add(calls);
                }
            }
            Now::Unknown(process) => *self.unborn.entry(process).or_default() += calls,
        }
    }
}
