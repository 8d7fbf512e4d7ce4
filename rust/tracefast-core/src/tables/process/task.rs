//! What events tell of one task.

use crate::linux::child_status::Outcome;
use crate::linux::clone::Kind;
use crate::linux::waits::Time;

/// Times of calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spell {
    calls: u64,
    /// Calls whose duration is known.
    told: u64,
    ns: i64,
}

impl Spell {
    #[inline]
    pub(crate) fn add(&mut self, ns: Option<i64>) {
        self.calls += 1;
        if let Some(ns) = ns {
            self.told += 1;
            self.ns = self.ns.saturating_add(ns);
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.calls += other.calls;
        self.told += other.told;
        self.ns = self.ns.saturating_add(other.ns);
    }

    /// The time in all calls; None where there were some and of none the duration is known.
    pub(crate) fn total(self) -> Option<i64> {
        (self.calls == 0 || self.told > 0).then_some(self.ns)
    }
}

/// What was done, by one task or by all of a process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    pub(crate) calls: u64,
    pub(crate) io: Spell,
    pub(crate) wait: Spell,
    pub(crate) read: i64,
    pub(crate) written: i64,
}

impl Work {
    #[inline]
    pub(crate) fn spend(&mut self, time: Time, ns: Option<i64>) {
        match time {
            Time::Io => self.io.add(ns),
            Time::Wait => self.wait.add(ns),
            Time::Work => {}
        }
    }

    pub(crate) fn join(&mut self, other: &Self) {
        self.calls += other.calls;
        self.io.join(other.io);
        self.wait.join(other.wait);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
    }
}

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

/// What events tell of one task.
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
    pub(crate) work: Work,
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
            work: Work::default(),
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
