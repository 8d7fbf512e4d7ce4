//! The tokenizer of arguments: where they end, and where each one starts.
//!
//! It knows strings, nested comments, character literals, annotations of descriptors and brackets
//! of all kinds. The fast path uses it only where a line is not plain.

use memchr::{memchr, memchr2};

use crate::text::scan::{first_of, first_special};
use crate::text::search::find;

/// End of the token at `at`, if it is one in which brackets and commas have no meaning: a string,
/// comment, character literal or annotation. `None` if the token is not closed.
pub(crate) fn skip_opaque(text: &[u8], at: usize) -> Option<usize> {
    match text[at] {
        b'"' => skip_string(text, at),
        b'/' if text.get(at + 1) == Some(&b'*') => skip_comment(text, at),
        b'\'' => skip_character(text, at),
        b'<' => skip_angle(text, at),
        _ => Some(at + 1),
    }
}

/// Skips the string whose opening quote is at `at`.
pub(crate) fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    let mut i = at + 1;
    loop {
        i = first_of(text, i, [b'"', b'\\'])?;
        if text[i] == b'"' {
            return Some(i + 1);
        }
        i += 2;
    }
}

/// Like [`skip_string`], and whether the string holds no escape. Finding the closing quote shows
/// that at no extra cost for most strings.
#[inline]
pub(crate) fn string_end(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let first = first_of(text, at + 1, [b'"', b'\\'])?;
    if text[first] == b'"' {
        return Some((first + 1, true));
    }
    skip_string(text, at).map(|end| (end, false))
}

/// Skips a comment. Comments nest. A quote starts a string only right after the `/*`: some comments
/// hold unpaired quotes.
fn skip_comment(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut i = at;
    // A loop, not recursion: hostile input nests deeper than any stack.
    loop {
        match (text[i], text.get(i + 1)) {
            (b'/', Some(b'*')) => {
                depth += 1;
                i += 2;
                if text.get(i..i + 2) == Some(b" \"") {
                    i = skip_string(text, i + 1)?;
                }
            }
            (b'*', Some(b'/')) => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => i += 1,
        }
        i += memchr2(b'*', b'/', text.get(i..)?)?;
    }
}

/// `'x'` or `'\x00'`.
fn skip_character(text: &[u8], at: usize) -> Option<usize> {
    let body = match text.get(at + 1)? {
        b'\\' => at + 3,
        _ => at + 2,
    };
    // A quote without a closing one nearby is ordinary text.
    let near = text.get(body..)?;
    Some(memchr(b'\'', &near[..near.len().min(4)]).map_or(at + 1, |n| body + n + 1))
}

fn skip_angle(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with(b"<<") {
        return Some(at + 2);
    }
    if rest.starts_with(b"<... ") {
        return find(rest, b" ...>", 4).map(|n| at + n + 5);
    }
    match at.checked_sub(1).map(|i| text[i]) {
        Some(b'0'..=b'9' | b'D' | b']') => annotation(text, at).map(|(end, _)| end),
        _ => Some(at + 1),
    }
}

/// Like [`annotation_end`], and whether the annotation surely holds neither escapes nor brackets of
/// its own. A single search shows that for most annotations.
#[inline(always)] // Most descriptors have one, in four places of the code.
#[allow(clippy::inline_always)]
pub(crate) fn annotation(text: &[u8], at: usize) -> Option<(usize, bool)> {
    if matches!(text.get(at + 1)?, b'/' | b'a'..=b'z') {
        let first = first_of(text, at + 1, [b'<', b'>', b'\\'])?;
        if text[first] == b'>' {
            return Some((first + 1, true));
        }
    }
    annotation_end(text, at).map(|end| (end, false))
}

/// End of the annotation whose `<` is at `at`: `3</path>`, `0</dev/null<char 1:3>>`,
/// `5<TCP:[1.2.3.4:80->5.6.7.8:443]>`.
pub(crate) fn annotation_end(text: &[u8], at: usize) -> Option<usize> {
    let body = &text[at + 1..];
    if let Some(colon) = protocol(body) {
        // Socket addresses hold `->` and quoted names: they end at the first `]>` outside quotes.
        let mut i = at + 1 + colon;
        loop {
            i += memchr2(b'"', b']', text.get(i..)?)?;
            if text[i] == b'"' {
                i = skip_string(text, i)?;
            } else if text.get(i + 1) == Some(&b'>') {
                return Some(i + 2);
            } else {
                i += 1;
            }
        }
    }
    let mut depth = 1;
    let mut i = at + 1;
    loop {
        i += memchr2(b'<', b'>', text.get(i..)?)?;
        depth += if text[i] == b'<' { 1 } else { -1 };
        i += 1;
        if depth == 0 {
            return Some(i);
        }
    }
}

