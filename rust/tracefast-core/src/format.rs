//! One interface to the two formats of logs, for the stages that work with either.

use std::borrow::Cow;

use crate::events::line_counts::LineUse;
use crate::events::parsed_block::Parsed;
use crate::events::schema::Column as C;
use crate::events::split_calls::SecondHalf;
use crate::events::vocabulary::EventKind;
use crate::ftrace::{self, Machine};
use crate::strace;
use crate::text::block::{Block, OWN_START};
use crate::text::parts::{PART, parts};
use crate::text::{string_view, typeset};

// Lines of merged logs have a prefix before what a line of strace is recognized by.
const _: () = assert!(strace::leader::line_layout::LOOK + strace::task_prefix::PREFIX <= OWN_START);

/// The format of a log, with everything that must be known before parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text of strace.
    Strace(strace::Format),
    /// Text of tracefs or trace-cmd report.
    Ftrace(ftrace::Format),
}

/// The format that a user asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// `strace`
    Strace,
    /// `ftrace`
    Ftrace,
}

/// The state of one worker: what both grammars keep between blocks.
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
        if parsed.counts.lines(LineUse::Unparsed) > 0 {
            parsed.oddities.other_format += format.lines_of_other(block.text(), parsed);
        }
        parsed.find_model_rows();
    }
}

/// How many lines of either format decide between them.
const ENOUGH: usize = 100;

/// Whether the text is rather ftrace's than strace's. Most logs show that in their first lines;
/// others come behind text of any length.
fn is_ftrace(text: &[u8]) -> bool {
    if ftrace::wrapper::is_page(text) {
        let likeness = ftrace::likeness(text);
        return likeness > PART || likeness > strace::likeness(text);
    }
    let (mut ftrace, mut strace) = (0, 0);
    for part in parts(text) {
        let likeness = ftrace::likeness(part);
        if likeness > PART {
            return true;
        }
        ftrace += likeness;
        strace += strace::likeness(part);
        if ftrace + strace >= ENOUGH {
            break;
        }
    }
    ftrace > strace
}

/// How many lines of `text` look like those of either format.
pub(crate) fn likeness(text: &[u8]) -> usize {
    ftrace::likeness(text).max(strace::likeness(text))
}

