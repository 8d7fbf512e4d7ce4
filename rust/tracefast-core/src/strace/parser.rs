//! A block of strace's lines, one after the other.

use crate::events::dictionary::Interner;
use crate::events::line_counts::LineUse;
use crate::events::open_calls::OpenCalls;
use crate::events::parsed_block::Parsed;
use crate::events::rows::RowClock;
use crate::events::rows::ViewSource;
use crate::events::schema::Column as C;
use crate::events::split_calls::{CallEntry, Deferred, EntryTarget, PidPrefix};
use crate::events::vocabulary::EventKind;
use crate::strace::call::foreign_text;
use crate::strace::colour;
use crate::strace::detect::{NAME_MAX, begins_event, call_name};
use crate::strace::fields::{self};
use crate::strace::leader;
use crate::strace::leader::clock::Clock;
use crate::strace::leader::line_layout::{self, layout_of};
use crate::strace::leader::{Delta, Layout, Leader, Pid, Time};
use crate::strace::task_prefix::{self, Mark, Prefix};
use crate::strace::{Format, is_continuation};
use crate::text::block::{Block, PAD};
use crate::text::escape::{escape_invalid, unescape_into};
use crate::text::scan::{Marks, structure};
use crate::text::string_view::{Place, pack_padded};

/// What a worker keeps from block to block: nothing that changes results, only memory and names.
#[derive(Debug, Default)]
pub struct Grammar {
    marks: Marks,
    pub(crate) names: Interner,
    pub(crate) errnos: Interner,
    comms: Interner,
    pub(crate) calls: OpenCalls,
}

impl Grammar {
    /// Parses `block` into `parsed`. Colours are taken out of the block's text.
    pub fn parse(&mut self, format: &Format, block: &mut Block, parsed: &mut Parsed) {
        let coloured = self.run(format, block, parsed, &[]);
        if !coloured.is_empty() {
            let taken = colour::strip_lines(block, &coloured);
            self.run(format, block, parsed, &taken);
        }
    }

    /// Parses `block`; returns the lines that are events but for their colours. `taken`: bytes that
    /// were taken out of lines before, by the line's number.
    fn run(
        &mut self,
        format: &Format,
        block: &Block,
        parsed: &mut Parsed,
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
            usual: utf8
                && format.layout == leader::USUAL
                && format.times_calls
                && !format.merged
                && !format.terminal
                && taken.is_empty(),
            last: block.last,
            parsed,
            line: 0,
            count: 0,
            task: format.task,
            merge: Mark::None,
            bytes: 0,
            used: None,
            clock: Clock::new(&format.layout),
            owner: Owner::Nobody,
            above: Above::Nothing,
            table: false,
            odd: None,
            naming: None,
            frames: None,
            coloured: Vec::new(),
            taken: taken.iter(),
        };
        let mut start = 0;
        let mut first = None;
        let mut several = false;
        for &at in &marks.at {
            let at = at as usize;
            if text[at] == b'\n' {
                parser.line(start, at, first, several);
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
            parser.line(start, text.len(), first, several);
        }
        let coloured = parser.finish();
        self.marks = marks;
        coloured
    }
}

/// Whom a continuation line belongs to.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Nobody,
    Row(usize),
    Call(u32),
}

/// What the lines above left open for one without a leader. A line that stands alone ends it, so
/// that it never reaches from block to block.
#[derive(Clone, Copy)]
pub(crate) enum Above {
    Nothing,
    /// The call at this place among the open ones. Versions 5.2 to 6.1 write the second half of a
    /// call without a leader when they select calls by status.
    Call(u32),
    /// The same; but its text was torn and ends where it ends, and some lines were no rest of it.
    Torn(u32, u8),
    /// A call whose result could not be read: the `) = ?` of 4.20 may follow.
    Unavailable,
}

