//! The result of a call, after ` = `: value, error, comments, duration.

use crate::events::vocabulary::Status;
use crate::strace::arguments::annotation;
use crate::text::number;
use crate::text::search;

/// Longest accepted name of an error, in bytes. Anything longer is other text.
pub(crate) const ERRNO_MAX: usize = 63;

/// No error has a higher number (include/linux/err.h).
const MAX_ERRNO: u64 = 4095;

/// The result of a call. Ranges refer to the text that it was parsed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Return value; `None` for `?`.
    pub ret: Option<i64>,
    /// Annotation of a returned descriptor, without its angle brackets.
    pub annotation: Option<(usize, usize)>,
    /// The annotation surely holds no escapes.
    pub plain: bool,
    /// Name of the error, or of the restart code of an interrupted call.
    pub errno: Option<(usize, usize)>,
    /// Number of an error that the log does not name.
    pub errno_number: Option<u64>,
    /// Text after the value that is not the explanation of the error.
    pub aux: Option<(usize, usize)>,
    /// Text that somebody has added, or what is left of an explanation.
    pub note: Option<(usize, usize)>,
    /// Time in the call, ns; negative if it is printed with a sign.
    pub dur: Option<i64>,
    /// How the call ended, as far as the result shows it.
    pub status: ResultStatus,
}

/// How a call ended, according to its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultStatus {
    /// It returned.
    #[default]
    Complete,
    /// `? ERESTART…`.
    Interrupted,
    /// `(INJECTED)`.
    Injected,
    /// `(INJECTED: args)`: the call took place, but with other arguments.
    Poked,
    /// `(DELAYED)`.
    Delayed,
    /// `?` alone: the call does not return, or the task died.
    NoValue,
    /// `? <unavailable>`.
    Unavailable,
}

impl ResultStatus {
    /// The status of a row with this result.
    pub fn status(self) -> Status {
        match self {
            Self::Complete | Self::NoValue => Status::Complete,
            Self::Interrupted => Status::Interrupted,
            Self::Injected | Self::Poked => Status::Injected,
            Self::Delayed => Status::Delayed,
            Self::Unavailable => Status::Unavailable,
        }
    }
}

impl Outcome {
    /// The range of the text after the value that no other field holds. It starts at `noted` if the
    /// annotation is part of it.
    #[inline]
    pub fn rest(&self, noted: Option<usize>) -> Option<(usize, usize)> {
        match (noted, self.aux) {
            (None, aux) => aux,
            (Some(start), Some((_, end))) => Some((start, end)),
            (Some(start), None) => self.annotation.map(|(_, end)| (start, end + 1)),
        }
    }
}

