//! Events in order to what is known about each task.

use std::ops::Range;

use arrow_array::types::{Int32Type, Int64Type, TimestampNanosecondType, UInt32Type};

use crate::hash::HashMap;
use crate::linux::child_status::{self, Outcome};
use crate::linux::clone::{Kind, kind_of};
use crate::linux::task_events::{self, TaskEvent};
use crate::tables::event_columns::{Numbers, Text, Words, event_columns};
use crate::tables::names::Names;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::argv;
use crate::tables::process_tracking::launcher::WorkerRole;
use crate::tables::process_tracking::namespaces::{self, Move};
use crate::tables::process_tracking::task::{Birth, End, Exec, Task};
use crate::tables::process_tracking::task_rows::{Known, KnownRows};
use crate::tables::process_tracking::word_classes::{Role, RowKind, Status};

event_columns! {
    /// The columns that describe the lives of tasks.
    pub(crate) struct TaskColumns {
        pub(crate) ts: Numbers<TimestampNanosecondType> = "ts",
        pub(crate) dur: Numbers<Int64Type> = "dur_ns",
        pub(crate) task: Numbers<UInt32Type> = "task",
        pub(crate) pid: Numbers<Int32Type> = "pid",
        pub(crate) tid: Numbers<Int32Type> = "tid",
        comm: Words<u32> = "comm",
        kind: Words<RowKind> = "kind",
        name: Words<(u32, Role)> = "name",
        pub(crate) args: Text = "args",
        pub(crate) ret: Numbers<Int64Type> = "ret",
        status: Words<Status> = "status",
        pub(crate) path: Text = "path",
        pub(crate) child: Numbers<UInt32Type> = "child",
        source: Words<u32> = "source",
        known: KnownRows = "task_row",
    }
}

impl TaskColumns<'_> {
    /// Fetches the arguments that a tracker is going to look at, where one has gone first: see
    /// [`Text::fetch`].
    #[inline]
    pub(crate) fn fetch(&self, rows: Range<usize>) {
        self.args.fetch(rows.filter(|&row| self.known.get(row).is_some_and(Known::changes)));
    }

    #[inline]
    pub(crate) fn kind(&mut self, row: usize) -> Option<RowKind> {
        self.kind.get(row, RowKind::from_word)
    }

    #[inline]
    pub(crate) fn status(&mut self, row: usize) -> Option<Status> {
        self.status.get(row, Status::from_word)
    }
}

/// A row of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskRow {
    /// The number of the task in [`Tracker::tasks`].
    pub(crate) task: u32,
    pub(crate) kind: RowKind,
    /// The number of the row's name. None if it has no name or is of [`RowKind::Other`].
    pub(crate) name: Option<u32>,
}

/// All tasks so far.
///
/// [`group`](crate::tables::process_tracking::group) decides which tasks are threads of one process
/// when all events are known: a child may have rows before the call that created it returns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracker {
    sources: Names,
    pub(crate) comms: Names,
    names: Names,
    pub(crate) tasks: Vec<Task>,
    /// By source and identity.
    index: HashMap<(u32, u32), u32>,
    last: Option<((u32, u32), u32)>,
    /// The latest task of each thread id, by source.
    by_tid: HashMap<(u32, i32), u32>,
    /// Tasks that events reported and that have no rows yet, by source and thread id.
    expected: HashMap<(u32, i32), Birth>,
    /// Events show who created which task.
    events_show_children: bool,
    /// Rows so far.
    pub(crate) row: u64,
    /// The arguments of programs are wanted.
    pub(crate) keeps_argv: bool,
    /// By the numbers of a tracker that goes first: its tasks and names.
    first_tasks: Vec<u32>,
    first_names: Vec<u32>,
}

impl Tracker {
    /// A tracker that keeps the arguments of programs, too, which may be long.
    pub(crate) fn with_argv() -> Self {
        Self { keeps_argv: true, ..Self::default() }
    }

