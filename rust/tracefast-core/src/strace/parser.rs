//! A block of strace's lines, one after the other.

use std::borrow::Cow;

use memchr::memmem;

use super::lines::{self, errno_name, success};
use super::merged::{self, Prefix};
use super::other::{self, Other};
use super::sniff::call_name;
use super::{Format, Half, is_continuation, join};
use crate::block::{Block, PAD};
use crate::calls::{Calls, Pending};
use crate::dict::Interner;
use crate::event::{EventKind, Op, Status};
use crate::find::find;
use crate::num;
use crate::parsed::{Open, Parsed, Target, Touch, Use};
use crate::scan::{Marks, structure};
use crate::schema::Column as C;
use crate::strace::fields::{self, Source};
use crate::strace::leader::{Delta, Leader};
use crate::syscalls;
use crate::text::escape_invalid;
use crate::view::{Place, pack_padded, unpack};

/// What a worker keeps from block to block: nothing that changes results, only memory and names.
#[derive(Debug, Default)]
pub struct Grammar {
    marks: Marks,
    names: Interner,
    errnos: Interner,
    comms: Interner,
    calls: Calls,
}

impl Grammar {
    /// Parses `block` into `parsed`.
    pub fn parse(&mut self, format: &Format, block: &Block, parsed: &mut Parsed) {
        structure(block.padded(), block.len(), &mut self.marks);
        let text = block.text();
        let marks = std::mem::take(&mut self.marks);
        let lines = marks.at.iter().filter(|&&at| text[at as usize] == b'\n').count() + 1;
        parsed.reset(lines);
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
            last: block.last,
            parsed,
            line: 0,
            task: format.task,
            fed: false,
            bytes: 0,
            used: None,
            elapsed: 0,
            owner: Owner::Nobody,
            frames: None,
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
        parser.finish();
        self.marks = marks;
    }
}

/// Whom a continuation line belongs to.
#[derive(Clone, Copy)]
enum Owner {
    Nobody,
    Row(usize),
    Call(u32),
}

struct Parser<'a> {
    grammar: &'a mut Grammar,
    format: &'a Format,
    text: &'a [u8],
    padded: &'a [u8],
    utf8: bool,
    last: bool,
    parsed: &'a mut Parsed,
    line: i64,
    /// The task whose log the line comes from, where no column says it.
    task: Option<i32>,
    /// The line is the last of a merged log and had no line feed.
    fed: bool,
    /// Bytes of the line at hand, its line feed included.
    bytes: u64,
    /// What the line at hand is used for; `None`: the stitch stage says.
    used: Option<Use>,
    elapsed: i64,
    owner: Owner,
    /// Lines that belong to a row and are not in it yet.
    frames: Option<(usize, (usize, usize))>,
}

/// A line at hand: the whole of it is `text[start..end]`.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
    /// Second blank of the only ` = `.
    mark: Option<usize>,
    leader: Leader,
}