/// Length of `PROTO:[` at the start of an annotation, or of the `(null):[` that some versions
/// print.
fn protocol(body: &[u8]) -> Option<usize> {
    if body.starts_with(b"(null):[") {
        return Some(8);
    }
    if !body.first()?.is_ascii_uppercase() {
        return None;
    }
    let name = body
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'_')))?;
    body[name..].starts_with(b":[").then_some(name + 2)
}

/// Bytes that start a token or are brackets.
static SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\"/'<()[]{},";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

#[inline(always)]
pub(crate) fn special(byte: u8) -> bool {
    SPECIAL[usize::from(byte)]
}

/// Position of the `)` that closes the arguments starting at `start`, just after the `(`. `None` if
/// they do not end in `text`.
pub(crate) fn args_end(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut i = start;
    loop {
        i = first_special(text, i)?;
        match text[i] {
            b'(' | b'[' | b'{' => {
                depth += 1;
                i += 1;
            }
            b')' | b']' | b'}' => {
                if depth == 0 {
                    if text[i] == b')' {
                        return Some(i);
                    }
                } else {
                    depth -= 1;
                }
                i += 1;
            }
            b',' => i += 1,
            _ => i = skip_opaque(text, i)?,
        }
    }
}

/// Length of the arguments in `args` that a comma ends, without the one that the end of the text may
/// have cut.
pub(crate) fn ended_args(args: &[u8]) -> usize {
    let (mut depth, mut i, mut ended) = (0usize, 0, 0);
    while let Some(at) = first_special(args, i) {
        i = at + 1;
        match args[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => ended = at,
            b',' => {}
            _ => match skip_opaque(args, at) {
                Some(end) => i = end,
                None => break,
            },
        }
    }
    ended
}

/// Whether every string, comment and annotation in `args` is closed.
pub(crate) fn closed(args: &[u8]) -> bool {
    let mut i = 0;
    while let Some(n) = args[i..].iter().position(|&b| matches!(b, b'"' | b'/' | b'\'' | b'<')) {
        match skip_opaque(args, i + n) {
            Some(end) => i = end.min(args.len()),
            None => return false,
        }
    }
    true
}

/// Whether `text` ends inside an annotation.
pub(crate) fn in_annotation(text: &[u8]) -> bool {
    let mut i = 0;
    while let Some(n) = text[i..].iter().position(|&b| matches!(b, b'"' | b'/' | b'\'' | b'<')) {
        match skip_opaque(text, i + n) {
            Some(end) => i = end.min(text.len()),
            None => return text[i + n] == b'<',
        }
    }
    false
}

/// More than the number of arguments of any call.
pub(crate) const MAX_ARGS: usize = 12;

/// Arguments split at the top level, as ranges without surrounding blanks. Arguments beyond
/// [`MAX_ARGS`] are part of the last one. Names (`fd=`, of `--arg-names`) are left out.
#[derive(Debug, Default)]
pub(crate) struct Split {
    ranges: [(u32, u32); MAX_ARGS],
    len: usize,
}

impl Split {
    /// Splits `args` up to argument `upto`, which bounds the work on long calls.
    pub(crate) fn new(args: &[u8], upto: usize) -> Self {
        let mut split = Self::default();
        split.fill(args, upto);
        split
    }

    /// Like [`Split::new`], but fills an empty `Split` in place.
    pub(crate) fn fill(&mut self, args: &[u8], upto: usize) {
        let mut depth = 0usize;
        let (mut start, mut i) = (0, 0);
        while self.len < MAX_ARGS - 1 && self.len <= upto {
            let Some(at) = first_special(args, i) else { break };
            i = at;
            match args[i] {
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    i += 1;
                }
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    i += 1;
                }
                b',' => {
                    if depth == 0 {
                        self.push(args, start, i);
                        start = i + 1;
                    }
                    i += 1;
                }
                _ => match skip_opaque(args, i) {
                    Some(end) => i = end,
                    None => break,
                },
            }
        }
        if self.len <= upto && (start < args.len() || self.len > 0) {
            self.push(args, start, args.len());
        }
    }

    /// Sets argument `position`, the last one needed, to `start..end`. Earlier ones are not
    /// recorded.
    #[inline]
    pub(crate) fn end_with(&mut self, position: u8, start: usize, end: usize) {
        self.len = usize::from(position) + 1;
        self.ranges[usize::from(position)] = (start as u32, end as u32);
    }

    #[inline]
    fn push(&mut self, args: &[u8], mut start: usize, end: usize) {
        let mut arg = &args[start..end];
        while let [b' ', rest @ ..] = arg {
            (arg, start) = (rest, start + 1);
        }
        while let [rest @ .., b' '] = arg {
            arg = rest;
        }
        let end = start + arg.len();
        start += name_len(arg);
        self.ranges[self.len] = (start as u32, end as u32);
        self.len += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Text of argument `i`. `args` must be what was split.
    pub(crate) fn get<'a>(&self, args: &'a [u8], i: u8) -> Option<&'a [u8]> {
        let &(start, end) = self.ranges[..self.len].get(usize::from(i))?;
        args.get(start as usize..end as usize)
    }

    pub(crate) fn start(&self, i: u8) -> usize {
        self.ranges[usize::from(i)].0 as usize
    }

    pub(crate) fn end(&self, i: u8) -> usize {
        self.ranges[usize::from(i)].1 as usize
    }
}

