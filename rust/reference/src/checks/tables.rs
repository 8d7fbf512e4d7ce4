//! What holds for the tables of any rows.

use std::collections::{BTreeMap, HashSet};

use arrow_array::RecordBatch;
use tracefast_core::tables::files::{self, Darshan, Files, Options, Scope};
use tracefast_core::tables::fold::{Dictionaries, Fold};
use tracefast_core::tables::forks::Forks;
use tracefast_core::tables::processes::Processes;
use tracefast_core::tables::syscalls::{self, StraceCounts, Syscalls};

use crate::columns::{numbers, shares, texts};

/// Makes every table of `events`.
///
/// # Panics
/// If a table has values that cannot be, or does not add up to the events.
pub(super) fn tables(events: &RecordBatch) {
    let uses = [files::By::File, files::By::Process, files::By::Open].map(|by| {
        let table = made(&|| Files::new(Options { by, ..Options::default() }), events);
        files_hold(&table);
        table
    });
    let scope = Scope::File;
    files_hold(&made(&|| Files::new(Options { scope, ..Options::default() }), events));
    for name in ["reads", "read_errors", "read_bytes", "writes", "write_errors", "write_bytes"] {
        let [file, process, _] = [0, 1, 2].map(|at| sum(&uses[at], name));
        assert_eq!(file, process, "{name} by process");
    }
    made(&Darshan::default, events);
    made(&StraceCounts::default, events);
    calls_hold(events);
    processes_hold(&made(&Processes::default, events));
    forks_hold(&made(&Forks::default, events));
    made(&Forks::with_hints, events);
}

/// The table of all events at once, which is that of the events in two parts.
fn made<F: Fold>(fold: &dyn Fn() -> F, events: &RecordBatch) -> RecordBatch {
    let table = |parts: &[RecordBatch]| {
        let mut fold = fold();
        for part in parts {
            fold.push(part, &Dictionaries::default()).expect("columns of the schema");
        }
        // The tables of logs this small have one part.
        fold.finish().expect("columns of one length").remove(0)
    };
    let whole = table(std::slice::from_ref(events));
    let cut = events.num_rows() / 3;
    let parts = [events.slice(0, cut), events.slice(cut, events.num_rows() - cut)];
    assert_eq!(table(&parts), whole, "in two parts");
    values_hold(&whole);
    whole
}

/// Counts, sizes and times are not negative; shares are shares.
fn values_hold(table: &RecordBatch) {
    for field in table.schema().fields() {
        let name = field.name();
        if let Some(shares) = shares(table, name) {
            let most = if name.ends_with("_share") { 1.0 } else { f64::INFINITY };
            let holds = |share: &f64| (0.0..=most).contains(share);
            let odd = shares.iter().flatten().find(|share| !holds(share));
            assert_eq!(odd, None, "{name}");
        }
        // Times before 1970 are times; an exit status is what the program says.
        let any = name.starts_with("ts")
            || matches!(&**name, "pid" | "ppid" | "tid" | "exit_status" | "child_pid");
        if let Some(values) = numbers(table, name).filter(|_| !any) {
            let least = values.into_iter().flatten().min();
            assert!(least.is_none_or(|least| least >= 0), "{name} {least:?}");
        }
    }
}

fn column(table: &RecordBatch, name: &str) -> Vec<Option<i128>> {
    numbers(table, name).unwrap_or_else(|| panic!("no numbers in {name}"))
}

/// The sum of a column, as far as one of the table's own sums goes.
fn sum(table: &RecordBatch, name: &str) -> i128 {
    column(table, name).into_iter().flatten().sum::<i128>().min(i64::MAX.into())
}

/// In each row the values of `names` do not decrease; null ones do not count.
fn ordered(table: &RecordBatch, names: &[&str]) {
    let columns: Vec<_> = names.iter().map(|name| column(table, name)).collect();
    for row in 0..table.num_rows() {
        let values: Vec<i128> = columns.iter().filter_map(|column| column[row]).collect();
        assert!(values.is_sorted(), "{names:?} of row {row}: {values:?}");
    }
}

