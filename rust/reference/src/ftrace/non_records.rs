//! Lines that are no records.

use crate::ftrace::wrapper::Wrap;

/// What such a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Other {
    /// No text.
    Blank,
    /// What the tracer, or a program that keeps its logs, puts around the records.
    Header,
    /// Records that were overwritten before they could be read.
    Lost { cpu: Option<u16>, count: Option<i64> },
    /// Starts as such a line does, but nothing is known to print it: it may continue a text.
    Comment,
    /// Of another part of the kernel.
    Message,
    /// Anything else.
    Text,
}

/// Reads a line that has no columns.
pub(crate) fn other(line: &[u8], wrap: Wrap) -> Other {
    if line.iter().all(|&b| matches!(b, b' ' | b'\t' | b'\r')) {
        return Other::Blank;
    }
    if let Some((cpu, count)) = lost(line) {
        return Other::Lost { cpu, count };
    }
    match line {
        _ if is_header(line) => Other::Header,
        _ if line.trim_ascii_start().starts_with(b"#") => Other::Comment,
        // Around a dump, and in texts.
        _ if is_rule(line) => Other::Comment,
        _ if wrap == Wrap::KernelLog && line.starts_with(b"Dumping ftrace buffer:") => {
            Other::Header
        }
        _ if wrap == Wrap::KernelLog => Other::Message,
        _ => Other::Text,
    }
}

fn is_rule(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.len() >= 20 && line.iter().all(|&b| b == b'-')
}

/// `# tracer: nop`, counts of records, the legend over the columns.
fn is_kernels(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('#') else { return false };
    let prefixes = [
        "  ",
        " tracer: ",
        " entries-in-buffer/entries-written: ",
        "#### CPU ",
        " DEV   CPU ",
        " latency: ",
        " -----",
    ];
    rest.trim_matches(' ').is_empty()
        || prefixes.iter().any(|prefix| rest.starts_with(prefix))
        || rest.contains(" latency trace v")
}

fn is_header(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_matches(' ');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_kernels(&String::from_utf8_lossy(line))
        || ["# tracer: ", "# entries-in-buffer/"].iter().any(|head| text.starts_with(head))
        || text == "--"
        || text == "TRACE:"
        || text.strip_prefix("cpus=").is_some_and(digits)
        || text.strip_prefix("version = ").is_some_and(digits)
        || text
            .strip_prefix("CPU ")
            .and_then(|text| text.strip_suffix(" is empty"))
            .is_some_and(digits)
}

/// `[BUFFER: ]CPU:N [LOST M EVENTS]`, without a number if they were not counted, and what
/// trace-cmd prints: `CPU:N [M EVENTS DROPPED]`; `MARK 12.345678 Lost M events.` of mmiotrace.
fn lost(line: &[u8]) -> Option<(Option<u16>, Option<i64>)> {
    let text = std::str::from_utf8(line).ok()?;
    if let Some((time, rest)) =
        text.strip_prefix("MARK ").and_then(|rest| rest.split_once(" Lost "))
    {
        crate::ftrace::header::time_of(time.as_bytes())?;
        let count = rest.strip_suffix(" events.")?;
        return Some((None, Some(crate::ftrace::header::number(count.as_bytes())?)));
    }
    let at = text.find("CPU:")?;
    if at > 0 && !text[..at].ends_with(": ") {
        return None;
    }
    let (cpu, what) = text[at + 4..].split_once(" [")?;
    let cpu: u16 = crate::ftrace::header::number(cpu.as_bytes())?;
    let what = what.strip_suffix(']')?;
    if what == "LOST EVENTS" || what == "EVENTS DROPPED" {
        return Some((Some(cpu), None));
    }
    let count = what
        .strip_prefix("LOST ")
        .and_then(|what| what.strip_suffix(" EVENTS"))
        .or_else(|| what.strip_suffix(" EVENTS DROPPED"))?;
    Some((Some(cpu), Some(crate::ftrace::header::number(count.as_bytes())?)))
}
