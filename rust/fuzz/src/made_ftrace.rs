//! Logs of ftrace as kernel and trace-cmd could have printed them, every choice of which a byte
//! makes, and what was put into each record.

use std::collections::HashMap;

use super::made::Choices;
use super::reference_ftrace::Row;

/// How records begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// tracefs, and what it adds: thread groups, flags of one width or another.
    Trace { tgid: bool, flags: &'static str },
    /// trace-cmd report, with `file: ` before some lines, times of nine digits, differences.
    Report { prefix: bool, nanos: bool, difference: bool },
    /// Processor and flags together, microseconds since the start.
    Latency,
    /// The same of trace-cmd, in seconds.
    ReportLatency,
    /// Everything about the record, the time in hexadecimal microseconds.
    Verbose,
    /// Only numbers.
    Raw,
    /// Only numbers, in hexadecimal.
    Hex,
    /// Of another kernel: no task.
    Remote,
    /// Of the block layer, as blktrace prints it.
    Blk,
    /// None.
    NoContext,
}

/// The choice that is a stack.
const STACK: usize = 11;

/// What the times count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    Seconds,
    Ticks,
}

/// What is around the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrap {
    None,
    /// Level and time of the kernel's log.
    KernelLog,
    /// A page of HTML.
    Page,
    /// A string in a script of such a page.
    Script,
}

/// A task.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub comm: &'static [u8],
    pub tid: i32,
    pub tgid: i32,
    /// Where it runs.
    pub cpu: u16,
}

/// Names that look like something else, with what the kernel lets into them.
const COMMS: [&[u8]; 30] = [
    b"bash",
    b"<idle>",
    b"<...>",
    b"",
    b"a b c",
    b"x-12 [000]",
    b"p-1:2 (3)",
    b"[br]ack]",
    b"a: sys_read(fd:",
    b"q\"uo\\te",
    b"trailing ",
    b"tab\tx",
    b"caf\xc3\xa9",
    b"\xff\xfe",
    b"new\nline",
    b"# tracer: nop",
    b"CPU:0 [LOST 5",
    b"kworker/u8:3-ev",
    b"a-1 [0] 1: b",
    b"-1 [000] 1.0: x",
    b"=> x",
    b"--",
    b"\n",
    b"a\n",
    b"two\nline\nfeeds",
    b"(7)",
    b"b-7 (   7) [1]",
    b"sys_a -> 0x1",
    b"\\n\\",
    b"1d..2. 5us : x",
];

const CPUS: [u16; 5] = [0, 1, 1, 127, 1000];

const PREFIX: &[u8] = b"ftp_cap: ";

/// A log, and what its records say: the columns that are certain.
#[derive(Debug, Default)]
pub struct Made {
    pub text: Vec<u8>,
    pub rows: Vec<Row>,
}

/// The state of the tracer.
struct Tracer {
    made: Made,
    columns: Columns,
    clock: Clock,
    /// In ns, or ticks.
    now: i64,
    tasks: Vec<Task>,
    /// How system calls are printed: `%lx`, small numbers in decimal, texts.
    generation: usize,
    /// The columns change.
    mixed: bool,
    /// Something else is around the lines.
    wrapped: bool,
    /// There was a record.
    known: bool,
    /// Stacks of each task since its last record: one of the kernel and one of the program at most.
    behind: HashMap<i32, usize>,
    /// There are stacks; else there may be markers with a NUL.
    stacks: bool,
}

