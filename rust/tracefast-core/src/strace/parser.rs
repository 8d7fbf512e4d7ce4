//! The state between the lines of a block, and what lines of all kinds write into rows.

use crate::events::dictionary::Interner;
use crate::events::line_counts::LineUse;
use crate::events::open_calls::OpenCalls;
use crate::events::parsed_block::Parsed;
use crate::events::rows::RowClock;
use crate::events::rows::ViewSource;
use crate::events::schema::Column as C;
use crate::events::split_calls::{Deferred, PidPrefix};
use crate::events::vocabulary::EventKind;
use crate::strace::format::Format;
use crate::strace::leader::clock::Clock;
use crate::strace::leader::{Delta, Layout, Leader, Pid, Time};
use crate::strace::task_prefix::Mark;
use crate::strace::wrapped::Joined;
use crate::text::block::PAD;
use crate::text::escape::{escape_invalid, unescape_into};
use crate::text::scan::Marks;
use crate::text::string_view::{Place, pack_padded};

/// What a worker keeps from block to block. It holds memory and names, and does not change results.
#[derive(Debug, Default)]
pub struct Grammar {
    pub(crate) marks: Marks,
    pub(crate) names: Interner,
    pub(crate) errnos: Interner,
    pub(crate) comms: Interner,
    pub(crate) calls: OpenCalls,
}

/// What a continuation line belongs to.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Nobody,
    Row(usize),
    Call(u32),
}

/// What the lines above left open for a line without a leader. A line that is certainly the start
/// of an event ends it, so it never reaches into the next block.
#[derive(Clone, Copy)]
pub(crate) enum Above {
    Nothing,
    /// The open call with this index. strace 5.2 to 6.1 prints the second half of a call without a
    /// leader when it selects calls by status (`-e status=`).
    Call(u32),
    /// The same, for a call whose line was cut short by other text. The number counts the lines
    /// since that looked like the rest of the call and were not.
    Torn(u32, u8),
    /// A call without a readable result. strace 4.20 may print `) = ?` on the next line.
    Unavailable,
}

pub(crate) struct Parser<'a> {
    pub(crate) grammar: &'a mut Grammar,
    pub(crate) format: &'a Format,
    pub(crate) text: &'a [u8],
    pub(crate) padded: &'a [u8],
    pub(crate) utf8: bool,
    /// Whether the layout of the log allows the fast path.
    pub(crate) try_fast_path: bool,
    pub(crate) last: bool,
    pub(crate) parsed: &'a mut Parsed,
    /// Line number, relative to the start of the block; in merged logs the number in the task's own
    /// log.
    pub(crate) line: i64,
    /// Number of lines of this block that were parsed.
    pub(crate) count: u32,
    /// Where the current line starts, with its prefix.
    pub(crate) start: usize,
    /// The prefix of this line, if it differs from line to line.
    pub(crate) prefix: Option<(usize, usize)>,
    /// The time in the prefix of this line, if lines have no other times.
    pub(crate) stamp: Option<i64>,
    /// The task that the log file of this line is named after.
    pub(crate) task: Option<i32>,
    /// The mark in the prefix of this line, in merged logs.
    pub(crate) merge: Mark,
    /// Bytes of this line, with its line feed.
    pub(crate) bytes: u64,
    /// What this line is counted as; `None` if only the serial stage knows.
    pub(crate) used: Option<LineUse>,
    pub(crate) clock: Clock,
    pub(crate) owner: Owner,
    pub(crate) above: Above,
    /// How many bytes of what a call writes may be on the lines that follow, before its rest.
    pub(crate) output: usize,
    /// Whether the lines above are part of a summary table.
    pub(crate) table: bool,
    /// The layout of this line, if it is not that of the log.
    pub(crate) odd: Option<Layout>,
    /// How the previous event named its task, in a log without a pid column.
    pub(crate) naming: Option<PidPrefix>,
    /// Continuation lines of a row that are not in its `extra` yet.
    pub(crate) frames: Option<(usize, (usize, usize))>,
    /// Lines that would be events without their colours: number, start, end.
    pub(crate) coloured: Vec<(u32, usize, usize)>,
    /// Lines that were made of several.
    pub(crate) joined: std::slice::Iter<'a, Joined>,
    pub(crate) taken: std::slice::Iter<'a, (u32, u32)>,
}

