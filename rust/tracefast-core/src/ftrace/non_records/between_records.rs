//! Lines that are not a record: parts of a name with line feeds, text that goes on, frames of
//! stacks, notes of lost records, headers.

use std::borrow::Cow;

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::Deferred;
use crate::events::vocabulary::EventKind;
use crate::ftrace::decode;
use crate::ftrace::format::Graph;
use crate::ftrace::header::layouts::default;
use crate::ftrace::header::{Header, Layout, layouts};
use crate::ftrace::non_records::classify::{self, NonRecord, is_continuation};
use crate::ftrace::non_records::open_text::OpenText;
use crate::ftrace::non_records::stacks::StackOwner;
use crate::ftrace::parser::Parser;
use crate::ftrace::pending::{ContinuedText, LineOwner, NamePieces, PageLine, StackFrames};
use crate::ftrace::scan::Span;
use crate::ftrace::wrapper::Wrap;
use crate::text::block::OWN_START;
use crate::text::escape::escape_invalid;

/// How many numbers of a marker are tried as the pid of the record after it. This bounds the work.
const NEXT: usize = 64;

impl Parser<'_> {
    /// A line that is not, or not by itself, a record.
    #[cold]
    pub(crate) fn odd(&mut self, start: usize, end: usize, header: Option<Header>) {
        if self.pieces.is_none() {
            self.pieces = self.begins_name(start);
            if self.pieces.is_some() {
                self.record_line = self.line;
            }
        }
        let Some(pieces) = self.pieces else {
            return match header {
                // Not aligned, as the log's names usually are.
                Some(header) => {
                    self.record_line = self.line;
                    self.record(start, end, &header);
                }
                None => self.other(start, end),
            };
        };
        if start < pieces.last {
            self.used = Some(LineUse::Continuation);
            return;
        }
        let width = usize::from(self.format.width);
        let dash = width.saturating_sub(start - pieces.start);
        if let Some(header) = layouts::at(&self.text[start..end], self.format.layout, dash) {
            self.record(start, end, &header);
        }
        self.pieces = None;
    }

    /// Whether the line at `start` is the first part of a command's name with line feeds: it and
    /// the lines after it up to a record's `-PID` are as wide as the column of names.
    fn begins_name(&self, start: usize) -> Option<NamePieces> {
        let width = usize::from(self.format.width);
        if self.format.wrap != Wrap::None || width == 0 {
            return None;
        }
        // The names of commands are shorter than the column of all but `latency-format`.
        if self.format.layout == Layout::Default && self.text.get(start) != Some(&b' ') {
            return None;
        }
        let end = (start + width).min(self.text.len());
        for feed in memchr::memchr_iter(b'\n', &self.text[start..end]) {
            let last = start + feed + 1;
            let line = &self.text[last..(last + OWN_START).min(self.text.len())];
            let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if layouts::at(line, self.format.layout, width).is_some() {
                // A separate record, whatever its name looks like.
                return None;
            }
            if layouts::at(line, self.format.layout, width - feed - 1).is_some() {
                return Some(NamePieces { start, last });
            }
        }
        None
    }

    /// The record that follows a marker's text on its own line: a NUL in what was written takes
    /// away the line feed. Its columns are aligned as in all records.
    pub(crate) fn next_record(&self, text: Span) -> Option<(usize, Header)> {
        let width = usize::from(self.format.width);
        if width == 0 {
            return None;
        }
        let line = &self.text[text.0..text.1];
        let mut pids = memchr::memchr_iter(b'-', line)
            .filter(|&dash| line.get(dash + 1).is_some_and(u8::is_ascii_digit));
        pids.by_ref().take(NEXT).find_map(|dash| {
            let column = dash.checked_sub(width)?;
            let header = layouts::at(&line[column..], self.format.layout, width)?;
            Some((text.0 + column, header))
        })
    }

    /// A line without a record.
    fn other(&mut self, start: usize, end: usize) {
        // In a log with such lines they were tried first.
        if self.format.graph == Graph::No && self.graph(start, end) {
            return;
        }
        let line = &self.text[start..end];
        if is_continuation(line) && self.frame((start, end)) {
            self.used = Some(LineUse::Continuation);
            return;
        }
        // Whatever is before the columns: a record's end is no text of another.
        let shaped = default::has_columns(line);
        let known = if shaped { NonRecord::Unknown } else { classify::classify(line) };
        if known == NonRecord::Blank {
            // Text may have empty lines in it.
            self.used = Some(LineUse::Blank);
            return;
        }
        let text = !shaped && matches!(known, NonRecord::Unknown | NonRecord::Comment);
        if text && self.goes_on(start, end) {
            self.used = Some(LineUse::Continuation);
            return;
        }
        self.flush_lines();
        // Continuation lines come directly after their record: blocks are cut by this rule.
        self.owner = None;
        if [&b"# tracer: "[..], b"cpus=", b"##### CPU "].iter().any(|head| line.starts_with(head)) {
            // Another log starts, or the remaining records of a processor: it may have done
            // anything before.
            self.parted(None);
        }
        match known {
            NonRecord::Lost { cpu, count } => self.lost((start, end), cpu, count),
            NonRecord::Unknown => match self.format.wrap {
                Wrap::None | Wrap::Prefix(_) => self.unparsed((start, end)),
                Wrap::Page => self.between((start, end)),
                Wrap::KernelLog => self.used = Some(LineUse::Message),
            },
            NonRecord::Blank | NonRecord::Header | NonRecord::Comment => {
                self.used = Some(LineUse::Header);
            }
        }
    }

    /// Unless the text is of an event whose fields are known, and has all of them.
    fn may_go_on(&self, owner: LineOwner, text: Span) -> bool {
        let StackOwner::Row(row) = owner.target else { return true };
        let rows = &self.parsed.rows;
        self.more.is_some() || !rows.has(row, C::Name) || {
            let name = &self.parsed.names[rows.name[row] as usize];
            !decode::is_whole(name, &String::from_utf8_lossy(&self.text[text.0..text.1]))
        }
    }

    /// The line belongs to the text of the record before it, which has line feeds in it.
    fn goes_on(&mut self, start: usize, end: usize) -> bool {
        let line = &self.text[start..end];
        let Some(owner) = self.owner.filter(|_| self.frames.is_none()) else { return false };
        let Some(text) = owner.text else { return false };
        let state = self.more.map_or_else(
            || OpenText::default().with(&self.text[text.0..text.1]),
            |more| more.state,
        );
        let goes_on = owner.free || (state.open && self.may_go_on(owner, text));
        if !goes_on || is_interrupt(line) {
            return false;
        }
        let cut = is_cut(line, self.format.width.into()) || default::is_cut(line);
        let foreign = match self.format.wrap {
            _ if cut => true,
            Wrap::None | Wrap::Prefix(_) => false,
            Wrap::Page => line.trim_ascii_start().starts_with(b"<") || line.ends_with(b"\";"),
            // Each line has the prefix of the kernel's log: its owner is unknown.
            Wrap::KernelLog => true,
        };
        if let StackOwner::Row(row) = owner.target
            && !foreign
        {
            // Empty lines may come before this one.
            let state = if owner.free { state } else { state.with(line) };
            let closed = owner.comment && line.ends_with(b" */");
            let end = if closed { end - 3 } else { end };
            self.more = Some(ContinuedText { row, text: (text.0, end), state });
            if closed {
                self.owner = None;
            }
            return true;
        }
        false
    }

    fn lost(&mut self, line: Span, cpu: Option<u16>, count: Option<i64>) {
        self.take_between();
        let args = self.view(line);
        let name = self.static_key(b"lost");
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        rows.kind[row] = EventKind::Lost as u8;
        rows.name[row] = name;
        rows.args[row] = args;
        rows.line[row] = self.line;
        let mut valid = C::Kind.bit() | C::Name.bit() | C::Args.bit() | C::Line.bit();
        if let Some(cpu) = cpu {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
            self.parted(Some(cpu));
        }
        let rows = &mut self.parsed.rows;
        if let Some(count) = count {
            rows.ret[row] = count;
            valid |= C::Ret.bit();
        }
        rows.valid[row] = valid;
    }

    /// What started before this line on the processor, or on any, does not end after it as far as
    /// the log shows.
    fn parted(&mut self, cpu: Option<u16>) {
        self.parsed.deferred.push(Deferred::RecordsLost { cpu, line: self.line });
        match self.lost.iter_mut().find(|lost| lost.0 == cpu) {
            Some(lost) => lost.1 = self.line,
            None => self.lost.push((cpu, self.line)),
        }
    }

    /// A line of a page: part of the trace if there are records before and after it.
    fn between(&mut self, text: Span) {
        // A block starts with a record, but for the first one.
        if !self.begun {
            self.used = Some(LineUse::Header);
            return;
        }
        self.between.push(PageLine { text, line: self.line, bytes: self.bytes });
        self.used = None;
    }

    /// A record follows what is between records of a page.
    #[inline]
    pub(crate) fn take_between(&mut self) {
        self.begun = true;
        if !self.between.is_empty() {
            self.put_between();
        }
    }

    #[inline(never)]
    fn put_between(&mut self) {
        let (line, used) = (self.line, self.used);
        for between in std::mem::take(&mut self.between) {
            self.line = between.line;
            self.unparsed(between.text);
            self.parsed.counts.add_line(LineUse::Unparsed, between.bytes);
        }
        (self.line, self.used) = (line, used);
    }

    /// The end of a block: if it is not the log's, a record follows.
    pub(crate) fn end_between(&mut self) {
        if !self.last {
            self.take_between();
        }
        for between in std::mem::take(&mut self.between) {
            self.parsed.counts.add_line(LineUse::Header, between.bytes);
        }
    }

    fn unparsed(&mut self, line: Span) {
        let args = self.view(line);
        let extra = self.prefix.map(|prefix| self.view(prefix));
        self.parsed.example(self.line, None, &self.text[line.0..line.1]);
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        rows.kind[row] = EventKind::Unparsed as u8;
        rows.args[row] = args;
        rows.line[row] = self.line;
        rows.valid[row] = C::Kind.bit() | C::Args.bit() | C::Line.bit();
        if let Some(extra) = extra {
            rows.extra[row] = extra;
            rows.valid[row] |= C::Extra.bit();
        }
        self.used = Some(LineUse::Unparsed);
    }

    /// A frame of a stack. `false` if there is no record that it could belong to.
    fn frame(&mut self, line: Span) -> bool {
        let Some(owner) = self.owner.filter(|owner| owner.frames && self.more.is_none()) else {
            return false;
        };
        let start = self.frames.map_or(line.0, |frames| frames.text.0);
        self.frames = Some(StackFrames { target: owner.target, text: (start, line.1) });
        true
    }

    /// Frames can be put there: of an open call only those of two stacks, the kernel's and the
    /// program's.
    pub(crate) fn takes_frames(&mut self, target: StackOwner) -> bool {
        match target {
            StackOwner::Row(_) => true,
            StackOwner::Call(at) => {
                self.grammar.calls.at(at).is_some_and(|open| open.more_frames.is_none())
            }
        }
    }

    /// Puts what was collected into the row that it belongs to.
    #[inline]
    pub(crate) fn flush_lines(&mut self) {
        if self.frames.is_some() || self.more.is_some() || self.task_event.is_some() {
            self.put_lines();
        }
    }

    #[inline(never)]
    fn put_lines(&mut self) {
        if let Some(frames) = self.frames.take() {
            match frames.target {
                StackOwner::Row(row) => self.put_frames(row, frames.text),
                StackOwner::Call(at) => {
                    let text = (frames.text.0 as u32, frames.text.1 as u32);
                    if let Some(open) = self.grammar.calls.at(at) {
                        let second = open.frames.is_some();
                        *(if second { &mut open.more_frames } else { &mut open.frames }) =
                            Some(text);
                    }
                }
            }
        }
        let mut end = 0;
        if let Some(more) = self.more.take() {
            let view = self.view_lines(more.text);
            self.parsed.rows.args[more.row] = view;
            end = more.text.1;
        }
        if let Some(task_event) = self.task_event.take() {
            self.finish_task_event(task_event, end);
        }
    }

    /// The view of several lines, without what other programs put around each.
    fn view_lines(&mut self, lines: Span) -> u128 {
        match self.format.own_lines(&self.text[lines.0..lines.1]) {
            Cow::Borrowed(_) => self.view(lines),
            Cow::Owned(own) => self.parsed.side.put(escape_invalid(&own).as_bytes()),
        }
    }

    /// Frames follow the row's flags.
    pub(crate) fn put_frames(&mut self, row: usize, frames: Span) {
        let flags = self.parsed.rows.extra[row];
        let view = if self.parsed.rows.has(row, C::Extra) {
            let mut joined = std::mem::take(&mut self.parsed.scratch);
            joined.clear();
            let Parsed { side, .. } = &mut *self.parsed;
            joined.extend_from_slice(crate::text::string_view::unpack(
                &flags,
                self.text,
                &side.bytes,
            ));
            joined.push(b'\n');
            let frames = self.format.own_lines(&self.text[frames.0..frames.1]);
            joined.extend_from_slice(escape_invalid(&frames).as_bytes());
            let view = side.put(&joined);
            self.parsed.scratch = joined;
            view
        } else {
            self.view_lines(frames)
        };
        self.parsed.rows.extra[row] = view;
        self.parsed.rows.valid[row] |= C::Extra.bit();
    }
}

/// What a terminal shows when a reader of `trace_pipe` is stopped, before the next prompt.
fn is_interrupt(line: &[u8]) -> bool {
    line.starts_with(b"^C")
}

/// The line starts as a record does, with a name in its column and a pid: its end is missing.
fn is_cut(line: &[u8], width: usize) -> bool {
    let Some(pid) = line.get(width..).and_then(|text| text.strip_prefix(b"-")) else {
        return false;
    };
    let digits = pid.iter().take_while(|b| b.is_ascii_digit()).count();
    width > 0 && digits > 0 && matches!(pid.get(digits), None | Some(b' '))
}
