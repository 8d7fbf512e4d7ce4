//! The functions that a task is in, and the rows that they become.

use std::sync::Arc;

use crate::events::function_graph::FunctionEntry;
use crate::events::parsed_block::{Parsed, key_in};
use crate::events::rows::Side;
use crate::events::schema::Column as C;
use crate::events::split_calls::RowPosition;
use crate::events::vocabulary::{EventKind, Status};
use crate::text::string_view::unpack;

/// A name, and its key in the block that last used it.
#[derive(Debug, Clone)]
pub(crate) struct NameKey {
    text: Arc<str>,
    key: u32,
    block: u64,
}

impl NameKey {
    pub(crate) fn new(key: u32, block: u64, names: &[Arc<str>]) -> Self {
        Self { text: Arc::clone(&names[key as usize]), key, block }
    }

    pub(crate) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(crate) fn key(&mut self, block: u64, names: &mut Vec<Arc<str>>) -> u32 {
        if self.block != block {
            self.key = key_in(names, &self.text);
            self.block = block;
        }
        self.key
    }
}

/// Text of a line: a view while its block is at hand, a copy later.
#[derive(Debug)]
pub(crate) enum LineText {
    View(u128),
    Copy(Box<[u8]>),
}

impl LineText {
    fn bytes<'a>(&'a self, text: &'a [u8], side: &'a Side) -> &'a [u8] {
        match self {
            Self::View(view) => unpack(view, text, &side.bytes),
            Self::Copy(bytes) => bytes,
        }
    }

    fn keep(&mut self, text: &[u8], side: &Side) {
        if let Self::View(view) = self {
            *self = Self::Copy(unpack(view, text, &side.bytes).into());
        }
    }

    fn view(&self, side: &mut Side) -> u128 {
        match self {
            Self::View(view) => *view,
            Self::Copy(bytes) => side.put(bytes),
        }
    }
}

/// A function that a task is in.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) depth: u32,
    /// Line in the log, from 0.
    pub(crate) line: i64,
    pub(crate) name: NameKey,
    ts: Option<i64>,
    tid: Option<i32>,
    cpu: Option<u16>,
    pid: Option<i32>,
    comm: Option<NameKey>,
    rest: LineText,
    called: bool,
    extra: Option<LineText>,
    /// Number of the block in which it was entered.
    block: u64,
    /// The block and view of the arguments of functions that it calls and that have no text of
    /// their own: all of them share one text.
    calls: Option<(u64, u128)>,
}

impl Frame {
    pub(crate) fn new(
        entry: &FunctionEntry,
        task: (Option<i32>, Option<NameKey>),
        cpu: Option<u16>,
        block: u64,
        names: &[Arc<str>],
        line: i64,
    ) -> Self {
        Self {
            depth: entry.depth,
            line: line + entry.line,
            name: NameKey::new(entry.name, block, names),
            ts: entry.ts,
            tid: task.0,
            cpu,
            pid: entry.pid,
            comm: task.1,
            rest: LineText::View(entry.rest),
            called: entry.called,
            extra: entry.extra.map(LineText::View),
            block,
            calls: None,
        }
    }
}

/// The functions that a task is in, each deeper than the one before.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    frames: Vec<Frame>,
    /// The step at which its task last entered a function.
    pub(crate) turn: u64,
    /// The last block in which it grew.
    grown: u64,
}

impl Stack {
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Clears the stack, to use it for another task.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.grown = 0;
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.frames.iter().any(|frame| **frame.name.text() == *name)
    }

    /// Pushes the deepest function. Returns whether it is the first of its block.
    pub(crate) fn push(&mut self, frame: Frame) -> bool {
        let first = self.grown != frame.block;
        self.grown = frame.block;
        self.frames.push(frame);
        first
    }

    /// Pops the deepest function, if it is at `depth` or deeper.
    pub(crate) fn pop_from(&mut self, depth: u32) -> Option<Frame> {
        self.frames.pop_if(|frame| frame.depth >= depth)
    }

    /// Copies the text of what was entered in this block, which ends.
    pub(crate) fn keep(&mut self, block: u64, text: &[u8], side: &Side) {
        for frame in self.frames.iter_mut().rev().take_while(|frame| frame.block == block) {
            frame.rest.keep(text, side);
            if let Some(extra) = &mut frame.extra {
                extra.keep(text, side);
            }
        }
    }

    /// The function that called one at `depth`.
    fn caller(&mut self, depth: u32) -> Option<&mut Frame> {
        self.frames.last_mut().filter(|frame| frame.depth.checked_add(1) == Some(depth))
    }
}