/// The line that is being parsed, `text[start..end]`.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Position of the second blank of the ` = `, if the line has only one.
    pub(crate) mark: Option<usize>,
    pub(crate) leader: Leader,
}

impl<'a> Parser<'a> {
    /// Notes on the last row that its start was marked (see [`crate::strace::task_prefix`]).
    pub(crate) fn note_marked_start(&mut self) {
        let rows = &mut self.parsed.rows;
        if std::mem::take(&mut self.merge) == Mark::End
            && let Some(row) = rows.len.checked_sub(1)
            && rows.kind[row] == EventKind::Syscall as u8
        {
            rows.effect[row].begun = true;
        }
    }

    /// Whether the log ends inside this line.
    pub(crate) fn is_cut(&self, line: &Line) -> bool {
        if self.format.merged {
            self.merge == Mark::AddedFeed
        } else {
            self.last && line.end == self.text.len()
        }
    }

    /// Counts the colours that were removed from this line among its bytes.
    #[cold]
    pub(crate) fn count_taken(&mut self) {
        if let Some(&&(line, bytes)) = self.taken.as_slice().first().as_ref()
            && line == self.count
        {
            self.bytes += u64::from(bytes);
            self.taken.next();
        }
    }

    /// Counts the lines that were joined to this one. Returns how many they are.
    #[cold]
    pub(crate) fn count_joined(&mut self) -> u32 {
        let Some(&joined) = self.joined.as_slice().first() else { return 0 };
        if joined.line != self.count {
            return 0;
        }
        self.joined.next();
        self.bytes = self.bytes.wrapping_add_signed(joined.bytes.into());
        self.parsed.oddities.wrapped += u64::from(joined.lines);
        for _ in 0..joined.lines {
            self.parsed.counts.add_line(LineUse::Continuation, 0);
        }
        joined.lines
    }

    /// Called once a line is known to be an event. Returns its time on the clock of the block.
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
            // A delta counts from the previous line of the same log, which is not the line above
            // here.
            return None;
        }
        Some(self.clock.read(time, &mut self.parsed.oddities))
    }

    /// The time of a line whose layout is not that of the log.
    #[cold]
    pub(crate) fn odd_time(&mut self, line: &Line) -> Option<i64> {
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

    /// The clock that the time of this line belongs to.
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

    /// strace prints `[pid N]` only while it traces several tasks, so the same task may show with
    /// and without its pid. Only the serial stage knows under which of the two a call is open.
    #[inline]
    pub(crate) fn name_tasks(&mut self, named: bool) {
        let prefix = if named { PidPrefix::Present } else { PidPrefix::Absent };
        if self.naming != Some(prefix) {
            self.naming = Some(prefix);
            self.grammar.calls.flush(self.parsed);
            let at = self.parsed.position();
            self.parsed.deferred.push(Deferred::PidPrefix { prefix, at });
        }
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

    /// Adds a row with the columns of the leader.
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

    /// The leader columns that are kept as text: context, call number, instruction pointer.
    #[inline]
    pub(crate) fn kept_columns(&mut self, line: &Line) -> Option<u128> {
        let (start, end) = line.leader.extra?;
        let range = (line.start + start, line.start + end);
        Some(match line.leader.context {
            Some((from, to)) => self.columns((line.start + from, line.start + to), range),
            None => self.view(range.0, range.1),
        })
    }

    /// The text of two ranges with a blank between them.
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

    pub(crate) fn finish(mut self) -> Vec<(u32, usize, usize)> {
        self.note_marked_start();
        self.put_frames();
        (self.parsed.elapsed, self.parsed.span) = self.clock.end();
        self.grammar.calls.flush(self.parsed);
        self.coloured
    }
}
