//! A second reading of ftrace's text, slow and obvious: the whole log as a list of lines, each line
//! by itself, then what belongs together. Written from the grammar; it shares nothing with the
//! parser but the tables of names. It does not read the tracer `function_graph`.

pub(crate) mod calls;
pub(crate) mod function;
pub(crate) mod header;
pub(crate) mod layouts;
pub(crate) mod non_records;
pub(crate) mod payload;
pub(crate) mod text;
pub(crate) mod wrapper;

pub use header::{Header, header};
use layouts::LATENCY;
pub use layouts::{Layout, any_columns};
pub use payload::{Call, Payload, hexadecimal, payload};

use std::collections::HashMap;
use std::ops::Range;

use tracefast_core::events::line_counts::LineUse;
use tracefast_core::ftrace::decode::is_whole;
use tracefast_core::linux::machine::SyscallAbi as Machine;

use crate::ftrace::non_records::{Other, other};
use crate::ftrace::wrapper::Wrap;

/// What one row says. Text as the log has it, byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs)] // Columns of the schema.
pub struct Row {
    pub line: u64,
    pub kind: &'static str,
    pub name: Option<Vec<u8>>,
    pub ts: Option<i64>,
    pub dur: Option<i64>,
    pub tid: Option<i32>,
    /// Where the log prints it.
    pub pid: Option<i32>,
    pub comm: Option<Vec<u8>>,
    pub cpu: Option<u16>,
    pub args: Option<Vec<u8>>,
    pub ret: Option<i64>,
    pub errno: Option<String>,
    pub status: Option<&'static str>,
    pub fd: Option<i64>,
    pub requested: Option<i64>,
    pub bytes: Option<i64>,
    pub path: Option<Vec<u8>>,
    pub extra: Option<Vec<u8>>,
}

/// A log as the reference reads it.
#[derive(Debug, Default)]
pub struct Reading {
    /// In the order of their lines.
    pub rows: Vec<Row>,
    /// Of every line, in their order.
    pub uses: Vec<LineUse>,
}

/// A line by itself.
#[derive(Debug, Clone)]
enum Line {
    Records(Vec<(Header, Payload)>),
    /// The end of a record is missing.
    Cut,
    /// `cut`: it may be that, too, where no stack is open.
    Frame {
        cut: bool,
    },
    Other(Other),
}

/// What the text alone does not show.
pub struct Hints<'a> {
    /// The machine that the numbers of calls belong to, which is a guess.
    pub machine: Machine,
    /// The log is known to have stacks.
    pub stacks: bool,
    /// No stack after this line belongs to a record before it.
    pub seam: &'a dyn Fn(&[u8]) -> bool,
}

/// Reads a log.
pub fn read(log: &[u8], hints: &Hints<'_>) -> Reading {
    let mut whole: Vec<&[u8]> = log.split(|&b| b == b'\n').collect();
    if whole.last().is_some_and(|last| last.is_empty()) {
        whole.pop();
    }
    let wrap = wrapper::wrap(&whole);
    let mut ends = Vec::new();
    let mut texts = Vec::new();
    let mut start = 0;
    for &line in &whole {
        let (from, upto) = wrapper::inner(line, wrap);
        texts.push(&line[from..upto]);
        ends.push(start + upto);
        start += line.len() + 1;
    }
    let usual = layouts::usual(&texts);
    let width = layouts::width(&texts, usual);
    let mut lines: Vec<Line> = texts.iter().map(|text| line(text, usual, width, wrap)).collect();
    one_clock(&mut lines);
    functions_alone(&mut lines);
    let broken = broken_names(&texts, &mut lines, usual, width);
    let mut reader = Reader {
        log,
        wrap,
        reading: Reading { rows: Vec::new(), uses: vec![LineUse::Unparsed; texts.len()] },
        calls: calls::Calls::new(by_names(&lines), hints.machine),
        trace: trace(&lines),
        open: None,
        last: HashMap::new(),
    };
    let mut at = 0;
    while at < lines.len() {
        let first = at;
        // Lines before the columns of a record, which start its name.
        if let Some(&(_, last)) = broken.iter().find(|&&(start, _)| start == at) {
            reader.reading.uses[first..=last].fill(LineUse::Continuation);
            at = last;
        }
        if !hints.stacks || (hints.seam)(whole[at]) {
            reader.last.clear();
        }
        let place = Place { first: first as u64 + 1, last: at as u64 + 1, end: ends[at] };
        reader.reading.uses[first] = reader.line(&place, &lines[at], texts[at]);
        at += 1;
    }
    reader.reading.rows.sort_by_key(|row| row.line);
    reader.reading
}

