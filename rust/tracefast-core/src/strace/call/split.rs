//! Calls in two halves, `<unfinished ...>` and `<... NAME resumed>`.

use memchr::memmem;

use crate::events::line_counts::LineUse;
use crate::events::open_calls::{self, FirstHalf};
use crate::events::schema::Column as C;
use crate::events::split_calls::{Deferred, EntryTarget, LossReason, OpenCall, SecondHalf};
use crate::events::vocabulary::{EventKind, Status};
use crate::linux::syscalls::{Classes, classes_of};
use crate::strace::call::ending;
use crate::strace::call::row;
use crate::strace::fields;
use crate::strace::leader::Leader;
use crate::strace::line_start::is_length;
use crate::strace::parser::{Above, Line, Owner, Parser};
use crate::text::block::TextRange;
use crate::text::number;
use crate::text::search::find;

impl Parser<'_> {
    /// The task does something else: if it has a call open, that call never ended.
    #[inline]
    pub(crate) fn touch(&mut self, tid: Option<i32>, lost: LossReason) {
        if let Some(open) = self.grammar.calls.touch(tid, self.parsed, lost) {
            self.write_abandoned(&open, open.status_if_lost(lost));
        }
    }

    /// Writes the row of a call that started in this block and never ends.
    fn write_abandoned(&mut self, open: &OpenCall, status: Status) {
        let row = self.parsed.rows.push();
        self.parsed.oddities.add_call(status);
        self.parsed.entries[open.entry as usize].target = EntryTarget::Row(row as u32);
        self.write_first_half(row, open);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = status as u8;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit();
        let (start, end) = (open.args.0 as usize, open.args.1 as usize);
        let all = &self.text[start..end];
        let end = start + ending::cut_args(all);
        let known = if open.partial { ending::known_args(all) } else { end - start };
        self.arguments(row, open.name, open.sys, (start, start + known), None);
        if known < end - start {
            fields::forget_ends(&mut self.parsed.rows, row, open.sys);
            self.parsed.rows.args[row] = self.view(start, end);
        }
        self.parsed.rows.effect[row].begun = true;
    }

    /// Writes what the first half of a call says into the row of the call.
    pub(crate) fn write_first_half(&mut self, row: usize, open: &OpenCall) {
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

    pub(crate) fn start_call(
        &mut self,
        line: &Line,
        name: (usize, usize),
        args: (usize, usize),
        under: Option<i32>,
    ) {
        let key = self.name(name);
        self.open_call(line, key, args, under);
    }

    /// The same, for a call whose name is in the dictionary already.
    #[inline]
    pub(crate) fn open_call(
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

    /// Parses `<... NAME resumed>` and what follows.
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
        if is_unfinished(&self.text[rest.0 as usize..line.end]) {
            self.resumed_unfinished(line, (key, sys), (rest.0 as usize, line.end - 17), ts);
            return true;
        }
        if is_exec(&self.text[at + 5..at + 5 + len])
            && self.grammar.calls.get(line.leader.pid).is_none_or(|open| open.name != key)
        {
            // A thread that calls execve continues under the id of its leader (`de_thread` in
            // `fs/exec.c` of the kernel), and the log may show nothing else of that. Only the
            // serial stage knows the calls of all threads.
            self.grammar.calls.flush(self.parsed);
        }
        // The row keeps the columns of the first half.
        let second = Line { leader: Leader { extra: None, ..line.leader }, ..*line };
        match self.grammar.calls.resume(line.leader.pid) {
            FirstHalf::Open(open) => {
                let row = self.parsed.rows.push();
                self.parsed.entries[open.entry as usize].target = EntryTarget::Row(row as u32);
                self.write_first_half(row, &open);
                if let Some(tid) = line.leader.pid {
                    self.parsed.rows.tid[row] = tid;
                    // The first half may have none.
                    self.parsed.rows.valid[row] |= C::Tid.bit();
                    let thread = open.tid.filter(|&thread| thread != tid).unwrap_or(0);
                    self.parsed.rows.effect[row].thread = thread;
                }
                self.exit_time(row, ts);
                self.used = Some(LineUse::Resumed);
                let head = &self.text[open.args.0 as usize..open.args.1 as usize];
                let whole = &self.text[rest.0 as usize..rest.1 as usize];
                let gap = whole.len() - ending::strip_gap(whole, self.format.gap).len();
                // The line's only ` = ` belongs to the second half.
                let from = rest.0 as usize + gap;
                let mark = line.mark.map(|mark| mark.checked_sub(from));
                let half = SecondHalf {
                    head: Some(head),
                    partial: open.partial,
                    sys: open.sys,
                    entry: open.ts,
                    rest,
                    gap: true,
                    mark,
                    utf8: self.utf8,
                };
                row::finish(self.parsed, self.text, row, self.format, half);
                self.parsed.rows.effect[row].begun = true;
                self.owner = Owner::Row(row);
            }
            FirstHalf::Nothing => {
                let row = self.row(line, ts);
                self.parsed.rows.name[row] = key;
                self.parsed.rows.valid[row] |= C::Name.bit();
                let half = SecondHalf::alone(sys, rest);
                row::finish(self.parsed, self.text, row, self.format, half);
            }
            FirstHalf::Unknown => {
                // The first half, if there is one, is in an earlier block: the serial stage finds
                // it.
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

    /// A second half that ends with `<unfinished ...>`: another task interrupted the call again.
    fn resumed_unfinished(
        &mut self,
        line: &Line,
        (name, sys): (u32, u16),
        args: (usize, usize),
        ts: Option<i64>,
    ) {
        // The arguments are in several places: only the serial stage joins them.
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
        open_calls::record_entry(&mut open, self.parsed);
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

/// Whether the call ends the other threads of its process.
pub(crate) fn is_exec(name: &[u8]) -> bool {
    classes_of(name).has(Classes::EXECS)
}

/// Whether the text ends with the mark of an unfinished call.
#[inline]
pub(crate) fn is_unfinished(text: &[u8]) -> bool {
    text.last() == Some(&b'>') && text.ends_with(b" <unfinished ...>")
}

/// `ARGS <pid changed to N ...>` (`maybe_switch_tcbs` in `src/strace.c`): the length of the
/// arguments, and N.
pub(crate) fn pid_changed(text: &[u8]) -> Option<(usize, i32)> {
    let body = text.strip_suffix(b" ...>")?;
    let at = memmem::rfind(body, b" <pid changed to ")?;
    let pid = number::whole_integer(&body[at + 17..])?;
    Some((at, i32::try_from(pid).ok()?))
}