    /// Takes in a row. None if the row is of no task, or no sign of life.
    #[inline]
    pub(crate) fn row(&mut self, columns: &mut TaskColumns<'_>, row: usize) -> Option<TaskRow> {
        self.row += 1;
        match columns.known.get(row) {
            Some(known) if !known.changes() => self.unchanged(known),
            known => {
                let found = self.take(columns, row, &mut false);
                if let Some(known) = known {
                    self.learn(known, found);
                }
                found
            }
        }
    }

    /// A row in which the tracker that goes first found nothing new.
    #[inline]
    fn unchanged(&self, known: Known) -> Option<TaskRow> {
        let TaskRow { task, kind, name } = known.row()?;
        let name = name.and_then(|name| self.first_names.get(name as usize).copied());
        Some(TaskRow { task: *self.first_tasks.get(task as usize)?, kind, name })
    }

    /// Notes which numbers a task and a name have in the tracker that goes first, and here: tables
    /// may have asked for tasks and names before their first rows.
    fn learn(&mut self, known: Known, found: Option<TaskRow>) {
        let Some((first, own)) = known.row().zip(found) else { return };
        put(&mut self.first_tasks, first.task, own.task);
        if let Some((first, own)) = first.name.zip(own.name) {
            put(&mut self.first_names, first, own);
        }
    }

    /// Takes in a row that is already counted; `changes` is set if it changes what is known.
    #[inline]
    pub(crate) fn take(
        &mut self,
        columns: &mut TaskColumns<'_>,
        row: usize,
        changes: &mut bool,
    ) -> Option<TaskRow> {
        let id = columns.task.get(row)?;
        let kind = columns.kind(row)?;
        if kind == RowKind::Notice {
            return None;
        }
        let source = self.source(columns, row);
        let number = self.number(source, id);
        let task = self.tasks.get_mut(number as usize)?;
        let ts = columns.ts.get(row);
        let before = (task.ts_start, task.comm);
        task.ts_start.lower(ts);
        if let Some(comm) = columns.comm.get(row, |text| self.comms.number(text)) {
            task.comm.set(comm);
        }
        *changes |= before != (task.ts_start, task.comm);
        if !task.seen {
            task.seen = true;
            *changes = true;
            task.pid.set(columns.pid.get(row));
            task.tid.set_last(columns.tid.get(row));
            if let Some(tid) = task.tid.get() {
                self.by_tid.insert((source, tid), number);
                let announced = self.expected.remove(&(source, tid));
                if task.birth.is_none() {
                    task.birth = announced;
                }
            }
        } else if task.pid.is_none() {
            // Of which call it is the child was not known at first.
            task.pid.set(columns.pid.get(row));
            *changes |= !task.pid.is_none();
        }
        let other = TaskRow { task: number, kind: RowKind::Other, name: None };
        if kind == RowKind::Other {
            return Some(other);
        }
        let name = columns.name.get(row, |word| (self.names.number(word), Role::from_name(word)));
        let Some((name, role)) = name else { return Some(other) };
        let found = TaskRow { task: number, kind, name: Some(name) };
        match kind {
            // Most calls say nothing about tasks.
            RowKind::Call if role == Role::Other => {}
            RowKind::Call => {
                let status = columns.status(row);
                if role == Role::Fork
                    && status == Some(Status::Headless)
                    && columns.ret.get(row) == Some(0)
                {
                    return Some(TaskRow { kind: RowKind::Return, ..found });
                }
                *changes = true;
                if status != Some(Status::Injected) {
                    self.turn(columns, row, number, name, role);
                }
            }
            RowKind::Exit => {
                *changes = true;
                self.ended(columns, row, number, name);
            }
            RowKind::Signal => {
                if role == Role::ChildSignal {
                    *changes = true;
                    let ended = columns.args.get(row).and_then(ended_child);
                    self.collected(source, number, ended);
                }
            }
            RowKind::Event => {
                *changes |= role != Role::Other;
                self.event(columns, row, number, role);
            }
            RowKind::Return | RowKind::Part | RowKind::Notice | RowKind::Lost | RowKind::Other => {}
        }
        Some(found)
    }

