//! Blocks of real lines, read back as rows.

mod calls_in_both_formats;
mod forms_of_calls;
mod machines;
mod near_records;
mod paths;
mod payload_cache;
mod properties;

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::rows::AT_FDCWD;
use crate::events::schema::Column as C;
use crate::events::split_calls::Deferred;
use crate::events::vocabulary::{EventKind, FileType, Op, Status, clone_flags, open_flags};
use crate::ftrace::{Format, Grammar, SyscallAbi, detect};
use crate::text::block::Block;
use crate::text::string_view::unpack;

/// A block and what was made of it.
struct Log {
    text: Vec<u8>,
    parsed: Parsed,
}

fn parse_as(text: &[u8], format: Format) -> Log {
    parse_block(text, format, true)
}

fn parse_block(text: &[u8], format: Format, last: bool) -> Log {
    let mut block = Block::from_text(text);
    block.last = last;
    let mut parsed = Parsed::default();
    Grammar::default().parse(&format, &mut block, &mut parsed);
    Log { text: text.to_vec(), parsed }
}

fn parse(text: &str) -> Log {
    let format = detect(text.as_bytes()).unwrap_or_default();
    parse_as(text.as_bytes(), format)
}

/// Records of task 7, a microsecond apart.
fn records(payloads: &[&str]) -> Log {
    let lines: Vec<String> = payloads
        .iter()
        .enumerate()
        .map(|(i, p)| format!("             cat-7       [001] .....     1.{i:06}: {p}\n"))
        .collect();
    parse(&lines.concat())
}

impl Log {
    fn rows(&self) -> Vec<usize> {
        self.parsed.runs().into_iter().flatten().collect()
    }

    /// The only row.
    fn only(&self) -> usize {
        let rows = self.rows();
        assert_eq!(rows.len(), 1, "{:?}", rows.iter().map(|&r| self.show(r)).collect::<Vec<_>>());
        rows[0]
    }

    fn has(&self, row: usize, column: C) -> bool {
        self.parsed.rows.has(row, column)
    }

    fn name(&self, row: usize) -> Option<&str> {
        let rows = &self.parsed.rows;
        self.has(row, C::Name).then(|| &*self.parsed.names[rows.name[row] as usize])
    }

    fn comm(&self, row: usize) -> &str {
        &self.parsed.comms[self.parsed.rows.comm[row] as usize]
    }

    fn errno(&self, row: usize) -> Option<&str> {
        let rows = &self.parsed.rows;
        self.has(row, C::Errno).then(|| &*self.parsed.errnos[rows.errno[row] as usize])
    }

    fn string(&self, row: usize, column: C, view: u128) -> Option<String> {
        let bytes = unpack(&view, &self.text, &self.parsed.side.bytes).to_vec();
        self.has(row, column).then(|| String::from_utf8(bytes).expect("UTF-8"))
    }

    fn args(&self, row: usize) -> String {
        self.string(row, C::Args, self.parsed.rows.args[row]).unwrap_or_default()
    }

    fn path(&self, row: usize) -> Option<String> {
        self.string(row, C::Path, self.parsed.rows.path[row])
    }

    fn extra(&self, row: usize) -> Option<String> {
        self.string(row, C::Extra, self.parsed.rows.extra[row])
    }

    fn ret(&self, row: usize) -> Option<i64> {
        self.has(row, C::Ret).then(|| self.parsed.rows.ret[row])
    }

    fn kind(&self, row: usize) -> &str {
        EventKind::TEXTS[usize::from(self.parsed.rows.kind[row])]
    }

    fn status(&self, row: usize) -> &str {
        if self.has(row, C::Status) {
            Status::TEXTS[usize::from(self.parsed.rows.status[row])]
        } else {
            ""
        }
    }

    fn fd(&self, row: usize) -> Option<i32> {
        self.has(row, C::Fd).then(|| self.parsed.rows.fd[row])
    }

