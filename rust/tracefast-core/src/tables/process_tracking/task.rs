//! What is known about one task.

use crate::linux::child_status::Outcome;
use crate::linux::clone::Kind;
use crate::tables::packed::Packed;
use crate::tables::process_tracking::launcher::WorkerRole;
use crate::thin_vec::ThinVec;

/// How a task was created.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Birth {
    /// Number of the task that created it.
    pub(crate) parent: u32,
    pub(crate) kind: Option<Kind>,
    /// The row that reports it.
    pub(crate) row: u64,
    /// When the creating call was entered, or the event happened.
    pub(crate) ts: Packed<i64>,
    /// How long the call took.
    pub(crate) dur: Packed<i64>,
    /// A call reports it, which knows more than an event.
    pub(crate) by_call: bool,
    /// It was `clone3`.
    pub(crate) clone3: bool,
    /// What the call returned.
    pub(crate) number: Packed<i32>,
}

/// The end of a task.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) row: u64,
    pub(crate) ts: Packed<i64>,
    /// Another thread took its place by execve; the process continues.
    pub(crate) superseded: bool,
    /// The tracer reports it, for the leader of a process only when no thread is left.
    pub(crate) traced: bool,
    pub(crate) outcome: Option<Outcome>,
}

/// A program that was started.
#[derive(Debug, Clone)]
pub(crate) struct Exec {
    pub(crate) row: u64,
    /// When the call that started it was entered.
    pub(crate) ts: Option<i64>,
    /// None if it is not in the log.
    pub(crate) path: Option<Box<str>>,
    /// Its arguments as strace prints them, which [`argv`](crate::tables::process_tracking::argv)
    /// reads. None if the log does not have them, or the tracker does not keep them.
    pub(crate) argv: Option<Box<str>>,
    /// What they show about its part among worker processes.
    pub(crate) role: Option<WorkerRole>,
    /// The task took the place of its process's leader by it.
    pub(crate) by_thread: bool,
}

/// What is known about one task.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) source: u32,
    pub(crate) id: u32,
    /// Thread id and process id; before its first row, those that its creator got.
    pub(crate) tid: Packed<i32>,
    pub(crate) pid: Packed<i32>,
    /// Its number in its pid namespace, as its calls show it, if its rows have another one.
    pub(crate) own: Packed<i32>,
    /// It has rows of its own.
    pub(crate) seen: bool,
    /// The row of its first sign.
    pub(crate) row: u64,
    pub(crate) ts_start: Packed<i64>,
    pub(crate) comm: Packed<u32>,
    pub(crate) execs: ThinVec<Exec>,
    /// An event reported the program that the current call starts.
    pub(crate) exec_reported: bool,
    pub(crate) birth: Option<Birth>,
    pub(crate) end: Option<End>,
    /// The exit status that it asked for: row, status, and whether for the whole process.
    pub(crate) asked: Option<(u64, i32, bool)>,
    /// The task that was notified of its end, as parents are, and how it ended.
    pub(crate) guardian: Packed<u32>,
    pub(crate) reported: Option<Outcome>,
}

impl Task {
    pub(crate) fn new(source: u32, id: u32, row: u64) -> Self {
        Self {
            source,
            id,
            tid: Packed::default(),
            pid: Packed::default(),
            own: Packed::default(),
            seen: false,
            row,
            ts_start: Packed::default(),
            comm: Packed::default(),
            execs: ThinVec::default(),
            exec_reported: false,
            birth: None,
            end: None,
            asked: None,
            guardian: Packed::default(),
            reported: None,
        }
    }
}
