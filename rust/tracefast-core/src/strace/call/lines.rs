//! Lines of calls: whole ones, halves, and what is left of torn ones.

use memchr::memmem;

use crate::events::line_counts::LineUse;
use crate::events::open_calls::{self, FirstHalf};
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::SecondHalf;
use crate::events::split_calls::{Deferred, EntryTarget, LossReason, OpenCall, TraceChange};
use crate::events::vocabulary::{EventKind, Op, Status};
use crate::linux::syscalls::{self, Count};
use crate::strace::call::result::ResultStatus;
use crate::strace::call::row::{self, errno_name, success};
use crate::strace::call::{ending, foreign_text};
use crate::strace::detect::is_length;
use crate::strace::fields;
use crate::strace::leader::line_layout;
use crate::strace::leader::{Leader, Pid};
use crate::strace::parser::{Above, Line, Owner, Parser};
use crate::text::block::TextRange;
use crate::text::number;
use crate::text::search::find;

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
            (whole && !is_killed(&bytes[..end])).then_some((end, outcome))
        });
        if let Some((end, outcome)) = plain {
            self.complete(line, (name, name_len), (args, end), &outcome, None);
            return true;
        }
        if self.odd.is_some() && !line_layout::is_call(&text[name..name + name_len]) {
            return false;
        }
        if is_killed(&bytes[args..]) {
            let mut end = line.end - 17;
            if self.format.layout.pid == Pid::Bracket
                && foreign_text::writes(&text[name..name + name_len])
                && let Some(output) = foreign_text::output_start(&text[args..end])
            {
                end = args + output;
                self.parsed.oddities.foreign += 1;
            }
            self.begin(line, (name, name_len), (args, end), line.leader.pid);
            return true;
        }
        if let Some(ending) = ending::ending(&bytes[args..]) {
            self.detour();
            let range = (args, args + ending.args);
            if let Some(outcome) = ending.outcome {
                let outcome = row::shift(outcome, args);
                self.complete(line, (name, name_len), range, &outcome, ending.status);
            } else {
                self.ended(line, (name, name_len), range, ending.status);
                if ending.status == Some(Status::Unavailable) {
                    self.above = Above::Unavailable;
                }
            }
            return true;
        }
        if let Some((end, pid)) = pid_changed(&bytes[args..]) {
            // The thread goes on under its leader's id.
            self.detour();
            self.begin(line, (name, name_len), (args, args + end), Some(pid));
            return true;
        }
        let torn = self.odd.is_none() && self.torn(line, (name, name_len), args);
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
        (key, if sys == ODD { syscalls::UNKNOWN } else { sys })
    }

    /// A call whose end is on this line.
    #[inline]
    fn complete(
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
        row::outcome(self.parsed, row, source, outcome, errno, sys);
        if let Some(status) = status {
            self.parsed.rows.status[row] = status as u8;
        }
        if outcome.status == ResultStatus::Unavailable {
            // Up to 4.6 in place of the arguments, too.
            let cut = self.text[args.0..args.1].strip_suffix(b" <unavailable>");
            args.1 = cut.map_or(args.1, |cut| args.0 + cut.len());
        }
        self.arguments(row, key, sys, args, success(outcome));
        row::settle(self.parsed, row, outcome, &self.text[..line.end]);
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
    fn ended(
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
    fn arguments(
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

    /// The task does something: a call of its that is still open never ended.
    #[inline]
    pub(crate) fn touch(&mut self, tid: Option<i32>, lost: LossReason) {
        if let Some(open) = self.grammar.calls.touch(tid, self.parsed, lost) {
            self.abandoned(&open, open.lost(lost));
        }
    }

    /// The row of a call that began in this block and does not end.
    fn abandoned(&mut self, open: &OpenCall, status: Status) {
        let row = self.parsed.rows.push();
        self.parsed.entries[open.begin as usize].target = EntryTarget::Row(row as u32);
        self.head(row, open);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = status as u8;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit();
        let start = open.args.0 as usize;
        let mut args = (start, open.args.1 as usize);
        if open.torn || status == Status::Unfinished {
            args.1 = start + ending::cut_args(&self.text[args.0..args.1]);
        }
        self.arguments(row, open.name, open.sys, args, None);
        self.parsed.rows.effect[row].begun = true;
    }

    /// What the first half of a call says, in the row of the whole.
    pub(crate) fn head(&mut self, row: usize, open: &OpenCall) {
        let rows = &mut self.parsed.rows;
        let mut valid = C::Line.bit() | C::Name.bit();
        rows.line[row] = open.line;
        rows.name[row] = open.name;
        rows.effect[row].clock = open.clock;
        if let Some(tid) = open.tid {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(ts) = open.ts {
            rows.ts[row] = ts;
            valid |= C::Ts.bit();
        }
        if let Some(comm) = open.comm {
            rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        rows.valid[row] |= valid;
        let wide = |(start, end): TextRange| (start as usize, end as usize);
        if let (Some(context), Some(extra)) = (open.context, open.extra) {
            self.parsed.rows.extra[row] = self.columns(wide(context), wide(extra));
            self.parsed.rows.valid[row] |= C::Extra.bit();
        } else if let Some((start, end)) = open.extra.map(wide) {
            self.extra(row, start, end);
        }
        if let Some((start, end)) = open.frames.map(wide) {
            self.extra(row, start, end);
        }
    }

    pub(crate) fn begin(
        &mut self,
        line: &Line,
        name: (usize, usize),
        args: (usize, usize),
        under: Option<i32>,
    ) {
        let key = self.name(name);
        self.begin_known(line, key, args, under);
    }

    /// The same, of a call by its key and number.
    #[inline]
    pub(crate) fn begin_known(
        &mut self,
        line: &Line,
        (name, sys): (u32, u16),
        args: (usize, usize),
        under: Option<i32>,
    ) {
        let ts = self.enter(line);
        self.touch(line.leader.pid, LossReason::Elsewhere);
        if under != line.leader.pid {
            self.touch(under, LossReason::Superseded);
        }
        let comm = self.comm(line);
        let at = line.start;
        let range = |(a, b): (usize, usize)| ((at + a) as u32, (at + b) as u32);
        let open = OpenCall {
            tid: line.leader.pid,
            line: self.line,
            ts,
            clock: self.row_clock(),
            name,
            sys,
            comm,
            args: (args.0 as u32, args.1 as u32),
            extra: line.leader.extra.map(range),
            context: line.leader.context.map(range),
            head: fields::head(&self.text[args.0..args.1], sys, &mut self.parsed.side),
            ..OpenCall::default()
        };
        let at = self.grammar.calls.open(under, open, self.parsed);
        self.owner = Owner::Call(at);
        self.above = Above::Call(at);
    }

    /// `<... NAME resumed>` and what follows.
    pub(crate) fn resumed(&mut self, line: &Line, at: usize) -> bool {
        let bytes = &self.text[at..line.end];
        let Some(name) = bytes.strip_prefix(b"<... ") else { return false };
        let len = find(name, b" resumed>", 8).filter(|&len| is_length(len));
        let Some(len) = len else { return false };
        let rest = ((at + 5 + len + 9) as u32, line.end as u32);
        let ts = self.enter(line);
        let (key, sys) = self.name((at + 5, len));
        if line.mark.is_none() {
            self.look_for_colours(line.start, line.end);
        }
        if is_killed(&self.text[rest.0 as usize..line.end]) {
            self.more(line, (key, sys), (rest.0 as usize, line.end - 17), ts);
            return true;
        }
        if is_exec(&self.text[at + 5..at + 5 + len])
            && self.grammar.calls.of(line.leader.pid).is_none_or(|open| open.name != key)
        {
            // A thread that calls execve goes on under its leader's id, which may be all that the
            // log says of it: only the serial stage knows the calls of all threads.
            self.grammar.calls.flush(self.parsed);
        }
        // The columns that are kept are those of the first half.
        let second = Line { leader: Leader { extra: None, ..line.leader }, ..*line };
        match self.grammar.calls.resume(line.leader.pid) {
            FirstHalf::Open(open) => {
                let row = self.parsed.rows.push();
                self.parsed.entries[open.begin as usize].target = EntryTarget::Row(row as u32);
                self.head(row, &open);
                if let Some(tid) = line.leader.pid {
                    self.parsed.rows.tid[row] = tid;
                    let thread = open.tid.filter(|&thread| thread != tid).unwrap_or(0);
                    self.parsed.rows.effect[row].thread = thread;
                }
                self.exit_time(row, ts);
                self.used = Some(LineUse::Resumed);
                let head = &self.text[open.args.0 as usize..open.args.1 as usize];
                let whole = &self.text[rest.0 as usize..rest.1 as usize];
                let gap = whole.len() - ending::strip_gap(whole, self.format.gap).len();
                // The line's only ` = ` is the second half's.
                let from = rest.0 as usize + gap;
                let mark = line.mark.map(|mark| mark.checked_sub(from));
                let half = SecondHalf {
                    head: Some(head),
                    sys: open.sys,
                    entry: open.ts,
                    rest,
                    gap: true,
                    mark,
                    utf8: self.utf8,
                };
                crate::strace::finish(self.parsed, self.text, row, self.format, half);
                self.parsed.rows.effect[row].begun = true;
                self.owner = Owner::Row(row);
            }
            FirstHalf::Nothing => {
                let row = self.row(line, ts);
                self.parsed.rows.name[row] = key;
                self.parsed.rows.valid[row] |= C::Name.bit();
                let half = SecondHalf {
                    head: None,
                    sys,
                    entry: None,
                    rest,
                    gap: true,
                    mark: None,
                    utf8: false,
                };
                crate::strace::finish(self.parsed, self.text, row, self.format, half);
            }
            FirstHalf::Unknown => {
                // The first half, if any, is in a block before: that is for the serial stage.
                let row = self.row(&second, ts);
                self.used = None;
                self.parsed.rows.name[row] = key;
                self.parsed.rows.valid[row] |= C::Name.bit();
                let (tid, row, bytes) = (line.leader.pid, row as u32, self.bytes);
                let entries = self.parsed.entries.len() as u32;
                let columns = self.kept_columns(line);
                let touch =
                    Deferred::Resume { tid, row, entries, rest, sys, bytes, columns, lost: None };
                self.parsed.deferred.push(touch);
            }
        }
        true
    }

    /// A second half that is marked as unfinished: another task came between once more.
    fn more(
        &mut self,
        line: &Line,
        (name, sys): (u32, u16),
        args: (usize, usize),
        ts: Option<i64>,
    ) {
        // The parts of the arguments stand apart: only the serial stage has them as one text.
        self.grammar.calls.flush(self.parsed);
        let whole = &self.text[args.0..args.1];
        let gap = whole.len() - ending::strip_gap(whole, self.format.gap).len();
        let mut open = OpenCall {
            tid: line.leader.pid,
            line: self.line,
            ts,
            clock: self.row_clock(),
            name,
            sys,
            comm: self.comm(line),
            args: ((args.0 + gap) as u32, args.1 as u32),
            headless: true,
            ..OpenCall::default()
        };
        open_calls::begin(&mut open, self.parsed);
        self.used = None;
        let (tid, bytes) = (line.leader.pid, self.bytes);
        self.parsed.deferred.push(Deferred::Continue { tid, open, bytes });
        self.owner = Owner::Nobody;
    }

    /// Until the halves are joined, the row's time is that of the exit.
    fn exit_time(&mut self, row: usize, ts: Option<i64>) {
        let rows = &mut self.parsed.rows;
        match ts {
            Some(ts) => {
                rows.ts[row] = ts;
                rows.valid[row] |= C::Ts.bit();
            }
            None => rows.valid[row] &= !C::Ts.bit(),
        }
    }
}

/// What stands for the number of a call whose name is odd: it is read at the complete way.
pub(crate) const ODD: u16 = syscalls::UNKNOWN - 1;

/// The number of a call, or [`ODD`].
fn number_of(name: &[u8]) -> u16 {
    match syscalls::by_name(name) {
        syscalls::UNKNOWN if !name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') => ODD,
        known => known,
    }
}

/// A call that other threads of its group do not survive.
pub(crate) fn is_exec(name: &[u8]) -> bool {
    matches!(name, b"execve" | b"execveat")
}

/// The text ends with the mark of a call that is not finished.
#[inline]
fn is_killed(text: &[u8]) -> bool {
    text.last() == Some(&b'>') && text.ends_with(b" <unfinished ...>")
}

/// `ARGS <pid changed to N ...>`: the length of the arguments, and N.
fn pid_changed(text: &[u8]) -> Option<(usize, i32)> {
    let body = text.strip_suffix(b" ...>")?;
    let at = memmem::rfind(body, b" <pid changed to ")?;
    let pid = number::whole_integer(&body[at + 17..])?;
    Some((at, i32::try_from(pid).ok()?))
}
