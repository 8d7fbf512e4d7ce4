//! Lines near records that are not one: what is lost is counted.

use crate::events::line_counts::LineUse;
use crate::ftrace::tests::{Log, parse, parse_block};
use crate::ftrace::{Format, detect};

const HEAD: &str = "            bash-7       [001] d..2.     1.000001: ";

/// Kinds and texts of all rows.
fn rows(log: &Log) -> Vec<(&str, String)> {
    log.rows().into_iter().map(|row| (log.kind(row), log.args(row))).collect()
}

#[test]
fn names_of_processes_are_whole() {
    let long = "com.android.systemui-611   (  611) [001] d..3   123.456789: x: y\n";
    let log = parse(&(format!("{HEAD}a: b\n") + long));
    assert_eq!(log.comm(log.rows()[1]), "com.android.systemui");
    assert_eq!(rows(&log)[1], ("event", "y".to_owned()));
}

#[test]
fn a_line_with_columns_is_never_passed_over() {
    let shapes = [
        "#            bash-8       [001] d..2.     1.000002: c: d",
        "as seen before a bash-8 [001] d..2. 1.000002: c: d",
    ];
    for payload in ["a: b", "tracing_mark_write: b", "a: comm=x"] {
        for shape in shapes {
            let log = parse(&format!("{HEAD}{payload}\n{shape}\n{HEAD}e: f\n"));
            let found = rows(&log);
            assert_eq!(found.len(), 3, "{found:?}");
            assert_eq!(found[1], ("unparsed", shape.to_owned()), "{payload}");
        }
    }
}

#[test]
fn prose_does_not_continue_a_whole_record() {
    for payload in [
        "block_rq_issue: 254,0 RA 4096 () 18357344 + 8 [dd]",
        "sched_process_exec: filename=/bin/cat pid=7 old_pid=7",
        "sched_prepare_exec: interp=/bin/cat filename=/bin/cat pid=7 comm=sh",
        "sys_read -> 0x3",
        "f <-g",
    ] {
        for prose in ["Some words.", "^C", "<-- here"] {
            let log = parse(&format!("{HEAD}{payload}\n{prose}\n"));
            let last = rows(&log).pop();
            assert_eq!(last, Some(("unparsed", prose.to_owned())), "{payload}");
        }
    }
    // A name or a text that a program wrote may have line feeds.
    for (payload, text) in [
        ("block_rq_issue: 254,0 RA 4096 () 18357344 + 8 [d", "d]"),
        ("task_rename: pid=1 oldcomm=a newcomm=b", "c oom_score_adj=0"),
        ("tracing_mark_write: a", "b"),
        ("my_function: printed", "more"),
        ("probe: (0x5) s=\"a", "b\""),
    ] {
        let log = parse(&format!("{HEAD}{payload}\n{text}\n"));
        assert_eq!(rows(&log).len(), 1, "{payload}");
        assert!(rows(&log)[0].1.ends_with(&format!("\n{text}")), "{payload}");
    }
    // The terminal shows that the reader was stopped.
    for end in ["^C", "^C# "] {
        let log = parse(&format!("{HEAD}tracing_mark_write: a\n{end}\n"));
        assert_eq!(rows(&log).pop(), Some(("unparsed", end.to_owned())));
    }
}

#[test]
fn blanks_behind_records_change_nothing() {
    let payloads = [
        ("sys_read(fd: 3, buf: 0x7f, count: 0x340)", "sys_read -> 0x33"),
        ("sys_openat(dfd: 12, filename: 99 \"x\", flags: O_RDONLY)", "sys_openat -> 0x3"),
        ("sys_enter: NR 17 (3, 7ffc, 310, 40, 0, 0)", "sys_exit: NR 17 = 784"),
        ("sys_enter_read:       fd: 0x03, count: 0x0b", "sys_exit_read:       0x2"),
        ("sys_vfork()", "sys_vfork -> 0xffffffffffffffff"),
        ("_raw_spin_lock <-__schedule", "f(a=1) <-g"),
        ("<stack trace>", "f <-g"),
    ];
    for (first, second) in payloads {
        let shown = |blank: &str| {
            let log = parse(&format!("{HEAD}{first}{blank}\n{HEAD}{second}{blank}\n"));
            log.rows().into_iter().map(|row| log.show(row)).collect::<Vec<_>>()
        };
        for blank in [" ", "\t", " \t  ", "\r", " \r", "\t\r"] {
            assert_eq!(shown(blank), shown(""), "{first}{blank:?}");
        }
    }
}

