//! The two halves of a system call in one block.

use crate::events::line_counts::LineUse;
use crate::events::open_calls::FirstHalf;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::{Deferred, EntryTarget, LossReason, OpenCall};
use crate::events::vocabulary::{EventKind, Status};
use crate::ftrace::call::arguments;
use crate::ftrace::call::callee::Callee;
use crate::ftrace::call::row::{self, CallArguments, CallExit};
use crate::ftrace::fields::{self, CallText, GivenArguments};
use crate::ftrace::header::Header;
use crate::ftrace::non_records::stacks::StackOwner;
use crate::ftrace::parser::{KEPT, Parser};
use crate::ftrace::payload::CallId;
use crate::ftrace::scan::Span;
use crate::linux::syscalls;
use crate::text::block::TextRange;

impl<'a> Parser<'a> {
    /// The call; `None` if the record stays a plain event.
    #[inline]
    pub(crate) fn callee(&mut self, call: CallId, base: usize) -> Option<Callee> {
        let abi = &self.format.abi;
        let mut buffer = [0; 24];
        let name = match call {
            CallId::Name(start, end) => abi.strace_name(&self.text[base + start..base + end]),
            CallId::Number(_) if abi.named => return None,
            CallId::Number(number) => match abi.machine.and_then(|machine| machine.call(number)) {
                Some(name) => name.as_bytes(),
                None => numbered(number, &mut buffer),
            },
        };
        let (key, sys) = self.grammar.names.key(name, &mut self.parsed.names, syscalls::by_name);
        let returns = abi.returns(syscalls::shape(sys).classes);
        Some(Callee { name: key, sys, returns })
    }

    #[inline]
    pub(crate) fn enter(&mut self, start: usize, header: &Header, callee: Callee, args: Span) {
        let tid = header.pid;
        self.touch(tid);
        let open = args.0.checked_sub(1).and_then(|at| self.text.get(at)) == Some(&b'(');
        let cut = open && self.text.get(args.1) != Some(&b')');
        let args = if cut { self.cut_arguments(args) } else { args };
        if !callee.returns {
            let row = self.event(start, header, EventKind::Syscall, Some(callee.name), args);
            let (source, given) = (self.source(args), GivenArguments::Args(self.args(args)));
            let Parsed { rows, side, .. } = &mut *self.parsed;
            rows.status[row] = Status::Complete as u8;
            rows.valid[row] |= C::Status.bit();
            let abi = &self.format.abi;
            fields::fill(
                rows,
                side,
                row,
                CallText { sys: callee.sys, source, given, ret: None },
                abi,
            );
            return;
        }
        let narrow = |(start, end): Span| (start as u32, end as u32);
        let kept = &mut self.kept[self.parsed.entries.len() % KEPT];
        let marked = arguments::ArgumentText::within(self.text, args, self.separators);
        let head = fields::head_of(&marked, callee.sys, &self.format.abi, kept);
        let open = OpenCall {
            tid,
            line: self.record_line,
            ts: self.on_clock(header),
            name: callee.name,
            sys: callee.sys,
            comm: self.comm(start, header),
            cpu: header.cpu,
            pid: header.tgid,
            args: narrow(args),
            context: self.prefix.map(narrow),
            extra: self.flags(start, header).map(narrow),
            head,
            ..OpenCall::default()
        };
        let at = self.grammar.calls.open(tid, open, self.parsed);
        self.stack_may_follow(header, StackOwner::Call(at));
        self.owner = None;
    }

    /// The arguments of a record that was cut before the parenthesis at their end. The last of them
    /// may have lost digits, so it is no value.
    #[cold]
    fn cut_arguments(&mut self, args: Span) -> Span {
        self.lose_value(args.1);
        let whole = memchr::memrchr(b',', &self.text[args.0..args.1]).unwrap_or(0);
        (args.0, args.0 + whole)
    }

    /// Whether the record from `start` to `end` may have lost what followed.
    #[inline]
    pub(crate) fn is_cut(&self, start: usize, end: usize) -> bool {
        self.format.cut != 0 && end - start == self.format.cut as usize
    }

    /// The result of a record that was cut: it may have lost digits, so it is no value.
    #[cold]
    fn cut_result(&mut self, ret: Span) -> Span {
        self.lose_value(ret.1);
        (ret.0, ret.0)
    }

