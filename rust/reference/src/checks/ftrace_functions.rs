//! The tracer `function_graph`: tasks that call functions, printed as the kernel prints them, and
//! what each row must be.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt16Type;
use arrow_array::{Array, RecordBatch};
use tracefast_core::format::{Format, Wanted};

use crate::compare::parse;
use crate::compare::{Row, rows};
use crate::made::strace::Choices;

/// Which columns come before the functions.
struct Columns {
    time: bool,
    processor: bool,
    task: bool,
    flags: bool,
    duration: bool,
    /// The name of a function is printed at its end.
    tail: bool,
}

/// A function that a task is in.
struct Open {
    name: &'static str,
    depth: usize,
    /// Where its row is; `None`: it started before the log.
    row: Option<usize>,
    began: i64,
}

struct Task {
    comm: &'static str,
    tid: i32,
    stack: Vec<Open>,
}

/// What a row must be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    kind: &'static str,
    name: Option<&'static str>,
    args: String,
    status: Option<&'static str>,
    ret: Option<i64>,
    dur: Option<i64>,
    ts: Option<i64>,
    tid: Option<i32>,
    comm: Option<&'static str>,
    cpu: Option<u16>,
}

struct Machine {
    columns: Columns,
    log: String,
    tasks: Vec<Task>,
    /// The task on each processor, and whether the log has named it.
    running: [(usize, bool); 2],
    now: i64,
    rows: Vec<(u64, Expected)>,
}

const NAMES: [&str; 5] = ["vfs_read", "schedule", "f.isra.0", "sys_open", "_raw_spin_lock"];
const COMMS: [&str; 4] = ["sh", "a b", "x-1", "kworker"];

/// Functions of up to four tasks on two processors, read in blocks of a length that the bytes
/// choose.
///
/// # Panics
/// If a row is not what its function was.
pub fn ftrace_functions(data: &[u8]) {
    let mut choices = Choices::new(data);
    let size = 1 + usize::from(choices.byte()) * choices.pick(&[1, 8, 64]);
    let [time, task, flags, tail] = [0; 4].map(|_: i32| choices.byte() % 2 == 1);
    let duration = !choices.rarely();
    let processor = task || duration || choices.byte().is_multiple_of(2);
    let columns = Columns { time, processor, task, flags: flags && task, duration, tail };
    let mut machine = Machine {
        columns,
        log: "# tracer: function_graph\n#\n".to_owned(),
        tasks: Vec::new(),
        running: [(0, task), (1, task)],
        now: 360_774_520_000,
        rows: Vec::new(),
    };
    for number in 0..4 {
        let tid = [7, 4802, 99_999, 12][number];
        // Functions it was in before the log started.
        let hidden = choices.below(3);
        let stack = (0..hidden).map(|depth| Open { name: "hidden", depth, row: None, began: 0 });
        machine.tasks.push(Task { comm: COMMS[number], tid, stack: stack.collect() });
    }
    // Without a column there is only one processor.
    let processors = if processor { 2 } else { 1 };
    while !choices.rest().is_empty() {
        machine.now += 1000 + i64::from(choices.byte()) * 1000;
        let cpu = choices.below(processors);
        machine.step(&mut choices, cpu);
    }
    machine.check(size);
}

