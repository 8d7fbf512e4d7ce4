//! The fold: events in order to processes that may be workers.

use std::collections::VecDeque;
use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_schema::ArrowError;

use crate::hash::HashMap;
use crate::linux::child_status::collected_by_waitid;
use crate::tables::event_columns::{Numbers, Words, event_columns};
use crate::tables::fold::RowFold;
use crate::tables::memory::Memory;
use crate::tables::memory::fold::MemoryColumns;
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::phases::fold::MarkColumns;
use crate::tables::process_tracking::kinds;
use crate::tables::process_tracking::launcher::WorkerRole;
use crate::tables::process_tracking::tracker::{TaskColumns, TaskRow, Tracker};
use crate::tables::process_tracking::word_classes::RowKind;
use crate::tables::waits::arguments::Arguments;
use crate::tables::waits::word_classes::Act;
use crate::tables::workers::batches::messages::{self, Messages};
use crate::tables::workers::channels::{Channels, Ofd, Request};
use crate::tables::workers::life::{FileRead, Life};
use crate::tables::workers::phases::Phases;
use crate::tables::workers::program;
use crate::tables::workers::retired::{Kin, Retired};
use crate::tables::workers::shared_reads::FileParts;
use crate::tables::workers::table::{self, WorkerStarts};
use crate::tables::workers::word_classes::{Held, Meaning};

/// Not yet known.
const NOBODY: u32 = u32::MAX;
/// Calls after which a task that no call has made by then is no new child.
const NEW: u64 = 4096;

/// The workers so far.
///
/// # Examples
/// ```
/// use tracefast_core::tables::fold::Fold;
/// use tracefast_core::tables::workers::Workers;
/// let table = Workers::default().finish().expect("columns of one length").remove(0);
/// assert_eq!(table.num_rows(), 0);
/// assert!(table.column_by_name("start_ns").is_some());
/// ```
#[derive(Debug, Default)]
pub struct Workers {
    pub(crate) tracker: Box<Tracker>,
    /// By task, the first task of its process.
    pub(crate) owners: Vec<u32>,
    /// By first task, what live processes do; none of those that the log did not see made.
    pub(crate) lives: Vec<Option<Box<Life>>>,
    /// By first task, the live children.
    pub(crate) children: HashMap<u32, Vec<u32>>,
    pub(crate) channels: Channels,
    /// Forms of programs.
    forms: Names,
    /// By first task, servers that fork.
    pub(crate) servers: HashMap<u32, Server>,
    pub(crate) kins: HashMap<Kin, Family>,
    pub(crate) retired: Vec<Retired>,
    /// Tasks that ended, and of which no call has returned yet that made them; the oldest first.
    pub(crate) unborn: VecDeque<u32>,
    /// By live maker, its last child that ended before another one was made, as long as it has not
    /// waited for that end, and the files that the child read.
    pub(crate) early: HashMap<u32, (Retired, HashMap<u64, FileRead>)>,
    pub(crate) parts: FileParts,
    pub(crate) messages: Messages,
    pub(crate) memory: Memory,
    pub(crate) phases: Phases,
    /// Only pools and starts are wanted.
    pub(crate) starts_only: bool,
    /// Memory is wanted only of logs with the kernel's events, which have page faults.
    events_only: bool,
    /// The log has such events.
    has_events: bool,
    finished: bool,
    /// By source.
    pub(crate) logs: Vec<Log>,
}

/// A server that forks workers for its maker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    pub(crate) maker: u32,
    /// The last connection that it accepted: for each it forks one worker.
    request: Option<Request>,
}

impl Server {
    fn accepts(&mut self, socket: Ofd) {
        let next = self.request.filter(|&(of, _)| of == socket).map_or(0, |(_, number)| number + 1);
        self.request = Some((socket, next));
    }
}

/// What is known of processes with one maker that were started in one way.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Family {
    /// The latest end of one of them.
    pub(crate) last: Packed<i64>,
    /// Two of them lived at one time.
    pub(crate) together: bool,
}

/// What is known about one log.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Log {
    /// The time of the last end of an event.
    pub(crate) last: i64,
    /// It has times, and durations of calls.
    pub(crate) times: bool,
    pub(crate) durations: bool,
    /// It has page faults.
    pub(crate) faults: bool,
}

event_columns! {
    pub(crate) struct WorkerColumns {
        meaning: Words<Meaning> = "name",
        pub(crate) held: Words<Held> = "file_type",
        pub(crate) fd: Numbers<Int32Type> = "fd",
        pub(crate) ofd: Numbers<UInt32Type> = ["ofd", "ofd2"],
        pub(crate) file: Numbers<UInt64Type> = "file",
        pub(crate) offset: Numbers<Int64Type> = "offset",
        pub(crate) requested: Numbers<Int64Type> = "requested",
        pub(crate) bytes: Numbers<Int64Type> = "bytes",
        pub(crate) size: Numbers<Int64Type> = "size",
        pub(crate) cpu: Numbers<UInt16Type> = "cpu",
        pub(crate) line: Numbers<UInt64Type> = "line",
    }
}