/// A block while its lines are joined.
pub(crate) struct BlockContext<'a> {
    pub(crate) parsed: &'a mut Parsed,
    pub(crate) text: &'a [u8],
    /// The line of the log on which it starts, from 0.
    pub(crate) line: i64,
    pub(crate) number: u64,
}

impl BlockContext<'_> {
    /// The arguments of a function at `depth`: the printed text, its caller, its depth. `called`:
    /// the text has the caller already.
    pub(crate) fn args(
        &mut self,
        stack: Option<&mut Stack>,
        rest: &LineText,
        called: bool,
        depth: u32,
    ) -> u128 {
        let caller = stack.filter(|_| !called).and_then(|stack| stack.caller(depth));
        let mut joined = std::mem::take(&mut self.parsed.scratch);
        joined.clear();
        joined.extend_from_slice(rest.bytes(self.text, &self.parsed.side));
        let shared = joined.is_empty();
        let view = match &caller {
            Some(Frame { calls: Some((block, view)), .. }) if shared && *block == self.number => {
                *view
            }
            _ => {
                if !shared {
                    joined.push(b' ');
                }
                if let Some(caller) = &caller {
                    joined.extend_from_slice(b"<-");
                    joined.extend_from_slice(caller.name.text().as_bytes());
                    joined.push(b' ');
                }
                joined.extend_from_slice(b"depth=");
                push_number(&mut joined, depth);
                self.parsed.side.put(&joined)
            }
        };
        self.parsed.scratch = joined;
        if let Some(caller) = caller.filter(|_| shared) {
            caller.calls = Some((self.number, view));
        }
        view
    }

    /// The arguments of `frame`, which was just popped from `stack`.
    pub(crate) fn args_of(&mut self, frame: &Frame, stack: Option<&mut Stack>) -> u128 {
        self.args(stack, &frame.rest, frame.called, frame.depth)
    }

    /// Writes what the entry says into `row`.
    fn head(&mut self, frame: &mut Frame, args: u128, row: usize) {
        let Parsed { rows, side, names, comms, .. } = &mut *self.parsed;
        let mut valid =
            C::Line.bit() | C::Kind.bit() | C::Name.bit() | C::Args.bit() | C::Status.bit();
        // The flags at exit are not those at entry.
        rows.valid[row] &= !C::Extra.bit();
        rows.line[row] = frame.line - self.line;
        rows.kind[row] = EventKind::Function as u8;
        rows.name[row] = frame.name.key(self.number, names);
        rows.args[row] = args;
        if let Some(tid) = frame.tid {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(comm) = &mut frame.comm {
            rows.comm[row] = comm.key(self.number, comms);
            valid |= C::Comm.bit();
        }
        if let Some(cpu) = frame.cpu {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
        }
        if let Some(pid) = frame.pid {
            rows.pid[row] = pid;
            valid |= C::Pid.bit();
        }
        if let Some(extra) = &frame.extra {
            rows.extra[row] = extra.view(side);
            valid |= C::Extra.bit();
        }
        rows.valid[row] |= valid;
    }

    /// Adds what the entry says to `row`, which has what the exit says. `seconds`: if the time in
    /// the function is not printed, it is the difference of both times.
    pub(crate) fn join(&mut self, frame: &mut Frame, args: u128, row: usize, seconds: bool) {
        self.head(frame, args, row);
        let rows = &mut self.parsed.rows;
        if seconds
            && !rows.has(row, C::DurNs)
            && rows.has(row, C::Ts)
            && let Some(entered) = frame.ts
            && let Some(dur) = rows.ts[row].checked_sub(entered).filter(|&dur| dur >= 0)
        {
            rows.dur[row] = dur;
            rows.valid[row] |= C::DurNs.bit();
        }
        match frame.ts {
            Some(ts) => {
                rows.ts[row] = ts;
                rows.valid[row] |= C::Ts.bit();
            }
            None => rows.valid[row] &= !C::Ts.bit(),
        }
        rows.status[row] = Status::Complete as u8;
    }

    /// Fills `row`, which is new, for a function that was not left.
    pub(crate) fn abandon(&mut self, frame: &mut Frame, args: u128, row: usize) {
        self.head(frame, args, row);
        let rows = &mut self.parsed.rows;
        if let Some(ts) = frame.ts {
            rows.ts[row] = ts;
            rows.valid[row] |= C::Ts.bit();
        }
        rows.status[row] = Status::Unfinished as u8;
    }

    /// Adds a row at `at` for a function that was not left and was just popped from `stack`.
    pub(crate) fn insert(&mut self, mut frame: Frame, stack: &mut Stack, at: RowPosition) {
        let args = self.args_of(&frame, Some(stack));
        let row = self.parsed.rows.push();
        self.parsed.inserted.push((at, row as u32));
        self.abandon(&mut frame, args, row);
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u32) {
    let start = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
}
