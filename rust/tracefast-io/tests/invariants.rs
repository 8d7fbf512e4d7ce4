//! The invariants of the design, for logs of random lines of all kinds.

use std::io::Write;
use std::sync::Arc;

use proptest::prelude::*;
use tracefast_core::events::line_counts::LineUse;
use tracefast_core::events::vocabulary::EventKind;
use tracefast_core::format::Wanted;
use tracefast_io::parse::{FileKind, Output, parse};
use tracefast_io::pipeline::Options;
use tracefast_io::report::Report;
use tracefast_io::sink::Compression;

/// Lines of strace, whole, halved, odd and broken.
const STRACE: &[&str] = &[
    "7 1795175299.1 read(3</a>, \"x) = 9\", 4096) = 7 <0.000013>",
    "7 1795175299.2 close(3 <unfinished ...>",
    "7 1795175299.3 <... close resumed>) = 0 <0.1>",
    "8 1795175299.4 openat(AT_FDCWD, \"f\", O_RDONLY) = 3 <0.000021>",
    "8 1795175299.5 read(3,  <unfinished ...>",
    "8 1795175299.6 <... read resumed>\"abc\", 10) = 3 <0.2>",
    "8 1795175299.7 clone3({flags=CLONE_VM|CLONE_VFORK}, 88 <unfinished ...>",
    "8 1795175299.8 <... clone3 resumed>) = 9 <0.3>",
    "9 1795175299.9 execve(\"/x\", [], 0x1 /* 0 vars */ <pid changed to 8 ...>",
    "8 1795175300.0 +++ superseded by execve in pid 9 +++",
    "8 1795175300.1 <... execve resumed>) = 0 <0.1>",
    "9 1795175300.2 +++ exited with 3 +++",
    "8 1795175300.3 +++ killed by SIGKILL +++",
    "7 1795175300.4 --- SIGCHLD {si_signo=SIGCHLD} ---",
    "8 1795175300.3 unlinkat(3, \"f\", 0 <unfinished ...>",
    "8 1795175300.4 <... unlinkat resumed>) = 0 <0.1>",
    "7 1795175300.5 fstat(3, {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.1>",
    " > /lib/libc.so.6(read+0x17) [0x101ab7]",
    " | 00000  61 62  ab |",
    "strace: Process 9 attached",
    "% time     seconds  usecs/call     calls    errors syscall",
    "7 1795175300.6 write(1, \"cut",
    "caf\u{e9} \u{1F980}",
    "",
];

/// Lines of strace on a terminal, with what is written in between.
const TERMINAL: &[&str] = &[
    "execve(\"/x\", [\"x\"], 0x1 /* 0 vars */) = 0",
    "clone(child_stack=NULL, flags=SIGCHLD/b/strace: Process 8 attached",
    "clone(Process 9 attached",
    ", child_tidptr=0x7f) = 8",
    "child_stack=0, flags=SIGCHLD, child_tidptr=0x7f) = 9",
    " <unfinished ...>",
    "strace: Process 8 attached",
    "strace: Process 9 detached",
    "lseek(2, 0, SEEK_CUR) = 400",
    "[pid     8] write(2, \"err\\n\", 4err",
    ")            = 4",
    "write(1, \"part\", 4part)  = 4",
    "write(1, \"7 up\\nx\\n\", 77 up",
    "x",
    "thread line[pid     8] <... read resumed>\"\", 1) = 0",
    "thread line[pid     7] wait4(-1,  <unfinished ...>",
    "[pid     7] write(1, \"thread line\", 11thread line <unfinished ...>",
    "[pid     7] <... write resumed>)     = 11",
    "[pid     7] wait4(8, hi; write(1, \"x\", 1) = 1",
    "12:00:00 a line of a log (of the program)",
    "[pid     7] wait4(-1,  <unfinished ...>",
    "[pid     8] read(3,  <unfinished ...>",
    "[pid     8] <... read resumed>\"\", 1) = 0",
    "<... wait4 resumed>NULL, 0, NULL) = 8",
    "<... clone resumed>, child_tidptr=0x7f) = 8",
    "[pid     7] <... clone resumed>, child_tidptr=0x7f) = 8",
    "[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 8",
    "[pid     8] exit_group(0) = ?",
    "exit_group(0) = ?",
    "[pid     8] +++ exited with 0 +++",
    "+++ exited with 0 +++",
    "+++ superseded by execve in pid 8 +++",
    "<... execve resumed>) = 0",
    "[pid     8] execve(\"/y\", [], 0x1 <unfinished ...>",
    "[pid     9] execve(\"/y\", [], 0x1 <pid changed to 7 ...>",
    "--- SIGCHLD {si_signo=SIGCHLD, si_pid=8} ---",
    "openat(AT_FDCWD, \"/x\" <ptrace(SYSCALL):No such process>",
    ")                                       = ?",
    " > /lib/libc.so.6(read+0x17) [0x101ab7]",
    "\x1b[33mclose\x1b[0m(\x1b[35m3\x1b[0m) = \x1b[32m0\x1b[0m",
    "<... close resumed>\x1b[35m\x1b[0m) = \x1b[32m0\x1b[0m",
    "\x1b[1mfoo\x1b[0m",
    "[pid     7] execve(\"/z\", [], 0x1 <unfinished ...>",
    "[pid     7] <... execve resumed>) = 0",
    "7 1795175299.1 close(3) = 0",
    "12:00:01 close(3) = 0",
    "% time     seconds  usecs/call     calls    errors syscall",
    "    1 read",
    "[...]",
];

