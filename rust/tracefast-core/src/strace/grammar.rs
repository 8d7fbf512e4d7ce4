//! Reads a block line by line and decides what each line is.

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::split_calls::{CallEntry, EntryTarget};
use crate::strace::call::foreign_text;
use crate::strace::detect::cut;
use crate::strace::fields;
use crate::strace::format::Format;
use crate::strace::leader::clock::Clock;
use crate::strace::leader::line_layout::layout_of;
use crate::strace::leader::{self, Leader, Pid};
use crate::strace::line_start::{
    self, NAME_MAX, begins_event, call_name, is_continuation, personality,
};
use crate::strace::parser::{Above, Grammar, Line, Owner, Parser};
use crate::strace::task_prefix::{self, Mark, Prefix};
use crate::strace::wrapped::Joined;
use crate::text::block::{BOM, Block, PAD};
use crate::text::colour;
use crate::text::prefix::Prefix as LinePrefix;
use crate::text::scan::structure;

impl Grammar {
    /// Parses `block` into `parsed`. If events turn out to be coloured, removes the colours from
    /// the block and parses it again.
    pub fn parse(&mut self, format: &Format, block: &mut Block, parsed: &mut Parsed) {
        let joined = match &format.wrap {
            Some(wrap) => wrap.join_lines(block, format.prefix.as_ref()),
            None => Vec::new(),
        };
        let coloured = self.run(format, block, parsed, &joined, &[]);
        if !coloured.is_empty() {
            let taken = colour::strip_lines(block, &coloured);
            self.run(format, block, parsed, &joined, &taken);
        }
    }

    /// Parses `block` once. Returns the lines that would be events without their colours. `taken`
    /// holds line numbers, and how many bytes of colours were removed from each; `joined` holds lines
    /// that were made of several.
    fn run(
        &mut self,
        format: &Format,
        block: &Block,
        parsed: &mut Parsed,
        joined: &[Joined],
        taken: &[(u32, u32)],
    ) -> Vec<(u32, usize, usize)> {
        structure(block.padded(), block.len(), &mut self.marks);
        let text = block.text();
        let marks = std::mem::take(&mut self.marks);
        parsed.reset(marks.feeds + 1);
        self.names.begin();
        self.errnos.begin();
        self.comms.begin();
        self.calls.clear();
        let utf8 = marks.ascii || simdutf8::basic::from_utf8(text).is_ok();
        let mut parser = Parser {
            grammar: self,
            format,
            text,
            padded: block.padded(),
            utf8,
            try_fast_path: utf8
                && format.layout == leader::COMMON_LAYOUT
                && format.times_calls
                && !format.merged
                && format.prefix.is_none()
                && !format.found
                && !format.terminal
                && joined.is_empty()
                && taken.is_empty(),
            last: block.last,
            parsed,
            line: 0,
            count: 0,
            start: 0,
            prefix: None,
            stamp: None,
            task: format.task,
            merge: Mark::None,
            bytes: 0,
            used: None,
            clock: Clock::new(format.time(), format.layout.delta),
            owner: Owner::Nobody,
            above: Above::Nothing,
            output: 0,
            table: false,
            odd: None,
            naming: None,
            frames: None,
            coloured: Vec::new(),
            joined: joined.iter(),
            taken: taken.iter(),
        };
        let mut start = 0;
        let mut first = None;
        let mut several = false;
        for &at in marks.positions() {
            let at = at as usize;
            if text[at] == b'\n' {
                parser.parse_line(start, at, first, several);
                start = at + 1;
                first = None;
                several = false;
            } else if first.is_none() {
                first = Some(at);
            } else {
                several = true;
            }
        }
        if start < text.len() {
            parser.parse_line(start, text.len(), first, several);
        }
        let coloured = parser.finish();
        self.marks = marks;
        coloured
    }
}

