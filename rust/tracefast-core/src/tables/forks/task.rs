//! What is kept about tasks and births.

use crate::linux::clone::Kind;
use crate::tables::forks::hints::Deeds;
use crate::tables::forks::pipes::Wait;
use crate::tables::forks::startup::{Started, Startup};
use crate::tables::forks::word_classes::Maker;
use crate::tables::packed::Packed;
use crate::thin_vec::ThinVec;

/// How many lines of a new process have their gaps kept, until it starts a program.
pub(crate) const FRESH: u32 = 256;

/// A successful execve.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exec {
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
}

/// The program that a task started, or tried to. Threads, and processes that go on with the program
/// of their parent, have none.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) exec: Option<Exec>,
    pub(crate) failed: u32,
    pub(crate) failed_ns: Option<i64>,
    pub(crate) startup: Option<Box<Startup>>,
    pub(crate) started: Option<Started>,
}

/// A thread: one use of a thread id. There may be millions, so it must be small.
#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) source: u32,
    /// Its number in the tracker; None while only its creation was seen.
    pub(crate) tracked: Packed<u32>,
    /// The number of its process id; None as long as it has no rows of its own.
    pub(crate) pid: Packed<u32>,
    pub(crate) birth: Packed<u32>,
    /// When the creating call returned in the child.
    pub(crate) returned: Packed<i64>,
    /// Twice the numbers of its first and last rows; plus one for just after that row.
    pub(crate) born_row: u64,
    pub(crate) ended_row: Packed<u64>,

    /// The entry of its last call.
    pub(crate) last: Packed<i64>,
    /// `set_robust_list` was its first or second call, as in threads of the C library.
    pub(crate) robust: bool,
    /// Calls before it started a program, and the gaps between them.
    pub(crate) lines: u32,
    pub(crate) gaps: ThinVec<u32>,
    pub(crate) program: Option<Box<Program>>,

    pub(crate) exit_asked: Packed<i64>,
    pub(crate) exit_line: Packed<i64>,
    pub(crate) exit_event: Packed<i64>,
    pub(crate) status: Packed<i32>,
    pub(crate) status_asked: Packed<i32>,
    pub(crate) signal: Packed<u32>,
    pub(crate) collected: Packed<i64>,
    /// The signal that reports its end was seen.
    pub(crate) end_signalled: bool,
    pub(crate) utime_ns: Packed<i64>,
    pub(crate) stime_ns: Packed<i64>,

    /// Its calls that the kernel restarts.
    pub(crate) attempts: ThinVec<u32>,
    /// The last birth by a call of this task, and the last one reported only by an event.
    pub(crate) made: Packed<u32>,
    pub(crate) announced: Packed<u32>,
    /// Evidence for advice, on request.
    pub(crate) deeds: Option<Box<Deeds>>,
}

impl Task {
    /// It has rows of its own.
    #[inline]
    pub(crate) fn seen(&self) -> bool {
        !self.pid.is_none()
    }

    pub(crate) fn end(&self) -> Option<i64> {
        self.exit_line.get().or(self.exit_event.get())
    }

    /// The first program that it started.
    #[inline]
    pub(crate) fn exec(&self) -> Option<Exec> {
        self.program.as_ref()?.exec
    }

    /// How often it tried to start a program before, without success.
    pub(crate) fn execs_failed(&self) -> u32 {
        self.program.as_ref().map_or(0, |program| program.failed)
    }
}

/// The creation of a task, or the attempt.
#[derive(Debug, Default)]
pub(crate) struct Birth {
    pub(crate) source: u32,
    pub(crate) ts: Packed<i64>,
    pub(crate) line: Packed<u64>,
    pub(crate) task: Packed<u32>,
    pub(crate) pid: Packed<i32>,
    pub(crate) tid: Packed<i32>,
    pub(crate) caller: Packed<u32>,
    /// The caller's name, by number in the tracker.
    pub(crate) comm: Packed<u32>,
    pub(crate) name: Option<Maker>,
    pub(crate) kind: Option<Kind>,
    /// The clone flags in `task_newtask`.
    pub(crate) event_flags: Packed<u32>,
    pub(crate) child: Packed<u32>,
    pub(crate) child_task: Packed<u32>,
    pub(crate) child_pid: Packed<i32>,
    pub(crate) errno: Packed<u32>,
    pub(crate) call: Packed<i64>,
    /// How many calls it took, and whether the kernel restarts the last one.
    pub(crate) attempts: u32,
    pub(crate) interrupted: bool,
    pub(crate) anon: Packed<i64>,
    /// Which events reported it.
    pub(crate) by_new_task: bool,
    pub(crate) by_fork: bool,
    /// The row that reported it.
    pub(crate) row: u64,
    pub(crate) pipe: Option<Box<Wait>>,
    /// It turned out to be part of another birth.
    pub(crate) joined: bool,
}