/// Lines with a time of day, in more than one order.
const DAYS: &[&str] = &[
    "7 23:59:59.5 close(3) = 0 <0.1>",
    "7 00:00:00.5 close(4) = 0 <0.1>",
    "7 23:59:60.9 close(4) = 0 <0.1>",
    "7 00:00:61.9 close(4) = 0 <0.1>",
    "7 12:00:00.5 read(4</a>, \"\", 1) = 0 <0.1>",
    "8 06:00:00.5 close(4 <unfinished ...>",
    "8 20:00:00.5 <... close resumed>) = 0 <0.1>",
    ", 0x7ffe484ec850)  = -1 ENOTTY (Inappropriate ioctl for device) <0.1>",
    "7 23:00:00.5 ioctl(1, TCGETS <unfinished ...>",
    "7 01:00:00.5 write(3</a/new",
    "line>, \"x\", 1) = 1 <0.1>",
    "7 01:00:00.5 close(0x37 01:00:01.5 +++ superseded by execve in pid 8 +++",
    "7 1795175299.1 close(3) = 0",
    "7      0.000123 close(3) = 0",
    "caf\u{e9}",
];

/// Lines with the time since the one before, and calls that are cut more than once.
const DELTAS: &[&str] = &[
    "7          0.000123 close(3) = 0",
    "7          0.000321 read(3,  <unfinished ...>",
    "7          0.000213 <... read resumed>\"x\",  <unfinished ...>",
    "7          0.000231 <... read resumed>1) = 1",
    "8          1.000123 wait4(-1 <unfinished ...>",
    "8          0.000001 <... wait4 resumed>, NULL <unfinished ...>",
    "8          0.000002 <... wait4 resumed>, 0, NULL) = 7",
    "8          0.000003 +++ exited with 0 +++",
    "8 12:00:01 close(3) = 0",
    "     0.000123 close(3) = 0",
    " > /lib/libc.so.6(read+0x17) [0x101ab7]",
];

