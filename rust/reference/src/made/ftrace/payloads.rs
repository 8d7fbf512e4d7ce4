//! What happens, and how it is printed.

use crate::ftrace::Row;
use crate::made::ftrace::{Columns, Task, Tracer, columns, trim};
use crate::made::strace::Choices;

impl Tracer {
    pub(crate) fn put(
        &mut self,
        mut row: Row,
        kind: &'static str,
        name: &str,
        args: Option<&[u8]>,
    ) {
        row.kind = kind;
        row.name = (!name.is_empty()).then(|| name.as_bytes().to_vec());
        row.args = args.map(<[u8]>::to_vec);
        self.made.rows.push(row);
    }

    /// Half of a system call, whose row depends on the other.
    pub(crate) fn call(&mut self, choices: &mut Choices<'_>, task: Task) {
        let name =
            choices.pick(&["read", "close", "openat", "vfork", "write", "exit_group", "lseek"]);
        let report = matches!(self.columns, Columns::Report { .. } | Columns::ReportLatency);
        let hex = if self.generation == 0 { "" } else { "0x" };
        let args = match (name, report) {
            ("read", false) => format!("fd: 3, buf: {hex}7f6f574a2000, count: {hex}340"),
            ("read", true) => "fd: 0x00000003, buf: 0x7f6f574a2000, count: 0x00000340".to_owned(),
            ("write", _) if self.generation == 2 => {
                "fd: 0x1, buf: 0x7f (2f:74:6d, ...) \"a) -> 0x1\"..., count: 0x20".to_owned()
            }
            ("write", _) => format!("fd: 1, buf: {hex}7f, count: {hex}20"),
            ("close", _) => format!("fd: {hex}{}", choices.pick(&["3", "ff", "ffffffff"])),
            ("openat", false) if self.generation == 2 => {
                "dfd: 18446744073709551516, filename: 1407 \"/a \"b)\", flags: O_RDONLY|O_CLOEXEC"
                    .to_owned()
            }
            ("openat", _) => format!(
                "dfd: {hex}ffffff9c, filename: {hex}7fff84ce9440, flags: {hex}80000, mode: 0"
            ),
            ("lseek", _) => format!("fd: {hex}ff, offset: {hex}fffffffffffffb5b, whence: 1"),
            ("exit_group", _) => "error_code: 0".to_owned(),
            _ => String::new(),
        };
        let payload = if choices.byte().is_multiple_of(2) {
            if report {
                format!("{:<20} {args}", format!("sys_enter_{name}:"))
            } else {
                format!("sys_{name}({args})")
            }
        } else {
            let value = choices.pick(&[
                "0x0",
                "0x3",
                "0x340",
                "0x7f6f574a2000",
                "0xfffffffffffffffe",
                "0xfffffffffffffe00",
                "0xfffffffffffffdf4",
                "0xfffffffffffff001",
                "0xfffffffffffff000",
                "0xffffffffffffffff",
                "0x8000000000000000",
            ]);
            if report {
                format!("{:<20} {value}", format!("sys_exit_{name}:"))
            } else {
                format!("sys_{name} -> {value}")
            }
        };
        let mut row = self.record(choices, task, payload.as_bytes());
        // What the line alone shows, without the task of the row.
        row.kind = "syscall";
        row.line = 0;
        drop(row);
    }

