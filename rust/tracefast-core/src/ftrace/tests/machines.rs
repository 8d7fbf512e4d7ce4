//! Calls by number: which machine a log is of, and what its registers hold.

use crate::events::schema::Column as C;
use crate::ftrace::tests::{Log, parse, parse_as};
use crate::ftrace::{Format, detect};
use crate::linux::machine::{Machine, SyscallAbi};

/// A program that starts, maps a library, reads a file, writes it and ends, on each machine: as the
/// kernel would show its registers, with what is left over in those that the call does not use.
static PROGRAMS: [(Machine, &str); 7] = [
    (
        Machine::X86_64,
        "59 55e2a1b0c2a0 55e2a1b0c2c0 7ffd1c9a3f58 0 8 7fb1daff2a10 = 0
         12 0 7fb1db2520c8 1 22 ffffffff 0 = 94431876898816
         257 ffffff9c 7fb1db24f0b5 80000 0 80000 7fb1db24f0b5 = 3
         5 3 7ffd1c9a3600 7ffd1c9a3600 0 80000 7fb1db24f0b5 = 0
         9 0 5a2f 1 2 3 0 = 140401014812672
         3 3 5a2f 1 2 3 0 = 0
         0 3 7ffd1c9a3728 340 7fb1db2520c8 0 0 = 832
         17 3 7ffd1c9a3310 310 40 0 0 = 784
         1 1 7fb1daff2a10 d 0 0 0 = 13",
    ),
    (
        Machine::Arm64,
        "221 aaaae1b0c2a0 aaaae1b0c2c0 ffffc9a3f58 0 8 ffffa4d21000 = 0
         214 0 ffffa4d25000 1 22 ffffffff 0 = 187651074457600
         56 ffffff9c ffffa4d24f0b 80000 0 80000 ffffa4d24f0b = 3
         80 3 ffffc9a3f600 ffffc9a3f600 0 80000 ffffa4d24f0b = 0
         222 0 5a2f 1 2 3 0 = 281473443147776
         57 3 5a2f 1 2 3 0 = 0
         63 3 ffffc9a3f728 340 ffffa4d25000 0 0 = 832
         67 3 ffffc9a3f310 310 40 0 0 = 784
         64 1 ffffa4d21000 d 0 0 0 = 13",
    ),
    (
        // Android: 39 bits of address.
        Machine::Arm64,
        "221 5581b0c2a0 5581b0c2c0 7fc9a3f580 0 8 7fa4d21000 = 0
         56 ffffff9c 7fa4d24f0b 80000 0 80000 7fa4d24f0b = 3
         80 3 7fc9a3f600 7fc9a3f600 0 80000 7fa4d24f0b = 0
         222 0 5a2f 1 2 3 0 = 548229066752
         57 3 5a2f 1 2 3 0 = 0
         63 3 7fc9a3f728 340 7fa4d25000 0 0 = 832
         64 1 7fa4d21000 d 0 0 0 = 13",
    ),
    (
        Machine::Riscv64,
        "221 2aaab0c2a0 2aaab0c2c0 3fc9a3f580 0 8 3fa4d21000 = 0
         214 0 3fa4d25000 1 22 ffffffff 0 = 183252275200
         56 ffffffffffffff9c 3fa4d24f0b 80000 0 80000 3fa4d24f0b = 3
         80 3 3fc9a3f600 3fc9a3f600 0 80000 3fa4d24f0b = 0
         222 0 5a2f 1 2 3 0 = 273351159808
         57 3 5a2f 1 2 3 0 = 0
         63 3 3fc9a3f728 340 3fa4d25000 0 0 = 832
         67 3 3fc9a3f310 310 40 0 0 = 784
         64 1 3fa4d21000 d 0 0 0 = 13",
    ),
    (
        // 48 bits of address, as x86-64 has.
        Machine::Riscv64,
        "221 5555a1b0c2a0 5555a1b0c2c0 7fffc9a3f580 0 8 7fffa4d21000 = 0
         56 ffffffffffffff9c 7fffa4d24f0b 80000 0 80000 7fffa4d24f0b = 3
         80 3 7fffc9a3f600 7fffc9a3f600 0 80000 7fffa4d24f0b = 0
         222 0 5a2f 1 2 3 0 = 140735959207936
         57 3 5a2f 1 2 3 0 = 0
         63 3 7fffc9a3f728 340 7fffa4d25000 0 0 = 832
         64 1 7fffa4d21000 d 0 0 0 = 13",
    ),
    (
        Machine::I386,
        "11 8b0c2a0 8b0c2c0 bf9a3f58 0 8 b7f2a10 = 0
         45 0 b7f25000 1 22 ffffffff 0 = 145797120
         295 ffffff9c b7f24f0b 88000 0 80000 b7f24f0b = 3
         197 3 bf9a3600 b7f25000 0 80000 b7f24f0b = 0
         192 0 5a2f 1 2 3 0 = -1208885248
         6 3 5a2f 1 2 3 0 = 0
         3 3 bf9a3728 200 b7f25000 0 0 = 512
         180 3 bf9a3310 310 40 1 b7f21000 = 784
         4 1 b7f21000 d 0 0 0 = 13
         252 0 0 0 0 0 0 = 0",
    ),
    (
        Machine::Arm,
        "11 10c2a0 10c2c0 be9a3f58 0 8 b6f2a010 = 0
         983045 b6f2a4c0 b6f2a010 0 0 0 0 = 0
         45 0 b6f25000 1 22 ffffffff 0 = 1310720
         322 ffffff9c b6f24f0b a0000 0 20000 b6f24f0b = 3
         197 3 be9a3600 b6f25000 0 80000 b6f24f0b = 0
         192 0 5a2f 1 2 3 0 = -1225527296
         6 3 5a2f 1 2 3 0 = 0
         3 3 be9a3728 200 b6f25000 0 0 = 512
         180 3 be9a3310 310 be9a3310 40 1 = 784
         4 1 b6f21000 d 0 0 0 = 13
         290 4 b6f21000 d 4000 0 0 = 13",
    ),
];

