//! The fold: events in order to waits, and to what the live tasks share and hold.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_schema::ArrowError;

use crate::linux::clone::shares_files;
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::process_tracking::word_classes::RowKind;
use crate::tables::waits::arguments::Arguments;
use crate::tables::waits::enders::Late;
use crate::tables::waits::judge::moments::Moments;
use crate::tables::waits::off_cpu::OffCpu;
use crate::tables::waits::table;
use crate::tables::waits::wait::Wait;
use crate::tables::waits::word_classes::{Act, Fault, Holds, Signal, Status};
use crate::tables::waits::world::acts;
use crate::tables::waits::world::signals::Handled;
use crate::tables::waits::world::tasks::World;
use crate::text::number;

/// The waits so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::waits::Waits;
/// let table = Waits::new(1_000_000).finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("waker_task").is_some());
/// ```
#[derive(Debug)]
pub struct Waits {
    /// Shorter waits that ended are no rows.
    pub(crate) min_ns: i64,
    pub(crate) tracker: Tracker,
    pub(crate) world: World,
    pub(crate) rows: Vec<Wait>,
    pub(crate) late: Late,
    pub(crate) moments: Moments,
    pub(crate) off_cpu: OffCpu,
    /// By the number of the source.
    pub(crate) logs: Vec<Log>,
}

impl Log {
    /// All that tasks do is in it, and no filter hides it.
    pub(crate) fn whole(&self) -> bool {
        self.memory && self.startup && !self.lost
    }
}

/// What is known about one log.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Log {
    /// The time of the last event so far, or of its end.
    pub(crate) last: i64,
    /// Calls that map memory are in it, and others that programs make at their start.
    pub(crate) memory: bool,
    pub(crate) startup: bool,
    /// It is one of ftrace.
    pub(crate) ftrace: bool,
    /// The tracer lost events.
    lost: bool,
    /// What the clock of futexes and sleeps shows more than the log's.
    pub(crate) clock: Option<i64>,
    /// The newest description.
    pub(crate) newest: u32,
    /// It has rows of tasks, times, calls that returned, some with durations, thread ids, a program
    /// that started.
    seen: bool,
    times: bool,
    returned: bool,
    durations: bool,
    ids: bool,
    starts: bool,
}

event_columns! {
    pub(crate) struct WaitColumns {
        pub(crate) act: Words<Act> = "name",
        pub(crate) signal: Words<Signal> = "name",
        pub(crate) status: Words<Status> = "status",
        pub(crate) fault: Words<Fault> = "errno",
        pub(crate) result: Text = "result",
        pub(crate) fd: Numbers<Int32Type> = ["fd", "fd2"],
        pub(crate) ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        pub(crate) file: Numbers<UInt64Type> = "file",
        pub(crate) holds: Words<Holds> = "file_type",
        pub(crate) requested: Numbers<Int64Type> = "requested",
        pub(crate) bytes: Numbers<Int64Type> = "bytes",
        pub(crate) line: Numbers<UInt64Type> = "line",
        pub(crate) cpu: Numbers<UInt16Type> = "cpu",
        pub(crate) extra: Text = "extra",
    }
}

pub(crate) type Columns<'a> = (TaskColumns<'a>, WaitColumns<'a>);

/// A row of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) row: usize,
    pub(crate) task: u32,
    pub(crate) source: u32,
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    pub(crate) line: u64,
    pub(crate) name: u32,
    pub(crate) act: Act,
    pub(crate) args: &'a str,
    pub(crate) ret: Option<i64>,
    pub(crate) status: Status,
    pub(crate) ftrace: bool,
}

impl At<'_> {
    /// When the call ended.
    pub(crate) fn end(&self) -> Option<i64> {
        Some(self.ts?.saturating_add(self.dur.unwrap_or(0)))
    }

    /// What it did to others.
    pub(crate) fn as_act(&self) -> acts::Act {
        let ts = self.ts.unwrap_or(0);
        acts::Act { task: self.task, line: self.line, ts, end: self.end().unwrap_or(ts) }
    }
}

impl Waits {
    /// No waits. Those that ended and took less than `min_ns` nanoseconds are left out.
    pub fn new(min_ns: i64) -> Self {
        Self {
            min_ns,
            tracker: Tracker::default(),
            world: World::default(),
            rows: Vec::new(),
            late: Late::default(),
            moments: Moments::default(),
            off_cpu: OffCpu::default(),
            logs: Vec::new(),
        }
    }

