//! System calls whose two halves are on different lines, as one block shows them.
//!
//! Blocks are parsed in parallel, so a block does not know what its tasks had open before it. What
//! depends on that, it leaves to the serial stage as a list of [`Deferred`] steps.

use crate::events::rows::RowClock;
use crate::events::vocabulary::{Motion, Op, Status};
use crate::text::block::TextRange;

/// A call that has not ended yet. Dictionary keys are those of the block.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenCall {
    /// Task as printed.
    pub tid: Option<i32>,
    /// Line of its first half, relative to the block.
    pub line: i64,
    /// When it was entered.
    pub ts: Option<i64>,
    /// Key of the name.
    pub name: u32,
    /// Number of the call.
    pub sys: u16,
    /// Key of the command's name.
    pub comm: Option<u32>,
    /// Processor.
    pub cpu: Option<u16>,
    /// Thread group as printed.
    pub pid: Option<i32>,
    /// Argument text of the first half.
    pub args: TextRange,
    /// Columns of the first half that are kept as they are.
    pub extra: Option<TextRange>,
    /// The security context, where other columns are between it and `extra`.
    pub context: Option<TextRange>,
    /// Lines after the first half that belong to it.
    pub frames: Option<TextRange>,
    /// A second stack, where a record is between the two.
    pub more_frames: Option<TextRange>,
    /// Its line does not say that it is unfinished: other output was written into it, or it was
    /// cut.
    pub torn: bool,
    /// The last of its arguments may be a part of one: its line was cut.
    pub partial: bool,
    /// The clock of `ts`.
    pub clock: RowClock,
    /// Its start is not in the log.
    pub headless: bool,
    /// Number of its entry in `Parsed::entries`.
    pub entry: u32,
    /// Its effect, as far as the first half shows it.
    pub head: EntryEffect,
}

/// How the log shows that an open call never ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossReason {
    /// Its task does something else, or the log ends.
    Elsewhere,
    /// Its task is killed.
    Killed,
    /// A thread's execve takes over its task's id.
    Superseded,
    /// Its task is not traced any more.
    Detached,
}

impl OpenCall {
    /// Status of its row if it never ends.
    pub(crate) fn status_if_lost(&self, reason: LossReason) -> Status {
        reason.status(self.torn)
    }
}

impl LossReason {
    /// Status of the row of such a call; `torn`: its line does not say that it is unfinished.
    pub(crate) fn status(self, torn: bool) -> Status {
        match self {
            Self::Killed => Status::Killed,
            Self::Superseded => Status::Superseded,
            Self::Detached => Status::Detached,
            Self::Elsewhere if torn => Status::Truncated,
            Self::Elsewhere => Status::Unfinished,
        }
    }
}

/// The effect of a call, as far as its first half shows it. Effects at entry use nothing else, so
/// that they do not depend on where the second half is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntryEffect {
    /// What it does.
    pub op: Op,
    /// As in [`crate::events::rows::Effect`].
    pub flags: u32,
    /// Descriptor that it acts on.
    pub fd: Option<i32>,
    /// The second one.
    pub fd2: Option<i32>,
    /// Which way it moves data.
    pub motion: Motion,
    /// It does so at the description's own position (first, second descriptor).
    pub moves: (bool, bool),
    /// As in [`crate::events::rows::Effect`].
    pub detail: Option<u32>,
}

impl EntryEffect {
    /// Whether the call may make a descriptor. Of those that use one, `fcntl`, `ioctl` and `recvmsg`
    /// do.
    #[inline]
    pub(crate) fn may_make(&self) -> bool {
        match self.op {
            Op::Open | Op::OpenAnon | Op::OpenPair | Op::OpenProcess | Op::Take | Op::Dup => true,
            Op::Use if self.motion == Motion::Write || self.moves.0 => false,
            Op::Use => self.fd.is_some_and(|fd| fd >= 0),
            _ => false,
        }
    }
}

/// A position between the rows and entries of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPosition {
    /// Rows before it.
    pub row: u32,
    /// Entries of split calls before it.
    pub entries: u32,
}