/// Parses `line[at..]`, the text from `= ` to the end of the line. `None` if it is not a result.
pub fn parse(line: &[u8], at: usize) -> Option<Outcome> {
    let mut out = Outcome::default();
    let mut end = line.len();
    if line.last() == Some(&b'>')
        && let Some((open, dur)) = elapsed(line, at)
    {
        out.dur = Some(dur);
        end = open;
    }
    let text = line.get(..end)?;
    let mut i = at;
    let mut deleted = None;
    if text.get(i)? == &b'?' {
        i += 1;
        out.status = ResultStatus::NoValue;
    } else {
        let (value, n) = number::c_integer(&text[i..]);
        if n == 0 {
            return None;
        }
        out.ret = Some(value);
        i += n;
        if text.get(i) == Some(&b'<') {
            let (mut close, mut plain) = annotation(text, i).unwrap_or((i + 1, false));
            if !matches!(text.get(close), None | Some(b' ' | b'(')) || text[close - 1] != b'>' {
                // Up to 4.21 a name may contain unescaped brackets: it ends at the last one.
                close = i + text[i..].iter().rposition(|&b| b == b'>')? + 1;
                plain = false;
            }
            out.plain = plain;
            out.annotation = Some((i + 1, close - 1));
            i = close;
            if text[i..].starts_with(b"(deleted)") {
                deleted = Some(i);
                i += 9;
            }
        }
    }
    if i == end {
        out.aux = deleted.map(|start| (start, end));
        return Some(out);
    }
    if text[i] != b' ' {
        return None;
    }
    i += 1;
    if text[i..] == *b"<unavailable>" {
        out.status = ResultStatus::Unavailable;
        return Some(out);
    }
    let rest_end = end;
    // strace prints these marks last (`syscall_exiting_print` in `src/syscall.c`).
    for (mark, status) in
        [(&b"(DELAYED)"[..], ResultStatus::Delayed), (b"(INJECTED)", ResultStatus::Injected)]
    {
        if text[i..end].ends_with(mark) {
            end -= mark.len();
            out.status = status;
            while end > i && text[end - 1] == b' ' {
                end -= 1;
            }
        }
    }
    // Only the text says what was injected.
    let mut aux_end = end;
    if let Some(from) = search::find(&text[i..end], b"(INJECTED: ", 3)
        && text[..end].ends_with(b")")
    {
        // Arguments only, or the result too.
        let poked = search::find(&text[i + from..end], b"retval", 3).is_none();
        out.status = if poked { ResultStatus::Poked } else { ResultStatus::Injected };
        aux_end = rest_end;
        out.aux = Some((i + from, aux_end));
        end = i + from.saturating_sub(1);
    }
    let failed = out.ret.is_none_or(|ret| ret == -1);
    if failed && text[i..end].starts_with(b"(errno ") {
        let (number, n) = number::digits(&text[i + 7..end]);
        if n > 0 && text[i + 7 + n..end] == *b")" {
            if number <= MAX_ERRNO {
                out.errno_number = Some(number);
            } else {
                // The task was killed before strace could ask for the result, and the call may have
                // taken place.
                (out.ret, out.status) = (None, ResultStatus::NoValue);
                out.aux = Some((i, aux_end));
            }
            return Some(out);
        }
    }
    if failed && let Some(number) = unnamed(&text[i..end]) {
        out.errno_number = Some(number);
        return Some(out);
    }
    if failed && text.get(i) == Some(&b'E') && i < end {
        let n = text[i..end]
            .iter()
            .position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_'))
            .unwrap_or(end - i);
        let rest = &text[i + n..end];
        let explained = rest.starts_with(b" (") && rest.ends_with(b")");
        if (2..=ERRNO_MAX).contains(&n) && explained {
            out.errno = Some((i, i + n));
            match behind_parentheses(rest) {
                Some(more) if rest[more..].starts_with(b" (") => {
                    out.aux = Some((i + n + more + 1, aux_end));
                }
                // Somebody has added text.
                Some(_) => return None,
                None => {}
            }
            if out.ret.is_none() {
                out.status = ResultStatus::Interrupted;
            }
            return Some(out);
        }
    }
    if i < end {
        // Only closed parentheses or a comment may follow a value.
        if !matches!((text[i], text[end - 1]), (b'(' | b'/' | b'[', b')' | b'/' | b']'))
            || text[i..].starts_with(b"//")
        {
            return None;
        }
        out.aux = Some((deleted.unwrap_or(i), aux_end));
    }
    Some(out)
}

