//! The fast parser of strace's text beside the slow one that only tests use.

#![allow(clippy::print_stderr)] // What differs is shown.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tracefast_core::format::{Format, Wanted};
use tracefast_reference::checks;
use tracefast_reference::compare::{Row, differs, pair, parse, rows};
use tracefast_reference::strace::{
    Delta, Ending, Event, Layout, Line, Outcome, Pid, Time, annotation_end, begins_with_gap, line,
    sniff, unescape,
};

proptest! {
    #![proptest_config(ProptestConfig {
        // `PROPTEST_CASES` may ask for more.
        cases: ProptestConfig::default().cases.max(2000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Bytes choose a line; fewer and smaller ones choose a simpler line.
    #[test]
    fn made_lines_are_read_alike(data in proptest::collection::vec(any::<u8>(), 0..120)) {
        checks::strace_lines(&data);
    }
}

const LAYOUT: Layout = Layout {
    pid: Pid::Plain,
    context: false,
    time: Time::Epoch,
    delta: Delta::None,
    number: false,
    pointer: false,
    times: true,
};

fn read(text: &str) -> Line {
    line(&LAYOUT, text.as_bytes()).expect("an opinion")
}

#[test]
fn the_reference_reads_calls() {
    let text = r#"7     1795229587.5 read(3</b) = 1>, "x) = 9\""..., {f=[1]}) = 3</c) = 4> (t (u)) <0.01>"#;
    let read = read(text);
    assert_eq!((read.pid, read.time), (Some(7), Some(1_795_229_587_500_000_000)));
    let outcome = Outcome {
        ret: Some(3),
        aux: vec![b"(t (u))".to_vec()],
        dur: Some(10_000_000),
        annotation: Some(b"/c) = 4".to_vec()),
        ..Outcome::default()
    };
    let args = br#"3</b) = 1>, "x) = 9\""..., {f=[1]}"#.to_vec();
    let call = Event::Call { name: b"read".to_vec(), args, ending: Ending::Result(outcome) };
    assert_eq!(read.event, call);
}

#[test]
fn the_reference_says_nothing_where_it_is_too_deep() {
    let deep = |depth: usize| {
        let text = format!("7     1795229587.5 f({}{}", "[".repeat(depth), "]".repeat(depth));
        line(&LAYOUT, format!("{text}) = 3 <0.1>").as_bytes()).is_some()
    };
    assert!(deep(150));
    assert!(!deep(100_000));
}

#[test]
fn the_reference_undoes_escapes() {
    assert_eq!(unescape(br#"a\"\\\n\0\1778\0763\x2f\q\xg\"#), b"a\"\\\n\0\x7f8>3/q\\xg\\");
}

#[test]
fn the_reference_ends_annotations() {
    let end = |body: &str| annotation_end(body.as_bytes()).map(|end| body[..end].to_owned());
    assert_eq!(end("/data/foo->, 3").as_deref(), Some("/data/foo-"));
    assert_eq!(end("/dev/null<char 1:3>>, ").as_deref(), Some("/dev/null<char 1:3>"));
    let socket = r#"UNIX-STREAM:[1->2,"/a]>b"]"#;
    assert_eq!(end(&format!("{socket}>, \"]>\"")).as_deref(), Some(socket));
    assert_eq!(end("L2TP/IP:[1->2]>").as_deref(), Some("L2TP/IP:[1->2]"));
    assert_eq!(end("(null):[1,\"q->\"]>>").as_deref(), Some("(null):[1,\"q->\"]"));
    assert_eq!(end("/never"), None);
}

/// Reads every log under the folder that `TRACEFAST_LOGS` names in both ways, and shows every line
/// on which they differ: `TRACEFAST_LOGS=logs cargo test --test reference -- --ignored
/// --nocapture`.
///
/// Only whole calls, and halves of calls that belong together, are compared, in logs in
/// which every event has its task and its columns.
/// The status of an exit is decimal, even after a leading zero.
#[test]
fn statuses_of_exits_are_decimal() {
    let text = b"7     1795229587.5 close(3) = 0\n7     1795229587.6 +++ exited with 0255 +++\n";
    let format = Format::detect(text, Some(Wanted::Strace)).expect("lines of strace");
    let (_, batch) = parse(format, text, usize::MAX);
    assert_eq!(rows(&batch).last().and_then(|row| row.ret), Some(255));
}

#[test]
#[ignore = "needs a folder of logs"]
fn real_logs_are_read_alike() {
    let folder = std::env::var_os("TRACEFAST_LOGS").expect("TRACEFAST_LOGS names a folder");
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    files.sort();
    assert!(!files.is_empty(), "no *.log in {}", folder.display());
    let mut compared = 0;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for file in &files {
        let text = std::fs::read(file).expect("readable");
        let (count, found) = sweep(&text);
        compared += count;
        for (number, what) in found {
            let fields: Vec<&str> = what.lines().filter_map(|w| w.split(": ").next()).collect();
            let seen = kinds.entry(fields.join(" ")).or_default();
            *seen += 1;
            if *seen <= 20 {
                let shown = text.split(|&b| b == b'\n').nth(number - 1).unwrap_or_default();
                let shown = shown[..shown.len().min(1500)].escape_ascii();
                eprintln!("{}:{number}\n  {shown}\n{what}", file.display());
            }
        }
    }
    eprintln!("{} logs, {compared} rows compared, differences: {kinds:#?}", files.len());
    assert!(kinds.is_empty(), "they differ");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "log") {
            files.push(path);
        }
    }
}

/// Number of rows that both read, and on which line they differ in what.
fn sweep(text: &[u8]) -> (usize, Vec<(usize, String)>) {
    let Some(format) = Format::detect(text, Some(Wanted::Strace)) else { return (0, Vec::new()) };
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    let step = (lines.len() / 60).max(1);
    let sample: Vec<&[u8]> =
        lines.iter().step_by(step).filter(|l| l.len() < 2000).copied().collect();
    let layout = sniff(&sample);
    // The versions that print a blank after `resumed>` always do so.
    let old = lines
        .iter()
        .filter_map(|text| line(&layout, text))
        .any(|line| matches!(line.event, Event::Resumed { rest, .. } if begins_with_gap(&rest)));
    let (_, batch) = parse(format, text, usize::MAX);
    let fast: HashMap<u64, Row> = rows(&batch).into_iter().map(|row| (row.line, row)).collect();
    let mut open: HashMap<i32, (usize, Line)> = HashMap::new();
    let mut compared = 0;
    let mut found = Vec::new();
    for (index, raw) in lines.iter().enumerate() {
        let number = index + 1;
        let Some(read) = line(&layout, raw) else { continue };
        if layout.pid == Pid::Bracket && read.pid.is_none() {
            // Somebody's, if it is a line of strace at all.
            open.clear();
            continue;
        }
        if matches!(&read.event, Event::Call { name, args, .. }
            if name == b"write" && !args.last().is_some_and(u8::is_ascii_digit))
        {
            // On a screen the program's own output is part of the line.
            continue;
        }
        let (at, what) = match &read.event {
            Event::Call { ending: Ending::Unfinished, .. } => {
                if let Some(pid) = read.pid {
                    open.insert(pid, (number, read));
                }
                continue;
            }
            // The next lines may go on with a call that is cut, or take it up again.
            Event::Nothing
            | Event::Personality
            | Event::Call { ending: Ending::Cut | Ending::PidChanged(_), .. } => continue,
            Event::Superseded(pid) => {
                open.remove(pid);
                open.retain(|own, _| Some(*own) != read.pid);
                continue;
            }
            Event::Resumed { .. } => {
                let Some((at, first)) = read.pid.and_then(|pid| open.remove(&pid)) else {
                    continue;
                };
                let Some(row) = fast.get(&(at as u64)) else {
                    found.push((at, "no row\n".to_owned()));
                    continue;
                };
                (at, pair(&layout, &first, &read, old, row))
            }
            _ => match fast.get(&(number as u64)) {
                Some(row) => (number, differs(&layout, &read, row)),
                None => (number, "no row\n".to_owned().into()),
            },
        };
        compared += 1;
        found.extend(what.map(|what| (at, what)));
    }
    // Sums of deltas are no times of the lines by themselves.
    if layout.delta == Delta::Plain {
        found.retain(|(_, what)| !what.starts_with("ts: "));
    }
    (compared, found)
}