#[test]
fn blanks_behind_all_lines_are_not_the_traces() {
    let text =
        format!("# tracer: nop\n#\n{HEAD}x: y \n{HEAD}tracing_mark_write: a\nb \n").repeat(9);
    let shown = |text: &str| {
        let log = parse(text);
        log.rows().into_iter().map(|row| log.show(row)).collect::<Vec<_>>()
    };
    assert_eq!(shown(&text.replace('\n', "\r\n")), shown(&text));
    let trimmed = text.replace(" \n", "\n");
    for blanks in [" ", "\t ", "  \r"] {
        let ended = trimmed.replace('\n', &format!("{blanks}\n"));
        assert_eq!(shown(&ended), shown(&trimmed), "{blanks:?}");
    }
}

#[test]
fn blanks_behind_events_are_no_part_of_names() {
    let told = |blank: &str| {
        let payloads = [
            "sched_process_fork: comm=a pid=7 child_comm=b child_pid=8",
            "task_rename: pid=8 oldcomm=b newcomm=c oom_score_adj=0",
            "sched_process_exec: filename=/bin/d pid=8 old_pid=8",
            "sched_switch: prev_comm=a prev_pid=7 prev_prio=1 prev_state=S ==> next_comm=d next_pid=8 next_prio=1",
        ];
        let lines = payloads.map(|payload| format!("{HEAD}{payload}{blank}\n"));
        // Not all lines end in blanks.
        let log = parse(&(lines.concat() + &format!("{HEAD}x: y\n").repeat(4)));
        let parsed = &log.parsed;
        let name = |key: u32| parsed.comms[key as usize].to_string();
        let names = parsed.comm_changes.iter().map(|change| (change.tid, name(change.comm)));
        let effects = log.rows().into_iter().map(|row| {
            let effect = parsed.rows.effect[row];
            (effect.op, effect.at, effect.thread)
        });
        (names.collect::<Vec<_>>(), effects.collect::<Vec<_>>())
    };
    assert!(told("").0.len() > 4);
    assert_eq!(told(" \t"), told(""));
}

fn page(lines: &[&str]) -> String {
    let head = "<!DOCTYPE html>\n<script>\nvar a = 1;\n</script>\n<script class=\"trace-data\">\n";
    format!("{head}{}\n</script>\n</body>\n", lines.join("\n"))
}

#[test]
fn what_is_between_the_records_of_a_page_is_counted() {
    let record = format!("{HEAD}sched_waking: comm=x pid=7 prio=120 target_cpu=000");
    let text =
        page(&["# tracer: nop", "#", &record, "  bash-7 [001] d..2. 1.0", "x", "#", &record]);
    let log = parse(&text);
    let kinds: Vec<_> = rows(&log).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["event", "unparsed", "unparsed", "event"]);
    assert_eq!(rows(&log)[1].1, "  bash-7 [001] d..2. 1.0");
    let counts = log.parsed.counts;
    let [unparsed, header] = [LineUse::Unparsed, LineUse::Header].map(|line| counts.lines(line));
    assert_eq!((unparsed, header, counts.total()), (2, 10, 14));
    assert_eq!(counts.total_bytes(), text.len() as u64);
    assert_eq!(log.parsed.rows.line[log.rows()[1]], 8);

    // At the end of a block that is not the last one a record follows.
    let format: Format = detect(text.as_bytes()).expect("ftrace's");
    let text = format!("{record}\nx\n");
    let kinds = |last| {
        let log = parse_block(text.as_bytes(), format, last);
        rows(&log).into_iter().map(|(kind, _)| kind.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(false), ["event", "unparsed"]);
    assert_eq!(kinds(true), ["event"]);
}