    /// What the logs lack, so that less is known: `no-times`, `no-durations`, `no-children`, `lost`,
    /// `attached`, `filtered`.
    pub fn gaps(&self) -> Vec<&'static str> {
        let any = |lacks: fn(&Log) -> bool| self.logs.iter().any(|log| log.seen && lacks(log));
        let gaps = [
            ("no-times", any(|log| !log.times)),
            ("no-durations", any(|log| log.times && log.returned && !log.durations)),
            ("no-children", any(|log| !log.ids)),
            ("lost", any(|log| log.lost)),
            ("attached", any(|log| !log.starts && !log.whole() && !log.lost)),
            ("filtered", any(|log| log.starts && !log.whole() && !log.lost)),
        ];
        gaps.into_iter().filter(|&(_, lacks)| lacks).map(|(word, _)| word).collect()
    }

    /// What is known about a log.
    pub(crate) fn log(&self, source: u32) -> Log {
        self.logs.get(source as usize).copied().unwrap_or_default()
    }

    /// The same, to change it. Numbers are small: sources are counted as they appear.
    #[inline]
    pub(crate) fn log_mut(&mut self, source: u32) -> &mut Log {
        let at = source as usize;
        if self.logs.len() <= at {
            self.logs.resize(at + 1, Log::default());
        }
        &mut self.logs[at]
    }

    /// A task has a row.
    #[inline]
    fn seen(&mut self, number: u32, line: u64) {
        if self.world.task(number).is_some_and(|task| task.seen) {
            return;
        }
        self.appear(number, false, line);
        if let Some(task) = self.world.task_mut(number) {
            task.seen = true;
        }
    }

    /// A task has its first row, or its creator's call names it.
    fn appear(&mut self, number: u32, shares_table: bool, line: u64) {
        let Some(task) = self.tracker.tasks.get(number as usize) else { return };
        let (source, ids, birth) = (task.source, (task.tid.get(), task.pid.get()), task.birth);
        self.world.appear(number, source, ids, line);
        // An event reported it before its own first row.
        if let Some(birth) = birth {
            if self.world.task(birth.parent).is_none() {
                self.appear(birth.parent, false, line);
            }
            self.world.born(number, birth.parent, birth.kind, shares_table, line);
        }
    }

    /// A call that made a task.
    fn forked(&mut self, (tasks, _): &Columns<'_>, at: &At<'_>) {
        let Some(id) = tasks.child.get(at.row) else { return };
        let child = self.tracker.number(at.source, id);
        if child == at.task {
            return;
        }
        let shares_table = shares_files(self.tracker.row_name(at.name), at.args);
        self.appear(child, shares_table, at.line);
        let birth = self.tracker.tasks.get(child as usize).and_then(|task| task.birth);
        let Some(birth) = birth.filter(|birth| birth.parent == at.task) else { return };
        self.world.born(child, at.task, birth.kind, shares_table, at.line);
        self.moments.born((child, at.task), birth.kind, shares_table, at);
        let newest = self.log(at.source).newest;
        if let Some(child) = self.world.task_mut(child) {
            child.newest = newest;
        }
    }

    /// Whether a signal has a handler, and another process of the log sent it: that may be how one
    /// tells the other to go on.
    fn helps(&self, (task, source): (u32, u32), name: u32, args: &str) -> bool {
        let sender = args.split_once("si_pid=").map(|(_, rest)| number::c_integer(rest.as_bytes()));
        let sender = sender.and_then(|(pid, _)| i32::try_from(pid).ok());
        let known = sender.and_then(|pid| self.world.by_tid.get(&(source, pid)));
        let number = Handled::number(self.tracker.row_name(name));
        known.is_some_and(|&sender| sender != task)
            && number.is_some_and(|number| {
                self.world.space(task).is_some_and(|space| space.handled.has(number))
            })
    }

    /// A task ended, by the tracer's line or by its own call.
    fn ended(&mut self, task: u32, line: u64, ts: Option<i64>) {
        use crate::linux::child_status::Outcome;
        let outcome = self.tracker.tasks.get(task as usize).and_then(|task| task.end.as_ref());
        let badly = outcome
            .and_then(|end| end.outcome.as_ref())
            .is_some_and(|outcome| !matches!(outcome, Outcome::Status(0)))
            || self.world.task(task).is_some_and(|task| task.doomed);
        // Death took it out of a call, and no thread of its own process that ended all of them.
        let killed =
            !matches!(outcome.and_then(|end| end.outcome.as_ref()), Some(Outcome::Status(_)));
        if killed {
            self.struck(task, self.world.task(task).map_or(0, |task| task.source), ts);
            self.world.dies_with_its_process(task);
        }
        self.world.ended(task, line, badly, ts.filter(|_| killed));
        let end = ts.unwrap_or(0);
        // Its descriptors were closed between its last call and this line.
        let ts = self.world.task(task).and_then(|task| task.exit_ts).unwrap_or(end);
        self.closed(acts::Act { task, line, ts, end });
    }

    fn call(&mut self, columns: &mut Columns<'_>, at: &At<'_>) {
        let returned = matches!(at.status, Status::Returned | Status::Interrupted);
        if returned {
            self.changes(columns, at);
        }
        match at.act {
            Act::Fork if returned => self.forked(columns, at),
            Act::Exec if at.ret == Some(0) => {
                self.log_mut(at.source).starts = true;
                self.world.exec(at.task, at.line);
                self.closed(at.as_act());
            }
            Act::End => {
                let status = Arguments::new(at.args, at.ftrace).number(0);
                if let Some(task) = self.world.task_mut(at.task) {
                    task.exit_ts = at.ts;
                    task.doomed |= status.is_some_and(|status| status != 0);
                }
                let one = self.tracker.row_name(at.name) == "exit";
                if !one {
                    self.world.dies_with_its_process(at.task);
                }
                // The first thread of a process that goes on: its end has no line until all end.
                if one && !at.ftrace && self.world.leads_others(at.task) {
                    self.world.ended(at.task, at.line, false, None);
                }
            }
            _ => {}
        }
        match at.act {
            // ftrace shows no other end of a task, if its events are not in the log.
            Act::End if at.ftrace && at.status == Status::Returned => {
                self.ended(at.task, at.line, at.ts);
            }
            _ => {}
        }
        self.wait(columns, at);
    }
}

