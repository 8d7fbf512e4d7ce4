//! The grammar of ftrace's text: tracefs' `trace` and `trace_pipe` in their default layout, and
//! trace-cmd report where it prints the same columns.
//!
//! Every record becomes a row, except that a system call's entry and exit become one: its text is
//! that of the entry, its columns are those that strace's text would give. Values are hexadecimal.

pub mod args;
mod detect;
pub mod explain;
mod fields;
pub mod header;
mod join;
pub mod names;
pub mod other;
mod parser;
pub mod payload;

#[cfg(test)]
mod tests;

pub use detect::{detect, likeness};
pub use fields::head;
pub use parser::Grammar;

use crate::parsed::Parsed;
use crate::strace::Half;

/// What is known of an ftrace log before its records are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Format {
    /// The log has a column of thread groups.
    pub tgid: bool,
    /// Number of characters for interrupts, scheduling and preemption; 0: no such column.
    pub flags: u8,
    /// What its times count.
    pub clock: Clock,
    /// What `sys_enter: NR …` and `sys_exit: NR …` are.
    pub raw: Raw,
}

impl Format {
    /// The clock of `ts`, by its name in the metadata.
    pub fn clock(&self) -> &'static str {
        match self.clock {
            Clock::Uptime => "uptime",
            Clock::Ticks => "ticks",
        }
    }
}

/// What the times of a log count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// Seconds, with a fraction.
    #[default]
    Uptime,
    /// Cycles, records, jiffies: integers that are no time.
    Ticks,
}

/// What the events of `raw_syscalls` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Raw {
    /// Halves of system calls, numbered as on x86-64.
    #[default]
    X86_64,
    /// Halves of system calls of another architecture: they get strace's names of unknown calls,
    /// `syscall_0x3f`.
    Numbers,
    /// Events: the log has the same calls by name as well.
    Events,
}

/// The line belongs to the record before it: a frame of its stack.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::is_continuation;
/// assert!(is_continuation(b" => schedule+0x23/0xa0"));
/// assert!(!is_continuation(b"  bash-1 [000] 1.000000: sys_read -> 0x1"));
/// ```
#[inline]
pub fn is_continuation(line: &[u8]) -> bool {
    line.starts_with(b" => ") || line.starts_with(b"=> ")
}

/// Fills the row of an exit whose entry is in an earlier block (`half.head` is the text of its
/// arguments) or nowhere. The row holds the exit's columns; its time becomes that of the entry.
pub fn finish(parsed: &mut Parsed, text: &[u8], row: usize, format: &Format, half: Half<'_>) {
    join::finish(parsed, text, row, format.clock, half);
}

/// Fills the columns that `args`, the text of a call without an exit, gives.
pub fn abandon(parsed: &mut Parsed, row: usize, args: &[u8], sys: u16) {
    join::abandon(parsed, row, args, sys);
}
