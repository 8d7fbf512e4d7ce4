//! The columns in front of a payload, in every layout that the kernel and trace-cmd print.
//!
//! A line is recognized by its own features, not by the lines around it; the log's usual layout is
//! only tried first. The options of a trace can be changed while it is read, and logs are appended
//! to one another.

pub mod default;
pub(crate) mod latency;
pub(crate) mod raw_and_hex;

use crate::ftrace::header::{Header, Layout};
use crate::ftrace::non_records::classify::{NonRecord, classify, is_continuation};
use crate::ftrace::payload::{self, Payload};

/// The columns of `line` in a log with the usual layout `usual`; `None` if it is not a record.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::header::{Layout, layouts::parse};
/// let line = b"    bash-2101      1..... 25321us : sys_write -> 0x2";
/// let header = parse(line, Layout::Default).unwrap();
/// assert_eq!((header.layout, header.cpu), (Layout::Latency, Some(1)));
/// assert_eq!(header.time, Some(25_321_000));
/// assert_eq!(&line[header.payload..], b"sys_write -> 0x2");
/// assert_eq!(parse(b"x: y", Layout::Default), None);
/// assert!(parse(b"x: y", Layout::NoContext).is_some());
/// ```
#[inline(always)]
pub fn parse(line: &[u8], usual: Layout) -> Option<Header> {
    let header = if usual == Layout::Default { default::parse(line) } else { only(line, usual) };
    match header {
        Some(header) => Some(header),
        None => other(line, usual),
    }
}

/// A record in another layout than the log's usual one.
#[cold]
fn other(line: &[u8], usual: Layout) -> Option<Header> {
    // Most lines that come here are not records: the first byte rules out most layouts.
    let first = *line.first()?;
    let (digit, hex) = (first.is_ascii_digit(), first.is_ascii_hexdigit());
    Layout::ALL.into_iter().filter(|&layout| layout != usual).find_map(|layout| match layout {
        Layout::Raw if !digit => None,
        Layout::Hex if !hex => None,
        Layout::Classic if !digit && first != b' ' => None,
        Layout::Mmio if !matches!(first, b'R' | b'W' | b'M' | b'U') => None,
        Layout::Remote if first != b'[' => None,
        Layout::NoContext => is_call(line).then(no_context),
        _ => only(line, layout).filter(|header| {
            // Any numbers look like these columns; they count only before an event that cannot be
            // printed.
            let numbers = matches!(layout, Layout::Raw | Layout::Hex);
            !numbers || line[header.payload..].starts_with(b"type: ")
        }),
    })
}

/// The columns of one layout.
fn only(line: &[u8], layout: Layout) -> Option<Header> {
    match layout {
        Layout::Default => default::parse(line),
        Layout::Latency => latency::parse(line),
        Layout::Verbose => latency::verbose(line),
        Layout::Raw => raw_and_hex::raw(line),
        Layout::Hex => raw_and_hex::hex(line),
        Layout::Classic => raw_and_hex::classic(line),
        Layout::Mmio => raw_and_hex::mmio(line),
        Layout::Remote => raw_and_hex::remote(line),
        Layout::NoContext => is_payload(line).then(no_context),
    }
}

/// The columns of `line`, if the name of the command ends at `end`, followed by `-`.
pub(crate) fn at(line: &[u8], layout: Layout, end: usize) -> Option<Header> {
    if line.get(end) != Some(&b'-') {
        return None;
    }
    match layout {
        Layout::Default => default::at_dash(line, end),
        Layout::Latency => latency::at_dash(line, end),
        _ => None,
    }
}

/// `sys_read(…` or `sys_read -> 0x…`: what a record without columns cannot be mistaken for.
pub(crate) fn is_call(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"sys_") else { return false };
    let n = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let after = &rest[n..];
    n > 0 && ((after.starts_with(b"(") && after.ends_with(b")")) || after.starts_with(b" -> 0x"))
}

/// A payload that cannot be the continuation of the line before.
fn is_payload(line: &[u8]) -> bool {
    if is_continuation(line) {
        return false;
    }
    match payload::parse(line) {
        Payload::Nameless { .. } => {
            line.starts_with(b"type: ") || line.starts_with(b"Unknown type")
        }
        // Only the kernel starts lines this way.
        Payload::Marker { .. } => true,
        // A single word may be anything.
        Payload::Function { rest, .. } => rest.0 < rest.1,
        // The columns of `blk_classic` start like the payload of blk, those of mmiotrace have a time.
        Payload::Tracer { .. } => {
            raw_and_hex::classic(line).is_none() && raw_and_hex::mmio(line).is_none()
        }
        _ => matches!(classify(line), NonRecord::Unknown),
    }
}

fn no_context() -> Header {
    Header::EMPTY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layout_is_told_by_itself() {
        for (layout, line) in [
            (
                Layout::Default,
                "            bash-2101    [001] .....  2881.878957: sys_write -> 0x2",
            ),
            (Layout::Latency, "    bash-2101      1..... 25321us : sys_write -> 0x2"),
            (
                Layout::Verbose,
                "            bash    2101   1 0 00000000 00000000 [abc5fbad] 25.321ms (+0.002ms): x: y",
            ),
            (Layout::Raw, "2101 1 2881878957473 type: 839"),
            (Layout::Hex, "00000835 00000001 0000029efd5f1da1 type: 839"),
            (Layout::Classic, "254,0    0  3068.686402651 25219  Q  RA 29947752 + 16 [dd]"),
            (Layout::Remote, "[003]\t   12.345678: hyp_enter: id=1"),
            (Layout::Mmio, "R 4 3068.686402 1 0xfee00030 0x50014 0x0 0"),
            (Layout::Mmio, "MAP 3068.686402 1 0xfee00000 0xf8010000 0x1000 0x0 0"),
            (Layout::Mmio, "MARK 3068.686402 before the module is loaded"),
            (Layout::NoContext, "sys_write -> 0x2"),
        ] {
            for usual in Layout::ALL {
                let found = parse(line.as_bytes(), usual).map(|header| header.layout);
                assert_eq!(found, Some(layout), "{line} in {usual:?}");
            }
        }
    }

    #[test]
    fn numbers_are_no_columns() {
        for line in [
            "1 2 3 four",
            "00000001 00000002 0000000000000003 x",
            "sys_read",
            "[1] 2",
            "",
            "R 4 5",
            "MAP 1 2",
            "MARK 1.000001 Lost 5 events.",
            "MARK x",
        ] {
            assert_eq!(parse(line.as_bytes(), Layout::Default), None, "{line}");
        }
        assert!(parse(b"1 2 3 four", Layout::Raw).is_some());
    }
}