impl Parser<'_> {
    fn parse_line(
        &mut self,
        mut start: usize,
        mut end: usize,
        first: Option<usize>,
        several: bool,
    ) {
        let is_cut = end - start == self.format.cut;
        if self.try_fast_path
            && !is_cut
            && let Some(used) = self.fast_line(start, end, first.filter(|_| !several))
        {
            let bytes = (end - start) as u64 + u64::from(end < self.text.len());
            self.parsed.counts.add_line(used, bytes);
            self.line += 1;
            self.count += 1;
            return;
        }
        self.bytes = (end - start) as u64 + u64::from(end < self.text.len());
        if !self.taken.as_slice().is_empty() {
            self.count_taken();
        }
        let more = if self.joined.as_slice().is_empty() { 0 } else { self.count_joined() };
        self.used = Some(LineUse::Events);
        if self.text[start..].starts_with(BOM) {
            start += BOM.len();
        }
        self.start = start;
        if self.format.found {
            self.look_for_colours(start, end);
        }
        if let Some(prefix) = &self.format.prefix {
            start = self.skip_prefix(prefix, start, end);
        }
        if self.format.merged {
            start = self.take_prefix(start, end);
            if self.merge == Mark::Start {
                self.count += 1;
                return;
            }
        }
        if end > start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        if end > start && matches!(self.text[end - 1], b' ' | b'\t') {
            end = start + line_start::without_blanks(&self.text[start..end]).len();
        }
        if is_cut {
            end = start + cut::without_result(&self.text[start..end]).len();
        }
        let bytes = &self.text[start..end];
        let mark = if several { None } else { first };
        let known = match self.format.layout.leader(bytes) {
            Some(mut leader) => {
                leader.pid = leader.pid.or(self.task);
                self.event(&self.with_prefix(Line { start, end, mark, leader }))
            }
            None => false,
        };
        if !known && !self.odd_event(start, end) {
            self.non_call(start, end);
        }
        if let Some(used) = self.used {
            self.parsed.counts.add_line(used, self.bytes);
        }
        self.line += 1 + i64::from(more);
        self.count += 1;
    }

    /// Passes over what other programs put before the line. Returns where the line itself starts.
    #[cold]
    fn skip_prefix(&mut self, prefix: &LinePrefix, start: usize, end: usize) -> usize {
        let Some((n, time)) = prefix.read(&self.text[start..end]) else {
            (self.prefix, self.stamp) = (None, None);
            return start;
        };
        self.stamp = time.filter(|_| self.format.is_timed_by_prefix());
        self.parsed.oddities.prefixes += 1;
        let shown = self.text[start..start + n].trim_ascii();
        let from = start + n - self.text[start..start + n].trim_ascii_start().len();
        let varies = prefix.varies() && !shown.is_empty();
        self.prefix = varies.then_some((from, from + shown.len()));
        start + n
    }

    /// The line with its prefix as the first of the columns that are kept as text.
    #[inline]
    fn with_prefix(&self, line: Line) -> Line {
        match self.prefix {
            Some(prefix) => {
                let mut line = behind_prefix(prefix, line);
                line.leader.time = line.leader.time.or(self.stamp);
                line
            }
            None => line,
        }
    }

    /// Removes the prefix from a line of merged logs. Returns where the line itself starts.
    fn take_prefix(&mut self, start: usize, end: usize) -> usize {
        self.note_marked_start();
        let Some(prefix) = Prefix::parse(&self.text[start..end]) else { return start };
        self.merge = prefix.mark;
        if prefix.mark == Mark::Start {
            self.marked_start(prefix.pid, &self.text[start + task_prefix::PREFIX..end]);
            self.parsed.added += self.bytes;
            return end;
        }
        if self.task.replace(prefix.pid) != Some(prefix.pid) {
            // Continuation lines follow their event in the same log.
            self.owner = Owner::Nobody;
            self.above = Above::Nothing;
            self.table = false;
        }
        self.line = prefix.line as i64 - 1;
        let added = task_prefix::PREFIX as u64 + u64::from(prefix.mark == Mark::AddedFeed);
        self.bytes -= added;
        self.parsed.added += added;
        start + task_prefix::PREFIX
    }

    /// The start of a call whose line comes later. It is neither a line nor a row.
    fn marked_start(&mut self, pid: i32, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(entry) = task_prefix::entry(&self.format.layout, line) else { return };
        let head = fields::head(&line[entry.args], entry.sys, &mut self.parsed.side);
        let at = self.parsed.rows.len as u32;
        self.parsed.entries.push(CallEntry { at, tid: Some(pid), head, target: EntryTarget::Open });
    }

    /// Parses a line that has a leader. Returns `false` if no event follows the leader.
    #[inline]
    fn event(&mut self, line: &Line) -> bool {
        let rest = line.start + line.leader.next;
        match self.text.get(rest) {
            Some(b'<') => self.resumed(line, rest),
            Some(b'+') => self.exit(line, rest),
            Some(b'-') => self.signal(line, rest),
            Some(b'?') => {
                let n = self.text[rest..line.end].iter().take_while(|&&b| b == b'?').count();
                (3..=NAME_MAX).contains(&n)
                    && self.text.get(rest + n) == Some(&b'(')
                    && self.call(line, rest, n)
            }
            Some(_) if rest < line.end => {
                match call_name(&self.padded[PAD + rest..PAD + line.end + 8]) {
                    Some(n) => self.call(line, rest, n),
                    None => self.foreign_call(line, rest),
                }
            }
            _ => false,
        }
    }

    /// A call with the name of its personality, `linux:read(…)`.
    #[cold]
    fn foreign_call(&mut self, line: &Line, rest: usize) -> bool {
        let rest = rest + personality(&self.text[rest..line.end]);
        let name = call_name(&self.padded[PAD + rest..PAD + line.end + 8]);
        name.is_some_and(|n| rest > line.start + line.leader.next && self.call(line, rest, n))
    }

    /// A line whose layout is not that of the log: two logs in one file, or several runs. Accepts
    /// only what no other program would print.
    #[cold]
    fn odd_event(&mut self, start: usize, end: usize) -> bool {
        let bytes = &self.text[start..end];
        // A part of a line that was wrapped may look like a call.
        if is_continuation(bytes) || self.format.wrap.is_some() {
            return false;
        }
        self.parsed.detours += 1;
        let Some((mut layout, _)) = layout_of(bytes) else { return false };
        if self.task.is_some() && layout.pid == Pid::Bracket {
            layout.pid = Pid::File;
        }
        if layout == self.format.layout {
            return false;
        }
        let Some(mut leader) =
            layout.leader(bytes).filter(|found| begins_event(&bytes[found.next..]))
        else {
            return false;
        };
        leader.pid = leader.pid.or(self.task);
        self.odd = Some(layout);
        let known = self.event(&self.with_prefix(Line { start, end, mark: None, leader }));
        self.odd = None;
        self.parsed.oddities.relayouts += u64::from(known);
        known
    }

    /// On a terminal, program output without a line feed may precede a line of strace. Accepts only
    /// what no other program would print, and keeps the output in `extra`.
    pub(crate) fn event_after_output(&mut self, start: usize, end: usize) -> bool {
        if self.format.layout.pid != Pid::Bracket {
            return false;
        }
        let layout = self.format.layout;
        let bytes = &self.text[start..end];
        let Some((at, leader)) = foreign_text::leader_after_output(&layout, bytes) else {
            return false;
        };
        self.odd = Some(layout);
        let known = self.event(&Line { start: start + at, end, mark: None, leader });
        self.odd = None;
        if known {
            self.parsed.oddities.foreign += 1;
            let start = self.prefix.map_or(start, |prefix| prefix.0);
            match self.owner {
                Owner::Row(row) => self.extra(row, start, start + at),
                Owner::Call(call) => {
                    if let Some(open) = self.grammar.calls.at(call) {
                        open.extra.get_or_insert((start as u32, (start + at) as u32));
                    }
                }
                Owner::Nobody => {}
            }
        }
        known
    }
}

/// The line from its prefix on. The prefix is kept before the columns that are kept as text.
#[cold]
fn behind_prefix(prefix: (usize, usize), line: Line) -> Line {
    let Line { start, leader, .. } = line;
    let n = start - prefix.0;
    let moved = |range: (usize, usize)| (range.0 + n, range.1 + n);
    let own = (0, prefix.1 - prefix.0);
    let (context, extra) = match (leader.context, leader.extra) {
        (None, None) => (None, Some(own)),
        (None, Some(extra)) => (Some(own), Some(moved(extra))),
        // With what is between them.
        (Some(context), extra) => (Some((0, moved(context).1)), extra.map(moved)),
    };
    let comm = leader.comm.map(moved);
    let leader = Leader { context, extra, comm, next: leader.next + n, ..leader };
    Line { start: prefix.0, leader, ..line }
}
