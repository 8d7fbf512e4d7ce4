//! Finds the width at which something cut all lines of a log: `cut -c1-80`, the columns of a terminal.

use crate::strace::arguments::args_end;
use crate::strace::leader::line_layout::layout_of;
use crate::strace::line_start::{call_name, is_call};
use crate::text::prefix::Prefix;

/// How many bytes of a log are searched.
const SEARCHED: usize = 1 << 18;

/// How many calls must end in their arguments at the width.
const ENOUGH: usize = 3;

/// How long the longest lines of the log are, if calls end in their arguments there and nowhere else;
/// 0 if not. A value at the end of such a line may have lost digits.
pub(crate) fn width(text: &[u8], prefix: Option<&Prefix>) -> usize {
    let start = &text[..text.len().min(SEARCHED)];
    // The last line may be cut by the end of the text.
    let whole = &start[..memchr::memrchr(b'\n', start).unwrap_or(0)];
    let (mut longest, mut torn, mut others) = (0, 0, 0);
    for line in whole.split(|&b| b == b'\n') {
        if line.len() > longest {
            (longest, torn, others) = (line.len(), 0, others + torn);
        }
        let own = &line[prefix.and_then(|prefix| prefix.skip(line)).unwrap_or(0)..];
        if is_torn(own.strip_suffix(b"\r").unwrap_or(own)) {
            if line.len() == longest { torn += 1 } else { others += 1 }
        }
    }
    if torn >= ENOUGH && others == 0 { longest } else { 0 }
}

/// Whether the line is a call that does not end, and does not say so.
fn is_torn(line: &[u8]) -> bool {
    let Some((_, at)) = layout_of(line) else { return false };
    let rest = &line[at..];
    call_name(rest).is_some_and(|n| {
        is_call(&rest[..n]) && !rest.ends_with(b"...>") && args_end(&rest[n + 1..], 0).is_none()
    })
}

/// The line, which was cut, without a result that may have lost digits.
#[cold]
pub(crate) fn without_result(line: &[u8]) -> &[u8] {
    let digits = line.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let before = &line[..line.len() - digits];
    let value = before.strip_suffix(b"-").unwrap_or(before);
    if value.ends_with(b" = ") { value } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TORN: &str = "read(3, \"abc\"..., 40";

    #[test]
    fn the_width_is_that_of_the_lines_which_do_not_end() {
        let log = format!("close(3) = 0\n{}", format!("{TORN}\n").repeat(3));
        assert_eq!(width(log.as_bytes(), None), TORN.len());
        let few = format!("close(3) = 0\n{}", format!("{TORN}\n").repeat(2));
        let longer = format!("{log}close(3)                      = 0\n");
        let shorter = format!("{log}read(3, \"abc\n");
        let whole = "read(3, \"abc\", 4096) = 3\n".repeat(3);
        let split = "read(3,  <unfinished ...>\n".repeat(3);
        for text in [&few, &longer, &shorter, &whole, &split, ""] {
            assert_eq!(width(text.as_bytes(), None), 0, "{text}");
        }
    }

    #[test]
    fn results_at_the_end_are_left_out() {
        for (line, own) in [
            ("read(3, \"\", 9) = 2", "read(3, \"\", 9) = "),
            ("mmap(NULL, 9) = 0x7f", "mmap(NULL, 9) = "),
            ("open(\"x\") = -1 ENOE", "open(\"x\") = -1 ENOE"),
            ("read(3, \"\", 40", "read(3, \"\", 40"),
            ("open(\"x\") = -1", "open(\"x\") = "),
        ] {
            assert_eq!(without_result(line.as_bytes()), own.as_bytes());
        }
    }
}