/// A step that depends on what earlier blocks left open. The serial stage takes them in order.
#[derive(Debug, Clone)]
pub enum Deferred {
    /// The task does something else: the row of a call that is still open belongs at `at`.
    TaskMovedOn {
        /// Task as printed.
        tid: Option<i32>,
        /// The place.
        at: RowPosition,
        /// What the task does instead.
        reason: LossReason,
    },
    /// A second half whose first is in an earlier block, or nowhere.
    Resume {
        /// Task as printed.
        tid: Option<i32>,
        /// The row, so far with the second half only.
        row: u32,
        /// Entries of split calls before it.
        entries: u32,
        /// Text after `resumed>`; for ftrace the return value.
        rest: TextRange,
        /// Number of the call, by its name in the second half.
        sys: u16,
        /// Bytes of the line with its line feed; 0 if another record on the line counts them.
        bytes: u64,
        /// View of the leading columns, to keep if there is no first half that has them.
        columns: Option<u128>,
        /// Where the row of the open call belongs if the halves do not name the same call; `None`
        /// if they need not.
        lost: Option<RowPosition>,
    },
    /// A middle part: the call is still unfinished after it.
    Continue {
        /// Task as printed.
        tid: Option<i32>,
        /// The part as a call of its own, in case no call is open. Its arguments are what it adds
        /// to those of the call.
        open: OpenCall,
        /// Bytes of the line with its line feed.
        bytes: u64,
    },
    /// A call left open, under the id that its end will have.
    Open {
        /// Task.
        tid: Option<i32>,
        /// The call.
        open: OpenCall,
    },
    /// Records of a processor are missing before this line, so it is not known which calls ended.
    RecordsLost {
        /// The processor; `None` for all of them: another log starts here.
        cpu: Option<u16>,
        /// Line, relative to the block.
        line: i64,
    },
    /// From `at` on, lines have a pid, or no longer have one.
    PidPrefix {
        /// Whether they have.
        prefix: PidPrefix,
        /// The place.
        at: RowPosition,
    },
    /// A task is traced from here on, or no longer.
    Trace(TraceChange),
    /// Task `by` called execve and goes on under the id `tid` (ptrace(2), "execve(2) under
    /// ptrace"). Its call becomes that of `tid`; the row of a call that `tid` had open belongs at
    /// `at`.
    Superseded {
        /// Task as printed.
        tid: Option<i32>,
        /// The thread that called execve.
        by: i32,
        /// The place.
        at: RowPosition,
    },
}

/// Whether lines name their task. On a terminal strace prints pids only while it traces several
/// tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PidPrefix {
    /// Lines have no pid: they are of the only task that is traced.
    Absent,
    /// Lines have one.
    Present,
}

/// What a line says about whether a task is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceChange {
    /// It is from here on.
    Started(i32),
    /// It called exit, or its thread group did. Older versions of strace print nothing else.
    Exiting(Option<i32>),
    /// It no longer is.
    Ended(Option<i32>),
}

/// The entry of a call whose halves are on different lines, for effects at entry.
#[derive(Debug, Clone, Copy)]
pub struct CallEntry {
    /// Rows before it.
    pub at: u32,
    /// Task as printed.
    pub tid: Option<i32>,
    /// Its effect at entry.
    pub head: EntryEffect,
    /// Where the effect is recorded.
    pub target: EntryTarget,
}

/// What a [`CallEntry`] belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryTarget {
    /// The call is still open within its block.
    Open,
    /// A row of the same block.
    Row(u32),
    /// A call that is open in the serial stage.
    Pending(u32),
}

/// The second half of a call and what is known of the first.
#[derive(Debug, Clone, Copy)]
pub struct SecondHalf<'a> {
    /// Argument text of the first half; `None` if the log does not have it.
    pub head: Option<&'a [u8]>,
    /// The last of these arguments may be a part of one.
    pub partial: bool,
    /// Number of the call.
    pub sys: u16,
    /// When it was entered.
    pub entry: Option<i64>,
    /// Text after `resumed>`, or a line that continues an interleaved call.
    pub rest: TextRange,
    /// `rest` may start with a blank, as strace up to 4.26 prints one.
    pub gap: bool,
    /// Where the only ` = ` of the second half ends, from the start of `rest` without its blank, if
    /// that is known already; otherwise it is searched for.
    pub mark: Option<Option<usize>>,
    /// Both halves are known to be UTF-8.
    pub utf8: bool,
}

impl SecondHalf<'_> {
    /// The second half of a call whose first half is not in the log.
    pub(crate) fn alone(sys: u16, rest: TextRange) -> Self {
        Self {
            head: None,
            partial: false,
            sys,
            entry: None,
            rest,
            gap: true,
            mark: None,
            utf8: false,
        }
    }
}
