//! The grammar of strace's text: the lines of one block become rows, whatever other blocks hold.
//!
//! # A whole call
//!
//! A log of `strace -f -ttt -T -y -o LOG` holds this line:
//!
//! ```text
//! 4711  1795175299.690276 read(3</etc/passwd>, "root:x:0"..., 4096) = 1024 <0.000017>
//! ```
//!
//! 1. [`detect`] has read the first lines of the log, since strace writes no header. The
//!    [`Format`] says which columns come before an event (here `pid` and `seconds since 1970`) and
//!    whether calls end with their duration.
//! 2. [`grammar`](Grammar) walks over the line feeds and the ` = ` that the structure pass of
//!    [`crate::text::scan`] found in the block. `parser.rs` holds the state between lines.
//! 3. [`leader`] reads `4711  1795175299.690276 `: task and time. `leader/clock.rs` turns times of
//!    day and deltas into one clock.
//! 4. `line_start.rs` finds the name, `read`, in front of a `(`. `call/whole.rs` looks for the end
//!    of the arguments and parses the result:
//!    - `arguments.rs` is the tokenizer. It knows strings, comments, annotations and brackets,
//!      and finds the `)` of the call where a line has several ` = `.
//!    - `call/result.rs` reads `1024 <0.000017>` into an `Outcome`: value, error, duration.
//! 5. `call/row.rs` writes the outcome into the row: `ret`, `dur_ns`, `errno`, `status`.
//! 6. `fields/` fills the columns that the arguments give: `fd` 3, `path` `/etc/passwd`,
//!    `requested` 4096, `bytes` 1024. The shape of each call in [`crate::linux::syscalls`] says
//!    which argument is what; `fields/plan.rs` picks the cheapest way to find it.
//!    `fields/effects.rs` notes what the call does to the process, for the model of the kernel.
//!
//! Most lines of most logs have just this form. `call/fast_path.rs` reads them in one go and leaves
//! every line that is odd in any way to steps 3 to 6; tests hold both to the same rows.
//!
//! # A call in two halves
//!
//! Where another task prints something before the call returns, strace splits it:
//!
//! ```text
//! 4711  1795175299.690276 read(5<pipe:[7]>,  <unfinished ...>
//! 4712  1795175299.690301 close(3)            = 0 <0.000006>
//! 4711  1795175299.690411 <... read resumed>"abc", 16) = 3 <0.000135>
//! ```
//!
//! `call/split.rs` keeps the first half among the open calls of the block
//! ([`crate::events::open_calls`]), with what it says about the effect at entry
//! (`fields::head`). When the second half comes, [`finish`] joins the texts of both, parses the
//! whole as above and fills one row, whose `ts` is that of the first half. If the first half is in
//! an earlier block, the row waits: the grammar notes a `Deferred`, and the serial stage
//! ([`crate::serial`]) calls [`finish`] with the text of the first half. A call whose task goes on
//! without a second half gets a row of its own; [`abandon`] fills its columns in that stage.
//!
//! On a terminal strace may be interrupted without a mark, by its own messages or by the output of
//! the traced program. `call/foreign_text.rs` finds where such text starts, and
//! `call/interleaved.rs` finds the rest of the call on a later line.
//!
//! # A line that is not a call
//!
//! ```text
//! 4711  1795175299.690500 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=4712} ---
//! 4711  1795175299.690600 +++ exited with 0 +++
//! strace: Process 4713 attached
//! % time     seconds  usecs/call     calls    errors syscall
//! ```
//!
//! `non_calls/lines.rs` makes rows of signals and exits. Any other line goes to
//! `non_calls/classify.rs`: messages (`message.rs`) and the tables of `-c` (`summary_table.rs`) are
//! counted and left out, stack frames and dumps join the row before them, and what is left becomes
//! a row of kind `unparsed`. For those, `explain.rs` says what was expected.
//!
//! # Several logs as one
//!
//! `strace -ff` writes one log per task. They are merged into one text whose lines carry a prefix
//! with the task and the line number: `task_prefix.rs`.

pub(crate) mod arguments;
pub mod call;
pub mod detect;
pub(crate) mod explain;
pub(crate) mod fields;
mod format;
mod grammar;
pub mod leader;
pub mod line_start;
pub(crate) mod non_calls;
mod parser;
pub mod task_prefix;
pub(crate) mod wrapped;

pub use call::row::{abandon, finish};
pub use detect::detect;
pub(crate) use detect::{are_typeset, is_event, likeness};
pub use format::Format;
pub use parser::Grammar;
