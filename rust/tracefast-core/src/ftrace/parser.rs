//! Parses the lines of a block, one after another.

use std::ops::Range;

use crate::events::dictionary::Interner;
use crate::events::line_counts::LineUse;
use crate::events::open_calls::OpenCalls;
use crate::events::parsed_block::Parsed;
use crate::events::vocabulary::{EventKind, Op, gone_flags};
use crate::ftrace::call::callee::Callee;
use crate::ftrace::fields::KeptArguments;
use crate::ftrace::format::{Format, Graph};
use crate::ftrace::function_graph;
use crate::ftrace::header::cache::{HeaderCache, KnownColumns};
use crate::ftrace::header::{Header, Layout, layouts};
use crate::ftrace::non_records::stacks::{LastRecords, StackOwner};
use crate::ftrace::payload;
use crate::ftrace::payload::cache::{PayloadCache, PayloadKind};
use crate::ftrace::payload::{CallId, Payload, function};
use crate::ftrace::pending::{
    ContinuedText, LineOwner, NamePieces, PageLine, PendingTaskEvent, StackFrames,
};
use crate::ftrace::record::file_hints;
use crate::ftrace::scan::{Span, trim_end};
use crate::ftrace::wrapper::Wrap;
use crate::linux::syscalls;
use crate::linux::task_events::TaskEvent;
use crate::text::block::BOM;
use crate::text::block::Block;
use crate::text::block::{LINE_START, OWN_START};
use crate::text::colour;
use crate::text::prefix::Prefix;
use crate::text::scan::{Marks, lines};

/// What a worker keeps from block to block. It holds memory and names, and does not change results.
#[derive(Debug, Default)]
pub struct Grammar {
    pub(crate) marks: Marks,
    pub(crate) names: Interner,
    pub(crate) comms: Interner,
    pub(crate) calls: OpenCalls,
    pub(crate) last: LastRecords,
    pub(crate) payloads: PayloadCache,
}

impl Grammar {
    /// Parses `block` into `parsed`.
    pub fn parse(&mut self, format: &Format, block: &mut Block, parsed: &mut Parsed) {
        let taken = if format.coloured { colour::strip_all(block) } else { Vec::new() };
        let block = &*block;
        lines(block.padded(), block.len(), &mut self.marks);
        let text = block.text();
        let marks = std::mem::take(&mut self.marks);
        parsed.reset(marks.positions().len() + 1);
        self.names.begin();
        self.comms.begin();
        self.calls.clear();
        self.last.clear();
        self.payloads.begin();
        let mut parser = Parser {
            utf8: marks.ascii || simdutf8::basic::from_utf8(text).is_ok(),
            grammar: self,
            format,
            text,
            padded: block.padded(),
            parsed,
            line: 0,
            record_line: 0,
            bytes: 0,
            plain: format.is_plain(),
            taken: &taken,
            prefix: None,
            used: None,
            pieces: None,
            owner: None,
            frames: None,
            task_event: None,
            more: None,
            begun: false,
            between: Vec::new(),
            last: block.last,
            lost: Vec::new(),
            next: None,
            known: None,
            separators: &marks.separators,
            kept: [KeptArguments::none(); KEPT],
        };
        let mut columns = HeaderCache::default();
        let mut start = 0;
        for &at in marks.positions() {
            let at = at as usize;
            parser.line(&mut columns, start, at);
            start = at + 1;
        }
        if start < text.len() {
            parser.line(&mut columns, start, text.len());
        }
        parser.finish();
        self.marks = marks;
    }
}

pub(crate) struct Parser<'a> {
    pub(crate) grammar: &'a mut Grammar,
    pub(crate) format: &'a Format,
    pub(crate) text: &'a [u8],
    pub(crate) padded: &'a [u8],
    pub(crate) utf8: bool,
    pub(crate) parsed: &'a mut Parsed,
    pub(crate) line: i64,
    /// The line on which the current record starts.
    pub(crate) record_line: i64,
    /// Bytes of the current line, its line feed included.
    pub(crate) bytes: u64,
    /// Nothing is around the lines of this log.
    pub(crate) plain: bool,
    /// Numbers of lines from here on that lost colours, and how many bytes.
    pub(crate) taken: &'a [(u32, u32)],
    /// The prefix of this line, if it differs from line to line.
    pub(crate) prefix: Option<Span>,
    /// What the line at hand is used for; `None`: the serial stage says.
    pub(crate) used: Option<LineUse>,
    /// The current lines are parts of the name of a command.
    pub(crate) pieces: Option<NamePieces>,
    /// Row that lines without a record belong to.
    pub(crate) owner: Option<LineOwner>,
    /// Frames that are not yet in the `extra` of their row.
    pub(crate) frames: Option<StackFrames>,
    /// An event whose names of tasks are not read yet: its text may go on.
    pub(crate) task_event: Option<PendingTaskEvent>,
    /// Text that is not yet in the `args` of its row.
    pub(crate) more: Option<ContinuedText>,
    /// The block has a record so far.
    pub(crate) begun: bool,
    /// Lines of a page since the last record, which are of the trace if another record follows.
    pub(crate) between: Vec<PageLine>,
    /// The block is the last one of the log.
    pub(crate) last: bool,
    /// Processors that lost records, and the last line that says so.
    pub(crate) lost: Vec<(Option<u16>, i64)>,
    /// The record that follows the current one on the same line.
    pub(crate) next: Option<(usize, Header)>,
    /// What is known of the columns of the current record, if an earlier one had the same.
    pub(crate) known: Option<KnownColumns>,
    /// The bytes that may separate arguments, a bit for each byte.
    pub(crate) separators: &'a [u64],
    /// Arguments of open calls, indexed by the last bits of the number of their entry.
    pub(crate) kept: [KeptArguments; KEPT],
}

