//! A second reading of ftrace's text, slow and obvious: the whole log as a list of lines, each line
//! by itself, then what belongs together. Written from the grammar; it shares nothing with the
//! parser but the tables of names.

mod calls;
mod header;
mod layouts;
mod other;
mod payload;

pub use header::{Header, header};
pub use layouts::Layout;
pub use payload::{Call, Payload, hexadecimal, payload};

use tracefast_core::parsed::Use;

use other::{Other, other};

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
    pub uses: Vec<Use>,
}

/// A line by itself.
#[derive(Debug, Clone)]
enum Line {
    Record(Header, Payload),
    Frame,
    Other(Other),
}

/// Reads a log.
pub fn read(log: &[u8]) -> Reading {
    let mut texts: Vec<&[u8]> = log.split(|&b| b == b'\n').collect();
    if texts.last().is_some_and(|last| last.is_empty()) {
        texts.pop();
    }
    // Some programs end lines in the way of other systems.
    let texts: Vec<&[u8]> =
        texts.iter().map(|text| text.strip_suffix(b"\r").unwrap_or(text)).collect();
    let usual = layouts::usual(&texts);
    let mut lines: Vec<Line> = texts.iter().map(|text| line(text, usual)).collect();
    let begins = broken_names(&texts, &mut lines);
    let mut reading = Reading { rows: Vec::new(), uses: vec![Use::Unparsed; texts.len()] };
    let mut calls = calls::Calls::new(by_names(&lines));
    // The row whose text, or whose stack, the next line may go on with, and where its text begins.
    let mut open: Option<(usize, Vec<u8>)> = None;
    let mut at = 0;
    while at < lines.len() {
        let number = at as u64 + 1;
        let begin = at;
        // Lines before the columns of a record whose name they begin.
        if let Some(&(_, last)) = begins.iter().find(|&&(first, _)| first == at) {
            reading.uses[at..=last].fill(Use::Continuation);
            at = last;
        }
        match &lines[at] {
            Line::Record(header, payload) => {
                reading.uses[begin] = Use::Events;
                open = None;
                let mut row = row(number, header);
                match payload {
                    Payload::Enter { call, args } => {
                        calls.enter(&mut reading.rows, row, call, args, header.ticks);
                    }
                    Payload::Exit { call, value } => {
                        let joined =
                            calls.exit(&mut reading.rows, row, call, *value, header.ticks);
                        if joined {
                            reading.uses[begin] = Use::Resumed;
                        }
                    }
                    Payload::Stack(name) => {
                        (row.kind, row.name, row.args) =
                            ("event", Some(name.as_bytes().to_vec()), Some(Vec::new()));
                        open = Some((reading.rows.len(), Vec::new()));
                        reading.rows.push(row);
                    }
                    Payload::Marker { name, args } => {
                        (row.kind, row.name, row.args) =
                            ("marker", Some(name.as_bytes().to_vec()), Some(args.clone()));
                        open = Some((reading.rows.len(), args.clone()));
                        reading.rows.push(row);
                    }
                    Payload::Event { name, args } => {
                        (row.kind, row.name, row.args) =
                            ("event", name.clone(), Some(args.clone()));
                        open = Some((reading.rows.len(), args.clone()));
                        reading.rows.push(row);
                    }
                    Payload::Function { name, args } => {
                        (row.kind, row.name, row.args) =
                            ("function", Some(name.clone()), Some(args.clone()));
                        reading.rows.push(row);
                    }
                }
            }
            Line::Other(Other::Lost { cpu, count }) => {
                reading.uses[at] = Use::Events;
                open = None;
                reading.rows.push(Row {
                    line: number,
                    kind: "lost",
                    name: Some(b"lost".to_vec()),
                    args: Some(texts[at].to_vec()),
                    cpu: *cpu,
                    ret: *count,
                    ..Row::default()
                });
            }
            Line::Other(Other::Header) => {
                reading.uses[at] = Use::Header;
                open = None;
            }
            Line::Other(Other::Blank) => {
                reading.uses[at] = Use::Blank;
                if let Some((_, text)) = &mut open {
                    text.push(b'\n');
                    text.extend_from_slice(texts[at]);
                }
            }
            Line::Frame | Line::Other(Other::Text) => {
                let frame = matches!(lines[at], Line::Frame);
                match &mut open {
                    Some((index, text)) if goes_on(&reading.rows[*index], frame) => {
                        reading.uses[at] = Use::Continuation;
                        go_on(&mut reading.rows[*index], text, texts[at]);
                    }
                    _ => {
                        reading.uses[at] = Use::Unparsed;
                        open = None;
                        reading.rows.push(Row {
                            line: number,
                            kind: "unparsed",
                            args: Some(texts[at].to_vec()),
                            ..Row::default()
                        });
                    }
                }
            }
        }
        at += 1;
    }
    calls.end(&mut reading.rows);
    reading.rows.sort_by_key(|row| row.line);
    reading
}