/// A log that the bytes choose.
pub fn log(choices: &mut Choices<'_>) -> Made {
    let mixed = choices.rarely();
    let columns = columns(choices, mixed);
    let clock = if choices.rarely() { Clock::Ticks } else { Clock::Seconds };
    let tasks = (0..=choices.below(4))
        .map(|number| {
            let tid =
                choices.pick(&[7, 2101, 99_999, 4_194_303]) + i32::try_from(number).unwrap_or(0);
            let tgid = if choices.rarely() { 0 } else { tid - 1 };
            Task { comm: choices.pick(&COMMS), tid, tgid, cpu: choices.pick(&CPUS) }
        })
        .collect();
    let generation = choices.below(3);
    let wrap = choices.pick(&[
        Wrap::None,
        Wrap::None,
        Wrap::None,
        Wrap::None,
        Wrap::None,
        Wrap::KernelLog,
        Wrap::Page,
        Wrap::Script,
    ]);
    // Text without columns could be anybody's.
    let wrap = if columns == Columns::NoContext { Wrap::None } else { wrap };
    let wrapped = wrap != Wrap::None;
    let mut tracer = Tracer {
        made: Made::default(),
        columns,
        clock,
        now: 2_881_878_957_000,
        tasks,
        generation,
        mixed,
        wrapped,
        known: false,
        behind: HashMap::new(),
        stacks: choices.byte() % 2 == 0,
    };
    tracer.head(choices);
    for _ in 0..=choices.below(24) {
        if choices.rest().is_empty() {
            break;
        }
        tracer.step(choices);
    }
    wrap_up(tracer.made, wrap)
}

/// One record as it is printed, without its line feed.
pub fn record(choices: &mut Choices<'_>) -> Vec<u8> {
    let columns = columns(choices, true);
    let comm = choices.pick(&COMMS);
    let task = Task { comm, tid: 2101, tgid: 2100, cpu: choices.pick(&CPUS) };
    let clock = if choices.rarely() { Clock::Ticks } else { Clock::Seconds };
    let mut tracer = Tracer {
        made: Made::default(),
        columns,
        clock,
        now: 2_881_878_957_000,
        tasks: Vec::new(),
        generation: 1,
        mixed: true,
        wrapped: false,
        known: true,
        behind: HashMap::new(),
        stacks: false,
    };
    let numbers = matches!(columns, Columns::Raw | Columns::Hex);
    let texts: [&[u8]; 4] =
        [b"sys_close(fd: 3)", b"foo: x-1 [000] 1.000000: y", b"a: [1] 2.000000: b", b"f <-g"];
    let text = if numbers { b"type: 839" } else { choices.pick(&texts) };
    match columns {
        Columns::Blk => tracer.blk(choices, task),
        _ => drop(tracer.record(choices, task, text)),
    }
    let mut line = tracer.made.text;
    line.truncate(line.iter().position(|&b| b == b'\n').unwrap_or(line.len()));
    line
}

fn columns(choices: &mut Choices<'_>, mixed: bool) -> Columns {
    match choices.below(17) {
        0..5 => {
            let flags = choices.pick(&["5", "5", "4", "0", "7"]);
            Columns::Trace { tgid: choices.rarely(), flags }
        }
        5 | 6 => Columns::Trace { tgid: true, flags: "5" },
        7 | 8 => {
            let [prefix, nanos, difference] = [0; 3].map(|_: i32| choices.rarely());
            Columns::Report { prefix, nanos, difference }
        }
        9 => Columns::Latency,
        10 => Columns::ReportLatency,
        11 => Columns::Verbose,
        12 => Columns::Raw,
        13 => Columns::Hex,
        14 => Columns::Remote,
        15 if !mixed => Columns::NoContext,
        _ => Columns::Blk,
    }
}

impl Tracer {
    /// Legends, as far as there are any.
    fn head(&mut self, choices: &mut Choices<'_>) {
        let lines: &[&str] = match self.columns {
            Columns::Report { .. } | Columns::ReportLatency => &["cpus=2"],
            Columns::Blk => &["# tracer: blk", "#", "# DEV   CPU TIMESTAMP     PID ACT FLG"],
            _ => &["# tracer: nop", "#"],
        };
        // trace_pipe has none.
        if !choices.rarely() || self.columns == Columns::NoContext {
            for line in lines {
                self.line(line.as_bytes());
            }
        }
    }

    fn line(&mut self, text: &[u8]) {
        self.made.text.extend_from_slice(text);
        self.made.text.push(b'\n');
    }

