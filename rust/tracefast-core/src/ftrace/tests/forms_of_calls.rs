//! A system call fills the same columns in every form in which ftrace prints it, and those of
//! strace's line.

use crate::events::details::Detail;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::vocabulary::{At, Motion, Op, clone_flags};
use crate::ftrace::tests::calls_in_both_formats::{ADDRESS, CASES};
use crate::ftrace::tests::{Log, records};
use crate::linux::machine::Machine;
use crate::strace;
use crate::text::block::Block;

/// The call as the kernel has it: name, arguments by name.
fn call(spec: &str) -> (&str, Vec<(&str, u64)>) {
    let mut words = spec.split(' ');
    let name = words.next().expect("a name");
    let args = words.map(|word| {
        let (key, value) = word.split_once('=').expect("an argument");
        let value = if value == "@" { ADDRESS } else { value };
        let value = match value.strip_prefix('-') {
            Some(digits) => u64::from_str_radix(digits, 16).expect("a number").wrapping_neg(),
            None => u64::from_str_radix(value, 16).expect("a number"),
        };
        (key, value)
    });
    (name, args.collect())
}

fn join<T>(items: &[T], between: &str, show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(between)
}

/// Small values have no `0x` since Linux 6.18.
fn short(value: u64) -> String {
    if value < 10 { value.to_string() } else { format!("{value:#x}") }
}

/// Entry and exit in every form.
fn forms(spec: &str, strace: &str, ret: i64) -> Vec<[String; 2]> {
    let (name, args) = call(spec);
    let text = |show: &dyn Fn(&str, u64) -> String| join(&args, ", ", |(k, v)| show(k, *v));
    let fields = |show: &dyn Fn(&str, u64) -> String| join(&args, "", |(k, v)| show(k, *v));
    let plain = |args: String| [format!("sys_{name}({args})"), format!("sys_{name} -> {ret:#x}")];
    let number = (0..480).find(|n| Machine::X86_64.call(*n) == Some(strace)).expect("a number");
    let mut registers: Vec<u64> = args.iter().map(|(_, value)| *value).collect();
    // What the caller left in them.
    registers.extend([0x2a6e_5c01_c10c_3755, 0xffff_ffff, 7, 0x5651_394d_1000, 1, 0x8_0000]);
    registers.truncate(6);
    vec![
        plain(text(&|k, v| format!("{k}: {v:x}"))),
        plain(text(&|k, v| format!("{k}: {}", short(v)))),
        plain(text(&|k, v| format!("unsigned long {k}: {}", short(v)))),
        [
            format!(
                "sys_enter_{name}: __syscall_nr={number:#x} ({number}){}",
                fields(&|k, v| format!(" {k}={v:#x} ({v})"))
            ),
            format!("sys_exit_{name}: __syscall_nr={number:#x} ({number}) ret={ret:#x} ({ret})"),
        ],
        [
            format!("sys_enter_{name}:       {}", text(&|k, v| format!("{k}: {v:#010x}"))),
            format!("sys_exit_{name}:        {ret:#x}"),
        ],
        [
            format!(
                "sys_enter_{name}:  __syscall_nr={number}{}",
                fields(&|k, v| format!(" {k}={v:#010x}"))
            ),
            format!("sys_exit_{name}:   __syscall_nr={number} ret={ret:#x}"),
        ],
        [
            format!(
                "sys_enter_{name}:  __syscall_nr={number}{}",
                fields(&|k, v| format!(" {k}={}", v as i64))
            ),
            format!("sys_exit_{name}:   __syscall_nr={number} ret={ret}"),
        ],
        [
            format!("sys_enter: NR {number} ({})", join(&registers, ", ", |v| format!("{v:x}"))),
            format!("sys_exit: NR {number} = {ret}"),
        ],
    ]
}

/// The columns that both formats fill, and what the model gets.
fn columns(log: &Log, row: usize) -> String {
    let rows = &log.parsed.rows;
    let number = |column, value: i64| log.has(row, column).then_some(value);
    let effect = rows.effect[row];
    let flags = match effect.op {
        // Of strace's text only those that matter are read.
        Op::Fork => {
            use clone_flags::{
                CLONE_FILES, CLONE_FS, CLONE_PARENT, CLONE_THREAD, CLONE_VFORK, CLONE_VM,
            };
            let shared = CLONE_VM | CLONE_FS | CLONE_FILES;
            effect.flags & (shared | CLONE_VFORK | CLONE_PARENT | CLONE_THREAD)
        }
        _ => effect.flags,
    };
    let process = matches!(effect.op, Op::OpenProcess | Op::Take).then_some(effect.at);
    format!(
        "{:?}",
        (
            (log.name(row), log.status(row), log.ret(row), log.errno(row)),
            (number(C::Fd, rows.fd[row].into()), number(C::Fd2, rows.fd2[row].into())),
            (number(C::Requested, rows.requested[row]), number(C::Bytes, rows.bytes[row])),
            (number(C::Offset, rows.offset[row]), number(C::Size, rows.size[row])),
            (effect.op, flags, effect.number, process, detail(log, row)),
            (effect.motion, effect.place, effect.place2),
        )
    )
}

