//! Calls that cross the border of a block: joined in the order of the blocks.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::event::{EventKind, Status};
use crate::format::Format;
use crate::kernel::{self, Bound};
use crate::parsed::{Open, Parsed, Range, Spot, Target, Touch, Use, key_in};
use crate::schema::Column as C;
use crate::strace::Half;
use crate::strace::merged::own_text;
use crate::view::unpack;

/// A call left open by an earlier block, with text of its own.
#[derive(Debug)]
struct Call {
    open: Open,
    /// Line in the log, from 0.
    line: i64,
    name: Arc<str>,
    comm: Option<Arc<str>>,
    args: Vec<u8>,
    extra: Option<Vec<u8>>,
    bound: Option<Bound>,
    /// Which block left it open.
    block: u64,
}

/// At most one open call for each task: all that joins blocks.
#[derive(Debug, Default)]
pub struct Stitch {
    tasks: HashMap<i64, u32, foldhash::fast::FixedState>,
    calls: Vec<Option<Call>>,
    free: Vec<u32>,
    block: u64,
}

fn key(tid: Option<i32>) -> i64 {
    tid.map_or(i64::MIN, i64::from)
}

impl Stitch {
    /// Puts what earlier blocks left open into its place in this one, and takes what it leaves
    /// open. `line` is the log's line on which the block begins.
    pub fn run(&mut self, parsed: &mut Parsed, text: &[u8], format: &Format, line: i64) {
        self.block += 1;
        let touches = std::mem::take(&mut parsed.touches);
        for touch in &touches {
            match *touch {
                Touch::Place { tid, at, killed } => {
                    if let Some(call) = self.take(tid) {
                        let status = if killed { Status::Killed } else { Status::Unfinished };
                        let row = insert(parsed, at, &call, format, line, status);
                        self.same_block(parsed, &call, row);
                    }
                }
                Touch::Resume { tid, row, rest, sys, bytes, lost } => {
                    let mut call = self.take(tid);
                    if let (Some(at), Some(other)) = (lost, &call) {
                        let name = parsed.rows.name[row as usize] as usize;
                        if parsed.names[name] != other.name {
                            let lost = insert(parsed, at, other, format, line, Status::Unfinished);
                            self.same_block(parsed, other, lost);
                            call = None;
                        }
                    }
                    let used = if call.is_some() { Use::Resumed } else { Use::Events };
                    parsed.counts.see(used, bytes);
                    if let Some(call) = &call {
                        self.same_block(parsed, call, row);
                    }
                    resume(parsed, text, row as usize, call, format, line, rest, sys);
                }
                Touch::Open { tid, ref open } => self.open(parsed, text, tid, open, format, line),
                Touch::Superseded { tid, by, at } => {
                    // The thread's execve was printed under its new id already.
                    let moved = self.peek(tid).is_some_and(|call| call.open.tid == Some(by));
                    if !moved {
                        if let Some(call) = self.take(tid) {
                            let status = Status::Superseded;
                            let row = insert(parsed, at, &call, format, line, status);
                            self.same_block(parsed, &call, row);
                        }
                        if let Some(id) = self.tasks.remove(&key(Some(by))) {
                            self.tasks.insert(key(tid), id);
                        }
                    }
                }
            }
        }
        parsed.touches = touches;
    }

    /// What the model found at the entry of pending call `id`.
    pub fn bind(&mut self, id: u32, bound: Bound) {
        if let Some(call) = self.calls.get_mut(id as usize).and_then(Option::as_mut) {
            call.bound = Some(bound);
        }
    }

    /// The log ends: rows for all that is still open, in the order in which it began.
    pub fn finish(&mut self, parsed: &mut Parsed, format: &Format, line: i64) {
        let mut calls: Vec<Call> = self.calls.drain(..).flatten().collect();
        self.tasks.clear();
        self.free.clear();
        // Lines of merged logs are numbered for each task.
        calls.sort_by_key(|call| (call.line, call.open.tid));
        parsed.reset(calls.len());
        for call in &calls {
            let row = parsed.rows.push();
            abandon(parsed, row, call, format, line, Status::Unfinished);
        }
    }

