//! The columns of a line, each recognized by the mark at its end.

use crate::ftrace::function_graph::body::{self, GraphEvent};
use crate::ftrace::scan::{Span, blanks, trim_end};
use crate::text::number;

/// A line of `function_graph`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FunctionLine {
    /// Nanoseconds of the clock, or since the start of the log.
    pub time: Option<i64>,
    /// The time counts from the start of the log.
    pub relative: bool,
    /// Processor.
    pub cpu: Option<u16>,
    /// Command and thread id.
    pub task: Option<LineTask>,
    /// Characters for interrupts, scheduling and preemption; empty: not there.
    pub flags: Span,
    /// Nanoseconds in the function.
    pub dur: Option<i64>,
    /// What follows the columns.
    pub what: GraphEvent,
}

/// A task, as the column of tasks names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTask {
    /// The range of its command's name.
    pub comm: Span,
    /// Thread id.
    pub tid: i32,
}

/// Longest name of a command: the kernel cuts it (`print_graph_proc`).
const COMM: usize = 7;

/// Reads `line`. `bare`: the log's lines may have no columns at all.
#[inline]
pub(crate) fn parse(line: &[u8], bare: bool) -> Option<FunctionLine> {
    // Most lines of other logs are rejected here.
    match line.get(blanks(line, 0))? {
        b'0'..=b'9' | b'|' | b'$' | b'@' | b'*' | b'#' | b'!' | b'+' => columns(line, bare),
        _ if bare => columns(line, bare),
        _ => columns(line, false).filter(|line| line.task.is_some()),
    }
}

fn columns(line: &[u8], bare: bool) -> Option<FunctionLine> {
    let mut out = FunctionLine {
        time: None,
        relative: false,
        cpu: None,
        task: None,
        flags: (0, 0),
        dur: None,
        what: GraphEvent::Interrupt,
    };
    let mut at = 0;
    if let Some((time, after)) = absolute(line) {
        out.time = Some(time);
        at = after;
    } else if let Some((time, after)) = relative(line) {
        (out.time, out.relative) = (Some(time), true);
        at = after;
    }
    if let Some((number, after)) = cpu(line, at) {
        out.cpu = number;
        at = after;
    }
    let processor = at > 0;
    if let Some((task, after)) = task(line, at) {
        out.task = Some(task);
        at = after;
    }
    if let Some((flags, after)) = flags(line, at) {
        out.flags = flags;
        at = after;
    }
    if let Some((dur, after)) = duration(line, at) {
        out.dur = dur;
        out.what = body::parse(line, after, 2, false)?;
        return Some(out);
    }
    let alone = !processor && out.task.is_none() && out.flags.0 == out.flags.1;
    if alone && !bare {
        return None;
    }
    out.what = body::parse(line, at, 0, alone)?;
    // The arrows of interrupts are printed in place of the duration.
    Some(out)
}

/// `  360.774522 |  `
fn absolute(line: &[u8]) -> Option<(i64, usize)> {
    let start = blanks(line, 0);
    let (_, whole) = number::digits(&line[start..]);
    if whole == 0 || line.get(start + whole) != Some(&b'.') {
        return None;
    }
    let (_, fraction) = number::digits(&line[start + whole + 1..]);
    let end = start + whole + 1 + fraction;
    if fraction != 6 || !line[end..].starts_with(b" |") {
        return None;
    }
    let (time, _) = number::seconds(&line[start..end])?;
    Some((time, margin(line, end + 2, 2)))
}

/// `     3750 us |  `, where a column of processors follows: else it is a duration.
fn relative(line: &[u8]) -> Option<(i64, usize)> {
    let start = blanks(line, 0);
    let (value, n) = number::digits(&line[start..]);
    if n == 0 || n > 15 || !line[start + n..].starts_with(b" us |") {
        return None;
    }
    let at = margin(line, start + n + 5, 2);
    cpu(line, at)?;
    Some((value as i64 * 1000, at))
}

