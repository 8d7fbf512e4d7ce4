//! The fast parser of ftrace's text beside the slow one that only tests use.

#![allow(clippy::print_stderr)] // What differs is shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracefast_core::events::line_counts::LineUse;
use tracefast_core::format::{Format, Wanted};
use tracefast_core::linux::machine::SyscallAbi;
use tracefast_reference::checks;
use tracefast_reference::compare::ftrace_differences;
use tracefast_reference::ftrace::{Hints, Reading, header, read};

proptest! {
    #![proptest_config(ProptestConfig {
        // `PROPTEST_CASES` may ask for more.
        cases: ProptestConfig::default().cases.max(1500),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Bytes choose a log; fewer and smaller ones choose a simpler log.
    #[test]
    fn made_logs_are_read_alike(data in proptest::collection::vec(any::<u8>(), 0..160)) {
        checks::ftrace_logs(&data);
    }

    /// A line of any layout, as it is printed or with changes.
    #[test]
    fn columns_are_found_alike(data in proptest::collection::vec(any::<u8>(), 0..60)) {
        checks::ftrace_headers(&data);
    }

    /// Functions of several tasks, on two processors.
    #[test]
    fn functions_are_what_tasks_called(data in proptest::collection::vec(any::<u8>(), 0..120)) {
        checks::ftrace_functions(&data);
    }

    /// Calls of several tasks, interleaved.
    #[test]
    fn calls_are_what_was_put_into_them(data in proptest::collection::vec(any::<u8>(), 0..160)) {
        checks::ftrace_calls(&data);
    }
}

fn slow(log: &str) -> Reading {
    read(log.as_bytes(), &Hints { machine: SyscallAbi::default(), stacks: true, seam: &|_| false })
}

#[test]
fn the_reference_reads_columns() {
    let line = b"      x-12 [000]-1535    (   1530) [001] d..2.  2999.950815: sys_read -> 0x1";
    let header = header(line).expect("columns");
    assert_eq!(header.comm.as_deref(), Some(&b"x-12 [000]"[..]));
    assert_eq!((header.tid, header.tgid, header.cpu), (Some(1535), Some(1530), Some(1)));
    assert_eq!(
        (header.ts, &line[header.payload..]),
        (Some(2_999_950_815_000), &b"sys_read -> 0x1"[..])
    );
    assert_eq!(header.flags, b"d..2.");
}

#[test]
fn the_reference_joins_what_line_feeds_and_nuls_tear_apart() {
    let log = slow(
        "        new\nline-7       [001] .....  1.000001: task_rename: newcomm=new\nline adj=0\n\
         \u{20}           cat-8       [000] .....  1.000002: tracing_mark_write: a\n\nb\n\
         \u{20}           cat-8       [000] .....  1.000003: tracing_mark_write: nul\
         \u{20}            cat-8       [000] .....  1.000004: sys_read -> 0x1\n",
    );
    let [rename, mark, nul, call] = &log.rows[..] else { panic!("{:?}", log.rows) };
    assert_eq!(rename.comm.as_deref(), Some(&b"new\nline"[..]));
    assert_eq!(rename.args.as_deref(), Some(&b"newcomm=new\nline adj=0"[..]));
    assert_eq!(mark.args.as_deref(), Some(&b"a\n\nb"[..]));
    assert_eq!((nul.args.as_deref(), nul.line), (Some(&b"nul"[..]), 7));
    assert_eq!((call.name.as_deref(), call.line), (Some(&b"read"[..]), 7));
    let uses = [
        LineUse::Events,
        LineUse::Continuation,
        LineUse::Continuation,
        LineUse::Events,
        LineUse::Blank,
        LineUse::Continuation,
        LineUse::Events,
    ];
    assert_eq!(log.uses, uses);
}

/// The record in between, whose name has a line feed in it, cannot start a block.
#[test]
fn a_stack_is_the_calls_before_a_broken_name() {
    let log = "# tracer: nop
#
            bash-8       (      7) [001] .....  2881.879172: sys_openat -> 0x0
        new
line-7       (      6) [000] .....  2881.879258: sys_close(fd: 0x3)
            bash-8       (      7) [001] .....  2881.879258: <stack trace>
 => schedule+0x23/0xa0
";
    let Some(Format::Ftrace(format)) = Format::detect(log.as_bytes(), None) else {
        panic!("ftrace's");
    };
    assert!(format.stacks);
    assert_eq!(ftrace_differences(Format::Ftrace(format), log.as_bytes()), None);
    let call = &slow(log).rows[0];
    assert_eq!(call.extra.as_deref(), Some(&b" => schedule+0x23/0xa0"[..]));
}

