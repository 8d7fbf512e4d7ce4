//! A block of ftrace's lines, one after the other.

use super::header::Header;
use super::join::{self, Args, Exit};
use super::layout::{self, Layout};
use super::lines::{Frames, More, Pieces};
use super::payload::{self, Call, Payload};
use super::stacks::{Last, Target as Whose, is_seam};
use super::tasks::{self, Teller};
use super::{Clock, Format, Graph, fields, function, graph};
use crate::block::{Block, PAD};
use crate::calls::{Calls, Pending};
use crate::dict::Interner;
use crate::event::{EventKind, Op, Status, gone_flags};
use crate::format::LOOK;
use crate::parsed::{Lost, Named, Open, Parsed, Range, Span as Times, Target, Touch, Use};
use crate::scan::{Marks, structure};
use crate::schema::Column as C;
use crate::strace::fields::Source;
use crate::syscalls;
use crate::view::{Place, pack_padded};

/// What a worker keeps from block to block: nothing that changes results, only memory and names.
#[derive(Debug, Default)]
pub struct Grammar {
    marks: Marks,
    names: Interner,
    pub(super) comms: Interner,
    pub(super) calls: Calls,
    pub(super) last: Last,
}

impl Grammar {
    /// Parses `block` into `parsed`.
    pub fn parse(&mut self, format: &Format, block: &Block, parsed: &mut Parsed) {
        structure(block.padded(), block.len(), &mut self.marks);
        let text = block.text();
        let marks = std::mem::take(&mut self.marks);
        parsed.reset(marks.at.len() + 1);
        self.names.begin();
        self.comms.begin();
        self.calls.clear();
        self.last.clear();
        let mut parser = Parser {
            utf8: marks.ascii || simdutf8::basic::from_utf8(text).is_ok(),
            grammar: self,
            format,
            text,
            padded: block.padded(),
            parsed,
            line: 0,
            begin: 0,
            bytes: 0,
            used: None,
            pieces: None,
            owner: None,
            frames: None,
            told: None,
            more: None,
            lost: Vec::new(),
            next: None,
            recent: [(0, 0); RECENT],
        };
        let mut start = 0;
        for &at in &marks.at {
            let at = at as usize;
            // The structure pass also marks the results of strace's lines.
            if text[at] == b'\n' {
                parser.line(start, at);
                start = at + 1;
            }
        }
        if start < text.len() {
            parser.line(start, text.len());
        }
        parser.finish();
        self.marks = marks;
    }
}

pub(super) struct Parser<'a> {
    pub(super) grammar: &'a mut Grammar,
    pub(super) format: &'a Format,
    pub(super) text: &'a [u8],
    padded: &'a [u8],
    utf8: bool,
    pub(super) parsed: &'a mut Parsed,
    pub(super) line: i64,
    /// The line on which the record at hand begins.
    pub(super) begin: i64,
    /// Bytes of the line at hand, its line feed included.
    pub(super) bytes: u64,
    /// What the line at hand is used for; `None`: the stitch stage says.
    pub(super) used: Option<Use>,
    /// The lines at hand are parts of the name of a command.
    pub(super) pieces: Option<Pieces>,
    /// Row that lines without a record belong to.
    pub(super) owner: Option<Owner>,
    /// Frames that are not yet in the `extra` of their row.
    pub(super) frames: Option<Frames>,
    /// What was told, of which nothing was taken yet: its text may go on.
    pub(super) told: Option<Told>,
    /// Text that is not yet in the `args` of its row.
    pub(super) more: Option<More>,
    /// Processors of which records were lost, and on which line it says so last.
    pub(super) lost: Vec<(u16, i64)>,
    /// The record behind the one at hand on the same line.
    next: Option<(usize, Header)>,
    /// Names of commands as their column shows them, and their keys, by the end of the pid: few
    /// tasks take turns.
    recent: [(u128, u32); RECENT],
}

/// An event that tells of tasks.
#[derive(Clone, Copy)]
pub(super) struct Told {
    teller: Teller,
    row: usize,
    text: Span,
}