pub(crate) struct Parser<'a> {
    pub(crate) grammar: &'a mut Grammar,
    pub(crate) format: &'a Format,
    pub(crate) text: &'a [u8],
    pub(crate) padded: &'a [u8],
    pub(crate) utf8: bool,
    /// Lines may have the usual shape.
    usual: bool,
    pub(crate) last: bool,
    pub(crate) parsed: &'a mut Parsed,
    /// Number of the line, from the block's begin; of merged logs, from that of the task's log.
    pub(crate) line: i64,
    /// Lines of the block before.
    pub(crate) count: u32,
    /// The task that the file is named after from which the line comes.
    pub(crate) task: Option<i32>,
    /// What the line at hand of a merged log is.
    merge: Mark,
    /// Bytes of the line at hand, its line feed included.
    pub(crate) bytes: u64,
    /// What the line at hand is used for; `None`: the serial stage says.
    pub(crate) used: Option<LineUse>,
    pub(crate) clock: Clock,
    pub(crate) owner: Owner,
    pub(crate) above: Above,
    /// A table has begun.
    pub(crate) table: bool,
    /// Columns of the line at hand, if they are others than those of the log.
    pub(crate) odd: Option<Layout>,
    /// How the line before named its task, in a log without a column of pids.
    naming: Option<PidPrefix>,
    /// Lines that belong to a row and are not in it yet.
    pub(crate) frames: Option<(usize, (usize, usize))>,
    /// Lines that are events but for their colours.
    pub(crate) coloured: Vec<(u32, usize, usize)>,
    taken: std::slice::Iter<'a, (u32, u32)>,
}

/// A line at hand: the whole of it is `text[start..end]`.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Second blank of the only ` = `.
    pub(crate) mark: Option<usize>,
    pub(crate) leader: Leader,
}

impl<'a> Parser<'a> {
    fn line(&mut self, mut start: usize, mut end: usize, first: Option<usize>, several: bool) {
        if self.usual
            && let Some(used) = self.usual_line(start, end, first.filter(|_| !several))
        {
            let bytes = (end - start) as u64 + u64::from(end < self.text.len());
            self.parsed.counts.see(used, bytes);
            self.line += 1;
            self.count += 1;
            return;
        }
        self.bytes = (end - start) as u64 + u64::from(end < self.text.len());
        self.used = Some(LineUse::Events);
        if self.format.merged {
            start = self.own(start, end);
            if self.merge == Mark::Begin {
                self.count += 1;
                return;
            }
        }
        if end > start && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        let bytes = &self.text[start..end];
        let mark = if several { None } else { first };
        let known = match self.format.layout.leader(bytes) {
            Some(mut leader) => {
                leader.pid = leader.pid.or(self.task);
                self.event(&Line { start, end, mark, leader })
            }
            None => false,
        };
        if !known && !self.odd_event(start, end) {
            self.other(start, end);
        }
        if !self.taken.as_slice().is_empty() {
            self.count_taken();
        }
        if let Some(used) = self.used {
            self.parsed.counts.see(used, self.bytes);
        }
        self.line += 1;
        self.count += 1;
    }

    /// Takes the prefix off a line of merged logs; returns where the line itself begins.
    fn own(&mut self, start: usize, end: usize) -> usize {
        self.end_marked();
        let Some(prefix) = Prefix::read(&self.text[start..end]) else { return start };
        self.merge = prefix.mark;
        if prefix.mark == Mark::Begin {
            self.begin_marked(prefix.pid, &self.text[start + task_prefix::PREFIX..end]);
            self.parsed.added += self.bytes;
            return end;
        }
        if self.task.replace(prefix.pid) != Some(prefix.pid) {
            // What belongs to the line above stands in the same log.
            self.owner = Owner::Nobody;
            self.above = Above::Nothing;
            self.table = false;
        }
        self.line = prefix.line as i64 - 1;
        let added = task_prefix::PREFIX as u64 + u64::from(prefix.mark == Mark::Fed);
        self.bytes -= added;
        self.parsed.added += added;
        start + task_prefix::PREFIX
    }

