//! The properties of a log that hold for all of its lines.

use crate::strace::call::ending::Gap;
use crate::strace::detect::traced_calls::TracedCalls;
use crate::strace::leader::clock;
use crate::strace::leader::{DAY, Delta, Layout, Time};

/// What is known about a strace log before its lines are parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Format {
    /// Columns before each event.
    pub layout: Layout,
    /// `-T`: completed calls end with their duration.
    pub times_calls: bool,
    /// Whether a blank follows `resumed>`.
    pub gap: Gap,
    /// The log was written to a terminal: other text may appear within its lines.
    pub terminal: bool,
    /// The task of the first lines without a pid, in a log that names its tasks only in part.
    pub root: Option<i32>,
    /// Several logs in one text, one per task; each line has a
    /// [`crate::strace::task_prefix::Prefix`].
    pub merged: bool,
    /// The task that the log file is named after.
    pub task: Option<i32>,
    /// The log does not show the order of calls of different tasks: lines come at the ends of calls
    /// (`-z`, `--status`), or the logs of several tasks have no times, or only seconds.
    pub unordered: bool,
    /// Which calls the first lines show.
    pub traced: TracedCalls,
    /// Calls of children may not be in the log: without `-f`.
    pub hides_children: bool,
}

impl Format {
    /// Name of the clock of `ts` in the metadata.
    pub fn clock(&self) -> &'static str {
        match (self.layout.time, self.layout.delta) {
            (Time::Epoch, _) => "epoch",
            (Time::Day, _) => "time-of-day",
            (Time::None, Delta::Plain) => "delta",
            (Time::None, _) => "none",
        }
    }

    /// Time to add between two blocks, the first of which ends with the printed time `printed` and
    /// the second of which starts with `first`: whole days, since times of day start again at
    /// midnight.
    pub fn pause(&self, printed: i64, first: i64) -> i64 {
        match self.layout.time {
            Time::Day => clock::days(printed, first) * DAY,
            _ => 0,
        }
    }
}