/// A line by itself.
fn line(text: &[u8], usual: Layout) -> Line {
    // Without columns an event could be anything; these have their own form.
    let known = usual == Layout::NoContext;
    let what = other(text);
    if known && matches!(what, Other::Lost { .. } | Other::Header) {
        return Line::Other(what);
    }
    if let Some((header, payload)) = layouts::record(text, usual) {
        return Line::Record(header, payload);
    }
    if text.starts_with(b" => ") || text.starts_with(b"=> ") {
        return Line::Frame;
    }
    Line::Other(what)
}

/// The log names system calls, so that those by number are the same once more.
fn by_names(lines: &[Line]) -> bool {
    lines.iter().any(|line| {
        matches!(
            line,
            Line::Record(_, Payload::Enter { call: Call::Name(_), .. } | Payload::Exit { call: Call::Name(_), .. })
        )
    })
}

/// Names of commands with line feeds in them: the columns of such a record begin with the last part
/// of the name, and with the lines before it, it is 16 bytes wide. Gives the first and last line of
/// each, and puts the whole name into the last.
fn broken_names(texts: &[&[u8]], lines: &mut [Line]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for last in 0..lines.len() {
        let Line::Record(header, _) = &lines[last] else { continue };
        if header.comm.is_none() {
            continue;
        }
        let (mut width, mut first) = (header.before, last);
        while width < header::WIDTH && first > 0 {
            let free = matches!(lines[first - 1], Line::Other(Other::Text | Other::Blank));
            if !free {
                break;
            }
            first -= 1;
            width += texts[first].len() + 1;
        }
        if first == last || width != header::WIDTH {
            continue;
        }
        let mut name = texts[first..last].join(&b'\n');
        name.push(b'\n');
        name.extend_from_slice(&texts[last][..header.before]);
        if let Line::Record(header, _) = &mut lines[last] {
            header.comm = Some(header::trim_start(&name).to_vec());
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

/// A line without columns may belong to `row`: frames to stacks, text to text.
fn goes_on(row: &Row, frame: bool) -> bool {
    let stack = matches!(row.name.as_deref(), Some(b"kernel_stack" | b"user_stack"))
        && row.args.as_deref() == Some(b"");
    stack == frame
}

/// Adds a line to `row`; `text` is that of the row with all that stands behind it.
fn go_on(row: &mut Row, text: &mut Vec<u8>, line: &[u8]) {
    let stack = matches!(row.name.as_deref(), Some(b"kernel_stack" | b"user_stack"))
        && row.args.as_deref() == Some(b"");
    if stack {
        let extra = row.extra.get_or_insert_default();
        if !extra.is_empty() {
            extra.push(b'\n');
        }
        extra.extend_from_slice(line);
        return;
    }
    text.push(b'\n');
    text.extend_from_slice(line);
    row.args = Some(text.clone());
}
