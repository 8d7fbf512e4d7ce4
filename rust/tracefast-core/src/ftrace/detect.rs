//! Detects ftrace logs, and which optional columns they have.

use crate::ftrace::format::{Format, Graph};
use crate::ftrace::function_graph::{self, Separator};
use crate::ftrace::header::{COMM, Clock, Header, Layout, layouts};
use crate::ftrace::machine_guess::Evidence;
use crate::ftrace::non_records::classify::{NonRecord, classify, names_ftrace};
use crate::ftrace::pasted;
use crate::ftrace::payload::{CallId, Payload, parse};
use crate::ftrace::wrapper::{self, LineEnds, Wrap};
use crate::linux::task_events::TaskEvent;
use crate::text::block::BOM;
use crate::text::prefix::Prefix;

/// How many lines decide between formats.
const LINES: usize = 200;

/// How many calls must end within their arguments at the width of the log.
const TORN: usize = 3;

/// The format of a log by its first lines; `None` if no line is ftrace's.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::{Clock, self};
/// let format = ftrace::detect(b"  bash-7  [001] d..2.  2881.878957: sys_read -> 0x2\n").unwrap();
/// assert_eq!((format.flags, format.tgid, format.clock), (5, false, Clock::Uptime));
/// assert_eq!(ftrace::detect(b"close(3) = 0\n"), None);
/// ```
pub fn detect(text: &[u8]) -> Option<Format> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let plain = pasted::uncoloured(text);
    let coloured = plain.is_some();
    let text = plain.as_deref().unwrap_or(text);
    let wrap = match wrap(text) {
        Wrap::None => pasted::prefix(text).map_or(Wrap::None, Wrap::Prefix),
        wrap => wrap,
    };
    let format = Format { wrap, ends: LineEnds::of(text), coloured, ..Format::default() };
    let mut found = Found { format, ..Found::default() };
    let mut known = false;
    for line in text.split(|&b| b == b'\n') {
        let (start, end) = found.format.own(line);
        let line = &line[start..end];
        // A page has lines of any form around its trace.
        let page = found.format.wrap == Wrap::Page;
        known = (found.line(line) && !(page && found.records() == 0)) || known;
    }
    known.then(|| found.format())
}

/// What other programs put around the lines of this log.
fn wrap(text: &[u8]) -> Wrap {
    if wrapper::is_page(text) {
        return Wrap::Page;
    }
    // A dump is surrounded by other messages of the kernel.
    let mut lines = lines(text).take(LINES).filter(|line| !line.is_empty());
    let (prefixed, all) = lines.by_ref().fold((0, 0), |(prefixed, all), line| {
        (prefixed + usize::from(wrapper::kernel_log(line).is_some()), all + 1)
    });
    if prefixed * 2 > all { Wrap::KernelLog } else { Wrap::None }
}

