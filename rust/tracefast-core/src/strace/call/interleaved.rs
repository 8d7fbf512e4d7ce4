//! Calls that were cut short by other text: the part on their own line, and the rest on a later
//! one.

use crate::events::details::Detail;
use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::{
    Deferred, EntryTarget, LossReason, OpenCall, SecondHalf, TraceChange,
};
use crate::strace::arguments::in_annotation;
use crate::strace::call::{ending, foreign_text, row};
use crate::strace::leader::Pid;
use crate::strace::line_start::is_call;
use crate::strace::non_calls::message;
use crate::strace::parser::{Above, Line, Owner, Parser};

/// How many lines that look like the rest of a torn call, but are not, are tried before giving up.
const TRIES: u8 = 64;

impl Parser<'_> {
    /// Parses a call that neither ends on its line nor is marked as unfinished.
    #[cold]
    pub(crate) fn torn_call(&mut self, line: &Line, name: (usize, usize), args: usize) -> bool {
        let text = self.text;
        let bytes = &text[line.start..line.end];
        let called = &text[name.0..name.0 + name.1];
        self.look_for_colours(line.start, line.end);
        if let Some(at) = foreign_text::exit_after_call(&self.format.layout, bytes) {
            return self.exit_on_line_of_call(line, at);
        }
        self.output = 0;
        let mut into_log = false;
        let mut end = line.end;
        let message =
            foreign_text::message_start(bytes).map(|at| line.start + at).filter(|&at| at >= args);
        if let Some(at) = message {
            end = at;
            // The terminal echoes Ctrl-C.
            if text[args..end].ends_with(b"^C") {
                end -= 2;
                self.parsed.oddities.foreign += 1;
            }
        } else if line.leader.next == 0 && !is_call(called) {
            // Without any column before it, only a known name distinguishes a call from prose.
            return false;
        } else if self.format.wrap.is_some() && !self.is_cut(line) {
            // A line that was wrapped and could not be joined: what it says may end anywhere.
            return false;
        } else if foreign_text::writes(called) {
            if let Some(output) = foreign_text::output_start(&text[args..end]) {
                end = args + output;
                self.output = foreign_text::output_after(&text[args..line.end], output);
                self.parsed.oddities.foreign += 1;
                into_log = true;
            } else {
                // Output may start with a line feed, and `-s 0` shows none of it.
                into_log = foreign_text::count_goes_on(&text[args..end]).is_some();
            }
        }
        self.start_call(line, name, (args, end), line.leader.pid);
        if let Owner::Call(at) = self.owner {
            self.above = Above::Torn(at, 0);
            // The last line of the log may have been cut.
            let cut = self.is_cut(line);
            self.parsed.oddities.cut_ends += u64::from(cut);
            if let Some(open) = self.grammar.calls.at(at) {
                open.torn = !cut;
                open.partial = end == line.end;
            }
            if into_log && !cut {
                self.goes_into_log(at);
            }
        }
        if let Some(at) = message {
            self.note_task_change(&text[at..line.end], line.leader.pid);
        }
        true
    }

    /// The output of the call that was just opened at `at` is in the log.
    #[cold]
    pub(crate) fn goes_into_log(&mut self, at: u32) {
        let entry = self.grammar.calls.at(at).map(|open| open.entry as usize);
        let Parsed { entries, side, .. } = &mut *self.parsed;
        if let Some(entry) = entry.and_then(|entry| entries.get_mut(entry)) {
            entry.head.detail.get_or_insert_with(|| side.detail(Detail::IntoLog));
        }
    }

    /// Parses an exit that follows a call of the same task on one line. The text of the call goes
    /// to `extra`.
    fn exit_on_line_of_call(&mut self, line: &Line, at: usize) -> bool {
        let start = line.start + at;
        let Some(mut leader) = self.format.layout.leader(&self.text[start..line.end]) else {
            return false;
        };
        leader.pid = leader.pid.or(self.task);
        let event = start + leader.next;
        let rest = Line { start, mark: None, leader, ..*line };
        let known = self.exit(&rest, event);
        if known && let Owner::Row(row) = self.owner {
            self.extra(row, line.start, start);
        }
        known
    }

    /// Applies what a message of strace says about a task.
    pub(crate) fn note_task_change(&mut self, text: &[u8], own: Option<i32>) {
        if self.format.layout.pid == Pid::Bracket
            && let Some(change) = message::task_change(text)
        {
            match change {
                message::TaskChange::Attached(pid) => {
                    self.push_trace_change(TraceChange::Started(pid));
                }
                // The next line marks its open call as detached.
                message::TaskChange::Detached(pid) if Some(pid) == own => {
                    self.parsed.deferred.push(Deferred::Trace(TraceChange::Ended(Some(pid))));
                }
                message::TaskChange::Detached(pid) => {
                    if matches!(self.above, Above::Nothing) {
                        // The call of lines without a pid may be that task's: only the serial
                        // stage knows whose it is.
                        self.grammar.calls.forget(None, self.parsed);
                    }
                    self.touch(Some(pid), LossReason::Detached);
                    self.push_trace_change(TraceChange::Ended(Some(pid)));
                }
            }
        }
    }

    /// Notes that strace starts or stops tracing a task.
    pub(crate) fn push_trace_change(&mut self, change: TraceChange) {
        self.parsed.deferred.push(Deferred::Trace(change));
        if let TraceChange::Ended(tid) = change {
            self.grammar.calls.forget(tid, self.parsed);
        }
    }

    /// Tries to read a line without a leader as the rest of an open call.
    pub(crate) fn rest_of_open_call(&mut self, start: usize, end: usize) -> bool {
        let line = &self.text[start..end];
        let (at, tries) = match self.above {
            Above::Nothing => return false,
            Above::Unavailable => {
                self.above = Above::Nothing;
                let result = line.first() == Some(&b')') && ending::result_after(line, 0).is_some();
                if result {
                    self.used = Some(LineUse::Continuation);
                }
                return result;
            }
            Above::Call(at) => (at, None),
            Above::Torn(at, tries) => (at, Some(tries)),
        };
        let Some(open) = self.grammar.calls.at(at) else {
            self.above = Above::Nothing;
            return false;
        };
        let head = (open.args.0 as usize, open.args.1 as usize);
        let name = open.name;
        // Up to 4.9, a path in an annotation may contain an unescaped line feed.
        let split_path = tries.is_some()
            && start == self.after(head.1)
            && in_annotation(&self.text[head.0..head.1]);
        let mut rest = (start, end);
        if let Above::Torn(..) = self.above
            && foreign_text::writes(self.parsed.names[name as usize].as_bytes())
        {
            rest.0 += foreign_text::output_before(&self.text[head.0..head.1], line);
        }
        let line = &self.text[rest.0..end];
        let tail = if split_path {
            rest.0 = head.1;
            let whole = &self.text[head.0..end];
            if ending::may_end(line) && ending::ending(whole).is_some() {
                ending::Tail::Whole
            } else {
                ending::Tail::No
            }
        } else {
            let mut room = std::mem::take(&mut self.parsed.scratch);
            let tail = ending::tail(&self.text[head.0..head.1], line, tries.is_some(), &mut room);
            self.parsed.scratch = room;
            tail
        };
        match tail {
            ending::Tail::Whole => self.finish_torn(at, rest),
            ending::Tail::Mark => {
                open_at(self, at, |open| open.torn = false);
                self.above = Above::Nothing;
                self.owner = Owner::Nobody;
                self.used = Some(LineUse::Continuation);
            }
            ending::Tail::No if split_path && tries.is_some_and(|tries| tries < TRIES) => {
                open_at(self, at, |open| open.args.1 = end as u32);
                self.above = Above::Torn(at, tries.unwrap_or(0) + 1);
                self.owner = Owner::Nobody;
                self.used = Some(LineUse::Continuation);
            }
            ending::Tail::No => {
                let costly = ending::may_end(line);
                self.above = match tries {
                    Some(tries) if tries < TRIES => Above::Torn(at, tries + u8::from(costly)),
                    _ => Above::Nothing,
                };
                return false;
            }
        }
        true
    }

    /// Whether the line is output of the program: as much as the call that is open says.
    pub(crate) fn is_output(&mut self, len: usize) -> bool {
        if !matches!(self.above, Above::Torn(..)) || self.output < len {
            return false;
        }
        // The last one may have no line feed.
        self.output = self.output.saturating_sub(len + 1);
        self.parsed.oddities.foreign += 1;
        self.used = Some(LineUse::Continuation);
        true
    }

    /// Start of the line after the one that ends at `at`.
    fn after(&self, at: usize) -> usize {
        at + 1 + usize::from(self.text.get(at) == Some(&b'\r'))
    }

    /// Joins a torn call with its rest, which is on a line of its own.
    fn finish_torn(&mut self, at: u32, rest: (usize, usize)) {
        self.above = Above::Nothing;
        self.output = 0;
        let Some(open) = self.grammar.calls.take(at) else { return };
        let row = self.parsed.rows.push();
        self.parsed.entries[open.entry as usize].target = EntryTarget::Row(row as u32);
        self.write_first_half(row, &open);
        // The second line does not say when the call ended.
        self.parsed.rows.valid[row] &= !C::Ts.bit();
        self.used = Some(LineUse::Resumed);
        let half = SecondHalf {
            head: Some(&self.text[open.args.0 as usize..open.args.1 as usize]),
            partial: false,
            sys: open.sys,
            entry: open.ts,
            rest: (rest.0 as u32, rest.1 as u32),
            gap: false,
            mark: None,
            utf8: self.utf8,
        };
        row::finish(self.parsed, self.text, row, self.format, half);
        self.parsed.rows.effect[row].begun = true;
        self.owner = Owner::Row(row);
    }
}

fn open_at(parser: &mut Parser<'_>, at: u32, change: impl FnOnce(&mut OpenCall)) {
    if let Some(open) = parser.grammar.calls.at(at) {
        change(open);
    }
}
