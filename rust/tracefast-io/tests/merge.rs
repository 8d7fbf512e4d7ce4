//! Logs cut by task (`-ff`), read as one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, TimestampNanosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, StringArray};
use tracefast_io::pipeline::Options;
use tracefast_io::read::BatchStream;
use tracefast_io::report::Report;

/// What the tests look at of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    tid: Option<i32>,
    line: u64,
    source: String,
    name: String,
    args: String,
    extra: String,
    status: String,
    ts: Option<i64>,
}

fn words(batch: &RecordBatch, column: &str) -> Vec<String> {
    let array =
        batch.column_by_name(column).expect("a column of the schema").as_dictionary::<UInt32Type>();
    let array = array.downcast_dict::<StringArray>().expect("text");
    array.into_iter().map(|text| text.unwrap_or_default().to_owned()).collect()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let array = batch.column_by_name(column).expect("a column of the schema").as_string_view();
    array.iter().map(|text| text.unwrap_or_default().to_owned()).collect()
}

fn rows(batch: &RecordBatch) -> Vec<Row> {
    let column = |name: &str| batch.column_by_name(name).expect("a column of the schema");
    let tid = column("tid").as_primitive::<Int32Type>();
    let line = column("line").as_primitive::<UInt64Type>();
    let ts = column("ts").as_primitive::<TimestampNanosecondType>();
    let [source, name, status] = ["source", "name", "status"].map(|column| words(batch, column));
    let [args, extra] = ["args", "extra"].map(|column| texts(batch, column));
    (0..batch.num_rows())
        .map(|i| Row {
            tid: tid.is_valid(i).then(|| tid.value(i)),
            line: line.value(i),
            source: source[i].clone(),
            name: name[i].clone(),
            args: args[i].clone(),
            extra: extra[i].clone(),
            status: status[i].clone(),
            ts: ts.is_valid(i).then(|| ts.value(i)),
        })
        .collect()
}

fn read_with(
    names: &[String],
    options: Options,
) -> Result<(Vec<Row>, Report), tracefast_io::Error> {
    let mut stream = BatchStream::open(names, options, &Arc::default())?;
    let mut out = Vec::new();
    for batch in stream.by_ref() {
        out.extend(rows(&batch?));
    }
    let report = stream.report().expect("the end was reached").clone();
    assert_eq!(report.counts.total.bytes, report.counts.total.lines.total_bytes());
    Ok((out, report))
}

fn read(names: &[String]) -> (Vec<Row>, Report) {
    read_with(names, Options { threads: 1, ..Options::default() }).expect("logs")
}

/// Files with these names and texts, in a folder of their own.
struct Logs(tempfile::TempDir);

impl Logs {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("room for it");
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    fn read(&self, names: &[&str]) -> (Vec<Row>, Report) {
        read(&names.iter().map(|name| self.path(name)).collect::<Vec<_>>())
    }
}

fn brief(rows: &[Row]) -> Vec<(i32, u64, &str)> {
    rows.iter().map(|row| (row.tid.unwrap_or(-1), row.line, row.name.as_str())).collect()
}

#[test]
fn tasks_are_merged_by_the_time_of_their_effects() {
    let logs = Logs::new(&[
        (
            "log.400",
            "1795175299.000000 clone(child_stack=NULL, flags=SIGCHLD) = 401 <0.500000>\n\
             1795175299.500000 read(3, \"x\", 1) = 1 <0.400000>\n\
             1795175299.950000 close(3) = 0 <0.500000>\n",
        ),
        (
            "log.401",
            "1795175299.100000 getppid() = 400 <0.000001>\n\
             1795175299.600000 getpid() = 401 <0.000001>\n\
             1795175299.960000 +++ exited with 0 +++\n",
        ),
    ]);
    let expected = [
        (400, 1, "clone"),
        (401, 1, "getppid"),
        (401, 2, "getpid"),
        (400, 2, "read"),
        (400, 3, "close"),
        (401, 3, "exited"),
    ];
    for names in [&["log.401", "log.400"][..], &["log"]] {
        let (rows, report) = logs.read(names);
        assert_eq!(brief(&rows), expected);
        assert!(rows.iter().all(|row| row.source == logs.path("log")));
        assert_eq!(report.lines(), 6);
        assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    }
}