/// What has been read so far.
struct Reader<'a> {
    log: &'a [u8],
    wrap: Wrap,
    reading: Reading,
    calls: calls::Calls,
    /// The lines from the first record to the last.
    trace: Range<u64>,
    /// The row that the next line may belong to.
    open: Option<Open>,
    /// The task of each processor's last record, its row, and the stacks that it has, at most one of
    /// each kind. Stacks are not records, but one that cannot be its own shows that the record was
    /// not the last.
    last: HashMap<u16, (Option<i32>, usize, Vec<&'static str>)>,
}

/// Where a line is.
struct Place {
    /// The number of the line on which its name started, and its own.
    first: u64,
    last: u64,
    /// Where its text ends in the log.
    end: usize,
}

/// A row that lines without columns may belong to.
#[derive(Default)]
struct Open {
    row: usize,
    /// Where its text starts in the log, if it continues over them.
    text: Option<usize>,
    /// Somebody wrote it: it may be anything.
    free: bool,
    /// What its row has before frames of its stack, if they may follow.
    stack: Option<Vec<u8>>,
    /// Where the first frame starts.
    frames: Option<usize>,
}

impl Reader<'_> {
    /// Reads a line, and returns what it is used for.
    fn line(&mut self, place: &Place, line: &Line, text: &[u8]) -> LineUse {
        match line {
            Line::Records(records) => {
                let (header, payload) = &records[0];
                let used = self.record(place.first, place.end, header, payload);
                for (header, payload) in &records[1..] {
                    self.record(place.last, place.end, header, payload);
                }
                used
            }
            Line::Other(Other::Lost { cpu, count }) => {
                self.open = None;
                if let Some(cpu) = cpu {
                    self.calls.lost(*cpu, place.last);
                }
                self.reading.rows.push(Row {
                    line: place.first,
                    kind: "lost",
                    name: Some(b"lost".to_vec()),
                    args: Some(text.to_vec()),
                    cpu: *cpu,
                    ret: *count,
                    ..Row::default()
                });
                LineUse::Events
            }
            Line::Other(Other::Message) => {
                self.open = None;
                LineUse::Message
            }
            Line::Other(Other::Blank) => LineUse::Blank,
            Line::Other(Other::Text | Other::Comment) | Line::Frame { .. }
                if self.goes_on(place, line, text) =>
            {
                LineUse::Continuation
            }
            Line::Other(Other::Header | Other::Comment) => {
                self.open = None;
                let heads = [&b"# tracer: "[..], b"cpus=", b"##### CPU "];
                if heads.iter().any(|head| text.starts_with(head)) {
                    self.calls.reset(place.first);
                }
                LineUse::Header
            }
            // Of another part of the kernel.
            Line::Frame { .. } if self.wrap == Wrap::KernelLog => {
                self.open = None;
                LineUse::Message
            }
            // Of the page around the trace.
            Line::Other(Other::Text) | Line::Frame { .. } | Line::Cut
                if self.wrap == Wrap::Page && !self.trace.contains(&place.last) =>
            {
                self.open = None;
                LineUse::Header
            }
            Line::Other(Other::Text) | Line::Frame { .. } | Line::Cut => {
                self.open = None;
                self.reading.rows.push(Row {
                    line: place.first,
                    kind: "unparsed",
                    args: Some(text.to_vec()),
                    ..Row::default()
                });
                LineUse::Unparsed
            }
        }
    }

    /// Puts the line into the row before it, if that can go on.
    fn goes_on(&mut self, place: &Place, line: &Line, text: &[u8]) -> bool {
        let Some(open) = &mut self.open else { return false };
        let row = &mut self.reading.rows[open.row];
        let (frame, cut) = match line {
            Line::Frame { cut } => (true, *cut),
            _ => (false, false),
        };
        match (&open.stack, open.text) {
            (Some(before), _) if frame => {
                // No text follows a stack.
                open.text = None;
                let start = *open.frames.get_or_insert(place.end - text.len());
                let mut extra = before.clone();
                if !before.is_empty() {
                    extra.push(b'\n');
                }
                extra.extend(wrapper::inner_lines(&self.log[start..place.end], self.wrap));
                row.extra = Some(extra);
                true
            }
            // Lines of the kernel's log are not one text.
            (_, Some(start)) if self.wrap != Wrap::KernelLog && !cut => {
                // Lines that look like frames after it belong to it.
                open.stack = None;
                let text = &self.log[start..place.end];
                row.args = Some(wrapper::inner_lines(text, self.wrap));
                if !open.free && !text::may_go_on(text) {
                    open.text = None;
                }
                true
            }
            _ => false,
        }
    }

    fn record(&mut self, line: u64, end: usize, header: &Header, payload: &Payload) -> LineUse {
        self.open = None;
        let rows = &mut self.reading.rows;
        let row = row(line, header);
        let mut used = LineUse::Events;
        let mut own = rows.len();
        let call = self.calls.row_of(header.tid);
        let (mut text, mut framed) = (None, true);
        match payload {
            Payload::Enter { call, args } => {
                self.calls.enter(rows, row, call, args, header.ticks);
                framed = self.calls.row_of(header.tid).is_none();
            }
            Payload::Exit { call, value } => {
                let (index, joined) = self.calls.exit(rows, row, call, *value, header.ticks);
                own = index;
                framed = false;
                if joined {
                    used = LineUse::Resumed;
                }
            }
            Payload::Stack(name, frame) => {
                let args = Some(Vec::new());
                rows.push(Row { kind: "event", name: Some(name.as_bytes().to_vec()), args, ..row });
                // It belongs to what its task did just before on its processor.
                let last = header.cpu.and_then(|cpu| self.last.remove(&cpu));
                // Whose record it was may be unknown.
                let last = last.filter(|(tid, _, stacks)| {
                    (tid.is_none() || *tid == header.tid) && !stacks.contains(name)
                });
                let owner = last.as_ref().map_or(own, |&(_, row, _)| row);
                if let (Some(cpu), Some((tid, row, mut stacks))) = (header.cpu, last) {
                    stacks.push(name);
                    self.last.insert(cpu, (tid, row, stacks));
                }
                let before = rows[owner].extra.clone().unwrap_or_default();
                let mut frames = None;
                if !frame.is_empty() {
                    let parts: Vec<&[u8]> =
                        [&before[..], frame].into_iter().filter(|part| !part.is_empty()).collect();
                    rows[owner].extra = Some(parts.join(&b'\n'));
                    frames = Some(end - frame.len());
                }
                let stack = Some(before);
                self.open = Some(Open { row: owner, stack, frames, ..Open::default() });
                return used;
            }
            Payload::Function { name, args } => {
                let (name, args) = (Some(name.clone()), Some(args.clone()));
                rows.push(Row { kind: "function", name, args, ..row });
            }
            Payload::Marker { name, args } => {
                (text, framed) = (Some(end - args.len()), false);
                let (name, args) = (Some(name.as_bytes().to_vec()), Some(args.clone()));
                rows.push(Row { kind: "marker", name, args, ..row });
            }
            Payload::Event { name, args } => {
                // Whatever its task was in, it does not return from it.
                if name.as_deref() == Some(b"sched_process_exit") {
                    self.calls.gone(row.tid);
                }
                if name.as_deref() == Some(b"sched_process_exec")
                    && let Some((from, to)) = payload::exec(args)
                {
                    self.calls.exec(rows, from, to);
                }
                let told = |name: &Vec<u8>| {
                    let (name, args) =
                        (String::from_utf8_lossy(name), String::from_utf8_lossy(args));
                    is_whole(&name, &args)
                };
                let open = text::may_go_on(args) && !name.as_ref().is_some_and(told);
                text = open.then(|| end - args.len());
                rows.push(Row {
                    kind: "event",
                    name: name.clone(),
                    args: Some(args.clone()),
                    ..row
                });
            }
        }
        // Old kernels print frames without a record of their own; what a program wrote is text, and
        // halves of calls have none.
        let before = self.reading.rows[own].extra.clone().unwrap_or_default();
        let stack = framed.then_some(before);
        self.open = Some(Open { row: own, text, free: !framed, stack, frames: None });
        // A call that has ended is not what any processor is in.
        if call != self.calls.row_of(header.tid) {
            self.last.retain(|_, (_, row, _)| Some(*row) != call);
        }
        if let Some(cpu) = header.cpu {
            self.last.insert(cpu, (header.tid, own, Vec::new()));
        }
        used
    }
}

