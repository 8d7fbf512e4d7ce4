//! What is kept of tasks, of processes, and of what made them.

use crate::linux::clone::Kind;
use crate::tables::forks::hints::{Deeds, Program};
use crate::tables::forks::pipes::Wait;
use crate::tables::forks::startup::{Started, Startup};
use crate::tables::forks::words::Maker;

/// Lines of a new process whose distances are kept, until it starts a program.
pub(crate) const FRESH: u32 = 256;

/// The execve that succeeded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exec {
    pub(crate) ts: Option<i64>,
    pub(crate) dur: Option<i64>,
}

/// One incarnation of a thread.
#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) source: u32,
    /// Its number in the events; None as long as only its maker was seen.
    pub(crate) number: Option<u32>,
    /// It has rows of its own.
    pub(crate) seen: bool,
    pub(crate) pid: Option<i32>,
    /// Its process.
    pub(crate) process: Option<u32>,
    /// What made it.
    pub(crate) birth: Option<u32>,
    /// The first time that is known of it, and when its creation returned in it.
    pub(crate) first: Option<i64>,
    pub(crate) returned: Option<i64>,
    /// Twice the numbers of the rows in which it first and last lived; one more: behind that row.
    pub(crate) born_row: u64,
    pub(crate) ended_row: Option<u64>,

    /// The entry of its last call.
    pub(crate) last: Option<i64>,
    /// It called `set_robust_list` first, or second: so do threads of the C library.
    pub(crate) robust: bool,
    /// Calls before it started a program, and their distances.
    pub(crate) lines: u32,
    pub(crate) gaps: Vec<u32>,
    pub(crate) exec: Option<Exec>,
    pub(crate) exec_failed: u32,
    pub(crate) exec_failed_ns: Option<i64>,
    /// The program of that execve; of the event that tells of one.
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
    /// The signal that tells of its end was seen.
    pub(crate) told: bool,
    pub(crate) utime_ns: Option<i64>,
    pub(crate) stime_ns: Option<i64>,

    /// Its calls that the kernel starts anew.
    pub(crate) attempts: Vec<u32>,
    /// The last birth that it made, and the last one that only an event tells of.
    pub(crate) made: Option<u32>,
    pub(crate) announced: Option<u32>,
    /// Evidence, on demand.
    pub(crate) deeds: Deeds,
}

impl Task {
    /// When it began to run.
    pub(crate) fn start(&self) -> Option<i64> {
        self.returned.or(self.first)
    }

    /// When it ended.
    pub(crate) fn end(&self) -> Option<i64> {
        self.exit_line.or(self.exit_event)
    }
}

/// The program of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Image {
    /// That of the process that made it.
    #[default]
    Inherited,
    /// The log does not tell.
    Unknown,
    /// By number of its name.
    Known(u32),
}

/// One incarnation of a process.
#[derive(Debug, Default)]
pub(crate) struct Process {
    pub(crate) image: Image,
    /// What made it.
    pub(crate) birth: Option<u32>,
    /// Its first thread was seen.
    pub(crate) led: bool,
    /// Evidence, on demand, where the image is not known.
    pub(crate) program: Program,
    /// Its memory, as events tell.
    pub(crate) anon: Option<i64>,
    /// The last birth that one of its tasks made.
    pub(crate) made: Option<u32>,
}

/// A task that was made, or that could not be.
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
    /// The process has a program of its own, whose name this is.
    pub(crate) image: Image,
    pub(crate) comm: Option<u32>,
    pub(crate) name: Option<Maker>,
    pub(crate) kind: Option<Kind>,
    /// What the event that tells of new tasks says.
    pub(crate) event_flags: Option<u32>,
    pub(crate) child: Option<u32>,
    pub(crate) child_task: Option<u32>,
    pub(crate) child_pid: Option<i32>,
    pub(crate) errno: Option<u32>,
    pub(crate) call: Option<i64>,
    /// Calls, and whether the last one is to be started anew.
    pub(crate) attempts: u32,
    pub(crate) interrupted: bool,
    pub(crate) anon: Option<i64>,
    /// Events that told of it, while no call did.
    pub(crate) by_new_task: bool,
    pub(crate) by_fork: bool,
    /// The row at which it was known.
    pub(crate) row: u64,
    pub(crate) pipe: Option<Wait>,
    /// It turned out to be a part of another one.
    pub(crate) joined: bool,
}
