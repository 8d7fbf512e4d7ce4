//! Columns of all layouts.

use crate::ftrace::header::{
    Header, WIDTH, are_flags, header, name_of, number, second, time_of, trim_start,
};
use crate::ftrace::non_records::{Other, other};
use crate::ftrace::payload::{Payload, payload};
use crate::ftrace::wrapper::Wrap;

/// The width of names in latency format, which cuts them.
pub(crate) const LATENCY: usize = 8;

/// How a record starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `COMM-PID [(TGID)] [CPU] [FLAGS] TIME: `
    Default,
    /// `COMM-PID CPUFLAGS TIME: `, the time in microseconds since the log started, with a mark; or
    /// seconds, if trace-cmd prints it.
    Latency,
    /// `COMM PID CPU FLAGS COUNT INDEX [TIME] TIMEms (+TIMEms): `
    Verbose,
    /// `MAJOR,MINOR CPU TIME PID ACTION …`
    BlkClassic,
    /// `[CPU]\tTIME: `
    Remote,
    /// `PID CPU TIME ` in digits of 8 and 16
    Hex,
    /// `PID CPU TIME `
    Raw,
    /// Nothing.
    NoContext,
}

const ALL: [Layout; 7] = [
    Layout::Remote,
    Layout::Default,
    Layout::Latency,
    Layout::Verbose,
    Layout::BlkClassic,
    Layout::Hex,
    Layout::Raw,
];

/// The layout that most lines have. Without columns records look like any text: only system calls
/// are records then, unless the log names its tracer.
pub(crate) fn usual(lines: &[&[u8]]) -> Layout {
    let tracer = lines.iter().any(|line| line.starts_with(b"# tracer: "));
    let mut best = (Layout::Default, 0);
    for layout in ALL {
        let count = lines.iter().filter(|line| by_itself(layout, line).is_some()).count();
        if count > best.1 {
            best = (layout, count);
        }
    }
    let bare = |line: &&&[u8]| {
        let columns = ALL.iter().any(|&layout| by_itself(layout, line).is_some());
        !columns && if tracer { is_payload(line) } else { is_bare_call(line) }
    };
    if lines.iter().filter(bare).count() > best.1 { Layout::NoContext } else { best.0 }
}

/// A payload that only a system call has, so it needs no columns.
fn is_bare_call(line: &[u8]) -> bool {
    let call =
        matches!(payload(line), Payload::Enter { .. } | Payload::Exit { value: Some(_), .. });
    let arrow = line.windows(6).any(|six| six == b" -> 0x");
    call && line.starts_with(b"sys_") && (line.contains(&b'(') || arrow)
}

/// Shows by itself what it is: a name, a mark, a stack.
fn is_payload(line: &[u8]) -> bool {
    let text = other(line, Wrap::None) == Other::Text;
    match payload(line) {
        _ if is_frame(line) => false,
        Payload::Marker { .. } => true,
        Payload::Event { name: None, args } => {
            args.starts_with(b"type: ") || args.starts_with(b"Unknown type")
        }
        _ => text,
    }
}

/// A line of a stack.
pub(crate) fn is_frame(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"=> ")
}

/// The columns and the payload of every record on a line. A marker with a NUL in it loses its line
/// feed.
pub(crate) fn records(line: &[u8], usual: Layout, width: usize) -> Vec<(Header, Payload)> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((columns, mut payload)) = record(rest, usual) {
        let mut next = None;
        if let Payload::Marker { args, .. } = &mut payload {
            let from = rest.len() - args.len();
            next = match usual {
                Layout::Default => second(rest, from, width, header),
                Layout::Latency => second(rest, from, width, latency),
                _ => None,
            };
            if let Some(next) = next {
                args.truncate(next - from);
            }
        }
        out.push((columns, payload));
        let Some(next) = next else { break };
        rest = &rest[next..];
    }
    out
}

/// The line has the columns of this layout.
pub(crate) fn has(line: &[u8], layout: Layout) -> bool {
    columns(layout, line).is_some()
}

/// Where `-PID` is in most records with names; not before the place that the kernel gives it.
pub(crate) fn width(lines: &[&[u8]], usual: Layout) -> usize {
    let places: Vec<usize> = lines
        .iter()
        .filter_map(|line| ALL.iter().find_map(|&layout| by_itself(layout, line)))
        .filter(|header| header.comm.is_some() && header.before > 0)
        .map(|header| header.before)
        .collect();
    let count = |place: usize| places.iter().filter(|&&own| own == place).count();
    let most = places.iter().copied().max_by_key(|&place| (count(place), place)).unwrap_or(0);
    match usual {
        Layout::Default => most.max(WIDTH),
        Layout::Latency => most.max(LATENCY),
        _ => most,
    }
}

