//! Text that programs write into the trace: the marks of Android's atrace, and anything else.

use crate::ftrace::decode::forms::{EventColumn, Row};
use crate::ftrace::decode::value::{self, FieldType, Print, Slot};

/// Events with a text that a program or the kernel wrote.
pub(crate) const NAMES: [&str; 4] = ["tracing_mark_write", "print", "bprint", "bputs"];

const FUNCTION: usize = 0;
const PHASE: usize = 1;
const PID: usize = 2;
const TRACK: usize = 3;
const NAME: usize = 4;
const COOKIE: usize = 5;
const VALUE: usize = 6;
const PARENT_TS: usize = 7;
const REALTIME_TS: usize = 8;
const TEXT: usize = 9;

/// The columns of a marker.
pub(crate) fn columns() -> Vec<EventColumn> {
    let column = |name, kind| {
        let print = if kind == FieldType::Text { Print::Text } else { Print::Integer };
        EventColumn { name, kind, print }
    };
    vec![
        column("function", FieldType::Text),
        column("phase", FieldType::Text),
        column("pid", FieldType::I32),
        column("track", FieldType::Text),
        column("name", FieldType::Text),
        column("cookie", FieldType::I64),
        column("value", FieldType::I64),
        column("parent_ts", FieldType::F64),
        column("realtime_ts", FieldType::I64),
        column("text", FieldType::Text),
    ]
}

/// Reads the text of a marker. `printed` is whether the kernel names the function that wrote it.
pub(crate) fn read(text: &str, printed: bool, row: &mut Row) {
    let bytes = text.as_bytes();
    let mut start = 0;
    if printed {
        if let Some(end) = printer(bytes) {
            row.slots[FUNCTION] = Slot::Text(0, end);
            start = end + 2;
        } else if let Some(end) = raw_printer(text) {
            // The fields as they are: `ip=0xffffffff81 buf=…`.
            row.slots[FUNCTION] = Slot::Text(3, end);
            start = end + 5;
        }
        let marker = "tracing_mark_write: ";
        if text[start..].starts_with(marker) {
            start += marker.len();
        }
    }
    if mark(text, start, row).is_none() {
        // A failed attempt may have filled some slots.
        for slot in &mut row.slots[PHASE..] {
            *slot = Slot::Null;
        }
        row.slots[TEXT] = Slot::Text(start, text.len());
    }
}

