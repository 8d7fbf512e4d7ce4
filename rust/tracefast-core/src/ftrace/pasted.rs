//! Finds what other programs put before each line of a pasted log.

use crate::ftrace::header::COMM;
use crate::ftrace::header::layouts::{default, latency};
use crate::text::colour;
use crate::text::number;
use crate::text::prefix::Prefix;

/// How many bytes of a log are searched for a prefix and colours.
const SEARCHED: usize = 1 << 18;

/// How the first line of a header starts.
const TRACER: &[u8] = b"# tracer: ";

/// How many records decide whether a prefix is looked for.
const RECORDS: usize = 200;

/// Where the names of commands end: the kernel aligns them to 16 bytes, trace-cmd to one or two more.
const COLUMNS: std::ops::RangeInclusive<usize> = COMM..=COMM + 2;

/// The prefix of nearly all lines, if there is one.
pub(crate) fn prefix(text: &[u8]) -> Option<Prefix> {
    let text = &text[..text.len().min(SEARCHED)];
    let whole = memchr::memrchr(b'\n', text).map_or(text, |end| &text[..end]);
    // Most logs without a prefix, and those of others, are told at once: the search takes long.
    if starts_lines(whole) || !is_about_records(whole) {
        return None;
    }
    let heads = || Prefix::find(whole, is_head);
    // What a program wrote into the trace may end like lines of the header.
    let first = || Prefix::find(whole, is_first);
    let records =
        COLUMNS.map(|column| Prefix::find(whole, |line| is_head(line) || is_aligned(line, column)));
    let mut found = std::iter::once_with(heads)
        .chain(std::iter::once_with(first))
        .chain(records)
        .flatten()
        .filter(|prefix| is_before_records(whole, prefix));
    // Names are aligned with blanks: a header shows which of the blanks are the prefix's.
    let first = found.next()?;
    let shows = |prefix: &Prefix| {
        lines(whole).any(|line| prefix.skip(line).is_some_and(|n| is_first(&line[n..])))
    };
    let found = if shows(&first) { first } else { found.find(shows).unwrap_or(first) };
    // Without a header an indent of blanks may be a wider column of names.
    let tabs = || lines(whole).all(|line| line.is_empty() || line[0] == b'\t');
    (!found.is_indent() || shows(&found) || tabs()).then_some(found)
}

/// The text without colours, if other programs put them around records. What a program wrote into
/// the trace may have colours of its own.
pub(crate) fn uncoloured(text: &[u8]) -> Option<Vec<u8>> {
    let escape = memchr::memmem::Finder::new(b"\x1b[");
    let start = &text[..text.len().min(SEARCHED)];
    escape.find(start)?;
    let (mut all, mut around) = (0, 0);
    for line in lines(start) {
        if let Some(first) = escape.find(line) {
            all += 1;
            around += usize::from(is_around(line, first));
        }
    }
    (around * 2 > all).then(|| colour::stripped(text))
}

/// Whether the colours of a line, the first of which is at `first`, are not in its text alone.
fn is_around(line: &[u8], first: usize) -> bool {
    let own = colour::stripped(line);
    let named = default::columns_end(&own).map_or(0, |payload| {
        let name = own[payload..].iter().take_while(|byte| !b":( ".contains(byte));
        payload + name.count()
    });
    // The name of a command may have colours: it is as wide as all are.
    if let Some((_, end)) = default::parse(line).and_then(|header| header.comm)
        && COLUMNS.contains(&end)
        && memchr::memmem::find(&line[end..], b"\x1b[").is_none()
    {
        return false;
    }
    // `grep --color` erases behind what it finds.
    let erases = || memchr::memmem::find(line, b"\x1b[K").is_some();
    first < named || (first == 0 && own.starts_with(b"#")) || erases()
}

/// Whether a header or the columns of a record are somewhere in the lines.
fn is_about_records(text: &[u8]) -> bool {
    memchr::memmem::find(text, TRACER).is_some()
        || memchr::memmem::find(text, b"cpus=").is_some()
        || lines(text).any(default::has_columns)
}