impl Format {
    /// Detects the format by the first lines of a log that look like one, within `wanted` if that is
    /// given. `None` if no line is recognized.
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
            None if is_ftrace(text) => ftrace(),
            None | Some(Wanted::Strace) => strace(),
        }
    }

    /// What keeps these lines from being read as a log, where they were in a word processor or on a
    /// page that replaces blanks and quotes.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::format::Format;
    /// let text = "open(\u{201c}/x\u{201d}, O_RDONLY) = 3\n".as_bytes();
    /// assert_eq!(Format::typeset(text), Some("typographic quotes"));
    /// assert_eq!(Format::typeset(b"open(\"/x\", O_RDONLY) = 3\n"), None);
    /// ```
    pub fn typeset(text: &[u8]) -> Option<&'static str> {
        let plain = typeset::plain(text)?;
        let damaged = match Self::detect(text, None) {
            None => Self::detect(&plain, None).is_some(),
            Some(Self::Strace(_)) => strace::are_typeset(text, &plain),
            Some(Self::Ftrace(_)) => false,
        };
        damaged.then(|| typeset::described(text))
    }

    /// How many lines that were not understood look like those of the other format.
    #[cold]
    fn lines_of_other(&self, text: &[u8], parsed: &Parsed) -> u64 {
        let rows = &parsed.rows;
        // A row whose kind is not known yet has what another block left there.
        let unparsed = |row: &usize| {
            rows.has(*row, C::Kind)
                && rows.has(*row, C::Args)
                && rows.kind[*row] == EventKind::Unparsed as u8
        };
        let is_other = |row: &usize| {
            let line = string_view::unpack(&rows.args[*row], text, &parsed.side.bytes);
            match self {
                Self::Strace(_) => ftrace::likeness(line) > 0,
                Self::Ftrace(_) => strace::is_event(line.trim_ascii_end()),
            }
        };
        (0..rows.len).filter(unparsed).filter(is_other).count() as u64
    }

    /// The format to parse with if no line is recognized but the user names the format.
    pub fn from_wanted(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Strace => Self::Strace(strace::Format::default()),
            Wanted::Ftrace => Self::Ftrace(ftrace::Format::default()),
        }
    }

    /// The format of a log that was recorded on `machine`. Only ftrace needs to know.
    #[must_use]
    pub fn with_machine(self, machine: Option<Machine>) -> Self {
        match (self, machine) {
            (Self::Ftrace(format), Some(machine)) => {
                Self::Ftrace(ftrace::Format { abi: format.abi.on_machine(machine), ..format })
            }
            _ => self,
        }
    }

    /// Its name in the metadata.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Strace(_) => "strace",
            Self::Ftrace(format) => format.name(),
        }
    }

    /// The machine whose numbers of system calls ftrace's lines use.
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

    /// What was expected on `line`, which could not be parsed.
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

    /// Whether the line does not belong to the line before it, so that a block may start with it.
    /// The first `LINE_START` bytes of the line are enough.
    #[inline]
    pub fn stands_alone(&self, line: &[u8]) -> bool {
        match self {
            Self::Strace(format) => format.stands_alone(line),
            Self::Ftrace(format) => format.stands_alone(line),
        }
    }

    /// The task of the first lines without a pid, where only some lines have one.
    pub fn root(&self) -> Option<i32> {
        match self {
            Self::Strace(format) => format.root,
            Self::Ftrace(_) => None,
        }
    }

    /// The time from the last line of a block, which printed `printed`, to the first line of the
    /// next one, beyond the difference of their times: whole days.
    pub fn pause(&self, printed: Option<i64>, first: i64) -> i64 {
        match (self, printed) {
            (Self::Strace(format), Some(printed)) => format.pause(printed, first),
            _ => 0,
        }
    }

    /// Whether these are the merged lines of several logs of strace, each with a prefix that has
    /// its task and number.
    #[inline]
    pub fn is_merged(&self) -> bool {
        matches!(self, Self::Strace(format) if format.merged)
    }

    /// Whether the log does not show in which order calls of different tasks took place.
    pub(crate) fn is_unordered(&self) -> bool {
        matches!(self, Self::Strace(format) if format.unordered)
    }

    /// Whether calls that move positions are missing in the log.
    pub(crate) fn is_filtered(&self) -> bool {
        matches!(self, Self::Strace(format) if format.traced.are_filtered())
    }

    /// Whether processes of 32 bits are in the log, on a machine that may have 64.
    pub(crate) fn is_narrow(&self) -> bool {
        matches!(self, Self::Strace(format) if format.traced.are_narrow())
    }

    /// The width at which its lines look wrapped.
    pub(crate) fn wrapped(&self) -> Option<u32> {
        match self {
            Self::Strace(format) => format.wrap.map(|wrap| wrap.width),
            Self::Ftrace(_) => None,
        }
    }

    /// Whether calls of children may be missing in the log, until a child shows itself.
    pub(crate) fn hides_children(&self) -> bool {
        matches!(self, Self::Strace(format) if format.hides_children)
    }

    /// Whether calls that failed may be missing in the log.
    pub(crate) fn hides_failures(&self) -> bool {
        matches!(self, Self::Strace(format) if format.hides_failures)
    }

    /// Whether tasks that start programs are not in the log from there on.
    pub(crate) fn leaves_programs(&self) -> bool {
        matches!(self, Self::Strace(format) if format.leaves_programs)
    }

    /// Bytes of what another program put before the line.
    pub(crate) fn prefix_len(&self, line: &[u8]) -> usize {
        match self {
            Self::Strace(format) => {
                format.prefix.as_ref().and_then(|prefix| prefix.skip(line)).unwrap_or(0)
            }
            Self::Ftrace(format) => format.own(line).0,
        }
    }

    /// Several lines without what the merge or other programs added to each.
    pub(crate) fn own_lines<'a>(&self, lines: &'a [u8]) -> Cow<'a, [u8]> {
        match self {
            Self::Strace(format) => format.own_lines(lines),
            Self::Ftrace(format) => format.own_lines(lines),
        }
    }

    /// Joins the halves of a call in `row`.
    pub fn finish(&self, parsed: &mut Parsed, text: &[u8], row: usize, half: SecondHalf<'_>) {
        match self {
            Self::Strace(format) => strace::finish(parsed, text, row, format, half),
            Self::Ftrace(format) => ftrace::finish(parsed, text, row, format, half),
        }
    }

    /// Whether a second half with the name `exit` ends a call with the name `enter`.
    pub fn ends(&self, enter: &str, exit: &str) -> bool {
        match self {
            Self::Strace(_) => enter == exit,
            Self::Ftrace(format) => format.abi.ends(enter, exit),
        }
    }

    /// Fills the columns of a call without an end from its arguments, the last of which may be a
    /// part of one if they are `partial`.
    pub fn abandon(
        &self,
        parsed: &mut Parsed,
        row: usize,
        args: &[u8],
        (sys, partial): (u16, bool),
    ) {
        match self {
            Self::Strace(_) => strace::abandon(parsed, row, args, sys, partial),
            Self::Ftrace(format) => ftrace::abandon(parsed, row, format, args, sys),
        }
    }
}
