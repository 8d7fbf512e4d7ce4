//! The fold: which rows say something about tasks, and about which ones.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::event_columns::{EventColumns, Numbers, Words, event_columns};
use crate::tables::fold::{Dictionaries, RowFold};
use crate::tables::forks::hints::{Called, Extent, Starts};
use crate::tables::forks::pids::Pids;
use crate::tables::forks::pipes::Pipes;
use crate::tables::forks::startup::Step;
use crate::tables::forks::table;
use crate::tables::forks::task::{Birth, FRESH, Task};
use crate::tables::forks::tracer::Gaps;
use crate::tables::forks::word_classes::{Act, Errno};
use crate::tables::names::Names;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::process_tracking::word_classes::{RowKind, Status};
use crate::tables::workers::fold::CallColumns;
use crate::thin_vec::ThinVec;

/// Tasks so far, and how they were created.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::forks::Forks;
/// let table = Forks::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("call_ns").is_some());
/// ```
#[derive(Debug)]
pub struct Forks {
    pub(crate) tracker: Box<Tracker>,
    /// Names of errors, signals, and for advice of calls.
    pub(crate) names: Names,
    /// By number of the row's name in the tracker.
    acts: Vec<Option<Act>>,
    /// By number of the source in the tracker.
    pub(crate) sources: Vec<Source>,
    pub(crate) tasks: Vec<Task>,
    /// By number of the task in the tracker, the index in `tasks` plus one, 0 for none.
    pub(crate) by_tracked: Vec<u32>,
    /// The last task of each thread id, by source.
    pub(crate) tids: HashMap<(u32, i32), u32>,
    pub(crate) pids: Pids,
    pub(crate) births: Vec<Birth>,
    pub(crate) pipes: Pipes,
    /// Evidence for advice is wanted: who is a worker, and what else the events say.
    pub(crate) hints: Option<Starts>,
}