#[test]
fn the_same_moment_goes_by_number() {
    let line = "1795175299.000000 getpid() = 1\n1795175299.000000 getuid() = 1\n";
    let logs = Logs::new(&[("log.1000", line), ("log.999", line)]);
    let (rows, _) = logs.read(&["log.1000", "log.999"]);
    let expected =
        [(999, 1, "getpid"), (999, 2, "getuid"), (1000, 1, "getpid"), (1000, 2, "getuid")];
    assert_eq!(brief(&rows), expected);
}

#[test]
fn midnight_keeps_the_order() {
    let logs = Logs::new(&[
        ("log.900", "23:59:58 getpid() = 900\n00:00:02 getuid() = 0\n"),
        ("log.901", "00:00:01 getpid() = 901\n"),
        ("log.902", "23:59:59 getpid() = 902\n"),
    ]);
    let (rows, _) = logs.read(&["log.900", "log.901", "log.902"]);
    let tids: Vec<_> = rows.iter().map(|row| row.tid.expect("a task")).collect();
    assert_eq!(tids, [900, 902, 901, 900]);
}

#[test]
fn every_byte_is_counted_once_and_cut_lines_are_told() {
    let first = "1795175299.1 read(3, \"x\", 1) = 1\n > /lib/libc.so.6(read+0x17) [0x101ab7]\n > b(c) [0x1]\n1795175299.5 write(1, \"cu";
    let second =
        "1795175299.2 pause(\n1795175299.3 close(3) = 0\r\n\njunk\n1795175299.6 close(4) = 0";
    let logs = Logs::new(&[("log.500", first), ("log.501", second), ("log.502", "")]);
    for block_bytes in [1, 30, 64, 100, 1 << 18] {
        let names = ["log.500", "log.501", "log.502"].map(|name| logs.path(name));
        let options = Options { threads: 2, block_bytes, ..Options::default() };
        let (rows, report) = read_with(&names, options).expect("logs");
        assert_eq!(report.counts.total.bytes, (first.len() + second.len()) as u64);
        assert_eq!(report.lines(), 9);
        assert_eq!(
            brief(&rows),
            [
                (501, 1, "pause"),
                (501, 2, "close"),
                (501, 4, ""),
                // It may have lasted until the next line of its task.
                (500, 1, "read"),
                (501, 5, "close"),
                (500, 4, "write"),
            ]
        );
        assert_eq!(rows[3].extra, " > /lib/libc.so.6(read+0x17) [0x101ab7]\n > b(c) [0x1]");
        let states = [rows[0].status.as_str(), &rows[5].status];
        assert_eq!(states, ["truncated", "unfinished"]);
        assert_eq!(rows[2].args, "junk");
        assert_eq!(report.counts.examples, [(logs.path("log.501"), 4, "junk".to_owned())]);
    }
}

#[test]
fn calls_that_never_end_stand_alike_for_all_blocks() {
    let text = |pid: i32| {
        let line = format!(
            "1795175299.{pid} execve(\"/x\", [], 0x1 /* 0 vars */ <pid changed to {} ...>\n",
            pid + 1000
        );
        format!("1795175299.0 getpid() = {pid}\n{line} > a(b) [0x1]\n > c(d) [0x2]\n")
    };
    let names: Vec<String> = (500..520).map(|pid| format!("log.{pid}")).collect();
    let texts: Vec<String> = (500..520).map(text).collect();
    let files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let logs = Logs::new(&files);
    let names: Vec<String> = names.iter().map(|name| logs.path(name)).collect();
    let (expected, _) = read(&names);
    assert_eq!(expected.len(), 40);
    assert!(expected[20..].iter().all(|row| row.extra == " > a(b) [0x1]\n > c(d) [0x2]"));
    for block_bytes in [1, 100, 333, 1000] {
        let options = Options { threads: 2, block_bytes, ..Options::default() };
        assert_eq!(read_with(&names, options).expect("logs").0, expected, "{block_bytes}");
    }
}