    /// The begin of a call whose line comes later: neither a line nor a row.
    fn begin_marked(&mut self, pid: i32, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(entry) = task_prefix::entry(&self.format.layout, line) else { return };
        let head = fields::head(&line[entry.args], entry.sys, &mut self.parsed.side);
        let at = self.parsed.rows.len as u32;
        self.parsed.entries.push(CallEntry { at, tid: Some(pid), head, target: EntryTarget::Open });
    }

    /// The row of the line before is that of a call whose begin was marked.
    fn end_marked(&mut self) {
        let rows = &mut self.parsed.rows;
        if std::mem::take(&mut self.merge) == Mark::End
            && let Some(row) = rows.len.checked_sub(1)
            && rows.kind[row] == EventKind::Syscall as u8
        {
            rows.effect[row].begun = true;
        }
    }

    /// The log ends within this line.
    pub(crate) fn is_cut(&self, line: &Line) -> bool {
        if self.format.merged {
            self.merge == Mark::Fed
        } else {
            self.last && line.end == self.text.len()
        }
    }

    /// Colours were part of the line, too.
    #[cold]
    fn count_taken(&mut self) {
        if let Some(&&(line, bytes)) = self.taken.as_slice().first().as_ref()
            && line == self.count
        {
            self.bytes += u64::from(bytes);
            self.taken.next();
        }
    }

    /// An event is certain: the line's own time, on the block's clock.
    #[inline]
    pub(crate) fn enter(&mut self, line: &Line) -> Option<i64> {
        self.above = Above::Nothing;
        self.table = false;
        if self.format.layout.pid == Pid::Bracket {
            self.name_tasks(line.leader.pid.is_some());
        }
        if self.odd.is_some() {
            return self.odd_time(line);
        }
        let time = line.leader.time?;
        if self.format.merged && self.format.layout.time == Time::None {
            // A delta counts from the line before of any task: here that is not the one above.
            return None;
        }
        Some(self.clock.read(time, &mut self.parsed.oddities))
    }

    /// The time of a line with other columns.
    #[cold]
    fn odd_time(&mut self, line: &Line) -> Option<i64> {
        let time = line.leader.time?;
        Some(match self.row_clock() {
            RowClock::Log => self.clock.read(time, &mut self.parsed.oddities),
            RowClock::Other => time,
            RowClock::OtherDelta => {
                self.parsed.other_elapsed = self.parsed.other_elapsed.wrapping_add(time);
                self.parsed.other_elapsed
            }
        })
    }

    /// The clock of the line's time.
    pub(crate) fn row_clock(&self) -> RowClock {
        let clock = |layout: &Layout| {
            (layout.time, layout.time == Time::None && layout.delta == Delta::Plain)
        };
        match &self.odd {
            Some(own) if clock(own) != clock(&self.format.layout) => {
                if own.time == Time::None {
                    RowClock::OtherDelta
                } else {
                    RowClock::Other
                }
            }
            _ => RowClock::Log,
        }
    }

    /// Lines with and without a pid take turns as tasks come and go; under which name a task's
    /// calls are open, only the serial stage can tell then.
    #[inline]
    fn name_tasks(&mut self, named: bool) {
        let prefix = if named { PidPrefix::Present } else { PidPrefix::Absent };
        if self.naming != Some(prefix) {
            self.naming = Some(prefix);
            self.grammar.calls.flush(self.parsed);
            let at = self.parsed.spot();
            self.parsed.deferred.push(Deferred::PidPrefix { prefix, at });
        }
    }

    /// A line with a leader. `false`: no event stands behind it.
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

    /// A call behind the name of a system, `linux:read(…)`.
    #[cold]
    fn foreign_call(&mut self, line: &Line, rest: usize) -> bool {
        let rest = rest + line_layout::personality(&self.text[rest..line.end]);
        let name = call_name(&self.padded[PAD + rest..PAD + line.end + 8]);
        name.is_some_and(|n| rest > line.start + line.leader.next && self.call(line, rest, n))
    }