/// Lines of `raw_syscalls` from `NUMBER SIX REGISTERS = RESULT`.
fn raw(calls: &str) -> String {
    let head = |i: usize| format!("             cat-7       [001] .....     1.{i:06}: ");
    let lines = calls.lines().map(str::trim).enumerate().map(|(i, call)| {
        let (enter, ret) = call.split_once(" = ").expect("a result");
        let (number, registers) = enter.split_once(' ').expect("registers");
        let registers = registers.replace(' ', ", ");
        format!(
            "{}sys_enter: NR {number} ({registers})\n{}sys_exit: NR {number} = {ret}\n",
            head(2 * i),
            head(2 * i + 1)
        )
    });
    lines.collect()
}

fn calls(text: &str) -> SyscallAbi {
    detect(text.as_bytes()).expect("ftrace's").abi
}

fn names(log: &Log) -> Vec<&str> {
    log.rows().iter().filter_map(|&row| log.name(row)).collect()
}

#[test]
fn a_program_tells_its_machine() {
    for (machine, program) in PROGRAMS {
        let text = raw(program);
        let found = calls(&text);
        assert_eq!(found.machine, Some(machine), "{program}");
        assert_eq!(found.narrow, machine.is_narrow());
        assert_eq!(found.machine_name(), Some(machine.name()));
        let log = parse(&text);
        for name in ["execve", "openat", "close", "read", "write"] {
            assert!(names(&log).contains(&name), "{name} of {}", machine.name());
        }
        // What is read and written has the same columns on each of them.
        let row = log.rows()[names(&log).iter().position(|name| *name == "read").expect("one")];
        let rows = &log.parsed.rows;
        assert_eq!((log.fd(row), rows.bytes[row]), (Some(3), log.ret(row).expect("a count")));
        assert_eq!(rows.requested[row], rows.bytes[row]);
        let pread = names(&log).iter().position(|name| *name == "pread64");
        if let Some(row) = pread.map(|at| log.rows()[at]) {
            let high = if machine.is_narrow() { 1 << 32 } else { 0 };
            assert_eq!(rows.offset[row], 64 + high, "{}", machine.name());
            assert_eq!(rows.requested[row], 784);
        }
    }
}

#[test]
fn any_part_of_a_program_tells_it_too() {
    // A capture begins anywhere.
    for (machine, program) in PROGRAMS {
        let lines: Vec<&str> = program.lines().collect();
        for from in 0..lines.len() - 5 {
            let text = raw(&lines[from..from + 6].join("\n"));
            assert_eq!(calls(&text).machine, Some(machine), "{text}");
        }
    }
}

