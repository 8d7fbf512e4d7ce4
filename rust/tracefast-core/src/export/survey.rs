//! The first pass: what is only known when all events are in.

use std::collections::HashSet;

use arrow_array::RecordBatch;
use arrow_array::types::UInt32Type;
use arrow_schema::ArrowError;

use crate::export::lines::Lines;
use crate::export::plan::Plan;
use crate::export::rows::{Kind, Row, RowColumns, Wanted, Who};
use crate::hash::HashMap;
use crate::linux::clone::{Kind as Birth, kind_of, shares_files};
use crate::tables::event_columns::{EventColumns, Numbers, event_columns};
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::names::Names;
use crate::tables::process_tracking::tracker::{TaskColumns, Tracker};
use crate::tables::waits::{self, Waits};

event_columns! {
    pub(crate) struct ChildColumns {
        child: Numbers<UInt32Type> = "child",
    }
}

/// The columns of a survey; those of waits if it looks for wakers, otherwise those of tasks.
pub(crate) struct Columns<'a> {
    rows: RowColumns<'a>,
    children: ChildColumns<'a>,
    tasks: Option<TaskColumns<'a>>,
    waits: Option<waits::fold::Columns<'a>>,
    wanted: Wanted<'a>,
}

impl<'a> EventColumns<'a> for Columns<'a> {
    fn names() -> Vec<&'static str> {
        [RowColumns::names(), ChildColumns::names(), TaskColumns::names()].concat()
    }

    fn from_batch(batch: &'a RecordBatch, words: &'a Dictionaries) -> Result<Self, ArrowError> {
        Ok(Self {
            rows: EventColumns::from_batch(batch, words)?,
            children: EventColumns::from_batch(batch, words)?,
            tasks: None,
            waits: None,
            wanted: Wanted::of_batch(batch),
        })
    }
}

/// The first call of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct First {
    pub(crate) ts: i64,
    pub(crate) line: u64,
}

/// What a first pass over the events finds.
///
/// # Examples
/// ```
/// use tracefast_core::export::Survey;
/// assert_eq!(Survey::new(None).plan().placed(), 0);
/// ```
#[derive(Debug)]
pub struct Survey {
    pub(crate) tracker: Tracker,
    /// Who woke whom, if that is wanted.
    pub(crate) waits: Option<Box<Waits>>,
    min_ns: Option<i64>,
    pub(crate) sources: Names,
    names: Names,
    /// Rows that the export shows.
    pub(crate) shown: Lines,
    /// By source and task.
    pub(crate) firsts: HashMap<(u32, u32), First>,
    /// The lines of calls that made a task, by the number of their row.
    pub(crate) forks: HashMap<u64, u64>,
    /// Threads without a task, with their process ids, in the order of their first rows.
    pub(crate) loose: Vec<(u32, Option<i32>, Option<i32>)>,
    known: HashMap<(u32, Option<i32>), ()>,
    /// Tasks that share descriptors with their makers and are no threads, or the other way round.
    pub(crate) unusual_files: HashSet<(u32, u32)>,
    /// The times of the first and the last event.
    pub(crate) span: Option<(i64, i64)>,
    pub(crate) calls: u64,
    pub(crate) placed: u64,
}

impl Survey {
    /// A survey that has seen nothing. It looks for the wakers of waits of at least `min_ns`
    /// nanoseconds, or for none.
    pub fn new(min_ns: Option<i64>) -> Self {
        Self {
            tracker: Tracker::default(),
            waits: min_ns.map(|min_ns| Box::new(Waits::new(min_ns))),
            min_ns,
            sources: Names::default(),
            names: Names::default(),
            shown: Lines::default(),
            firsts: HashMap::default(),
            forks: HashMap::default(),
            loose: Vec::new(),
            known: HashMap::default(),
            unusual_files: HashSet::new(),
            span: None,
            calls: 0,
            placed: 0,
        }
    }

    /// What is known when all events are in.
    pub fn plan(self) -> Plan {
        Plan::new(self)
    }

    /// A call that may have made a task: does that share what it usually does?
    fn forked(&mut self, columns: &Columns<'_>, row: usize, found: Row) {
        let Some(child) = columns.children.child.get(row) else { return };
        let waits = columns.waits.as_ref().map(|(tasks, _)| tasks);
        let args = columns.tasks.as_ref().or(waits).and_then(|tasks| tasks.args.get(row));
        let name = self.names.text(found.called.name).unwrap_or_default();
        let args = args.unwrap_or_default();
        if let Some(kind) = kind_of(name, args)
            && shares_files(name, args) != (kind == Birth::Thread)
        {
            self.unusual_files.insert((found.source, child));
        }
    }

    /// A row that the export shows.
    fn show(&mut self, row: Row) {
        let call = row.kind == Kind::Call;
        self.calls += u64::from(call);
        let (Some(ts), Some(end)) = (row.ts, row.end_ts()) else { return };
        self.placed += u64::from(call);
        let (first, last) = self.span.unwrap_or((ts, end));
        self.span = Some((first.min(ts), last.max(end)));
        if row.kind != Kind::Event || row.called.schedules {
            self.shown.insert(row.source, row.line);
        }
        if let (true, Who::Task(task)) = (call, row.who) {
            self.firsts.entry((row.source, task)).or_insert(First { ts, line: row.line });
        }
    }
}

impl RowFold for Survey {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        Self::new(self.min_ns)
    }

    fn column_names(&self) -> Vec<&'static str> {
        let waits = self.waits.as_ref().map(|_| waits::fold::Columns::names());
        [Columns::names(), waits.unwrap_or_default()].concat()
    }

    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        words: &'a Dictionaries,
    ) -> Result<Columns<'a>, ArrowError> {
        let mut columns = Columns::from_batch(batch, words)?;
        match self.waits {
            Some(_) => columns.waits = Some(EventColumns::from_batch(batch, words)?),
            None => columns.tasks = Some(EventColumns::from_batch(batch, words)?),
        }
        Ok(columns)
    }

    #[inline]
    fn row(&mut self, columns: &mut Columns<'_>, row: usize) {
        match (&mut self.waits, &mut columns.waits, &mut columns.tasks) {
            (Some(waits), Some(columns), _) => waits.row(columns, row),
            (_, _, Some(columns)) => {
                self.tracker.row(columns, row);
            }
            _ => {}
        }
        let (names, sources) = (&mut self.names, &mut self.sources);
        let number = |word: &str| names.number(word);
        let found = columns.rows.get(row, number, |text| sources.number(text) + 1);
        let Some(found) = found else { return };
        if let Who::Tid(tid) = found.who
            && self.known.insert((found.source, tid), ()).is_none()
        {
            self.loose.push((found.source, tid, columns.rows.pid.get(row)));
        }
        self.forked(columns, row, found);
        if !columns.wanted.is(row) {
            return;
        }
        if found.kind == Kind::Call && columns.children.child.get(row).is_some() {
            let tracker = self.waits.as_ref().map_or(&self.tracker, |waits| &waits.tracker);
            self.forks.insert(tracker.row, found.line);
        }
        self.show(found);
    }

    /// The tracks: one row per thread, with the names that the export gives it.
    fn table(self) -> Result<Vec<RecordBatch>, ArrowError> {
        Ok(vec![self.plan().tracks.table()?])
    }
}
