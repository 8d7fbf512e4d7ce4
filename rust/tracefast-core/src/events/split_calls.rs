//! System calls whose two halves are on different lines, as one block shows them.
//!
//! Blocks are parsed in parallel, so a block does not know what its tasks had open before it. What
//! depends on that, it leaves to the serial stage as a list of [`Deferred`] steps.

use crate::events::rows::RowClock;
use crate::events::vocabulary::{Motion, Op, Status};
use crate::text::block::TextRange;

/// A call whose end is not (yet) in sight. Dictionary keys are those of the block.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenCall {
    /// Task as printed.
    pub tid: Option<i32>,
    /// Line where it began, relative to the block.
    pub line: i64,
    /// Entry.
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
    /// The same: the security context, where other columns stand between it and `extra`.
    pub context: Option<TextRange>,
    /// Lines that follow the first half and belong to it.
    pub frames: Option<TextRange>,
    /// The same: a second stack, where a record stands between the two.
    pub more_frames: Option<TextRange>,
    /// Its line has no mark of its end: something was written into it, or it was cut.
    pub torn: bool,
    /// The clock of its time.
    pub clock: RowClock,
    /// Its begin is not in the log.
    pub headless: bool,
    /// Number of its entry in `Parsed::entries`.
    pub begin: u32,
    /// What its first half tells of its effect.
    pub head: EntryEffect,
}

/// What shows that an open call never ends.
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
    /// State of its row if it never ends.
    pub fn lost(&self, lost: LossReason) -> Status {
        match lost {
            LossReason::Killed => Status::Killed,
            LossReason::Superseded => Status::Superseded,
            LossReason::Detached => Status::Detached,
            LossReason::Elsewhere if self.torn => Status::Truncated,
            LossReason::Elsewhere => Status::Unfinished,
        }
    }
}

/// What the first half of a call tells of its effect. Effects at entry use nothing else, so that
/// they do not depend on where its second half stands.
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

/// A spot between the rows and entries of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPosition {
    /// Rows before it.
    pub row: u32,
    /// Entries of split calls before it.
    pub entries: u32,
}

/// What a block did to the calls that may be open from blocks before it, in order.
#[derive(Debug, Clone)]
pub enum Deferred {
    /// The task does something else: the row of a call that is still open belongs at `at`.
    TaskMovedOn {
        /// Task as printed.
        tid: Option<i32>,
        /// The place.
        at: RowPosition,
        /// How the log goes on for the task.
        lost: LossReason,
    },
    /// A second half whose first is in an earlier block, or nowhere.
    Resume {
        /// Task as printed.
        tid: Option<i32>,
        /// The row, so far with the facts of the second half only.
        row: u32,
        /// Entries of split calls before it.
        entries: u32,
        /// Text behind `resumed>`; for ftrace the return value.
        rest: TextRange,
        /// Number of the call by the second half.
        sys: u16,
        /// Bytes of the line, its line feed included; 0: another record on it counts them.
        bytes: u64,
        /// View of the leader's columns that are kept, if there is no first half to have them.
        columns: Option<u128>,
        /// The halves belong together only if they name the same call: otherwise the row of the
        /// open one belongs here.
        lost: Option<RowPosition>,
    },
    /// A second half that does not end its call either: the call goes on.
    Continue {
        /// Task as printed.
        tid: Option<i32>,
        /// The half as a call of its own, if it is of none that is open; its arguments are what it
        /// adds to those of the call.
        open: OpenCall,
        /// Bytes of the line, its line feed included.
        bytes: u64,
    },
    /// A call left open, under the id that its end will have.
    Open {
        /// Task.
        tid: Option<i32>,
        /// The call.
        open: OpenCall,
    },
    /// Records of a processor are missing before this line: it is not known which calls they ended.
    RecordsLost {
        /// The processor; `None`: of all, since another log begins.
        cpu: Option<u16>,
        /// Line, relative to the block.
        line: i64,
    },
    /// From the spot `at` on tasks are named in another way.
    PidPrefix {
        /// How.
        prefix: PidPrefix,
        /// The place.
        at: RowPosition,
    },
    /// A task is traced, or no more.
    Trace(TraceChange),
    /// Task `tid` goes on as what was task `by`, whose call becomes its own; a call of `tid` that
    /// is still open belongs to the spot `at`.
    Superseded {
        /// Task as printed.
        tid: Option<i32>,
        /// The thread that called execve.
        by: i32,
        /// The place.
        at: RowPosition,
    },
}

/// How strace names tasks in a log without a column of pids: not at all while there is one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PidPrefix {
    /// Lines have no pid: they are of the one task that is traced.
    Absent,
    /// Lines have one.
    Present,
}

/// What a line says of a task being traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceChange {
    /// It is.
    Started(i32),
    /// It called exit, or its thread group did: older versions say no more of it.
    Exiting(Option<i32>),
    /// It is no more.
    Ended(Option<i32>),
}

/// The entry of a call whose two halves stand on different lines: for effects at entry.
#[derive(Debug, Clone, Copy)]
pub struct CallEntry {
    /// Rows that stand before it.
    pub at: u32,
    /// Task as printed.
    pub tid: Option<i32>,
    /// What it does there.
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
    /// A pending call of the serial stage.
    Pending(u32),
}

/// A second half and what is known of the first.
#[derive(Debug, Clone, Copy)]
pub struct SecondHalf<'a> {
    /// Argument text of the first half; `None`: the log has none.
    pub head: Option<&'a [u8]>,
    /// Number of the call.
    pub sys: u16,
    /// When it was entered.
    pub entry: Option<i64>,
    /// Text behind `resumed>`, or a line that goes on with a torn call.
    pub rest: TextRange,
    /// There may be a blank in front of `rest`, of versions up to 4.26.
    pub gap: bool,
    /// Where the only ` = ` of the second half ends, counted from the begin of `rest` without its
    /// gap, if that is known already; else it is looked for.
    pub mark: Option<Option<usize>>,
    /// Both halves are known to be UTF-8.
    pub utf8: bool,
}