#[test]
fn numbers_of_another_machine_stay_numbers() {
    // MIPS with 64 bits numbers from 5000, PowerPC as old 32-bit machines do.
    for program in [
        "5002 fff3c2a0 80000 0 0 0 0 = 3
         5000 3 fff3c2a010 340 0 0 0 = 832
         5003 3 0 0 0 0 0 = 0
         5001 1 fff3c2a010 5 0 0 0 = 5",
        "4005 7fc3c2a0 80000 0 0 0 0 = 3
         4003 3 7fc3c2a0 200 0 0 0 = 512
         4006 3 0 0 0 0 0 = 0
         4004 1 7fc3c2a0 5 0 0 0 = 5",
    ] {
        let text = raw(program);
        let found = calls(&text);
        assert_eq!((found.machine, found.machine_name()), (None, Some("unknown")), "{program}");
        let log = parse(&text);
        assert!(names(&log).iter().all(|name| name.starts_with("syscall_0x")));
    }
}

#[test]
fn a_few_calls_of_32_bit_programs_do_not_mislead() {
    let program =
        PROGRAMS[0].1.to_owned() + "\n3 3 8b0c2a0 200 0 0 0 = 512\n4 1 8b0c2a0 d 0 0 0 = 13";
    assert_eq!(calls(&raw(&program)).machine, Some(Machine::X86_64));
}

#[test]
fn numbers_as_fields_have_names_but_no_arguments() {
    let head = "             cat-7       [001] .....     1.00000";
    let log = parse(&format!(
        "{head}0: sys_enter: id=0x101 (257) args=<INVALID-SIZE>\n{head}1: sys_exit: id=0x101 (257) ret=0x3 (3)\n"
    ));
    let row = log.only();
    assert_eq!((log.name(row), log.fd(row), log.ret(row)), (Some("openat"), Some(3), Some(3)));
    assert_eq!(log.args(row), "id=0x101 (257) args=<INVALID-SIZE>");
}

