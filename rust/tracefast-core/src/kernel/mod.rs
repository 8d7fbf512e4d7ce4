//! The model of the kernel: tasks, fd tables, open file descriptions, files, working directories,
//! private memory.
//!
//! The model knows rows, not text. A grammar states what a call may do as facts in its row (an
//! operation, how data moves, where an offset is given: `events/vocabulary.rs`), and the model
//! applies them as the kernel did. It fills the columns that need state: `task`, `pid`, `ofd`,
//! `path`, `file`, `offset`, `offset_known`, `access`, `size`, `child`, `anon_bytes`.
//!
//! # One line, from its text to its row
//!
//! ```text
//! 100  openat(AT_FDCWD, "/data", O_RDONLY) = 3
//! 100  dup(3) = 4
//! 100  clone(child_stack=NULL, flags=SIGCHLD) = 101
//! 101  read(4, "x"..., 10) = 10
//! ```
//!
//! The grammar has made a row of the last line: task 101, `fd` 4, `requested` 10, `bytes` 10, and
//! an effect that says "uses a descriptor, reads, at the position".
//!
//! 1. `block_order.rs` goes through the rows of a block in the order of the log, and with them
//!    through the entries of calls whose rows come later. `events/model_rows.rs` has marked the
//!    rows that have to be looked at.
//! 2. The row needs nothing unusual, so `common_rows.rs` handles it, and `common_transfers.rs` what it
//!    moves. Any other row goes through `calls.rs`; both give the same result. `block_rows.rs` holds the rows meanwhile, and those
//!    that the model adds.
//! 3. `tasks/` finds task 101. `tasks/fork.rs` made it when clone returned: without `CLONE_FILES`,
//!    its fd table is a copy of its parent's (clone(2)).
//! 4. `descriptors/fd_table.rs` leads from 4 to the open file description that
//!    `descriptors/open.rs` made for 3: both numbers, in both tasks, refer to one description
//!    (fork(2), dup(2)).
//! 5. `transfers/transfer.rs` finds where the read began. The position of the description is 0, and
//!    no other call was moving it, so the offset is 0, `exact`, and the class `first`. The position
//!    is 10 from now on, for all four descriptors, and `files/length.rs` knows that the file has at
//!    least 10 bytes.
//! 6. `descriptors/columns.rs` notes that the row shows this description. Its number, path and file
//!    are written later, by any thread: `events/model_columns.rs`.
//!
//! What a call does beyond that (it opens, closes, forks, executes, renames …) is in
//! `tasks/effects.rs`, and for data, positions and sizes in `transfers/effects.rs`.
//!
//! # When effects happen
//!
//! Between entry and exit of a call other tasks run. The log shows the order of entries and exits,
//! so each effect takes place at the one that the kernel guarantees:
//!
//! | effect | when | why |
//! |---|---|---|
//! | a call holds a description | entry to exit | the kernel has a reference (`fdget`) |
//! | `close`, `close_range` free numbers | entry | the number is free early: close(2) |
//! | `open`, `dup`, `pipe`, `accept` make descriptors | exit | only the result names them |
//! | a fork makes a task | entry, if the child shows itself | only the result names the child |
//! | a transfer moves the position, changes the size | exit | its bytes are known |
//!
//! Because of the reference, another thread may close the number during a call. If it gives the
//! number to another description meanwhile, the call may be on either: the kernel takes the
//! reference after the entry is in the log (`tasks/number_races.rs`). A child may show itself in the
//! log before the call of its parent returns.
//!
//! # What is never guessed
//!
//! A wrong offset is worse than none.
//!
//! - Calls that overlap on one description are `ambiguous`. When the last of them has ended, the
//!   position is known again if their order does not matter (`transfers/position.rs`), and a row
//!   named `offset-burst` says what they covered together (`transfers/burst.rs`).
//! - A description that is older than the log has an unknown position. Its offsets are `relative`
//!   to its first access until something proves where that was; the proof is a row of its own,
//!   `offset-base`, and earlier rows stay as they are.
//! - The size of a file is known from calls that show or set it, as long as no call that may have
//!   changed it overlaps (`files/length.rs`). With `O_APPEND` the offset follows from it.
//! - Where annotations of `-y` contradict the model, calls were not traced, and a description of
//!   unknown position begins.
//!
//! `tests/data/kernel-rules` states these rules one by one, as logs with the rows that they must
//! give; `rules.rs` checks them.

pub(crate) mod address_space;
mod block_order;
mod block_rows;
mod calls;
mod common_rows;
mod common_transfers;
pub(crate) mod descriptors;
pub(crate) mod files;
mod numbered;
#[cfg(test)]
mod rule_tests;
mod tasks;
pub(crate) mod transfers;

use std::collections::VecDeque;

use crate::format::Format;
use crate::kernel::descriptors::messages::{Messages, UnseenMessages};
use crate::kernel::descriptors::number_in_use::{Occupants, Waiting};
use crate::kernel::descriptors::open_file_description::DescriptionRef;
use crate::kernel::tasks::Tasks;
use crate::kernel::tasks::comm::Comms;
use crate::kernel::transfers::aio::Aio;

/// The descriptions that the two descriptors of a row refer to.
type Bound = [Option<DescriptionRef>; 2];

/// The state of the system that one source was recorded on.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    tasks: Tasks,
    comms: Comms,
    messages: Messages,
    aio: Aio,
    /// Number of the block at hand, from 1.
    block: u64,
    /// How many pipes and pairs of sockets were made so far.
    pairs: u32,
    /// The log shows a close. Where it shows none, perhaps closes were not traced.
    closed: bool,
    /// The log shows a rename. Where it shows none, perhaps renames were not traced.
    renamed: bool,
    /// The source is one log in several files (`strace -ff`): only times show where calls end.
    cut: bool,
    /// Only tasks are traced that traced tasks make, unlike in a log of the whole system.
    follows: bool,
    /// Where the log does not show which descriptors messages carry: who sends and receives any.
    unseen: UnseenMessages,
    /// Notices that supervisors of seccomp have received, and which tasks wait; the latest last.
    notices: VecDeque<(u64, i32)>,
    /// From here on calls may change other files than the log names, if any.
    unseen_changes: bool,
    waiting: Vec<Waiting>,
    occupants: Occupants,
    /// strace leaves tasks that start programs.
    leaves_programs: bool,
    /// Results of `lseek` may be the lower halves of positions.
    narrow: bool,
}

impl Kernel {
    /// An empty model, for a log of this format; `complete`: all calls are in it, as the user says.
    pub(crate) fn new(format: &Format, complete: bool) -> Self {
        let cut = format.is_merged();
        let mut this =
            Self { cut, follows: matches!(format, Format::Strace(_)), ..Self::default() };
        this.tasks.separate = cut;
        this.tasks.attached = this.follows;
        this.tasks.files.complete = complete;
        this.tasks.hides_children = format.hides_children() && !complete;
        this.narrow = format.is_narrow();
        this.leaves_programs = format.leaves_programs();
        this.messages.complete = complete;
        this.messages.hides_failures = format.hides_failures() && !complete;
        if format.is_unordered() {
            this.tasks.lose_order();
        }
        if format.is_filtered() {
            this.tasks.files.filter();
        }
        this
    }
}