    /// Settles which call made which task, and forgets which ids tasks have, once all rows are in.
    /// Returns all calls that have another child than their rows say.
    pub(crate) fn finish(&mut self) -> Vec<Move> {
        (self.index, self.by_tid) = (HashMap::default(), HashMap::default());
        self.expected = HashMap::default();
        if self.events_show_children { Vec::new() } else { namespaces::settle(&mut self.tasks) }
    }

    /// The task that leads the process of a task, as far as the log has shown it.
    pub(crate) fn leader(&self, number: u32) -> u32 {
        let Some(task) = self.tasks.get(number as usize) else { return number };
        match task.pid.get().filter(|&pid| task.tid.get() != Some(pid)) {
            Some(pid) => self.by_tid.get(&(task.source, pid)).copied().unwrap_or(number),
            None => number,
        }
    }

    /// The number of a row's source; 0 if it has none.
    #[inline]
    pub(crate) fn source(&mut self, columns: &mut TaskColumns<'_>, row: usize) -> u32 {
        columns.source.get(row, |text| self.sources.number(text) + 1).unwrap_or(0)
    }

    /// The name of a source.
    pub(crate) fn source_name(&self, source: u32) -> Option<&str> {
        self.sources.text(source.checked_sub(1)?)
    }

    /// The number of the task's name in a row.
    pub(crate) fn comm(&mut self, columns: &mut TaskColumns<'_>, row: usize) -> Option<u32> {
        columns.comm.get(row, |text| self.comms.number(text))
    }

    /// The number of a row's name.
    pub(crate) fn name(&mut self, columns: &mut TaskColumns<'_>, row: usize) -> Option<u32> {
        let names = &mut self.names;
        let word = |word: &str| (names.number(word), Role::from_name(word));
        columns.name.get(row, word).map(|(name, _)| name)
    }

    /// The name of rows with a number.
    pub(crate) fn row_name(&self, name: u32) -> &str {
        self.names.text(name).unwrap_or_default()
    }

    /// The number of a task; adds it at its first sign.
    #[inline]
    pub(crate) fn number(&mut self, source: u32, id: u32) -> u32 {
        let key = (source, id);
        if let Some((last, number)) = self.last
            && last == key
        {
            return number;
        }
        let number = *self.index.entry(key).or_insert_with(|| {
            self.tasks.push(Task::new(source, id, self.row));
            self.tasks.len() as u32 - 1
        });
        self.last = Some((key, number));
        number
    }