/// Whether the header is at the starts of lines, or most of the first records are.
fn starts_lines(text: &[u8]) -> bool {
    if lines(text).take(RECORDS).any(is_first) {
        return true;
    }
    if memchr::memmem::find(text, TRACER).is_some() || lines(text).take(RECORDS).any(ends_first) {
        return false;
    }
    let records = lines(text).filter(|line| memchr::memchr(b'[', line).is_some());
    let (all, known) = records.take(RECORDS).fold((0, 0), |(all, known), line| {
        let aligned = COLUMNS.into_iter().any(|column| is_aligned(line, column));
        // Its text may look like a record.
        let whole = aligned || latency::parse(line).is_some();
        (all + 1, known + usize::from(whole))
    });
    known * 2 >= all
}

/// Whether nearly all lines have the prefix.
fn is_before_records(text: &[u8], prefix: &Prefix) -> bool {
    let (all, known) =
        lines(text).filter(|line| !line.is_empty()).fold((0, 0), |(all, known), line| {
            (all + 1, known + usize::from(prefix.skip(line).is_some()))
        });
    known * 10 >= all * 9
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// A line of the header, at the start of the text.
fn is_head(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    is_first(line) || line == b"#" || line.starts_with(b"#  ") || line.starts_with(b"##### CPU ")
}

/// The first line of a header.
fn is_first(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    // A command may be called the same.
    line.strip_prefix(TRACER).is_some_and(|name| !name.contains(&b' '))
        || line.strip_prefix(b"cpus=").is_some_and(|n| number::whole_integer(n).is_some())
}

/// Whether the header of trace-cmd ends the line.
fn ends_first(line: &[u8]) -> bool {
    memchr::memmem::rfind(line, b"cpus=").is_some_and(|at| is_first(&line[at..]))
}

/// A record whose name ends at this column.
fn is_aligned(line: &[u8], column: usize) -> bool {
    line.get(column) == Some(&b'-')
        && line[..column - COMM].iter().all(|&byte| byte == b' ')
        && default::at_dash(line, column).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "            bash-2101    [001] d..2.  2881.878957: sys_read -> 0x2";
    const HEADER: [&str; 4] = ["# tracer: nop", "#", "#           TASK-PID", "#              | |"];

    #[test]
    fn prefixes_are_found_before_headers_and_before_records() {
        for form in ["  ", "\t", "> ", "log.txt:", "N:", "app_1  | ", "2023-01-01T00:00:0NZ "] {
            // An indent before records alone may be the width of their column.
            let blank = form.trim().is_empty();
            for header in [&HEADER[..], &[]].into_iter().take(2 - usize::from(blank)) {
                let all = header.iter().copied().chain([RECORD; 4]).enumerate();
                let prefix = |n: usize| form.replace('N', &n.to_string());
                let log: Vec<String> = all.map(|(n, line)| prefix(n) + line).collect();
                let found = super::prefix(log.join("\n").as_bytes()).expect(form);
                for line in [RECORD, "# tracer: nop", "#"] {
                    let line = prefix(5) + line;
                    assert_eq!(found.skip(line.as_bytes()), Some(prefix(5).len()), "{line}");
                }
            }
        }
    }

    #[test]
    fn blanks_may_follow_the_first_line() {
        for first in ["cpus=2", "# tracer: nop"] {
            let record = "app-15916   0..... 23135.657248: sys_exit_write:       0x2";
            let log: String =
                [first, record, record].map(|line| format!("a.log:{line} \n")).concat();
            let found = prefix(log.as_bytes()).expect(first);
            assert_eq!(found.skip(format!("a.log:{first} ").as_bytes()), Some(6), "{first}");
        }
    }

    #[test]
    fn text_of_a_record_that_looks_like_one_is_no_record_behind_a_prefix() {
        let line = "    bash-7       0..... 2881878957000: irq_handler_entry:   irq=4 name=x-1 [000] 1.0: y";
        assert_eq!(prefix(line.as_bytes()), None);
    }

    #[test]
    fn columns_are_no_prefix() {
        let long = "com.android.systemui-611   (  611) [001] d..3 2881.878957: x: y";
        let blanks = "Binder Thread of a process-611 [001] d..3 2881.878957: x: y";
        for line in [RECORD, long, blanks, "   [001] 2881.878957: x: y", "prose", ""] {
            assert_eq!(prefix([line; 20].join("\n").as_bytes()), None, "{line}");
        }
    }
}