    /// All that a row holds, to compare rows of different blocks.
    fn show(&self, row: usize) -> String {
        let rows = &self.parsed.rows;
        let number = |column, value: i64| self.has(row, column).then_some(value);
        format!(
            "{:?}",
            (
                (self.kind(row), self.name(row), self.args(row), self.status(row)),
                (self.ret(row), self.errno(row), self.fd(row), self.path(row), self.extra(row)),
                (number(C::Ts, rows.ts[row]), number(C::DurNs, rows.dur[row])),
                (number(C::Fd2, i64::from(rows.fd2[row])), number(C::Offset, rows.offset[row])),
                (number(C::Requested, rows.requested[row]), number(C::Bytes, rows.bytes[row])),
                (number(C::File, rows.file[row] as i64), number(C::Size, rows.size[row])),
                (rows.effect[row].op, rows.effect[row].flags, rows.effect[row].at),
                self.string(row, C::Path2, rows.path2[row]),
            )
        )
    }
}

#[test]
fn a_call_is_one_row() {
    let log = parse(
        "         python3-25122   (  25120) [000] d....   912.451831: sys_read(fd: 3, buf: 0x7f, count: 0x340)\n         python3-25122   (  25120) [001] .....   912.451838: sys_read -> 0x33\n",
    );
    let row = log.only();
    let rows = &log.parsed.rows;
    assert_eq!(
        (log.kind(row), log.name(row), log.status(row)),
        ("syscall", Some("read"), "complete")
    );
    assert_eq!(log.args(row), "fd: 3, buf: 0x7f, count: 0x340");
    assert_eq!((rows.ts[row], rows.dur[row]), (912_451_831_000, 7000));
    assert_eq!((rows.tid[row], rows.pid[row], rows.cpu[row]), (25122, 25120, 0));
    assert_eq!((log.comm(row), log.ret(row), log.fd(row)), ("python3", Some(0x33), Some(3)));
    assert_eq!((rows.requested[row], rows.bytes[row], rows.line[row]), (0x340, 0x33, 0));
    assert_eq!(log.extra(row).as_deref(), Some("d...."));
    let counts = log.parsed.counts;
    assert_eq!(
        (counts.lines(LineUse::Events), counts.lines(LineUse::Resumed), counts.total()),
        (1, 1, 2)
    );
    assert!(rows.effect[row].begun);
    assert_eq!(log.parsed.entries.len(), 1);
}

#[test]
fn numbers_are_hexadecimal_in_every_generation() {
    for args in [
        "fd: 1f, buf: 7ffc5, count: 310, pos: 40",
        "fd: 0x1f, buf: 0x7ffc5, count: 0x310, pos: 0x40",
        "unsigned int fd: 0x1f, char * buf: 0x7ffc5, size_t count: 0x310, loff_t pos: 0x40",
        "fd: 0x1f, buf: 0x7ffc5 (41:2c, ...) \"A, count: 0x1\"..., count: 0x310, pos: 0x40",
    ] {
        let log = records(&[&format!("sys_pread64({args})"), "sys_pread64 -> 0x310"]);
        let row = log.only();
        let rows = &log.parsed.rows;
        assert_eq!(log.fd(row), Some(31), "{args}");
        assert_eq!((rows.requested[row], rows.offset[row], rows.bytes[row]), (784, 64, 784));
    }
}

#[test]
fn every_form_of_a_call() {
    for (enter, exit) in [
        ("sys_dup2(oldfd: 0xb, newfd: 1)", "sys_dup2 -> 0x1"),
        ("sys_enter_dup2:       oldfd: 0x0000000b, newfd: 0x00000001", "sys_exit_dup2:        0x1"),
        ("(+18)    sys_enter_dup2:  oldfd: 0x0b, newfd: 0x01", "(+1)     sys_exit_dup2:   0x1"),
        (
            "sys_enter_dup2: __syscall_nr=0x21 (33) oldfd=0xb (11) newfd=0x1 (1)",
            "sys_exit_dup2: __syscall_nr=0x21 (33) ret=0x1 (1)",
        ),
        ("sys_enter: NR 33 (b, 1, 5651394359bc, 0, 7, b)", "sys_exit: NR 33 = 1"),
    ] {
        let log = records(&[enter, exit]);
        let row = log.only();
        assert_eq!(
            (log.name(row), log.ret(row), log.fd(row)),
            (Some("dup2"), Some(1), Some(11)),
            "{enter}"
        );
        assert_eq!(log.parsed.rows.fd2[row], 1);
        assert_eq!(log.parsed.rows.effect[row].op, Op::Dup);
    }
}

