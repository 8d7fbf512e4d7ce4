//! Lines of `function_graph` become rows, and steps that the serial stage joins.

use crate::events::function_graph::{self, FunctionEntry, GraphLine, GraphStep};
use crate::events::line_counts::LineUse;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{EventKind, Status};
use crate::ftrace::format::Graph;
use crate::ftrace::function_graph::body::{FunctionCall, GraphEvent};
use crate::ftrace::function_graph::line::{FunctionLine, LineTask};
use crate::ftrace::function_graph::separators::Separator;
use crate::ftrace::function_graph::{parse, separator};
use crate::ftrace::header::{Clock, Header};
use crate::ftrace::non_records::stacks::StackOwner;
use crate::ftrace::parser::Parser;
use crate::ftrace::payload::{self, Payload};
use crate::ftrace::pending::LineOwner;
use crate::ftrace::scan::Span;

/// The columns before a function.
#[derive(Clone, Copy)]
struct LineColumns {
    ts: Option<i64>,
    /// The time counts seconds.
    seconds: bool,
    cpu: Option<u16>,
    tid: Option<i32>,
    /// Thread group.
    pid: Option<i32>,
    /// Key of the command's name.
    comm: Option<u32>,
    /// View of the flags, unless they are all dots.
    extra: Option<u128>,
    /// Nanoseconds in the function.
    dur: Option<i64>,
}

