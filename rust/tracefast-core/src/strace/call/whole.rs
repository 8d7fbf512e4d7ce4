//! Calls that start on a line: whole ones, first halves, and calls that are cut short.

use crate::events::details::Detail;
use crate::events::parsed_block::Parsed;
use crate::events::rows::NO_DETAIL;
use crate::events::schema::Column as C;
use crate::events::split_calls::{Deferred, LossReason, TraceChange};
use crate::events::vocabulary::{EventKind, Op, Status};
use crate::linux::syscalls::{self, Count};
use crate::strace::arguments::{args_end, closed, in_annotation};
use crate::strace::call::ending::Ending;
use crate::strace::call::result::ResultStatus;
use crate::strace::call::row::{self, errno_name, success};
use crate::strace::call::split::{is_unfinished, pid_changed};
use crate::strace::call::{ending, foreign_text};
use crate::strace::fields;
use crate::strace::leader::Pid;
use crate::strace::line_start::is_call;
use crate::strace::parser::{Above, Line, Owner, Parser};

impl Parser<'_> {
    pub(crate) fn call(&mut self, line: &Line, name: usize, name_len: usize) -> bool {
        let text = self.text;
        let args = name + name_len + 1;
        let bytes = &text[..line.end];
        let timed = self.format.times_calls;
        // The ` = ` of a whole call is the only one on its line and follows `)` and blanks.
        let plain = line.mark.and_then(|mark| {
            let end = ending::plain_end(bytes, mark).filter(|&end| end >= args)?;
            let outcome = crate::strace::call::result::parse(bytes, mark + 1)?;
            // In a log with durations a whole line ends with one; in others, check for an open
            // string.
            let whole = if self.format.terminal {
                // Other text may be anywhere in the line.
                Self::is_whole(&text[name..name + name_len], &bytes[args..=end])
            } else if timed {
                outcome.dur.is_some() || outcome.ret.is_none()
            } else {
                !Self::may_be_open(&bytes[args..end])
                    // Up to 4.21 a name may contain an unescaped bracket.
                    || in_annotation(&bytes[args..end])
            };
            (whole && !is_unfinished(&bytes[..end])).then_some((end, outcome))
        });
        if let Some((end, outcome)) = plain {
            self.complete_call(line, (name, name_len), (args, end), &outcome, None);
            return true;
        }
        if self.odd.is_some() && !is_call(&text[name..name + name_len]) {
            return false;
        }
        if is_unfinished(&bytes[args..]) {
            let mut end = line.end - 17;
            if self.format.layout.pid == Pid::Bracket
                && foreign_text::writes(&text[name..name + name_len])
                && let Some(output) = foreign_text::output_start(&text[args..end])
            {
                end = args + output;
                self.parsed.oddities.foreign += 1;
            }
            self.start_call(line, (name, name_len), (args, end), line.leader.pid);
            if end < line.end - 17
                && let Owner::Call(at) = self.owner
            {
                self.goes_into_log(at);
            }
            return true;
        }
        if let Some(ending) = ending::ending(&bytes[args..]) {
            self.detour();
            let range = (args, args + ending.args);
            if let Some(outcome) = ending.outcome {
                let outcome = row::shift_ranges(outcome, args);
                self.complete_call(line, (name, name_len), range, &outcome, ending.status);
            } else {
                self.call_without_result(line, (name, name_len), range, ending.status);
                if ending.status == Some(Status::Unavailable) {
                    self.above = Above::Unavailable;
                }
            }
            return true;
        }
        if let Some((end, pid)) = pid_changed(&bytes[args..]) {
            // The thread continues under the id of its leader.
            self.detour();
            self.start_call(line, (name, name_len), (args, args + end), Some(pid));
            return true;
        }
        if self.odd.is_none()
            && let Some(Ending { args: len, outcome: Some(outcome), status }) =
                ending::noted(&bytes[args..])
        {
            self.detour();
            let outcome = row::shift_ranges(outcome, args);
            self.complete_call(line, (name, name_len), (args, args + len), &outcome, status);
            if let Owner::Row(row) = self.owner {
                let (start, end) = outcome.note.unwrap_or_default();
                self.parsed.note(row, &self.text[start..end]);
                if start < end {
                    self.extra(row, start, end);
                }
            }
            return true;
        }
        let torn = self.odd.is_none() && self.torn_call(line, (name, name_len), args);
        self.parsed.detours += u64::from(torn);
        torn
    }

    /// Counts a call that is read byte by byte. Lines with a layout of their own are counted
    /// elsewhere.
    #[cold]
    fn detour(&mut self) {
        self.parsed.detours += u64::from(self.odd.is_none());
    }

    /// Whether the `)` at the end of `args` closes the call, possibly after output of the program.
    fn is_whole(name: &[u8], args: &[u8]) -> bool {
        let end = args.len() - 1;
        args_end(args, 0) == Some(end)
            || foreign_text::writes(name) && foreign_text::output_start(&args[..end]).is_some()
    }

    /// Whether the arguments hold a quote that is not closed.
    fn may_be_open(args: &[u8]) -> bool {
        memchr::memchr(b'"', args).is_some() && !closed(args)
    }

    pub(crate) fn name(&mut self, name: (usize, usize)) -> (u32, u16) {
        let raw = &self.text[name.0..name.0 + name.1];
        let (key, sys) = self.grammar.names.key(raw, &mut self.parsed.names, number_of);
        (key, if sys == ODD_NAME { syscalls::UNKNOWN } else { sys })
    }

    /// Writes the row of a call that ends on this line.
    #[inline]
    fn complete_call(
        &mut self,
        line: &Line,
        name: (usize, usize),
        mut args: (usize, usize),
        outcome: &crate::strace::call::result::Outcome,
        status: Option<Status>,
    ) {
        let ts = self.enter(line);
        self.touch(line.leader.pid, LossReason::Elsewhere);
        let (key, sys) = self.name(name);
        let row = self.row(line, ts);
        let source = self.source(0, line.end);
        let errno = errno_name(outcome, source.bytes)
            .map(|name| self.grammar.errnos.key(&name, &mut self.parsed.errnos, |_| 0).0);
        row::write_outcome(self.parsed, row, source, outcome, errno, sys);
        if let Some(status) = status {
            self.parsed.rows.status[row] = status as u8;
        }
        if outcome.status == ResultStatus::Unavailable {
            // Up to 4.6 it also replaces the arguments.
            let cut = self.text[args.0..args.1].strip_suffix(b" <unavailable>");
            args.1 = cut.map_or(args.1, |cut| args.0 + cut.len());
        }
        self.arguments(row, key, sys, args, success(outcome));
        row::apply_result(self.parsed, row, outcome, &self.text[..line.end]);
        let rows = &self.parsed.rows;
        if self.format.terminal && rows.effect[row].op == Op::ExitCall {
            self.parsed.deferred.push(Deferred::Trace(TraceChange::Exiting(line.leader.pid)));
        } else if !rows.has(row, C::Requested) && syscalls::shape(sys).count != Count::None {
            self.uncounted(row, name, (key, sys), args, success(outcome));
        }
    }

    /// Corrects the row of a whole call that does not show how much it asks for: output without a
    /// line feed comes before the `)` of the call that wrote it.
    #[cold]
    fn uncounted(
        &mut self,
        row: usize,
        name: (usize, usize),
        (key, sys): (u32, u16),
        args: (usize, usize),
        ret: Option<i64>,
    ) {
        if !foreign_text::writes(&self.text[name.0..name.0 + name.1]) {
            return;
        }
        let text = &self.text[args.0..args.1];
        if self.format.terminal
            && let Some(output) = foreign_text::output_start(text)
        {
            self.parsed.oddities.foreign += 1;
            self.arguments(row, key, sys, (args.0, args.0 + output), ret);
        } else if foreign_text::count_goes_on(text) != Some(true) {
            return;
        }
        let Parsed { rows, side, .. } = &mut *self.parsed;
        if rows.effect[row].detail == NO_DETAIL {
            rows.effect[row].detail = side.detail(Detail::IntoLog);
        }
    }

    /// Writes the row of a call that ends here without a result.
    fn call_without_result(
        &mut self,
        line: &Line,
        name: (usize, usize),
        args: (usize, usize),
        status: Option<Status>,
    ) {
        let ts = self.enter(line);
        self.touch(line.leader.pid, LossReason::Elsewhere);
        let (key, sys) = self.name(name);
        let row = self.row(line, ts);
        let status = status.unwrap_or(Status::Truncated);
        self.parsed.oddities.add_call(status);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = status as u8;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit();
        self.arguments(row, key, sys, args, None);
    }

    #[inline]
    pub(crate) fn arguments(
        &mut self,
        row: usize,
        key: u32,
        sys: u16,
        args: (usize, usize),
        ret: Option<i64>,
    ) {
        let view = self.view(args.0, args.1);
        let source = self.source(args.0, args.1);
        let Parsed { rows, side, .. } = &mut *self.parsed;
        rows.name[row] = key;
        rows.args[row] = view;
        rows.valid[row] |= C::Name.bit() | C::Args.bit();
        fields::fill(rows, side, row, source, sys, ret);
    }
}

/// Replaces the number of a call with an unusual name, to keep it off the fast path.
pub(crate) const ODD_NAME: u16 = syscalls::UNKNOWN - 1;

/// The number of a call, or [`ODD_NAME`].
fn number_of(name: &[u8]) -> u16 {
    match syscalls::by_printed_name(name) {
        syscalls::UNKNOWN if !name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') => {
            ODD_NAME
        }
        known => known,
    }
}
