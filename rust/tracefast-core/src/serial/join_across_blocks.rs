//! System calls whose halves are in different blocks, joined in the order of the blocks.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::hash::HashMap;

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::{Parsed, key_in};
use crate::events::rows::RowClock;
use crate::events::schema::Column as C;
use crate::events::split_calls::SecondHalf;
use crate::events::split_calls::{
    Deferred, EntryTarget, LossReason, OpenCall, PidPrefix, RowPosition,
};
use crate::events::vocabulary::{EventKind, Status};
use crate::format::Format;
use crate::linux::syscalls::{Classes, classes_of};
use crate::serial::traced_tasks::TracedTasks;
use crate::text::block::TextRange;
use crate::text::string_view::unpack;

/// What an [`OpenCall`] says, without its text: of the calls under way there may be very many.
#[derive(Debug)]
struct Opened {
    tid: Option<i32>,
    ts: Option<i64>,
    pid: Option<i32>,
    cpu: Option<u16>,
    sys: u16,
    clock: RowClock,
    torn: bool,
    partial: bool,
    headless: bool,
    entry: u32,
}

impl Opened {
    fn new(open: &OpenCall, owner: Option<i32>) -> Self {
        let &OpenCall { tid, ts, pid, cpu, sys, clock, torn, partial, headless, entry, .. } = open;
        Self { tid: tid.or(owner), ts, pid, cpu, sys, clock, torn, partial, headless, entry }
    }

    fn status_if_lost(&self, reason: LossReason) -> Status {
        reason.status(self.torn)
    }
}

/// A call that an earlier block left open, with text of its own.
#[derive(Debug)]
struct Call {
    open: Opened,
    /// The task whose second half ends it.
    task: Option<i32>,
    /// Line in the log, from 0.
    line: i64,
    name: Arc<str>,
    comm: Option<Arc<str>>,
    text: HeadText,
    /// The block that left it open.
    block: u32,
}

/// The text of a call: its arguments, and what `extra` shows.
#[derive(Debug)]
struct HeadText {
    /// Both, one behind the other: one piece of memory for each call.
    text: Box<[u8]>,
    /// How long the arguments are.
    args: u32,
    has_extra: bool,
}

impl HeadText {
    fn new(args: &[u8], extra: Option<&[u8]>) -> Self {
        let text = [args, extra.unwrap_or_default()].concat().into_boxed_slice();
        Self { text, args: args.len() as u32, has_extra: extra.is_some() }
    }

    fn args(&self) -> &[u8] {
        &self.text[..self.args as usize]
    }

    fn extra(&self) -> Option<&[u8]> {
        self.has_extra.then(|| &self.text[self.args as usize..])
    }

    /// The arguments go on.
    fn extend_args(&mut self, more: &[u8]) {
        *self = Self::new(&[self.args(), more].concat(), self.extra());
    }
}

/// Open calls, at most one for each task.
#[derive(Debug, Default)]
pub(crate) struct UnfinishedCalls {
    tasks: HashMap<i32, u32>,
    calls: Vec<Option<Call>>,
    free: Vec<u32>,
    /// Which of `calls` are calls of execve.
    execs: BTreeSet<u32>,
    /// At the end of the log: those that have no row yet; the first one comes last.
    left: Vec<Option<Call>>,
    block: u32,
    traced: TracedTasks,
    /// The last line of the log that says that records of a processor were lost.
    lost: HashMap<Option<u16>, i64>,
}

/// At the end of the log: how many calls become rows at a time, and how much text they have.
const PART: usize = 4096;
const PART_BYTES: usize = 1 << 20;

/// The call ends the other threads of its group.
fn is_exec(name: &str) -> bool {
    classes_of(name.as_bytes()).has(Classes::EXECS)
}

/// No task has a negative number.
fn key(tid: Option<i32>) -> i32 {
    tid.unwrap_or(i32::MIN)
}

impl UnfinishedCalls {
    /// For a log whose first lines without a pid are of task `root`.
    pub(crate) fn new(root: Option<i32>) -> Self {
        Self { traced: TracedTasks::new(root), ..Self::default() }
    }