/// The end of `function: `.
fn printer(text: &[u8]) -> Option<usize> {
    let end =
        text.iter().position(|&b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')))?;
    (end > 0 && !text[0].is_ascii_digit() && text[end..].starts_with(b": ")).then_some(end)
}

/// The end of the address in `ip=0xffffffff81 buf=`.
fn raw_printer(text: &str) -> Option<usize> {
    let end = text.find(" buf=")?;
    let address = text.get(..end)?.strip_prefix("ip=")?;
    (!address.contains(['=', '\n']) && address.len() < 64).then_some(end)
}

/// `B|12|name` and its like, `trace_event_clock_sync: …`.
fn mark(text: &str, start: usize, row: &mut Row) -> Option<()> {
    let end = start + text[start..].trim_end_matches(['\n', '\0']).len();
    let body = &text[start..end];
    if let Some(sync) = body.strip_prefix("trace_event_clock_sync: ") {
        return clock_sync(sync, row);
    }
    let phase = *body.as_bytes().first()?;
    let after = &body.as_bytes()[1..];
    if !b"BECSFINGH".contains(&phase) {
        return None;
    }
    row.slots[PHASE] = Slot::Text(start, start + 1);
    if phase == b'E' && after.iter().all(|&b| matches!(b, b' ' | b'|')) {
        return Some(());
    }
    if after.first() != Some(&b'|') {
        return None;
    }
    let (pid, at) = value::integer(text.as_bytes(), start + 2)?;
    row.slots[PID] = Slot::Bits(pid.bits(FieldType::I32)?);
    let at = match text.as_bytes().get(at) {
        None if matches!(phase, b'B' | b'E') => return Some(()),
        _ if at == end && matches!(phase, b'B' | b'E') => return Some(()),
        Some(b'|') => at + 1,
        _ => return None,
    };
    let name = |row: &mut Row, start: usize, end: usize| row.slots[NAME] = Slot::Text(start, end);
    match phase {
        b'B' | b'E' | b'I' => {
            if end > at || phase != b'E' {
                name(row, at, end);
            }
        }
        b'C' => {
            let (value, bar) = last_number(text, at, end)?;
            row.slots[VALUE] = Slot::Bits(value);
            name(row, at, bar);
        }
        b'S' | b'F' => {
            let (cookie, bar) = last_number(text, at, end)?;
            row.slots[COOKIE] = Slot::Bits(cookie);
            name(row, at, bar);
        }
        b'N' | b'G' => {
            let end = if phase == b'G' {
                let (cookie, bar) = last_number(text, at, end)?;
                row.slots[COOKIE] = Slot::Bits(cookie);
                bar
            } else {
                end
            };
            let bar = at + text[at..end].find('|')?;
            row.slots[TRACK] = Slot::Text(at, bar);
            name(row, bar + 1, end);
        }
        _ => {
            let (cookie, bar) = last_number(text, at, end)?;
            row.slots[COOKIE] = Slot::Bits(cookie);
            row.slots[TRACK] = Slot::Text(at, bar);
        }
    }
    Some(())
}

/// The number after the last bar of a piece of the text, and the position of that bar: names before
/// it may hold bars.
fn last_number(text: &str, start: usize, end: usize) -> Option<(u64, usize)> {
    let bar = start + text[start..end].rfind('|')?;
    let (number, stop) = value::integer(text.as_bytes(), bar + 1)?;
    let bits = number.exact(FieldType::I64)?;
    (stop == end).then_some((bits, bar))
}

/// `parent_ts=1.2`, `realtime_ts=1500000000123`.
fn clock_sync(text: &str, row: &mut Row) -> Option<()> {
    if let Some(seconds) = text.strip_prefix("parent_ts=") {
        let number = seconds.parse::<f64>().ok().filter(|seconds| seconds.is_finite())?;
        row.slots[PARENT_TS] = Slot::Bits(number.to_bits());
    } else {
        let (number, end) = value::integer(text.strip_prefix("realtime_ts=")?.as_bytes(), 0)?;
        if "realtime_ts=".len() + end != text.len() {
            return None;
        }
        row.slots[REALTIME_TS] = Slot::Bits(number.exact(FieldType::I64)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str, printed: bool) -> String {
        let columns = columns();
        let mut row = Row { slots: vec![Slot::Null; columns.len()], made: String::new() };
        read(text, printed, &mut row);
        let mut out = Vec::new();
        for (column, slot) in columns.iter().zip(&row.slots) {
            let value = match *slot {
                Slot::Null | Slot::Made(..) => continue,
                Slot::Bits(bits) if column.kind == FieldType::F64 => {
                    f64::from_bits(bits).to_string()
                }
                Slot::Bits(bits) => (bits as i64).to_string(),
                Slot::Text(start, end) => format!("{:?}", &text[start..end]),
            };
            out.push(format!("{}={value}", column.name));
        }
        out.join(" ")
    }

    #[test]
    fn marks() {
        for (text, expected) in [
            ("B|12|a b", r#"phase="B" pid=12 name="a b""#),
            ("B|12|a|b|c", r#"phase="B" pid=12 name="a|b|c""#),
            ("B|12|", r#"phase="B" pid=12 name="""#),
            ("B|12", r#"phase="B" pid=12"#),
            ("E", r#"phase="E""#),
            ("E|12", r#"phase="E" pid=12"#),
            ("E|12\n", r#"phase="E" pid=12"#),
            ("E|12|a", r#"phase="E" pid=12 name="a""#),
            ("C|12|count|42", r#"phase="C" pid=12 name="count" value=42"#),
            ("C|12|a|b|-4", r#"phase="C" pid=12 name="a|b" value=-4"#),
            ("S|12|async|7", r#"phase="S" pid=12 name="async" cookie=7"#),
            ("F|12|a|b|7", r#"phase="F" pid=12 name="a|b" cookie=7"#),
            ("I|12|now", r#"phase="I" pid=12 name="now""#),
            ("N|12|track|a|b", r#"phase="N" pid=12 track="track" name="a|b""#),
            ("G|12|track|a|b|3", r#"phase="G" pid=12 track="track" name="a|b" cookie=3"#),
            ("H|12|track|3", r#"phase="H" pid=12 track="track" cookie=3"#),
            ("trace_event_clock_sync: parent_ts=1.5", "parent_ts=1.5"),
            ("trace_event_clock_sync: realtime_ts=1500000000123", "realtime_ts=1500000000123"),
            ("trace_event_clock_sync: name=x", r#"text="trace_event_clock_sync: name=x""#),
        ] {
            assert_eq!(fields(text, false), expected, "{text}");
        }
    }

    #[test]
    fn anything_else_is_text() {
        for text in [
            "",
            "plain",
            "Begin|1|a",
            "B|x|a",
            "C|12|a|b",
            "C|12|a|1|cat",
            "S|12|a",
            "H|1|a",
            "E|x",
            "B12",
            "N|12|a",
            "C|99999999999|a|1",
            "   lead",
            "a\nb\n",
        ] {
            assert_eq!(fields(text, false), format!("text={text:?}"), "{text}");
        }
    }

    #[test]
    fn who_printed_it() {
        assert_eq!(
            fields("my_func: B|1|a", true),
            r#"function="my_func" phase="B" pid=1 name="a""#
        );
        assert_eq!(fields("my_func: hello", true), r#"function="my_func" text="hello""#);
        assert_eq!(fields("my_func: hello", false), r#"text="my_func: hello""#);
        assert_eq!(
            fields("ip=0xffffffff81 buf=C|1|a|2", true),
            r#"function="0xffffffff81" phase="C" pid=1 name="a" value=2"#
        );
        assert_eq!(fields("hello", true), r#"text="hello""#);
    }
}
