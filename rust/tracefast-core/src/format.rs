//! The formats of logs, behind one face for the stages that need not know which it is.

use std::borrow::Cow;

use crate::events::parsed_block::Parsed;
use crate::events::split_calls::SecondHalf;
use crate::ftrace::{self, Machine};
use crate::strace::{self};
use crate::text::block::{Block, LINE_START};

// Merged lines have a prefix in front of what a line of strace is known by.
const _: () =
    assert!(strace::leader::line_layout::LOOK + strace::task_prefix::PREFIX <= LINE_START);

/// A log's format, with all that had to be found out before parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text of strace.
    Strace(strace::Format),
    /// Text of tracefs or trace-cmd report.
    Ftrace(ftrace::Format),
}

/// What a user may insist on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// `strace`
    Strace,
    /// `ftrace`
    Ftrace,
}

/// One worker's memory for both grammars.
#[derive(Debug, Default)]
pub struct Grammar {
    strace: strace::Grammar,
    ftrace: ftrace::Grammar,
}

impl Grammar {
    /// Parses a block.
    pub fn parse(&mut self, format: &Format, block: &mut Block, parsed: &mut Parsed) {
        match format {
            Format::Strace(format) => self.strace.parse(format, block, parsed),
            Format::Ftrace(format) => self.ftrace.parse(format, block, parsed),
        }
        parsed.find_model_rows();
    }
}

impl Format {
    /// Finds the format from the first lines of a log; `wanted` decides between the kinds. `None`:
    /// not one line was recognised.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::format::Format;
    /// assert_eq!(Format::detect(b"close(3) = 0\n", None).unwrap().name(), "strace");
    /// assert!(Format::detect(b"just text\n", None).is_none());
    /// ```
    pub fn detect(text: &[u8], wanted: Option<Wanted>) -> Option<Self> {
        let strace = || strace::detect(text).map(Self::Strace);
        let ftrace = || ftrace::detect(text).map(Self::Ftrace);
        match wanted {
            Some(Wanted::Ftrace) => ftrace(),
            None if ftrace::likeness(text) > strace::likeness(text) => ftrace(),
            None | Some(Wanted::Strace) => strace(),
        }
    }

    /// The format to parse with when nothing was recognised and the user insists.
    pub fn insisted(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Strace => Self::Strace(strace::Format::default()),
            Wanted::Ftrace => Self::Ftrace(ftrace::Format::default()),
        }
    }

    /// The same log as recorded on `machine`, if that is chosen: it matters to ftrace's only.
    #[must_use]
    pub fn on(self, machine: Option<Machine>) -> Self {
        match (self, machine) {
            (Self::Ftrace(format), Some(machine)) => {
                Self::Ftrace(ftrace::Format { abi: format.abi.on_machine(machine), ..format })
            }
            _ => self,
        }
    }

    /// Name in the metadata.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Strace(_) => "strace",
            Self::Ftrace(format) => format.name(),
        }
    }

    /// The machine by whose numbers ftrace's calls got their names.
    pub fn machine(&self) -> Option<&'static str> {
        match self {
            Self::Strace(_) => None,
            Self::Ftrace(format) => format.abi.machine_name(),
        }
    }

    /// The clock of `ts`, by its name in the metadata.
    pub fn clock(&self) -> &'static str {
        match self {
            Self::Strace(format) => format.clock(),
            Self::Ftrace(format) => format.clock(),
        }
    }

    /// What was expected on `line`, which was not understood.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::format::Format;
    /// let format = Format::detect(b"close(3) = 0\n", None).unwrap();
    /// assert!(format.explain(b"hello").starts_with("an event: NAME(…) = RESULT"));
    /// ```
    pub fn explain(&self, line: &[u8]) -> String {
        match self {
            Self::Strace(format) => strace::explain::explain(format, line),
            Self::Ftrace(format) => ftrace::explain::explain(format, line),
        }
    }

    /// The line belongs to none before it, so that a block may begin with it: told by its first
    /// [`LINE_START`] bytes.
    #[inline]
    pub fn stands_alone(&self, line: &[u8]) -> bool {
        match self {
            Self::Strace(format) if format.merged => {
                let own = line.get(strace::task_prefix::PREFIX..).unwrap_or_default();
                strace::leader::line_layout::stands_alone(own)
            }
            Self::Strace(_) => strace::leader::line_layout::stands_alone(line),
            Self::Ftrace(format) => format.stands_alone(line),
        }
    }

    /// The task of the first lines without a pid, where the log names tasks only in part.
    pub fn root(&self) -> Option<i32> {
        match self {
            Self::Strace(format) => format.root,
            Self::Ftrace(_) => None,
        }
    }

    /// What passed from the last line of a block, which printed the time `printed`, to the first of
    /// the next beyond the difference of their times.
    pub fn pause(&self, printed: Option<i64>, first: i64) -> i64 {
        match (self, printed) {
            (Self::Strace(format), Some(printed)) => format.pause(printed, first),
            _ => 0,
        }
    }

    /// The lines of several logs of strace, each with a prefix that holds its task and number.
    #[inline]
    pub fn is_merged(&self) -> bool {
        matches!(self, Self::Strace(format) if format.merged)
    }

    /// Several lines without what the merge or other programs put around each.
    pub fn own_lines<'a>(&self, lines: &'a [u8]) -> Cow<'a, [u8]> {
        match self {
            Self::Strace(format) if format.merged => strace::task_prefix::own_text(lines),
            Self::Strace(_) => Cow::Borrowed(lines),
            Self::Ftrace(format) => format.own_lines(lines),
        }
    }

    /// Joins the two halves of a call in `row`.
    pub fn finish(&self, parsed: &mut Parsed, text: &[u8], row: usize, half: SecondHalf<'_>) {
        match self {
            Self::Strace(format) => strace::finish(parsed, text, row, format, half),
            Self::Ftrace(format) => ftrace::finish(parsed, text, row, format, half),
        }
    }

    /// Whether a second half that names the call `exit` ends the call `enter`.
    pub fn ends(&self, enter: &str, exit: &str) -> bool {
        match self {
            Self::Strace(_) => enter == exit,
            Self::Ftrace(format) => format.abi.ends(enter, exit),
        }
    }

    /// Fills the columns that the arguments of a call without an end give.
    pub fn abandon(&self, parsed: &mut Parsed, row: usize, args: &[u8], sys: u16) {
        match self {
            Self::Strace(_) => strace::abandon(parsed, row, args, sys),
            Self::Ftrace(format) => ftrace::abandon(parsed, row, format, args, sys),
        }
    }
}
