//! What is kept about tasks, processes, and births.

use crate::linux::clone::Kind;
use crate::tables::forks::hints::{Deeds, Program};
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
    /// Its number in the events; None while only its creation was seen.
    pub(crate) number: Option<u32>,
    /// It has rows of its own.
    pub(crate) seen: bool,
    pub(crate) pid: Option<i32>,
    pub(crate) process: Option<u32>,
    pub(crate) birth: Option<u32>,
    /// The earliest known time, and when the creating call returned in the child.
    pub(crate) first: Option<i64>,
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
    /// The program of that execve, and of the event that reported one.
    pub(crate) image: Option<u32>,
    pub(crate) event_image: Option<u32>,
    pub(crate) event_image_ts: Option<i64>,
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
    pub(crate) told: bool,
    pub(crate) utime_ns: Option<i64>,
    pub(crate) stime_ns: Option<i64>,

    /// Its calls that the kernel restarts.
    pub(crate) attempts: Vec<u32>,
    /// The last birth by a call of this task, and the last one reported only by an event.
    pub(crate) made: Option<u32>,
    pub(crate) announced: Option<u32>,
    /// Evidence for advice, on request.
    pub(crate) deeds: Deeds,
}

impl Task {
    /// When it started to run.
    pub(crate) fn start(&self) -> Option<i64> {
        self.returned.or(self.first)
    }

    pub(crate) fn end(&self) -> Option<i64> {
        self.exit_line.or(self.exit_event)
    }
}

/// The program of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Image {
    /// The program of the process that created it.
    #[default]
    Inherited,
    /// Not in the log.
    Unknown,
    /// The number of its path.
    Known(u32),
}

/// A process: one use of a process id.
#[derive(Debug, Default)]
pub(crate) struct Process {
    pub(crate) image: Image,
    pub(crate) birth: Option<u32>,
    /// Its first thread was seen.
    pub(crate) led: bool,
    /// Evidence for advice, on request, if the image is not known.
    pub(crate) program: Program,
    /// Its anonymous memory in bytes, from events.
    pub(crate) anon: Option<i64>,
    /// The last birth by a call of one of its tasks.
    pub(crate) made: Option<u32>,
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
    /// The caller, and its process.
    pub(crate) caller: Option<u32>,
    pub(crate) process: Option<u32>,
    /// The caller's program, and its name.
    pub(crate) image: Image,
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