#[test]
fn x32_is_x86_64() {
    let text = raw("1073741824 3 ffc3c2a0 200 0 0 0 = 512
         1073742344 ffc3c2a0 ffc3c2b0 ffc3c2c0 0 0 7fb1daff2a10 = 0
         1073741825 1 ffc3c2a0 200 0 0 0 = 512
         1073742339 3 ffc3c2a0 2 0 0 0 = 10");
    assert_eq!(calls(&text).machine, Some(Machine::X86_64));
    assert_eq!(names(&parse(&text)), ["read", "execve", "write", "readv"]);
}

#[test]
fn calls_by_name_tell_of_the_machine() {
    let log = |calls: &[&str]| {
        let head = "             cat-7       [001] .....     1.000000: ";
        calls.iter().flat_map(|call| [head, call, "\n"]).collect::<String>()
    };
    for (machine, text) in [
        (
            Machine::Arm64,
            log(&["sys_read(fd: 3, buf: 0xffffc9a3f728, count: 0x340)", "sys_read -> 0x340"]),
        ),
        (
            Machine::X86_64,
            log(&["sys_open(filename: 7ffcad6c47c8, flags: 0, mode: 0)", "sys_open -> 0x3"]),
        ),
        (
            Machine::Riscv64,
            log(&[
                "sys_enter_read: __syscall_nr=0x3f (63) fd=0x3 (3) buf=0x3fa4d25000 (1) count=0x9 (9)",
            ]),
        ),
        (
            Machine::X86_64,
            log(&["sys_enter_read:  __syscall_nr=0 fd=0x00000003 buf=0x00000009 count=0x9"]),
        ),
    ] {
        let calls = calls(&text);
        assert_eq!(
            (calls.machine, calls.named, calls.machine_name()),
            (Some(machine), true, None),
            "{text}"
        );
        assert!(!calls.narrow);
    }
    // Large numbers that are no addresses are rare.
    let text = log(&["sys_close(fd: 3)", "sys_close -> 0x0"]).repeat(8)
        + &log(&["sys_fcntl(fd: 3, cmd: 0x409, arg: 0x80000000)"]);
    assert!(!calls(&text).narrow);
    let text = log(&[
        "sys_mmap(addr: 0, len: 0x40000000, prot: 3, flags: 0x22, fd: 0xffffffff, off: 0)",
        "sys_mmap -> 0x7fc0a1b2c000",
    ]);
    assert!(!calls(&text).narrow);
    let text = log(&[
        "sys_read(fd: 3, buf: be9a3728, count: 200)",
        "sys_read -> 0x200",
        "sys_getuid()",
        "sys_getuid -> 0x0",
        "sys_ia32_pread64(fd: 3, ubuf: be9a3728, count: 10, poslo: 40, poshi: 1)",
        "sys_ia32_pread64 -> 0xfffffff2",
        "sys_pread64(fd: 3, buf: be9a3728, count: 10, pos: be9a3728)",
        "sys_pread64 -> 0x10",
        "sys_mmap_pgoff(addr: 0, len: 2000, prot: 1, flags: 2, fd: 3, pgoff: 2)",
        "sys_mmap_pgoff -> 0xb6f21000",
        "sys_fallocate(fd: 3, mode: 0, offset: 10, len: 1)",
        "sys_fallocate -> 0x0",
        "sys_readahead(fd: 3, offset: be9a3728, count: 10)",
        "sys_readahead -> 0x0",
    ]);
    assert!(calls(&text).narrow);
    let log = parse(&text);
    assert_eq!(
        names(&log),
        ["read", "getuid32", "pread64", "pread64", "mmap2", "fallocate", "readahead"]
    );
    let rows = log.rows();
    let offset = |row: usize| log.has(row, C::Offset).then(|| log.parsed.rows.offset[row]);
    assert_eq!(offset(rows[2]), Some((1 << 32) + 0x40));
    assert_eq!((log.ret(rows[2]), log.errno(rows[2])), (Some(-1), Some("EFAULT")));
    // ARM prints a register that holds nothing: the position is in the two after it.
    assert_eq!(offset(rows[3]), None);
    assert_eq!(log.parsed.rows.requested[rows[3]], 16);
    assert_eq!((offset(rows[4]), log.ret(rows[4])), (Some(0x2000), Some(0xb6f2_1000)));
    // The first of two wide values is whole, as the halves of the second are where it is printed.
    assert_eq!(offset(rows[5]), Some((1 << 32) + 0x10));
    assert!(!log.has(rows[5], C::Requested));
    assert_eq!(offset(rows[6]), None);
    assert!(!log.has(rows[6], C::Requested));
}

#[test]
fn a_program_that_starts_ends_its_execve_under_another_number() {
    // execveat ends as execve; a program of 32 bits has i386's number of it, which is munmap's.
    for (number, exit, status) in
        [(322, 59, "complete"), (59, 11, "complete"), (322, 11, "complete"), (59, 10, "headless")]
    {
        let head = "             cat-7       [001] .....     1.00000";
        let registers = "3, 7ffcad6c47c8, 7ffcad6c47c8, 7ffcad6c47c8, 1000, 0";
        let enter = format!("{head}0: sys_enter: NR {number} ({registers})\n");
        let log = parse(&format!("{enter}{head}1: sys_exit: NR {exit} = 0\n"));
        let row = *log.rows().last().expect("a row");
        assert_eq!(log.status(row), status, "{number} {exit}");
        if status == "complete" {
            assert!(log.name(row).is_some_and(|name| name.starts_with("execve")));
        }
    }
    assert!(!SyscallAbi::default().ends("read", "execve"));
    assert!(!SyscallAbi { named: true, ..SyscallAbi::default() }.ends("execve", "munmap"));
}

/// Offset, count, size of calls on a machine.
fn wide(machine: Machine, call: &str) -> (String, [Option<i64>; 3]) {
    let format = Format { abi: SyscallAbi::default().on_machine(machine), ..Format::default() };
    let log = parse_as(raw(call).as_bytes(), format);
    let row = log.only();
    let rows = &log.parsed.rows;
    let number = |column, value| log.has(row, column).then_some(value);
    (
        log.name(row).expect("a name").to_owned(),
        [
            number(C::Offset, rows.offset[row]),
            number(C::Requested, rows.requested[row]),
            number(C::Size, rows.size[row]),
        ],
    )
}

#[test]
fn two_registers_hold_a_long_value() {
    let two = (1 << 32) + 0x40;
    let long = |low: i64, high: i64| Some((high << 32) + low);
    for (machine, call, name, expected) in [
        (Machine::I386, "180 3 bf00 310 40 1 0 = 5", "pread64", [Some(two), Some(784), None]),
        (Machine::Arm, "180 3 be00 310 9 40 1 = 5", "pread64", [Some(two), Some(784), None]),
        (Machine::I386, "181 3 bf00 310 40 1 0 = 5", "pwrite64", [Some(two), Some(784), None]),
        (Machine::I386, "333 3 bf00 2 40 1 0 = 5", "preadv", [Some(two), None, None]),
        (Machine::Arm, "361 3 be00 2 40 1 0 = 5", "preadv", [Some(two), None, None]),
        (Machine::Arm, "392 3 be00 2 ffffffff ffffffff 0 = 5", "preadv2", [None; 3]),
        (Machine::I386, "193 bf00 40 1 0 0 0 = 0", "truncate64", [None, None, Some(two)]),
        (Machine::I386, "194 3 40 1 0 0 0 = 0", "ftruncate64", [None, None, Some(two)]),
        (Machine::Arm, "194 3 9 40 1 0 0 = 0", "ftruncate64", [None, None, Some(two)]),
        (Machine::Arm, "194 3 9 40 1 0 0 = -22", "ftruncate64", [None; 3]),
        (Machine::I386, "93 3 40 1 0 0 0 = 0", "ftruncate", [None, None, Some(64)]),
        (Machine::I386, "324 3 0 40 1 7 0 = 0", "fallocate", [Some(two), Some(7), None]),
        (Machine::Arm, "352 3 0 40 1 7 1 = 0", "fallocate", [Some(two), long(7, 1), None]),
        (Machine::I386, "250 3 40 1 7 0 0 = 0", "fadvise64", [Some(two), Some(7), None]),
        (Machine::I386, "272 3 40 1 7 1 0 = 0", "fadvise64_64", [Some(two), long(7, 1), None]),
        (Machine::Arm, "270 3 0 40 1 7 1 = 0", "fadvise64_64", [Some(two), long(7, 1), None]),
        (Machine::I386, "225 3 40 1 7 0 0 = 0", "readahead", [Some(two), Some(7), None]),
        (Machine::Arm, "225 3 9 40 1 7 0 = 0", "readahead", [Some(two), Some(7), None]),
        (Machine::I386, "314 3 40 1 7 1 0 = 0", "sync_file_range", [Some(two), long(7, 1), None]),
        (Machine::Arm, "341 3 0 40 1 7 1 = 0", "sync_file_range2", [Some(two), long(7, 1), None]),
        // In pages.
        (Machine::I386, "192 0 5a2f 1 2 3 2 = 0", "mmap2", [Some(0x2000), Some(0x5a2f), None]),
        (Machine::Arm, "192 0 5a2f 1 2 3 100000 = 0", "mmap2", [long(0, 1), Some(0x5a2f), None]),
        // The address of a structure, and leftovers.
        (Machine::I386, "90 bf00 5a2f 1 2 3 2 = -1208885248", "mmap", [None; 3]),
        (Machine::I386, "19 3 ffffffff 2 0 0 0 = 9", "lseek", [None, None, Some(10)]),
        // On machines with 64 bits the same names mean single registers.
        (Machine::Arm64, "67 3 ffff00 310 40 1 0 = 5", "pread64", [Some(64), Some(784), None]),
        (Machine::Arm64, "69 3 ffff00 2 40 1 0 = 5", "preadv", [Some(64), None, None]),
        (Machine::Riscv64, "47 3 0 40 7 1 0 = 0", "fallocate", [Some(64), Some(7), None]),
        (Machine::X86_64, "77 3 40 1 0 0 0 = 0", "ftruncate", [None, None, Some(64)]),
    ] {
        assert_eq!(wide(machine, call), (name.to_owned(), expected), "{call}");
    }
}

#[test]
fn results_of_32_bits_are_errors_or_addresses() {
    let of = |machine: Machine, call: &str| {
        let format = Format { abi: SyscallAbi::default().on_machine(machine), ..Format::default() };
        let log = parse_as(raw(call).as_bytes(), format);
        let row = log.only();
        (log.ret(row), log.errno(row).map(str::to_owned))
    };
    let mapped = "192 0 5a2f 1 2 3 2 = -1208885248";
    assert_eq!(of(Machine::Arm, mapped), (Some(0xb7f1_e000), None));
    assert_eq!(of(Machine::Arm, "6 3 0 0 0 0 0 = -9"), (Some(-1), Some("EBADF".to_owned())));
    assert_eq!(of(Machine::X86_64, "9 0 1 1 2 3 0 = -1208885248"), (Some(-1_208_885_248), None));
}

#[test]
fn directories_are_told_by_the_flags_of_the_machine() {
    use crate::events::vocabulary::{FileType, open_flags};
    let flags = |machine: Option<Machine>, number: &str, flags: &str| {
        let calls = SyscallAbi { machine, ..SyscallAbi::default() };
        let text = raw(&format!("{number} ffffff9c 7f0000 {flags} 0 0 0 = 3"));
        let log = parse_as(text.as_bytes(), Format { abi: calls, ..Format::default() });
        log.parsed.rows.effect[log.only()].flags
    };
    let directory = FileType::Directory as u32 | open_flags::TYPED;
    assert_eq!(flags(Some(Machine::X86_64), "257", "10000"), directory);
    assert_eq!(flags(Some(Machine::X86_64), "257", "4000"), 0);
    assert_eq!(flags(Some(Machine::X86_64), "257", "410002"), open_flags::NEW);
    assert_eq!(flags(Some(Machine::Arm64), "56", "404002"), open_flags::NEW);
    assert_eq!(flags(Some(Machine::Arm64), "56", "4000"), directory);
    // That is O_DIRECT there.
    assert_eq!(flags(Some(Machine::Arm64), "56", "10000"), 0);
    assert_eq!(flags(Some(Machine::Riscv64), "56", "90000"), directory | open_flags::CLOEXEC);
    assert_eq!(flags(Some(Machine::Arm), "322", "4000"), directory);
}

#[test]
fn positions_in_registers_of_32_bits() {
    use crate::events::details::Detail;
    use crate::events::vocabulary::{At, Op, whence};
    let log = |machine: Machine, text: &str| {
        let format = Format { abi: SyscallAbi::default().on_machine(machine), ..Format::default() };
        parse_as(raw(text).as_bytes(), format)
    };
    let seek = |text| {
        let log = log(Machine::I386, text);
        let effect = log.parsed.rows.effect[log.only()];
        assert_eq!(effect.op, Op::Seek, "{text}");
        let detail = log.parsed.side.details.get(effect.detail as usize).cloned();
        (effect.flags, effect.number, detail)
    };
    let position = |position| Some(Detail::Position(position));
    let far = 0x1_0000_0005;
    assert_eq!(seek("140 3 1 5 ff00 0 0 = 0"), (whence::SEEK_SET, far, position(Some(far))));
    assert_eq!(seek("140 3 0 0 ff00 1 0 = 0"), (whence::SEEK_CUR, 0, position(None)));
    assert_eq!(seek("140 3 0 0 ff00 0 0 = -29"), (whence::SEEK_SET, 0, None));
    assert_eq!(seek("19 3 fffffff6 1 0 0 0 = 5"), (whence::SEEK_CUR, -10, None));
    let place = |machine, text| {
        let log = log(machine, text);
        log.parsed.rows.effect[log.only()].place
    };
    assert_eq!(place(Machine::I386, "378 3 ff00 1 ffffffff ffffffff 0 = 5"), At::Position);
    assert_eq!(place(Machine::I386, "378 3 ff00 1 ffffffff 0 0 = 5"), At::Given);
    assert_eq!(place(Machine::Arm, "180 3 ff00 9 0 40 0 = 5"), At::Given);
    assert_eq!(place(Machine::I386, "187 1 3 0 9 0 0 = 5"), At::Position);
    assert_eq!(place(Machine::I386, "187 1 3 ff00 9 0 0 = 5"), At::Elsewhere);
    let log = log(Machine::I386, "324 3 0 10 1 8 0 = 0");
    let effect = log.parsed.rows.effect[log.only()];
    assert_eq!((effect.op, effect.number), (Op::Allocate, 0x1_0000_0018));
}

#[test]
fn arm_shows_the_end_of_handlers() {
    let enter = "  a-7 [001] .....     1.000009: sys_enter: NR 173 (0, 0, 0, 0, 0, 0)\n";
    let exit = "  a-7 [001] .....     1.000010: sys_exit: NR 173 = 5\n";
    let of = |machine: Machine| {
        let format = Format { abi: SyscallAbi::default().on_machine(machine), ..Format::default() };
        let log = parse_as([enter, exit].concat().as_bytes(), format);
        log.rows().iter().map(|&row| log.status(row).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(Machine::Arm), ["complete"]);
    // Elsewhere the number is lost: this exit is of another call.
    assert_eq!(of(Machine::I386), ["complete", "headless"]);
}