/// The columns of the record at the start of a line, and which they are: the usual ones go first.
pub fn any_columns(line: &[u8], usual: Layout) -> Option<(Layout, Header)> {
    let others = ALL.iter().filter(|&&layout| layout != usual);
    let usual = columns(usual, line).map(|header| (usual, header));
    usual.or_else(|| others.clone().find_map(|&layout| Some((layout, by_itself(layout, line)?))))
}

/// The columns and the payload of the record at the start of a line.
fn record(line: &[u8], usual: Layout) -> Option<(Header, Payload)> {
    if usual == Layout::NoContext && is_payload(line) {
        return Some((Header::default(), payload(line)));
    }
    if let Some((layout, header)) = any_columns(line, usual) {
        let text = &line[header.payload..];
        let payload = if layout == Layout::BlkClassic {
            Payload::Event { name: Some(b"blk".to_vec()), args: text.to_vec() }
        } else {
            payload(text)
        };
        return Some((header, payload));
    }
    // In the middle of other text nothing else is sure.
    is_bare_call(line).then(|| (Header::default(), payload(line)))
}

/// Columns that need no others to be believed: three numbers do.
fn by_itself(layout: Layout, line: &[u8]) -> Option<Header> {
    let header = columns(layout, line)?;
    let numbers = matches!(layout, Layout::Hex | Layout::Raw);
    let kind = line[header.payload..].strip_prefix(b"type: ");
    (!numbers || kind.is_some_and(|kind| number::<u32>(kind).is_some())).then_some(header)
}

fn columns(layout: Layout, line: &[u8]) -> Option<Header> {
    match layout {
        Layout::Default => header(line),
        Layout::Latency => latency(line),
        Layout::Verbose => verbose(line),
        Layout::BlkClassic => blk(line),
        Layout::Remote => remote(line),
        Layout::Hex => hex(line),
        Layout::Raw => raw(line),
        Layout::NoContext => None,
    }
}

/// `    bash-2101      1d..2. 25328us+: `
fn latency(line: &[u8]) -> Option<Header> {
    let mut dashes = (0..line.len()).filter(|&at| line[at] == b'-');
    dashes.find_map(|dash| behind_dash(line, dash))
}

fn behind_dash(line: &[u8], dash: usize) -> Option<Header> {
    let comm = name_of(&line[..dash], LATENCY).or_else(|| name_of(&line[..dash], WIDTH))?;
    let mut rest = Words { text: line, at: dash + 1 };
    let tid = number(rest.word()?)?;
    // Processor and flags are together.
    let glued = rest.word()?;
    let digits = glued.iter().take_while(|b| b.is_ascii_digit()).count();
    let cpu = number(&glued[..digits])?;
    let flags = &glued[digits..];
    if !flags.is_empty() && !are_flags(flags) {
        return None;
    }
    let (ts, ticks, since) = if let Some(micros) = rest.micros() {
        (micros.checked_mul(1000), false, true)
    } else {
        let time = rest.word()?.strip_suffix(b":")?;
        let (ts, ticks) = time_of(time)?;
        (ts, ticks, false)
    };
    if rest.at < line.len() && line[rest.at] != b' ' {
        return None;
    }
    let payload = line.len().min(rest.at + 1);
    Some(Header {
        comm: Some(comm.to_vec()),
        before: dash,
        tid: Some(tid),
        cpu: Some(cpu),
        flags: flags.to_vec(),
        ts,
        ticks,
        since,
        payload,
        ..Header::default()
    })
}

/// `            bash    2101   1 1 00000002 00000011 [abc5fc61] 25.500ms (+0.004ms): `
fn verbose(line: &[u8]) -> Option<Header> {
    let mut brackets = (0..line.len()).filter(|&at| line[at] == b'[');
    brackets.find_map(|at| around_bracket(line, at))
}

fn around_bracket(line: &[u8], at: usize) -> Option<Header> {
    let close = at + line[at..].iter().position(|&b| b == b']')?;
    let digits = &line[at + 1..close];
    let time = i64::try_from(hexadecimal(digits)?).ok()?;
    let mut rest = Words { text: line, at: close + 1 };
    let (since, difference) = (rest.word()?, rest.word()?);
    let difference = difference.strip_prefix(b"(+")?.strip_suffix(b"):")?;
    let millis = |text: &[u8]| {
        let text = text.strip_suffix(b"ms")?;
        let point = text.iter().position(|&b| b == b'.')?;
        let whole = text[..point].strip_prefix(b"-").unwrap_or(&text[..point]);
        (number::<i64>(whole).is_some() && text.len() - point == 4).then_some(())
    };
    let whole = |text: &[u8]| number::<i64>(text.strip_prefix(b"-").unwrap_or(text)).map(drop);
    let ticks = if millis(since).is_some() && millis(difference).is_some() {
        false
    } else {
        whole(since)?;
        whole(difference)?;
        true
    };
    if rest.at < line.len() && line[rest.at] != b' ' {
        return None;
    }
    // The name takes 16 bytes, whatever it holds.
    let left = line.get(WIDTH..at)?.strip_prefix(b" ")?;
    let words: Vec<&[u8]> = left.split(|&b| b == b' ').filter(|word| !word.is_empty()).collect();
    let [pid, cpu, flags, count, index] = words[..] else { return None };
    let flag: u32 = number(flags)?;
    let flags = if flag == 0 { b"" } else { flags };
    hexadecimal(count)?;
    hexadecimal(index)?;
    Some(Header {
        comm: Some(name_of(&line[..WIDTH], WIDTH)?.to_vec()),
        before: WIDTH,
        tid: Some(number(pid)?),
        cpu: Some(number(cpu)?),
        flags: flags.to_vec(),
        ts: Some(if ticks { time } else { time.checked_mul(1000)? }),
        ticks,
        payload: line.len().min(rest.at + 1),
        ..Header::default()
    })
}

