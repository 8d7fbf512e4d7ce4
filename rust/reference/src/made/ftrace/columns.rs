//! The columns in front of a record.

use crate::ftrace::Row;
use crate::made::ftrace::{Clock, Columns, PREFIX, Task, Tracer, right, shown};
use crate::made::strace::Choices;

impl Tracer {
    /// A record; gives the columns that its row must have.
    pub(crate) fn record(&mut self, choices: &mut Choices<'_>, task: Task, payload: &[u8]) -> Row {
        let line = self.number();
        // Only if names are known to take 16 bytes can these be distinguished from what they look
        // like.
        let odd = task.comm.contains(&b'\n') || task.comm.windows(2).any(|two| two == b": ");
        let known = matches!(self.columns, Columns::Trace { .. }) && !self.mixed && !self.wrapped;
        let task = if odd && !known { Task { comm: b"new line", ..task } } else { task };
        let stacks = self.stacks_since_record.entry(task.tid).or_default();
        *stacks = if payload.starts_with(b"<") { *stacks + 1 } else { 0 };
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
}