    fn number(&self) -> u64 {
        self.made.text.split(|&b| b == b'\n').count() as u64
    }

    /// One thing happens.
    fn step(&mut self, choices: &mut Choices<'_>) {
        self.now += i64::from(choices.byte()) * 1_000;
        let number = choices.below(self.tasks.len());
        // Something that is known by itself comes first.
        let what = match choices.below(16) {
            what if self.known => what,
            what => what % 8,
        };
        self.known = true;
        // A stack is printed where the record was that it belongs to.
        if what != STACK && choices.rarely() {
            self.tasks[number].cpu = choices.pick(&CPUS);
        }
        let task = self.tasks[number];
        if self.columns == Columns::Blk {
            return self.blk(choices, task);
        }
        if matches!(self.columns, Columns::Raw | Columns::Hex) {
            let row = self.record(choices, task, b"type: 839");
            self.put(row, "event", "", Some(b"type: 839"));
            if self.mixed && choices.rarely() {
                self.columns = columns(choices, true);
            }
            return;
        }
        match what {
            0..5 => self.call(choices, task),
            5..8 => self.event(choices, task),
            8 | 9 => self.marker(choices, task),
            10 => self.function(choices, task),
            STACK if self.behind.get(&task.tid).is_some_and(|&count| count > 1) => {
                self.event(choices, task);
            }
            STACK if self.stacks => self.stack(choices, task),
            STACK => self.nul(choices, task),
            12 => self.lost(choices),
            13 => {
                let odd = ["", "##### CPU 0 buffer started ####", "--", "# comment", "   "];
                let odd = choices.pick(&odd);
                self.line(odd.as_bytes());
            }
            14 if self.mixed && choices.rarely() => self.columns = columns(choices, true),
            // Old kernels print no `<stack trace>`.
            14 => self.line(b" => schedule"),
            // Where names end in the others tells whether a line is a piece of one.
            _ if self.mixed => self.event(choices, task),
            _ => self.broken(choices, task),
        }
    }

