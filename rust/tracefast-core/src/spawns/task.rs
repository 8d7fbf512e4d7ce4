//! What is kept of tasks, of processes, and of what made them.

use super::hints::{Deeds, Program};
use super::pipes::Wait;
use super::startup::{Started, Startup};
use super::words::Maker;
use crate::spawns_kind::Kind;

/// Lines of a new process whose distances are kept, until it starts a program.
pub(super) const FRESH: u32 = 256;

/// The execve that succeeded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exec {
    pub(super) ts: Option<i64>,
    pub(super) dur: Option<i64>,
}

/// One incarnation of a thread.
#[derive(Debug, Default)]
pub(super) struct Task {
    pub(super) source: u32,
    /// Its number in the events; None as long as only its maker was seen.
    pub(super) number: Option<u32>,
    /// It has rows of its own.
    pub(super) seen: bool,
    pub(super) pid: Option<i32>,
    /// Its process.
    pub(super) process: Option<u32>,
    /// What made it.
    pub(super) birth: Option<u32>,
    /// The first time that is known of it, and when its creation returned in it.
    pub(super) first: Option<i64>,
    pub(super) returned: Option<i64>,
    /// Twice the numbers of the rows in which it first and last lived; one more: behind that row.
    pub(super) born_row: u64,
    pub(super) ended_row: Option<u64>,

    /// The entry of its last call.
    pub(super) last: Option<i64>,
    /// It called `set_robust_list` first, or second: so do threads of the C library.
    pub(super) robust: bool,
    /// Calls before it started a program, and their distances.
    pub(super) lines: u32,
    pub(super) gaps: Vec<u32>,
    pub(super) exec: Option<Exec>,
    pub(super) exec_failed: u32,
    pub(super) exec_failed_ns: Option<i64>,
    /// The program of that execve; of the event that tells of one.
    pub(super) image: Option<u32>,
    pub(super) event_image: Option<u32>,
    pub(super) event_image_ts: Option<i64>,
    pub(super) startup: Option<Box<Startup>>,
    pub(super) started: Option<Started>,

    pub(super) exit_asked: Option<i64>,
    pub(super) exit_line: Option<i64>,
    pub(super) exit_event: Option<i64>,
    pub(super) status: Option<i32>,
    pub(super) status_asked: Option<i32>,
    pub(super) signal: Option<u32>,
    pub(super) collected: Option<i64>,
    /// The signal that tells of its end was seen.
    pub(super) told: bool,
    pub(super) utime_ns: Option<i64>,
    pub(super) stime_ns: Option<i64>,

    /// Its calls that the kernel starts anew.
    pub(super) attempts: Vec<u32>,
    /// The last birth that it made, and the last one that only an event tells of.
    pub(super) made: Option<u32>,
    pub(super) announced: Option<u32>,
    /// Evidence, on demand.
    pub(super) deeds: Deeds,
}

impl Task {
    /// When it began to run.
    pub(super) fn start(&self) -> Option<i64> {
        self.returned.or(self.first)
    }

    /// When it ended.
    pub(super) fn end(&self) -> Option<i64> {
        self.exit_line.or(self.exit_event)
    }
}

/// The program of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Image {
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
pub(super) struct Process {
    pub(super) image: Image,
    /// What made it.
    pub(super) birth: Option<u32>,
    /// Its first thread was seen.
    pub(super) led: bool,
    /// Evidence, on demand, where the image is not known.
    pub(super) program: Program,
    /// Its memory, as events tell.
    pub(super) anon: Option<i64>,
    /// The last birth that one of its tasks made.
    pub(super) made: Option<u32>,
}

/// A task that was made, or that could not be.
#[derive(Debug, Default)]
pub(super) struct Birth {
    pub(super) source: u32,
    pub(super) ts: Option<i64>,
    pub(super) line: Option<u64>,
    pub(super) task: Option<u32>,
    pub(super) pid: Option<i32>,
    pub(super) tid: Option<i32>,
    /// The caller, and its process.
    pub(super) caller: Option<u32>,
    pub(super) process: Option<u32>,
    /// The process has a program of its own, whose name this is.
    pub(super) image: Image,
    pub(super) comm: Option<u32>,
    pub(super) name: Option<Maker>,
    pub(super) kind: Option<Kind>,
    /// What the event that tells of new tasks says.
    pub(super) event_flags: Option<u32>,
    pub(super) child: Option<u32>,
    pub(super) child_task: Option<u32>,
    pub(super) child_pid: Option<i32>,
    pub(super) errno: Option<u32>,
    pub(super) call: Option<i64>,
    /// Calls, and whether the last one is to be started anew.
    pub(super) attempts: u32,
    pub(super) interrupted: bool,
    pub(super) anon: Option<i64>,
    /// Events that told of it, while no call did.
    pub(super) by_new_task: bool,
    pub(super) by_fork: bool,
    /// The row at which it was known.
    pub(super) row: u64,
    pub(super) pipe: Option<Wait>,
    /// It turned out to be a part of another one.
    pub(super) joined: bool,
}