#[test]
fn names_are_those_of_strace() {
    for (kernel, name) in [
        ("newstat", "stat"),
        ("newfstatat", "newfstatat"),
        ("sendfile64", "sendfile"),
        ("umount", "umount2"),
    ] {
        let log = records(&[&format!("sys_{kernel}()"), &format!("sys_{kernel} -> 0x0")]);
        assert_eq!(log.name(log.only()), Some(name));
    }
}

#[test]
fn errors_and_restarts() {
    let log = records(&["sys_access(filename: 0x1, mode: 1)", "sys_access -> 0xfffffffffffffffe"]);
    let row = log.only();
    assert_eq!(
        (log.ret(row), log.errno(row), log.status(row)),
        (Some(-1), Some("ENOENT"), "complete")
    );
    let log = records(&["sys_pause()", "sys_pause -> 0xfffffffffffffdfe"]);
    let row = log.only();
    assert_eq!((log.ret(row), log.errno(row)), (None, Some("ERESTARTNOHAND")));
    assert_eq!(log.status(row), "interrupted");
    let log = records(&["sys_enter: NR 0 (3, 7ffc, 10, 0, 0, 0)", "sys_exit: NR 0 = -11"]);
    let row = log.only();
    assert_eq!((log.ret(row), log.errno(row)), (Some(-1), Some("EAGAIN")));
    assert!(!log.has(row, C::Bytes));
    // An error that has no name has its number; addresses are no errors.
    let log = records(&["sys_ioctl(fd: 3)", "sys_ioctl -> 0xfffffffffffff001"]);
    assert_eq!((log.ret(log.only()), log.errno(log.only())), (Some(-1), Some("ERRNO_4095")));
    let log = records(&["sys_brk(brk: 0)", "sys_brk -> 0x561b893ac000"]);
    assert_eq!(log.ret(log.only()), Some(0x561b_893a_c000));
}

#[test]
fn halves_without_the_other() {
    // The block does not know what the task did before it.
    let log = records(&["sys_read -> 0x5"]);
    let row = log.rows()[0];
    assert_eq!(log.parsed.counts.total(), 0);
    assert!(matches!(
        log.parsed.deferred[..],
        [Deferred::Resume { tid: Some(7), row: 0, lost: Some(_), .. }]
    ));
    assert_eq!(log.name(row), Some("read"));
    // After another call it does.
    let log = records(&["sys_dup(fildes: 3)", "sys_dup -> 0x4", "sys_clone -> 0x0"]);
    let row = log.rows()[1];
    assert_eq!(
        (log.status(row), log.name(row), log.ret(row)),
        ("headless", Some("clone"), Some(0))
    );
    assert_eq!(log.parsed.rows.ts[row], 1_000_002_000);
    assert_eq!(log.parsed.rows.effect[row].op, Op::None);
    assert!(!log.has(row, C::DurNs));
    // The next call displaces one whose exit was lost.
    let log =
        records(&["sys_read(fd: 3, buf: 0, count: 1)", "sys_write(fd: 4)", "sys_write -> 0x1"]);
    let rows = log.rows();
    assert_eq!((log.name(rows[0]), log.status(rows[0])), (Some("read"), "unfinished"));
    assert_eq!((log.name(rows[1]), log.status(rows[1])), (Some("write"), "complete"));
    assert_eq!(log.fd(rows[0]), Some(3));
    // An exit of another call is not its end.
    let log = records(&["sys_read(fd: 3, buf: 0, count: 1)", "sys_write -> 0x1"]);
    let rows = log.rows();
    assert_eq!(
        (log.name(rows[0]), log.status(rows[0]), log.ret(rows[0])),
        (Some("read"), "unfinished", None)
    );
    assert_eq!(
        (log.name(rows[1]), log.status(rows[1]), log.ret(rows[1])),
        (Some("write"), "headless", Some(1))
    );
    // Left open at the end of the block.
    let log = records(&["sys_read(fd: 3, buf: 0, count: 1)"]);
    assert!(log.rows().is_empty());
    assert!(matches!(log.parsed.deferred.last(), Some(Deferred::Open { tid: Some(7), .. })));
}

