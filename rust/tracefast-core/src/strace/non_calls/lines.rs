//! Lines that are not calls: exits, signals, tables, messages, continuation lines, and lines that
//! nothing else accepts.

use crate::events::line_counts::LineUse;
use crate::events::rows::AT_FDCWD;
use crate::events::schema::Column as C;
use crate::events::split_calls::{LossReason, TraceChange};
use crate::events::vocabulary::{EventKind, Op, Status, ring_flags};
use crate::linux::child_status;
use crate::strace::call::row;
use crate::strace::leader::Pid;
use crate::strace::leader::line_layout;
use crate::strace::line_start::is_continuation;
use crate::strace::line_start::is_length;
use crate::strace::non_calls::classify::{self, NonCall};
use crate::strace::parser::{Above, Line, Owner, Parser};
use crate::text::number;

impl Parser<'_> {
    /// Parses `+++ exited with 0 +++`, `+++ killed by SIGKILL +++` and `+++ superseded by execve in
    /// pid N +++` (`print_exited`, `print_signalled` and `maybe_switch_tcbs` in `src/strace.c`).
    pub(crate) fn exit(&mut self, line: &Line, at: usize) -> bool {
        let bytes = &self.text[at..line.end];
        let Some(body) = bytes.strip_prefix(b"+++ ").and_then(|b| b.strip_suffix(b" +++")) else {
            return false;
        };
        let tid = line.leader.pid;
        let (name, ret) = if let Some(status) = body.strip_prefix(b"exited with ") {
            // Always decimal, even with leading zeros.
            let (value, n) = number::digits(status);
            let Some(value) = i64::try_from(value).ok().filter(|_| n > 0 && n == status.len())
            else {
                return false;
            };
            ((at + 4, 6), Some(value))
        } else if let Some(signal) = body.strip_prefix(b"killed by ") {
            let len = signal.iter().position(|&b| b == b' ').unwrap_or(signal.len());
            if !is_signal(&signal[..len]) {
                return false;
            }
            ((at + 4 + 10, len), None)
        } else if body.starts_with(b"superseded by execve in pid ") {
            ((at + 4, 10), None)
        } else {
            return false;
        };
        let ts = self.enter(line);
        let superseded = body.starts_with(b"superseded");
        if superseded {
            let (by, _) = number::digits(&body[28..]);
            self.grammar.calls.superseded(tid, by as i32, self.parsed);
        } else {
            let killed = body.starts_with(b"killed");
            self.touch(tid, if killed { LossReason::Killed } else { LossReason::Elsewhere });
        }
        if self.format.layout.pid == Pid::Bracket {
            let gone =
                if superseded { i32::try_from(number::digits(&body[28..]).0).ok() } else { tid };
            self.push_trace_change(TraceChange::Ended(gone));
        }
        let (key, _) = self.name(name);
        let row = self.row(line, ts);
        let view = self.view(at + 4, line.end - 4);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Exit as u8;
        rows.status[row] = Status::Complete as u8;
        rows.name[row] = key;
        rows.args[row] = view;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit() | C::Name.bit() | C::Args.bit();
        if let Some(ret) = ret {
            rows.ret[row] = ret;
            rows.valid[row] |= C::Ret.bit();
        }
        rows.effect[row].op = if superseded { Op::Superseded } else { Op::Gone };
        if superseded {
            rows.effect[row].at = number::digits(&body[28..]).0 as i32;
        }
        true
    }

    /// Parses `--- SIGCHLD {…} ---` and the forms of older versions.
    pub(crate) fn signal(&mut self, line: &Line, at: usize) -> bool {
        let bytes = &self.text[at..line.end];
        let Some(body) = bytes.strip_prefix(b"--- ").and_then(|b| b.strip_suffix(b" ---")) else {
            return false;
        };
        let start = at + 4;
        // The name comes first, after `stopped by `, or within the siginfo (4.6).
        let (name_at, args_at) = if let Some(name) = body.strip_prefix(b"stopped by ") {
            (start + body.len() - name.len(), start)
        } else if body.starts_with(b"{si_signo=") {
            (start + 10, start)
        } else {
            let len = body.iter().position(|&b| b == b' ').unwrap_or(body.len());
            (start, start + (len + 1).min(body.len()))
        };
        let len = self.text[name_at..line.end]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        if !is_signal(&self.text[name_at..name_at + len]) {
            return false;
        }
        let ts = self.enter(line);
        let (key, _) = self.name((name_at, len));
        let row = self.row(line, ts);
        let view = self.view(args_at, line.end - 4);
        if &self.text[name_at..name_at + len] == b"SIGCHLD" {
            let siginfo = &self.text[args_at..line.end - 4];
            let impossible = child_status::has_impossible_cpu_time(siginfo);
            self.parsed.oddities.impossible_cpu_times += u64::from(impossible);
        }
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Signal as u8;
        rows.status[row] = Status::Complete as u8;
        rows.name[row] = key;
        rows.args[row] = view;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit() | C::Name.bit() | C::Args.bit();
        true
    }

    /// A line without an event.
    #[cold]
    pub(crate) fn non_call(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        if is_continuation(line) && !matches!(self.owner, Owner::Nobody) {
            self.continuation(start, end);
            return;
        }
        let alone = match &self.format.prefix {
            Some(_) => self.format.stands_alone(&self.text[self.start..end]),
            None => line_layout::stands_alone(line),
        };
        if alone {
            // A block may start here, so nothing before it may have an influence.
            self.above = Above::Nothing;
            self.output = 0;
            self.table = false;
            self.look_for_colours(self.start.min(start), end);
        }
        // No continuation line belongs to a table or a message.
        self.owner = Owner::Nobody;
        let leader = self.format.layout.leader(line).map_or(0, |leader| leader.next);
        match classify::classify(line, &line[leader..], self.table) {
            NonCall::Blank if self.output > 0 && self.is_output(end - start) => {}
            NonCall::Blank => self.used = Some(LineUse::Blank),
            NonCall::Message => {
                self.note_task_change(&line[leader..], None);
                self.used = Some(LineUse::Message);
            }
            _ if self.rest_of_open_call(start, end) => {}
            _ if self.output > 0 && self.is_output(end - start) => {}
            // A message that came before it has ended the call.
            _ if line == b" <detached ...>" => self.used = Some(LineUse::Message),
            NonCall::Summary { head } => {
                self.table |= head;
                self.used = Some(LineUse::Summary);
            }
            NonCall::Unknown if self.event_after_output(start, end) => {}
            NonCall::Unknown => self.unparsed(start, end),
        }
    }

    fn continuation(&mut self, start: usize, end: usize) {
        self.used = Some(LineUse::Continuation);
        match self.owner {
            // Such lines follow one another: one range holds them all and is copied once.
            Owner::Row(row) => match &mut self.frames {
                Some((owner, frames)) if *owner == row => frames.1 = end,
                _ => {
                    self.put_frames();
                    self.frames = Some((row, (start, end)));
                }
            },
            Owner::Call(at) => self.grammar.calls.extend(at, (start as u32, end as u32)),
            Owner::Nobody => {}
        }
    }

    pub(crate) fn put_frames(&mut self) {
        if let Some((row, (start, end))) = self.frames.take() {
            self.extra(row, start, end);
        }
    }

    /// Appends lines to the row's `extra`.
    pub(crate) fn extra(&mut self, row: usize, start: usize, end: usize) {
        let line = &self.text[start..end];
        let line = self.format.own_lines(line);
        row::add_extra(self.parsed, row, self.text, &line);
    }

    /// If the line is coloured, it may be an event without its colours.
    pub(crate) fn look_for_colours(&mut self, start: usize, end: usize) {
        let seen = self.coloured.last().is_some_and(|last| last.0 == self.count);
        if !seen && memchr::memchr(0x1b, &self.text[start..end]).is_some() {
            self.coloured.push((self.count, start, end));
        }
    }

    fn unparsed(&mut self, start: usize, end: usize) {
        let view = self.view(start, end);
        let prefix = self.prefix.map(|(start, end)| self.view(start, end));
        let task = self.task.filter(|_| self.format.merged);
        self.parsed.example(self.line, task, &self.text[start..end]);
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        rows.kind[row] = EventKind::Unparsed as u8;
        rows.args[row] = view;
        rows.line[row] = self.line;
        rows.valid[row] = C::Kind.bit() | C::Args.bit() | C::Line.bit();
        if let Some(extra) = prefix {
            rows.extra[row] = extra;
            rows.valid[row] |= C::Extra.bit();
        }
        if let Some(task) = self.task {
            rows.tid[row] = task;
            rows.valid[row] |= C::Tid.bit();
        }
        if is_like_call(&self.text[start..end]) {
            let tid = self.task.or_else(|| pid_at_start(&self.text[start..end]));
            let effect = &mut rows.effect[row];
            (effect.op, effect.flags) = (Op::Submit, ring_flags::DONE);
            effect.at = tid.unwrap_or(AT_FDCWD);
        }
        self.used = Some(LineUse::Unparsed);
    }
}