/// How many of the first lines of `text` look like ftrace's: to choose between formats. A log that
/// names its tracer is ftrace's, whatever its records look like.
pub fn likeness(text: &[u8]) -> usize {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let plain = pasted::uncoloured(text);
    let text = plain.as_deref().unwrap_or(text);
    if lines(text).take(LINES).any(|line| line.starts_with(b"# tracer: ")) {
        return LINES + 1;
    }
    match wrap(text) {
        // The page around a trace is long and contains scripts.
        Wrap::Page => {
            let record =
                text.split(|&b| b == b'\n').any(|line| layouts::default::parse(line).is_some());
            if record { LINES + 1 } else { 0 }
        }
        Wrap::KernelLog => {
            let dumped = lines(text).filter_map(|line| line.get(wrapper::kernel_log(line)?..));
            dumped.filter(|line| is_event(line)).take(LINES).count()
        }
        _ => {
            let prefix = pasted::prefix(text);
            let own = |line| prefix.and_then(|prefix: Prefix| prefix.skip(line)).unwrap_or(0);
            let full = lines(text).map(|line| &line[own(line)..]).filter(|line| !line.is_empty());
            full.take(LINES).filter(|line| is_event(line)).count()
        }
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// The line is a record or one that only ftrace writes.
pub(crate) fn is_event(line: &[u8]) -> bool {
    match classify(line) {
        NonRecord::Header => names_ftrace(line),
        NonRecord::Lost { .. } => true,
        _ => layouts::parse(line, Layout::Default).is_some() || is_graph(line),
    }
}

/// The line is one of `function_graph`, or of those between them.
fn is_graph(line: &[u8]) -> bool {
    // C has `|` at starts of lines, too.
    function_graph::parse(line, false).is_some_and(|line| {
        line.cpu.is_some() || line.dur.is_some() || line.time.is_some() || line.task.is_some()
    }) || matches!(function_graph::separator(line), Some(Separator::Switch { .. }))
}

/// What the records show.
#[derive(Default)]
struct Found {
    format: Format,
    /// Records by layout.
    layouts: [usize; Layout::ALL.len()],
    /// Where the column of names ends, and in how many records.
    widths: [usize; 32],
    /// Lengths of the lines since the last record: they may be the start of a name.
    run: Vec<usize>,
    flags: Option<u8>,
    uptime: usize,
    start: usize,
    ticks: usize,
    /// Lines that would be records in a log without columns.
    bare: usize,
    tracer: bool,
    calls: Evidence,
    /// The length of the longest record.
    longest: usize,
    /// Calls of this length, and of others, that end within their arguments.
    torn: (usize, usize),
    /// Lines of `function_graph`.
    graphs: usize,
    /// The log names this tracer.
    graph_tracer: bool,
}

impl Found {
    /// Whether the line is one of ftrace's.
    fn line(&mut self, line: &[u8]) -> bool {
        if let Some(header) = layouts::parse(line, Layout::Default) {
            self.record(line, &header);
            return true;
        }
        if let Some(line) = function_graph::parse(line, false) {
            self.graphs += 1;
            self.uptime += usize::from(line.time.is_some() && !line.relative);
            self.start += usize::from(line.relative);
            self.run.clear();
            return true;
        }
        self.format.functions |= line == b"# tracer: function";
        self.graph_tracer |= line == b"# tracer: function_graph";
        self.tracer |= line.starts_with(b"# tracer: ");
        self.format.trace_cmd |= self.records() == 0 && line.starts_with(b"cpus=");
        if self.run.len() == COMM {
            self.run.remove(0);
        }
        self.run.push(line.len());
        let known = classify(line);
        self.bare += usize::from(known == NonRecord::Unknown);
        is_graph(line)
            || (known == NonRecord::Header && names_ftrace(line))
            || matches!(known, NonRecord::Lost { .. })
    }

    fn record(&mut self, line: &[u8], header: &Header) {
        self.layouts[header.layout as usize] += 1;
        if let Some(count) = self.column(header).and_then(|end| self.widths.get_mut(end)) {
            *count += 1;
        }
        self.run.clear();
        self.format.tgid |= header.has_tgid;
        self.flags.get_or_insert((header.flags.1 - header.flags.0) as u8);
        match header.clock {
            _ if header.layout == Layout::NoContext => {}
            Clock::Uptime => self.uptime += 1,
            Clock::Start => self.start += 1,
            Clock::Ticks => self.ticks += 1,
            Clock::None => {}
        }
        let payload = &line[header.payload..];
        if line.len() > self.longest {
            self.longest = line.len();
            self.torn = (0, self.torn.0 + self.torn.1);
        }
        let parsed = parse(payload);
        if let Payload::Enter { args, .. } = parsed
            && payload[..args.0].ends_with(b"(")
            && args.1 == payload.len()
        {
            let counted =
                if line.len() == self.longest { &mut self.torn.0 } else { &mut self.torn.1 };
            *counted += 1;
        }
        match parsed {
            Payload::Enter { call: CallId::Name(start, end), args } => {
                self.calls.name(&payload[start..end], &payload[args.0..args.1]);
            }
            Payload::Exit { call: CallId::Name(..), ret } => {
                self.calls.result(&payload[ret.0..ret.1]);
            }
            Payload::Enter { call: CallId::Number(number), args } => {
                self.calls.entry(header.pid, number, &payload[args.0..args.1]);
            }
            Payload::Exit { call: CallId::Number(number), ret } => {
                self.calls.exit(header.pid, number, &payload[ret.0..ret.1]);
            }
            Payload::Function { .. } => self.format.functions = true,
            Payload::Stack { .. } => self.format.stacks = true,
            Payload::Event { name, .. } => {
                let task_event = TaskEvent::from_name(&payload[name.0..name.1]);
                self.format.renames |= task_event.is_some_and(TaskEvent::renames);
            }
            _ => {}
        }
    }

    /// The width at which the lines were cut. Behind prefixes of different lengths it is not known.
    fn cut(&self) -> u32 {
        let found = self.torn.0 >= TORN && self.torn.1 == 0 && self.format.wrap == Wrap::None;
        if found { self.longest as u32 } else { 0 }
    }

    fn format(&self) -> Format {
        Format {
            cut: self.cut(),
            layout: self.layout(),
            width: self.width(),
            flags: self.flags.unwrap_or(0),
            clock: self.clock(),
            abi: self.calls.abi(),
            graph: self.graph(),
            ..self.format
        }
    }

    fn records(&self) -> usize {
        self.layouts.iter().sum()
    }

    /// The lines of `function_graph` have columns, unless nothing else is in a log that names it.
    fn graph(&self) -> Graph {
        match (self.graphs > 0, self.graph_tracer) {
            (true, _) => Graph::Columns,
            (false, true) if self.records() == 0 => Graph::Bare,
            (false, _) => Graph::No,
        }
    }

    /// The most common layout. Without columns all records look like other text: the tracer's name
    /// says that they are records.
    fn layout(&self) -> Layout {
        let most =
            Layout::ALL.into_iter().rev().max_by_key(|&layout| self.layouts[layout as usize]);
        let columns = self.records() - self.layouts[Layout::NoContext as usize];
        match most {
            _ if self.graph() != Graph::No && columns == 0 => Layout::Default,
            _ if columns == 0 && self.tracer && self.bare > 0 => Layout::NoContext,
            Some(most) if self.layouts[most as usize] > 0 => most,
            _ => Layout::Default,
        }
    }

    /// Where the column of names ends. A name with line feeds ends before it, and starts on the
    /// lines before.
    fn column(&self, header: &Header) -> Option<usize> {
        let (_, end) = header.comm?;
        let column = if header.layout == Layout::Latency { COMM / 2 } else { COMM };
        let mut whole = end;
        for line in self.run.iter().rev() {
            whole += line + 1;
            if whole >= column {
                break;
            }
        }
        Some(if whole == column { whole } else { end })
    }

    /// The end of the column of names, unless half of the records have another.
    fn width(&self) -> u8 {
        let all: usize = self.widths.iter().sum();
        let most = self.widths.iter().enumerate().max_by_key(|&(_, &count)| count);
        most.filter(|&(_, &count)| count * 2 > all).map_or(0, |(end, _)| end as u8)
    }

    fn clock(&self) -> Clock {
        if self.graph() != Graph::No && self.ticks + self.uptime + self.start == 0 {
            Clock::None
        } else if self.ticks > self.uptime.max(self.start) {
            Clock::Ticks
        } else if self.start > self.uptime {
            Clock::Start
        } else {
            Clock::Uptime
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftrace::Machine;

    fn format(text: &str) -> Format {
        detect(text.as_bytes()).unwrap_or_else(|| panic!("ftrace's: {text}"))
    }

    #[test]
    fn columns_and_clock() {
        let plain = format("            bash-2101    [001]   2881.878957: x: y\n");
        assert_eq!((plain.flags, plain.tgid, plain.clock), (0, false, Clock::Uptime));
        let full = format("          <idle>-0       (-------) [001] d..h2..  2882.097484: x: y\n");
        assert_eq!((full.flags, full.tgid), (7, true));
        assert_eq!(
            format("            bash-2101    [001] d..2.            2: x: y\n").clock,
            Clock::Ticks
        );
        assert_eq!(format("# tracer: nop\n#\n").flags, 0);
    }

    #[test]
    fn lines_of_function_graph() {
        let found = |text: &str| {
            let found = format(text);
            (found.graph, found.layout, found.clock())
        };
        let columns = Graph::Columns;
        let header = "# tracer: function_graph\n#\n";
        let line = " 0)   1.382 us    |  f();\n";
        assert_eq!(found(line), (columns, Layout::Default, "none"));
        assert_eq!(found(&format!("{header}{line}}}\n")), (columns, Layout::Default, "none"));
        assert_eq!(found(&format!("  1.000000 | {line}")).2, "uptime");
        assert_eq!(found("  4 us |   0)   sh-7    |  d..2 |   0.1 us    |  f();\n").2, "delta");
        let bare = (Graph::Bare, Layout::Default, "none");
        assert_eq!(found(&format!("{header}f() {{\n}}\n")), bare);
        assert_eq!(found("# tracer: nop\nsys_read(fd: 3)\n").0, Graph::No);
        assert!(likeness(line.as_bytes()) > 0);
        assert_eq!(likeness(b"f() {\n}\n"), 0);
    }

    #[test]
    fn calls_by_number_and_by_name() {
        let head = "            bash-2101    [001] .....  2881.878957: ";
        let arm64 = format!("{head}sys_enter: NR 63 (3, ffffcad6c47c, 340, 0, 0, 0)\n");
        let calls = format(&arm64).abi;
        assert_eq!((calls.machine, calls.named), (Some(Machine::Arm64), false));
        let both = format!("{head}sys_read(fd: 3, buf: 7f, count: 1)\n{arm64}");
        assert!(format(&both).abi.named);
    }

    #[test]
    fn other_text_is_not_ftrace() {
        assert_eq!(detect(b""), None);
        assert_eq!(detect(b"hello, world\n# comment\n"), None);
        assert_eq!(likeness(b"7 close(3) = 0\n# x\n"), 0);
        let text = b"cpus=2\n#\nCPU:0 [LOST 1 EVENTS]\n  b-1 [000] 1.0: x: y\nprose\n\n";
        assert_eq!(likeness(text), 3);
        for line in [
            "#",
            "# Network services, Internet style",
            "#   define FUNCTION name",
            "  | flags(a, b);",
            "exiting_irq();",
            "version = 4",
            "--",
        ] {
            assert_eq!(likeness(line.as_bytes()), 0, "{line}");
        }
        // Without their columns the records may be taken for strace's calls.
        let bare = "# tracer: nop\n#\n".to_owned() + &"sys_read(fd: 3)\n".repeat(300);
        assert!(likeness(bare.as_bytes()) > crate::strace::likeness(bare.as_bytes()));
    }
}