#[test]
fn calls_that_never_return() {
    let log = records(&["sys_exit_group(error_code: 0)"]);
    let row = log.only();
    assert_eq!(
        (log.name(row), log.status(row), log.ret(row)),
        (Some("exit_group"), "complete", None)
    );
    let effect = log.parsed.rows.effect[row];
    assert_eq!((effect.op, effect.flags), (Op::ExitCall, 1));
    let log = records(&["sys_exit(error_code: 0)", "sys_rt_sigreturn()"]);
    assert_eq!(log.rows().len(), 2);
    // The raw exit of rt_sigreturn has lost its number.
    let log = records(&["sys_enter: NR 15 (0, 0, 0, 0, 0, 0)", "sys_exit: NR -1 = 0"]);
    let rows = log.rows();
    assert_eq!((log.kind(rows[0]), log.name(rows[0])), ("syscall", Some("rt_sigreturn")));
    assert_eq!((log.kind(rows[1]), log.name(rows[1])), ("event", Some("sys_exit")));
}

#[test]
fn the_end_of_a_task() {
    let log = records(&["sched_process_exit: comm=a pid=9 b pid=7 prio=120 group_dead=true"]);
    let row = log.only();
    assert_eq!((log.kind(row), log.name(row)), ("event", Some("sched_process_exit")));
    assert_eq!(log.parsed.rows.effect[row].op, Op::Gone);
    let log = records(&["sched_process_exit: comm=cat pid=0x7 (7) prio=0x78 (120)"]);
    assert_eq!(log.parsed.rows.effect[log.only()].op, Op::Gone);
    let log = records(&["sys_read(fd: 3)", "sched_process_exit: comm=cat pid=7 prio=120"]);
    assert_eq!(log.status(log.rows()[0]), "unfinished");
}

#[test]
fn descriptors_and_flags_of_single_calls() {
    let call = |enter: &str, ret: &str| {
        let name = enter.split('(').next().expect("a name");
        let log = records(&[&format!("sys_{enter}"), &format!("sys_{name} -> {ret}")]);
        let row = log.only();
        (log.parsed.rows.effect[row], log.fd(row), log.show(row), log)
    };
    let (effect, fd, ..) =
        call("openat(dfd: 0xffffff9c, filename: 0x14e2, flags: 0x80000, mode: 0)", "0x3");
    assert_eq!((effect.op, effect.flags, fd), (Op::Open, open_flags::CLOEXEC, Some(3)));
    let (_, fd, ..) =
        call("openat(dfd: 0xffffff9c, filename: 0x14e2, flags: 0)", "0xfffffffffffffffe");
    assert_eq!(fd, None);
    let (effect, ..) = call("clone(clone_flags: 0x3d0f00, newsp: 0x7f)", "0x622");
    assert_eq!(effect.op, Op::Fork);
    assert_ne!(effect.flags & clone_flags::CLONE_THREAD, 0);
    let (effect, ..) = call("clone3(uargs: 0x7ffc00000100, size: 0x58)", "0x622");
    assert_eq!((effect.op, effect.flags), (Op::Fork, clone_flags::UNSHOWN));
    let (effect, ..) = call("vfork()", "0x622");
    assert_eq!(effect.flags, clone_flags::CLONE_VM | clone_flags::CLONE_VFORK);
    let (effect, fd, _, log) = call("fcntl(fd: 8, cmd: 0x406, arg: 3)", "0x9");
    assert_eq!((effect.op, effect.flags, fd), (Op::Dup, open_flags::CLOEXEC, Some(8)));
    assert_eq!(log.parsed.rows.fd2[log.only()], 9);
    let (effect, ..) = call("fcntl(fd: 8, cmd: 1, arg: 0)", "0x1");
    assert_eq!(effect.op, Op::Use);
    let (_, fd, _, log) =
        call("mmap(addr: 0, len: 0x8000, prot: 3, flags: 0x22, fd: 0xffffffff, off: 0)", "0x7f");
    assert_eq!((fd, log.parsed.rows.requested[log.only()]), (Some(-1), 0x8000));
    let (_, fd, _, log) =
        call("sendfile64(out_fd: 5, in_fd: 0xa, offset: 0x7ffc, count: 0x10)", "0x10");
    assert_eq!((fd, log.parsed.rows.fd2[log.only()]), (Some(10), 5));
    assert!(!log.has(log.only(), C::Offset));
    let (_, fd, _, log) = call("lseek(fd: 0xff, offset: 0, whence: 2)", "0x479");
    assert_eq!((fd, log.parsed.rows.size[log.only()]), (Some(255), 0x479));
    let (effect, fd, ..) =
        call("newfstatat(dfd: 8, filename: 0x55, statbuf: 0x1, flag: 0x1000)", "0x0");
    assert_eq!((effect.op, fd), (Op::Use, Some(8)));
    let (effect, fd, ..) =
        call("newfstatat(dfd: 8, filename: 0x55, statbuf: 0x1, flag: 0x100)", "0x0");
    assert_eq!((effect.op, fd), (Op::Path, None));
    let (effect, fd, ..) = call("pipe2(fildes: 0x7ffc, flags: 0x80000)", "0x0");
    assert_eq!(effect.flags, FileType::Pipe as u32 | open_flags::TYPED | open_flags::CLOEXEC);
    assert_eq!(fd, None);
    let (effect, _, _, log) = call("close_range(fd: 3, max_fd: 0xffffffff, flags: 4)", "0x0");
    assert_eq!((effect.flags, log.parsed.rows.fd2[log.only()]), (open_flags::CLOEXEC, i32::MAX));
}