/// Length of `NAME=` at the start of an argument.
#[inline]
pub(crate) fn name_len(arg: &[u8]) -> usize {
    match arg.first() {
        Some(b'a'..=b'z' | b'_') => arg
            .iter()
            .position(|b| !(b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_'))
            .filter(|&n| arg[n] == b'=' && arg.get(n + 1) != Some(&b'='))
            .map_or(0, |n| n + 1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(line: &str) -> Option<&str> {
        let start = line.find('(').map_or(0, |i| i + 1);
        args_end(line.as_bytes(), start).map(|end| &line[start..end])
    }

    #[test]
    fn finds_the_parenthesis_that_closes_the_call() {
        for args in [
            r#"3, "(z) = 3 <0.5>", 4096"#,
            r#"1, "a\") = 3\\", 7"#,
            r"3</w/a) = 3>, 0x7f",
            r"0</dev/null<char 1:3>>",
            r#"5<UNIX-STREAM:[1->2,"/s) = 1"]>, 1"#,
            r"5<TCPv6:[[::1]:36614->[::1]:35535]>",
            r#"25<(null):[1178538,"sock->[1,\"q\"]>"]>"#,
            r"8191 /* IOPRIO_PRIO_VALUE(0 /* IOPRIO_CLASS_NONE */, 8191) */",
            r#"{ax25_call="x"} /* ,}]"'-5) */, 3"#,
            r#"1 /* ") = " */"#,
            r"v4l2_fourcc('M', ')', '\x00', 1)",
            r"<... resuming interrupted nanosleep ...>",
            r"~[KILL STOP], 1<<12, [28 => 16]",
            r"3</data/foo->",
            "",
        ] {
            assert_eq!(end(&format!("f({args}) = 0")), Some(args));
        }
    }

    #[test]
    fn comments_nest_deeper_than_a_stack() {
        let deep = format!("f({}{}) = 0", "/*".repeat(1_000_000), "*/".repeat(1_000_000));
        assert_eq!(args_end(deep.as_bytes(), 2), Some(deep.len() - 5));
        let open = "f(".to_owned() + &"/* \"".repeat(1_000_000);
        assert_eq!(args_end(open.as_bytes(), 2), None);
    }

    #[test]
    fn open_arguments_have_no_end() {
        for cut in [r#"f("abc) = 3"#, "f(3</a) = 3", "f({a=1) = 3", "f(1 /* x) = 3"] {
            assert_eq!(end(cut), None, "{cut}");
        }
    }

    #[test]
    fn splits_at_the_top_level() {
        let args = br#"fd=3</a, b>, buf="x, \"y", {a=1, b=2}, makedev(0x1, 0x3), 5"#;
        let split = Split::new(args, MAX_ARGS);
        let parts: Vec<&str> = (0..split.len() as u8)
            .map(|i| std::str::from_utf8(split.get(args, i).expect("in range")).expect("ascii"))
            .collect();
        let expected = ["3</a, b>", r#""x, \"y""#, "{a=1, b=2}", "makedev(0x1, 0x3)", "5"];
        assert_eq!(parts, expected);
        assert_eq!(Split::new(args, 0).len(), 1);
        assert_eq!(Split::new(b"", 3).len(), 0);
    }

    #[test]
    fn example_of_annotation_end() {
        use crate::strace::arguments::annotation_end;
        assert_eq!(annotation_end(b"3</data/foo->, x", 1), Some(13));
        assert_eq!(annotation_end(br#"4<UNIX-STREAM:[1->2,"/a>b"]>, x"#, 1), Some(28));
        assert_eq!(annotation_end(b"3</cut", 1), None);
    }
}