/// What the lines that follow a record may belong to. Halves of system calls have none: the kernel
/// prints a record of its own before a stack, and no line feeds within arguments.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    /// The row, or the call.
    pub(super) target: Whose,
    /// Its text, if it may go on.
    pub(super) text: Option<Span>,
    /// Somebody wrote its text: it may be anything.
    pub(super) free: bool,
    /// Frames may follow.
    pub(super) frames: bool,
    /// The text is a comment of `function_graph`, with a mark at its end.
    pub(super) comment: bool,
}

const RECENT: usize = 16;

/// A system call's name in the block's dictionary, its number in the table of calls, and whether it
/// returns.
#[derive(Clone, Copy)]
struct Callee {
    name: u32,
    sys: u16,
    returns: bool,
}

/// Text by positions in the block.
pub(super) type Span = (usize, usize);

impl<'a> Parser<'a> {
    #[inline]
    fn line(&mut self, start: usize, end: usize) {
        self.bytes = (end - start) as u64 + u64::from(end < self.text.len());
        self.used = Some(Use::Events);
        let (from, to) = self.format.own(&self.text[start..end]);
        let (start, end) = (start + from, start + to);
        if self.format.graph == Graph::No || self.pieces.is_some() || !self.graph(start, end) {
            self.records(start, end);
        }
        if let Some(used) = self.used {
            self.parsed.counts.see(used, self.bytes);
        }
        self.line += 1;
    }

    #[inline]
    fn records(&mut self, start: usize, end: usize) {
        // No more than what tells whether a block may begin here: both must say the same.
        let seen = &self.text[start..end.min(start + LOOK)];
        let header = layout::parse(seen, self.format.layout);
        match header {
            Some(header) if self.pieces.is_none() && self.format.is_whole(&header) => {
                self.begin = self.line;
                self.record(start, end, &header);
            }
            _ => self.odd(start, end, header),
        }
    }

    /// The records of a line: one, but for markers with a NUL.
    #[inline]
    pub(super) fn record(&mut self, start: usize, end: usize, header: &Header) {
        self.one(start, end, header);
        while let Some((start, header)) = self.next.take() {
            self.pieces = None;
            self.begin = self.line;
            // Its line is used for the first record, whatever this one is.
            let first = self.used.replace(Use::Events);
            let bytes = std::mem::take(&mut self.bytes);
            self.one(start, end, &header);
            self.bytes = bytes;
            let rows = u64::from(self.used == Some(Use::Events));
            self.parsed.oddities.shared_lines += rows;
            self.used = first;
        }
    }

    #[inline]
    fn one(&mut self, start: usize, end: usize, header: &Header) {
        self.flush_lines();
        self.time(header);
        if self.format.stacks && is_seam(&self.text[start..end]) {
            self.grammar.last.clear();
        }
        let base = start + header.payload;
        let span = |(from, to): Span| (base + from, base + to);
        if self.text[base..].starts_with(b"f")
            && let Some((what, dur)) = graph::parse_record(&self.text[base..end])
        {
            self.graph_record(start, header, &what, dur);
            return;
        }
        let payload = payload::parse(&self.text[base..end]);
        match payload {
            Payload::Enter { call, args } => match self.callee(call, base) {
                Some(callee) => self.enter(start, header, callee, span(args)),
                None => self.raw(start, end, header),
            },
            Payload::Exit { call, ret } => match self.callee(call, base) {
                Some(callee) => self.exit(start, header, callee, span(ret)),
                None => self.raw(start, end, header),
            },
            Payload::Event { name, text } => {
                let (name, text) = (span(name), span(text));
                let teller = Teller::of(&self.text[name.0..name.1]);
                // It is the task itself that tells.
                let exits = teller == Some(Teller::Exit) && header.pid.is_some();
                if exits {
                    self.touch(header.pid);
                }
                let key = self.key(name);
                let row = self.event(start, header, EventKind::Event, Some(key), text);
                if exits {
                    let effect = &mut self.parsed.rows.effect[row];
                    (effect.op, effect.flags) = (Op::Gone, gone_flags::NAMED);
                }
                self.told = teller.map(|teller| Told { teller, row, text });
            }
            Payload::Marker { name, text } => {
                let key = self.static_key(name);
                let text = span(text);
                let next = self.next_record(text);
                let text = (text.0, next.map_or(text.1, |(next, _)| next));
                self.event(start, header, EventKind::Marker, Some(key), text);
                self.next = next;
            }
            Payload::Function { name, rest } => {
                let key = self.key(span(name));
                self.event(start, header, EventKind::Function, Some(key), span(rest));
            }
            Payload::Stack { name } => {
                let key = self.static_key(name);
                let owner = self.grammar.last.of(header);
                let row = self.event(start, header, EventKind::Event, Some(key), (end, end));
                self.grammar.last.keep(header, owner);
                let target = owner.filter(|&owner| self.takes_frames(owner));
                let target = target.unwrap_or(Whose::Row(row));
                self.owner =
                    Some(Owner { target, text: None, free: false, frames: true, comment: false });
            }
            Payload::Tracer { name, text } => {
                let key = self.static_key(name);
                self.event(start, header, EventKind::Event, Some(key), span(text));
            }
            // Without columns, a word may be anything.
            Payload::Nameless { text }
                if self.format.functions
                    && header.layout != Layout::NoContext
                    && let Some((name, rest)) =
                        function::alone(&self.text[base + text.0..base + text.1]) =>
            {
                let base = base + text.0;
                let key = self.key((base + name.0, base + name.1));
                let rest = (base + rest.0, base + rest.1);
                self.event(start, header, EventKind::Function, Some(key), rest);
            }
            Payload::Nameless { text } => {
                self.event(start, header, EventKind::Event, None, span(text));
            }
        }
    }