impl Default for Forks {
    fn default() -> Self {
        Self {
            tracker: Box::new(Tracker::with_argv()),
            names: Names::default(),
            acts: Vec::new(),
            sources: Vec::new(),
            tasks: Vec::new(),
            by_tracked: Vec::new(),
            tids: HashMap::default(),
            pids: Pids::default(),
            births: Vec::new(),
            pipes: Pipes::default(),
            hints: None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Source {
    /// Its rows name processors, so it is from ftrace, which does not stop tasks.
    pub(crate) kernel: bool,
    /// Gaps between lines of a thread, and those in new processes.
    pub(crate) all: Gaps,
    pub(crate) fresh: Gaps,
    pub(crate) extent: Extent,
}

event_columns! {
    pub(crate) struct ForkColumns {
        cpu: Numbers<UInt16Type> = "cpu",
        pub(crate) called: Words<Called> = "name",
        errno: Words<Errno> = "errno",
        fd: Numbers<Int32Type> = "fd",
        pub(crate) ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        offset: Numbers<Int64Type> = "offset",
        requested: Numbers<Int64Type> = "requested",
        pub(crate) anon: Numbers<Int64Type> = "anon_bytes",
        pub(crate) line: Numbers<UInt64Type> = "line",
    }
}

pub(crate) type Columns<'a> = (TaskColumns<'a>, ForkColumns<'a>);

/// The current row.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) row: usize,
    pub(crate) source: u32,
    pub(crate) act: Act,
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    pub(crate) ret: Option<i64>,
    pub(crate) errno: Option<Errno>,
    pub(crate) args: Option<&'a str>,
    pub(crate) path: Option<&'a str>,
}

impl At<'_> {
    pub(crate) fn end(&self) -> Option<i64> {
        self.ts.zip(self.dur).map(|(ts, dur)| ts.saturating_add(dur))
    }
}

impl Forks {
    fn at<'a>(
        &mut self,
        (tasks, columns): &mut Columns<'a>,
        row: usize,
        source: u32,
        act: Act,
    ) -> At<'a> {
        let names = &mut self.names;
        At {
            row,
            source,
            act,
            ts: tasks.ts.get(row),
            dur: tasks.dur.get(row),
            ret: tasks.ret.get(row),
            errno: columns.errno.get(row, |word| Errno::from_name(word, names)),
            args: tasks.args.get(row),
            path: tasks.path.get(row),
        }
    }

    /// What a row does, by the number of its name in the tracker.
    #[inline]
    fn act(&mut self, name: u32) -> Act {
        match self.acts.get(name as usize) {
            Some(&Some(act)) => act,
            _ => self.new_act(name),
        }
    }

    #[cold]
    fn new_act(&mut self, name: u32) -> Act {
        let act = Act::from_name(self.tracker.row_name(name), &mut self.names);
        if name as usize >= self.acts.len() {
            self.acts.resize(name as usize + 1, None);
        }
        if let Some(known) = self.acts.get_mut(name as usize) {
            *known = Some(act);
        }
        act
    }

    #[inline]
    fn call(&mut self, columns: &mut Columns<'_>, row: usize, source: u32, act: Act, number: u32) {
        let tasks = &mut columns.0;
        let ts = tasks.ts.get(row);
        if matches!(act, Act::Make(_)) && tasks.ret.get(row) == Some(0) {
            // The call that created the task returns in the child.
            if let Some(task) = self.tasks.get_mut(number as usize)
                && let Some(ts) = ts
            {
                task.returned.lower(ts);
            }
            return;
        }
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        if let Some(ts) = ts
            && let Some(last) = std::mem::replace(&mut task.last, ts.into()).get()
            && ts >= last
            && let Some(source) = self.sources.get_mut(source as usize)
        {
            let gap = ts.saturating_sub(last);
            source.all.push(gap);
            if task.exec().is_none() && task.lines <= FRESH && task.ended_row.is_none() {
                task.gaps.push(u32::try_from(gap).unwrap_or(u32::MAX));
            }
        }
        let linking = task.program.as_ref().is_some_and(|program| program.startup.is_some());
        let started = act == Act::Exec && tasks.ret.get(row) == Some(0);
        if task.exec().is_none() && !started {
            task.lines = task.lines.saturating_add(1);
            task.robust |= act == Act::Robust && task.lines <= 2;
            if task.lines > FRESH {
                task.gaps = ThinVec::default();
            }
        }
        if self.hints.is_some() {
            self.hint(columns, row, source, act, number);
        }
        let on_pipe = matches!(act, Act::Close | Act::Dup | Act::Read) && !self.pipes.is_empty();
        let on_task = matches!(
            act,
            Act::Make(_) | Act::Exec | Act::Wait | Act::WaitId | Act::End | Act::Pipe
        );
        if !(linking || on_pipe || on_task) || columns.0.status(row) == Some(Status::Injected) {
            return;
        }
        let at = self.at(columns, row, source, act);
        if linking {
            self.links(columns, &at, number);
        }
        match act {
            Act::Make(maker) => self.makes(columns, &at, Some(number), maker),
            Act::Exec => self.executes(&at, number),
            Act::Wait | Act::WaitId => self.collects(&at),
            Act::End => self.asks_to_end(&at, number),
            Act::Pipe => self.pipe(columns, &at, number),
            Act::Close | Act::Dup | Act::Read if on_pipe => self.uses_pipe(columns, &at, number),
            _ => {}
        }
    }

    /// A call during dynamic linking.
    fn links(&mut self, (_, columns): &Columns<'_>, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        let Some(program) = &mut task.program else { return };
        let Some(startup) = &mut program.startup else { return };
        let step = Step {
            act: at.act,
            end: at.end(),
            ret: at.ret,
            missing: at.errno.is_some_and(|errno| errno.missing),
            fd: columns.fd.get(at.row),
            offset: columns.offset.get(at.row),
            length: columns.requested.get(at.row),
            path: at.path,
            args: at.args,
        };
        if let Some(started) = startup.step(&step) {
            program.started = Some(started);
            program.startup = None;
        }
    }

    /// A row without a task, which may be a call that creates one.
    #[cold]
    fn row_without_task(&mut self, columns: &mut Columns<'_>, row: usize, source: u32) {
        let tasks = &mut columns.0;
        if tasks.task.get(row).is_some() || tasks.kind(row) != Some(RowKind::Call) {
            return;
        }
        let Some(name) = self.tracker.name(tasks, row) else { return };
        if let Act::Make(maker) = self.act(name)
            && tasks.ret.get(row) != Some(0)
            && tasks.status(row) != Some(Status::Injected)
        {
            let at = self.at(columns, row, source, Act::Make(maker));
            self.makes(columns, &at, None, maker);
        }
    }
}