/// Few calls are open at once.
pub(crate) const KEPT: usize = 16;

impl Parser<'_> {
    #[inline]
    fn line(&mut self, columns: &mut HeaderCache, start: usize, end: usize) {
        self.bytes = (end - start) as u64 + u64::from(end < self.text.len());
        self.used = Some(LineUse::Events);
        // Where a block may start, and only there: see `stacks`.
        if self.format.stacks
            && self.format.stands_alone(&self.text[start..end.min(start + LINE_START)])
        {
            self.grammar.last.clear();
        }
        // On any line, as files that are put together have one in the middle.
        // A quick look at the first byte, which is rarely that of a mark.
        let marked = self.text.get(start) == BOM.first() && self.text[start..end].starts_with(BOM);
        let start = start + if marked { BOM.len() } else { 0 };
        let (start, end) = if self.plain {
            (start, end - usize::from(self.text[start..end].ends_with(b"\r")))
        } else {
            self.own(start, end)
        };
        if self.format.graph == Graph::No || self.pieces.is_some() || !self.graph(start, end) {
            self.records(columns, start, end);
        }
        if let Some(used) = self.used {
            self.parsed.counts.add_line(used, self.bytes);
        }
        self.line += 1;
    }

    /// The part of a line that ftrace wrote, where other programs added something to the log.
    #[cold]
    fn own(&mut self, start: usize, end: usize) -> Span {
        if let Some((&(number, bytes), later)) = self.taken.split_first()
            && i64::from(number) == self.line
        {
            self.bytes += u64::from(bytes);
            self.taken = later;
        }
        let (from, to) = self.format.own(&self.text[start..end]);
        if let Wrap::Prefix(prefix) = &self.format.wrap {
            self.passed_over(prefix, start, start + from);
        }
        (start + from, start + to)
    }

    /// Counts the prefix of this line, and notes it if it differs from line to line.
    #[cold]
    fn passed_over(&mut self, prefix: &Prefix, start: usize, end: usize) {
        self.parsed.oddities.prefixes += u64::from(end > start);
        let shown = self.text[start..end].trim_ascii();
        let from = end - self.text[start..end].trim_ascii_start().len();
        let varies = prefix.varies() && !shown.is_empty();
        self.prefix = varies.then_some((from, from + shown.len()));
    }

    #[inline]
    fn records(&mut self, columns: &mut HeaderCache, start: usize, end: usize) {
        if self.pieces.is_none()
            && let Some((header, known)) = columns.get(self.padded, start, end - start)
        {
            self.record_line = self.line;
            self.known = Some(known);
            self.record(start, end, header);
            self.known = None;
            return;
        }
        // As many bytes as are examined when blocks are cut: both must come to the same decision.
        let seen = &self.text[start..end.min(start + OWN_START)];
        let header = layouts::parse(seen, self.format.layout);
        match header {
            Some(header) if self.pieces.is_none() && self.format.is_whole(&header) => {
                self.record_line = self.line;
                self.keep_columns(columns, start, &header);
                self.record(start, end, &header);
            }
            _ => {
                self.parsed.detours += 1;
                self.odd(start, end, header);
            }
        }
    }

    /// The records of a line: one, but for markers with a NUL.
    #[inline]
    pub(crate) fn record(&mut self, start: usize, end: usize, header: &Header) {
        self.one(start, end, header);
        if self.next.is_some() {
            self.more_records(end);
        }
    }

    /// The records after the first one of a line that ends at `end`.
    #[cold]
    fn more_records(&mut self, end: usize) {
        while let Some((start, header)) = self.next.take() {
            self.pieces = None;
            self.known = None;
            self.record_line = self.line;
            // The line counts for its first record, whatever this one is.
            let first = self.used.replace(LineUse::Events);
            let bytes = std::mem::take(&mut self.bytes);
            self.one(start, end, &header);
            self.bytes = bytes;
            let rows = u64::from(self.used == Some(LineUse::Events));
            self.parsed.oddities.shared_lines += rows;
            self.used = first;
        }
    }

    #[inline]
    fn one(&mut self, start: usize, end: usize, header: &Header) {
        self.flush_lines();
        if !self.plain {
            self.take_between();
        }
        self.time(header);
        let base = start + header.payload;
        if self.seen(start, end, header) {
            return;
        }
        let span = |(from, to): Span| (base + from, base + to);
        if self.text[base..].starts_with(b"f")
            && let Some((what, dur)) = function_graph::parse_record(&self.text[base..end])
        {
            self.graph_record(start, header, &what, dur);
            return;
        }
        let payload = payload::parse(&self.text[base..end]);
        let cut = trim_end(self.text, base, end);
        let payload = if cut < end { self.without_blanks(base..cut, payload) } else { payload };
        match payload {
            Payload::Enter { call, args } => match self.callee(call, base) {
                Some(callee) => {
                    self.cache_call(base, call, callee, true);
                    self.enter(start, header, callee, span(args));
                }
                None => self.raw(start, end, header),
            },
            Payload::Exit { call, ret } => match self.callee(call, base) {
                Some(callee) => {
                    self.cache_call(base, call, callee, false);
                    self.exit(start, header, callee, span(ret));
                }
                None => self.raw(start, end, header),
            },
            Payload::Event { name, text } => {
                let (name, text) = (span(name), span(text));
                let task_event = TaskEvent::from_name(&self.text[name.0..name.1]);
                let key = self.key(name);
                self.cache_event(base, name, key, task_event);
                let row = self.plain(start, header, key, task_event, text);
                if task_event.is_none() {
                    self.take_file_hint(name, text, row);
                }
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
            Payload::Stack { name, frame } => {
                let key = self.static_key(name);
                let last = self.grammar.last.take(header, name == b"user_stack");
                let row = self.event(start, header, EventKind::Event, Some(key), (end, end));
                self.grammar.last.put_back(header, last);
                let owner = last.map(|last| last.owner);
                let target = owner.filter(|&owner| self.takes_frames(owner));
                let target = target.unwrap_or(StackOwner::Row(row));
                self.owner = Some(LineOwner {
                    target,
                    text: None,
                    free: false,
                    frames: true,
                    comment: false,
                });
                if frame.0 < frame.1 {
                    self.frames = Some(StackFrames::new(target, span(frame)));
                }
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
                        function::alone(&self.text[base + text.0..cut.max(base + text.0)]) =>
            {
                let base = base + text.0;
                let key = self.key((base + name.0, base + name.1));
                let rest = (base + rest.0, base + rest.1);
                self.event(start, header, EventKind::Function, Some(key), rest);
            }
            Payload::Nameless { text } => {
                self.parsed.oddities.cut_ends += u64::from(self.ends_log(end));
                self.event(start, header, EventKind::Event, None, span(text));
            }
        }
    }

    /// Whether the log ends at `end`, without a line feed: its last line may have been cut.
    pub(crate) fn ends_log(&self, end: usize) -> bool {
        self.last && self.text[end..].iter().all(|&b| b == b' ')
    }

    /// The payload without blanks at its end, unless it is text, which they are part of.
    #[cold]
    fn without_blanks(&self, cut: Range<usize>, payload: Payload) -> Payload {
        let shorter = payload::parse(&self.text[cut]);
        let calls = matches!(
            shorter,
            Payload::Enter { .. }
                | Payload::Exit { .. }
                | Payload::Function { .. }
                | Payload::Stack { .. }
        );
        if calls && !matches!(payload, Payload::Marker { .. }) { shorter } else { payload }
    }

    /// Reads a record whose payload starts like an earlier one. `false` if it does not.
    #[inline(always)]
    fn seen(&mut self, start: usize, end: usize, header: &Header) -> bool {
        let base = start + header.payload;
        let Some((head, n)) = self.grammar.payloads.get(self.padded, base) else { return false };
        let (name, after) = (base + n, base + n + 1);
        let blanks = |from: usize| {
            from + self.text[from..end].iter().take_while(|&&byte| byte == b' ').count()
        };
        if after > end {
            return false;
        }
        let cut = || trim_end(self.text, after, end);
        match head.what {
            PayloadKind::Enter(callee) => {
                if head.is_function(self.padded, after..end) {
                    return false;
                }
                let end = cut();
                let closed = self.text[after..end].ends_with(b")");
                let args = (after, end - usize::from(closed));
                self.enter(start, header, callee, args);
            }
            PayloadKind::Exit(callee) => {
                if !self.text[name..end].starts_with(b" -> ") {
                    return false;
                }
                let end = cut().max(name + 4);
                self.exit(start, header, callee, (name + 4, end));
            }
            PayloadKind::EnterFields(callee) => {
                let end = cut();
                let args = (blanks(after).min(end), end);
                self.enter(start, header, callee, args);
            }
            PayloadKind::ExitFields(callee) => {
                let end = cut();
                let ret = (blanks(after).min(end), end);
                self.exit(start, header, callee, ret);
            }
            PayloadKind::Event { key, task_event, may_hint } => {
                if !matches!(self.text[after..end].first(), None | Some(b' ')) {
                    return false;
                }
                let text = (blanks(after), end);
                let row = self.plain(start, header, key, task_event, text);
                if task_event.is_none() && (may_hint || self.text[text.0..end].starts_with(b"(")) {
                    self.take_file_hint((base, name), text, row);
                }
            }
        }
        true
    }

    /// Keeps the call in the cache, if the payload starts with its name.
    fn cache_call(&mut self, base: usize, call: CallId, callee: Callee, enters: bool) {
        let CallId::Name(_, end) = call else { return };
        let end = base + end;
        if !self.text[base..].starts_with(b"sys_") {
            return;
        }
        let what = match (self.text.get(end), enters) {
            (Some(b'('), true) => PayloadKind::Enter(callee),
            (Some(b' '), false) => PayloadKind::Exit(callee),
            (Some(b':'), true) => PayloadKind::EnterFields(callee),
            (Some(b':'), false) => PayloadKind::ExitFields(callee),
            _ => return,
        };
        self.grammar.payloads.put(self.padded, base, end, what);
    }

    /// Keeps the name of an event, if it says by itself that it is one.
    fn cache_event(&mut self, base: usize, name: Span, key: u32, task_event: Option<TaskEvent>) {
        let text = &self.text[name.0..name.1];
        // The rest of the payload decides whether these are calls, functions or stacks.
        let depends = text.starts_with(b"sys_")
            || text.starts_with(b"f")
            || matches!(text, b"kernel_stack" | b"user_stack");
        if name.0 == base && !depends {
            let may_hint = file_hints::may_hint(text);
            self.grammar.payloads.put(
                self.padded,
                base,
                name.1,
                PayloadKind::Event { key, task_event, may_hint },
            );
        }
    }

    /// An event by its name.
    #[inline]
    fn plain(
        &mut self,
        start: usize,
        header: &Header,
        key: u32,
        task_event: Option<TaskEvent>,
        text: Span,
    ) -> usize {
        let cut = task_event.is_some() && self.is_cut(start, text.1);
        let text = if cut { self.cut_fields(text) } else { text };
        // The task itself exits.
        let exits = task_event == Some(TaskEvent::Exit) && header.pid.is_some();
        if exits {
            self.touch(header.pid);
        }
        let row = self.event(start, header, EventKind::Event, Some(key), text);
        if exits {
            let effect = &mut self.parsed.rows.effect[row];
            (effect.op, effect.flags) = (Op::Gone, gone_flags::NAMED);
        }
        if task_event == Some(TaskEvent::Switch) {
            self.parsed.rows.effect[row].op = Op::Away;
        }
        self.task_event = task_event.map(|task_event| PendingTaskEvent { task_event, row, text });
        row
    }

    /// The text of an event that was cut, without a last number that may have lost digits.
    #[cold]
    fn cut_fields(&mut self, text: Span) -> Span {
        let digits = self.text[text.0..text.1].iter().rev().take_while(|b| b.is_ascii_digit());
        let digits = digits.count();
        self.parsed.oddities.lost_values += u64::from(digits > 0);
        (text.0, text.1 - digits)
    }

    pub(crate) fn key(&mut self, name: Span) -> u32 {
        let name = &self.text[name.0..name.1];
        self.grammar.names.key(name, &mut self.parsed.names, syscalls::by_name).0
    }

    pub(crate) fn static_key(&mut self, name: &[u8]) -> u32 {
        self.grammar.names.key(name, &mut self.parsed.names, syscalls::by_name).0
    }

    /// A record of `raw_syscalls` in a log that has the call by name too.
    fn raw(&mut self, start: usize, end: usize, header: &Header) {
        let base = start + header.payload;
        let colon = memchr::memchr(b':', &self.text[base..end]).map_or(end, |n| base + n);
        let text = (colon + 2).min(end);
        let key = self.key((base, colon));
        self.event(start, header, EventKind::Event, Some(key), (text, end));
    }

    fn finish(&mut self) {
        self.flush_lines();
        self.end_between();
        self.grammar.calls.flush(self.parsed);
    }
}