    /// A record; gives the columns that its row must have.
    fn record(&mut self, choices: &mut Choices<'_>, task: Task, payload: &[u8]) -> Row {
        let line = self.number();
        // Only where names are known to take 16 bytes can such ones be told from what they look like.
        let odd = task.comm.contains(&b'\n') || task.comm.windows(2).any(|two| two == b": ");
        let known = matches!(self.columns, Columns::Trace { .. }) && !self.mixed && !self.wrapped;
        let task = if odd && !known { Task { comm: b"new line", ..task } } else { task };
        let behind = self.behind.entry(task.tid).or_default();
        *behind = if payload.starts_with(b"<") { *behind + 1 } else { 0 };
        let cpu = task.cpu;
        let said = choices.rarely();
        let ticks = self.clock == Clock::Ticks;
        let time = match self.clock {
            Clock::Seconds => {
                format!("{:5}.{:06}", self.now / 1_000_000_000, self.now / 1000 % 1_000_000)
            }
            Clock::Ticks => format!("{:12}", self.now),
        };
        let micros = self.now / 1000 * 1000;
        let mut row = Row {
            line,
            tid: Some(task.tid),
            comm: Some(shown(task.comm)),
            cpu: Some(cpu),
            ts: Some(if ticks { self.now } else { micros }),
            ..Row::default()
        };
        let mut text = Vec::new();
        match self.columns {
            Columns::Trace { tgid, flags } => {
                text.extend(right(task.comm, 16));
                text.extend(format!("-{:<7} ", task.tid).bytes());
                if tgid && task.tgid == 0 {
                    text.extend(b"(-------) ");
                } else if tgid {
                    text.extend(format!("({:7}) ", task.tgid).bytes());
                    row.pid = Some(task.tgid);
                }
                let flags = match (flags, said) {
                    ("0", _) => "",
                    ("4", false) => "....",
                    ("4", true) => "dNh2",
                    ("7", false) => ".......",
                    ("7", true) => "dnL.21.",
                    (_, false) => ".....",
                    (_, true) => "DBZff",
                };
                text.extend(format!("[{cpu:03}] {flags} {time}: ").bytes());
                row.extra = (said && !flags.is_empty()).then(|| flags.as_bytes().to_vec());
            }
            Columns::Report { prefix, nanos, difference } => {
                if prefix {
                    text.extend(if said { PREFIX } else { b"         " });
                }
                text.extend(right(task.comm, 16));
                let (sec, sub) = (self.now / 1_000_000_000, self.now % 1_000_000_000);
                let time = match (ticks, nanos) {
                    (true, _) => format!("{:12}", self.now),
                    (_, false) => format!("{sec:6}.{:06}", sub / 1000),
                    (_, true) => format!("{sec:6}.{sub:09}"),
                };
                if nanos && !ticks {
                    row.ts = Some(self.now);
                }
                text.extend(format!("-{:<5} [{cpu:03}] {time}: ", task.tid).bytes());
                if difference {
                    let shown = choices.pick(&["(+18)", "", "(+0)", "(+123456)"]);
                    text.extend(format!(" {shown:<8}").bytes());
                }
            }
            Columns::Latency | Columns::ReportLatency => {
                let cut = &task.comm[..task.comm.len().min(8)];
                row.comm = Some(shown(cut));
                text.extend(right(cut, 8));
                let flags = if said { "d..2." } else { "....." };
                row.extra = said.then(|| flags.as_bytes().to_vec());
                if self.columns == Columns::ReportLatency {
                    text.extend(format!("-{:<5} {cpu:3}{flags} {time}: ", task.tid).bytes());
                } else {
                    text.extend(format!("-{:<7} {cpu:3}{flags}", task.tid).bytes());
                    if ticks {
                        text.extend(format!(" {:4}: ", self.now).bytes());
                    } else {
                        let mark = choices.pick(&[" ", "+", "!", "#", "*", "@", "$"]);
                        text.extend(format!(" {:4}us{mark}: ", self.now / 1000).bytes());
                    }
                }
            }
            Columns::Verbose => {
                text.extend(right(task.comm, 16));
                text.extend(
                    format!(
                        " {:7} {cpu:3} {} {:08x} {line:08x} ",
                        task.tid,
                        i32::from(said),
                        i32::from(said) * 2
                    )
                    .bytes(),
                );
                if ticks {
                    text.extend(format!("[{:016x}] {} (+{}): ", self.now, self.now, 7).bytes());
                } else {
                    text.extend(
                        format!(
                            "[{:08x}] {}.{:03}ms (+0.002ms): ",
                            self.now / 1000,
                            self.now / 1_000_000,
                            self.now / 1000 % 1000
                        )
                        .bytes(),
                    );
                }
            }
            Columns::Raw => {
                text.extend(format!("{} {cpu} {} ", task.tid, self.now).bytes());
                (row.comm, row.ts) = (None, Some(self.now));
            }
            Columns::Hex => {
                text.extend(format!("{:08x} {cpu:08x} {:016x} ", task.tid, self.now).bytes());
                (row.comm, row.ts) = (None, Some(self.now));
            }
            Columns::Remote => {
                text.extend(format!("[{cpu:03}]\t{time}: ").bytes());
                (row.comm, row.tid) = (None, None);
            }
            Columns::NoContext => {
                row = Row { line, ..Row::default() };
            }
            Columns::Blk => {}
        }
        text.extend_from_slice(payload);
        self.line(&text);
        if self.columns == Columns::Hex {
            self.line(b"");
        }
        row
    }

    fn put(&mut self, mut row: Row, kind: &'static str, name: &str, args: Option<&[u8]>) {
        row.kind = kind;
        row.name = (!name.is_empty()).then(|| name.as_bytes().to_vec());
        row.args = args.map(<[u8]>::to_vec);
        self.made.rows.push(row);
    }

    /// Half of a system call, whose row depends on the other.
    fn call(&mut self, choices: &mut Choices<'_>, task: Task) {
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
        // What the line alone tells, whoever the row belongs to.
        row.kind = "syscall";
        row.line = 0;
        drop(row);
    }