impl Machine {
    fn step(&mut self, choices: &mut Choices<'_>, cpu: usize) {
        let running = self.running[cpu].0;
        let depth = self.tasks[running].stack.len();
        match choices.below(8) {
            0..3 if depth < 9 => {
                let name = choices.pick(&NAMES);
                let row = self.function(cpu, name, depth);
                self.print(cpu, None, depth, &format!("{name}() {{"));
                let row = Some(row);
                self.tasks[running].stack.push(Open { name, depth, row, began: self.now });
            }
            3 | 4 if depth > 0 => self.leave(choices, cpu),
            5 => {
                let name = choices.pick(&NAMES);
                let row = self.function(cpu, name, depth);
                let dur = duration(choices);
                self.print(cpu, Some(dur), depth, &format!("{name}();"));
                let row = &mut self.rows[row].1;
                (row.status, row.dur) =
                    (Some("complete"), Some(dur).filter(|_| self.columns.duration));
            }
            6 => {
                let args = "comm=top pid=12 prio=120 target_cpu=000";
                let mut row = self.row(cpu, "event", Some("sched_wakeup"), args.to_owned());
                row.1.ts = self.ts();
                self.rows.push(row);
                self.print(cpu, None, depth, &format!("/* sched_wakeup: {args} */"));
            }
            7 => self.switch(choices, cpu),
            _ => {}
        }
    }

    /// The end of a function.
    fn leave(&mut self, choices: &mut Choices<'_>, cpu: usize) {
        let running = self.running[cpu].0;
        let Some(open) = self.tasks[running].stack.pop() else { return };
        let dur = duration(choices);
        let ret = choices.pick(&[None, None, Some(0), Some(-22)]).filter(|_| self.columns.tail);
        let after = match ret {
            Some(ret) => format!(" /* {} = {ret} */", open.name),
            None if self.columns.tail => format!(" /* {} */", open.name),
            None => String::new(),
        };
        let printed = Some(dur).filter(|_| self.columns.duration);
        let since = self.ts().map(|now| now - open.began);
        let row = open.row.unwrap_or_else(|| {
            let row = self.function(cpu, open.name, open.depth);
            let own = &mut self.rows[row].1;
            own.status = Some("headless");
            own.name = own.name.filter(|_| self.columns.tail);
            row
        });
        let (tid, comm) = self.shown_task(cpu);
        let own = &mut self.rows[row].1;
        (own.ret, own.tid, own.comm) = (ret, tid, comm);
        own.dur = printed;
        if open.row.is_some() {
            own.status = Some("complete");
            own.dur = printed.or(since);
        }
        self.print(cpu, Some(dur), open.depth, &format!("}}{after}"));
    }

    /// Another task runs.
    fn switch(&mut self, choices: &mut Choices<'_>, cpu: usize) {
        let next = choices.below(self.tasks.len());
        if self.running.iter().any(|&(running, _)| running == next) {
            return;
        }
        let [from, to] = [self.running[cpu].0, next].map(|task| {
            let Task { comm, tid, .. } = &self.tasks[task];
            format!("{comm}-{tid}")
        });
        let line = " ------------------------------------------\n";
        self.log += &format!("{line} {cpu})  {from:^10}  =>  {to:^10} \n{line}\n");
        self.running[cpu] = (next, true);
    }

    /// A row of a function that starts now.
    fn function(&mut self, cpu: usize, name: &'static str, depth: usize) -> usize {
        let caller = self.tasks[self.running[cpu].0].stack.last();
        let caller = caller.filter(|caller| caller.row.is_some() && caller.depth + 1 == depth);
        let caller = caller.map_or_else(String::new, |caller| format!("<-{} ", caller.name));
        let mut row = self.row(cpu, "function", Some(name), format!("{caller}depth={depth}"));
        row.1.status = Some("unfinished");
        row.1.ts = self.ts();
        self.rows.push(row);
        self.rows.len() - 1
    }

    fn row(
        &self,
        cpu: usize,
        kind: &'static str,
        name: Option<&'static str>,
        args: String,
    ) -> (u64, Expected) {
        let (tid, comm) = self.shown_task(cpu);
        let processor = self.columns.processor.then_some(u16::try_from(cpu).unwrap_or(0));
        let expected = Expected {
            kind,
            name,
            args,
            status: None,
            ret: None,
            dur: None,
            ts: None,
            tid,
            comm,
            cpu: processor,
        };
        (self.log.lines().count() as u64 + 1, expected)
    }

