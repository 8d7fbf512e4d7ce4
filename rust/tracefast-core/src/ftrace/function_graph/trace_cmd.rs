//! `function_graph` as `trace-cmd report` prints it: after the columns of a record.

use memchr::memmem;

use crate::ftrace::function_graph::NAME;
use crate::ftrace::function_graph::body::{self, FunctionCall, FunctionReturn, GraphEvent};
use crate::ftrace::function_graph::line::duration;
use crate::ftrace::scan::blanks;
use crate::text::number;

/// What a record of `function_graph` says, and the nanoseconds in the function; `text` is all that
/// follows the columns.
pub(crate) fn parse(text: &[u8]) -> Option<(GraphEvent, Option<i64>)> {
    let colon = memchr::memchr(b':', &text[..text.len().min(32)])?;
    let enters = match &text[..colon] {
        b"funcgraph_entry" | b"fgraph_retaddr_entry" => true,
        b"funcgraph_exit" => false,
        _ => return None,
    };
    if let Some((dur, after)) = duration(text, colon + 1) {
        let what = body::parse(text, after, 2, false)?;
        let fits = match what {
            GraphEvent::Enter(_) | GraphEvent::Leaf(_) => enters,
            GraphEvent::Exit(_) => !enters,
            GraphEvent::Comment { .. } | GraphEvent::Interrupt => false,
        };
        return fits.then_some((what, dur));
    }
    let at = blanks(text, colon + 1);
    if enters { entry(text, at) } else { exit(text, at) }
}

/// `--> f (3)`, `--> f (3) <- g`, or the fields as they are.
fn entry(text: &[u8], at: usize) -> Option<(GraphEvent, Option<i64>)> {
    let (name, after) = name(text, at, b"--> ")?;
    let depth = depth(text, after)?;
    let caller = memmem::find(&text[after..], b" <- ").map_or(text.len(), |n| after + n + 1);
    let nothing = (after, after);
    let call = FunctionCall { name, rest: nothing, caller: (caller, text.len()), ret: None, depth };
    Some((GraphEvent::Enter(call), None))
}

/// `<-- f (3) (start: 1f  end: 2f) over: 0`, or the fields as they are.
fn exit(text: &[u8], at: usize) -> Option<(GraphEvent, Option<i64>)> {
    let (name, after) = name(text, at, b"<-- ")?;
    let depth = depth(text, after)?;
    let hex = |keys: [&[u8]; 2]| keys.iter().find_map(|key| field(text, after, key, true));
    let (start, end) = (hex([b"start: ", b"calltime="]), hex([b"end: ", b"rettime="]));
    let dur = start.zip(end).and_then(|(start, end)| i64::try_from(end.checked_sub(start)?).ok());
    let ret = field(text, after, b"retval=", true).map(u64::cast_signed);
    Some((GraphEvent::Exit(FunctionReturn { name: Some(name), ret, depth }), dur))
}

/// The function after `arrow` or `func=`, and where it ends.
fn name(text: &[u8], at: usize, arrow: &[u8]) -> Option<(crate::ftrace::scan::Span, usize)> {
    let start = [arrow, b"func=", b"func:"].iter().find(|p| text[at..].starts_with(p))?.len() + at;
    let len = text[start..].iter().position(|&b| b == b' ').unwrap_or(text.len() - start);
    (len > 0 && len <= NAME).then_some(((start, start + len), start + len))
}

/// ` (3)`, ` depth=3`.
fn depth(text: &[u8], at: usize) -> Option<u32> {
    if let Some(rest) = text[at..].strip_prefix(b" (") {
        let (value, n) = number::digits(rest);
        return (n > 0 && n < 10 && rest.get(n) == Some(&b')')).then_some(value as u32);
    }
    let value = field(text, at, b"depth=", false).or_else(|| field(text, at, b"depth:", false))?;
    u32::try_from(value).ok()
}

/// The number after `key`.
fn field(text: &[u8], at: usize, key: &[u8], hex: bool) -> Option<u64> {
    let value = &text[at + memmem::find(&text[at..], key)? + key.len()..];
    let (number, n) = match value.strip_prefix(b"0x") {
        Some(value) => number::hex_digits(value),
        None if hex => number::hex_digits(value),
        None => number::digits(value),
    };
    (n > 0 && n <= 16).then_some(number)
}

#[cfg(test)]
mod tests {
    #[test]
    fn example_of_parse() {
        use crate::ftrace::function_graph::{GraphEvent, parse_record};
        let (what, dur) = parse_record(b"funcgraph_exit:         0.630 us   |        }").unwrap();
        assert!(matches!(what, GraphEvent::Exit(end) if end.depth == 3));
        assert_eq!(dur, Some(630));
    }
}