    /// Counts a value that was cut at `end`.
    fn lose_value(&mut self, end: usize) {
        let ends_log = self.ends_log(end);
        let oddities = &mut self.parsed.oddities;
        *(if ends_log { &mut oddities.cut_ends } else { &mut oddities.lost_values }) += 1;
    }

    #[inline]
    pub(crate) fn exit(&mut self, start: usize, header: &Header, callee: Callee, ret: Span) {
        let tid = header.pid;
        let lost = ret.0 >= ret.1 || self.is_cut(start, ret.1);
        let ret = if lost { self.cut_result(ret) } else { ret };
        // Most calls end like this. Of a copy of which no other path has a reference, only what is
        // used is read.
        if let Some(&open) = self.grammar.calls.get(tid)
            && self.ends(open.name, callee.name)
            && !self.is_parted(&open, header)
        {
            self.grammar.calls.end(tid);
            self.whole(start, header, &open, ret);
            return;
        }
        let pending = self.grammar.calls.resume(tid);
        let lost = Some(self.parsed.position());
        if let FirstHalf::Open(open) = &pending {
            // Records were lost: the two do not belong together.
            self.abandoned(open);
        }
        let row = self.row(start, header);
        let exit =
            CallExit { args: None, sys: callee.sys, entry: None, ret: &self.text[ret.0..ret.1] };
        self.parsed.rows.name[row] = callee.name;
        self.parsed.rows.valid[row] |= C::Name.bit();
        self.stack_may_follow(header, StackOwner::Row(row));
        self.owner = None;
        match pending {
            FirstHalf::Open(_) | FirstHalf::Nothing => {
                row::join(self.parsed, row, self.format, exit);
                if let Some(columns) = self.kept(self.prefix, self.flags(start, header)) {
                    self.parsed.rows.extra[row] = columns;
                    self.parsed.rows.valid[row] |= C::Extra.bit();
                }
            }
            FirstHalf::Unknown => {
                // The entry, if any, is in an earlier block: the serial stage joins the two.
                let rest = (ret.0 as u32, ret.1 as u32);
                let (row, sys, bytes) = (row as u32, callee.sys, self.bytes);
                let entries = self.parsed.entries.len() as u32;
                let columns = self.kept(self.prefix, self.flags(start, header));
                self.used = None;
                self.parsed.deferred.push(Deferred::Resume {
                    tid,
                    row,
                    entries,
                    rest,
                    sys,
                    bytes,
                    columns,
                    lost,
                });
            }
        }
    }

