//! System calls of ftrace: entry and exit are joined, whatever is between them and wherever the log
//! is cut into blocks.

use tracefast_core::format::{Format, Wanted};

use crate::compare::parse;
use crate::compare::{Row, rows};
use crate::made::strace::Choices;

/// The expected outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Call {
    line: u64,
    tid: i32,
    name: &'static str,
    args: Option<String>,
    ret: Option<i64>,
    errno: Option<&'static str>,
    status: &'static str,
    ts: i64,
    dur: Option<i64>,
}

/// Values that calls return: as printed, and as columns.
const RESULTS: [(&str, Option<i64>, Option<&str>, &str); 6] = [
    ("0x0", Some(0), None, "complete"),
    ("0x340", Some(832), None, "complete"),
    ("0x7f6f574a2000", Some(0x7f6f_574a_2000), None, "complete"),
    ("0xfffffffffffffffe", Some(-1), Some("ENOENT"), "complete"),
    ("0xfffffffffffffff5", Some(-1), Some("EAGAIN"), "complete"),
    ("0xfffffffffffffe00", None, Some("ERESTARTSYS"), "interrupted"),
];

const NAMES: [&str; 4] = ["read", "futex", "getppid", "openat"];

/// Calls of up to four tasks that the bytes interleave, read in blocks of a length that they
/// choose.
///
/// # Panics
/// If a call is not what was put into it.
pub fn ftrace_calls(data: &[u8]) {
    let mut choices = Choices::new(data);
    let size = 1 + usize::from(choices.byte()) * choices.pick(&[1, 8, 64]);
    let report = choices.rarely();
    let mut log = if report { "cpus=2\n" } else { "# tracer: nop\n" }.to_owned();
    // Of each task: its call, the processor on which it started, whether records of that were lost.
    let mut open: Vec<Option<(Call, usize, bool)>> = vec![None; 4];
    let mut done: Vec<Call> = Vec::new();
    let mut now = 2_881_878_957_000;
    while !choices.rest().is_empty() {
        now += i64::from(choices.byte()) * 1000;
        let number = choices.below(4);
        let tid = [7, 2101, 99_999, 4_194_303][number];
        let cpu = choices.below(3);
        let mut print = |payload: &str| {
            let time = format!("{:5}.{:06}", now / 1_000_000_000, now / 1000 % 1_000_000);
            log += &if report {
                format!("{:>25}-{tid:<5} [{cpu:03}] {time}: {payload}\n", "app")
            } else {
                format!("{:>16}-{tid:<7} [{cpu:03}] ..... {time}: {payload}\n", "app")
            };
            log.lines().count() as u64
        };
        let name = choices.pick(&NAMES);
        match choices.below(8) {
            0..3 => {
                let args = format!("a: {}, b: 0x7f", choices.byte());
                let line = print(&if report {
                    format!("{:<20} {args}", format!("sys_enter_{name}:"))
                } else {
                    format!("sys_{name}({args})")
                });
                let (args, ts) = (Some(args), now);
                let call = Call {
                    line,
                    tid,
                    name,
                    args,
                    ret: None,
                    errno: None,
                    status: "unfinished",
                    ts,
                    dur: None,
                };
                // What the task was in before has no end.
                done.extend(open[number].replace((call, cpu, false)).map(|(call, ..)| call));
            }
            3..7 => {
                let (value, ret, errno, status) = choices.pick(&RESULTS);
                let line = print(&if report {
                    format!("{:<20} {value}", format!("sys_exit_{name}:"))
                } else {
                    format!("sys_{name} -> {value}")
                });
                match open[number].take() {
                    Some((call, began, lost)) if call.name == name && !(lost && began == cpu) => {
                        let dur = Some(now - call.ts);
                        done.push(Call { ret, errno, status, dur, ..call });
                    }
                    other => {
                        done.extend(other.map(|(call, ..)| call));
                        let (args, ts, dur) = (None, now, None);
                        done.push(Call {
                            line,
                            tid,
                            name,
                            args,
                            ret,
                            errno,
                            status: "headless",
                            ts,
                            dur,
                        });
                    }
                }
            }
            7 if choices.rarely() => {
                log += &format!("CPU:{cpu} [LOST 5 EVENTS]\n");
                for (_, began, lost) in open.iter_mut().flatten() {
                    *lost |= *began == cpu;
                }
            }
            _ => {
                print("sched_wakeup: comm=sys_read( pid=7 prio=120 target_cpu=001");
            }
        }
    }
    done.extend(open.into_iter().flatten().map(|(call, ..)| call));
    done.sort_by_key(|call| call.line);
    let Some(format) = Format::detect(log.as_bytes(), Some(Wanted::Ftrace)) else { return };
    let (_, batch) = parse(format, log.as_bytes(), size);
    let mut calls: Vec<Row> = rows(&batch);
    calls.retain(|row| row.kind == "syscall");
    calls.sort_by_key(|row| row.line);
    assert_eq!(calls.len(), done.len(), "blocks of {size}:\n{log}");
    for (row, call) in calls.iter().zip(&done) {
        let read = (
            (row.line, row.ts, row.dur, row.tid, row.name.as_deref(), row.args.as_ref()),
            (row.ret, row.errno.as_deref(), row.status.as_deref()),
        );
        let put = (
            (
                call.line,
                Some(call.ts),
                call.dur,
                Some(call.tid),
                Some(call.name),
                call.args.as_ref(),
            ),
            (call.ret, call.errno, Some(call.status)),
        );
        assert_eq!(read, put, "blocks of {size}:\n{log}");
    }
}