/// Whether the line has what calls have. Damage may hide what it did.
fn is_like_call(line: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    has(b"(") && (has(b" = ") || has(b"<unfinished ")) || has(b" resumed>")
}

/// The pid before the event: `20841 read(`, `[pid 20841] read(`.
fn pid_at_start(line: &[u8]) -> Option<i32> {
    let line = line.strip_prefix(b"[pid").map_or(line, <[u8]>::trim_ascii_start);
    let (pid, n) = number::digits(line);
    let alone = n > 0 && matches!(line.get(n), Some(b' ' | b']'));
    i32::try_from(pid).ok().filter(|_| alone)
}

/// Whether this is the name or number of a signal, as strace prints it.
fn is_signal(name: &[u8]) -> bool {
    let known = name.starts_with(b"SIG") || name.iter().all(u8::is_ascii_digit);
    known && is_length(name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::parsed_block::Parsed;
    use crate::strace::Grammar;
    use crate::text::block::Block;
    use crate::text::string_view::unpack;

    #[test]
    fn long_dumps_are_copied_once() {
        let dump = " | 00000  61 62 63                      abc |\n".repeat(5_000);
        let text = format!("7 read(3, \"abc\", 3) = 3\n{dump}7 close(3) = 0\n");
        let format = crate::strace::detect(text.as_bytes()).expect("a log of strace");
        let mut parsed = Parsed::default();
        let mut block = Block::from_text(text.as_bytes());
        Grammar::default().parse(&format, &mut block, &mut parsed);
        assert_eq!(parsed.counts.lines(LineUse::Continuation), 5_000);
        let extra = unpack(&parsed.rows.extra[0], text.as_bytes(), &parsed.side.bytes);
        assert_eq!(extra, dump.trim_end_matches('\n').as_bytes());
        assert!(!parsed.rows.has(1, C::Extra));
        assert!(parsed.side.bytes.len() < 2 * text.len(), "{}", parsed.side.bytes.len());
    }
}
