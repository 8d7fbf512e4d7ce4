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
use crate::strace::Format;
use crate::strace::leader::clock::Clock;
use crate::strace::leader::{Delta, Layout, Leader, Pid, Time};
use crate::strace::task_prefix::Mark;
use crate::text::block::PAD;
use crate::text::escape::{escape_invalid, unescape_into};
use crate::text::scan::Marks;
use crate::text::string_view::{Place, pack_padded};

/// What a worker keeps from block to block: nothing that changes results, only memory and names.
#[derive(Debug, Default)]
pub struct Grammar {
    pub(crate) marks: Marks,
    pub(crate) names: Interner,
    pub(crate) errnos: Interner,
    pub(crate) comms: Interner,
    pub(crate) calls: OpenCalls,
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
    pub(crate) try_fast_path: bool,
    pub(crate) last: bool,
    pub(crate) parsed: &'a mut Parsed,
    /// Number of the line, from the block's begin; of merged logs, from that of the task's log.
    pub(crate) line: i64,
    /// Lines of the block before.
    pub(crate) count: u32,
    /// The task that the file is named after from which the line comes.
    pub(crate) task: Option<i32>,
    /// What the line at hand of a merged log is.
    pub(crate) merge: Mark,
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
    pub(crate) naming: Option<PidPrefix>,
    /// Lines that belong to a row and are not in it yet.
    pub(crate) frames: Option<(usize, (usize, usize))>,
    /// Lines that are events but for their colours.
    pub(crate) coloured: Vec<(u32, usize, usize)>,
    pub(crate) taken: std::slice::Iter<'a, (u32, u32)>,
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
    /// The row of the line before is that of a call whose begin was marked.
    pub(crate) fn note_marked_start(&mut self) {
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
            self.merge == Mark::AddedFeed
        } else {
            self.last && line.end == self.text.len()
        }
    }

    /// Colours were part of the line, too.
    #[cold]
    pub(crate) fn count_taken(&mut self) {
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

    pub(crate) fn finish(mut self) -> Vec<(u32, usize, usize)> {
        self.note_marked_start();
        self.put_frames();
        (self.parsed.elapsed, self.parsed.span) = self.clock.end();
        self.grammar.calls.flush(self.parsed);
        self.coloured
    }
}