/// The fact about the row that the columns have no room for. ftrace shows no message, so its rows
/// need not say so.
fn detail(log: &Log, row: usize) -> Option<&Detail> {
    let detail = log.parsed.side.details.get(log.parsed.rows.effect[row].detail as usize);
    detail.filter(|detail| !matches!(detail, Detail::UnseenMessage))
}

/// The row of a line of strace.
fn strace_row(line: &str) -> (Log, usize) {
    let text = format!("7 {line}\n").into_bytes();
    let format = strace::detect(&text).expect("a line of strace");
    let mut parsed = Parsed::default();
    strace::Grammar::default().parse(&format, &mut Block::from_text(&text), &mut parsed);
    let log = Log { text, parsed };
    let row = log.only();
    (log, row)
}

#[test]
fn every_form_of_every_call_is_one_row_with_straces_columns() {
    for &(line, spec, ret) in CASES {
        let (strace, row) = strace_row(line);
        let name = strace.name(row).expect("a name").to_owned();
        let expected = columns(&strace, row);
        let never = name == "exit_group";
        for [enter, exit] in forms(spec, &name, ret) {
            let log = if never { records(&[&enter]) } else { records(&[&enter, &exit]) };
            let row = log.only();
            assert_eq!(columns(&log, row), expected, "{line}\n{enter}");
            // What it acts on is known when it is entered.
            let head = log.parsed.entries.first().map(|entry| entry.head);
            let Some(head) = head else { continue };
            if head.op.uses() || head.op == Op::Close {
                assert_eq!(head.fd, log.fd(row), "{line}\n{enter}");
            }
            let effect = log.parsed.rows.effect[row];
            assert_eq!(head.motion, effect.motion, "{line}\n{enter}");
            let moves = |place, moves: bool| moves && place == At::Position;
            let first = effect.motion != Motion::None;
            let second = effect.motion == Motion::Copy;
            let moves = (moves(effect.place, first), moves(effect.place2, second));
            assert_eq!(head.moves, moves, "{line}\n{enter}");
        }
    }
}

#[test]
fn columns_are_not_all_empty() {
    // The test above compares; this one says that there is something to compare.
    let filled = |column| {
        CASES
            .iter()
            .filter(|(line, ..)| {
                let (log, row) = strace_row(line);
                log.has(row, column)
            })
            .count()
    };
    for (column, least) in [
        (C::Fd, 90),
        (C::Fd2, 12),
        (C::Requested, 25),
        (C::Bytes, 20),
        (C::Offset, 9),
        (C::Size, 4),
        (C::Errno, 9),
    ] {
        assert!(filled(column) >= least, "{column:?}: {}", filled(column));
    }
    let of = |says: &dyn Fn(&Log, usize) -> bool| {
        CASES
            .iter()
            .filter(|(line, ..)| {
                let (log, row) = strace_row(line);
                says(&log, row)
            })
            .count()
    };
    assert!(of(&|log, row| detail(log, row).is_some()) >= 9);
    assert!(of(&|log, row| log.parsed.rows.effect[row].motion != Motion::None) >= 25);
    assert!(of(&|log, row| log.parsed.rows.effect[row].place == At::Elsewhere) >= 3);
}

#[test]
fn data_of_writes_hide_no_argument() {
    for enter in [
        r#"sys_write(fd: 1, buf: 0x7f (2f:74:6d, ...) "/tm"..., count: 0x10)"#,
        r#"sys_write(fd: 1, buf: 0x7f (22:2c:20) "", ", count: 0x10)"#,
        r#"sys_write(unsigned int fd: 1, const char * buf: 0x7f (2f) "/", size_t count: 0x10)"#,
        r#"sys_write(fd: 1, buf: 0x7f (63) "x", count: 0x9", count: 0x10)"#,
        "sys_write(fd: 1, buf: 0x7f (00:01), count: 0x10)",
        "sys_enter_write: fd: 0x00000001, buf: 0x7f00 (ARRAY[2f, 74]), count: 0x00000010",
        "sys_enter_write: __syscall_nr=0x1 (1) fd=0x1 (1) buf=0x7f (127) count=0x10 (16) __buf_val=a count=0x9",
    ] {
        let exit =
            if enter.contains("enter") { "sys_exit_write: 0x10" } else { "sys_write -> 0x10" };
        let log = records(&[enter, exit]);
        let row = log.only();
        assert_eq!(log.fd(row), Some(1), "{enter}");
        assert_eq!(log.parsed.rows.requested[row], 16, "{enter}");
        assert!(!log.has(row, C::Path));
    }
}

#[test]
fn clone_flags_are_found_by_their_name() {
    // On s390 the new stack is the first argument.
    let log = records(&["sys_clone(newsp: 0x7f, clone_flags: 0x3d0f00)", "sys_clone -> 0x9"]);
    let effect = log.parsed.rows.effect[log.only()];
    assert_eq!((effect.op, effect.flags), (Op::Fork, 0x3d_0f00));
}
