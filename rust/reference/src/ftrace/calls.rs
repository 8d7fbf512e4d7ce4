//! System calls: entry and exit are one row.

use std::collections::HashMap;

use tracefast_core::linux::errno;
use tracefast_core::linux::machine::{Machine as Kind, SyscallAbi as Machine};

use crate::ftrace::Row;
use crate::ftrace::header::trim_start;
use crate::ftrace::payload::{Call, hexadecimal};

/// Calls that were entered and have not returned.
pub(crate) struct Calls {
    /// Calls by number are events.
    named: bool,
    /// The tables of the machine.
    machine: Machine,
    /// The row of each task's call, and whether its time counts ticks. A record without a task is
    /// of an unknown one.
    open: HashMap<Option<i32>, (usize, bool)>,
    /// The last line that says that records of a processor were lost.
    losses: HashMap<u16, u64>,
    /// The last line on which another log starts.
    begun: u64,
}

impl Calls {
    pub(crate) fn new(named: bool, machine: Machine) -> Self {
        Self { named, machine, open: HashMap::new(), losses: HashMap::new(), begun: 0 }
    }

    /// The row of the call in which a task is.
    pub(crate) fn row_of(&self, tid: Option<i32>) -> Option<usize> {
        self.open.get(&tid).map(|&(row, _)| row)
    }

    /// Adds the row of a call that starts.
    pub(crate) fn enter(
        &mut self,
        rows: &mut Vec<Row>,
        row: Row,
        call: &Call,
        args: &[u8],
        ticks: bool,
    ) {
        let Some(name) = self.name(call) else {
            let Call::Number(number) = call else { return };
            let args = Some([format!("NR {number} (").as_bytes(), args, b")"].concat());
            rows.push(Row { kind: "event", name: Some(b"sys_enter".to_vec()), args, ..row });
            return;
        };
        // A call that never returns has no end.
        let last = match &name[..] {
            b"exit" | b"exit_group" => true,
            // There the number of the call is kept over the end of a handler.
            b"rt_sigreturn" | b"sigreturn" => self.machine.machine != Some(Kind::Arm),
            _ => false,
        };
        let status = if last { "complete" } else { "unfinished" };
        self.open.remove(&row.tid);
        if !last {
            self.open.insert(row.tid, (rows.len(), ticks));
        }
        let (name, args) = (Some(name), Some(args.to_vec()));
        let mut row = Row { kind: "syscall", name, args, status: Some(status), ..row };
        of_arguments(&mut row);
        rows.push(row);
    }

    /// Returns the row of a call that ends, and whether its start is in the log.
    pub(crate) fn exit(
        &mut self,
        rows: &mut Vec<Row>,
        row: Row,
        call: &Call,
        value: Option<i64>,
        ticks: bool,
    ) -> (usize, bool) {
        let Some(name) = self.name(call) else {
            let Call::Number(number) = call else { return (rows.len(), false) };
            let value = value.map_or_else(String::new, |value| value.to_string());
            let args = Some(format!("NR {number} = {value}").into_bytes());
            rows.push(Row { kind: "event", name: Some(b"sys_exit".to_vec()), args, ..row });
            return (rows.len() - 1, false);
        };
        let open = self.open.remove(&row.tid);
        match open {
            Some((index, counted))
                if self.ends(rows[index].name.as_deref(), &name)
                    && !self.lost_between(&rows[index], &row) =>
            {
                let open = &mut rows[index];
                let dur = row.ts.zip(open.ts).and_then(|(end, start)| end.checked_sub(start));
                // Ticks are not a time, and no call ends before it starts.
                open.dur = dur.filter(|&dur| !ticks && !counted && dur >= 0);
                open.status = Some(if value.is_some() { "complete" } else { "truncated" });
                result(open, value, self.machine.narrow);
                (index, true)
            }
            _ => {
                let name = Some(name);
                let mut row = Row { kind: "syscall", name, status: Some("headless"), ..row };
                result(&mut row, value, self.machine.narrow);
                rows.push(row);
                (rows.len() - 1, false)
            }
        }
    }

    /// Records of processor `cpu` were lost.
    pub(crate) fn lost(&mut self, cpu: u16, line: u64) {
        self.losses.insert(cpu, line);
    }

    /// Another log starts, or what is left of a processor's records.
    pub(crate) fn reset(&mut self, line: u64) {
        self.begun = line;
    }

    /// The log says that records are missing between the halves, which are of one processor: the
    /// exit may be that of another call.
    fn lost_between(&self, enter: &Row, exit: &Row) -> bool {
        let lost = enter.cpu.and_then(|cpu| self.losses.get(&cpu));
        self.begun > enter.line
            || enter.cpu == exit.cpu && lost.is_some_and(|&line| line > enter.line)
    }