    pub(super) fn key(&mut self, name: Span) -> u32 {
        let name = &self.text[name.0..name.1];
        self.grammar.names.key(name, &mut self.parsed.names, syscalls::by_name).0
    }

    pub(super) fn static_key(&mut self, name: &[u8]) -> u32 {
        self.grammar.names.key(name, &mut self.parsed.names, syscalls::by_name).0
    }

    /// The call; `None` where it is to stay a plain event.
    #[inline]
    fn callee(&mut self, call: Call, base: usize) -> Option<Callee> {
        let calls = &self.format.calls;
        let mut buffer = [0; 24];
        let name = match call {
            Call::Name(start, end) => calls.spelling(&self.text[base + start..base + end]),
            Call::Number(_) if calls.named => return None,
            Call::Number(number) => match calls.machine.and_then(|machine| machine.call(number)) {
                Some(name) => name.as_bytes(),
                None => numbered(number, &mut buffer),
            },
        };
        let (key, sys) = self.grammar.names.key(name, &mut self.parsed.names, syscalls::by_name);
        let returns = syscalls::shape(sys).op != Op::ExitCall && calls.returns(name);
        Some(Callee { name: key, sys, returns })
    }

    /// A record of `raw_syscalls` in a log that has the call by name too.
    fn raw(&mut self, start: usize, end: usize, header: &Header) {
        let base = start + header.payload;
        let colon = memchr::memchr(b':', &self.text[base..end]).map_or(end, |n| base + n);
        let text = (colon + 2).min(end);
        let key = self.key((base, colon));
        self.event(start, header, EventKind::Event, Some(key), (text, end));
    }