    /// A call that may create or end tasks, or start programs.
    fn turn(&mut self, columns: &TaskColumns<'_>, row: usize, number: u32, name: u32, role: Role) {
        let ret = columns.ret.get(row);
        let args = columns.args.get(row).unwrap_or_default();
        match role {
            Role::Fork => self.forked(columns, row, number, name),
            Role::UnknownFork => self.forked_by_id(columns, row, number, None, true),
            Role::Exec => {
                let Some(task) = self.tasks.get_mut(number as usize) else { return };
                let reported = std::mem::take(&mut task.exec_reported);
                let ts = columns.ts.get(row);
                if ret != Some(0) {
                    return;
                }
                let list = argv::printed(args);
                let role = list.and_then(|list| {
                    WorkerRole::from_argv(&argv::arguments(list).collect::<Vec<_>>())
                });
                let argv = list.filter(|_| self.keeps_argv).map(Into::into);
                if reported {
                    if let Some(exec) = task.execs.last_mut() {
                        (exec.ts, exec.argv, exec.role) = (ts, argv, role);
                    }
                } else {
                    let path = columns.path.get(row).map(Into::into);
                    let by_thread = columns.tid.get(row) != task.tid.get();
                    task.execs.push(Exec { row: self.row, ts, path, argv, role, by_thread });
                }
            }
            Role::OwnNumber | Role::OwnProcess => {
                let Some(task) = self.tasks.get_mut(number as usize) else { return };
                let ret = ret.and_then(|ret| i32::try_from(ret).ok()).filter(|&ret| ret > 0);
                let leads = role == Role::OwnNumber || columns.tid.get(row) == columns.pid.get(row);
                if leads
                    && ret.is_some()
                    && columns.tid.get(row).is_some_and(|tid| Some(tid) != ret)
                {
                    task.own.set_first(ret);
                }
            }
            Role::Exit | Role::ExitGroup => {
                let whole = role == Role::ExitGroup;
                if let (Some(task), Some(status)) =
                    (self.tasks.get_mut(number as usize), child_status::exit_code(args))
                {
                    task.asked = Some((self.row, status, whole));
                }
            }
            Role::Wait => {
                let of_status = || {
                    let pid = i32::try_from(ret?).ok().filter(|&pid| pid > 0)?;
                    Some((pid, child_status::wait_status(args)?))
                };
                let of_siginfo = || ended_child(args).filter(|_| ret == Some(0));
                let Some(source) = self.tasks.get(number as usize).map(|task| task.source) else {
                    return;
                };
                self.collected(source, number, of_status().or_else(of_siginfo));
            }
            _ => {}
        }
    }

    /// A call that creates a task, or tries to.
    fn forked(&mut self, columns: &TaskColumns<'_>, row: usize, parent: u32, name: u32) {
        let name = self.names.text(name).unwrap_or_default();
        let kind = kind_of(name, columns.args.get(row).unwrap_or_default());
        let clone3 = name == "clone3";
        let Some(id) = columns.child.get(row) else {
            return self.forked_by_id(columns, row, parent, kind, clone3);
        };
        let Some(source) = self.tasks.get(parent as usize).map(|task| task.source) else { return };
        let tid = columns.ret.get(row).and_then(|ret| i32::try_from(ret).ok());
        let child = self.number(source, id);
        if child == parent {
            return;
        }
        let Some(task) = self.tasks.get_mut(child as usize) else { return };
        if !task.seen {
            task.tid.set(tid);
            task.pid.set(tid);
            if let Some(tid) = tid {
                self.by_tid.insert((source, tid), child);
                let reported = self.expected.remove(&(source, tid));
                task.birth = task.birth.or(reported);
            }
        }
        if task.birth.is_some_and(|birth| birth.by_call) {
            return;
        }
        let reported = task.birth.and_then(|birth| birth.kind);
        // Events have the flags, but not the stack.
        let reported = reported.map(|kind| match kind {
            Kind::Vfork if clone3 => Kind::PosixSpawn,
            _ => kind,
        });
        let kind = kind.or(reported);
        let (ts, dur) = (columns.ts.get(row).into(), columns.dur.get(row).into());
        task.birth = Some(Birth {
            parent,
            kind,
            row: self.row,
            ts,
            dur,
            by_call: true,
            clone3,
            number: tid.into(),
        });
    }

    /// A call that created a task of which only the returned id is known: the model does not know
    /// `clone3` as a tracer prints it that does not know it either.
    fn forked_by_id(
        &mut self,
        columns: &TaskColumns<'_>,
        row: usize,
        parent: u32,
        kind: Option<Kind>,
        clone3: bool,
    ) {
        let tid = columns.ret.get(row).and_then(|ret| i32::try_from(ret).ok());
        let source = self.tasks.get(parent as usize).map(|task| task.source);
        let (Some(tid), Some(source)) = (tid.filter(|&tid| tid > 0), source) else { return };
        let (ts, dur, by_call) = (columns.ts.get(row), columns.dur.get(row).into(), true);
        let number = tid.into();
        let birth =
            Birth { parent, kind, row: self.row, ts: ts.into(), dur, by_call, clone3, number };
        let child = self.by_tid.get(&(source, tid)).filter(|&&child| child != parent);
        // A task that started before the call is an earlier one with the same id.
        let older = |task: &Task| task.ts_start.get().zip(ts).is_some_and(|(start, ts)| start < ts);
        match child.and_then(|&child| self.tasks.get_mut(child as usize)) {
            Some(task) if task.birth.is_none() && !older(task) => task.birth = Some(birth),
            _ => {
                self.expected.insert((source, tid), birth);
            }
        }
    }

