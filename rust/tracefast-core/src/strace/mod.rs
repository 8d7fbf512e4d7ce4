//! The grammar of strace's text: from a block of lines to rows, without a look at other blocks.

pub mod call;
pub(crate) mod colour;
pub mod detect;
pub(crate) mod explain;
pub(crate) mod fields;
pub mod leader;
pub(crate) mod non_calls;
mod parser;
pub mod task_prefix;

use crate::strace::call::ending;
use crate::strace::call::result;
use crate::strace::call::row;
use crate::strace::detect::first_task;
use crate::strace::leader::clock;
use crate::strace::leader::line_layout;
use crate::strace::non_calls::classify;

pub use parser::Grammar;

use crate::events::parsed_block::Parsed;
use crate::events::split_calls::SecondHalf;

use crate::strace::call::ending::Gap;
use crate::strace::non_calls::classify::Other;

use leader::{DAY, Delta, Layout, Pid, Time};

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
    /// The lines of several logs, one a task, each behind a [`task_prefix::Prefix`].
    pub merged: bool,
    /// The task that the file is named after.
    pub task: Option<i32>,
}

/// The format of a log by its first lines; `None` if they are not strace's.
///
/// # Examples
/// ```
/// use tracefast_core::strace::{self, leader::{Pid, Time}};
/// let format = strace::detect(b"7 1795175299.690276 close(3) = 0 <0.000011>\n").unwrap();
/// assert_eq!(format.layout.pid, Pid::Plain);
/// assert_eq!(format.layout.time, Time::Epoch);
/// assert!(format.times_calls);
/// ```
pub fn detect(text: &[u8]) -> Option<Format> {
    let mut plain = Vec::new();
    let text = if memchr::memmem::find(text, b"\x1b[").is_some() {
        plain.extend_from_slice(text);
        let len = colour::strip(&mut plain);
        &plain[..len]
    } else {
        text
    };
    // A log may hold nothing but tables and messages.
    let layout = match detect::sniff(text) {
        Some((layout, _)) => layout,
        None if text.split(|&b| b == b'\n').any(classify::is_known) => Layout::default(),
        None => return None,
    };
    let mut timed = 0;
    let mut untimed = 0;
    for line in text.split(|&b| b == b'\n').take(1000) {
        if line.last() == Some(&b'>') && result::elapsed(line, 0).is_some() {
            timed += 1;
        } else if ending::only_mark(line).is_some() {
            untimed += 1;
        }
    }
    let gap = Gap::of(text);
    let bracket = layout.pid == Pid::Bracket;
    let root = bracket.then(|| first_task::find(text)).flatten();
    let terminal = bracket && is_terminal(text);
    let times_calls = timed > untimed;
    Some(Format { layout, times_calls, gap, terminal, root, ..Format::default() })
}

/// Something that strace writes to a terminal only, or that others wrote, stands in `text`.
fn is_terminal(text: &[u8]) -> bool {
    // Whole lines of its begin; the last one may be cut.
    let begin = &text[..text.len().min(1 << 18)];
    let whole = &begin[..memchr::memrchr(b'\n', begin).unwrap_or(0)];
    memchr::memmem::find(text, b"[pid ").is_some()
        || whole.split(|&b| b == b'\n').any(|line| {
            let known = line_layout::stands_alone(line)
                || is_continuation(line)
                || matches!(
                    classify::classify(line, line, true),
                    Other::Blank | Other::Summary { .. }
                );
            !known
        })
}

/// How many lines of `text` look like strace's: to choose between formats.
pub fn likeness(text: &[u8]) -> usize {
    detect::sniff(text).map_or(0, |(_, hits)| hits)
}

/// The line belongs to the event before it: a stack frame, a dump.
#[inline]
pub fn is_continuation(line: &[u8]) -> bool {
    line.first() == Some(&b' ')
        && (matches!(line.get(1..3), Some(b"| " | b"> " | b"* " | b"= "))
            || line.starts_with(b" VCPU"))
}

/// Fills the row that was kept for the second half of a call whose first half is `head`, its
/// arguments as bytes, or nowhere.
pub fn finish(parsed: &mut Parsed, text: &[u8], row: usize, format: &Format, half: SecondHalf<'_>) {
    row::finish(parsed, text, row, format, half);
}

/// Fills the columns that `args`, the text of a call without an end, gives.
pub fn abandon(parsed: &mut Parsed, row: usize, args: &[u8], sys: u16) {
    row::abandon(parsed, row, args, sys);
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

    /// See [`crate::format::Format::pause`].
    pub fn pause(&self, printed: i64, first: i64) -> i64 {
        match self.layout.time {
            Time::Day => clock::days(printed, first) * DAY,
            _ => 0,
        }
    }
}