    /// A new row with a record's columns, except its flags.
    #[inline]
    fn row(&mut self, start: usize, header: &Header) -> usize {
        let comm = self.comm(start, header);
        let time = self.on_clock(header);
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        let mut valid = C::Line.bit();
        rows.line[row] = self.begin;
        if let Some(tid) = header.pid {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(comm) = comm {
            rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        if let Some(tgid) = header.tgid {
            rows.pid[row] = tgid;
            valid |= C::Pid.bit();
        }
        if let Some(cpu) = header.cpu {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
        }
        if let Some(time) = time {
            rows.ts[row] = time;
            valid |= C::Ts.bit();
        }
        rows.valid[row] = valid;
        row
    }

    /// The time, if it is one of the log's clock and not of another that counts something else.
    #[inline]
    pub(super) fn on_clock(&self, header: &Header) -> Option<i64> {
        let same = (header.clock == Clock::Ticks) == (self.format.clock == Clock::Ticks);
        header.time.filter(|_| same)
    }

    /// Counts steps back and records in other layouts.
    #[inline]
    fn time(&mut self, header: &Header) {
        let odd = &mut self.parsed.oddities;
        odd.relayouts += u64::from(header.layout != self.format.layout);
        if let Some(time) = self.on_clock(header) {
            self.passes(time);
        }
    }

    /// A line has this time.
    #[inline]
    pub(super) fn passes(&mut self, time: i64) {
        let parsed = &mut *self.parsed;
        match &mut parsed.span {
            Some(span) => {
                parsed.oddities.time_steps_back += u64::from(time < span.last);
                span.last = time;
                span.printed = time;
            }
            None => parsed.span = Some(Times { first: time, last: time, printed: time }),
        }
    }

    #[inline]
    pub(super) fn comm(&mut self, start: usize, header: &Header) -> Option<u32> {
        let (from, to) = header.comm?;
        if let Some(pieces) = &self.pieces {
            // Blanks align the name as a whole.
            let name = &self.text[pieces.start..start + to];
            let name = &name[name.iter().take_while(|&&b| b == b' ').count()..];
            return Some(self.grammar.comms.key(name, &mut self.parsed.comms, |_| 0).0);
        }
        let comm = &self.text[start + from..start + to];
        if to != 16 {
            return Some(self.grammar.comms.key(comm, &mut self.parsed.comms, |_| 0).0);
        }
        let column = self.text[start..].first_chunk::<16>().map_or(0, |c| u128::from_le_bytes(*c));
        let recent = &mut self.recent[header.pid.unwrap_or(0) as usize % RECENT];
        if recent.0 != column || column == 0 {
            *recent = (column, self.grammar.comms.key(comm, &mut self.parsed.comms, |_| 0).0);
        }
        Some(recent.1)
    }

    /// The flags, unless they say nothing.
    #[inline]
    pub(super) fn flags(&self, start: usize, header: &Header) -> Option<Span> {
        let span = (start + header.flags.0, start + header.flags.1);
        let quiet = self.text[span.0..span.1].iter().all(|&b| b == b'.');
        (!quiet).then_some(span)
    }

    #[inline]
    fn event(
        &mut self,
        start: usize,
        header: &Header,
        kind: EventKind,
        name: Option<u32>,
        text: Span,
    ) -> usize {
        let row = self.row(start, header);
        let mut valid = C::Kind.bit() | C::Args.bit();
        if let Some(flags) = self.flags(start, header) {
            self.parsed.rows.extra[row] = self.view(flags);
            valid |= C::Extra.bit();
        }
        let args = self.view(text);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = kind as u8;
        rows.args[row] = args;
        if let Some(name) = name {
            rows.name[row] = name;
            valid |= C::Name.bit();
        }
        rows.valid[row] |= valid;
        // Nobody writes line feeds into the names of functions, nor into arguments.
        let goes_on = matches!(kind, EventKind::Event | EventKind::Marker);
        let free = kind == EventKind::Marker;
        let target = Whose::Row(row);
        self.owner = Some(Owner {
            target,
            text: goes_on.then_some(text),
            free,
            frames: !free,
            comment: false,
        });
        self.stack_may_follow(header, target);
        row
    }

    #[inline]
    fn enter(&mut self, start: usize, header: &Header, callee: Callee, args: Span) {
        let tid = header.pid;
        self.touch(tid);
        if !callee.returns {
            let row = self.event(start, header, EventKind::Syscall, Some(callee.name), args);
            let source = self.source(args);
            let Parsed { rows, side, .. } = &mut *self.parsed;
            rows.status[row] = Status::Complete as u8;
            rows.valid[row] |= C::Status.bit();
            fields::fill(rows, side, row, source, callee.sys, &self.format.calls, None);
            return;
        }
        let narrow = |(start, end): Span| (start as u32, end as u32);
        let open = Open {
            tid,
            line: self.begin,
            ts: self.on_clock(header),
            name: callee.name,
            sys: callee.sys,
            comm: self.comm(start, header),
            cpu: header.cpu,
            pid: header.tgid,
            args: narrow(args),
            extra: self.flags(start, header).map(narrow),
            head: fields::head(&self.text[args.0..args.1], callee.sys, &self.format.calls),
            ..Open::default()
        };
        let at = self.grammar.calls.open(tid, open, self.parsed);
        self.stack_may_follow(header, Whose::Call(at));
        self.owner = None;
    }

    #[inline]
    fn exit(&mut self, start: usize, header: &Header, callee: Callee, ret: Span) {
        let tid = header.pid;
        let mut pending = self.grammar.calls.resume(tid);
        let lost = Some(self.parsed.spot());
        match pending {
            // Records were lost: neither half has its other.
            Pending::Open(open)
                if !self.ends(open.name, callee.name) || self.is_parted(&open, header) =>
            {
                self.abandoned(&open);
                pending = Pending::Nothing;
            }
            _ => {}
        }
        let row = self.row(start, header);
        let exit = Exit { args: None, sys: callee.sys, entry: None, ret: &self.text[ret.0..ret.1] };
        self.parsed.rows.name[row] = callee.name;
        self.parsed.rows.valid[row] |= C::Name.bit();
        self.stack_may_follow(header, Whose::Row(row));
        self.owner = None;
        match pending {
            Pending::Open(open) => {
                self.head(row, &open);
                let args = (open.args.0 as usize, open.args.1 as usize);
                let args = Args { source: self.source(args), view: self.view(args) };
                let exit = Exit { args: Some(args), sys: open.sys, entry: open.ts, ..exit };
                join::join(self.parsed, row, self.format, exit);
                self.parsed.rows.effect[row].begun = true;
                self.used = Some(Use::Resumed);
            }
            Pending::Nothing => {
                join::join(self.parsed, row, self.format, exit);
                if let Some(flags) = self.flags(start, header) {
                    self.parsed.rows.extra[row] = self.view(flags);
                    self.parsed.rows.valid[row] |= C::Extra.bit();
                }
            }
            Pending::Unknown => {
                // The entry, if any, is in a block before: that is for the stitch stage.
                let rest = (ret.0 as u32, ret.1 as u32);
                let (row, sys, bytes) = (row as u32, callee.sys, self.bytes);
                let begins = self.parsed.begins.len() as u32;
                let columns = self.flags(start, header).map(|flags| self.view(flags));
                self.used = None;
                self.parsed.touches.push(Touch::Resume {
                    tid,
                    row,
                    begins,
                    rest,
                    sys,
                    bytes,
                    columns,
                    lost,
                });
            }
        }
    }

    /// Records of the processor were lost between the two halves: the exit may be another call's.
    fn is_parted(&self, open: &Open, header: &Header) -> bool {
        open.cpu == header.cpu
            && self.lost.iter().any(|&(cpu, line)| open.cpu == Some(cpu) && open.line < line)
    }

    /// The record may have a stack.
    #[inline]
    pub(super) fn stack_may_follow(&mut self, header: &Header, target: Whose) {
        if self.format.stacks {
            self.grammar.last.record(header, target);
        }
    }

    /// Whether the exit of call `exit` is that of `enter`.
    #[inline]
    fn ends(&self, enter: u32, exit: u32) -> bool {
        let names = &self.parsed.names;
        let [enter_name, exit_name] = [enter, exit].map(|name| &names[name as usize]);
        enter == exit || self.format.calls.ends(enter_name, exit_name)
    }

    /// What the entry says, in the row of the whole.
    #[inline]
    fn head(&mut self, row: usize, open: &Open) {
        self.parsed.begins[open.begin as usize].target = Target::Row(row as u32);
        let wide = |(start, end): Range| (start as usize, end as usize);
        let extra = open.extra.map(|extra| self.view(wide(extra)));
        let rows = &mut self.parsed.rows;
        let mut valid = C::Line.bit() | C::Name.bit();
        rows.line[row] = open.line;
        rows.name[row] = open.name;
        if let Some(tid) = open.tid {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(comm) = open.comm {
            rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        if let Some(cpu) = open.cpu {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
        }
        if let Some(pid) = open.pid {
            rows.pid[row] = pid;
            valid |= C::Pid.bit();
        }
        if let Some(extra) = extra {
            rows.extra[row] = extra;
            valid |= C::Extra.bit();
        }
        rows.valid[row] |= valid;
        // Those of the exit come later.
        for frames in [open.frames, open.more_frames].into_iter().flatten() {
            self.put_frames(row, wide(frames));
        }
    }

    /// The task does something: a call of its that is still open never ended.
    #[inline]
    fn touch(&mut self, tid: Option<i32>) {
        if let Some(open) = self.grammar.calls.touch(tid, self.parsed, Lost::Elsewhere) {
            self.abandoned(&open);
        }
    }

    /// The row of a call that began in this block and does not end.
    fn abandoned(&mut self, open: &Open) {
        let row = self.parsed.rows.push();
        self.head(row, open);
        let args = (open.args.0 as usize, open.args.1 as usize);
        let (source, view) = (self.source(args), self.view(args));
        let Parsed { rows, side, .. } = &mut *self.parsed;
        if let Some(ts) = open.ts {
            rows.ts[row] = ts;
            rows.valid[row] |= C::Ts.bit();
        }
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = Status::Unfinished as u8;
        rows.args[row] = view;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit() | C::Args.bit();
        fields::fill(rows, side, row, source, open.sys, &self.format.calls, None);
        rows.effect[row].begun = true;
    }

    /// Takes what an event, whose text ends at `end` at least, tells of tasks.
    #[inline]
    pub(super) fn take_told(&mut self, told: Told, end: usize) {
        let text = &self.text[told.text.0..told.text.1.max(end)];
        let row = told.row as u32;
        let lasts = self.format.renames || told.teller.renames();
        for fact in tasks::facts(told.teller, text).into_iter().flatten().filter(|_| lasts) {
            let own =
                self.parsed.rows.has(told.row, C::Tid).then(|| self.parsed.rows.tid[told.row]);
            // All processors' idle tasks have the id 0, and the kernel calls them by one name.
            let Some(tid) = fact.tid.or(own).filter(|&tid| tid != 0) else { continue };
            let comm = self.grammar.comms.key(fact.comm, &mut self.parsed.comms, |_| 0).0;
            self.parsed.named.push(Named { row, later: fact.later, tid, comm });
        }
        if let Some((tid, flags)) = tasks::made(told.teller, text) {
            let effect = &mut self.parsed.rows.effect[told.row];
            (effect.op, effect.at, effect.flags) = (Op::Appear, tid, flags);
        }
        if told.teller == Teller::Exec
            && let Some((tid, by)) = tasks::superseded(text)
        {
            self.grammar.calls.superseded(Some(tid), by, self.parsed);
            let effect = &mut self.parsed.rows.effect[told.row];
            (effect.op, effect.thread) = (Op::Supersedes, by);
        }
    }

    #[inline]
    pub(super) fn view(&mut self, span: Span) -> u128 {
        if self.utf8 {
            return pack_padded(self.padded, PAD + span.0, span.1 - span.0, Place::Text, span.0);
        }
        let source = self.source((0, self.text.len()));
        source.view(span.0, span.1, &mut self.parsed.side)
    }

    #[inline]
    fn source(&self, span: Span) -> Source<'a> {
        Source {
            bytes: &self.text[span.0..span.1],
            place: Place::Text,
            base: span.0,
            utf8: self.utf8,
        }
    }

    fn finish(&mut self) {
        self.flush_lines();
        self.grammar.calls.flush(self.parsed);
    }
}

/// strace's name of a call that has none.
fn numbered(number: u64, buffer: &mut [u8; 24]) -> &[u8] {
    const PREFIX: &[u8; 10] = b"syscall_0x";
    buffer[..PREFIX.len()].copy_from_slice(PREFIX);
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1) as usize;
    for (i, byte) in buffer[PREFIX.len()..PREFIX.len() + digits.min(14)].iter_mut().enumerate() {
        let digit = (number >> (4 * (digits - 1 - i)) & 0xf) as usize;
        *byte = b"0123456789abcdef"[digit];
    }
    &buffer[..PREFIX.len() + digits.min(14)]
}
