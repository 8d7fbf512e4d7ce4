//! Logs of ftrace as the kernel and trace-cmd could have printed them, with a byte for every
//! choice, and what was put into each record.

pub(crate) mod columns;
pub(crate) mod payloads;
pub(crate) mod wrapper;

use std::collections::HashMap;

use crate::ftrace::Row;
use crate::made::ftrace::wrapper::{Wrap, wrap_up};
use crate::made::strace::Choices;

/// How records start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
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
pub(crate) enum Clock {
    Seconds,
    Ticks,
}

/// A task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
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
pub(crate) struct Made {
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
    stacks_since_record: HashMap<i32, usize>,
    /// There are stacks; else there may be markers with a NUL.
    stacks: bool,
}

/// A log that the bytes choose.
pub(crate) fn log(choices: &mut Choices<'_>) -> Made {
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
        stacks_since_record: HashMap::new(),
        stacks: choices.byte().is_multiple_of(2),
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
pub(crate) fn record(choices: &mut Choices<'_>) -> Vec<u8> {
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
        stacks_since_record: HashMap::new(),
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
        0..=4 => {
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
            STACK if self.stacks_since_record.get(&task.tid).is_some_and(|&count| count > 1) => {
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
            // Where names end in the others shows whether a line is a piece of one.
            _ if self.mixed => self.event(choices, task),
            _ => self.broken(choices, task),
        }
    }
}

/// Aligned to the right.
fn right(text: &[u8], width: usize) -> Vec<u8> {
    let mut out = vec![b' '; width.saturating_sub(text.len())];
    out.extend_from_slice(text);
    out
}

/// Blanks on the left look like those that align the name.
fn shown(comm: &[u8]) -> Vec<u8> {
    trim(comm).to_vec()
}

fn trim(text: &[u8]) -> &[u8] {
    let from = text.iter().position(|&b| b != b' ').unwrap_or(text.len());
    &text[from..]
}