/// ` 0) `
pub(crate) fn cpu(line: &[u8], at: usize) -> Option<(Option<u16>, usize)> {
    let start = blanks(line, at);
    let (value, n) = number::digits(line.get(start..)?);
    if n == 0 || n > 6 || line.get(start + n) != Some(&b')') {
        return None;
    }
    let after = start + n + 1;
    let ends = matches!(line.get(after), None | Some(b' '));
    ends.then(|| (u16::try_from(value).ok(), margin(line, after, 1)))
}

/// `    sh-4802     | `: the first bar with `-PID` before it, which may be the second one where the
/// name has a bar.
fn task(line: &[u8], at: usize) -> Option<(LineTask, usize)> {
    let column = &line[at..line.len().min(at + 48)];
    let mut bars = memchr::memchr_iter(b'|', column);
    let first = bars.next()?;
    let filled = blanks(line, at) < at + first;
    [Some(first), bars.next().filter(|_| filled)].into_iter().flatten().find_map(|bar| {
        if !column[..bar].ends_with(b" ") {
            return None;
        }
        Some((party(line, at, at + bar)?, margin(line, at + bar + 1, 1)))
    })
}

/// A task's name and id between blanks.
pub(crate) fn party(line: &[u8], start: usize, end: usize) -> Option<LineTask> {
    let end = trim_end(line, start, end);
    let digits = line[start..end].iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let dash = (end - digits).checked_sub(1).filter(|&dash| dash >= start)?;
    if digits == 0 || digits > 10 || line[dash] != b'-' {
        return None;
    }
    let from = blanks(line, start).min(dash);
    let tid = i32::try_from(number::digits(&line[dash + 1..end]).0).ok()?;
    (dash - from <= COMM).then_some(LineTask { comm: (from, dash), tid })
}

/// ` d..1 | `
fn flags(line: &[u8], at: usize) -> Option<(Span, usize)> {
    let start = blanks(line, at);
    let first = matches!(line.get(start)?, b'.' | b'd' | b'D' | b'b' | b'X' | b'x');
    let rest = &line[start..];
    let n = rest.iter().take(9).take_while(|b| b.is_ascii_alphanumeric() || **b == b'.').count();
    let known = first && (4..=8).contains(&n) && rest[n..].starts_with(b" |");
    known.then(|| ((start, start + n), margin(line, start + n + 2, 1)))
}

/// ` + 49.370 us   |`, or blanks for a function that is entered; then where the bar ends.
pub(crate) fn duration(line: &[u8], at: usize) -> Option<(Option<i64>, usize)> {
    let mut start = blanks(line, at);
    match line.get(start)? {
        b'|' => return Some((None, start + 1)),
        b'$' | b'@' | b'*' | b'#' | b'!' | b'+' => start = blanks(line, start + 1),
        _ => {}
    }
    let (whole, n) = number::digits(&line[start..]);
    if n == 0 || n > 15 {
        return None;
    }
    let mut nanos = whole as i64 * 1000;
    let mut end = start + n;
    if line.get(end) == Some(&b'.') {
        let (fraction, m) = number::digits(&line[end + 1..]);
        if m == 0 || m > 3 {
            return None;
        }
        nanos += fraction as i64 * number::POWERS[3 - m];
        end += 1 + m;
    }
    if !line[end..].starts_with(b" us") {
        return None;
    }
    let bar = blanks(line, end + 3);
    (line.get(bar) == Some(&b'|')).then_some((Some(nanos), bar + 1))
}

/// The position after at most `most` blanks.
fn margin(line: &[u8], at: usize, most: usize) -> usize {
    blanks(line, at).min(at + most)
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_parse() {
        use crate::ftrace::function_graph::{GraphEvent, parse};
        let text = b" 0)   1.382 us    |          __might_sleep();";
        let line = parse(text, false).unwrap();
        assert_eq!((line.cpu, line.dur), (Some(0), Some(1382)));
        let GraphEvent::Leaf(call) = line.what else { panic!("a leaf") };
        assert_eq!((&text[call.name.0..call.name.1], call.depth), (&b"__might_sleep"[..], 4));
    }
}