#[test]
fn an_execve_in_a_thread_goes_on_in_the_log_of_its_process() {
    for (marker, rows) in [("1795175299.7 +++ superseded by execve in pid 401 +++\n", 4), ("", 3)] {
        let leader = format!(
            "1795175299.0 getpid() = 400\n1795175299.6 pause() = ?\n{marker}\
             1795175299.8 <... execve resumed>) = 0\n"
        );
        let thread = "1795175299.5 execve(\"/x\", [], 0x1 /* 0 vars */ <pid changed to 400 ...>\n";
        let logs = Logs::new(&[("log.400", &leader), ("log.401", thread)]);
        let (found, _) = logs.read(&["log"]);
        assert_eq!(found.len(), rows);
        let last = &found[rows - 1];
        assert_eq!((last.name.as_str(), last.status.as_str()), ("execve", "complete"));
        assert_eq!(last.ts, Some(1_795_175_299_500_000_000));
    }
    // These have no successor: they go where they fit.
    let changed =
        |to: i32| format!("1795175299.5 execve(\"/x\", [], 0x1 <pid changed to {to} ...>\n");
    let logs = Logs::new(&[
        ("log.500", &changed(501)),
        ("log.501", &changed(500)),
        ("log.502", &(changed(503) + "1795175299.9 getpid() = 502\n")),
        ("log.503", "1795175299.1 getpid() = 503\n1795175299.7 getpid() = 503\n"),
        ("log.504", &changed(999)),
    ]);
    let (found, report) = logs.read(&["log"]);
    assert_eq!((found.len(), report.lines()), (7, 7));
}

#[test]
fn without_times_tasks_follow_one_another() {
    let logs = Logs::new(&[
        ("plain.700", "getpid() = 700\nclose(3) = 0\n"),
        ("plain.701", "getpid() = 701\n"),
        ("delta.700", "     0.000000 getpid() = 700\n     0.000010 close(3) = 0\n"),
        ("delta.701", "     0.000005 getpid() = 701\n"),
    ]);
    for (name, why) in [("plain", "it has no times"), ("delta", "count from the previous line")] {
        let (rows, report) = logs.read(&[name]);
        assert_eq!(brief(&rows), [(700, 1, "getpid"), (700, 2, "close"), (701, 1, "getpid")]);
        assert!(rows.iter().all(|row| row.ts.is_none()));
        assert_eq!(report.warnings.len(), 1);
        assert!(report.warnings[0].contains(why), "{}", report.warnings[0]);
    }
}

#[test]
fn one_task_alone_is_named_by_its_file() {
    let logs = Logs::new(&[
        ("log.4711", "getpid() = 4711\njunk\n"),
        ("small.7", "set_tid_address(0x7f0a) = 7\n"),
        ("other.4712", "set_tid_address(0x7f0a) = 7\n"),
        ("run.7", "getpid() = 4711\n"),
    ]);
    for (name, tid) in
        [("log.4711", Some(4711)), ("small.7", Some(7)), ("other.4712", None), ("run.7", None)]
    {
        let (rows, report) = logs.read(&[name]);
        assert!(rows.iter().all(|row| row.tid == tid), "{name}");
        assert_eq!(rows[0].source, logs.path(name));
        assert!(report.warnings.is_empty());
    }
    let (rows, _) = logs.read(&["run"]);
    assert_eq!((rows[0].tid, &rows[0].source), (Some(7), &logs.path("run")));
}

#[test]
fn runs_that_are_numbered_stay_apart() {
    let run = "1795175299.1 set_tid_address(0x7f0a) = 4711\n1795175299.2 getpid() = 4711\n";
    let logs = Logs::new(&[
        ("run.1", run),
        ("run.2", run),
        // In a container ids of tasks are small; the logs refer to each other.
        ("ff.7", "1795175299.1 set_tid_address(0x7f0a) = 7\n1795175299.2 fork() = 8\n"),
        ("ff.8", "1795175299.3 getpid() = 8\n"),
        // A pid column says it all.
        ("col.1000", "7 1795175299.1 getpid() = 7\n"),
        ("col.1001", "8 1795175299.0 getpid() = 8\n"),
        ("day.0412", run),
        ("day.0413", run),
    ]);
    for (names, sources) in [
        (["run.1", "run.2"], ["run.1", "run.2"]),
        (["ff.7", "ff.8"], ["ff", "ff"]),
        (["col.1000", "col.1001"], ["col.1000", "col.1001"]),
        (["day.0412", "day.0413"], ["day.0412", "day.0413"]),
    ] {
        let (rows, _) = logs.read(&names);
        let mut found: Vec<String> = rows.iter().map(|row| row.source.clone()).collect();
        found.dedup();
        let mut expected = sources.map(|name| logs.path(name)).to_vec();
        expected.dedup();
        assert_eq!(found, expected);
    }
    assert_eq!(logs.read(&["run.1", "run.2"]).0[0].tid, None);
}