    /// Joins what earlier blocks left open with this one, and takes what it leaves open. `line` is
    /// the line of the log on which the block starts, from 0.
    pub(crate) fn run(&mut self, parsed: &mut Parsed, text: &[u8], format: &Format, line: i64) {
        self.block += 1;
        let end = parsed.position();
        // The position from which lines of the block have no pid.
        let mut bare = None;
        let deferred = std::mem::take(&mut parsed.deferred);
        for touch in &deferred {
            match *touch {
                Deferred::TaskMovedOn { tid, at, reason } => {
                    self.traced.see(tid);
                    if let Some(call) = self.take(self.traced.task(tid)) {
                        let status = call.open.status_if_lost(reason);
                        let row = insert(parsed, at, &call, format, line, status);
                        self.same_block(parsed, &call, row);
                    }
                }
                Deferred::Resume { tid, row, entries, rest, sys, bytes, columns, lost } => {
                    let at = RowPosition { row, entries };
                    if lost.is_none() {
                        self.exec(tid, at, parsed, format, line);
                    }
                    let unknown = self.traced.is_unknown();
                    let mut call = self.resumed(tid, parsed, row as usize);
                    if unknown && self.traced.owner().is_some() {
                        bare = Some(at);
                    }
                    self.traced.see(tid);
                    if let (Some(at), Some(other)) = (lost, &call) {
                        let name = parsed.rows.name[row as usize] as usize;
                        let parted = self.is_parted(other, parsed, row as usize);
                        if parted || !format.ends(&other.name, &parsed.names[name]) {
                            let lost = insert(parsed, at, other, format, line, Status::Unfinished);
                            self.same_block(parsed, other, lost);
                            call = None;
                        }
                    }
                    let used = if call.is_some() { LineUse::Resumed } else { LineUse::Events };
                    // Every line counts once, for the first record on it.
                    if bytes > 0 {
                        parsed.counts.add_line(used, bytes);
                    } else {
                        parsed.oddities.shared_lines += u64::from(call.is_none());
                    }
                    if let Some(call) = &call {
                        self.same_block(parsed, call, row);
                    } else if let Some(columns) = columns {
                        put_columns(parsed, text, row as usize, columns);
                    }
                    resume(parsed, text, row as usize, call, format, line, rest, sys);
                }
                Deferred::Continue { tid, ref open, bytes } => {
                    let task = self.traced.task(tid);
                    self.traced.see(tid);
                    let more = &text[open.args.0 as usize..open.args.1 as usize];
                    let used = if let Some(call) = self.peek_mut(task) {
                        call.text.extend_args(more);
                        LineUse::Resumed
                    } else {
                        self.open(parsed, text, task, open, format, line);
                        LineUse::Events
                    };
                    parsed.counts.add_line(used, bytes);
                }
                Deferred::Open { tid, ref open } => {
                    self.open(parsed, text, self.traced.task(tid), open, format, line);
                }
                Deferred::Superseded { tid, by, at } => {
                    if tid.is_none() && self.traced.is_unknown() {
                        self.traced.supersede(by);
                        bare = Some(at);
                    }
                    self.traced.see(tid);
                    let tid = self.traced.task(tid);
                    // The execve of the thread may have been printed under its new id already.
                    let moved = self.peek(tid).is_some_and(|call| call.open.tid == Some(by));
                    if !moved {
                        if let Some(call) = self.take(tid) {
                            let status = Status::Superseded;
                            let row = insert(parsed, at, &call, format, line, status);
                            self.same_block(parsed, &call, row);
                        }
                        self.rename(Some(by), tid);
                    }
                }
                Deferred::RecordsLost { cpu, line: at } => {
                    self.lost.insert(cpu, line + at);
                }
                Deferred::Trace(change) => self.traced.apply(change),
                Deferred::PidPrefix { prefix, at } => {
                    if let Some(from) = bare.take() {
                        self.name_rows(parsed, from, at);
                    }
                    self.traced.set_prefix(prefix);
                    bare = (prefix == PidPrefix::Absent).then_some(at);
                }
            }
        }
        if let Some(from) = bare {
            self.name_rows(parsed, from, end);
        }
        parsed.deferred = deferred;
    }