/// From the first record to the last; none if there is none.
fn trace(lines: &[Line]) -> Range<u64> {
    let known = |line: &Line| matches!(line, Line::Records(_) | Line::Other(Other::Lost { .. }));
    let found = lines.iter().position(known).zip(lines.iter().rposition(known));
    found.map_or(0..0, |(first, last)| first as u64 + 1..last as u64 + 2)
}

/// A line by itself.
fn line(text: &[u8], usual: Layout, width: usize, wrap: Wrap) -> Line {
    let what = other(text, wrap);
    let records = layouts::records(text, usual, width);
    if !records.is_empty() {
        return Line::Records(records);
    }
    let cut = header::has_columns(text) || (what == Other::Text && header::is_cut(text));
    // A tag, the end of a string in a script.
    let tag = text.trim_ascii_start().starts_with(b"<") || text.ends_with(b"\";");
    let of_page = wrap == Wrap::Page && tag;
    let cut = cut || is_cut(text, width) || text.starts_with(b"^C") || of_page;
    let cut = wrap != Wrap::KernelLog && cut;
    match what {
        _ if layouts::is_frame(text) => Line::Frame { cut },
        _ if cut => Line::Cut,
        what => Line::Other(what),
    }
}

/// The line starts as a record does, with a name and a pid in their columns.
fn is_cut(text: &[u8], width: usize) -> bool {
    let Some(rest) = text.get(width..).and_then(|rest| rest.strip_prefix(b"-")) else {
        return false;
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    width > 0 && digits > 0 && matches!(rest.get(digits), None | Some(b' '))
}

/// In a log of functions, a word alone is one, too.
fn functions_alone(lines: &mut [Line]) {
    let records = |line: &Line| match line {
        Line::Records(records) => records.clone(),
        _ => Vec::new(),
    };
    let known = |(header, payload): &(Header, Payload)| {
        header.cpu.is_some() && matches!(payload, Payload::Function { .. })
    };
    if !lines.iter().any(|line| records(line).iter().any(known)) {
        return;
    }
    for line in lines {
        let Line::Records(records) = line else { continue };
        for (header, payload) in records {
            if let Payload::Event { name: None, args } = payload
                && header.cpu.is_some()
                && let Some((name, args)) = function::function(payload::without_blanks(args), true)
            {
                *payload = Payload::Function { name, args };
            }
        }
    }
}

/// Times that count seconds and others cannot share a column: the clock of most records stays.
fn one_clock(lines: &mut [Line]) {
    let headers = |lines: &[Line]| -> Vec<Header> {
        let records = lines.iter().filter_map(|line| match line {
            Line::Records(records) => Some(records[0].0.clone()),
            _ => None,
        });
        records.filter(|header| header.ts.is_some()).collect()
    };
    let headers = headers(lines);
    let count = |is: fn(&Header) -> bool| headers.iter().filter(|header| is(header)).count();
    let seconds = count(|header| !header.ticks && !header.since);
    let ticks = count(|header| header.ticks) > seconds.max(count(|header| header.since));
    for line in lines {
        if let Line::Records(records) = line {
            for (header, _) in records {
                header.ts = header.ts.filter(|_| header.ticks == ticks);
            }
        }
    }
}

/// The log names system calls, so that those by number are the same once more.
fn by_names(lines: &[Line]) -> bool {
    let named = |payload: &Payload| {
        matches!(
            payload,
            Payload::Enter { call: Call::Name(_), .. } | Payload::Exit { call: Call::Name(_), .. }
        )
    };
    lines.iter().any(|line| {
        matches!(line, Line::Records(records) if records.iter().any(|(_, payload)| named(payload)))
    })
}

/// Names of commands with line feeds in them: the columns of such a record start with the last part
/// of the name, and with the lines before it, it is as wide as all of them are. Gives the first and
/// last line of each, and puts the whole name into the last.
fn broken_names(
    texts: &[&[u8]],
    lines: &mut [Line],
    usual: Layout,
    full: usize,
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for last in 0..lines.len() {
        let Line::Records(records) = &lines[last] else { continue };
        let header = &records[0].0;
        // Names of another layout are of another width.
        if header.comm.is_none() || !layouts::has(texts[last], usual) {
            continue;
        }
        let (mut width, mut first) = (header.before, last);
        while width < full && first > 0 {
            if matches!(lines[first - 1], Line::Records(_)) {
                break;
            }
            first -= 1;
            width += texts[first].len() + 1;
        }
        // A name is shorter than its column, but in the narrow one.
        let aligned = full <= LATENCY || texts[first].starts_with(b" ");
        if first == last || width != full || !aligned {
            continue;
        }
        let mut name = texts[first..last].join(&b'\n');
        name.push(b'\n');
        name.extend_from_slice(&texts[last][..header.before]);
        if let Line::Records(records) = &mut lines[last] {
            records[0].0.comm = Some(header::trim_start(&name).to_vec());
        }
        found.push((first, last));
    }
    found
}

/// The columns of a row that its record's give.
fn row(line: u64, header: &Header) -> Row {
    // Dots say nothing.
    let says = header.flags.iter().any(|&b| b != b'.');
    Row {
        line,
        ts: header.ts,
        tid: header.tid,
        pid: header.tgid,
        comm: header.comm.clone(),
        cpu: header.cpu,
        extra: says.then(|| header.flags.clone()),
        ..Row::default()
    }
}
