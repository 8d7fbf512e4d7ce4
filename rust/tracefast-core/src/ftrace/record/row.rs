//! The row of one record: its columns, its text, and what it says about tasks.

use crate::events::details::Detail;
use crate::events::parsed_block::{CommChange, TimeSpan as Times};
use crate::events::rows::ViewSource;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{EventKind, Op};
use crate::ftrace::header::cache::{HeaderCache, KnownColumns};
use crate::ftrace::header::{Clock, Header, Layout};
use crate::ftrace::non_records::stacks::StackOwner;
use crate::ftrace::parser::Parser;
use crate::ftrace::pending::{LineOwner, PendingTaskEvent};
use crate::ftrace::record::file_hints::{self, FileHint};
use crate::ftrace::scan::Span;
use crate::linux::task_events::{self, TaskEvent};
use crate::text::block::PAD;
use crate::text::escape::escape_invalid;
use crate::text::string_view::{Place, pack_padded};

impl<'a> Parser<'a> {
    /// Appends a row with a record's columns, except its flags.
    #[inline]
    pub(crate) fn row(&mut self, start: usize, header: &Header) -> usize {
        let comm = self.comm(start, header);
        let time = self.on_clock(header);
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        let mut valid = C::Line.bit();
        rows.line[row] = self.record_line;
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

    /// The time, if it is of the log's clock and not of another that counts something else.
    #[inline]
    pub(crate) fn on_clock(&self, header: &Header) -> Option<i64> {
        let same = (header.clock == Clock::Ticks) == (self.format.clock == Clock::Ticks);
        header.time.filter(|_| same)
    }

    /// Counts steps back and records in other layouts.
    #[inline]
    pub(crate) fn time(&mut self, header: &Header) {
        let odd = &mut self.parsed.oddities;
        odd.relayouts += u64::from(header.layout != self.format.layout);
        if let Some(time) = self.on_clock(header) {
            self.passes(time);
        }
    }

    /// A line has this time.
    #[inline]
    pub(crate) fn passes(&mut self, time: i64) {
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

    #[inline(always)]
    pub(crate) fn comm(&mut self, start: usize, header: &Header) -> Option<u32> {
        match self.known {
            Some(known) => Some(known.comm),
            None => self.other_comm(start, header),
        }
    }

    #[inline(never)]
    fn other_comm(&mut self, start: usize, header: &Header) -> Option<u32> {
        let (from, to) = header.comm?;
        if let Some(pieces) = &self.pieces {
            // Blanks align the name as a whole.
            let name = &self.text[pieces.start..start + to];
            let name = &name[name.iter().take_while(|&&b| b == b' ').count()..];
            return Some(self.grammar.comms.key(name, &mut self.parsed.comms, |_| 0).0);
        }
        let comm = &self.text[start + from..start + to];
        Some(self.grammar.comms.key(comm, &mut self.parsed.comms, |_| 0).0)
    }

    /// Keeps the columns of a record for later ones that have the same.
    pub(crate) fn keep_columns(
        &mut self,
        columns: &mut HeaderCache,
        start: usize,
        header: &Header,
    ) {
        if self.format.layout != Layout::Default {
            return;
        }
        let quiet = self.flags(start, header).is_none();
        let Self { grammar, parsed, text, padded, .. } = self;
        columns.put(padded, start, header, || {
            let (from, to) = header.comm?;
            let comm = &text[start + from..start + to];
            Some(KnownColumns { comm: grammar.comms.key(comm, &mut parsed.comms, |_| 0).0, quiet })
        });
    }

    /// The flags, unless they are all dots.
    #[inline]
    pub(crate) fn flags(&self, start: usize, header: &Header) -> Option<Span> {
        let span = (start + header.flags.0, start + header.flags.1);
        let quiet = match self.known {
            Some(known) => known.quiet,
            None => self.text[span.0..span.1].iter().all(|&b| b == b'.'),
        };
        (!quiet).then_some(span)
    }

    /// What is kept as text: the prefix of a pasted log, flags.
    #[inline]
    pub(crate) fn kept(&mut self, prefix: Option<Span>, flags: Option<Span>) -> Option<u128> {
        match (prefix, flags) {
            (None, None) => None,
            (None, Some(one)) | (Some(one), None) => Some(self.view(one)),
            (Some(prefix), Some(flags)) => Some(self.both(prefix, flags)),
        }
    }

    #[cold]
    fn both(&mut self, first: Span, second: Span) -> u128 {
        let mut both = escape_invalid(&self.text[first.0..first.1]).into_owned();
        both.push(' ');
        both.push_str(&escape_invalid(&self.text[second.0..second.1]));
        self.parsed.side.put(both.as_bytes())
    }

    #[inline]
    pub(crate) fn event(
        &mut self,
        start: usize,
        header: &Header,
        kind: EventKind,
        name: Option<u32>,
        text: Span,
    ) -> usize {
        let row = self.row(start, header);
        let mut valid = C::Kind.bit() | C::Args.bit();
        if let Some(columns) = self.kept(self.prefix, self.flags(start, header)) {
            self.parsed.rows.extra[row] = columns;
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
        // Names of functions and arguments have no line feeds.
        let goes_on = matches!(kind, EventKind::Event | EventKind::Marker);
        let free = kind == EventKind::Marker;
        let target = StackOwner::Row(row);
        self.owner = Some(LineOwner {
            target,
            text: goes_on.then_some(text),
            free,
            frames: !free,
            comment: false,
        });
        self.stack_may_follow(header, target);
        row
    }

    /// Keeps what an event says about the file that the call around it acts on.
    #[inline]
    pub(crate) fn take_file_hint(&mut self, name: Span, text: Span, row: usize) {
        let hint = file_hints::file_hint(&self.text[name.0..name.1], &self.text[text.0..text.1]);
        let Some(hint) = hint else { return };
        let detail = match hint {
            FileHint::Inode(id) => Detail::Inode(id),
            FileHint::Fault => Detail::Fault,
            FileHint::Path(from, to) => Detail::Name(self.view((text.0 + from, text.0 + to))),
        };
        self.parsed.rows.effect[row].detail = self.parsed.side.detail(detail);
    }

    /// The record may have a stack.
    #[inline]
    pub(crate) fn stack_may_follow(&mut self, header: &Header, target: StackOwner) {
        if self.format.stacks {
            self.grammar.last.record(header, target);
        }
    }

    /// Reads what an event says about tasks; its text ends at `end` at least.
    #[inline]
    pub(crate) fn finish_task_event(&mut self, pending: PendingTaskEvent, end: usize) {
        let text = &self.text[pending.text.0..pending.text.1.max(end)];
        let row = pending.row as u32;
        let lasts = self.format.renames || pending.task_event.renames();
        for named in task_events::task_names(pending.task_event, text)
            .into_iter()
            .flatten()
            .filter(|_| lasts)
        {
            let own = self
                .parsed
                .rows
                .has(pending.row, C::Tid)
                .then(|| self.parsed.rows.tid[pending.row]);
            // All processors' idle tasks have the id 0, and the kernel calls them by one name.
            let Some(tid) = named.tid.or(own).filter(|&tid| tid != 0) else { continue };
            let comm = self.grammar.comms.key(named.comm, &mut self.parsed.comms, |_| 0).0;
            self.parsed.comm_changes.push(CommChange { row, later: named.later, tid, comm });
        }
        if let Some((tid, flags)) = task_events::created_task(pending.task_event, text) {
            let effect = &mut self.parsed.rows.effect[pending.row];
            (effect.op, effect.at, effect.flags) = (Op::Appear, tid, flags);
            if pending.task_event == TaskEvent::NewTask {
                effect.at2 = tid;
            }
        }
        if pending.task_event == TaskEvent::Exec
            && let Some((tid, by)) = task_events::superseded(text)
        {
            self.grammar.calls.superseded(Some(tid), by, self.parsed);
            let effect = &mut self.parsed.rows.effect[pending.row];
            (effect.op, effect.thread) = (Op::Supersedes, by);
        }
    }

    #[inline]
    pub(crate) fn view(&mut self, span: Span) -> u128 {
        if self.utf8 {
            return pack_padded(self.padded, PAD + span.0, span.1 - span.0, Place::Text, span.0);
        }
        let source = self.source((0, self.text.len()));
        source.view(span.0, span.1, &mut self.parsed.side)
    }

    #[inline]
    pub(crate) fn source(&self, span: Span) -> ViewSource<'a> {
        ViewSource {
            bytes: &self.text[span.0..span.1],
            place: Place::Text,
            base: span.0,
            utf8: self.utf8,
        }
    }
}