    /// Records were lost between the halves, on the processor of both.
    fn is_parted(&self, call: &Call, parsed: &Parsed, row: usize) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let cpu = parsed.rows.has(row, C::Cpu).then(|| parsed.rows.cpu[row]);
        let own = cpu.filter(|_| cpu == call.open.cpu);
        [None, own].iter().any(|cpu| self.lost.get(cpu).is_some_and(|&lost| call.line < lost))
    }

    /// The open call whose second half is in `row`.
    fn resumed(&mut self, tid: Option<i32>, parsed: &Parsed, row: usize) -> Option<Call> {
        let task = self.traced.task(tid);
        if let Some(call) = self.take(task) {
            return Some(call);
        }
        let name = &parsed.names[parsed.rows.name[row] as usize];
        if self.traced.is_unknown() && tid.is_none() {
            // Only one task has such a call open.
            let mut fitting = self.calls.iter().flatten().filter(|call| call.name == *name);
            let owner = fitting.next()?.open.tid.filter(|_| fitting.next().is_none())?;
            self.traced.set_owner(owner);
            return self.take(Some(owner));
        }
        // The call began before lines had a pid.
        let root = tid.is_some_and(|tid| self.traced.may_be_root(tid))
            && self.peek(None).is_some_and(|call| call.name == *name);
        if root { self.take(None) } else { None }
    }

    /// The execve of a thread may end under the id of its group's leader without a line that says
    /// so. It becomes the call of the leader then, whose own call is over.
    fn exec(
        &mut self,
        tid: Option<i32>,
        at: RowPosition,
        parsed: &mut Parsed,
        format: &Format,
        line: i64,
    ) {
        let name = &parsed.names[parsed.rows.name[at.row as usize] as usize];
        let task = self.traced.task(tid);
        if !is_exec(name) || self.peek(task).is_some_and(|call| call.name == *name) {
            return;
        }
        let (Some(&id), 1) = (self.execs.first(), self.execs.len()) else { return };
        let Some(call) = self.calls.get(id as usize).and_then(Option::as_ref) else { return };
        let by = call.task;
        if by == task || by.is_none() || call.name != *name {
            return;
        }
        if let Some(own) = self.take(task) {
            let row = insert(parsed, at, &own, format, line, Status::Superseded);
            self.same_block(parsed, &own, row);
        }
        self.rename(by, task);
    }

    /// Moves the call of one task to another task, which has none.
    fn rename(&mut self, from: Option<i32>, to: Option<i32>) {
        if let Some(id) = self.tasks.remove(&key(from)) {
            self.tasks.insert(key(to), id);
            if let Some(call) = self.calls.get_mut(id as usize).and_then(Option::as_mut) {
                call.task = to;
            }
        }
    }

    /// Names the task of rows between two positions whose lines have no pid, if it is known by now.
    fn name_rows(&self, parsed: &mut Parsed, from: RowPosition, to: RowPosition) {
        let Some(owner) = self.traced.owner() else { return };
        let rows = &mut parsed.rows;
        for row in from.row as usize..to.row as usize {
            if !rows.has(row, C::Tid) && rows.kind[row] != EventKind::Unparsed as u8 {
                rows.tid[row] = owner;
                rows.valid[row] |= C::Tid.bit();
                parsed.model_rows.visit(row);
            }
        }
        for entry in &mut parsed.entries[from.entries as usize..to.entries as usize] {
            entry.tid.get_or_insert(owner);
        }
    }

    /// Ends the log: makes rows for calls that are still open, in the order in which they began, as
    /// many as a block has. Returns whether there are more.
    pub(crate) fn finish(&mut self, parsed: &mut Parsed, format: &Format, line: i64) -> bool {
        if self.left.is_empty() {
            self.end();
        }
        parsed.reset(PART.min(self.left.len()));
        let mut bytes = 0;
        while parsed.rows.len < PART && bytes < PART_BYTES {
            let Some(call) = self.left.pop().flatten() else { break };
            bytes += call.text.text.len();
            let row = parsed.rows.push();
            let status = call.open.status_if_lost(LossReason::Elsewhere);
            abandon(parsed, row, &call, format, line, status);
        }
        // Memory is given back while the tables that are made of the rows grow.
        self.left.shrink_to(self.left.len() + self.left.len() / 8);
        !self.left.is_empty()
    }

    /// No call goes on.
    fn end(&mut self) {
        self.tasks = HashMap::default();
        self.free = Vec::new();
        self.left = std::mem::take(&mut self.calls);
        self.left.retain(Option::is_some);
        // Each task of merged logs has line numbers of its own.
        let began = |call: &Call| (call.line, call.open.tid);
        self.left.sort_unstable_by_key(|call| Reverse(call.as_ref().map(began)));
    }

    /// If the call began in the block in which it ends, its entry belongs to its row.
    fn same_block(&self, parsed: &mut Parsed, call: &Call, row: u32) {
        if call.block == self.block {
            parsed.entries[call.open.entry as usize].target = EntryTarget::Row(row);
        }
    }

    fn peek(&self, tid: Option<i32>) -> Option<&Call> {
        let id = *self.tasks.get(&key(tid))?;
        self.calls.get(id as usize)?.as_ref()
    }

    fn peek_mut(&mut self, tid: Option<i32>) -> Option<&mut Call> {
        let id = *self.tasks.get(&key(tid))?;
        self.calls.get_mut(id as usize)?.as_mut()
    }

    fn take(&mut self, tid: Option<i32>) -> Option<Call> {
        let id = self.tasks.remove(&key(tid))?;
        self.free.push(id);
        self.execs.remove(&id);
        self.calls.get_mut(id as usize)?.take()
    }

    fn open(
        &mut self,
        parsed: &mut Parsed,
        text: &[u8],
        tid: Option<i32>,
        open: &OpenCall,
        format: &Format,
        line: i64,
    ) {
        let part = |range: TextRange| format.own_lines(&text[range.0 as usize..range.1 as usize]);
        let extra = [
            (open.context, b' '),
            (open.extra, b'\n'),
            (open.frames, b'\n'),
            (open.more_frames, b'\n'),
        ]
        .into_iter()
        .filter_map(|(range, after)| Some((part(range?), after)))
        .reduce(|(columns, between), (frames, after)| {
            (Cow::Owned([columns, frames].join(&between)), after)
        })
        .map(|(extra, _)| extra);
        let call = Call {
            task: tid,
            line: line + open.line,
            name: Arc::clone(&parsed.names[open.name as usize]),
            comm: open.comm.map(|comm| Arc::clone(&parsed.comms[comm as usize])),
            text: HeadText::new(&part(open.args), extra.as_deref()),
            open: Opened::new(open, self.traced.owner()),
            block: self.block,
        };
        let exec = is_exec(&call.name);
        let id = if let Some(id) = self.free.pop() {
            self.calls[id as usize] = Some(call);
            id
        } else {
            self.calls.push(Some(call));
            self.calls.len() as u32 - 1
        };
        self.tasks.insert(key(tid), id);
        if exec {
            self.execs.insert(id);
        }
        parsed.entries[open.entry as usize].target = EntryTarget::Pending(id);
    }
}

