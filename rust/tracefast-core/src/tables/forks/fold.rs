//! The fold: which rows say something about tasks, and about which ones.

use arrow_array::RecordBatch;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::forks::hints::{Called, Extent, Hints};
use crate::tables::forks::pipes::Pipes;
use crate::tables::forks::startup::Step;
use crate::tables::forks::table;
use crate::tables::forks::task::{Birth, FRESH, Process, Task};
use crate::tables::forks::tracer::Gaps;
use crate::tables::forks::word_classes::{Act, Errno, Outcome, RowKind};
use crate::tables::names::Names;

/// Tasks so far, and how they were created.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::forks::Forks;
/// let table = Forks::default().finish().expect("columns of one length");
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("call_ns").is_some());
/// ```
#[derive(Debug, Default)]
pub struct Forks {
    /// Texts of all kinds except sources.
    pub(crate) names: Names,
    pub(crate) source_names: Names,
    /// By number of the source, from 1; index 0 is for events without a source.
    pub(crate) sources: Vec<Source>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) processes: Vec<Process>,
    pub(crate) births: Vec<Birth>,
    pub(crate) pipes: Pipes,
    /// Tasks by source and number in the events.
    pub(crate) numbers: HashMap<(u32, u32), u32>,
    /// The last task of each thread id, and the last process of each process id.
    pub(crate) tids: HashMap<(u32, i32), u32>,
    pub(crate) pids: HashMap<(u32, i32), u32>,
    /// The task of the last row: usually the next row has the same.
    last: Option<((u32, u32), u32)>,
    /// Rows so far.
    pub(crate) rows: u64,
    /// Evidence for advice, on request.
    pub(crate) hints: Option<Hints>,
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
    pub(crate) struct Columns {
        ts: Numbers<TimestampNanosecondType> = "ts",
        dur: Numbers<Int64Type> = "dur_ns",
        task: Numbers<UInt32Type> = "task",
        pub(crate) pid: Numbers<Int32Type> = "pid",
        pub(crate) tid: Numbers<Int32Type> = "tid",
        pub(crate) comm: Words<u32> = "comm",
        cpu: Numbers<UInt16Type> = "cpu",
        kind: Words<RowKind> = "kind",
        name: Words<Act> = "name",
        called: Words<Called> = "name",
        args: Text = "args",
        ret: Numbers<Int64Type> = "ret",
        errno: Words<Errno> = "errno",
        status: Words<Outcome> = "status",
        fd: Numbers<Int32Type> = "fd",
        pub(crate) ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        path: Text = "path",
        offset: Numbers<Int64Type> = "offset",
        requested: Numbers<Int64Type> = "requested",
        pub(crate) child: Numbers<UInt32Type> = "child",
        pub(crate) anon: Numbers<Int64Type> = "anon_bytes",
        pub(crate) line: Numbers<UInt64Type> = "line",
        source: Words<u32> = "source",
    }
}