impl<'a> Parser<'a> {
    fn line(&mut self, mut start: usize, mut end: usize, first: Option<usize>, several: bool) {
        self.bytes = (end - start) as u64 + u64::from(end < self.text.len());
        self.used = Some(Use::Events);
        if self.format.merged {
            start = self.own(start, end);
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
        if !known {
            self.other(start, end);
        }
        if let Some(used) = self.used {
            self.parsed.counts.see(used, self.bytes);
        }
        self.line += 1;
    }

    /// Takes the prefix off a line of merged logs; returns where the line itself begins.
    fn own(&mut self, start: usize, end: usize) -> usize {
        let Some(prefix) = Prefix::read(&self.text[start..end]) else { return start };
        if self.task.replace(prefix.pid) != Some(prefix.pid) {
            // What belongs to the line above stands in the same log.
            self.owner = Owner::Nobody;
        }
        self.line = prefix.line as i64 - 1;
        self.fed = prefix.fed;
        let added = merged::PREFIX as u64 + u64::from(prefix.fed);
        self.bytes -= added;
        self.parsed.added += added;
        start + merged::PREFIX
    }

    /// The log ends within this line.
    fn is_cut(&self, line: &Line) -> bool {
        if self.format.merged { self.fed } else { self.last && line.end == self.text.len() }
    }

    /// The line's own time, on the block's clock.
    fn time(&mut self, leader: &Leader) -> Option<i64> {
        if self.format.layout.delta == Delta::Plain {
            if self.format.merged {
                // A delta counts from the line before of any task: here that is not the one above.
                return None;
            }
            self.elapsed = self.elapsed.wrapping_add(leader.time?);
            return Some(self.elapsed);
        }
        leader.time
    }

    /// A line with a leader. `false`: no event stands behind it.
    fn event(&mut self, line: &Line) -> bool {
        let rest = line.start + line.leader.next;
        match self.text.get(rest) {
            Some(b'<') => self.resumed(line, rest),
            Some(b'+') => self.exit(line, rest),
            Some(b'-') => self.signal(line, rest),
            Some(b'?') => {
                let n = self.text[rest..line.end].iter().take_while(|&&b| b == b'?').count();
                n >= 3 && self.text.get(rest + n) == Some(&b'(') && self.call(line, rest, n)
            }
            Some(_) if rest < line.end => {
                match call_name(&self.padded[PAD + rest..PAD + line.end + 8]) {
                    Some(n) => self.call(line, rest, n),
                    None => false,
                }
            }
            _ => false,
        }
    }

    fn call(&mut self, line: &Line, name: usize, name_len: usize) -> bool {
        let text = self.text;
        let args = name + name_len + 1;
        let bytes = &text[..line.end];
        let timed = self.format.times_calls;
        // A whole line has its true ` = ` once, behind `)` and blanks.
        let plain = line.mark.and_then(|mark| {
            let end = join::plain_end(bytes, mark).filter(|&end| end >= args)?;
            let outcome = super::result::parse(bytes, mark + 1)?;
            // In a log with times a whole line ends with one; in others an open string shows.
            let whole = if timed {
                outcome.dur.is_some() || outcome.ret.is_none()
            } else {
                !Self::may_be_open(&bytes[args..end])
            };
            (whole && !is_killed(&bytes[..end])).then_some((end, outcome))
        });
        if let Some((end, outcome)) = plain {
            self.complete(line, (name, name_len), (args, end), &outcome, None);
            return true;
        }
        if is_killed(&bytes[args..]) {
            return self.begin(line, (name, name_len), (args, line.end - 17), line.leader.pid);
        }
        if let Some(ending) = join::ending(&bytes[args..]) {
            if let Some(outcome) = ending.outcome {
                let outcome = lines::shift(outcome, args);
                self.complete(
                    line,
                    (name, name_len),
                    (args, args + ending.args),
                    &outcome,
                    ending.status,
                );
                return true;
            }
            self.ended(line, (name, name_len), (args, args + ending.args), ending.status);
            return true;
        }
        if let Some((end, pid)) = pid_changed(&bytes[args..]) {
            // The thread goes on under its leader's id.
            return self.begin(line, (name, name_len), (args, args + end), Some(pid));
        }
        // A cut line. Without any column before it, only a known name tells a call from prose.
        let columns = line.leader.next > 0;
        if !columns && syscalls::by_name(&text[name..name + name_len]) == syscalls::UNKNOWN {
            return false;
        }
        let status = if self.is_cut(line) { Status::Unfinished } else { Status::Truncated };
        self.ended(line, (name, name_len), (args, line.end), Some(status));
        true
    }

    /// The arguments hold a quote that is not closed.
    fn may_be_open(args: &[u8]) -> bool {
        memchr::memchr(b'"', args).is_some() && !super::args::closed(args)
    }

    fn name(&mut self, name: (usize, usize)) -> (u32, u16) {
        let raw = &self.text[name.0..name.0 + name.1];
        self.grammar.names.key(raw, &mut self.parsed.names, syscalls::by_name)
    }

    /// Leader's columns of a new row.
    fn row(&mut self, line: &Line, ts: Option<i64>) -> usize {
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
        if let Some((start, end)) = line.leader.comm {
            let raw = &self.text[line.start + start..line.start + end];
            self.parsed.rows.comm[row] =
                self.grammar.comms.key(raw, &mut self.parsed.comms, |_| 0).0;
            valid |= C::Comm.bit();
        }
        if let Some((start, end)) = line.leader.extra {
            self.parsed.rows.extra[row] = self.view(line.start + start, line.start + end);
            valid |= C::Extra.bit();
        }
        self.parsed.rows.line[row] = self.line;
        self.parsed.rows.valid[row] = valid;
        self.owner = Owner::Row(row);
        row
    }

    #[inline]
    fn view(&mut self, start: usize, end: usize) -> u128 {
        if self.utf8 {
            return pack_padded(self.padded, PAD + start, end - start, Place::Text, start);
        }
        self.source(0, self.text.len()).view(start, end, &mut self.parsed.side)
    }

    fn source(&self, start: usize, end: usize) -> Source<'a> {
        Source { bytes: &self.text[start..end], place: Place::Text, base: start, utf8: self.utf8 }
    }