    /// Without columns every line is a record.
    pub(crate) fn plain(&self, text: &'static [u8]) -> &'static [u8] {
        let like = text.contains(&b'\n') || text.windows(8).any(|part| part == b"-1 [000]");
        if self.columns == Columns::NoContext && like { b"plain" } else { text }
    }

    pub(crate) fn event(&mut self, choices: &mut Choices<'_>, task: Task) {
        let (name, args): (&str, &[u8]) = choices.pick(&[
            ("sched_switch", b"prev_comm=a b prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=c next_pid=9 next_prio=120"),
            ("task_rename", b"pid=1541 oldcomm=python3.11 newcomm=new\nline oom_score_adj=0"),
            ("sched_process_exec", b"filename=/a b\n\nc pid=7 old_pid=8 pid=7 old_pid=7"),
            ("xcmd", b"(0x55c9b3acfa50) a1=0x55c9e1bacab0 s=(fault) arg4=\"ba\"sh\""),
            ("block_rq_issue", b"254,0 RA 4096 () 18357344 + 8 [dd]"),
            ("foo", b""),
            ("", b"type: 839"),
            ("", b"[FAILED TO PARSE] a=1 b=2"),
            ("wakeup", b"0:120:R   + [000]   29050:  0:R cyclictest"),
            ("blk", b"254,0    Q  RA 29947752 + 16 [dd]"),
            ("mm_filemap_fault", b"dev=254:0 ino=3f808 ofs=0"),
            ("func.isra.0", b"hello -> world: 1"),
            ("irq_handler_entry", b"irq=4 name=x-1 [000] 1.000000: y"),
        ]);
        let args = self.plain(args);
        let unknown = name.is_empty() && self.columns == Columns::NoContext;
        let (name, args) = if unknown { ("foo", &b"x=1"[..]) } else { (name, args) };
        let report = matches!(self.columns, Columns::Report { .. } | Columns::ReportLatency);
        let mut text = Vec::new();
        if !name.is_empty() && !matches!(name, "blk" | "wakeup") {
            text = format!("{name}: ").into_bytes();
            if report {
                text = format!("{:<20} ", format!("{name}:")).into_bytes();
            }
        }
        text.extend_from_slice(args);
        let row = self.record(choices, task, &text);
        self.put(row, "event", name, Some(args));
    }

    pub(crate) fn marker(&mut self, choices: &mut Choices<'_>, task: Task) {
        let text: &[u8] = choices.pick(&[
            b"plain",
            b"B|1234|my slice | name",
            b"multi\nline\nmarker",
            b"",
            b"two\n",
            b"\n\nlate",
            b"a\n => frame",
            b"a\n# no comment",
            b"fake-1 [000] ..... 1.000000: sys_read -> 0x1",
            b"   lead: key=val ",
            b"caf\xc3\xa9 \xff\xfe",
            b"hexdump\n0000 a1 b2 c3\n0010 d4",
            b"x\nsys_read -> 0x1",
        ]);
        let text = self.plain(text);
        let report = matches!(self.columns, Columns::Report { .. } | Columns::ReportLatency);
        let (name, before) = if report {
            choices.pick(&[
                ("tracing_mark_write", "print:                tracing_mark_write: "),
                ("print", "print:                "),
                ("bprint", "bprint:               "),
                ("bputs", "bputs:                "),
            ])
        } else {
            choices.pick(&[
                ("tracing_mark_write", "tracing_mark_write: "),
                ("tracing_mark_write", "0: "),
            ])
        };
        let payload = [before.as_bytes(), text].concat();
        let row = self.record(choices, task, &payload);
        // A call is one wherever it is.
        let shown = String::from_utf8_lossy(text);
        let certain = !shown.contains("\nsys_");
        if certain {
            let text: &[u8] = match text {
                b"two\n" => b"two",
                // Blanks align it.
                _ if report && name != "tracing_mark_write" => trim(text),
                _ => text,
            };
            self.put(row, "marker", name, Some(text));
        }
    }

    /// A NUL in the text removes the line feed after it.
    pub(crate) fn nul(&mut self, choices: &mut Choices<'_>, task: Task) {
        if self.mixed || !matches!(self.columns, Columns::Trace { .. } | Columns::Latency) {
            return self.marker(choices, task);
        }
        let text = choices.pick(&["nul", "", "a b-1 [0] 7: x ", "    "]);
        // A name with a line feed would be one of two lines.
        let comm = if task.comm.contains(&b'\n') { b"one" } else { task.comm };
        let [task, other] = [comm, b"other"].map(|comm| Task { comm, ..task });
        let row = self.record(choices, task, format!("tracing_mark_write: {text}").as_bytes());
        self.put(row, "marker", "tracing_mark_write", Some(text.as_bytes()));
        self.made.text.pop();
        if choices.rarely() {
            let row = self.record(choices, other, b"sched_process_exit: comm=x");
            self.put(row, "event", "sched_process_exit", Some(b"comm=x"));
        } else {
            self.call(choices, other);
        }
    }

    pub(crate) fn function(&mut self, choices: &mut Choices<'_>, task: Task) {
        let (name, args): (&str, &str) = choices.pick(&[
            ("schedule", "<-do_idle"),
            ("schedule", "+0x0/0x10 <-do_idle+0x23/0x40"),
            ("vfs_read", "(file=0xffff8881, buf=0x7f, count=3) <-ksys_read"),
            ("ext4_get", "[ext4] <-mb_find [ext4]"),
            ("f.isra.0", "<-g (repeats: 3, last_ts: 00001.22)"),
        ]);
        let gap = if args.starts_with(['<', '[']) { " " } else { "" };
        let row = self.record(choices, task, format!("{name}{gap}{args}").as_bytes());
        self.put(row, "function", name, Some(args.as_bytes()));
    }

    pub(crate) fn stack(&mut self, choices: &mut Choices<'_>, task: Task) {
        let (name, text) = choices
            .pick(&[("kernel_stack", "<stack trace>"), ("user_stack", "<user stack trace>")]);
        let mut row = self.record(choices, task, text.as_bytes());
        let mut extra = row.extra.take().unwrap_or_default();
        for _ in 0..choices.below(4) {
            let frame = choices.pick(&[
                " => schedule+0x23/0xa0",
                " => trace_event <ffffffff813a02c5>",
                " =>  <00007fb1db0c8bd3>",
                " => /lib/libc.so.6[+0xadbd3] <00007f>",
                "=> old",
            ]);
            self.line(frame.as_bytes());
            if !extra.is_empty() {
                extra.push(b'\n');
            }
            extra.extend_from_slice(frame.as_bytes());
        }
        row.extra = (!extra.is_empty()).then_some(extra);
        // Blank lines separate the records of this layout.
        if self.columns != Columns::Hex {
            self.put(row, "event", name, Some(b""));
        }
    }

    pub(crate) fn lost(&mut self, choices: &mut Choices<'_>) {
        let (text, cpu, count) = choices.pick(&[
            ("CPU:0 [LOST 104 EVENTS]", Some(0), Some(104)),
            ("CPU:1 [LOST EVENTS]", Some(1), None),
            ("CPU:3 [1704389 EVENTS DROPPED]", Some(3), Some(1_704_389)),
            ("CPU:1023 [EVENTS DROPPED]", Some(1023), None),
            ("foo: CPU:0 [5 EVENTS DROPPED]", Some(0), Some(5)),
            ("MARK 0.000000 Lost 7 events.", None, Some(7)),
        ]);
        let row = Row { line: self.number(), cpu, ret: count, ..Row::default() };
        self.line(text.as_bytes());
        self.put(row, "lost", "lost", Some(text.as_bytes()));
    }

    /// A piece of a line.
    pub(crate) fn broken(&mut self, choices: &mut Choices<'_>, task: Task) {
        let from = self.made.text.len();
        // A name that is cut is another one with what happens to come before it.
        let odd = task.comm.iter().any(|b| b"\n:".contains(b));
        let task = if odd { Task { comm: b"cut", ..task } } else { task };
        let payload = choices.pick(&[
            "sys_close(fd: 3)",
            "sys_close -> 0xfffffffffffffff7",
            "sys_exit_close:      0xfffffffffffffff7",
            "sched_wakeup: comm=a pid=7 prio=120",
            "tracing_mark_write: B|7|x",
            "f <-g",
            "<stack trace>",
        ]);
        // A piece of a record leaves the stacks before it where they are.
        let before = self.stacks_since_record.get(&task.tid).copied().unwrap_or(0);
        let payload = if before > 1 { "f <-g" } else { payload };
        self.record(choices, task, payload.as_bytes());
        let stacks = self.stacks_since_record.entry(task.tid).or_default();
        *stacks = before.max(*stacks);
        let line = self.made.text.split_off(from);
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let at = choices.below(line.len() + 1);
        // The right part of one may be taken for that of a name with a line feed, or for a name
        // that is shorter than its column.
        let piece =
            if from > 0 || self.columns == Columns::Verbose { &line[..at] } else { &line[at..] };
        self.line(piece);
    }

    pub(crate) fn blk(&mut self, choices: &mut Choices<'_>, task: Task) {
        let line = self.number();
        let rest = choices.pick(&["  Q  RA 29947752 + 16 [dd]", "  P   N [dd]", "  U   N [dd] 1"]);
        let (sec, sub) = (self.now / 1_000_000_000, self.now % 1_000_000_000);
        let text = format!("{:3},{:<3} {:2} {sec:5}.{sub:09} {:5}{rest}", 254, 0, 1, task.tid);
        self.line(text.as_bytes());
        let row = Row {
            line,
            tid: Some(task.tid),
            cpu: Some(1),
            ts: Some(self.now),
            kind: "event",
            name: Some(b"blk".to_vec()),
            ..Row::default()
        };
        self.made.rows.push(row);
        if self.mixed && choices.rarely() {
            self.columns = columns(choices, true);
        }
    }
}