/// The columns that show which processes are workers.
pub(crate) type CallColumns<'a> = (TaskColumns<'a>, WorkerColumns<'a>);

/// A call of a task.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) row: usize,
    pub(crate) task: u32,
    /// The first task of its process.
    pub(crate) owner: u32,
    pub(crate) source: u32,
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
    /// The number of the call's name.
    name: Option<u32>,
    pub(crate) meaning: Meaning,
}

impl Workers {
    /// The first task of a task's process, as far as the log has shown it by now.
    #[inline]
    pub(crate) fn owner(&mut self, task: u32) -> u32 {
        match self.owners.get(task as usize) {
            Some(&owner) if owner != NOBODY => owner,
            _ => self.find_owner(task),
        }
    }

    #[cold]
    fn find_owner(&mut self, task: u32) -> u32 {
        if self.owners.len() < self.tracker.tasks.len() {
            self.owners.resize(self.tracker.tasks.len(), NOBODY);
            self.lives.resize_with(self.tracker.tasks.len(), || None);
        }
        let mut path = Vec::new();
        let mut at = task;
        let (owner, sure) = loop {
            match self.owners.get(at as usize) {
                Some(&owner) if owner != NOBODY => break (owner, true),
                None => break (at, false),
                _ => {}
            }
            let Some(known) = self.tracker.tasks.get(at as usize) else { break (at, false) };
            let Some(birth) = known.birth else { break (at, false) };
            if !kinds::is_thread(&self.tracker.tasks, known) || path.contains(&at) {
                break (at, true);
            }
            path.push(at);
            at = birth.parent;
        };
        for &thread in &path {
            if thread != owner {
                self.owners[thread as usize] = owner;
                if let Some(life) = self.lives.get_mut(thread as usize).and_then(Option::take)
                    && let Some(Some(process)) = self.lives.get_mut(owner as usize)
                {
                    process.join(*life);
                }
            }
        }
        if at == owner && sure && self.owners.get(owner as usize) == Some(&NOBODY) {
            self.owners[owner as usize] = owner;
            self.born(owner);
        }
        owner
    }

    /// The log shows who made a process.
    fn born(&mut self, task: u32) {
        let Some(birth) = self.tracker.tasks.get(task as usize).and_then(|task| task.birth) else {
            return;
        };
        let maker = self.owner(birth.parent);
        self.children.entry(maker).or_default().push(task);
        let server = self.servers.get(&maker).copied();
        let life = self.life(task);
        if let Some(server) = server.filter(|_| life.program.is_none()) {
            (life.prepared, life.request) = (true, server.request);
        }
        if let Some((Some(WorkerRole::ForkServer), _)) = life.program {
            self.servers.insert(task, Server { maker, request: None });
        }
    }

    fn life(&mut self, owner: u32) -> &mut Life {
        let at = owner as usize;
        if self.lives.len() <= at {
            self.lives.resize_with(at + 1, || None);
        }
        self.lives[at].get_or_insert_default()
    }

