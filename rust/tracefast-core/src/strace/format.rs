//! What holds for all lines of a log.

use crate::strace::call::ending::Gap;
use crate::strace::leader::clock;
use crate::strace::leader::{DAY, Delta, Layout, Time};

/// What is known of a strace log before its lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Format {
    /// Columns before each event.
    pub layout: Layout,
    /// `-T`: complete calls end with the time they took.
    pub times_calls: bool,
    /// What stands behind `resumed>`.
    pub gap: Gap,
    /// The log was written to a terminal: other text may stand within its lines.
    pub terminal: bool,
    /// The task of the first lines without a pid, in a log that names tasks only in part.
    pub root: Option<i32>,
    /// The lines of several logs, one a task, each behind a [`crate::strace::task_prefix::Prefix`].
    pub merged: bool,
    /// The task that the file is named after.
    pub task: Option<i32>,
}

impl Format {
    /// The clock of `ts`, by its name in the metadata.
    pub fn clock(&self) -> &'static str {
        match (self.layout.time, self.layout.delta) {
            (Time::Epoch, _) => "epoch",
            (Time::Day, _) => "time-of-day",
            (Time::None, Delta::Plain) => "delta",
            (Time::None, _) => "none",
        }
    }

    /// The time from the line that printed `printed`, the last of a block, to the first of the next
    /// one, beyond the difference of their times: whole days, where the log prints times of day.
    pub fn pause(&self, printed: i64, first: i64) -> i64 {
        match self.layout.time {
            Time::Day => clock::days(printed, first) * DAY,
            _ => 0,
        }
    }
}
