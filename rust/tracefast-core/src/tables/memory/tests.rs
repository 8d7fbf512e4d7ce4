//! What may be resident, and what is, in made-up logs.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
    UInt16Array, UInt32Array,
};

use crate::tables::fold::{Dictionaries, Fold};
use crate::tables::memory::Memory;

const MIB: i64 = 1 << 20;

/// A row: task, pid, kind, name, args, ret.
#[derive(Clone)]
struct Event(u32, i32, &'static str, &'static str, String, i64);

fn batch(events: &[Event]) -> RecordBatch {
    let text = |of: &dyn Fn(&Event) -> Option<String>| -> ArrayRef {
        Arc::new(events.iter().map(of).collect::<StringArray>())
    };
    let ids: Int32Array = events.iter().map(|event| Some(event.1)).collect();
    let ts: TimestampNanosecondArray = (0..events.len() as i64).map(Some).collect();
    let tasks: UInt32Array = events.iter().map(|event| Some(event.0)).collect();
    let rets: Int64Array = events.iter().map(|event| Some(event.5)).collect();
    let children = events.iter().map(|event| {
        let forks = event.3.contains("fork") || event.3 == "clone";
        u32::try_from(event.5).ok().filter(|_| forks)
    });
    let descriptors = events.iter().map(|event| if event.4.contains("-1") { -1 } else { 3 });
    let cpus = events.iter().map(|event| (event.2 == "event").then_some(0));
    let path = |event: &Event| Some(event.4.split_once('<')?.1.split_once('>')?.0.to_owned());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("ts", Arc::new(ts)),
        ("task", Arc::new(tasks)),
        ("pid", Arc::new(ids.clone())),
        ("tid", Arc::new(ids)),
        ("kind", text(&|event| Some(event.2.to_owned()))),
        ("name", text(&|event| Some(event.3.to_owned()))),
        ("args", text(&|event| Some(event.4.clone()))),
        ("ret", Arc::new(rets)),
        ("status", text(&|_| Some("complete".to_owned()))),
        ("path", text(&path)),
        ("fd", Arc::new(descriptors.map(Some).collect::<Int32Array>())),
        ("child", Arc::new(children.collect::<UInt32Array>())),
        ("source", text(&|_| Some("log".to_owned()))),
        ("cpu", Arc::new(cpus.collect::<UInt16Array>())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
        .expect("columns of one length")
}

/// Rows of the table: pid, anonymous memory, files, shared memory.
fn rows(events: &[Event]) -> Vec<(i32, i64, i64, i64)> {
    let mut fold = Memory::default();
    fold.push(&batch(events), &Dictionaries::default()).expect("the columns that are needed");
    let table = fold.finish().expect("columns of one length").remove(0);
    let bytes = |name: &str| table[name].as_primitive::<Int64Type>().values().to_vec();
    let pids = table["pid"].as_primitive::<Int32Type>().values().to_vec();
    let (anon, file, shared) = (bytes("anon_bytes"), bytes("file_bytes"), bytes("shm_bytes"));
    (0..pids.len()).map(|row| (pids[row], anon[row], file[row], shared[row])).collect()
}

fn call(pid: i32, name: &'static str, args: &str, ret: i64) -> Event {
    Event(pid as u32, pid, "syscall", name, args.to_owned(), ret)
}

fn exec(pid: i32) -> Event {
    call(pid, "execve", "\"/bin/a</bin/a>\", [\"a\"], 0x7f", 0)
}

/// Maps private memory of some MiB at an address of some MiB.
fn map(pid: i32, at: i64, mib: i64) -> Event {
    let args =
        format!("NULL, {}, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0", mib * MIB);
    call(pid, "mmap", &args, at * MIB)
}

fn map_file(pid: i32, path: &str, flags: &str, at: i64, mib: i64) -> Event {
    let args = format!("NULL, {}, PROT_READ|PROT_WRITE, {flags}, 3<{path}>, 0", mib * MIB);
    call(pid, "mmap", &args, at * MIB)
}

fn exit(pid: i32) -> Event {
    Event(pid as u32, pid, "exit", "exited", String::new(), 0)
}

fn rss(pid: i32, args: &str) -> Event {
    Event(pid as u32, pid, "event", "rss_stat", args.to_owned(), 0)
}

#[test]
fn what_is_mapped_counts_by_its_kind() {
    let events = [
        exec(1),
        call(1, "brk", "NULL", 64 * MIB),
        call(1, "brk", "0x4100000", 65 * MIB),
        map(1, 100, 4),
        map_file(1, "/lib/libc.so", "MAP_PRIVATE", 200, 2),
        map_file(1, "/dev/shm/x", "MAP_SHARED", 300, 3),
        call(1, "mmap", "NULL, 1048576, PROT_READ, MAP_SHARED|MAP_ANONYMOUS, -1, 0", 400 * MIB),
        map_file(1, "/dev/nvidia0", "MAP_SHARED", 500, 64),
        call(1, "mmap", "NULL, 1048576, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0", -1),
        // Pages that are given back may come again without a call.
        call(1, "madvise", "0x6400000, 4194304, MADV_DONTNEED", 0),
        call(1, "mremap", "0x6400000, 4194304, 8388608, MREMAP_MAYMOVE", 600 * MIB),
        call(1, "munmap", "0x25800000, 8388608", 0),
        exit(1),
    ];
    let row = |anon, file, shared| (1, anon * MIB, file * MIB, shared * MIB);
    let expected = [
        row(1, 0, 0),
        row(5, 0, 0),
        row(5, 2, 0),
        row(5, 2, 3),
        row(5, 2, 4),
        row(9, 2, 4),
        row(1, 2, 4),
        row(0, 0, 0),
    ];
    assert_eq!(rows(&events), expected);
}

#[test]
fn a_fork_copies_and_a_program_starts_from_nothing() {
    let events = [
        exec(1),
        map(1, 100, 4),
        call(1, "fork", "", 2),
        map(2, 200, 1),
        call(1, "vfork", "", 3),
        // It is the memory of its parent.
        map(3, 300, 2),
        exec(3),
        map(3, 100, 1),
        exit(3),
        map(1, 400, 1),
        exec(2),
        map(2, 100, 3),
    ];
    let mib = |pid, mib| (pid, mib * MIB, 0, 0);
    let expected = [
        mib(1, 4),
        mib(2, 4),
        mib(2, 5),
        mib(1, 6),
        mib(3, 1),
        mib(3, 0),
        mib(1, 7),
        mib(2, 0),
        mib(2, 3),
    ];
    assert_eq!(rows(&events), expected);
}

#[test]
fn a_child_may_be_in_the_log_before_its_parents_call() {
    let events = [
        exec(1),
        map(1, 100, 4),
        map(2, 200, 1),
        call(1, "fork", "", 2),
        map(3, 200, 2),
        exit(3),
        call(1, "fork", "", 3),
    ];
    let mib = |pid, mib| (pid, mib * MIB, 0, 0);
    let expected = [mib(1, 4), mib(2, 4), mib(2, 5), mib(3, 4), mib(3, 6), mib(3, 0)];
    assert_eq!(rows(&events), expected);
}

#[test]
fn nothing_is_said_of_what_is_older_than_the_log() {
    let events = [map(1, 100, 4), call(1, "fork", "", 2), map(2, 200, 1), exit(2), exit(1)];
    assert_eq!(rows(&events), []);
    // Nor without the calls that map memory.
    assert_eq!(rows(&[exec(1), call(1, "fork", "", 2), exit(2), exit(1)]), []);
}

#[test]
fn the_kernel_counts_by_address_space() {
    let events = [
        rss(1, "mm_id=7 curr=1 type=MM_ANONPAGES size=8192B"),
        rss(1, "mm_id=7 curr=1 type=MM_FILEPAGES size=4096B"),
        // A fork copies pages into the address space of the child.
        rss(1, "mm_id=9 curr=0 type=MM_ANONPAGES size=8192B"),
        rss(2, "mm_id=9 curr=1 type=MM_SHMEMPAGES size=4096B"),
        rss(1, "mm_id=7 curr=1 type=MM_SWAPENTS size=4096B"),
        // vfork: the memory of the parent.
        rss(3, "mm_id=7 curr=1 member=1 size=12288B"),
        // execve gives up the old one when it has the new one.
        rss(2, "mm_id=11 curr=0 type=MM_ANONPAGES size=4096B"),
        rss(2, "mm_id=11 curr=1 type=MM_FILEPAGES size=4096B"),
        rss(2, "mm_id=9 curr=0 type=MM_ANONPAGES size=0B"),
        rss(2, "mm_id=9 curr=0 type=MM_SHMEMPAGES size=0B"),
        // Another process may get its number.
        rss(4, "mm_id=9 curr=1 type=MM_ANONPAGES size=4096B"),
    ];
    let expected = [
        (1, 8192, 0, 0),
        (1, 8192, 4096, 0),
        (2, 8192, 0, 4096),
        (1, 12288, 4096, 0),
        (2, 4096, 4096, 0),
        (4, 4096, 0, 0),
    ];
    assert_eq!(rows(&events), expected);
}

#[test]
fn what_has_ended_is_forgotten() {
    let mut fold = Memory::default();
    let words = Dictionaries::default();
    let end = |pid| Event(pid as u32, pid, "event", "sched_process_exit", String::new(), 0);
    for round in 0..5000 {
        let pid = 3 * round + 1;
        let mut events =
            vec![exec(pid), map(pid, 100, 1), call(pid, "fork", "", i64::from(pid) + 1)];
        // Of every other child nothing else is in the log.
        if round % 2 == 0 {
            events.extend([map(pid + 1, 200, 1), exit(pid + 1)]);
        }
        events.push(exit(pid));
        let of_space = |size: u32, own: u32| {
            format!("mm_id={round} curr={own} type=MM_ANONPAGES size={size}B")
        };
        events.extend([
            rss(pid + 2, &of_space(4096, 1)),
            end(pid + 2),
            rss(pid + 2, &of_space(0, 0)),
        ]);
        fold.push(&batch(&events), &words).expect("the columns that are needed");
    }
    let (processes, spaces) = fold.kept();
    assert!(processes <= 1025 && spaces == 0, "{processes} processes, {spaces} address spaces");
}

#[test]
fn rows_are_given_while_events_come() {
    let mut fold = Memory::default();
    let unmap = call(1, "munmap", "0x100000, 1048576", 0);
    let changes = (0..20_000).flat_map(|_| [map(1, 1, 1), unmap.clone()]);
    let events: Vec<_> = std::iter::once(exec(1)).chain(changes).collect();
    fold.push(&batch(&events), &Dictionaries::default()).expect("the columns that are needed");
    let ready: usize = fold.ready().expect("columns").iter().map(RecordBatch::num_rows).sum();
    assert!(ready > 0 && fold.ready().expect("columns").is_empty());
    let rest: usize = fold.finish().expect("columns").iter().map(RecordBatch::num_rows).sum();
    assert_eq!(ready + rest, 40_000);
}