impl RowFold for Forks {
    type Columns<'a> = (Columns<'a>, Option<CallColumns<'a>>);

    fn empty(&self) -> Self {
        if self.hints.is_some() { Self::with_hints() } else { Self::default() }
    }

    fn column_names(&self) -> Vec<&'static str> {
        let mut names = Columns::names();
        if self.hints.is_some() {
            names.extend(CallColumns::names());
        }
        names
    }

    fn columns<'a>(
        &self,
        batch: &'a RecordBatch,
        words: &'a Dictionaries,
    ) -> Result<Self::Columns<'a>, ArrowError> {
        let workers = match self.hints {
            Some(Starts::Own(_)) => Some(CallColumns::from_batch(batch, words)?),
            _ => None,
        };
        Ok((Columns::from_batch(batch, words)?, workers))
    }

    #[inline]
    fn fetch(&mut self, columns: &mut Self::Columns<'_>, rows: Range<usize>) {
        let (tasks, own) = &mut columns.0;
        tasks.fetch(rows.clone());
        if self.hints.is_some() {
            let names = &mut self.names;
            tasks.path.fetch(rows.filter(|&row| {
                let called = own.called.get(row, |name| Called::new(name, names));
                called.is_some_and(|called| called.opens)
            }));
        }
    }

    #[inline]
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        let found = self.tracker.row(&mut columns.0.0, row);
        self.follow(columns, row, found);
    }

    /// The table, in order of source and time.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        if let Some(Starts::Own(workers)) = &mut self.hints {
            workers.end(&mut self.tracker);
        }
        // The table does not look tasks up by id, and there may be millions.
        let moves = self.tracker.finish();
        self.rebind(&moves);
        (self.tids, self.pids) = (HashMap::default(), Pids::default());
        table::build(&self)
    }
}

impl Forks {
    /// Adds one row that the tracker has taken in.
    #[inline]
    fn follow(
        &mut self,
        (columns, workers): &mut <Self as RowFold>::Columns<'_>,
        row: usize,
        found: Option<TaskRow>,
    ) {
        let tasks = &mut columns.0;
        if let (Some(Starts::Own(fold)), Some(workers), Some(found)) =
            (&mut self.hints, workers, found)
        {
            fold.see(&mut self.tracker, workers, row, found);
        }
        let known = found.and_then(|found| self.tracker.tasks.get(found.task as usize));
        let source = match known {
            Some(task) => task.source,
            None => self.tracker.source(tasks, row),
        };
        if source as usize >= self.sources.len() {
            self.sources.resize_with(source as usize + 1, Source::default);
        }
        if let Some(source) = self.sources.get_mut(source as usize) {
            source.kernel |= columns.1.cpu.get(row).is_some();
            if self.hints.is_some() {
                source.extent.reaches(tasks.ts.get(row), tasks.dur.get(row));
            }
        }
        let Some(TaskRow { task: tracked, kind, name }) = found else {
            self.row_without_task(columns, row, source);
            return;
        };
        let task = match self.task_of(tracked) {
            Some(task) if self.tasks.get(task as usize).is_some_and(Task::seen) => task,
            _ => self.appears(tracked, tasks.tid.get(row)),
        };
        let Some(name) = name else { return };
        let act = self.act(name);
        match kind {
            RowKind::Call | RowKind::Return => self.call(columns, row, source, act, task),
            RowKind::Exit => {
                let at = self.at(columns, row, source, act);
                self.ends(&at, task);
            }
            RowKind::Signal if act == Act::Chld => {
                let at = self.at(columns, row, source, act);
                self.child_ended(&at);
            }
            RowKind::Event if matches!(act, Act::NewTask | Act::Forked | Act::Ended | Act::Rss) => {
                let at = self.at(columns, row, source, act);
                self.event(columns, &at, task);
            }
            _ => {}
        }
    }
}
