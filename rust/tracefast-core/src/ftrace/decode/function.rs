//! Functions of the tracers `function` and `function_graph`: what follows their names.

use crate::ftrace::decode::forms::{EventColumn, Row};
use crate::ftrace::decode::value::{self, FieldType, Print, Slot};

const CALLER: usize = 0;
const OFFSET: usize = 1;
const SIZE: usize = 2;
const ADDRESS: usize = 3;
const MODULE: usize = 4;
const ARGS: usize = 5;
const DEPTH: usize = 6;

/// The columns of a function.
pub(crate) fn columns() -> Vec<EventColumn> {
    let column = |name, kind, print| EventColumn { name, kind, print };
    vec![
        column("caller", FieldType::Text, Print::Text),
        column("offset", FieldType::U64, Print::Integer),
        column("size", FieldType::U64, Print::Integer),
        column("address", FieldType::U64, Print::Hex),
        column("module", FieldType::Text, Print::Text),
        column("args", FieldType::Text, Print::Text),
        column("depth", FieldType::U32, Print::Integer),
    ]
}

/// Reads `+0x4/0x10 [module] <ffffffff81> (a=1) <-caller depth=2`; any part may be absent. Returns
/// where the rest of the text starts.
pub(crate) fn read(text: &str, row: &mut Row) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().take_while(|&&b| b == b' ').count();
        let next = match bytes.get(at) {
            Some(b'+') => offset(bytes, at, row),
            Some(b'[') => group(text, at, "]").inspect(|end| {
                row.slots[MODULE] = Slot::Text(at + 1, end - 1);
            }),
            Some(b'(') if row.slots[CALLER] == Slot::Null => arguments(text, at).map(|end| {
                row.slots[ARGS] = Slot::Text(at + 1, end);
                end + 1
            }),
            Some(b'<') if bytes.get(at + 1) == Some(&b'-') => {
                // trace-cmd prints `<-- caller`.
                let start = at + if bytes[at..].starts_with(b"<-- ") { 4 } else { 2 };
                let word = bytes[start..].iter().take_while(|&&b| b != b' ').count();
                let mut end = start + word;
                // The caller's own module and address belong to it.
                while let Some(more) = trailer(text, end) {
                    end = more;
                }
                let first = row.slots[CALLER] == Slot::Null;
                first.then(|| {
                    row.slots[CALLER] = Slot::Text(start, end);
                    end
                })
            }
            Some(b'd') if bytes[at..].starts_with(b"depth=") => {
                let depth = value::integer(bytes, at + 6);
                depth.filter(|&(_, end)| end == bytes.len()).and_then(|(depth, end)| {
                    row.slots[DEPTH] = Slot::Bits(depth.exact(FieldType::U32)?);
                    Some(end)
                })
            }
            Some(b'<') => group(text, at, ">").and_then(|end| {
                let print = Print::Hex;
                let made = &mut row.made;
                let inner = value::read(print, FieldType::U64, bytes, at + 1, None, made);
                let (slot, stop) = inner?;
                row.slots[ADDRESS] = slot;
                (stop + 1 == end).then_some(end)
            }),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return at,
        }
    }
}

/// The end of the arguments with their bracket at `at`. They may hold anything; they are followed
/// by the caller, the depth, or nothing.
fn arguments(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let end = rest.find(") <-").or_else(|| rest.rfind(") depth="));
    Some(at + end.or_else(|| rest.strip_suffix(')').map(str::len))?)
}

/// ` [module]` or ` <address>` at `at`: its end.
fn trailer(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.starts_with(" [") {
        group(text, at + 1, "]")
    } else if rest.starts_with(" <") && !rest.starts_with(" <-") {
        group(text, at + 1, ">")
    } else {
        None
    }
}

fn group(text: &str, at: usize, close: &str) -> Option<usize> {
    text.get(at..)?.find(close).map(|n| at + n + close.len())
}

/// `+0x4/0x10` at `at`.
fn offset(text: &[u8], at: usize, row: &mut Row) -> Option<usize> {
    let (offset, end) = value::integer(text, at + 1)?;
    if text.get(end) != Some(&b'/') {
        return None;
    }
    let (size, end) = value::integer(text, end + 1)?;
    row.slots[OFFSET] = Slot::Bits(offset.exact(FieldType::U64)?);
    row.slots[SIZE] = Slot::Bits(size.exact(FieldType::U64)?);
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> String {
        let columns = columns();
        let mut row = Row { slots: vec![Slot::Null; columns.len()], made: String::new() };
        let rest = read(text, &mut row);
        let mut out = Vec::new();
        for (column, slot) in columns.iter().zip(&row.slots) {
            match *slot {
                Slot::Null | Slot::Made(..) => {}
                Slot::Bits(bits) => out.push(format!("{}={bits:#x}", column.name)),
                Slot::Text(start, end) => {
                    out.push(format!("{}={}", column.name, &text[start..end]));
                }
            }
        }
        if rest < text.len() {
            out.push(format!("rest={}", &text[rest..]));
        }
        out.join(" ")
    }

    #[test]
    fn every_option_of_the_tracer() {
        for (text, expected) in [
            ("<-g", "caller=g"),
            ("+0x4/0x10 <-g+0x1/0x2", "caller=g+0x1/0x2 offset=0x4 size=0x10"),
            ("[ext4] <-g [jbd2]", "caller=g [jbd2] module=ext4"),
            (
                "<ffffffff81000000> <-g <ffffffff82>",
                "caller=g <ffffffff82> address=0xffffffff81000000",
            ),
            ("(a=1, b=(2)) <-g", "caller=g args=a=1, b=(2)"),
            ("() <-g", "caller=g args="),
            ("<-g (repeats: 3, last_ts: 1.5)", "caller=g rest=(repeats: 3, last_ts: 1.5)"),
            ("[ext4] <-alloc_fd depth=3", "caller=alloc_fd module=ext4 depth=0x3"),
            ("(a=1) <-g depth=1", "caller=g args=a=1 depth=0x1"),
            ("(a=(1)) depth=1", "args=a=(1) depth=0x1"),
            ("(a=(1))", "args=a=(1)"),
            ("<-- g", "caller=g"),
            ("<-g <-h", "caller=g rest=<-h"),
            ("depth=0", "depth=0x0"),
            ("depth=x", "rest=depth=x"),
            ("what", "rest=what"),
            ("(a=1", "rest=(a=1"),
            ("{ /* x */", "rest={ /* x */"),
            ("", ""),
        ] {
            assert_eq!(fields(text), expected, "{text}");
        }
    }
}