    /// The row of a call whose entry is `open`.
    #[inline(always)]
    fn whole(&mut self, start: usize, header: &Header, open: &OpenCall, ret: Span) {
        // The entry's columns take precedence.
        let comm = open.comm.or_else(|| self.comm(start, header));
        let time = self.on_clock(header);
        let wide = |(start, end): TextRange| (start as usize, end as usize);
        let extra = self.kept(open.context.map(wide), open.extra.map(wide));
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        let mut valid = C::Line.bit() | C::Name.bit();
        rows.line[row] = open.line;
        rows.name[row] = open.name;
        if let Some(tid) = open.tid.or(header.pid) {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(comm) = comm {
            rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        if let Some(cpu) = open.cpu.or(header.cpu) {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
        }
        if let Some(pid) = open.pid.or(header.tgid) {
            rows.pid[row] = pid;
            valid |= C::Pid.bit();
        }
        if let Some(time) = time {
            rows.ts[row] = time;
            valid |= C::Ts.bit();
        }
        if let Some(extra) = extra {
            rows.extra[row] = extra;
            valid |= C::Extra.bit();
        }
        rows.valid[row] = valid;
        self.parsed.entries[open.entry as usize].target = EntryTarget::Row(row as u32);
        // The exit's columns are added later.
        for frames in [open.frames, open.more_frames].into_iter().flatten() {
            self.put_frames(row, wide(frames));
        }
        self.stack_may_follow(header, StackOwner::Row(row));
        self.owner = None;
        let args = wide(open.args);
        let (source, view) = (self.source(args), self.view(args));
        let unsplit = GivenArguments::Args(self.args(args));
        let kept = &self.kept[open.entry as usize % KEPT];
        let split = kept.from == open.args.0;
        let given = if split { GivenArguments::Split(&kept.split) } else { unsplit };
        let args = Some(CallArguments { source, view, given });
        let ret = &self.text[ret.0..ret.1];
        let exit = CallExit { args, sys: open.sys, entry: open.ts, ret };
        row::join(self.parsed, row, self.format, exit);
        self.parsed.rows.effect[row].begun = true;
        self.used = Some(LineUse::Resumed);
    }

    /// Records of the processor were lost between the two halves: the exit may be another call's.
    #[inline]
    pub(crate) fn is_parted(&self, open: &OpenCall, header: &Header) -> bool {
        let lost = |&(cpu, line): &(Option<u16>, i64)| {
            open.line < line && cpu.is_none_or(|_| cpu == open.cpu && cpu == header.cpu)
        };
        self.lost.iter().any(lost)
    }

    /// Whether the exit of call `exit` is that of `enter`.
    #[inline]
    pub(crate) fn ends(&self, enter: u32, exit: u32) -> bool {
        let name = |key: u32| &self.parsed.names[key as usize];
        enter == exit || self.format.abi.ends(name(enter), name(exit))
    }

    /// Arguments that have yet to be split.
    #[inline]
    fn args(&self, args: Span) -> arguments::ArgumentText<'a> {
        arguments::ArgumentText::within(self.text, args, self.separators)
    }

    /// Writes what the entry says into the row of the call.
    #[inline]
    pub(crate) fn head(&mut self, row: usize, open: &OpenCall) {
        self.parsed.entries[open.entry as usize].target = EntryTarget::Row(row as u32);
        let wide = |(start, end): TextRange| (start as usize, end as usize);
        let extra = self.kept(open.context.map(wide), open.extra.map(wide));
        let rows = &mut self.parsed.rows;
        let mut valid = C::Line.bit() | C::Name.bit();
        rows.line[row] = open.line;
        rows.name[row] = open.name;
        if let Some(tid) = open.tid {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(comm) = open.comm {
            rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        if let Some(cpu) = open.cpu {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
        }
        if let Some(pid) = open.pid {
            rows.pid[row] = pid;
            valid |= C::Pid.bit();
        }
        if let Some(extra) = extra {
            rows.extra[row] = extra;
            valid |= C::Extra.bit();
        }
        rows.valid[row] |= valid;
        // The exit's columns are added later.
        for frames in [open.frames, open.more_frames].into_iter().flatten() {
            self.put_frames(row, wide(frames));
        }
    }

    /// The task does something: a call that it still has open never returned.
    #[inline]
    pub(crate) fn touch(&mut self, tid: Option<i32>) {
        if let Some(open) = self.grammar.calls.touch(tid, self.parsed, LossReason::Elsewhere) {
            self.abandoned(&open);
        }
    }

    /// The row of a call that began in this block and does not end.
    pub(crate) fn abandoned(&mut self, open: &OpenCall) {
        let row = self.parsed.rows.push();
        self.head(row, open);
        let args = (open.args.0 as usize, open.args.1 as usize);
        let (source, view) = (self.source(args), self.view(args));
        let given = GivenArguments::Args(self.args(args));
        let Parsed { rows, side, .. } = &mut *self.parsed;
        if let Some(ts) = open.ts {
            rows.ts[row] = ts;
            rows.valid[row] |= C::Ts.bit();
        }
        rows.kind[row] = EventKind::Syscall as u8;
        rows.status[row] = Status::Unfinished as u8;
        rows.args[row] = view;
        rows.valid[row] |= C::Kind.bit() | C::Status.bit() | C::Args.bit();
        let abi = &self.format.abi;
        fields::fill(rows, side, row, CallText { sys: open.sys, source, given, ret: None }, abi);
        rows.effect[row].begun = true;
    }
}

/// strace's name of a call that has none.
fn numbered(number: u64, buffer: &mut [u8; 24]) -> &[u8] {
    const PREFIX: &[u8; 10] = b"syscall_0x";
    buffer[..PREFIX.len()].copy_from_slice(PREFIX);
    let digits = (64 - number.leading_zeros()).div_ceil(4).max(1) as usize;
    for (i, byte) in buffer[PREFIX.len()..PREFIX.len() + digits.min(14)].iter_mut().enumerate() {
        let digit = (number >> (4 * (digits - 1 - i)) & 0xf) as usize;
        *byte = b"0123456789abcdef"[digit];
    }
    &buffer[..PREFIX.len() + digits.min(14)]
}