/// Writes what the first half says into the row of the call.
fn head(parsed: &mut Parsed, text: &[u8], row: usize, call: &Call, line: i64) {
    let name = key_in(&mut parsed.names, &call.name);
    let comm = call.comm.as_ref().map(|comm| key_in(&mut parsed.comms, comm));
    let rows = &mut parsed.rows;
    rows.name[row] = name;
    rows.line[row] = call.line - line;
    let mut valid = C::Name.bit() | C::Line.bit();
    rows.valid[row] &= !C::Comm.bit();
    if let Some(comm) = comm {
        rows.comm[row] = comm;
        valid |= C::Comm.bit();
    }
    if let Some(cpu) = call.open.cpu {
        rows.cpu[row] = cpu;
        valid |= C::Cpu.bit();
    }
    if let Some(pid) = call.open.pid {
        rows.pid[row] = pid;
        valid |= C::Pid.bit();
    }
    rows.valid[row] |= valid;
    if let Some(extra) = call.text.extra() {
        let mut extra = crate::text::escape::escape_invalid(extra).into_owned().into_bytes();
        if rows.has(row, C::Extra) {
            // Frames after the second half are there already.
            extra.push(b'\n');
            extra.extend_from_slice(unpack(&rows.extra[row], text, &parsed.side.bytes));
        }
        rows.extra[row] = parsed.side.put(&extra);
        rows.valid[row] |= C::Extra.bit();
    }
}