/// `254,0    0  3068.686402651 25219  Q  RA 29947752 + 16 [dd]`
fn blk(line: &[u8]) -> Option<Header> {
    let mut words = Words { text: line, at: 0 };
    let device = words.word()?;
    let comma = device.iter().position(|&b| b == b',')?;
    number::<u32>(&device[..comma])?;
    number::<u32>(&device[comma + 1..])?;
    let cpu = number(words.word()?)?;
    let (ts, ticks) = time_of(words.word()?)?;
    let tid = number(words.word()?)?;
    let action = words.word()?;
    if ticks || action.len() > 2 || !action.iter().all(u8::is_ascii_alphabetic) {
        return None;
    }
    let payload = line.len() - trim_start(line).len();
    Some(Header { tid: Some(tid), cpu: Some(cpu), ts, payload, ..Header::default() })
}

/// `[003]\t   12.345678: event …`
fn remote(line: &[u8]) -> Option<Header> {
    let line_rest = line.strip_prefix(b"[")?;
    let close = line_rest.iter().position(|&b| b == b']')?;
    let cpu = number(&line_rest[..close])?;
    let tab = close + 2;
    if line.get(tab) != Some(&b'\t') {
        return None;
    }
    let mut words = Words { text: line, at: tab + 1 };
    let (ts, ticks) = time_of(words.word()?.strip_suffix(b":")?)?;
    let payload = line.len().min(words.at + 1);
    Some(Header { cpu: Some(cpu), ts, ticks, payload, ..Header::default() })
}

/// `00000835 00000001 0000029efd5f1da1 type: 839`
fn hex(line: &[u8]) -> Option<Header> {
    let mut words = Words { text: line, at: 0 };
    let [pid, cpu, time] = [words.word()?, words.word()?, words.word()?];
    if (pid.len(), cpu.len(), time.len()) != (8, 8, 16) || line.first() == Some(&b' ') {
        return None;
    }
    let unsigned = u32::try_from(hexadecimal(pid)?).ok()?;
    Some(Header {
        tid: Some(unsigned.cast_signed()),
        cpu: Some(u16::try_from(hexadecimal(cpu)?).ok()?),
        ts: Some(i64::try_from(hexadecimal(time)?).ok()?),
        payload: line.len().min(words.at + 1),
        ..Header::default()
    })
}

/// `2101 1 2881878957473 type: 839`
fn raw(line: &[u8]) -> Option<Header> {
    let mut words = Words { text: line, at: 0 };
    let (tid, cpu, time) = (words.word()?, words.word()?, words.word()?);
    if line.first() == Some(&b' ') || words.at >= line.len() {
        return None;
    }
    Some(Header {
        tid: Some(number(tid)?),
        cpu: Some(number(cpu)?),
        ts: Some(number(time)?),
        payload: words.at + 1,
        ..Header::default()
    })
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
}

/// Words with blanks between them.
struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn word(&mut self) -> Option<&'a [u8]> {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        let from = self.at;
        while self.text.get(self.at).is_some_and(|&b| b != b' ') {
            self.at += 1;
        }
        (self.at > from).then(|| &self.text[from..self.at])
    }

    /// `25328us+:`, the mark of a long delay perhaps a blank.
    fn micros(&mut self) -> Option<i64> {
        let from = self.at;
        let read = self.word().and_then(|word| {
            let digits = word.iter().take_while(|b| b.is_ascii_digit()).count();
            let rest = word[digits..].strip_prefix(b"us")?;
            let marked = match rest {
                [mark, b':'] => b"+!#*@$".contains(mark),
                [] => self.text[self.at..].starts_with(b" :"),
                _ => false,
            };
            if !marked {
                return None;
            }
            if rest.is_empty() {
                self.at += 2;
            }
            number(&word[..digits])
        });
        if read.is_none() {
            self.at = from;
        }
        read
    }
}