/// Where text starts that follows the first pair of parentheses in ` (…)…`. Those within it nest.
fn behind_parentheses(rest: &[u8]) -> Option<usize> {
    if memchr::memchr(b')', rest) == Some(rest.len() - 1) {
        return None;
    }
    let mut depth = 0usize;
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return (at + 1 < rest.len()).then_some(at + 1),
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// An error without a name: `524 (Unknown error 524)` or `E??? (errno 524)`.
fn unnamed(text: &[u8]) -> Option<u64> {
    if let Some(rest) = text.strip_prefix(b"E??? (errno ") {
        let (number, n) = number::digits(rest);
        return (n > 0 && rest[n..] == *b")").then_some(number);
    }
    let (number, n) = number::digits(text);
    (n > 0 && text[n..].starts_with(b" (") && text.ends_with(b")")).then_some(number)
}

/// Reads ` <SECONDS>` at the end of the line. Returns the position of its blank, and the time in
/// ns.
#[inline]
pub fn elapsed(line: &[u8], from: usize) -> Option<(usize, i64)> {
    let close = line.len() - 1;
    // At most ten digits, a point, nine digits.
    let low = close.saturating_sub(21).max(from);
    let open = match close.checked_sub(9) {
        // The blank distinguishes it from an annotation.
        Some(open) if open >= low && line[open] == b'<' && line[..open].ends_with(b" ") => open,
        _ => low + line[low..close].iter().rposition(|&b| b == b'<')?,
    };
    if open == 0 || line[open - 1] != b' ' {
        return None;
    }
    let body = &line[open + 1..close];
    // The common form: seconds below ten, microseconds.
    if let &[whole @ b'0'..=b'9', b'.', a, b, c, d, e, f] = body {
        let micros = number::eight_digits([b'0', b'0', a, b, c, d, e, f])? as i64;
        let ns = i64::from(whole - b'0') * 1_000_000_000 + micros * 1_000;
        return Some((open - 1, ns));
    }
    // Old versions take times from gettimeofday(2), whose clock may be set back.
    let (ns, n) = match body.strip_prefix(b"-") {
        Some(body) => (-1, number::seconds(body)?.1 + 1),
        None => number::seconds(body)?,
    };
    (n == body.len()).then_some((open - 1, ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Outcome {
        parse(text.as_bytes(), 0).unwrap_or_else(|| panic!("{text} is a result"))
    }

    fn at(text: &str, range: Option<(usize, usize)>) -> &str {
        range.map_or("", |(a, b)| &text[a..b])
    }

    #[test]
    fn values_and_times() {
        assert_eq!(parsed("3").ret, Some(3));
        assert_eq!(parsed("3 <0.000017>").dur, Some(17_000));
        assert_eq!(parsed("0 <0>").dur, Some(0));
        assert_eq!((parsed("3 <-1.999990>").dur, parsed("3 <-1.999990>").aux), (Some(-1), None));
        assert_eq!(parsed("0x7f86bb6f5000 <0.000063>").ret, Some(0x7f86_bb6f_5000));
        assert_eq!(parsed("0xfffffffffffffffe").ret, Some(-2));
        assert_eq!(parsed("022").ret, Some(0o22));
        assert_eq!(parsed("?").status, ResultStatus::NoValue);
        assert_eq!(parsed("-38").ret, Some(-38));
    }

    #[test]
    fn errors_are_taken_from_the_name() {
        let text = "-1 ENOENT (Datei (oder) Verzeichnis nicht gefunden) <0.000036>";
        assert_eq!(at(text, parsed(text).errno), "ENOENT");
        let text = "? ERESTARTSYS (To be restarted if SA_RESTART is set)";
        assert_eq!(at(text, parsed(text).errno), "ERESTARTSYS");
        assert_eq!(parsed(text).status, ResultStatus::Interrupted);
        assert_eq!(parsed("-1 (errno 2)").errno_number, Some(2));
        let text = "-1 (errno 18446744073709551554)";
        let killed = parsed(text);
        assert_eq!(
            (killed.ret, killed.errno_number, killed.status),
            (None, None, ResultStatus::NoValue)
        );
        assert_eq!(at(text, killed.aux), "(errno 18446744073709551554)");
        assert_eq!(parsed("-1 524 (Unknown error 524) <0.1>").errno_number, Some(524));
        assert_eq!(parsed("-1 E??? (errno 523)").errno_number, Some(523));
        let text = "-1 EPERM (Operation not permitted) (INJECTED)";
        assert_eq!(at(text, parsed(text).errno), "EPERM");
        assert_eq!(parsed(text).status, ResultStatus::Injected);
    }

    #[test]
    fn what_follows_the_value() {
        let text = "1 ([{fd=3, revents=POLLIN}]) <0.000005>";
        assert_eq!(at(text, parsed(text).aux), "([{fd=3, revents=POLLIN}])");
        let text = "3</data/x) = 3> <0.1>";
        assert_eq!(at(text, parsed(text).annotation), "/data/x) = 3");
        assert_eq!(at("4</gone>(deleted)", parsed("4</gone>(deleted)").annotation), "/gone");
        assert_eq!(parsed("17 (INJECTED)").status, ResultStatus::Injected);
        let text = "17 (INJECTED: args, retval)";
        assert_eq!(parsed(text).status, ResultStatus::Injected);
        assert_eq!(at(text, parsed(text).aux), "(INJECTED: args, retval)");
        let text = "-1 ENOSYS (Function (not) implemented) (INJECTED: args) (DELAYED) <0.1>";
        assert_eq!(at(text, parsed(text).errno), "ENOSYS");
        assert_eq!(at(text, parsed(text).aux), "(INJECTED: args) (DELAYED)");
        assert_eq!(parsed(text).status, ResultStatus::Poked);
        let text = "3</d/a>b> <0.1>";
        assert_eq!(at(text, parsed(text).annotation), "/d/a>b");
        assert_eq!(at("3</d/x->y>", parsed("3</d/x->y>").annotation), "/d/x->y");
        assert_eq!(at("3</d/a<b>", parsed("3</d/a<b>").annotation), "/d/a<b");
        let text = "4</gone>(deleted) (x) <0.1>";
        assert_eq!(at(text, parsed(text).aux), "(deleted) (x)");
        let text = "-1 EAGAIN (Resource temporarily unavailable) (Timeout)";
        assert_eq!(at(text, parsed(text).aux), "(Timeout)");
        assert_eq!(parsed("3</x> <0.1>").dur, Some(100_000_000));
        assert_eq!(parse(b"3 /*> <unfinished ...>", 0), None);
        let text = "0 (Timeout) (INJECTED: retval)";
        assert_eq!(at(text, parsed(text).aux), "(Timeout) (INJECTED: retval)");
        let text = "12<cat> /* 3 in strace's PID NS */";
        let found = parsed(text);
        assert_eq!(at(text, found.rest(Some(2))), "<cat> /* 3 in strace's PID NS */");
        assert_eq!(parsed("0 (DELAYED) <0.1>").status, ResultStatus::Delayed);
        assert_eq!(parsed("? <unavailable>").status, ResultStatus::Unavailable);
    }

    #[test]
    fn other_text_is_not_a_result() {
        for text in ["", "3\\n\", 11", "abc", "3x", "3 abc", "3</cut", "-"] {
            assert_eq!(parse(text.as_bytes(), 0), None, "{text}");
        }
    }
}