/// Puts the leading columns of a line before what the row has in `extra`.
fn put_columns(parsed: &mut Parsed, text: &[u8], row: usize, columns: u128) {
    let Parsed { rows, side, .. } = parsed;
    rows.extra[row] = if rows.has(row, C::Extra) {
        let parts =
            [columns, rows.extra[row]].map(|view| unpack(&view, text, &side.bytes).to_vec());
        side.put(&parts.join(&b'\n'))
    } else {
        columns
    };
    rows.valid[row] |= C::Extra.bit();
}

/// Adds the row of a call that never ended, at `at`.
fn insert(
    parsed: &mut Parsed,
    at: RowPosition,
    call: &Call,
    format: &Format,
    line: i64,
    status: Status,
) -> u32 {
    let row = parsed.rows.push();
    parsed.inserted.push((at, row as u32));
    abandon(parsed, row, call, format, line, status);
    row as u32
}

fn abandon(
    parsed: &mut Parsed,
    row: usize,
    call: &Call,
    format: &Format,
    line: i64,
    status: Status,
) {
    head(parsed, b"", row, call, line);
    parsed.oddities.add_call(status);
    let rows = &mut parsed.rows;
    rows.effect[row].clock = call.open.clock;
    if let Some(tid) = call.open.tid {
        rows.tid[row] = tid;
        rows.valid[row] |= C::Tid.bit();
    }
    if let Some(ts) = call.open.ts {
        rows.ts[row] = ts;
        rows.valid[row] |= C::Ts.bit();
    }
    rows.kind[row] = EventKind::Syscall as u8;
    rows.status[row] = status as u8;
    rows.valid[row] |= C::Kind.bit() | C::Status.bit();
    format.abandon(parsed, row, call.text.args(), (call.open.sys, call.open.partial));
    mark_begun(parsed, row);
}

#[allow(clippy::too_many_arguments)] // The two halves and where they are.
fn resume(
    parsed: &mut Parsed,
    text: &[u8],
    row: usize,
    call: Option<Call>,
    format: &Format,
    line: i64,
    rest: TextRange,
    sys: u16,
) {
    let Some(call) = call else {
        format.finish(parsed, text, row, SecondHalf::alone(sys, rest));
        return;
    };
    head(parsed, text, row, &call, line);
    let tid = parsed.rows.has(row, C::Tid).then(|| parsed.rows.tid[row]);
    let thread = call.open.tid.filter(|_| tid.is_some() && tid != call.open.tid).unwrap_or(0);
    parsed.rows.effect[row].thread = thread;
    let half = SecondHalf {
        head: Some(call.text.args()),
        partial: call.open.partial,
        sys: call.open.sys,
        // The time of a middle part is not the time of the entry.
        entry: call.open.ts.filter(|_| !call.open.headless),
        rest,
        gap: true,
        mark: None,
        utf8: false,
    };
    format.finish(parsed, text, row, half);
    if call.open.headless {
        parsed.rows.status[row] = Status::Headless as u8;
    }
    mark_begun(parsed, row);
}

/// The model has seen the entry of this call, and must not apply it again with the row.
fn mark_begun(parsed: &mut Parsed, row: usize) {
    parsed.rows.effect[row].begun = true;
}