    #[inline]
    fn call(&mut self, columns: &mut CallColumns<'_>, at: &At) {
        let (tasks, own) = columns;
        let ofd = |which: usize| -> Option<Ofd> { Some((at.source, own.ofd[which].get(at.row)?)) };
        let ret = tasks.ret.get(at.row);
        match at.meaning.act {
            Act::Pipe | Act::SocketPair if ret == Some(0) => {
                if let (Some(one), Some(other)) = (ofd(0), ofd(1)) {
                    self.channels.made(one, other, at.task);
                }
            }
            Act::Give | Act::Transfer if ret.is_some_and(|ret| ret > 0) => {
                let to = usize::from(at.meaning.act == Act::Transfer);
                if let Some(ofd) = ofd(to) {
                    self.channels.written(ofd, at.task);
                }
            }
            Act::Bind if ret == Some(0) => {
                if let (Some(fd), Some(path)) = (own.fd.get(at.row), tasks.path.get(at.row)) {
                    self.channels.binds(at.owner, fd, path);
                }
            }
            Act::Listen if ret == Some(0) => {
                if let Some(ofd) = ofd(0) {
                    let own_fd = (at.owner, own.fd.get(at.row));
                    self.channels.listens(ofd, at.task, own_fd);
                }
            }
            Act::Connect if ret == Some(0) && self.has_server(at.owner) => {
                if let (Some(path), Some(ts)) = (tasks.path.get(at.row), at.ts) {
                    self.channels.asked(at.source, path, ts);
                }
            }
            Act::Accept if ret.is_some_and(|fd| fd >= 0) => {
                if let Some(server) = self.servers.get_mut(&at.owner)
                    && let Some(socket) = ofd(1)
                {
                    server.accepts(socket);
                }
            }
            // Before a server accepts the next connection.
            Act::Fork if self.servers.contains_key(&at.owner) || !self.unborn.is_empty() => {
                if let Some(child) = tasks.child.get(at.row) {
                    let child = self.tracker.number(at.source, child);
                    self.made(child);
                }
            }
            Act::Collect if !self.early.is_empty() && ret.is_some_and(|ret| ret >= 0) => {
                let args = tasks.args.get(at.row).unwrap_or_default();
                let arguments = Arguments::new(args, own.cpu.get(at.row).is_some());
                let ended = match ret {
                    Some(0) => collected_by_waitid(args),
                    pid => pid.and_then(|pid| i32::try_from(pid).ok()),
                };
                if !arguments.only_looks(at.name.map_or("", |name| self.tracker.row_name(name))) {
                    self.waited_for(at.owner, ended);
                }
            }
            Act::Exec if ret == Some(0) => {
                let path = tasks.path.get(at.row).unwrap_or_default();
                let args = tasks.args.get(at.row).unwrap_or_default();
                self.starts((at.task, at.owner), path, args);
            }
            _ => {}
        }
        if let Some(Some(_)) = self.lives.get(at.owner as usize) {
            self.lived(columns, at);
        }
    }

    /// A maker waited until a child had ended: those that it makes from now on follow that one.
    fn waited_for(&mut self, maker: u32, ended: Option<i32>) {
        let Some((before, _)) = self.early.get(&maker) else { return };
        let before = self.tracker.tasks.get(before.task as usize).and_then(|task| task.pid.get());
        if before == ended {
            self.early.remove(&maker);
        }
    }

    /// Whether a process started a server that forks for it.
    fn has_server(&self, maker: u32) -> bool {
        self.servers.values().any(|server| server.maker == maker)
    }

    /// A task of a process started a program.
    fn starts(&mut self, (task, owner): (u32, u32), path: &str, args: &str) {
        let started = self.tracker.tasks.get(task as usize).and_then(|task| task.execs.last());
        let role = started.and_then(|exec| exec.role);
        let form = (!path.is_empty()).then(|| self.forms.number(&program::form(path, args)));
        let birth = self.tracker.tasks.get(owner as usize).and_then(|task| task.birth);
        if role == Some(WorkerRole::ForkServer)
            && let Some(birth) = birth
        {
            let maker = self.owner(birth.parent);
            self.servers.insert(owner, Server { maker, request: None });
        }
        if let Some(Some(life)) = self.lives.get_mut(owner as usize) {
            life.starts(role, form);
        }
    }
}

impl RowFold for Workers {
    type Columns<'a> = (CallColumns<'a>, (MemoryColumns<'a>, MarkColumns<'a>));

    fn empty(&self) -> Self {
        let Self { starts_only, events_only, .. } = *self;
        Self { starts_only, events_only, ..Self::default() }
    }

    #[inline]
    fn fetch(&mut self, columns: &mut Self::Columns<'_>, rows: Range<usize>) {
        columns.0.0.fetch(rows);
    }

    #[inline]
    fn row(&mut self, columns: &mut Self::Columns<'_>, row: usize) {
        let found = self.tracker.row(&mut columns.0.0, row);
        self.follow(columns, row, found);
    }

    /// The table, in order of source, pool, round and start.
    fn table(mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        self.finish();
        table::build(&self)
    }
}

impl Workers {
    /// Adds one row that the tracker has taken in.
    #[inline]
    fn follow(
        &mut self,
        (columns, (memory, marks)): &mut <Self as RowFold>::Columns<'_>,
        row: usize,
        found: Option<TaskRow>,
    ) {
        if let Some(found) = found {
            self.seen(columns, row, found);
            self.phases_begin((&mut columns.0, marks), row, found);
        }
        self.has_events |= self.events_only && columns.1.cpu.get(row).is_some();
        if !self.events_only || self.has_events {
            self.memory.row(memory, row);
        }
        if !self.memory.rows.is_empty() {
            self.grows(columns, row);
        }
    }
}

impl Workers {
    /// A fold that estimates no memory in logs of strace alone: what their calls map says nothing
    /// about pages that are copied.
    pub fn without_estimates() -> Self {
        Self { events_only: true, ..Self::default() }
    }

    /// A fold that only finds workers, and when they were ready: see [`starts`](table::starts).
    pub(crate) fn starts_only() -> Self {
        Self { starts_only: true, ..Self::default() }
    }