/// Lines of tracefs.
const FTRACE: &[&str] = &[
    "# tracer: nop",
    "             cat-7       [000] .....     1.000001: sys_read(fd: 3, buf: 0x7f, count: 0x10)",
    "             cat-7       [000] ..N..     1.000002: sys_read -> 0x10",
    "             cat-8       [001] d..2.     1.000003: sched_switch: prev_comm=a prev_pid=8 \
     prev_prio=120 prev_state=S ==> next_comm=b next_pid=7 next_prio=120",
    "             cat-8       [001] .....     1.000004: sys_openat(dfd: 0xffffff9c, filename: 0x1 \
     \"/a\", flags: 0)",
    "             cat-8       [001] .....     1.000005: sys_openat -> 0xfffffffffffffffe",
    "             cat-8       [001] .....     1.000006: sys_write -> 0x3",
    "             cat-7       [000] .....     1.000007: sys_clone(clone_flags: 0x11, newsp: 0)",
    "             cat-7       [000] .....     1.000007: task_newtask: pid=9 comm=cat clone_flags=11",
    "             cat-7       [000] .....     1.000007: sched_process_fork: comm=cat pid=7 \
     child_comm=cat child_pid=9",
    "             cat-9       [000] .....     1.000008: sys_clone -> 0x0",
    "             cat-7       [000] .....     1.000009: sys_clone -> 0x9",
    "             cat-9       [000] .....     1.000010: sys_execve(filename: 0x1)",
    "             cat-9       [000] .....     1.000011: task_rename: pid=9 oldcomm=cat newcomm=new",
    "line oom_score_adj=0",
    "             cat-9       [000] .....     1.000012: sched_process_exec: filename=/a pid=9 \
     old_pid=9",
    "             cat-7       [000] .....     1.000012: sched_process_exec: filename=/a pid=7 \
     old_pid=9",
    "             cat-9       [000] .....     1.000013: sys_execve -> 0x0",
    "             cat-7       [000] .....     1.000013: sys_execve -> 0x0",
    "             cat-9       [000] .....     1.000014: sched_process_exit: comm=cat pid=9 prio=1",
    "         new",
    "cat-8       [001] .....     1.000015: sys_write(fd: 4, buf: 0x1, count: 3)",
    "             cat-7       [000] d..2.     1.000016: <stack trace>",
    "             cat-8       [001] d..2.     1.000016: <user stack trace>",
    " => do_syscall_64+0x1/0x2",
    "             cat-7       [000] .....     1.000017: tracing_mark_write: nul             cat-8  \
         [001] .....     1.000018: sys_write -> 0x3",
    "             cat-7       [000] .....     1.000017: tracing_mark_write: a",
    "             cat-7       [000] .....     1.000018: f <-g",
    "     cat-8         1..... 25321us : sys_read -> 0x10",
    "7 0 2881878957473 type: 839",
    "00000007 00000001 0000029efd5f1da1 type: 839",
    "254,0    0  3068.686402651     7  Q  RA 29947752 + 16 [dd]",
    "sys_read -> 0x10",
    "CPU:0 [LOST EVENTS]",
    "CPU:1 [LOST 5 EVENTS]",
    "something else",
    "# a heading",
    "",
    // Where blocks of a log with stacks may start.
    "             cat-7       [000] .....     2.000142: sys_read -> 0x10",
    "             cat-8       [001] d..2.     2.000044: x: y",
];

/// Lines of `function_graph`, with tasks that change processors and lines that are lost.
const GRAPH: &[&str] = &[
    "# tracer: function_graph",
    "# CPU  DURATION                  FUNCTION CALLS",
    " 0)               |  sys_open() {",
    " 0)               |    do_sys_open(dfd=3, filename=0x7f12345678) {",
    " 0)               |  sys_open() {",
    " 1)               |    do_sys_open() {",
    " 0)   1.382 us    |      getname();",
    " 1)   0.570 us    |    ext4_probe [ext4](a=1);",
    " 1)               |      a_function_that_was_left_open_for_long() {",
    " 0)   2.553 us    |    }",
    " 0) + 12.553 us   |  }",
    " 1)   7.876 us    |  } /* sys_open = 0x3 */",
    " 1)   7.876 us    |    } /* another */",
    " 1)               |  do_task_dead() {",
    " 0)               |    /* sched_wakeup: comm=bash pid=12 prio=120 */",
    " 0)               |    /* a note",
    "in two lines */",
    " ------------------------------------------",
    " 0)    sh-4802    =>    top-12    ",
    " 0)    top-12     =>    sh-4802   ",
    " 1)   <idle>-0    =>    top-12    ",
    " 1)    top-12     =>   <idle>-0   ",
    " 0)   ==========> |",
    " (Overruns: 3)",
    " 0)    sh-4802     |               |  f() {",
    " 0)    sh-4802     |   0.616 us    |  }",
    "  360.774522 |   0)   bash-9      |  d..1 |               |  g() {",
    "  360.774528 |   0)   bash-9      |  d..1 |   1.107 us    |  }",
    "    0.541 us    |  }",
    "                |  h() {",
    "   sh-4802  [000]  12.345678: funcgraph_entry:                   |  k() {",
    "   sh-4802  [001]  12.345679: funcgraph_exit:         0.5 us     |  }",
    "             cat-7       [001] .....  1.000001: sys_read(fd: 3, buf: 0x7f, count: 0x10)",
    "             cat-7       [001] .....  1.000002: sys_read -> 0x10",
    "             cat-7       [001] .....  1.000003: <stack trace>",
    " => do_syscall_64+0x1/0x2",
    "CPU:1 [LOST 5 EVENTS]",
    "",
    "}",
    "something else",
];

/// Lines of `function_graph` without columns.
const BARE: &[&str] = &[
    "# tracer: function_graph",
    "sys_open() {",
    "  do_sys_open() {",
    "    getname();",
    "  }",
    "} /* sys_open = 0x3 */",
    "/* a note",
    "in two lines */",
    "something else",
    "==========>",
    "",
];

