//! The properties of a log that hold for all of its lines.

use std::borrow::Cow;

use crate::strace::call::ending::Gap;
use crate::strace::detect::traced_calls::TracedCalls;
use crate::strace::leader::clock;
use crate::strace::leader::line_layout;
use crate::strace::leader::{DAY, Delta, Layout, Time};
use crate::strace::task_prefix;
use crate::strace::wrapped::Wrap;
use crate::text::prefix::Prefix;
use crate::text::stamp;

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
    /// Colours may be within events: `grep --color` puts them around what it found.
    pub found: bool,
    /// What other programs put before each line.
    pub prefix: Option<Prefix>,
    /// The width at which its lines were wrapped.
    pub wrap: Option<Wrap>,
    /// How long the lines are that something cut, 0 if they are whole.
    pub cut: usize,
    /// The task that the log file is named after.
    pub task: Option<i32>,
    /// The log does not show the order of calls of different tasks: lines come at the ends of calls
    /// (`-z`, `--status`), or the logs of several tasks have no times, or only seconds.
    pub unordered: bool,
    /// Which calls the first lines show.
    pub traced: TracedCalls,
    /// Calls of children may not be in the log: without `-f`.
    pub hides_children: bool,
    /// Calls that failed may not be in the log: `-z`.
    pub hides_failures: bool,
    /// Calls of a task are not in the log any more after it has started a program: `-b execve`.
    pub leaves_programs: bool,
}

impl Format {
    /// Name of the clock of `ts` in the metadata.
    pub fn clock(&self) -> &'static str {
        match (self.time(), self.layout.delta) {
            (Time::Epoch, _) => "epoch",
            (Time::Day, _) => "time-of-day",
            (Time::None, Delta::Plain) => "delta",
            (Time::None, _) => "none",
        }
    }

    /// The clock of the times of lines: that of the log, or that of what other programs put before
    /// its lines if it has none of its own.
    pub(crate) fn time(&self) -> Time {
        if self.is_timed_by_prefix() {
            match self.prefix.as_ref().and_then(Prefix::clock) {
                Some(stamp::Clock::Day) => return Time::Day,
                Some(stamp::Clock::Epoch) => return Time::Epoch,
                None => {}
            }
        }
        self.layout.time
    }

    /// Whether times that other programs put before lines are the only ones, if there are any.
    pub(crate) fn is_timed_by_prefix(&self) -> bool {
        (self.layout.time, self.layout.delta) == (Time::None, Delta::None)
    }

    /// Whether the line starts as only an event does (see [`line_layout::stands_alone`]).
    #[inline]
    pub(crate) fn stands_alone(&self, line: &[u8]) -> bool {
        match &self.prefix {
            Some(prefix) => line_layout::stands_alone_behind(prefix, line),
            None if self.merged => {
                line_layout::stands_alone(line.get(task_prefix::PREFIX..).unwrap_or_default())
            }
            None => match &self.wrap {
                Some(wrap) => wrap.starts_event(line),
                None => line_layout::stands_alone(line),
            },
        }
    }

    /// Several lines that belong together, the first of which has no prefix any more, without the
    /// prefixes of the others.
    pub(crate) fn own_lines<'a>(&self, lines: &'a [u8]) -> Cow<'a, [u8]> {
        if memchr::memchr(b'\n', lines).is_none() {
            return Cow::Borrowed(lines);
        }
        let ends = memchr::memmem::find(lines, b"\r\n").is_some();
        if !self.merged && self.prefix.is_none() && !ends {
            return Cow::Borrowed(lines);
        }
        let mut out = Vec::with_capacity(lines.len());
        for (number, line) in lines.split(|&b| b == b'\n').enumerate() {
            if number > 0 {
                out.push(b'\n');
            }
            let prefix = match &self.prefix {
                _ if number == 0 => 0,
                Some(prefix) => prefix.skip(line).unwrap_or(0),
                None if self.merged => task_prefix::PREFIX.min(line.len()),
                None => 0,
            };
            let line = &line[prefix..];
            out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        }
        Cow::Owned(out)
    }

    /// Time to add between two blocks, the first of which ends with the printed time `printed` and
    /// the second of which starts with `first`: whole days, since times of day start again at
    /// midnight.
    pub fn pause(&self, printed: i64, first: i64) -> i64 {
        match self.time() {
            Time::Day => clock::days(printed, first) * DAY,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strace::task_prefix::{Mark, Prefix as TaskPrefix};

    #[test]
    fn continuation_lines_lose_their_prefixes() {
        let merged = Format { merged: true, ..Format::default() };
        let prefix = TaskPrefix { pid: 7, line: 3, mark: Mark::None }.text();
        let text = [b" > a(b)\n", &prefix[..], b" > c(d)"].concat();
        assert_eq!(*merged.own_lines(&text), *b" > a(b)\n > c(d)");
        assert_eq!(*merged.own_lines(b" > a(b)"), *b" > a(b)");
        let prefix = Prefix::find(b"x: close(3) = 0\n", |text| text.starts_with(b"close"));
        let pasted = Format { prefix, ..Format::default() };
        assert_eq!(*pasted.own_lines(b" > a(b)\nx:  > c(d)"), *b" > a(b)\n > c(d)");
        let plain = Format::default();
        assert_eq!(*plain.own_lines(b" > a(b)\r\n > c(d)"), *b" > a(b)\n > c(d)");
    }
}
