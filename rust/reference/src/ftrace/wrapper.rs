//! What other programs put around the lines of a trace.

use crate::ftrace::header::{number, trim_start};

/// Around all lines of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// Nothing.
    None,
    /// A page of HTML; each line may be one of a string in a script.
    Page,
    /// Time and level that the kernel's log puts before each line.
    KernelLog,
}

/// What is around the lines of a log.
pub(crate) fn wrap(lines: &[&[u8]]) -> Wrap {
    let first = lines.iter().find(|line| !line.trim_ascii().is_empty());
    let start = first.map(|line| line.trim_ascii_start().to_ascii_lowercase()).unwrap_or_default();
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        return Wrap::Page;
    }
    let prefixed = lines.iter().filter(|line| prefix(line) > 0).count();
    if prefixed * 2 > lines.len() { Wrap::KernelLog } else { Wrap::None }
}

/// The part of a line that ftrace wrote: from where to where.
pub(crate) fn inner(line: &[u8], wrap: Wrap) -> (usize, usize) {
    // Some programs end lines in the way of other systems.
    let upto = line.len() - usize::from(line.ends_with(b"\r"));
    match wrap {
        Wrap::Page if line[..upto].ends_with(br"\n\") => (0, upto - 3),
        Wrap::None | Wrap::Page => (0, upto),
        Wrap::KernelLog => (prefix(line).min(upto), upto),
    }
}

/// Several lines, each without what is not ftrace's. Without a wrapper they are unchanged.
pub(crate) fn inner_lines(lines: &[u8], wrap: Wrap) -> Vec<u8> {
    if wrap == Wrap::None {
        return lines.to_vec();
    }
    let inner = lines.split(|&b| b == b'\n').map(|line| {
        let (from, upto) = inner(line, wrap);
        &line[from..upto]
    });
    inner.collect::<Vec<_>>().join(&b'\n')
}

/// Bytes of `<4>[   12.345678] `, `[   12.345678][    T1] `, or of these after what a daemon puts
/// before them: `host kernel: `; 0 without any.
fn prefix(line: &[u8]) -> usize {
    let daemon = b" kernel: ";
    let begins = std::iter::once(0).chain(
        line.windows(daemon.len()).position(|part| part == daemon).map(|at| at + daemon.len()),
    );
    begins
        .map(|at| (at, level_and_time(&line[at..])))
        .find(|&(_, own)| own > 0)
        .map_or(0, |(at, own)| at + own)
}

fn level_and_time(line: &[u8]) -> usize {
    let mut at = 0;
    if line.starts_with(b"<") {
        let close = line.iter().position(|&b| b == b'>').unwrap_or(0);
        if number::<u32>(&line[1..close.max(1)]).is_none() {
            return 0;
        }
        at = close + 1;
    }
    let Some(time) = bracket(&line[at..]) else { return 0 };
    at += time.len() + 2;
    let time = trim_start(time);
    let point = time.iter().position(|&b| b == b'.').unwrap_or(0);
    let seconds = number::<u64>(&time[..point]).is_some();
    if !seconds || time.len() != point + 7 || number::<u64>(&time[point + 1..]).is_none() {
        return 0;
    }
    // The task or the processor that wrote it.
    if let Some(by) = bracket(&line[at..])
        && let [b'T' | b'C', id @ ..] = trim_start(by)
        && number::<u32>(id).is_some()
    {
        at += by.len() + 2;
    }
    if line.get(at) == Some(&b' ') { at + 1 } else { 0 }
}

/// What is in brackets at the start.
fn bracket(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"[")?;
    Some(&rest[..rest.iter().position(|&b| b == b']')?])
}