#[test]
fn paths_that_the_kernel_prints() {
    let open = |args: &str| {
        let log = records(&[&format!("sys_openat({args})"), "sys_openat -> 0x3"]);
        let row = log.only();
        (log.path(row), log.parsed.rows.effect[row], log.has(row, C::File))
    };
    let (path, effect, file) = open(
        "dfd: 18446744073709551516, filename: 140737 \"/srv/a \"b\", c\", flags: O_RDONLY|O_CLOEXEC",
    );
    assert_eq!(path.as_deref(), Some("/srv/a \"b\", c"));
    assert_eq!((effect.at, effect.relative, file), (AT_FDCWD, false, true));
    assert_eq!(effect.flags, open_flags::CLOEXEC);
    let (path, effect, file) =
        open("dfd: 12, filename: 140737 \"x\", flags: O_DIRECTORY, mode: 0644");
    assert_eq!((path.as_deref(), effect.at, effect.relative, file), (Some("x"), 12, true, false));
    assert_eq!(effect.flags, FileType::Directory as u32 | open_flags::TYPED);
    let (path, effect, _) = open("dfd: 0x12, filename: 0x7f \"x\", flags: 0x80000");
    assert_eq!((path.as_deref(), effect.at), (Some("x"), 18));
    // A name that was cut is shown as such and identifies nothing.
    let (path, _, file) = open("dfd: 0x12, filename: 0x7f \"/a/long\"..., flags: 0x80000");
    assert_eq!((path.as_deref(), file), (Some("/a/long..."), false));
    let log =
        records(&["sys_rename(oldname: 0x1 \"/a\", newname: 0x2 \"b\")", "sys_rename -> 0x0"]);
    let row = log.only();
    assert_eq!(log.path(row).as_deref(), Some("/a"));
    assert_eq!(log.string(row, C::Path2, log.parsed.rows.path2[row]).as_deref(), Some("b"));
    assert!(log.parsed.rows.effect[row].relative2);
}

#[test]
fn clocks_that_do_not_count_seconds() {
    let log = parse(
        "             cat-2261    [001] .....            6: sys_read(fd: 3)\n             cat-2261    [001] .....            7: sys_read -> 0x340\n",
    );
    let row = log.only();
    assert_eq!((log.parsed.rows.ts[row], log.has(row, C::DurNs)), (6, false));
    // Processors may disagree.
    let log = parse(
        "             cat-2261    [001] .....     1.000009: sys_read(fd: 3)\n             cat-2261    [000] .....     1.000008: sys_read -> 0x340\n",
    );
    assert!(!log.has(log.only(), C::DurNs));
}