    /// A call that began in the very block in which it ends: its entry belongs to its row.
    fn same_block(&self, parsed: &mut Parsed, call: &Call, row: u32) {
        if call.block == self.block {
            parsed.begins[call.open.begin as usize].target = Target::Row(row);
        }
    }

    fn peek(&self, tid: Option<i32>) -> Option<&Call> {
        let id = *self.tasks.get(&key(tid))?;
        self.calls.get(id as usize)?.as_ref()
    }

    fn take(&mut self, tid: Option<i32>) -> Option<Call> {
        let id = self.tasks.remove(&key(tid))?;
        self.free.push(id);
        self.calls.get_mut(id as usize)?.take()
    }

    fn open(
        &mut self,
        parsed: &mut Parsed,
        text: &[u8],
        tid: Option<i32>,
        open: &Open,
        format: &Format,
        line: i64,
    ) {
        let merged = format.is_merged();
        let part = |range: Range| text[range.0 as usize..range.1 as usize].to_vec();
        let call = Call {
            line: line + open.line,
            name: Arc::clone(&parsed.names[open.name as usize]),
            comm: open.comm.map(|comm| Arc::clone(&parsed.comms[comm as usize])),
            args: part(open.args),
            extra: [open.extra, open.frames]
                .into_iter()
                .flatten()
                .map(part)
                .map(|lines| if merged { own_text(&lines).into_owned() } else { lines })
                .reduce(|columns, frames| [columns, frames].join(&b'\n')),
            open: open.clone(),
            bound: None,
            block: self.block,
        };
        let id = if let Some(id) = self.free.pop() {
            self.calls[id as usize] = Some(call);
            id
        } else {
            self.calls.push(Some(call));
            self.calls.len() as u32 - 1
        };
        self.tasks.insert(key(tid), id);
        parsed.begins[open.begin as usize].target = Target::Pending(id);
    }
}

/// What the first half says, in the row of the whole.
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
    if let Some(extra) = &call.extra {
        let mut extra = crate::text::escape_invalid(extra).into_owned().into_bytes();
        if rows.has(row, C::Extra) {
            // Frames behind the second half were there first.
            extra.push(b'\n');
            extra.extend_from_slice(unpack(&rows.extra[row], text, &parsed.side.bytes));
        }
        rows.extra[row] = parsed.side.put(&extra);
        rows.valid[row] |= C::Extra.bit();
    }
}

/// Adds the row of a call that never ended, which belongs to `at`.
fn insert(
    parsed: &mut Parsed,
    at: Spot,
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
    let rows = &mut parsed.rows;
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
    format.abandon(parsed, row, &call.args, call.open.sys);
    bound(parsed, row, call);
}

#[allow(clippy::too_many_arguments)] // The two halves and where they stand.
fn resume(
    parsed: &mut Parsed,
    text: &[u8],
    row: usize,
    call: Option<Call>,
    format: &Format,
    line: i64,
    rest: Range,
    sys: u16,
) {
    let Some(call) = call else {
        format.finish(
            parsed,
            text,
            row,
            Half { head: None, sys, entry: None, rest, mark: None, utf8: false },
        );
        return;
    };
    head(parsed, text, row, &call, line);
    let half = Half {
        head: Some(&call.args),
        sys: call.open.sys,
        entry: call.open.ts,
        rest,
        mark: None,
        utf8: false,
    };
    format.finish(parsed, text, row, half);
    bound(parsed, row, &call);
}

/// The model has seen the entry of this call: its row must not do so again.
fn bound(parsed: &mut Parsed, row: usize, call: &Call) {
    parsed.rows.effect[row].begun = true;
    if let Some(bound) = &call.bound {
        kernel::apply(bound, row, &mut parsed.rows, &mut parsed.side);
    }
}
