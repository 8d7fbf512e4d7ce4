//! Results with text behind them that strace did not write, and errors whose text is cut: lines
//! that somebody has edited, pasted, or sent through `cut`.

use crate::linux::errno;
use crate::strace::arguments::annotation;
use crate::strace::call::result::{self, Outcome, ResultStatus};
use crate::text::number;
use crate::text::search;

/// Parses `text[at..]`, the text from `= ` to the end of the line, where a whole value has a note
/// behind it, or the text of an error is cut: [`Outcome::note`]. `None` if it may be
/// anything else: the value could be cut, or another line of strace follows it.
pub(crate) fn parse(text: &[u8], at: usize) -> Option<Outcome> {
    let text = text.trim_ascii_end();
    let value = value_end(text, at)?;
    let mut outcome = result::parse(&text[..value], at)?;
    let mut end = value;
    let failed = outcome.ret.is_none_or(|ret| ret == -1);
    if let Some(name) = error_name(text, value).filter(|_| failed) {
        outcome.errno = Some(name);
        if outcome.ret.is_none() {
            outcome.status = ResultStatus::Interrupted;
        }
        end = match text.get(name.1..)? {
            [b' ', b'(', ..] => parentheses(text, name.1 + 1).unwrap_or(text.len()),
            _ => name.1,
        };
        if end == text.len() {
            // The explanation is cut: what is left of it is a note.
            outcome.note = (end > name.1).then_some((name.1 + 1, end));
            return Some(outcome);
        }
    } else if failed && text[value..].starts_with(b" E") {
        return None;
    }
    let mut from = None;
    while text[end..].starts_with(b" (")
        && let Some(after) = parentheses(text, end + 1)
    {
        from = from.or(Some(end + 1));
        end = after;
    }
    let parenthesized = end;
    if let Some(after) = duration_end(text, end)
        && let Some((_, dur)) = result::elapsed(&text[..after], end)
    {
        outcome.dur = Some(dur);
        end = after;
    }
    outcome.aux = from.map(|from| (from, parenthesized));
    outcome.note = Some((note(text, end)?, text.len()));
    Some(outcome)
}

/// Where a number or `?` ends, and the annotation behind it.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let n = match text.get(at)? {
        b'?' => 1,
        _ => number::c_integer(&text[at..]).1,
    };
    let end = (n > 0).then_some(at + n)?;
    if text.get(end) == Some(&b'<') { annotation(text, end).map(|(end, _)| end) } else { Some(end) }
}

/// The name of an error behind the value, if it is whole.
fn error_name(text: &[u8], value: usize) -> Option<(usize, usize)> {
    let name = text.get(value..)?.strip_prefix(b" ")?;
    let n = name.iter().take_while(|b| b.is_ascii_uppercase() || **b == b'_').count();
    errno::is_name(&name[..n]).then_some((value + 1, value + 1 + n))
}

/// Where the parentheses that open at `at` are closed.
fn parentheses(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (n, byte) in text[at..].iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(at + n + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where ` <SECONDS>` ends.
fn duration_end(text: &[u8], at: usize) -> Option<usize> {
    let body = text.get(at..)?.strip_prefix(b" <")?;
    let n = body.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    (n > 0 && body.get(n) == Some(&b'>')).then_some(at + 2 + n + 1)
}

/// Where the note starts that follows a result at `end`.
fn note(text: &[u8], end: usize) -> Option<usize> {
    let rest = &text[end..];
    // Digits and letters could be more of the value.
    if !matches!(rest.first()?, b' ' | b'\t' | b';' | b',' | b'#' | b'|') {
        return None;
    }
    let start = end + rest.len() - rest.trim_ascii_start().len();
    let note = &text[start..];
    let more = [&b" = "[..], b" resumed>", b"<unfinished", b"strace: "];
    let is_cut_time = matches!(note, [b'<'] | [b'<', b'0'..=b'9', ..]);
    let is_line = more.iter().any(|mark| search::find(note, mark, 1).is_some());
    (!is_cut_time && !is_line).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Value, error, time in ns, note.
    fn parsed(text: &str) -> Option<(Option<i64>, &str, Option<i64>, &str)> {
        let outcome = parse(text.as_bytes(), 0)?;
        let at = |range: Option<(usize, usize)>| range.map_or("", |(a, b)| &text[a..b]);
        Some((outcome.ret, at(outcome.errno), outcome.dur, at(outcome.note)))
    }

    #[test]
    fn notes_leave_the_value() {
        for (text, expected) in [
            ("3 ## note", (Some(3), "", None, "## note")),
            ("7;", (Some(7), "", None, ";")),
            ("4  <-- here  ", (Some(4), "", None, "<-- here")),
            ("0x2000     // /dev/x", (Some(0x2000), "", None, "// /dev/x")),
            ("3</etc/x> # x", (Some(3), "", None, "# x")),
            ("3 <0.000017> # slow", (Some(3), "", Some(17_000), "# slow")),
            ("1 ([{fd=3}]) <0.000017> !", (Some(1), "", Some(17_000), "!")),
            ("? ERESTARTSYS (To be rest", (None, "ERESTARTSYS", None, "(To be rest")),
            ("-1 ENOENT", (Some(-1), "ENOENT", None, "")),
            (
                "-1 ENOENT (No such file or direc",
                (Some(-1), "ENOENT", None, "(No such file or direc"),
            ),
            ("-1 ENOENT (No such file) // (why?)", (Some(-1), "ENOENT", None, "// (why?)")),
            ("1 // (see above)", (Some(1), "", None, "// (see above)")),
            ("-1 ENOENT (No such file) <-- why?", (Some(-1), "ENOENT", None, "<-- why?")),
            ("-1 ENOENT (No (x) file) <0.1>\t why", (Some(-1), "ENOENT", Some(100_000_000), "why")),
        ] {
            assert_eq!(parsed(text), Some(expected), "{text}");
        }
        assert_eq!(parse(b"1 ([{fd=3}]) <0.1> !", 0).and_then(|found| found.aux), Some((2, 12)));
    }

    #[test]
    fn what_may_be_cut_is_no_note() {
        for text in ["", "-1 ENO", "3x y", "3</cut", "3 <0.0000", "3 <", "3 close(4) = 0", "3"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }
}
