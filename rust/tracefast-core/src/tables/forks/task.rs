//! What is kept about tasks and births.

use crate::linux::clone::Kind;
use crate::tables::forks::hints::Deeds;
use crate::tables::forks::pipes::Wait;
use crate::tables::forks::startup::{Started, Startup};
use crate::tables::forks::word_classes::Maker;

/// How many lines of a new process have their gaps kept, until it starts a program.
pub(crate) const FRESH: u32 = 256;

/// A successful execve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exec {
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
}

/// A thread: one use of a thread id.
#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) source: u32,
    /// Its number in the tracker; None while only its creation was seen.
    pub(crate) tracked: Option<u32>,
    /// The number of its process id; None as long as it has no rows of its own.
    pub(crate) pid: Option<u32>,
    pub(crate) birth: Option<u32>,
    /// When the creating call returned in the child.
    pub(crate) returned: Option<i64>,
    /// Twice the numbers of its first and last rows; plus one for just after that row.
    pub(crate) born_row: u64,
    pub(crate) ended_row: Option<u64>,

    /// The entry of its last call.
    pub(crate) last: Option<i64>,
    /// `set_robust_list` was its first or second call, as in threads of the C library.
    pub(crate) robust: bool,
    /// Calls before it started a program, and the gaps between them.
    pub(crate) lines: u32,
    pub(crate) gaps: Vec<u32>,
    pub(crate) exec: Option<Exec>,
    pub(crate) exec_failed: u32,
    pub(crate) exec_failed_ns: Option<i64>,
    pub(crate) startup: Option<Box<Startup>>,
    pub(crate) started: Option<Started>,

    pub(crate) exit_asked: Option<i64>,
    pub(crate) exit_line: Option<i64>,
    pub(crate) exit_event: Option<i64>,
    pub(crate) status: Option<i32>,
    pub(crate) status_asked: Option<i32>,
    pub(crate) signal: Option<u32>,
    pub(crate) collected: Option<i64>,
    /// The signal that reports its end was seen.
    pub(crate) end_signalled: bool,
    pub(crate) utime_ns: Option<i64>,
    pub(crate) stime_ns: Option<i64>,

    /// Its calls that the kernel restarts.
    pub(crate) attempts: Vec<u32>,
    /// The last birth by a call of this task, and the last one reported only by an event.
    pub(crate) made: Option<u32>,
    pub(crate) announced: Option<u32>,
    /// Evidence for advice, on request.
    pub(crate) deeds: Option<Box<Deeds>>,
}

impl Task {
    /// It has rows of its own.
    pub(crate) fn seen(&self) -> bool {
        self.pid.is_some()
    }

    pub(crate) fn end(&self) -> Option<i64> {
        self.exit_line.or(self.exit_event)
    }
}

/// The creation of a task, or the attempt.
#[derive(Debug, Default)]
pub(crate) struct Birth {
    pub(crate) source: u32,
    pub(crate) ts: Option<i64>,
    pub(crate) line: Option<u64>,
    pub(crate) task: Option<u32>,
    pub(crate) pid: Option<i32>,
    pub(crate) tid: Option<i32>,
    pub(crate) caller: Option<u32>,
    /// The caller's name, by number in the tracker.
    pub(crate) comm: Option<u32>,
    pub(crate) name: Option<Maker>,
    pub(crate) kind: Option<Kind>,
    /// The clone flags in `task_newtask`.
    pub(crate) event_flags: Option<u32>,
    pub(crate) child: Option<u32>,
    pub(crate) child_task: Option<u32>,
    pub(crate) child_pid: Option<i32>,
    pub(crate) errno: Option<u32>,
    pub(crate) call: Option<i64>,
    /// How many calls it took, and whether the kernel restarts the last one.
    pub(crate) attempts: u32,
    pub(crate) interrupted: bool,
    pub(crate) anon: Option<i64>,
    /// Which events reported it.
    pub(crate) by_new_task: bool,
    pub(crate) by_fork: bool,
    /// The row that reported it.
    pub(crate) row: u64,
    pub(crate) pipe: Option<Wait>,
    /// It turned out to be part of another birth.
    pub(crate) joined: bool,
}