    /// The thread `from` started a program: it continues as process `to`, whose call has no end.
    pub(crate) fn exec(&mut self, rows: &mut [Row], from: i32, to: i32) {
        if from == to {
            return;
        }
        if let Some(open) = self.open.remove(&Some(from)) {
            rows[open.0].tid = Some(to);
            self.open.insert(Some(to), open);
        }
    }

    /// The task is gone.
    pub(crate) fn gone(&mut self, tid: Option<i32>) {
        self.open.remove(&tid);
    }

    fn name(&self, call: &Call) -> Option<Vec<u8>> {
        match call {
            Call::Name(name) => Some(self.machine.strace_name(name).to_vec()),
            Call::Number(_) if self.named => None,
            Call::Number(number) => {
                let name = self.machine.machine.and_then(|machine| machine.call(*number));
                Some(name.map_or_else(
                    || format!("syscall_{number:#x}").into_bytes(),
                    |name| name.as_bytes().to_vec(),
                ))
            }
        }
    }

    /// The exit of the call `exit` ends the call `enter`. Programs with another word size start
    /// under the numbers of their own machine; in any case the call was an execve.
    fn ends(&self, enter: Option<&[u8]>, exit: &[u8]) -> bool {
        let Some(enter) = enter else { return false };
        let starts = enter == b"execve" || enter == b"execveat";
        let other = !self.named && self.machine.machine == Some(Kind::X86_64) && exit == b"munmap";
        enter == exit || starts && (exit == b"execve" || other)
    }
}

/// Largest number of an error.
const ERRORS: i64 = 4095;

/// What the value says; `narrow`: it has 32 bits.
fn result(row: &mut Row, value: Option<i64>, narrow: bool) {
    #[allow(clippy::cast_possible_truncation)]
    let error = |value: i64| i64::from(value as i32);
    let value = value.map(|value| match error(value) {
        error if narrow && (-ERRORS..0).contains(&error) => error,
        // An address, which has no sign.
        _ if narrow => value & 0xffff_ffff,
        _ => value,
    });
    row.ret = value;
    if let Some(error) = value.filter(|value| (-ERRORS..0).contains(value)) {
        let number = error.unsigned_abs();
        let name = errno::name(number).map_or_else(|| format!("ERRNO_{number}"), str::to_owned);
        // The call did not return: it is restarted, or the program sees EINTR.
        row.ret = (!name.starts_with("ERESTART")).then_some(-1);
        if row.ret.is_none() && row.status == Some("complete") {
            row.status = Some("interrupted");
        }
        row.errno = Some(name);
        return;
    }
    let Some(value) = value.filter(|&value| value >= 0) else { return };
    match row.name.as_deref() {
        Some(b"read" | b"write" | b"pread64" | b"pwrite64") => row.bytes = Some(value),
        Some(b"openat" | b"open") => row.fd = i32::try_from(value).ok().map(i64::from),
        _ => {}
    }
}

/// What the arguments say, of a few calls.
fn of_arguments(row: &mut Row) {
    let args = row.args.clone().unwrap_or_default();
    match row.name.as_deref() {
        Some(b"read" | b"write" | b"pread64" | b"pwrite64") => {
            row.fd = argument(&args, 0, "fd").map(descriptor);
            row.requested = argument(&args, 2, "count").filter(|&count| count >= 0);
        }
        Some(b"close" | b"lseek" | b"newfstat") => {
            row.fd = argument(&args, 0, "fd").map(descriptor);
        }
        _ => {}
    }
}

/// The kernel looks at 32 bits.
#[allow(clippy::cast_possible_truncation)]
fn descriptor(value: i64) -> i64 {
    i64::from(value as i32)
}

/// The value of an argument: after `NAME: ` or `NAME=`, or, of calls by number, at `position`.
fn argument(args: &[u8], position: usize, name: &str) -> Option<i64> {
    let named = args.contains(&b':') || args.contains(&b'=');
    if !named {
        return number(args.split(|&b| b == b',').nth(position)?);
    }
    // The texts that a call writes come before its count.
    let after = |before: &str| {
        let at = args.windows(before.len()).rposition(|part| part == before.as_bytes())?;
        Some(&args[at + before.len()..])
    };
    match after(&format!("{name}=")) {
        Some(value) => field(value),
        None => number(after(&format!("{name}: "))?),
    }
}

/// The number at the start of a text: decimal but for a `0x`.
pub(crate) fn field(text: &[u8]) -> Option<i64> {
    if text.starts_with(b"0x") {
        return number(text);
    }
    let upto = text.iter().position(|&b| b == b' ').unwrap_or(text.len());
    std::str::from_utf8(&text[..upto]).ok()?.parse().ok()
}

/// The number at the start of a text: hexadecimal, with or without `0x`.
fn number(text: &[u8]) -> Option<i64> {
    let text = trim_start(text);
    let upto = text.iter().position(|&b| b == b' ' || b == b',').unwrap_or(text.len());
    hexadecimal(&text[..upto])
}