/// Lines of logs cut by task, after their times: calls of some length, which overlap.
const CUT: &[&str] = &[
    "read(3</a>, \"x) = 9\", 4096) = 7 <0.000213>",
    "read(3, \"\", 10) = 0 <0.000001>",
    "read(3, \"x\", 10) = 10",
    "write(4, \"x\", 1) = 1 <0.000040>",
    "pwrite64(4, \"x\", 1, 70) = 1 <0.000040>",
    "lseek(3, 0, SEEK_CUR) = 20 <0.000011>",
    "recvfrom(5, \"x\", 1, 0, NULL, NULL) = 1 <0.000700>",
    "sendfile(4, 3, NULL, 10) = 10 <0.000033>",
    "ftruncate(4, 5) = 0 <0.000033>",
    "fstat(4, {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000033>",
    "openat(AT_FDCWD, \"/f\", O_RDWR|O_APPEND) = 3 <0.000021>",
    "openat(AT_FDCWD, \"/g\", O_RDWR) = 4 <0.000021>",
    "dup2(3, 4) = 4 <0.000301>",
    "fcntl(4, F_SETFL, O_RDONLY) = 0 <0.000101>",
    "close(3) = 0 <0.000091>",
    "close_range(3, 9, 0) = 0 <0.000091>",
    "clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD) = 701 <0.000300>",
    "clone(child_stack=NULL, flags=SIGCHLD) = 702 <0.000300>",
    "futex(0x7f, FUTEX_WAIT) = 0 <0.000900>",
    "sendmsg(5, {msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, \
     cmsg_data=[3]}], msg_controllen=24, msg_flags=0}, 0) = 1 <0.000100>",
    "read(3, \"cut",
    "read(3, <unfinished ...>",
    "read(3, <unfinished ...>) = ?",
    "read(3, 0x7f, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <0.000100>",
    "\x1b[33mread\x1b[0m(\x1b[35m3\x1b[0m, \"x\", 1) = 1 <0.000200>",
    "execve(\"/x\", [\"x\"], 0x1 /* 0 vars */) = 0 <0.000200>",
    "execve(\"/x\", [], 0x1 /* 0 vars */ <pid changed to 700 ...>",
    "+++ superseded by execve in pid 701 +++",
    "<... execve resumed>) = 0 <0.0001>",
    "+++ exited with 0 +++",
    "--- SIGCHLD {si_signo=SIGCHLD, si_pid=702} ---",
];

/// Lines of such logs without a time.
const CONTINUED: &[&str] = &[
    " > /lib/libc.so.6(read+0x17) [0x101ab7]",
    " | 00000  61 62  ab |",
    "caf\u{e9} \u{1F980}",
    "read(3, \"x\", 1) = 1",
    "",
];

/// Logs of three tasks, whose times increase by some microseconds from line to line of any task.
fn cut_log() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let line = prop_oneof![
        9 => (proptest::sample::select(CUT), 0..90_u64).prop_map(|(line, by)| (line, Some(by))),
        1 => proptest::sample::select(CONTINUED).prop_map(|line| (line, None)),
    ];
    let ends = prop_oneof![4 => Just("\n"), 1 => Just("\r\n")];
    let lines = proptest::collection::vec((0..3_usize, line, ends), 1..80);
    // Calls without times; times without fractions.
    (lines, proptest::bool::weighted(0.2), proptest::bool::weighted(0.1), any::<[bool; 3]>())
        .prop_map(|(lines, untimed, coarse, cut)| {
            let mut logs = vec![Vec::new(); 3];
            let mut micros = 1_795_175_299_000_000_u64;
            for (task, (line, by), end) in lines {
                let log: &mut Vec<u8> = &mut logs[task];
                if let Some(by) = by {
                    micros += by;
                    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
                    let time = format!("{seconds}.{rest:06} ");
                    log.extend(if coarse { format!("{seconds} ") } else { time }.into_bytes());
                }
                let took = line.rfind(" <0.0").filter(|_| untimed && line.ends_with('>'));
                log.extend_from_slice(&line.as_bytes()[..took.unwrap_or(line.len())]);
                log.extend_from_slice(end.as_bytes());
            }
            for (log, _) in logs.iter_mut().zip(cut).filter(|(_, cut)| *cut) {
                log.pop();
            }
            logs
        })
}

fn log(lines: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        9 => proptest::sample::select(lines).prop_map(|line| line.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..30),
    ];
    (proptest::collection::vec(line, 1..60), any::<bool>()).prop_map(|(lines, feed)| {
        let mut text = lines.join(&b'\n');
        if feed {
            text.push(b'\n');
        }
        text
    })
}

