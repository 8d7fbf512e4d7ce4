//! The grammar of ftrace: the text of tracefs' `trace` and `trace_pipe` and of `trace-cmd report`,
//! in all layouts.
//!
//! Every record becomes one row, except that the entry and the exit of a system call share one.
//!
//! # One record, from its line to its row
//!
//! ```text
//!             bash-2101    [001] d..2.  2881.878957: sched_wakeup: comm=dd pid=12 prio=120 target_cpu=001
//! ```
//!
//! 1. [`detect`] read the first lines of the log and filled a [`Format`]: the layout of the
//!    columns, the clock, whether there are stacks, functions or thread groups.
//! 2. [`Grammar::parse`] (`parser`) walks over the lines of a block. [`Format`] cuts off what other
//!    programs put around a line, such as the prefix of the kernel's log ([`wrapper`]).
//! 3. [`header`] reads the columns, which the kernel prints in `trace_print_context`
//!    (`kernel/trace/trace_output.c`). Most lines have the columns of an earlier one up to the
//!    fraction of the second: `header::cache` knows these. Otherwise `header::layouts` reads them,
//!    the log's usual layout first. The [`header::Header`] has pid 2101, cpu 1, flags `d..2.`, the
//!    time in nanoseconds, and where the payload starts.
//! 4. `payload` reads what follows the columns: here an event with a name and a text. The name is
//!    kept in `payload::cache`, so the next `sched_wakeup:` is recognized by its first bytes.
//! 5. `record::row` appends the row. The text of the event becomes the column `args`, a view into
//!    the block without a copy.
//! 6. `linux::task_events` reads the names of tasks in the text, but only once the next record
//!    begins: a name may have a line feed in it, and its text goes on in the next line (`pending`).
//!    `record::file_hints` reads which file the system call around the event acts on.
//!
//! A line without columns goes to `non_records`: a header, a frame of a stack, a note of lost
//! records, text that goes on, or part of a command's name that has line feeds.
//!
//! # An entry and its exit
//!
//! ```text
//!              cat-7       [001] .....     1.000000: sys_read(fd: 3, buf: 7ffc0, count: 340)
//!              cat-7       [001] .....     1.000005: sys_read -> 0x340
//! ```
//!
//! The kernel prints both in `kernel/trace/trace_syscalls.c`, numbers in hexadecimal.
//!
//! 1. The entry appends no row. `call::entry_exit` finds the call by its name, in strace's spelling
//!    (`crate::linux::syscalls::strace_names`), or by its number ([`crate::linux::machine`]),
//!    splits the arguments (`call::arguments`), and keeps an open call for task 7.
//! 2. The exit takes the open call of its task. If both name the same call and no records were lost
//!    between them, `call::row` fills one row: line, time and arguments of the entry, return value
//!    of the exit, and 5 µs in `dur_ns`.
//! 3. `fields` fills the columns that the arguments give, as strace's text of the call would: `fd`
//!    is 3, `requested` and `bytes` are 0x340 = 832.
//! 4. If the entry is in an earlier block, the exit's row is only started, and the serial stage,
//!    which sees the blocks in order, completes it with [`finish`]. A call that never returns
//!    becomes a row with [`abandon`].
//!
//! # What else is here
//!
//! `function_graph` reads the lines of that tracer, whose functions the serial stage pairs.
//! `explain` says what an unparsed line should have been. [`decode`] is not part of parsing: it
//! reads the fields of an event from `args` when a user asks for them.

pub(crate) mod call;
pub mod decode;
mod detect;
pub(crate) mod explain;
mod fields;
mod format;
pub(crate) mod function_graph;
pub mod header;
pub(crate) mod machine_guess;
pub(crate) mod non_records;
mod parser;
mod pasted;
pub(crate) mod payload;
mod pending;
pub(crate) mod record;
mod scan;
#[cfg(test)]
mod tests;
pub mod wrapper;

pub use crate::linux::machine::{Machine, SyscallAbi};
pub(crate) use detect::is_event;
pub use detect::{detect, likeness};
pub use fields::head;
pub use format::{Format, Graph};
pub use header::Clock;
pub use non_records::classify::is_continuation;
pub use parser::Grammar;
pub use wrapper::Wrap;

use crate::events::parsed_block::Parsed;
use crate::events::split_calls::SecondHalf;
use crate::ftrace::call::row;

/// Fills the row of an exit whose entry is in an earlier block (`half.head` is the text of its
/// arguments) or nowhere. The row holds the exit's columns; its time becomes that of the entry.
pub fn finish(parsed: &mut Parsed, text: &[u8], row: usize, format: &Format, half: SecondHalf<'_>) {
    row::finish(parsed, text, row, format, half);
}

/// Fills the columns that `args`, the text of a call without an exit, gives.
pub fn abandon(parsed: &mut Parsed, row: usize, format: &Format, args: &[u8], sys: u16) {
    row::abandon(parsed, row, format, args, sys);
}
