//! Records of the function tracer: a function, perhaps its arguments, and its caller.

use memchr::memmem;

use crate::ftrace::scan::Span;
use crate::text::number;

/// The function in `text` from `start` on: the range of its name, and of what is printed after it.
/// `None` if it is not a function.
#[inline]
pub(crate) fn parse(text: &[u8], start: usize) -> Option<(Span, Span)> {
    let (name, at) = called(text, start)?;
    let rest = &text[at..];
    // trace-cmd prints an arrow of its own.
    let caller = [&b" <-- "[..], b" <-"].iter().find(|arrow| rest.starts_with(arrow))?.len() + at;
    let end = place_end(text, caller)?;
    let ends = end == text.len() || text[end..].starts_with(b" (repeats: ");
    ends.then(|| parts(text, start, name))
}

/// The same where the caller is not printed (`noprint-parent`). Any word looks like that, so that
/// only the columns before it show that it is a record.
pub(crate) fn alone(text: &[u8]) -> Option<(Span, Span)> {
    let (name, at) = called(text, 0)?;
    // A number is not a function.
    let word = text[0].is_ascii_alphabetic() || text[0] == b'_';
    (word && at == text.len()).then(|| parts(text, 0, name))
}

/// Text by positions.
/// The name and what follows it, without the blank between them.
fn parts(text: &[u8], start: usize, name: usize) -> (Span, Span) {
    ((start, name), (name + usize::from(text[name..].starts_with(b" ")), text.len()))
}

/// The end of a function's name, and the end of its place and arguments.
fn called(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let name = symbol_end(text, start);
    let at = place_end(text, start)?;
    if text.get(at) != Some(&b'(') {
        return Some((name, at));
    }
    // Values are numbers, except for types that the kernel does not know.
    let close = match memmem::rfind(&text[at..], b") <-") {
        Some(close) => at + close + 1,
        None => text.ends_with(b")").then_some(text.len())?,
    };
    Some((name, close))
}

/// The end of `symbol+0x1/0x2 [module] <ffffffff81000000>`; all but the symbol may be missing.
fn place_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = symbol_end(text, start);
    if at == start {
        return None;
    }
    if text[at..].starts_with(b"+0x") {
        at = hex_end(text, at + 3)?;
        if text[at..].starts_with(b"/0x") {
            at = hex_end(text, at + 3)?;
        }
    }
    if text[at..].starts_with(b" [") {
        at += memchr::memchr(b']', &text[at..])? + 1;
    }
    if text[at..].starts_with(b" <") && text.get(at + 2).is_some_and(u8::is_ascii_hexdigit) {
        at = hex_end(text, at + 2)?;
        if text.get(at) != Some(&b'>') {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn hex_end(text: &[u8], at: usize) -> Option<usize> {
    let (_, n) = number::hex_digits(&text[at..]);
    (n > 0).then_some(at + n)
}

fn symbol_end(text: &[u8], start: usize) -> usize {
    let symbol = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$');
    start + text[start..].iter().take_while(|b| symbol(b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        for (text, name, rest) in [
            ("_raw_spin_lock <-__schedule", "_raw_spin_lock", "<-__schedule"),
            ("f+0x0/0x10 <-g+0x3/0x40", "f", "+0x0/0x10 <-g+0x3/0x40"),
            ("f <ffffffff8123> <-g <ffffffff8124>", "f", "<ffffffff8123> <-g <ffffffff8124>"),
            ("f+0x0/0x10 [ext4] <ffff> <-g [jbd2]", "f", "+0x0/0x10 [ext4] <ffff> <-g [jbd2]"),
            ("f(a=1, b=0x2) <-g", "f", "(a=1, b=0x2) <-g"),
            (
                "f+0x0/0x1 <ff>(a=(union)[0x1:0x2]) <-g",
                "f",
                "+0x0/0x1 <ff>(a=(union)[0x1:0x2]) <-g",
            ),
            ("f(a=?0x1, ...) <-g+0x1/0x2 <ff>", "f", "(a=?0x1, ...) <-g+0x1/0x2 <ff>"),
            ("f(a=) <-x) <-g", "f", "(a=) <-x) <-g"),
            (
                "f <-g (repeats: 3, last_ts:  12.000345)",
                "f",
                "<-g (repeats: 3, last_ts:  12.000345)",
            ),
            ("f <-- g", "f", "<-- g"),
            ("foo.constprop.0 <-0xffffffffc0001234", "foo.constprop.0", "<-0xffffffffc0001234"),
            ("0xffffffffc0001234 <-0", "0xffffffffc0001234", "<-0"),
        ] {
            assert_eq!(alone(text.as_bytes()), None, "{text}");
            let (n, r) = parse(text.as_bytes(), 0).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((&text[n.0..n.1], &text[r.0..r.1]), (name, rest), "{text}");
        }
        assert_eq!(parse(b"  f <-g", 2), Some(((2, 3), (4, 7))));
    }

    #[test]
    fn without_their_callers() {
        for (text, name, rest) in [
            ("schedule", "schedule", ""),
            ("schedule+0x0/0x20", "schedule", "+0x0/0x20"),
            ("f <ffff>", "f", "<ffff>"),
            ("f(a=1)", "f", "(a=1)"),
            ("f()", "f", "()"),
        ] {
            assert_eq!(parse(text.as_bytes(), 0), None, "{text}");
            let (n, r) = alone(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((&text[n.0..n.1], &text[r.0..r.1]), (name, rest), "{text}");
        }
    }

    #[test]
    fn other_text_is_no_function() {
        for text in [
            "",
            "12",
            "f g",
            "f <-",
            "f <- g",
            "f <-g h",
            "f(a=1",
            "f(a=1) g",
            "f+0x <-g",
            "f <-g+0x1/ x",
            "f [ext4 <-g",
            "f <ff <-g",
            "254,0  A  W 1 + 8 <- (254,1) 0",
            "f <-g (repeat)",
        ] {
            assert_eq!(parse(text.as_bytes(), 0), None, "{text}");
            assert_eq!(alone(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn example_of_parse() {
        use crate::ftrace::payload::function::parse;
        let text = b"mutex_lock+0x0/0x30 <-perf_poll+0x4f/0xa0";
        let (name, rest) = parse(text, 0).unwrap();
        assert_eq!(&text[name.0..name.1], b"mutex_lock");
        assert_eq!(&text[rest.0..rest.1], b"+0x0/0x30 <-perf_poll+0x4f/0xa0");
        assert_eq!(parse(b"8,0 A R 1 + 8 <- (8,1) 0", 0), None);
    }
}