#[test]
fn files_that_do_not_belong_are_read_by_themselves_or_refused() {
    let line = "1795175299.1 getpid() = 1\n";
    let logs = Logs::new(&[
        ("log.600", line),
        ("log.601", line),
        ("log.602", "12:00:00 getpid() = 1\n"),
        ("bad.600", line),
        ("bad.601", "nothing that a tracer writes\n"),
    ]);
    let (rows, _) = logs.read(&["log.600", "log.602", "log.601"]);
    let sources: Vec<_> = rows.iter().map(|row| row.source.clone()).collect();
    assert_eq!(sources, ["log", "log", "log.602"].map(|name| logs.path(name)));
    let names = ["bad.600", "bad.601"].map(|name| logs.path(name));
    let error = read_with(&names, Options::default()).expect_err("not a log");
    assert!(error.to_string().starts_with(&logs.path("bad.601")), "{error}");
    let error = read_with(&[logs.path("none")], Options::default()).expect_err("no file");
    assert_eq!(error.errno(), Some(libc::ENOENT));
}

#[test]
fn compressed_logs_and_many_logs_are_merged_too() {
    let mut files = Vec::new();
    for pid in 1000..1600 {
        let line = |i| format!("17951752{i}9.{:06} getpid() = {pid}\n", pid - 1000);
        let lines = [line(0), line(1), line(2)].concat();
        files.push((format!("log.{pid}"), lines));
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (i, (name, text)) in files.iter().enumerate() {
        let path = folder.path().join(name);
        if i % 100 == 50 {
            let compressed = zstd::encode_all(text.as_bytes(), 1).expect("compressed");
            std::fs::write(path.with_extension(format!("{}.zst", i + 1000)), compressed)
                .expect("room for it");
        } else {
            std::fs::write(path, text).expect("room for it");
        }
    }
    let (rows, report) = read(&[folder.path().join("log").to_str().expect("UTF-8").to_owned()]);
    assert_eq!(report.lines(), 1800);
    let expected: Vec<(u64, i32)> =
        (1..=3).flat_map(|line| (1000..1600).map(move |pid| (line, pid))).collect();
    let found: Vec<(u64, i32)> =
        rows.iter().map(|row| (row.line, row.tid.expect("a task"))).collect();
    assert_eq!(found, expected);
}

/// What a read on descriptor 3 of the second task acts on, for texts of both.
fn bound(first: &str, second: &str) -> Vec<(i32, u64, String)> {
    let logs = Logs::new(&[("log.400", first), ("log.401", second)]);
    let mut stream = BatchStream::open(
        &[logs.path("log")],
        Options { threads: 2, block_bytes: 64, ..Options::default() },
        &Arc::default(),
    )
    .expect("logs");
    let mut out = Vec::new();
    for batch in stream.by_ref() {
        let batch = batch.expect("rows");
        let paths = texts(&batch, "path");
        let found = rows(&batch).into_iter().zip(paths).filter(|(row, _)| row.name == "read");
        out.extend(found.map(|(row, path)| (row.tid.unwrap_or(-1), row.line, path)));
    }
    let report = stream.report().expect("the end was reached");
    assert_eq!(report.counts.total.bytes, (first.len() + second.len()) as u64);
    assert_eq!(report.counts.total.lines.total_bytes(), report.counts.total.bytes);
    assert_eq!(report.lines(), (first.lines().count() + second.lines().count()) as u64);
    out
}

#[test]
fn a_call_acts_on_what_was_open_when_it_began() {
    let thread = "flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD";
    let first = |rest: &str| {
        format!(
            "1795175299.000000 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.000010>\n\
             1795175299.000100 clone(child_stack=0x7f, {thread}) = 401 <0.000010>\n{rest}"
        )
    };
    let closing = first(
        "1795175299.000300 close(3) = 0 <0.000005>\n\
         1795175299.000400 openat(AT_FDCWD, \"/b\", O_RDONLY) = 3 <0.000005>\n\
         1795175299.000900 getpid() = 400 <0.000001>\n",
    );
    let read = "1795175299.000200 read(3, \"x\", 1) = 1";
    let next = "1795175299.000800 read(3, \"x\", 1) = 1 <0.000001>\n";
    let expected = [(401, 1, "/a".to_owned()), (401, 2, "/b".to_owned())];
    // It lasted until the file was another one; or may have; or its length is not known.
    for took in [" <0.000500>", " <0.000050>", ""] {
        assert_eq!(bound(&closing, &format!("{read}{took}\n{next}")), expected, "{took}");
        assert_eq!(bound(&closing, &format!("{read}{took}\r\n{next}")), expected, "{took}");
    }
    // Frames do not hide the next time, and stay with their line.
    let frames = " > /lib/libc.so.6(read+0x17) [0x101ab7]\n".repeat(300);
    let apart = [(401, 1, "/a".to_owned()), (401, 302, "/b".to_owned())];
    assert_eq!(bound(&closing, &format!("{read} <0.000500>\n{frames}{next}")), apart);
    // The last line of all.
    assert_eq!(bound(&closing, &format!("{read} <0.000500>\n")), expected[..1]);
}

#[test]
fn transfers_stand_in_the_order_of_their_earliest_ends() {
    // The first may have ended after the second, but the times do not show it.
    let read = "1795175299.000420 read(3, \"x\", 1) = 1 <0.000030>\n";
    let other = "1795175299.000457 pread64(3, \"x\", 1, 0) = 1 <0.000001>\n\
         1795175299.000465 getpid() = 401 <0.000001>\n\
         1795175299.000600 getpid() = 401 <0.000001>\n";
    let logs = Logs::new(&[("log.400", read), ("log.401", other)]);
    // It does not wait for longer than until its task's next line.
    assert_eq!(
        brief(&logs.read(&["log"]).0),
        [(401, 1, "pread64"), (401, 2, "getpid"), (400, 1, "read"), (401, 3, "getpid")]
    );
    let logs = Logs::new(&[("log.400", read), ("log.401", &other.replace(".000465", ".000550"))]);
    assert_eq!(
        brief(&logs.read(&["log"]).0),
        [(400, 1, "read"), (401, 1, "pread64"), (401, 2, "getpid"), (401, 3, "getpid")]
    );
}

#[test]
fn a_number_leads_to_what_is_open_until_that_is_closed() {
    let thread = "flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD";
    let first = format!(
        "1795175299.000000 openat(AT_FDCWD, \"/a\", O_RDONLY) = 3 <0.000010>\n\
         1795175299.000050 close(9) = 0 <0.000010>\n\
         1795175299.000100 clone(child_stack=0x7f, {thread}) = 401 <0.000010>\n\
         1795175299.000325 read(3, \"x\", 1) = 1 <0.000001>\n\
         1795175299.000330 close(3) = 0 <0.000005>\n\
         1795175299.000600 read(3, \"x\", 1) = 1 <0.000001>\n"
    );
    for makes in ["openat(AT_FDCWD, \"/b\", O_RDONLY)", "dup(4)", "fcntl(4, F_DUPFD, 0)"] {
        // It ended between 320 and 352.
        let second = format!(
            "1795175299.000200 openat(AT_FDCWD, \"/b\", O_RDONLY) = 4 <0.000001>\n\
             1795175299.000300 {makes} = 3 <0.000020>\n\
             1795175299.000500 read(3, \"x\", 1) = 1 <0.000001>\n"
        );
        let path = |path: &str| path.to_owned();
        let expected = [(400, 4, path("/a")), (401, 3, path("/b")), (400, 6, path("/b"))];
        assert_eq!(bound(&first, &second), expected, "{makes}");
    }
    // A copy that gets the number of what it is made from, closed meanwhile.
    let second = "1795175299.000300 dup(3) = 3 <0.000020>\n\
         1795175299.000500 read(3, \"x\", 1) = 1 <0.000001>\n";
    assert!(bound(&first, second).iter().all(|(_, _, path)| path == "/a"));
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tasks/log")
}

#[test]
fn a_recorded_log_is_the_same_for_any_blocks_and_threads() {
    let name = recorded().to_str().expect("UTF-8").to_owned();
    let (expected, report) = read(std::slice::from_ref(&name));
    let mut bytes = 0;
    let mut alone = 0;
    for entry in std::fs::read_dir(recorded().parent().expect("a folder")).expect("readable") {
        let path = entry.expect("readable").path();
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"log.")) {
            bytes += path.metadata().expect("readable").len();
            alone += read(&[path.to_str().expect("UTF-8").to_owned()]).0.len();
        }
    }
    assert_eq!(report.counts.total.bytes, bytes);
    assert_eq!(expected.len(), alone);
    for (block_bytes, threads) in [(1, 2), (500, 1), (4096, 3)] {
        let options = Options { block_bytes, threads, ..Options::default() };
        let (found, again) = read_with(std::slice::from_ref(&name), options).expect("a log");
        assert_eq!(found, expected);
        assert_eq!(again.to_json(), report.to_json());
    }
}