    /// What is known about a log, to change it. Numbers are small: sources are counted as they
    /// appear.
    #[inline]
    pub(crate) fn log_mut(&mut self, source: u32) -> &mut Log {
        let at = source as usize;
        if self.logs.len() <= at {
            self.logs.resize(at + 1, Log::default());
        }
        &mut self.logs[at]
    }

    /// The workers that it has found in all events, for the fold of created tasks. No rows may come
    /// after that.
    pub fn found(&mut self) -> WorkerStarts {
        self.finish();
        WorkerStarts::new(self)
    }

    /// All rows are in.
    pub(crate) fn finish(&mut self) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        self.retire_all();
        self.messages.finish();
        self.tracker.finish();
    }

    /// All rows are in: what lives has no end.
    fn retire_all(&mut self) {
        for task in 0..self.lives.len() as u32 {
            // The log may have shown by now whose thread it is.
            let owner = self.owner(task);
            if owner != task {
                continue;
            }
            self.retire(task);
        }
    }

    /// Adds one row that the tracker of another fold has taken in. It is lent for the row: two of
    /// them would find out the same.
    #[inline]
    pub(crate) fn see(
        &mut self,
        tracker: &mut Box<Tracker>,
        columns: &mut CallColumns<'_>,
        row: usize,
        found: TaskRow,
    ) {
        std::mem::swap(&mut self.tracker, tracker);
        self.seen(columns, row, found);
        std::mem::swap(&mut self.tracker, tracker);
    }

    /// All rows are in, of a fold that has no tracker of its own.
    pub(crate) fn end(&mut self, tracker: &mut Box<Tracker>) {
        std::mem::swap(&mut self.tracker, tracker);
        self.retire_all();
        std::mem::swap(&mut self.tracker, tracker);
    }

    fn seen(&mut self, columns: &mut CallColumns<'_>, row: usize, found: TaskRow) {
        let TaskRow { task, kind, name } = found;
        let Some(source) = self.tracker.tasks.get(task as usize).map(|task| task.source) else {
            return;
        };
        let (ts, dur) = (columns.0.ts.get(row), columns.0.dur.get(row));
        let log = self.log_mut(source);
        if let Some(ts) = ts {
            log.last = log.last.max(ts.saturating_add(dur.unwrap_or(0)));
            log.times = true;
        }
        log.durations |= dur.is_some();
        match kind {
            RowKind::Call => {
                let Some(meaning) = columns.1.meaning.get(row, Meaning::from_name) else { return };
                let owner = self.owner(task);
                if self.owners.get(task as usize) == Some(&NOBODY) {
                    self.newcomer(task);
                }
                let at = At { row, task, owner, source, ts, dur, name, meaning };
                self.call(columns, &at);
                // Without times nobody can say who waited.
                if let Some(ts) = ts.filter(|_| !self.starts_only) {
                    let tracker = &self.tracker;
                    let call = messages::Call { tracker, row, task, source, ts, dur, meaning };
                    self.messages.call((&columns.0, &mut columns.1), &call);
                }
            }
            RowKind::Exit => {
                let known = self.tracker.tasks.get(task as usize);
                let leads = known
                    .and_then(|known| known.pid.get().filter(|&pid| known.tid.get() == Some(pid)));
                self.messages.ended(task, source, leads);
                let superseded = |end: &crate::tables::process_tracking::task::End| end.superseded;
                let end = self.tracker.tasks.get(task as usize).and_then(|task| task.end.as_ref());
                if !end.is_some_and(superseded) {
                    self.ended(task);
                }
            }
            RowKind::Event => {
                let event = self.tracker.row;
                let Some(known) = self.tracker.tasks.get(task as usize) else { return };
                let ended = known.end.as_ref().is_some_and(|end| end.row == event);
                let program = known.execs.last().filter(|exec| exec.row == event);
                let path = program.map(|exec| exec.path.clone().unwrap_or_default());
                let owner = self.owner(task);
                if let Some(path) = path {
                    self.starts((task, owner), &path, "");
                }
                let meaning = columns.1.meaning.get(row, Meaning::from_name);
                if meaning.is_some_and(|meaning| meaning.faults) {
                    self.faults(source, owner, columns.0.args.get(row).unwrap_or_default());
                }
                if ended {
                    self.ended(task);
                }
            }
            _ => {}
        }
    }

    /// A call of a task that no call has made so far.
    fn newcomer(&mut self, task: u32) {
        let life = self.life(task);
        if life.calls < NEW {
            return;
        }
        self.no_child(task);
    }

    /// A task is older than the log, or the log does not show who made it.
    pub(crate) fn no_child(&mut self, task: u32) {
        if let Some(owner) = self.owners.get_mut(task as usize) {
            *owner = task;
            self.lives[task as usize] = None;
        }
    }
}
