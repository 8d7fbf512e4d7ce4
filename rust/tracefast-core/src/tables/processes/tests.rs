//! Contradictory logs, and cases that must not take long.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt32Array,
};

use crate::tables::fold::{Dictionaries, Fold};
use crate::tables::processes::Processes;

/// A row: task, tid, name, args, ret, child.
type Event<'a> = (u32, i32, &'a str, &'a str, i64, Option<u32>);

fn batch(events: &[Event<'_>]) -> RecordBatch {
    let text = |of: &dyn Fn(&Event<'_>) -> Option<String>| -> ArrayRef {
        Arc::new(events.iter().map(of).collect::<StringArray>())
    };
    let word = |word: &'static str| text(&|_| Some(word.to_owned()));
    let ids: Int32Array = events.iter().map(|event| Some(event.1)).collect();
    let nothing: Int64Array = events.iter().map(|_| None).collect();
    let nobody: UInt32Array = events.iter().map(|_| None).collect();
    let ts: TimestampNanosecondArray = (0..events.len() as i64).map(Some).collect();
    let tasks: UInt32Array = events.iter().map(|event| Some(event.0)).collect();
    let rets: Int64Array = events.iter().map(|event| Some(event.4)).collect();
    let children: UInt32Array = events.iter().map(|event| event.5).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("ts", Arc::new(ts)),
        ("dur_ns", Arc::new(nothing.clone())),
        ("task", Arc::new(tasks)),
        ("pid", Arc::new(ids.clone())),
        ("tid", Arc::new(ids)),
        ("comm", text(&|_| None)),
        ("kind", word("syscall")),
        ("name", text(&|event| Some(event.2.to_owned()))),
        ("args", text(&|event| Some(event.3.to_owned()))),
        ("ret", Arc::new(rets)),
        ("status", word("complete")),
        ("path", word("/bin/sh")),
        ("path2", text(&|_| None)),
        ("ofd", Arc::new(nobody.clone())),
        ("ofd2", Arc::new(nobody)),
        ("file_type", text(&|_| None)),
        ("bytes", Arc::new(nothing)),
        ("child", Arc::new(children)),
        ("source", word("log")),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .expect("columns of one length")
}

fn table(events: &[Event<'_>]) -> RecordBatch {
    let mut fold = Processes::default();
    fold.push(&batch(events), &Dictionaries::default()).expect("the columns that are needed");
    fold.finish().expect("columns of one length").remove(0)
}

fn numbers(table: &RecordBatch, name: &str) -> Vec<Option<u32>> {
    table[name].as_primitive::<UInt32Type>().iter().collect()
}

const THREAD: &str = "child_stack=0x7f12, flags=CLONE_VM|CLONE_THREAD";

#[test]
fn processes_that_make_one_another() {
    let events = [
        (0, 10, "fork", "", 11, Some(1)),
        (1, 11, "fork", "", 12, Some(2)),
        (2, 12, "fork", "", 10, Some(0)),
        (3, 13, "fork", "", 13, Some(3)),
    ];
    let table = table(&events);
    // None is its own ancestor, so the first one was created by none of them.
    assert_eq!(numbers(&table, "parent_task"), [None, Some(0), Some(1), None]);
    assert_eq!(numbers(&table, "children"), [Some(1), Some(1), Some(0), Some(0)]);
    assert_eq!(table["image"].null_count(), 4);
}

#[test]
fn threads_that_make_one_another() {
    let events = [
        (0, 10, "clone", THREAD, 11, Some(1)),
        (1, 11, "clone", THREAD, 12, Some(2)),
        (2, 12, "clone", THREAD, 10, Some(0)),
    ];
    let table = table(&events);
    assert_eq!(numbers(&table, "task"), [Some(0)]);
    assert_eq!(numbers(&table, "threads"), [Some(3)]);
}

#[test]
fn a_long_line_of_ancestors_is_walked_once() {
    let count = 30_000;
    let forks = (0..count).map(|n| (n, n as i32 + 1, "fork", "", i64::from(n) + 2, Some(n + 1)));
    // A separate line of threads, not created by any of the above.
    let threads = (count + 1..2 * count)
        .map(|n| (n, n as i32 + 1, "clone", THREAD, i64::from(n) + 2, Some(n + 1)));
    let exec = (0, 1, "execve", "", 0, None);
    let events: Vec<_> = std::iter::once(exec).chain(forks).chain(threads).collect();
    let table = table(&events);
    assert_eq!(table.num_rows(), count as usize + 2);
    assert_eq!(numbers(&table, "threads").last(), Some(&Some(count)));
    // All descendants run the program that the first one started.
    assert_eq!(table["image"].null_count(), 1);
    assert_eq!(table["pid"].as_primitive::<Int32Type>().value(count as usize), count as i32 + 1);
}

#[test]
fn rows_of_the_idle_task_are_no_process() {
    let table = table(&[(0, 0, "getpid", "", 0, None), (1, 7, "getpid", "", 7, None)]);
    assert_eq!(numbers(&table, "task"), [Some(1)]);
}
