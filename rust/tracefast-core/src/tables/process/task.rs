//! What is known of one task.

use crate::linux::child_status::Outcome;
use crate::linux::clone::Kind;

/// How a task came to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Birth {
    /// Number of the task that made it.
    pub(crate) parent: u32,
    pub(crate) kind: Option<Kind>,
    /// The row that tells of it.
    pub(crate) row: u64,
    /// When the call that made it was entered, or the event happened.
    pub(crate) ts: Option<i64>,
    /// A call tells of it, which knows better than an event.
    pub(crate) by_call: bool,
    /// It was `clone3`.
    pub(crate) clone3: bool,
}

/// The end of a task.
#[derive(Debug, Clone)]
pub(crate) struct End {
    pub(crate) row: u64,
    pub(crate) ts: Option<i64>,
    /// Another thread took its place by execve: the process goes on.
    pub(crate) superseded: bool,
    /// It is the tracer that tells: of the leader of a process only when no thread is left.
    pub(crate) traced: bool,
    pub(crate) outcome: Option<Outcome>,
}

/// A program that was started.
#[derive(Debug)]
pub(crate) struct Exec {
    pub(crate) row: u64,
    /// None where the log does not have it.
    pub(crate) path: Option<Box<str>>,
    /// The task took the place of the leader of its process by it.
    pub(crate) by_thread: bool,
}

/// What is known of one task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) source: u32,
    pub(crate) id: u32,
    /// Thread and process; of a task that has not shown itself what its maker was told.
    pub(crate) tid: Option<i32>,
    pub(crate) pid: Option<i32>,
    /// It has rows of its own.
    pub(crate) seen: bool,
    /// The row of the first sign of it.
    pub(crate) row: u64,
    pub(crate) ts_start: Option<i64>,
    pub(crate) comm: Option<u32>,
    pub(crate) execs: Vec<Exec>,
    /// An event told of the program that the call at hand starts.
    pub(crate) exec_told: bool,
    pub(crate) birth: Option<Birth>,
    pub(crate) end: Option<End>,
    /// The status that it asked to exit with: row, status, and whether for the whole process.
    pub(crate) asked: Option<(u64, i32, bool)>,
    /// The task that was told of its end, as parents are, and how it ended.
    pub(crate) guardian: Option<u32>,
    pub(crate) told: Option<Outcome>,
}

impl Task {
    pub(crate) fn new(source: u32, id: u32, row: u64) -> Self {
        Self {
            source,
            id,
            tid: None,
            pid: None,
            seen: false,
            row,
            ts_start: None,
            comm: None,
            execs: Vec::new(),
            exec_told: false,
            birth: None,
            end: None,
            asked: None,
            guardian: None,
            told: None,
        }
    }
}