#[test]
fn raw_calls_beside_named_ones_are_events() {
    let log = records(&[
        "sys_enter: NR 3 (5, 0, 0, 0, 0, 0)",
        "sys_close(fd: 5)",
        "sys_exit: NR 3 = 0",
        "sys_close -> 0x0",
    ]);
    let kinds: Vec<_> = log.rows().iter().map(|&row| (log.kind(row), log.name(row))).collect();
    assert_eq!(
        kinds,
        [("event", Some("sys_enter")), ("event", Some("sys_exit")), ("syscall", Some("close"))]
    );
    assert_eq!(log.args(log.rows()[0]), "NR 3 (5, 0, 0, 0, 0, 0)");
    let calls = SyscallAbi { machine: None, ..SyscallAbi::default() };
    let format = Format { abi: calls, ..Format::default() };
    let text = b"  a-7 [001] .....     1.000009: sys_enter: NR 435 (1, 0, 0, 0, 0, 0)\n  a-7 [001] .....     1.000010: sys_exit: NR 435 = 0\n";
    let log = parse_as(text, format);
    assert_eq!(log.name(log.only()), Some("syscall_0x1b3"));
}

#[test]
fn markers_functions_and_lost_records() {
    let log = records(&[
        "tracing_mark_write: B|1|x",
        "_raw_spin_lock <-__schedule",
        "254,0    Q  RA 29947752 + 16 [dd]",
    ]);
    let rows: Vec<_> =
        log.rows().iter().map(|&row| (log.kind(row), log.name(row), log.args(row))).collect();
    assert_eq!(rows[0], ("marker", Some("tracing_mark_write"), "B|1|x".into()));
    assert_eq!(rows[1], ("function", Some("_raw_spin_lock"), "<-__schedule".into()));
    assert_eq!(rows[2], ("event", Some("blk"), "254,0    Q  RA 29947752 + 16 [dd]".into()));
    let log = parse("CPU:1 [LOST 104 EVENTS]\nCPU:0 [LOST EVENTS]\n");
    let rows = log.rows();
    assert_eq!(
        (log.kind(rows[0]), log.name(rows[0]), log.ret(rows[0])),
        ("lost", Some("lost"), Some(104))
    );
    assert_eq!(log.parsed.rows.cpu[rows[0]], 1);
    assert_eq!((log.args(rows[1]).as_str(), log.ret(rows[1])), ("CPU:0 [LOST EVENTS]", None));
}

#[test]
fn frames_belong_to_the_record_before() {
    let log = parse(concat!(
        "            bash-7       [001] d..2.  2924.355889: <stack trace>\n",
        " => schedule+0x23/0xa0\n",
        " => do_wait+0x53/0x120\n",
        "            bash-7       [001] .....  2924.355890: <user stack trace>\n",
        " =>  <00007fb1db0c8bd3>\n",
    ));
    let rows = log.rows();
    assert_eq!(log.name(rows[0]), Some("kernel_stack"));
    let frames = "d..2.\n => schedule+0x23/0xa0\n => do_wait+0x53/0x120";
    assert_eq!(log.extra(rows[0]).as_deref(), Some(frames));
    assert_eq!(log.extra(rows[1]).as_deref(), Some(" =>  <00007fb1db0c8bd3>"));
    assert_eq!(
        (log.parsed.counts.lines(LineUse::Continuation), log.parsed.counts.lines(LineUse::Events)),
        (3, 2)
    );
    // Without an owner a frame is text.
    let log = parse_as(b" => schedule\n", Format::default());
    assert_eq!(log.kind(log.only()), "unparsed");
}

#[test]
fn every_line_has_one_use() {
    let log = parse(concat!(
        "# tracer: nop\n#\n\n##### CPU 0 buffer started ####\ncpus=2\n",
        "            bash-7       [001] .....  2924.355889: a: b\r\n",
        "prose\nversion = 6\n",
        "            bash-7       [001] .....  2924.3558"
    ));
    let counts = log.parsed.counts;
    assert_eq!(
        [LineUse::Header, LineUse::Blank, LineUse::Events, LineUse::Unparsed]
            .map(|used| counts.lines(used)),
        [5, 1, 1, 1]
    );
    assert_eq!(counts.lines(LineUse::Continuation), 1);
    assert_eq!(log.parsed.examples[0].text, "            bash-7       [001] .....  2924.3558");
    assert_eq!(log.args(log.rows()[0]), "b\r\nprose");
}

#[test]
fn bytes_that_are_not_utf_8() {
    let text = b"        \xff\xfebad-1544    [001] .....  2999.962368: tracing_mark_write: caf\xc3\xa9 \xff\n";
    let log = parse_as(text, Format::default());
    let row = log.only();
    assert_eq!((log.comm(row), log.args(row).as_str()), ("\\xff\\xfebad", "caf\u{e9} \\xff"));
}