/// Everything that a run produces: the bytes of the file and the report. One text is a log; several
/// are those of tasks.
fn run(
    texts: &[Vec<u8>],
    wanted: Wanted,
    block_bytes: usize,
    threads: usize,
    kind: FileKind,
) -> (Vec<u8>, Report) {
    let folder = tempfile::tempdir().expect("a folder");
    for (text, pid) in texts.iter().zip(700..) {
        let name = if texts.len() == 1 { "log".to_owned() } else { format!("log.{pid}") };
        let log = folder.path().join(name);
        std::fs::File::create(&log).and_then(|mut file| file.write_all(text)).expect("room for it");
    }
    let path = folder.path().join("out").display().to_string();
    let output = Output { path: &path, kind, clobber: true, compression: Compression::default() };
    let options = Options {
        threads,
        block_bytes,
        group_rows: 16,
        format: Some(wanted),
        ..Options::default()
    };
    // The name of the log is in the file: it must not change with the folder.
    std::env::set_current_dir(folder.path()).expect("the folder");
    let report = parse(&["log".to_owned()], &output, options, &Arc::default(), || false)
        .expect("any bytes can be parsed on demand");
    (std::fs::read(&path).expect("the output"), report)
}

fn check(texts: &[Vec<u8>], wanted: Wanted) -> Result<(), TestCaseError> {
    let (parquet, report) = run(texts, wanted, 1 << 18, 1, FileKind::Parquet);
    let (arrow, _) = run(texts, wanted, 1 << 18, 1, FileKind::Arrow);
    let lines = |text: &Vec<u8>| text.split_inclusive(|&b| b == b'\n').count();
    prop_assert_eq!(report.lines(), texts.iter().map(lines).sum::<usize>() as u64);
    let bytes = texts.iter().map(Vec::len).sum::<usize>() as u64;
    prop_assert_eq!(report.counts.total.bytes, bytes);
    prop_assert_eq!(report.counts.total.lines.total_bytes(), bytes);
    let counts = report.counts.total.lines;
    let shared = report.counts.total.oddities.shared_lines;
    let begun = counts.lines(LineUse::Events) + counts.lines(LineUse::Unparsed);
    // What the model found is on no line.
    let kinds = report.counts.total.kinds;
    let found = kinds[EventKind::Notice as usize] + kinds[EventKind::Aio as usize];
    prop_assert_eq!(report.rows() - found, begun + shared);
    for (block_bytes, threads) in [(1, 2), (64, 3), (500, 2)] {
        for (kind, expected) in [(FileKind::Parquet, &parquet), (FileKind::Arrow, &arrow)] {
            // The bytes themselves would fill the screen.
            let same = &run(texts, wanted, block_bytes, threads, kind).0 == expected;
            let shown = String::from_utf8_lossy(&texts.join(&b"\n--\n"[..])).into_owned();
            prop_assert!(same, "{kind:?} in blocks of {block_bytes}:\n{shown}");
        }
    }
    Ok(())
}

#[test]
fn same_bytes_for_any_blocks_and_threads_and_every_line_counted() {
    // One test, as the working directory is the process's.
    let whole = |lines| log(lines).prop_map(|text| vec![text]).boxed();
    for (name, logs, wanted) in [
        ("strace", whole(STRACE), Wanted::Strace),
        ("on a terminal", whole(TERMINAL), Wanted::Strace),
        ("times of day", whole(DAYS), Wanted::Strace),
        ("deltas", whole(DELTAS), Wanted::Strace),
        ("cut by task", cut_log().boxed(), Wanted::Strace),
        ("ftrace", whole(FTRACE), Wanted::Ftrace),
        ("function_graph", whole(GRAPH), Wanted::Ftrace),
        ("without columns", whole(BARE), Wanted::Ftrace),
    ] {
        // A runner counts the cases of all its runs: with one of them only the first list would
        // be tried.
        let config = ProptestConfig::default();
        // Each case writes and reads a dozen files: a quarter of the usual number, for each list.
        let config =
            ProptestConfig { failure_persistence: None, cases: config.cases.div_ceil(4), ..config };
        let mut runner = proptest::test_runner::TestRunner::new(config);
        let tried = std::cell::Cell::new(0);
        let outcome = runner.run(&logs, |texts| {
            tried.set(tried.get() + 1);
            check(&texts, wanted)
        });
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(tried.get() > 0, "{name}: nothing was tried");
    }
}