    /// A parent was notified that a child ended.
    fn collected(&mut self, source: u32, parent: u32, ended: Option<(i32, Outcome)>) {
        let Some((pid, outcome)) = ended else { return };
        let Some(&child) = self.by_tid.get(&(source, pid)) else { return };
        if let Some(task) = self.tasks.get_mut(child as usize)
            && child != parent
        {
            task.guardian.set_first(parent);
            task.reported.get_or_insert(outcome);
        }
    }

    /// A task ended, according to the tracer.
    fn ended(&mut self, columns: &TaskColumns<'_>, row: usize, number: u32, name: u32) {
        let name = self.names.text(name).unwrap_or_default();
        let outcome = match name {
            "exited" => columns.ret.get(row).map(|ret| Outcome::Status(ret as i32)),
            _ => name.starts_with("SIG").then(|| Outcome::Signal(name.into())),
        };
        let superseded = name == "superseded";
        let ts = columns.ts.get(row).into();
        if let Some(task) = self.tasks.get_mut(number as usize) {
            task.end = Some(End { row: self.row, ts, superseded, traced: true, outcome });
        }
    }

    /// An event about tasks.
    fn event(&mut self, columns: &TaskColumns<'_>, row: usize, number: u32, role: Role) {
        if role == Role::Other {
            return;
        }
        let args = columns.args.get(row).unwrap_or_default();
        let Some(task) = self.tasks.get_mut(number as usize) else { return };
        let (ts, event) = (columns.ts.get(row).into(), self.row);
        match role {
            Role::NewTask | Role::ForkEvent => {
                let first = role == Role::NewTask;
                let which = if first { TaskEvent::NewTask } else { TaskEvent::Fork };
                let Some((tid, _)) = task_events::created_task(which, args.as_bytes()) else {
                    return;
                };
                let kind = if first { kind_of("task_newtask", args) } else { None };
                let (dur, by_call, clone3) = (Packed::default(), false, false);
                let (parent, number) = (number, Packed::default());
                let birth = Birth { parent, kind, row: event, ts, dur, by_call, clone3, number };
                self.events_show_children = true;
                let known = self.expected.entry((task.source, tid)).or_insert(birth);
                // The second of the two events has less information.
                if first || known.parent != parent {
                    *known = birth;
                }
            }
            Role::ExecEvent => {
                let path = task_events::program(args).map(Into::into);
                let by_thread = columns.tid.get(row) != task.tid.get();
                let (ts, argv, role) = (None, None, None);
                task.execs.push(Exec { row: event, ts, path, argv, role, by_thread });
                task.exec_reported = true;
            }
            Role::ExitEvent if task.end.is_none() => {
                let (superseded, traced, outcome) = (false, false, None);
                task.end = Some(End { row: event, ts, superseded, traced, outcome });
            }
            _ => {}
        }
    }
}

/// Sets an entry of a list by number.
fn put(list: &mut Vec<u32>, number: u32, value: u32) {
    let at = number as usize;
    if at >= list.len() {
        list.resize(at + 1, u32::MAX);
    }
    list[at] = value;
}

/// The child in a siginfo and how it ended, if it did.
fn ended_child(args: &str) -> Option<(i32, Outcome)> {
    let child = child_status::siginfo(args)?;
    Some((child.pid, child.outcome?))
}