    /// Without columns every line is a record.
    fn plain(&self, text: &'static [u8]) -> &'static [u8] {
        let like = text.contains(&b'\n') || text.windows(8).any(|part| part == b"-1 [000]");
        if self.columns == Columns::NoContext && like { b"plain" } else { text }
    }

    fn event(&mut self, choices: &mut Choices<'_>, task: Task) {
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

    fn marker(&mut self, choices: &mut Choices<'_>, task: Task) {
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
        // A call is one wherever it stands.
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

    /// A NUL in the text takes away the line feed behind it.
    fn nul(&mut self, choices: &mut Choices<'_>, task: Task) {
        if self.mixed || !matches!(self.columns, Columns::Trace { .. } | Columns::Latency) {
            return self.marker(choices, task);
        }
        let text = choices.pick(&["nul", "", "a b-1 [0] 7: x ", "    "]);
        // A name with a line feed would be one of two lines.
        let [task, other] = [task.comm, b"other"].map(|comm| {
            let comm = if comm.contains(&b'\n') { b"one" } else { comm };
            Task { comm, ..task }
        });
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

    fn function(&mut self, choices: &mut Choices<'_>, task: Task) {
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

    fn stack(&mut self, choices: &mut Choices<'_>, task: Task) {
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
        // Blank lines stand between the records of this layout.
        if self.columns != Columns::Hex {
            self.put(row, "event", name, Some(b""));
        }
    }

    fn lost(&mut self, choices: &mut Choices<'_>) {
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
    fn broken(&mut self, choices: &mut Choices<'_>, task: Task) {
        let from = self.made.text.len();
        // A name that is cut is another one with what happens to stand before it.
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
        self.record(choices, task, payload.as_bytes());
        let line = self.made.text.split_off(from);
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let at = choices.below(line.len() + 1);
        // The right part of one may be taken for that of a name with a line feed, or for a name that
        // is shorter than its column.
        let piece =
            if from > 0 || self.columns == Columns::Verbose { &line[..at] } else { &line[at..] };
        self.line(piece);
    }

    fn blk(&mut self, choices: &mut Choices<'_>, task: Task) {
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

/// The same log as another program keeps it.
fn wrap_up(made: Made, wrap: Wrap) -> Made {
    let Made { text, mut rows } = made;
    let (head, before, behind, tail): (&[u8], &[u8], &[u8], &[u8]) = match wrap {
        Wrap::None => return Made { text, rows },
        Wrap::KernelLog => (b"", b"<4>[   12.345678] ", b"", b""),
        Wrap::Page => (
            b"<!DOCTYPE html>\n<html>\n<style>\nbody { color: red }\n</style>\n<script>\n",
            b"",
            b"",
            b"  </script>\n</html>\n",
        ),
        Wrap::Script => (
            b"<html>\n<script>\nvar linuxPerfData = \"\\\n",
            b"",
            br"\n\",
            b"\\n\";\n</script>\n</html>\n",
        ),
    };
    let more = head.split(|&b| b == b'\n').count() as u64 - 1;
    for row in &mut rows {
        row.line += more;
        // Its text goes on behind what is around the lines, or not at all.
        row.args.take_if(|args| args.contains(&b'\n'));
    }
    let mut out = head.to_vec();
    for line in text.split_inclusive(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        out.extend([before, line, behind, b"\n"].concat());
    }
    out.extend_from_slice(tail);
    Made { text: out, rows }
}

/// Aligned to the right.
fn right(text: &[u8], width: usize) -> Vec<u8> {
    let mut out = vec![b' '; width.saturating_sub(text.len())];
    out.extend_from_slice(text);
    out
}

/// Blanks on the left cannot be told from those that align the name.
fn shown(comm: &[u8]) -> Vec<u8> {
    trim(comm).to_vec()
}

fn trim(text: &[u8]) -> &[u8] {
    let from = text.iter().position(|&b| b != b' ').unwrap_or(text.len());
    &text[from..]
}