    /// The task on a processor, if the log names it.
    fn shown_task(&self, cpu: usize) -> (Option<i32>, Option<&'static str>) {
        let (running, known) = self.running[cpu];
        let task = &self.tasks[running];
        (known.then_some(task.tid), known.then_some(task.comm))
    }

    fn ts(&self) -> Option<i64> {
        self.columns.time.then_some(self.now)
    }

    /// Prints a line.
    fn print(&mut self, cpu: usize, dur: Option<i64>, depth: usize, text: &str) {
        let Columns { time, processor, task, flags, duration, .. } = self.columns;
        let running = &self.tasks[self.running[cpu].0];
        let mut line = String::new();
        if time {
            line +=
                &format!("{:5}.{:06} |  ", self.now / 1_000_000_000, self.now / 1000 % 1_000_000);
        }
        if processor {
            line += &format!(" {cpu}) ");
        }
        if task {
            line += &format!("  {:^12} |", format!("{}-{}", running.comm, running.tid));
            line += if flags { "  d..1. |" } else { "" };
            line += " ";
        }
        if duration {
            line += &dur.map_or_else(|| " ".repeat(14), printed);
            line += "|  ";
        }
        self.log += &format!("{line}{}{text}\n", "  ".repeat(depth));
    }

    /// Reads the log and compares its rows with the expected ones.
    fn check(mut self, size: usize) {
        self.rows.sort_by_key(|row| row.0);
        let Some(format) = Format::detect(self.log.as_bytes(), Some(Wanted::Ftrace)) else {
            return;
        };
        let (_, batch) = parse(format, self.log.as_bytes(), size);
        let processors = processors(&batch);
        let read: BTreeMap<u64, Row> =
            rows(&batch).into_iter().map(|row| (row.line, row)).collect();
        let log = &self.log;
        assert_eq!(read.len(), self.rows.len(), "blocks of {size}\n{log}");
        for (line, expected) in &self.rows {
            let Some(row) = read.get(line) else { panic!("no row for line {line}\n{log}") };
            let found = (
                (&*row.kind, row.name.as_deref(), row.args.as_deref(), row.status.as_deref()),
                (
                    row.ret,
                    row.dur,
                    row.ts,
                    row.tid,
                    row.comm.as_deref(),
                    processors.get(line).copied(),
                ),
            );
            let Expected { kind, name, args, status, ret, dur, ts, tid, comm, cpu } = expected;
            let must = (
                (*kind, *name, Some(args.as_str()), *status),
                (*ret, *dur, *ts, *tid, *comm, *cpu),
            );
            assert_eq!(found, must, "line {line}, blocks of {size}\n{log}");
        }
    }
}

fn processors(batch: &RecordBatch) -> BTreeMap<u64, u16> {
    let column = batch.column_by_name("cpu").expect("all columns are there");
    let column = column.as_primitive::<UInt16Type>();
    let lines = rows(batch).into_iter().map(|row| row.line).enumerate();
    lines
        .filter(|&(at, _)| column.is_valid(at))
        .map(|(at, line)| (line, column.value(at)))
        .collect()
}

/// A time in ns of as many digits as the kernel prints.
fn duration(choices: &mut Choices<'_>) -> i64 {
    choices.pick(&[541, 49_370, 140_417, 4_123_000, 33_998_590, 219_760_200, 3_594_274_000])
}

/// Seven characters at most, and a mark of a long one.
fn printed(ns: i64) -> String {
    let marks = [
        (1_000_000_000, '$'),
        (100_000_000, '@'),
        (10_000_000, '*'),
        (1_000_000, '#'),
        (100_000, '!'),
        (10_000, '+'),
    ];
    let mark = marks.iter().find(|&&(more, _)| ns > more).map_or(' ', |&(_, mark)| mark);
    let whole = (ns / 1000).to_string();
    let mut number = format!("{whole}.{:03}", ns % 1000);
    number.truncate(if whole.len() < 7 { number.len().min(8) } else { 7 });
    format!("{mark} {:<12}", format!("{number} us"))
}
