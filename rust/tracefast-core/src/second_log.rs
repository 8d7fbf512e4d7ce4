//! Two logs in one text: one of strace and one of ftrace, as in an issue with a fence for each.

use crate::format::{Format, Wanted};
use crate::ftrace;
use crate::strace;

/// Lines of the second log that show that it is one, and no quote in prose. In a fence of its own
/// one is enough.
const FEW: usize = 3;

/// Lines in a row that may be neither's: prose before or after the logs, stacks between events.
const FAR: usize = 1000;

/// Where a log of the other format starts, behind the end of the first. `None` if all is one log,
/// or if events of both take turns: then a program has printed those of one.
///
/// A usual log is looked at in its first and its last lines only.
///
/// # Examples
/// ```
/// use tracefast_core::format::Format;
/// use tracefast_core::second_log::second_log;
/// let calls = "close(3) = 0\n".repeat(3);
/// let records = "  bash-7  [001] d..2.  2881.878957: sys_read -> 0x2\n".repeat(3);
/// let text = format!("{calls}\n{records}");
/// let format = Format::detect(text.as_bytes(), None).unwrap();
/// assert_eq!(second_log(text.as_bytes(), &format), Some(calls.len() + 1));
/// assert_eq!(second_log(calls.as_bytes(), &format), None);
/// ```
pub fn second_log(text: &[u8], format: &Format) -> Option<usize> {
    let bare = |line| -> &[u8] { &line[format.prefix_len(line)..] };
    let format_of = |line| format_of(bare(line));
    // A header without records does not start a log.
    let lines = text.split(|&b| b == b'\n').filter(|&line| !bare(line).starts_with(b"#"));
    let first = lines.take(FAR).find_map(format_of)?;
    let mut last = None;
    let (mut start, mut end, mut lines, mut neither) = (0, text.len(), 0, 0);
    for line in text.rsplit(|&b| b == b'\n') {
        let at = end - line.len();
        end = at.saturating_sub(1);
        let Some(found) = format_of(line) else {
            neither += 1;
            if neither > FAR {
                return None;
            }
            continue;
        };
        if found == first {
            break;
        }
        (last, start, neither) = (Some(found), at, 0);
        lines += 1;
    }
    let mut between = text[..start].rsplit(|&b| b == b'\n').skip(1).take(neither);
    let last = last.filter(|_| lines >= FEW || between.any(|line| is_fence(line, format)))?;
    let alone = |line| format_of(line) != Some(last);
    text[..start].split(|&b| b == b'\n').all(alone).then_some(start)
}

/// Whether the line starts or ends a block of code in Markdown.
fn is_fence(line: &[u8], format: &Format) -> bool {
    let line = line[format.prefix_len(line)..].trim_ascii_start();
    line.starts_with(b"```") || line.starts_with(b"~~~")
}

/// Whose event the line is.
fn format_of(line: &[u8]) -> Option<Wanted> {
    let line = line.trim_ascii_end();
    if strace::is_event(line) {
        Some(Wanted::Strace)
    } else if ftrace::is_event(line) {
        Some(Wanted::Ftrace)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: &str = "close(3) = 0\nread(4, \"\", 1) = 0\nexit_group(0) = ?\n";
    const RECORDS: &str = "\
# tracer: nop
  bash-7  [001] d..2.  2881.878957: sys_read -> 0x2
  bash-7  [001] d..2.  2881.878958: sys_close(fd: 3)
";

    fn start(text: &str) -> Option<usize> {
        second_log(text.as_bytes(), &Format::detect(text.as_bytes(), None)?)
    }

    #[test]
    fn either_may_be_the_first() {
        for (one, other) in [(CALLS, RECORDS), (RECORDS, CALLS)] {
            let text = format!("# Issue\n```\n{one}```\nand\n```\n{other}```\nend\n");
            assert_eq!(start(&text), Some(text.find(other).expect("it is there")));
        }
    }

    #[test]
    fn prefixes_of_both_are_read_over() {
        let text = format!("{CALLS}\n{RECORDS}");
        let quoted = format!("> {}", text.trim_end().replace('\n', "\n> "));
        assert_eq!(start(&quoted), quoted.find("> # tracer"));
    }

    #[test]
    fn one_event_in_a_fence_is_a_log() {
        let one = "  bash-7  [001] d..2.  2881.878957: sys_read -> 0x2\n";
        let text = format!("```\n{CALLS}```\nand\n```console\n{one}```\n");
        assert_eq!(start(&text), text.find(one));
        let quoted = format!("> {}", text.trim_end().replace('\n', "\n> "));
        assert_eq!(start(&quoted), quoted.find("> ```console").map(|at| at + 13));
        let text = format!("```\n{one}```\nand\n~~~\n{CALLS}~~~\n");
        assert_eq!(start(&text), text.find(CALLS));
        // Without a fence it may be a line that prose quotes.
        assert_eq!(start(&format!("{CALLS}\nand\n{one}")), None);
    }

    #[test]
    fn one_log_has_no_second() {
        let two = &RECORDS[..RECORDS.len() - 1];
        let two = &two[..=two.rfind('\n').expect("two lines")];
        for text in [
            CALLS.to_owned(),
            RECORDS.to_owned(),
            // What a program prints comes between its calls.
            format!("{CALLS}{RECORDS}{CALLS}"),
            format!("{CALLS}{RECORDS}{CALLS}{RECORDS}"),
            // Too few.
            format!("{CALLS}{two}"),
            format!("# tracer: nop\n{CALLS}"),
            format!("# tracer: nop{CALLS}"),
            format!("{CALLS}{}", "text\n".repeat(2 * FAR)),
        ] {
            assert_eq!(start(&text), None, "{text}");
        }
    }
}
