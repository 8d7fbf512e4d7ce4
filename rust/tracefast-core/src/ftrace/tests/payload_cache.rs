//! Records that start like earlier ones: what follows the common start still decides.

use crate::ftrace::tests::*;

/// All that a row shows of its payload.
fn shown(log: &Log, row: usize) -> (Option<String>, String, String, String, Option<i32>) {
    let name = log.name(row).map(str::to_owned);
    (name, log.kind(row).to_owned(), log.args(row), log.comm(row).to_owned(), log.fd(row))
}

#[test]
fn what_follows_the_name_decides() {
    for (first, second) in [
        ("x: y", "x:y"),
        ("x: y", "x:"),
        ("x: (a) b", "x:   (a)"),
        ("sys_probe: a", "sys_probe: (f+0x0/0x1) a=0x1"),
        ("kernel_stack: caller", "kernel_stack:         <stack trace >"),
        ("user_stack: caller", "user_stack:           \t=> 0x7fc980939dcc"),
        ("funcgraph_entry: x", "funcgraph_entry:        0.630 us   |  f();"),
        ("sys_exit_group(error_code: 0)", "sys_exit_group(error_code=0) <-do_syscall_64"),
        ("sys_exit_group(error_code: 0)", "sys_exit_group() <-do_syscall_64"),
        ("sys_exit_group(error_code: 0)", "sys_exit_group(error_code: 0"),
        ("sys_exit_group(error_code: 0)", "sys_exit_group("),
        ("sys_exit_group(error_code: 0)", "sys_exit_group <-do_syscall_64"),
        ("sys_read -> 0x1", "sys_read - 0x1"),
        ("sys_read -> 0x1", "sys_read "),
        ("sys_read -> 0x1", "sys_read <-do_syscall_64"),
        ("sys_enter_exit_group:  error_code: 0", "sys_enter_exit_group:"),
        ("sys_exit_read:       0x2", "sys_exit_read:"),
    ] {
        let alone = records(&[second]);
        let log = records(&[first, second, second]);
        let rows = log.rows();
        let again: Vec<_> = rows[1..].iter().map(|&row| shown(&log, row)).collect();
        let expected: Vec<_> = alone.rows().iter().map(|&row| shown(&alone, row)).collect();
        assert_eq!(again, [&expected[..], &expected[..]].concat(), "{first}, then {second}");
    }
}

#[test]
fn arguments_of_many_open_calls_are_their_own() {
    let line = |i: u32, tid: u32, payload: &str| {
        format!("             cat-{tid:<7} [001] .....     1.{i:06}: {payload}\n")
    };
    // Some calls have arguments that count when they begin, and some only when they end.
    let calls = 1..60;
    let enters = calls.clone().map(|i| match i % 3 {
        0 => line(
            i,
            i,
            &format!("sys_mmap(addr: 0, len: {i:x}, prot: 3, flags: 2, fd: {i:x}, off: 0)"),
        ),
        1 => line(i, i, &format!("sys_read(fd: {i:x}, buf: 7ffc, count: {i:x})")),
        _ => line(i, i, &format!("sys_close(fd: {i:x})")),
    });
    let exits = calls.clone().rev().map(|i| {
        line(
            100 - i,
            i,
            match i % 3 {
                0 => "sys_mmap -> 0x7f",
                1 => "sys_read -> 0x0",
                _ => "sys_close -> 0x0",
            },
        )
    });
    let log = parse(&enters.chain(exits).collect::<String>());
    let rows = log.rows();
    assert_eq!(rows.len(), 59);
    for (i, row) in calls.rev().zip(rows) {
        assert_eq!((log.parsed.rows.tid[row], log.fd(row)), (i as i32, Some(i as i32)));
    }
}
