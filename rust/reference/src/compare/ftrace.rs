//! Rows of ftrace's text as the parser reads them, beside those of the reference.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, Int64Type, TimestampNanosecondType, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch, StringArray};
use tracefast_core::events::line_counts::{LineCounts, LineUse};
use tracefast_core::format::Format;
use tracefast_core::linux::machine::SyscallAbi;
use tracefast_core::text::escape::escape_invalid;

use crate::compare::parsed_log::parse;
use crate::ftrace::{Hints, Reading, Row, read};

/// Every column that both have, as text; what is null is not there.
type Columns = BTreeMap<&'static str, String>;

/// What both say of a log, and where they differ: a line for each column. `None`: nowhere.
///
/// # Panics
/// If a byte is not accounted for.
pub fn compared(format: Format, log: &[u8]) -> Option<String> {
    let (counts, batch) = parse(format, log, usize::MAX);
    let (stacks, machine) = match format {
        Format::Ftrace(format) => (format.stacks, format.abi),
        Format::Strace(_) => (false, SyscallAbi::default()),
    };
    // Where blocks may start, nothing belongs to the text before.
    let seam = |line: &[u8]| stacks && format.stands_alone(line);
    differences(&counts, &batch, &read(log, &Hints { machine, stacks, seam: &seam }))
}

fn differences(counts: &LineCounts, batch: &RecordBatch, slow: &Reading) -> Option<String> {
    let mut found = String::new();
    let mut fast: BTreeMap<u64, Vec<Columns>> = BTreeMap::new();
    for row in 0..batch.num_rows() {
        let (line, columns) = columns_of_batch(batch, row);
        fast.entry(line).or_default().push(columns);
    }
    // The model of tasks knows names better than the records that were printed later.
    let named =
        slow.rows.iter().any(|row| TELL_NAMES.contains(&row.name.as_deref().unwrap_or(b"")));
    for row in &slow.rows {
        let own = columns_of_row(row);
        let line = row.line;
        // Several records on a line are in their order.
        let rows = fast.entry(line).or_default();
        if rows.is_empty() {
            found += &format!("line {line}: fast has no row, reference {own:?}\n");
            continue;
        }
        found += &unequal(line, &rows.remove(0), &own, named);
    }
    for (line, rows) in fast {
        for row in rows {
            found += &format!("line {line}: fast {row:?}, reference has no row\n");
        }
    }
    for (used, text) in USES {
        let slow = slow.uses.iter().filter(|&&own| own == used).count() as u64;
        let fast = counts.lines(used);
        if fast != slow {
            found += &format!("lines of use {text}: fast {fast}, reference {slow}\n");
        }
    }
    (!found.is_empty()).then_some(found)
}

const USES: [(LineUse, &str); 8] = [
    (LineUse::Events, "events"),
    (LineUse::Resumed, "resumed"),
    (LineUse::Continuation, "continuation"),
    (LineUse::Summary, "summary"),
    (LineUse::Header, "header"),
    (LineUse::Message, "message"),
    (LineUse::Blank, "blank"),
    (LineUse::Unparsed, "unparsed"),
];

/// Columns of one row that differ.
fn unequal(line: u64, fast: &Columns, slow: &Columns, named: bool) -> String {
    let mut found = String::new();
    let call = slow.get("kind").is_some_and(|kind| kind == "syscall");
    let known = call && slow.get("name").is_some_and(|name| CALLS.contains(&&**name));
    let names: std::collections::BTreeSet<_> = fast.keys().chain(slow.keys()).copied().collect();
    for name in names {
        let skipped = match name {
            // The model of the kernel knows more than the log prints.
            "pid" | "path" => !slow.contains_key(name),
            "comm" => named,
            // The reference knows what a few calls do with their arguments.
            "fd" | "requested" | "bytes" => !known,
            _ => false,
        };
        let (fast, slow) = (fast.get(name), slow.get(name));
        if fast != slow && !skipped {
            found += &format!("line {line}, {name}: fast {fast:?}, reference {slow:?}\n");
        }
    }
    found
}

/// Events after which tasks have the names in them.
const TELL_NAMES: [&[u8]; 5] = [
    b"sched_switch",
    b"task_rename",
    b"task_newtask",
    b"sched_process_fork",
    b"sched_process_exec",
];

/// Calls whose arguments the reference reads.
const CALLS: [&str; 9] =
    ["read", "write", "pread64", "pwrite64", "close", "lseek", "newfstat", "open", "openat"];

fn columns_of_row(row: &Row) -> Columns {
    let mut out = Columns::new();
    let mut put = |name, value: Option<String>| {
        if let Some(value) = value {
            out.insert(name, value);
        }
    };
    // Bytes that are not UTF-8 appear as `\xNN` in rows.
    let text = |text: &Option<Vec<u8>>| text.as_ref().map(|text| escape_invalid(text).into_owned());
    put("kind", Some(row.kind.to_owned()));
    put("name", text(&row.name));
    put("ts", row.ts.map(|ts| ts.to_string()));
    put("dur_ns", row.dur.map(|dur| dur.to_string()));
    put("tid", row.tid.map(|tid| tid.to_string()));
    put("pid", row.pid.map(|pid| pid.to_string()));
    put("comm", text(&row.comm));
    put("cpu", row.cpu.map(|cpu| cpu.to_string()));
    put("args", text(&row.args));
    put("ret", row.ret.map(|ret| ret.to_string()));
    put("errno", row.errno.clone());
    put("status", row.status.map(str::to_owned));
    put("fd", row.fd.map(|fd| fd.to_string()));
    put("requested", row.requested.map(|count| count.to_string()));
    put("bytes", row.bytes.map(|count| count.to_string()));
    put("path", text(&row.path));
    put("extra", text(&row.extra));
    out
}

fn columns_of_batch(batch: &RecordBatch, row: usize) -> (u64, Columns) {
    const NAMES: [&str; 17] = [
        "kind",
        "name",
        "ts",
        "dur_ns",
        "tid",
        "pid",
        "comm",
        "cpu",
        "args",
        "ret",
        "errno",
        "status",
        "fd",
        "requested",
        "bytes",
        "path",
        "extra",
    ];
    let mut out = Columns::new();
    for name in NAMES {
        let column = batch.column_by_name(name).expect("all columns are there");
        if column.is_valid(row) {
            out.insert(name, value(column, row));
        }
    }
    let line = batch.column_by_name("line").expect("all columns are there");
    (line.as_primitive::<UInt64Type>().value(row), out)
}

/// One value as text.
fn value(column: &dyn Array, row: usize) -> String {
    let any = column.as_any();
    if any.is::<arrow_array::StringViewArray>() {
        return column.as_string_view().value(row).to_owned();
    }
    if let Some(words) = column.as_dictionary_opt::<UInt32Type>() {
        let text = words.downcast_dict::<StringArray>().expect("a dictionary of text");
        return text.values().value(words.keys().value(row) as usize).to_owned();
    }
    if let Some(numbers) = column.as_primitive_opt::<TimestampNanosecondType>() {
        return numbers.value(row).to_string();
    }
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        return numbers.value(row).to_string();
    }
    if let Some(numbers) = column.as_primitive_opt::<Int32Type>() {
        return numbers.value(row).to_string();
    }
    column.as_primitive::<UInt16Type>().value(row).to_string()
}
