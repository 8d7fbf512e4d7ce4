//! Lines of calls: whole ones, halves, and what is left of torn ones.

use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::{Deferred, LossReason, TraceChange};
use crate::events::vocabulary::{EventKind, Op, Status};
use crate::linux::syscalls::{self, Count};
use crate::strace::call::result::ResultStatus;
use crate::strace::call::row::{self, errno_name, success};
use crate::strace::call::split::{is_unfinished, pid_changed};
use crate::strace::call::{ending, foreign_text};
use crate::strace::fields;
use crate::strace::leader::Pid;
use crate::strace::line_start::is_call;
use crate::strace::parser::{Above, Line, Parser};

impl Parser<'_> {
    pub(crate) fn call(&mut self, line: &Line, name: usize, name_len: usize) -> bool {
        let text = self.text;
        let args = name + name_len + 1;
        let bytes = &text[..line.end];
        let timed = self.format.times_calls;
        // A whole line has its true ` = ` once, behind `)` and blanks.
        let plain = line.mark.and_then(|mark| {
            let end = ending::plain_end(bytes, mark).filter(|&end| end >= args)?;
            let outcome = crate::strace::call::result::parse(bytes, mark + 1)?;
            // In a log with times a whole line ends with one; in others an open string shows.
            let whole = if self.format.terminal {
                // Anything may have been written into the line.
                Self::is_whole(&text[name..name + name_len], &bytes[args..=end])
            } else if timed {
                outcome.dur.is_some() || outcome.ret.is_none()
            } else {
                !Self::may_be_open(&bytes[args..end])
                    // Up to 4.21 a name may hold a bracket as it is.
                    || crate::strace::call::arguments::in_annotation(&bytes[args..end])
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
            // The thread goes on under its leader's id.
            self.detour();
            self.start_call(line, (name, name_len), (args, args + end), Some(pid));
            return true;
        }
        let torn = self.odd.is_none() && self.torn_call(line, (name, name_len), args);
        self.parsed.detours += u64::from(torn);
        torn
    }

    /// The call at hand is read byte by byte. Lines with columns of their own are counted as such.
    #[cold]
    fn detour(&mut self) {
        self.parsed.detours += u64::from(self.odd.is_none());
    }

    /// The `)` at the end of `args` is that of the call, or output of the program stands before it.
    fn is_whole(name: &[u8], args: &[u8]) -> bool {
        let end = args.len() - 1;
        crate::strace::call::arguments::args_end(args, 0) == Some(end)
            || foreign_text::writes(name) && foreign_text::output_start(&args[..end]).is_some()
    }

    /// The arguments hold a quote that is not closed.
    fn may_be_open(args: &[u8]) -> bool {
        memchr::memchr(b'"', args).is_some() && !crate::strace::call::arguments::closed(args)
    }

    pub(crate) fn name(&mut self, name: (usize, usize)) -> (u32, u16) {
        let raw = &self.text[name.0..name.0 + name.1];
        let (key, sys) = self.grammar.names.key(raw, &mut self.parsed.names, number_of);
        (key, if sys == ODD_NAME { syscalls::UNKNOWN } else { sys })
    }

    /// A call whose end is on this line.
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
            // Up to 4.6 in place of the arguments, too.
            let cut = self.text[args.0..args.1].strip_suffix(b" <unavailable>");
            args.1 = cut.map_or(args.1, |cut| args.0 + cut.len());
        }
        self.arguments(row, key, sys, args, success(outcome));
        row::apply_result(self.parsed, row, outcome, &self.text[..line.end]);
        if self.format.terminal {
            self.on_terminal(row, line, name, (key, sys), args, success(outcome));
        }
    }

    /// A whole call of a log that may have been written to a terminal.
    fn on_terminal(
        &mut self,
        row: usize,
        line: &Line,
        name: (usize, usize),
        (key, sys): (u32, u16),
        args: (usize, usize),
        ret: Option<i64>,
    ) {
        let rows = &self.parsed.rows;
        if rows.effect[row].op == Op::ExitCall {
            self.parsed.deferred.push(Deferred::Trace(TraceChange::Exiting(line.leader.pid)));
            return;
        }
        // Output without a line feed stands before the `)` of its own call.
        let odd = syscalls::shape(sys).count != Count::None && !rows.has(row, C::Requested);
        if odd
            && foreign_text::writes(&self.text[name.0..name.0 + name.1])
            && let Some(output) = foreign_text::output_start(&self.text[args.0..args.1])
        {
            self.parsed.oddities.foreign += 1;
            self.arguments(row, key, sys, (args.0, args.0 + output), ret);
        }
    }

    /// A call that ends here without a result.
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
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = status.unwrap_or(Status::Truncated) as u8;
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

/// What stands for the number of a call whose name is odd: it is read at the complete way.
pub(crate) const ODD_NAME: u16 = syscalls::UNKNOWN - 1;

/// The number of a call, or [`ODD_NAME`].
fn number_of(name: &[u8]) -> u16 {
    match syscalls::by_name(name) {
        syscalls::UNKNOWN if !name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') => {
            ODD_NAME
        }
        known => known,
    }
}