impl Columns<'_> {
    pub(crate) fn task_of(&self, row: usize) -> Option<u32> {
        self.task.get(row)
    }

    pub(crate) fn called(&mut self, row: usize, names: &mut Names) -> Option<Called> {
        self.called.get(row, |name| Called::new(name, names))
    }

    pub(crate) fn injected(&mut self, row: usize) -> bool {
        self.status.get(row, Outcome::from_word) == Some(Outcome::Injected)
    }

    pub(crate) fn ts(&self, row: usize) -> Option<i64> {
        self.ts.get(row)
    }

    pub(crate) fn dur(&self, row: usize) -> Option<i64> {
        self.dur.get(row)
    }

    pub(crate) fn ret(&self, row: usize) -> Option<i64> {
        self.ret.get(row)
    }

    pub(crate) fn path(&self, row: usize) -> Option<&str> {
        self.path.get(row)
    }
}

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
    fn at<'a>(&mut self, columns: &mut Columns<'a>, row: usize, source: u32, act: Act) -> At<'a> {
        let names = &mut self.names;
        At {
            row,
            source,
            act,
            ts: columns.ts.get(row),
            dur: columns.dur.get(row),
            ret: columns.ret.get(row),
            errno: columns.errno.get(row, |word| Errno::from_name(word, names)),
            args: columns.args.get(row),
            path: columns.path.get(row),
        }
    }

    /// A row that is not a call but reports the life of a task.
    fn tells(&mut self, columns: &mut Columns<'_>, at: &At<'_>, task: u32, kind: RowKind) {
        match kind {
            RowKind::Exit => self.ends(at, task),
            RowKind::Signal => self.told(at),
            _ => self.event(columns, at, task),
        }
    }

    #[inline]
    fn call(&mut self, columns: &mut Columns<'_>, row: usize, source: u32, act: Act, number: u32) {
        let ts = columns.ts.get(row);
        if matches!(act, Act::Make(_)) && columns.ret.get(row) == Some(0) {
            // The call that created the task returns in the child.
            if let Some(task) = self.tasks.get_mut(number as usize)
                && let Some(ts) = ts
            {
                task.returned = Some(task.returned.map_or(ts, |returned| returned.min(ts)));
            }
            return;
        }
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        if let Some(ts) = ts
            && let Some(last) = task.last.replace(ts)
            && ts >= last
            && let Some(source) = self.sources.get_mut(source as usize)
        {
            let gap = ts.saturating_sub(last);
            source.all.push(gap);
            if task.exec.is_none() && task.lines <= FRESH && task.ended_row.is_none() {
                task.gaps.push(u32::try_from(gap).unwrap_or(u32::MAX));
            }
        }
        let linking = task.startup.is_some();
        let started = act == Act::Exec && columns.ret.get(row) == Some(0);
        if task.exec.is_none() && !started {
            task.lines = task.lines.saturating_add(1);
            task.robust |= act == Act::Robust && task.lines <= 2;
            if task.lines > FRESH {
                task.gaps = Vec::new();
            }
        }
        if self.hints.is_some() {
            self.hint(columns, row, source, act, number);
        }
        let pipes = matches!(act, Act::Close | Act::Dup | Act::Read) && !self.pipes.is_empty();
        let bears = matches!(
            act,
            Act::Make(_) | Act::Exec | Act::Wait | Act::WaitId | Act::End | Act::Pipe
        );
        if !(linking || pipes || bears)
            || columns.status.get(row, Outcome::from_word) == Some(Outcome::Injected)
        {
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
            Act::Close | Act::Dup | Act::Read if pipes => self.uses_pipe(columns, &at, number),
            _ => {}
        }
    }

    /// A call during dynamic linking.
    fn links(&mut self, columns: &Columns<'_>, at: &At<'_>, number: u32) {
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        let Some(startup) = &mut task.startup else { return };
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
            task.started = Some(started);
            task.startup = None;
        }
    }

    #[inline]
    fn task(&mut self, columns: &Columns<'_>, row: usize, source: u32, number: u32) -> u32 {
        let key = (source, number);
        if let Some((last, task)) = self.last
            && last == key
        {
            return task;
        }
        let task = match self.numbers.get(&key) {
            Some(&task) => task,
            None => self.appears(source, number, columns.tid.get(row)),
        };
        if self.tasks.get(task as usize).is_some_and(|task| !task.seen) {
            self.seen(task, columns.tid.get(row), columns.pid.get(row));
        }
        self.last = Some((key, task));
        task
    }
}

impl RowFold for Forks {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        if self.hints.is_some() { Self::with_hints() } else { Self::default() }
    }

    #[inline]
    fn row(&mut self, columns: &mut Columns<'_>, row: usize) {
        self.rows += 1;
        let kind = columns.kind.get(row, RowKind::from_word).unwrap_or(RowKind::Other);
        let names = &mut self.source_names;
        let source = columns.source.get(row, |text| names.number(text) + 1).unwrap_or(0);
        if source as usize >= self.sources.len() {
            self.sources.resize_with(source as usize + 1, Source::default);
        }
        if columns.cpu.get(row).is_some()
            && let Some(source) = self.sources.get_mut(source as usize)
        {
            source.kernel = true;
        }
        let names = &mut self.names;
        let act = columns.name.get(row, |name| Act::from_name(name, names)).unwrap_or(Act::Other);
        let ts = columns.ts.get(row);
        if self.hints.is_some()
            && let Some(source) = self.sources.get_mut(source as usize)
        {
            source.extent.reaches(ts, columns.dur.get(row));
        }
        let task = columns.task.get(row).map(|number| self.task(columns, row, source, number));
        if let Some(task) = task.and_then(|task| self.tasks.get_mut(task as usize)) {
            task.first = match (task.first, ts) {
                (Some(first), Some(ts)) => Some(first.min(ts)),
                (first, ts) => first.or(ts),
            };
        }
        match (kind, task) {
            (RowKind::Call, Some(task)) => self.call(columns, row, source, act, task),
            (RowKind::Call, None) => {
                if let Act::Make(maker) = act
                    && columns.ret.get(row) != Some(0)
                    && columns.status.get(row, Outcome::from_word) != Some(Outcome::Injected)
                {
                    let at = self.at(columns, row, source, act);
                    self.makes(columns, &at, None, maker);
                }
            }
            (RowKind::Exit | RowKind::Signal | RowKind::Event, Some(task)) => {
                let told = match kind {
                    RowKind::Exit => true,
                    RowKind::Signal => act == Act::Chld,
                    _ => matches!(
                        act,
                        Act::NewTask | Act::Forked | Act::Executed | Act::Ended | Act::Rss
                    ),
                };
                if told {
                    let at = self.at(columns, row, source, act);
                    self.tells(columns, &at, task, kind);
                }
            }
            _ => {}
        }
    }

    /// The table, in order of source and time.
    fn table(mut self) -> Result<RecordBatch, ArrowError> {
        self.guess();
        table::build(&self)
    }
}