    /// A line with other columns than the log has at its start: two logs in one file, or several
    /// runs. Only what is surely of strace counts.
    #[cold]
    fn odd_event(&mut self, start: usize, end: usize) -> bool {
        let bytes = &self.text[start..end];
        if is_continuation(bytes) {
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
        let known = self.event(&Line { start, end, mark: None, leader });
        self.odd = None;
        self.parsed.oddities.relayouts += u64::from(known);
        known
    }

    /// On a terminal, output of the program that ends without a line feed may stand before a line
    /// of strace. Only what is surely of strace counts; the output is kept beside it.
    pub(crate) fn behind_output(&mut self, start: usize, end: usize) -> bool {
        if self.format.layout.pid != Pid::Bracket {
            return false;
        }
        let layout = self.format.layout;
        let bytes = &self.text[start..end];
        let Some((at, leader)) = foreign_text::leader_behind(&layout, bytes) else { return false };
        self.odd = Some(layout);
        let known = self.event(&Line { start: start + at, end, mark: None, leader });
        self.odd = None;
        if known {
            self.parsed.oddities.foreign += 1;
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

    pub(crate) fn comm(&mut self, line: &Line) -> Option<u32> {
        let (start, end) = line.leader.comm?;
        let raw = &self.text[line.start + start..line.start + end];
        let plain;
        let name = if memchr::memchr(b'\\', raw).is_some() {
            let mut out = Vec::new();
            unescape_into(raw, &mut out);
            plain = out;
            &plain
        } else {
            raw
        };
        Some(self.grammar.comms.key(name, &mut self.parsed.comms, |_| 0).0)
    }

    /// Leader's columns of a new row.
    #[inline]
    pub(crate) fn row(&mut self, line: &Line, ts: Option<i64>) -> usize {
        let row = self.parsed.rows.push();
        let mut valid = C::Line.bit();
        if let Some(pid) = line.leader.pid {
            self.parsed.rows.tid[row] = pid;
            valid |= C::Tid.bit();
        }
        if let Some(ts) = ts {
            self.parsed.rows.ts[row] = ts;
            valid |= C::Ts.bit();
        }
        if let Some(comm) = self.comm(line) {
            self.parsed.rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        if let Some(columns) = self.kept_columns(line) {
            self.parsed.rows.extra[row] = columns;
            valid |= C::Extra.bit();
        }
        if self.odd.is_some() {
            self.parsed.rows.effect[row].clock = self.row_clock();
        }
        self.parsed.rows.line[row] = self.line;
        self.parsed.rows.valid[row] = valid;
        self.owner = Owner::Row(row);
        row
    }

    /// The view of the leader's columns that are kept as they are.
    #[inline]
    pub(crate) fn kept_columns(&mut self, line: &Line) -> Option<u128> {
        let (start, end) = line.leader.extra?;
        let range = (line.start + start, line.start + end);
        Some(match line.leader.context {
            Some((from, to)) => self.columns((line.start + from, line.start + to), range),
            None => self.view(range.0, range.1),
        })
    }

    /// The view of two ranges with a blank between them.
    #[cold]
    pub(crate) fn columns(&mut self, first: (usize, usize), second: (usize, usize)) -> u128 {
        let mut both = escape_invalid(&self.text[first.0..first.1]).into_owned();
        both.push(' ');
        both.push_str(&escape_invalid(&self.text[second.0..second.1]));
        self.parsed.side.put(both.as_bytes())
    }

    #[inline]
    pub(crate) fn view(&mut self, start: usize, end: usize) -> u128 {
        if self.utf8 {
            return pack_padded(self.padded, PAD + start, end - start, Place::Text, start);
        }
        self.source(0, self.text.len()).view(start, end, &mut self.parsed.side)
    }

    pub(crate) fn source(&self, start: usize, end: usize) -> ViewSource<'a> {
        ViewSource {
            bytes: &self.text[start..end],
            place: Place::Text,
            base: start,
            utf8: self.utf8,
        }
    }

    fn finish(mut self) -> Vec<(u32, usize, usize)> {
        self.end_marked();
        self.put_frames();
        (self.parsed.elapsed, self.parsed.span) = self.clock.end();
        self.grammar.calls.flush(self.parsed);
        self.coloured
    }
}