impl RowFold for Waits {
    type Columns<'a> = Columns<'a>;

    fn empty(&self) -> Self {
        Self::new(self.min_ns)
    }

    #[inline]
    fn fetch(&mut self, (tasks, waits): &mut Self::Columns<'_>, rows: Range<usize>) {
        tasks.fetch(rows.clone());
        let reads =
            |&row: &usize| waits.act.get(row, Act::from_name).is_some_and(Act::reads_arguments);
        tasks.args.fetch(rows.filter(reads));
    }

    #[inline]
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        let found = self.tracker.row(&mut columns.0, row);
        self.follow(columns, row, found);
    }

    /// The table, in order of source and start.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        self.judge_the_end();
        table::build(self)
    }
}

impl Waits {
    /// Adds one row that the tracker has taken in.
    #[inline]
    fn follow(
        &mut self,
        columns: &mut <Self as RowFold>::Columns<'_>,
        row: usize,
        found: Option<TaskRow>,
    ) {
        let Some(TaskRow { task, kind, name }) = found else {
            if columns.0.kind(row) == Some(RowKind::Lost) {
                let source = self.tracker.source(&mut columns.0, row);
                self.log_mut(source).lost = true;
            }
            return;
        };
        let (tasks, waits) = columns;
        let Some(source) = self.tracker.tasks.get(task as usize).map(|task| task.source) else {
            return;
        };
        let line = waits.line.get(row).unwrap_or(self.tracker.row);
        let (ts, dur) = (tasks.ts.get(row), tasks.dur.get(row));
        let log = self.log_mut(source);
        log.seen = true;
        if let Some(ts) = ts {
            log.last = log.last.max(ts.saturating_add(dur.unwrap_or(0)));
            log.times = true;
        }
        log.durations |= dur.is_some();
        let ftrace = waits.cpu.get(row).is_some();
        log.ftrace |= ftrace;
        log.ids = log.ids || tasks.tid.get(row).is_some();
        log.newest = log.newest.max(waits.ofd[0].get(row).unwrap_or(0));
        self.seen(task, line);
        let Some(name) = name else { return };
        match kind {
            RowKind::Call | RowKind::Return => {
                let Some(act) = waits.act.get(row, Act::from_name) else { return };
                let status = waits.status.get(row, Status::from_word);
                let returned = status.is_none_or(|status| status == Status::Returned);
                self.log_mut(source).returned |= returned;
                if let Some(task) = self.world.task_mut(task) {
                    task.blocked = None;
                }
                // Most calls are on files, and neither wait nor say who waits.
                if kind == RowKind::Call && (act != Act::Other || self.on_end(waits, row)) {
                    let at = At {
                        row,
                        task,
                        source,
                        ts,
                        dur,
                        line,
                        name,
                        act,
                        args: tasks.args.get(row).unwrap_or_default(),
                        ret: tasks.ret.get(row),
                        status: status.unwrap_or(Status::Returned),
                        ftrace,
                    };
                    self.call(columns, &at);
                }
                self.shown(task);
            }
            RowKind::Signal if waits.signal.get(row, Signal::from_name) == Some(Signal::Deadly) => {
                let args = tasks.args.get(row).unwrap_or_default();
                if !self.helps((task, source), name, args) {
                    self.struck(task, source, ts);
                }
            }
            RowKind::Exit => {
                self.shown(task);
                self.ended(task, line, ts);
            }
            RowKind::Event => {
                let args = tasks.args.get(row).unwrap_or_default();
                let flags = waits.extra.get(row).unwrap_or_default();
                self.event((task, source, line, ts), name, args, flags);
                let ended = self.tracker.tasks.get(task as usize);
                if ended.is_some_and(|task| {
                    task.end.as_ref().is_some_and(|end| end.row == self.tracker.row)
                }) {
                    self.ended(task, line, ts);
                }
            }
            _ => {}
        }
    }
}