/// The kernel adds one stack of its own and one of the program to a record: the record of another
/// one is missing, and no older record is its owner.
#[test]
fn a_record_has_one_stack_of_each_kind() {
    let columns = "            bash-8       [001] .....  2881.87";
    let stack = |kind: &str, frame: &str| format!("{columns}9172: <{kind}>\n => {frame}\n");
    for records in [
        &["sys_lseek(fd: 3, offset: 0, whence: 1)"][..],
        &["sched_waking: comm=x pid=9"],
        &["sys_close(fd: 3)", "sys_close -> 0x0"],
    ] {
        let records = records.iter().map(|record| format!("{columns}9171: {record}\n"));
        let mut log = "# tracer: nop\n".to_owned() + &records.collect::<String>();
        log += &stack("stack trace", "a");
        log += &stack("user stack trace", "b");
        log += &stack("stack trace", "c");
        log += &stack("user stack trace", "d");
        let format = Format::detect(log.as_bytes(), None).expect("ftrace's");
        assert_eq!(ftrace_differences(format, log.as_bytes()), None, "{log}");
        let found: Vec<_> = slow(&log)
            .rows
            .iter()
            .map(|row| String::from_utf8(row.extra.clone().unwrap_or_default()).unwrap())
            .collect();
        assert_eq!(found, [" => a\n => b", "", "", " => c", " => d"], "{log}");
    }
}

/// The recorded logs that the repository has, and those written by hand.
#[test]
fn recorded_logs_are_read_alike() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let mut files = Vec::new();
    for folder in ["ftrace", "events", "golden"] {
        collect(&data.join(folder), &mut files);
    }
    files.retain(|path| is_ftrace(path));
    files.sort();
    assert!(files.len() > 60, "{files:?}");
    assert_eq!(differing(&files), Vec::<PathBuf>::new());
}

fn is_ftrace(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let extension = path.extension().and_then(|extension| extension.to_str());
    let ftrace = match extension {
        Some("ftrace") => true,
        Some("log") => name.starts_with("ftrace"),
        _ => false,
    };
    // function_graph is held against simulated tasks instead.
    let graph = ["graph", "irqsoff", "function-trace-cmd"].iter().any(|part| name.contains(part));
    // The reference knows neither indents and dates before lines, nor mmiotrace.
    let other = ["indents", "kernel-log-dates", "mmiotrace"];
    ftrace && !graph && !other.iter().any(|part| name.contains(part))
}

/// Reads every log under the folder that `TRACEFAST_LOGS` names in both ways, and shows every line
/// on which they differ:
/// `TRACEFAST_LOGS=logs cargo test --test reference_ftrace -- --ignored --nocapture`.
#[test]
#[ignore = "needs a folder of logs"]
fn real_logs_are_read_alike() {
    let folder = std::env::var_os("TRACEFAST_LOGS").expect("TRACEFAST_LOGS names a folder");
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    files.sort();
    assert!(!files.is_empty(), "no log in {}", folder.display());
    let differ = differing(&files);
    eprintln!("{} logs", files.len());
    assert_eq!(differ, Vec::<PathBuf>::new(), "they differ");
}

/// The logs that the two read differently; shows what differs.
fn differing(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut differ = Vec::new();
    for file in files {
        let text = std::fs::read(file).expect("readable");
        let Some(format) = Format::detect(&text, Some(Wanted::Ftrace)) else { continue };
        let compared = std::panic::catch_unwind(|| ftrace_differences(format, &text));
        let found = compared.unwrap_or_else(|_| Some("panicked\n".to_owned()));
        if let Some(found) = found {
            differ.push(file.clone());
            eprintln!("{}: {} differences", file.display(), found.lines().count());
            show(&found, &text);
        }
    }
    differ
}

/// The first differences of each kind, with their lines.
fn show(found: &str, text: &[u8]) {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for what in found.lines() {
        let kind = what.split_once(", ").map_or(what, |(_, rest)| rest);
        let kind = kind.split_once(':').map_or(kind, |(kind, _)| kind).to_owned();
        let seen = kinds.entry(kind).or_default();
        *seen += 1;
        if *seen > 3 {
            continue;
        }
        let number = what.trim_start_matches("line ").split(|c: char| !c.is_ascii_digit()).next();
        let number: usize = number.and_then(|number| number.parse().ok()).unwrap_or(0);
        let line = text.split(|&b| b == b'\n').nth(number.wrapping_sub(1)).unwrap_or_default();
        let line = line[..line.len().min(300)].escape_ascii();
        eprintln!("  {}\n    {line}", what.chars().take(600).collect::<String>());
    }
    eprintln!("  {kinds:?}");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).expect("a folder") {
        let path = entry.expect("an entry").path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() || matches!(extension, Some("txt" | "log" | "ftrace")) {
            collect(&path, files);
        }
    }
}