impl Parser<'_> {
    /// Reads a line that is not a record. `false`: it is not `function_graph`'s either.
    pub(crate) fn graph(&mut self, start: usize, end: usize) -> bool {
        let text = self.text;
        let line = &text[start..end];
        if let Some(line) = parse(line, self.format.graph == Graph::Bare) {
            self.apart();
            self.graph_line(start, &line);
            return true;
        }
        let Some(found) = separator(line) else { return false };
        // In other logs a line of dashes is part of a text.
        if self.format.graph == Graph::No && !matches!(found, Separator::Switch { .. }) {
            return false;
        }
        self.apart();
        self.used = Some(LineUse::Message);
        if let Separator::Switch { cpu, from, to } = found {
            let [from, to] = [from, to].map(|party| function_graph::SwitchedTask {
                tid: party.tid,
                comm: self.comm_key(start, party),
            });
            self.step(cpu, None, GraphStep::Switch { from, to });
        }
        true
    }

    /// The current line is independent of those before it.
    fn apart(&mut self) {
        self.flush_lines();
        self.take_between();
        self.owner = None;
        self.record_line = self.line;
    }

    /// A record of trace-cmd that is of `function_graph`.
    pub(crate) fn graph_record(
        &mut self,
        start: usize,
        header: &Header,
        what: &GraphEvent,
        dur: Option<i64>,
    ) {
        let comm = self.comm(start, header);
        let extra = self.kept(self.prefix, self.flags(start, header));
        let columns = LineColumns {
            ts: self.on_clock(header),
            seconds: header.clock != Clock::Ticks,
            cpu: header.cpu,
            tid: header.pid,
            pid: header.tgid,
            comm,
            extra,
            dur,
        };
        self.owner = None;
        self.what(start + header.payload, what, &columns);
    }

    fn comm_key(&mut self, start: usize, party: LineTask) -> u32 {
        let name = &self.text[start + party.comm.0..start + party.comm.1];
        self.grammar.comms.key(name, &mut self.parsed.comms, |_| 0).0
    }

    fn graph_line(&mut self, start: usize, line: &FunctionLine) {
        let span = (start + line.flags.0, start + line.flags.1);
        let time = line.time.filter(|_| self.format.clock != Clock::Ticks);
        if let Some(time) = time {
            self.passes(time);
        }
        let quiet = self.text[span.0..span.1].iter().all(|&b| b == b'.');
        let columns = LineColumns {
            ts: time,
            seconds: true,
            cpu: line.cpu,
            tid: line.task.map(|task| task.tid),
            pid: None,
            comm: line.task.map(|task| self.comm_key(start, task)),
            extra: self.kept(self.prefix, (!quiet).then_some(span)),
            dur: line.dur,
        };
        self.what(start, &line.what, &columns);
    }

    fn step(&mut self, cpu: Option<u16>, tid: Option<i32>, step: GraphStep) {
        let at = self.parsed.position();
        self.parsed.graph_lines.push(GraphLine { at, cpu, tid, step });
    }

    /// `base` is where positions count from.
    fn what(&mut self, base: usize, what: &GraphEvent, columns: &LineColumns) {
        let span = |(from, to): Span| (base + from, base + to);
        let LineColumns { cpu, tid, .. } = *columns;
        match *what {
            GraphEvent::Interrupt => {
                self.used = Some(LineUse::Message);
                return;
            }
            GraphEvent::Enter(call) => {
                let entry = FunctionEntry {
                    depth: call.depth,
                    line: self.record_line,
                    ts: columns.ts,
                    name: self.key(span(call.name)),
                    comm: columns.comm,
                    pid: columns.pid,
                    rest: self.printed(base, &call),
                    called: call.caller.0 < call.caller.1,
                    extra: columns.extra,
                };
                self.step(cpu, tid, GraphStep::Enter(entry));
            }
            GraphEvent::Leaf(call) => {
                let name = self.key(span(call.name));
                let rest = self.printed(base, &call);
                let (depth, called) = (call.depth, call.caller.0 < call.caller.1);
                let row = self.parsed.rows.len as u32;
                self.step(cpu, tid, GraphStep::Leaf { row, depth, called });
                let row = self.graph_row(columns, EventKind::Function);
                let rows = &mut self.parsed.rows;
                rows.args[row] = rest;
                rows.name[row] = name;
                rows.status[row] = Status::Complete as u8;
                rows.valid[row] |= C::Args.bit() | C::Name.bit() | C::Status.bit();
                self.ret(row, call.ret);
            }
            GraphEvent::Exit(end) => {
                let name = end.name.map(|name| self.key(span(name)));
                let (depth, bytes, seconds) = (end.depth, self.bytes, columns.seconds);
                let row = self.parsed.rows.len as u32;
                self.step(cpu, tid, GraphStep::Exit { row, depth, bytes, seconds });
                // The serial stage knows whether its entry is in the log.
                self.used = None;
                let row = self.graph_row(columns, EventKind::Function);
                if let Some(name) = name {
                    self.parsed.rows.name[row] = name;
                    self.parsed.rows.valid[row] |= C::Name.bit();
                }
                self.ret(row, end.ret);
            }
            GraphEvent::Comment { text, closed } => {
                self.comment(span(text), closed, columns);
                return;
            }
        }
        if self.format.stacks {
            self.grammar.last.line(cpu, tid, None);
        }
    }

    /// What is printed after a function's name.
    fn printed(&mut self, base: usize, call: &FunctionCall) -> u128 {
        let span = |(from, to): Span| (base + from, base + to);
        let (rest, caller) = (span(call.rest), span(call.caller));
        match (rest.0 < rest.1, caller.0 < caller.1) {
            (false, false) => 0,
            (true, false) => self.view(rest),
            (false, true) => self.view(caller),
            (true, true) => {
                let mut joined = std::mem::take(&mut self.parsed.scratch);
                joined.clear();
                for (at, part) in [rest, caller].into_iter().enumerate() {
                    joined.extend_from_slice(if at > 0 { b" " } else { b"" });
                    let part = crate::text::escape::escape_invalid(&self.text[part.0..part.1]);
                    joined.extend_from_slice(part.as_bytes());
                }
                let view = self.parsed.side.put(&joined);
                self.parsed.scratch = joined;
                view
            }
        }
    }

    fn graph_row(&mut self, columns: &LineColumns, kind: EventKind) -> usize {
        let rows = &mut self.parsed.rows;
        let row = rows.push();
        let mut valid = C::Line.bit() | C::Kind.bit();
        rows.line[row] = self.record_line;
        rows.kind[row] = kind as u8;
        if let Some(ts) = columns.ts {
            rows.ts[row] = ts;
            valid |= C::Ts.bit();
        }
        if let Some(cpu) = columns.cpu {
            rows.cpu[row] = cpu;
            valid |= C::Cpu.bit();
        }
        if let Some(tid) = columns.tid {
            rows.tid[row] = tid;
            valid |= C::Tid.bit();
        }
        if let Some(pid) = columns.pid {
            rows.pid[row] = pid;
            valid |= C::Pid.bit();
        }
        if let Some(comm) = columns.comm {
            rows.comm[row] = comm;
            valid |= C::Comm.bit();
        }
        if let Some(extra) = columns.extra {
            rows.extra[row] = extra;
            valid |= C::Extra.bit();
        }
        if let Some(dur) = columns.dur {
            rows.dur[row] = dur;
            valid |= C::DurNs.bit();
        }
        rows.valid[row] = valid;
        row
    }

    fn ret(&mut self, row: usize, ret: Option<i64>) {
        if let Some(ret) = ret {
            self.parsed.rows.ret[row] = ret;
            self.parsed.rows.valid[row] |= C::Ret.bit();
        }
    }

    /// An event between the functions, or text that a program wrote, which the kernel prints
    /// without a name.
    fn comment(&mut self, text: Span, closed: bool, columns: &LineColumns) {
        let span = |(from, to): Span| (text.0 + from, text.0 + to);
        let (kind, name, args) = match payload::parse(&self.text[text.0..text.1]) {
            Payload::Event { name, text } => (EventKind::Event, self.key(span(name)), span(text)),
            // Whose call it is, only the serial stage may know.
            Payload::Enter { call, args } => {
                (EventKind::Event, self.call_key(b"sys_enter", call, text.0), span(args))
            }
            Payload::Exit { call, ret } => {
                (EventKind::Event, self.call_key(b"sys_exit", call, text.0), span(ret))
            }
            Payload::Marker { name, text } => {
                (EventKind::Marker, self.static_key(name), span(text))
            }
            Payload::Stack { name, .. } | Payload::Tracer { name, .. } => {
                (EventKind::Event, self.static_key(name), text)
            }
            Payload::Function { .. } | Payload::Nameless { .. } => {
                (EventKind::Marker, self.static_key(b"print"), text)
            }
        };
        let row = self.parsed.rows.len as u32;
        self.step(columns.cpu, columns.tid, GraphStep::Row { row });
        let row = self.graph_row(columns, kind);
        if self.format.stacks {
            self.grammar.last.line(columns.cpu, columns.tid, Some(row));
        }
        if !closed {
            let target = StackOwner::Row(row);
            self.owner = Some(LineOwner {
                target,
                text: Some(args),
                free: true,
                frames: false,
                comment: true,
            });
        }
        let args = self.view(args);
        let rows = &mut self.parsed.rows;
        rows.name[row] = name;
        rows.args[row] = args;
        rows.valid[row] |= C::Name.bit() | C::Args.bit();
    }

    /// `sys_enter_read`, `sys_exit_read`; `sys_enter` of a call by number.
    fn call_key(&mut self, half: &'static [u8], call: payload::CallId, base: usize) -> u32 {
        let payload::CallId::Name(from, to) = call else { return self.static_key(half) };
        let mut name = std::mem::take(&mut self.parsed.scratch);
        name.clear();
        name.extend_from_slice(half);
        name.push(b'_');
        name.extend_from_slice(&self.text[base + from..base + to]);
        let key = self.static_key(&name);
        self.parsed.scratch = name;
        key
    }
}