    /// A call whose end is on this line.
    fn complete(
        &mut self,
        line: &Line,
        name: (usize, usize),
        args: (usize, usize),
        outcome: &super::result::Outcome,
        status: Option<Status>,
    ) {
        let ts = self.time(&line.leader);
        self.touch(line.leader.pid, false);
        let (key, sys) = self.name(name);
        let row = self.row(line, ts);
        let source = self.source(0, line.end);
        let errno = errno_name(outcome, source.bytes)
            .map(|name| self.grammar.errnos.key(name, &mut self.parsed.errnos, |_| 0).0);
        lines::outcome(self.parsed, row, source, outcome, errno, sys);
        if let Some(status) = status {
            self.parsed.rows.status[row] = status as u8;
        }
        self.arguments(row, key, sys, args, success(outcome));
    }

    /// A call that ends here without a result.
    fn ended(
        &mut self,
        line: &Line,
        name: (usize, usize),
        args: (usize, usize),
        status: Option<Status>,
    ) {
        let ts = self.time(&line.leader);
        self.touch(line.leader.pid, false);
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
    fn touch(&mut self, tid: Option<i32>, killed: bool) {
        if let Some(open) = self.grammar.calls.touch(tid, self.parsed, killed) {
            let status = if killed { Status::Killed } else { Status::Unfinished };
            self.abandoned(&open, status);
        }
    }

    /// The row of a call that began in this block and does not end.
    fn abandoned(&mut self, open: &Open, status: Status) {
        let row = self.parsed.rows.push();
        self.parsed.begins[open.begin as usize].target = Target::Row(row as u32);
        self.head(row, open);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = status as u8;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit();
        let args = (open.args.0 as usize, open.args.1 as usize);
        self.arguments(row, open.name, open.sys, args, None);
        self.parsed.rows.effect[row].begun = true;
    }

    /// What the first half of a call says, in the row of the whole.
    fn head(&mut self, row: usize, open: &Open) {
        let rows = &mut self.parsed.rows;
        let mut valid = C::Line.bit() | C::Name.bit();
        rows.line[row] = open.line;
        rows.name[row] = open.name;
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
        for (start, end) in [open.extra, open.frames].into_iter().flatten() {
            self.extra(row, start as usize, end as usize);
        }
    }

    fn begin(
        &mut self,
        line: &Line,
        name: (usize, usize),
        args: (usize, usize),
        under: Option<i32>,
    ) -> bool {
        let ts = self.time(&line.leader);
        self.touch(line.leader.pid, false);
        if under != line.leader.pid {
            self.touch(under, false);
        }
        let (name, sys) = self.name(name);
        let comm = line.leader.comm.map(|(start, end)| {
            let raw = &self.text[line.start + start..line.start + end];
            self.grammar.comms.key(raw, &mut self.parsed.comms, |_| 0).0
        });
        let at = line.start;
        let extra = line.leader.extra.map(|(a, b)| ((at + a) as u32, (at + b) as u32));
        let open = Open {
            tid: line.leader.pid,
            line: self.line,
            ts,
            name,
            sys,
            comm,
            args: (args.0 as u32, args.1 as u32),
            extra,
            head: fields::head(&self.text[args.0..args.1], sys),
            ..Open::default()
        };
        let at = self.grammar.calls.open(under, open, self.parsed);
        self.owner = Owner::Call(at);
        true
    }

    /// `<... NAME resumed>` and what follows.
    fn resumed(&mut self, line: &Line, at: usize) -> bool {
        let bytes = &self.text[at..line.end];
        let Some(name) = bytes.strip_prefix(b"<... ") else { return false };
        let Some(len) = find(name, b" resumed>", 8) else { return false };
        let rest = ((at + 5 + len + 9) as u32, line.end as u32);
        let ts = self.time(&line.leader);
        let (key, sys) = self.name((at + 5, len));
        // The columns that are kept are those of the first half.
        let second = Line { leader: Leader { extra: None, ..line.leader }, ..*line };
        match self.grammar.calls.resume(line.leader.pid) {
            Pending::Open(open) => {
                let row = self.parsed.rows.push();
                self.parsed.begins[open.begin as usize].target = Target::Row(row as u32);
                self.head(row, &open);
                if let Some(tid) = line.leader.pid {
                    self.parsed.rows.tid[row] = tid;
                }
                self.exit_time(row, ts);
                self.used = Some(Use::Resumed);
                let head = &self.text[open.args.0 as usize..open.args.1 as usize];
                let whole = &self.text[rest.0 as usize..rest.1 as usize];
                let gap = whole.len() - join::strip_gap(whole, self.format.old_gap).len();
                // The line's only ` = ` is the second half's.
                let from = rest.0 as usize + gap;
                let mark = line.mark.map(|mark| mark.checked_sub(from));
                let half = Half {
                    head: Some(head),
                    sys: open.sys,
                    entry: open.ts,
                    rest,
                    mark,
                    utf8: self.utf8,
                };
                super::finish(self.parsed, self.text, row, self.format, half);
                self.parsed.rows.effect[row].begun = true;
                self.owner = Owner::Row(row);
            }
            Pending::Nothing => {
                let row = self.row(&second, ts);
                self.parsed.rows.name[row] = key;
                self.parsed.rows.valid[row] |= C::Name.bit();
                let half = Half { head: None, sys, entry: None, rest, mark: None, utf8: false };
                super::finish(self.parsed, self.text, row, self.format, half);
            }
            Pending::Unknown => {
                // The first half, if any, is in a block before: that is for the stitch stage.
                let row = self.row(&second, ts);
                self.used = None;
                self.parsed.rows.name[row] = key;
                self.parsed.rows.valid[row] |= C::Name.bit();
                let tid = line.leader.pid;
                self.parsed.touches.push(Touch::Resume {
                    tid,
                    row: row as u32,
                    rest,
                    sys,
                    bytes: self.bytes,
                    lost: None,
                });
            }
        }
        true
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

    /// `+++ exited with 0 +++` and the like.
    fn exit(&mut self, line: &Line, at: usize) -> bool {
        let bytes = &self.text[at..line.end];
        let Some(body) = bytes.strip_prefix(b"+++ ").and_then(|b| b.strip_suffix(b" +++")) else {
            return false;
        };
        let tid = line.leader.pid;
        let (name, ret) = if let Some(status) = body.strip_prefix(b"exited with ") {
            let Some(status) = num::whole_integer(status) else { return false };
            ((at + 4, 6), Some(status))
        } else if let Some(signal) = body.strip_prefix(b"killed by ") {
            let len = signal.iter().position(|&b| b == b' ').unwrap_or(signal.len());
            ((at + 4 + 10, len), None)
        } else if body.starts_with(b"superseded by execve in pid ") {
            ((at + 4, 10), None)
        } else {
            return false;
        };
        let ts = self.time(&line.leader);
        let superseded = body.starts_with(b"superseded");
        if superseded {
            let (by, _) = num::digits(&body[28..]);
            self.grammar.calls.superseded(tid, by as i32, self.parsed);
        } else {
            self.touch(tid, body.starts_with(b"killed"));
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
            rows.effect[row].at = num::digits(&body[28..]).0 as i32;
        }
        true
    }

    /// `--- SIGCHLD {…} ---` and the forms of older versions.
    fn signal(&mut self, line: &Line, at: usize) -> bool {
        let bytes = &self.text[at..line.end];
        let Some(body) = bytes.strip_prefix(b"--- ").and_then(|b| b.strip_suffix(b" ---")) else {
            return false;
        };
        let start = at + 4;
        // The name stands first, behind `stopped by `, or in the siginfo (4.6).
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
        if len == 0 {
            return false;
        }
        let ts = self.time(&line.leader);
        let (key, _) = self.name((name_at, len));
        let row = self.row(line, ts);
        let view = self.view(args_at, line.end - 4);
        let rows = &mut self.parsed.rows;
        rows.kind[row] = EventKind::Signal as u8;
        rows.status[row] = Status::Complete as u8;
        rows.name[row] = key;
        rows.args[row] = view;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit() | C::Name.bit() | C::Args.bit();
        true
    }

    /// A line without an event.
    fn other(&mut self, start: usize, end: usize) {
        let line = &self.text[start..end];
        if is_continuation(line) && !matches!(self.owner, Owner::Nobody) {
            self.continuation(start, end);
            return;
        }
        // What follows a table or a message belongs to neither.
        self.owner = Owner::Nobody;
        let leader = self.format.layout.leader(line).map_or(0, |leader| leader.next);
        match other::classify(line, &line[leader..]) {
            Other::Blank => self.used = Some(Use::Blank),
            Other::Summary => self.used = Some(Use::Summary),
            Other::Message => self.used = Some(Use::Message),
            Other::Unknown => self.unparsed(start, end),
        }
    }

    fn continuation(&mut self, start: usize, end: usize) {
        self.used = Some(Use::Continuation);
        match self.owner {
            // Such lines follow one another, so one range holds them all, and is copied once.
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

    fn put_frames(&mut self) {
        if let Some((row, (start, end))) = self.frames.take() {
            self.extra(row, start, end);
        }
    }

    /// Adds lines to the row's `extra`.
    fn extra(&mut self, row: usize, start: usize, end: usize) {
        let line = &self.text[start..end];
        let line = if self.format.merged { merged::own_text(line) } else { Cow::Borrowed(line) };
        let Parsed { rows, side, .. } = &mut *self.parsed;
        let from = side.bytes.len();
        if rows.has(row, C::Extra) {
            // Columns of the leader, or the frames before.
            let before = unpack(&rows.extra[row], self.text, &side.bytes).to_vec();
            side.bytes.extend_from_slice(&before);
            side.bytes.push(b'\n');
        }
        side.bytes.extend_from_slice(escape_invalid(&line).as_bytes());
        rows.extra[row] = side.since(from);
        rows.valid[row] |= C::Extra.bit();
    }

    fn unparsed(&mut self, start: usize, end: usize) {
        let view = self.view(start, end);
        let task = self.task.filter(|_| self.format.merged);
        self.parsed.example(self.line as u64, task, &self.text[start..end]);
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        rows.kind[row] = EventKind::Unparsed as u8;
        rows.args[row] = view;
        rows.line[row] = self.line;
        rows.valid[row] = C::Kind.bit() | C::Args.bit() | C::Line.bit();
        if let Some(task) = self.task {
            rows.tid[row] = task;
            rows.valid[row] |= C::Tid.bit();
        }
        self.used = Some(Use::Unparsed);
    }

    fn finish(&mut self) {
        self.put_frames();
        self.parsed.elapsed = self.elapsed;
        self.grammar.calls.finish(self.parsed);
    }
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
    let pid = num::whole_integer(&body[at + 17..])?;
    Some((at, i32::try_from(pid).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_dumps_are_copied_once() {
        let dump = " | 00000  61 62 63                      abc |\n".repeat(5_000);
        let text = format!("7 read(3, \"abc\", 3) = 3\n{dump}7 close(3) = 0\n");
        let format = super::super::detect(text.as_bytes()).expect("a log of strace");
        let mut parsed = Parsed::default();
        Grammar::default().parse(&format, &Block::from_text(text.as_bytes()), &mut parsed);
        assert_eq!(parsed.counts.lines(Use::Continuation), 5_000);
        let extra = unpack(&parsed.rows.extra[0], text.as_bytes(), &parsed.side.bytes);
        assert_eq!(extra, dump.trim_end_matches('\n').as_bytes());
        assert!(!parsed.rows.has(1, C::Extra));
        assert!(parsed.side.bytes.len() < 2 * text.len(), "{}", parsed.side.bytes.len());
    }
}