/// In each row the values of `parts` add up to that of `whole`.
fn adds_up(table: &RecordBatch, whole: &str, parts: &[&str]) {
    let whole_column = column(table, whole);
    let parts_columns: Vec<_> = parts.iter().map(|name| column(table, name)).collect();
    for (row, whole_value) in whole_column.into_iter().enumerate() {
        let sum: i128 = parts_columns.iter().filter_map(|column| column[row]).sum();
        assert_eq!(whole_value, Some(sum), "{whole} of row {row}");
    }
}

fn files_hold(table: &RecordBatch) {
    let what = |side: &str, names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("{side}_{name}")).collect()
    };
    ordered(table, &["ts_first", "ts_last"]);
    for (side, calls) in [("read", "reads"), ("write", "writes")] {
        let mut classes = what(side, &["first", "consecutive", "forward", "backward", "unknown"]);
        if side == "read" {
            classes.push("read_eof".to_owned());
        }
        adds_up(table, calls, &classes.iter().map(|name| &**name).collect::<Vec<_>>());
        for names in [
            &["p50_ns", "p99_ns", "max_ns", "ns"][..],
            &["wall_ns", "ns"],
            &["size_median", "size_max", "bytes"],
            &["unique_bytes", "bytes"],
            &["near", "forward"],
            &["rewinds", "backward"],
        ] {
            let names = what(side, names);
            ordered(table, &names.iter().map(|name| &**name).collect::<Vec<_>>());
        }
    }
    ordered(table, &["stats_failed", "stats"]);
}

/// What creates tasks: its return in the child is no call of the child.
const CREATES: [&str; 7] =
    ["clone", "clone2", "clone3", "fork", "vfork", "syscall_435", "syscall_0x1b3"];

fn calls_hold(events: &RecordBatch) {
    let by_name = made(&|| Syscalls::new(syscalls::By::Name), events);
    let by_process = made(&|| Syscalls::new(syscalls::By::Process), events);
    let text = |name| texts(events, name).expect("a column of the schema");
    let [kinds, names, statuses] = ["kind", "name", "status"].map(text);
    let rets = column(events, "ret");
    let mut calls: BTreeMap<&str, i128> = BTreeMap::new();
    for row in 0..events.num_rows() {
        let Some(name) = names[row].as_deref() else { continue };
        let returns_in_child = CREATES.contains(&name)
            && statuses[row].as_deref() == Some("headless")
            && rets[row] == Some(0);
        if kinds[row].as_deref() == Some("syscall") && !returns_in_child {
            *calls.entry(name).or_default() += 1;
        }
    }
    for table in [&by_name, &by_process] {
        let mut counted: BTreeMap<&str, i128> = BTreeMap::new();
        let names = texts(table, "name").expect("a name");
        for (name, calls) in names.iter().zip(column(table, "calls")) {
            *counted.entry(name.as_deref().unwrap_or("?")).or_default() += calls.unwrap_or(0);
        }
        assert_eq!(counted, calls, "calls by name");
        ordered(table, &["min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "total_ns"]);
        ordered(table, &["wall_ns", "total_ns"]);
        ordered(table, &["wait_ns", "total_ns"]);
        for part in ["errors", "unfinished", "timed"] {
            ordered(table, &[part, "calls"]);
        }
    }
    for name in ["calls", "errors", "unfinished", "timed", "total_ns", "bytes"] {
        assert_eq!(sum(&by_name, name), sum(&by_process, name), "{name} by process");
    }
}

fn processes_hold(table: &RecordBatch) {
    ordered(table, &["ts_start", "ts_end"]);
    let tasks = column(table, "task");
    let parents: BTreeMap<_, _> = tasks.iter().copied().zip(column(table, "parent_task")).collect();
    assert_eq!(parents.len(), tasks.len(), "a process has one row");
    for &task in &tasks {
        let mut seen = HashSet::new();
        let mut at = task;
        while let Some(&Some(parent)) = parents.get(&at) {
            assert!(seen.insert(at), "{task:?} is its own ancestor");
            assert!(parents.contains_key(&Some(parent)), "{parent} is no process");
            at = Some(parent);
        }
    }
}

fn forks_hold(table: &RecordBatch) {
    ordered(table, &["tracer_low_ns", "tracer_high_ns"]);
}
