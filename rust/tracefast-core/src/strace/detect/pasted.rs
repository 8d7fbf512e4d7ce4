//! Finds what other programs put around the lines of a log: prefixes and colours.

use std::borrow::Cow;

use crate::strace::detect::marks::is_marked;
use crate::strace::leader::{Delta, Layout, line_layout};
use crate::strace::line_start::{begins_event, call_name, is_call};
use crate::text::block::BOM;
use crate::text::colour;
use crate::text::number;
use crate::text::prefix::Prefix;

/// How many lines with a mark of strace's decide whether a prefix is looked for.
const LINES: usize = 200;

/// The text without what other programs added to its lines, and the prefix that they put before
/// them.
pub(crate) fn own_text(text: &[u8]) -> (Cow<'_, [u8]>, Option<Prefix>) {
    let plain = colour::plain(text.strip_prefix(BOM).unwrap_or(text));
    if starts_lines(&plain) {
        return (plain, None);
    }
    match Prefix::find(&plain, is_event) {
        Some(prefix) => (Cow::Owned(prefix.without(&plain)), Some(prefix)),
        None => (plain, None),
    }
}

/// Number of lines of `text` that only strace writes, to choose between formats.
pub(crate) fn likeness(text: &[u8]) -> usize {
    let (own, _) = own_text(text);
    own.split(|&b| b == b'\n').filter(|line| is_event(line.trim_ascii_end())).count()
}

/// Whether most of the first lines that show an event start with it, or no line shows one.
fn starts_lines(text: &[u8]) -> bool {
    let marked = text.split(|&b| b == b'\n').filter(|line| is_marked(line)).take(LINES);
    let (all, known) = marked.fold((0, 0), |(all, known), line| {
        (all + 1, known + usize::from(is_event(line.trim_ascii_end())))
    });
    known * 2 >= all
}

/// Whether most of the first lines with an event in `plain` are others in `text`. strace escapes
/// what is not ASCII in strings.
pub(crate) fn are_typeset(text: &[u8], plain: &[u8]) -> bool {
    let lines = text.split(|&b| b == b'\n').zip(plain.split(|&b| b == b'\n'));
    let marked = lines.filter(|(_, plain)| is_marked(plain)).take(LINES);
    let (all, others) = marked.fold((0, 0), |(all, others), (line, plain)| {
        (all + 1, others + usize::from(line != plain))
    });
    others > 0 && others * 2 >= all
}

/// Whether an event of strace starts the text, with its columns or without, that no other program
/// prints.
pub(crate) fn is_event(text: &[u8]) -> bool {
    let Some((layout, at)) = line_layout::layout_of(text) else { return false };
    let rest = &text[at..];
    if !begins_event(rest) || is_indented_pid(layout, text) {
        return false;
    }
    match call_name(rest) {
        Some(n) => is_call(&rest[..n]) && is_marked(rest),
        None => is_marked(rest),
    }
}

/// Whether what looks like whole seconds since the previous line (`-r=s`) is rather a pid behind
/// blanks: calls that are ten seconds apart are rare.
fn is_indented_pid(layout: Layout, text: &[u8]) -> bool {
    let digits = number::digits(text.trim_ascii_start()).1;
    layout.delta == Delta::Plain
        && text.first() == Some(&b' ')
        && digits > 1
        && text.trim_ascii_start().get(digits) == Some(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLS: [&str; 4] = [
        "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY) = 3",
        "read(3,  <unfinished ...>",
        "<... read resumed>\"abc\", 10) = 3",
        "+++ exited with 0 +++",
    ];

    /// The prefix of a log that has `prefix` before its lines.
    fn found(lines: &[String]) -> Option<Prefix> {
        own_text(lines.join("\n").as_bytes()).1
    }

    #[test]
    fn prefixes_of_all_kinds_are_found() {
        for columns in
            ["", "4711  1795175299.690276 ", "[pid 7] 07:00:00.123456 ", "47112 ", "4711 "]
        {
            for prefix in [
                "  ",
                "\t",
                "> ",
                "+ ",
                "* ",
                "| ",
                "log.txt:",
                "[stderr]: ",
                "2023-01-01T00:00:00.0000000Z ",
                "Jan 01 00:00:00 ",
                "Jan 01 00:00:00 host app[123]: ",
                "app_1  | ",
                "2023-01-01T00:00:00.000000000Z stdout F ",
                "> > ",
            ] {
                let lines = CALLS.map(|call| format!("{prefix}{columns}{call}"));
                let shape = found(&lines).unwrap_or_else(|| panic!("{lines:#?}"));
                for line in &lines {
                    assert_eq!(shape.skip(line.as_bytes()), Some(prefix.len()), "{line}");
                }
                let varies = prefix.contains(':') && prefix.contains("00");
                assert_eq!(shape.varies(), varies, "{prefix}");
            }
            for (form, width) in [("N:", 0), ("N\t", 6), ("log.txt:N:", 0)] {
                let prefix = |n: usize| form.replace('N', &format!("{n:width$}"));
                let lines: Vec<_> = (0..4).map(|n| prefix(n + 8) + columns + CALLS[n]).collect();
                let shape = found(&lines).unwrap_or_else(|| panic!("{lines:#?}"));
                let later = prefix(1_234_567) + columns + CALLS[0];
                assert_eq!(shape.skip(later.as_bytes()), Some(prefix(1_234_567).len()), "{later}");
                assert!(shape.varies());
            }
        }
    }

    #[test]
    fn columns_are_no_prefix() {
        for columns in [
            "",
            "N ",
            "[pid N] ",
            "N 07:00:00 ",
            "1795175299.690276 ",
            "     0.000123 ",
            "[host_t] ",
        ] {
            let lines: Vec<_> = (0..4)
                .map(|n| columns.replace('N', &(n * 7 % 4 + 100).to_string()) + CALLS[n])
                .collect();
            assert_eq!(found(&lines), None, "{lines:#?}");
        }
        // Numbers that go up and down may be pids, and different words are different logs.
        for columns in ["[ N: N] ", "N/0x1: ", "pid N: ", "WORDN: ", "N: "] {
            let lines: Vec<_> = (0..4)
                .map(|n| columns.replace('N', &(n * 7 % 4 + 100).to_string()) + CALLS[n])
                .collect();
            assert_eq!(found(&lines), None, "{lines:#?}");
        }
    }

    #[test]
    fn other_text_has_no_prefix() {
        for text in [
            "    int fd = open(path, O_RDONLY);\n    n = read(fd, buf, len);\n",
            "    if ((n = read(fd, buf, len)) == -1)\n",
            "key = (value) = 3\n",
            "",
        ] {
            assert_eq!(own_text(text.as_bytes()).1, None, "{text}");
        }
    }
}
