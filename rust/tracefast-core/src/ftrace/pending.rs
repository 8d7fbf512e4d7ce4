//! What is kept from one line to the next, because later lines may add to it.

use crate::ftrace::non_records::open_text::OpenText;
use crate::ftrace::non_records::stacks::StackOwner;
use crate::ftrace::scan::Span;
use crate::linux::task_events::TaskEvent;

/// An event with names of tasks that are not read yet: its text may go on in the next line.
#[derive(Clone, Copy)]
pub(crate) struct PendingTaskEvent {
    pub(crate) task_event: TaskEvent,
    pub(crate) row: usize,
    pub(crate) text: Span,
}

/// What the lines that follow a record may belong to. System call records have no such lines: the
/// kernel prints a record of its own before a stack, and no line feeds within arguments.
#[derive(Clone, Copy)]
pub(crate) struct LineOwner {
    /// The row, or the call.
    pub(crate) target: StackOwner,
    /// Its text, if it may go on.
    pub(crate) text: Option<Span>,
    /// A program wrote its text: it may be anything.
    pub(crate) free: bool,
    /// Frames may follow.
    pub(crate) frames: bool,
    /// The text is a comment of `function_graph`, with a mark at its end.
    pub(crate) comment: bool,
}

/// A record with line feeds in the name of its command, so that its columns span several lines.
#[derive(Clone, Copy)]
pub(crate) struct NamePieces {
    /// Start of the first of these lines.
    pub(crate) start: usize,
    /// Start of the last one, which has the other columns.
    pub(crate) last: usize,
}

/// A line of a page without a record.
#[derive(Clone, Copy)]
pub(crate) struct PageLine {
    pub(crate) text: Span,
    /// Its number in the block.
    pub(crate) line: i64,
    /// Its bytes, the line feed included.
    pub(crate) bytes: u64,
}

/// Frames of a stack, which follow one another, so that one range holds them all.
#[derive(Clone, Copy)]
pub(crate) struct StackFrames {
    pub(crate) target: StackOwner,
    pub(crate) text: Span,
}

impl StackFrames {
    /// The first one.
    pub(crate) fn new(target: StackOwner, text: Span) -> Self {
        Self { target, text }
    }
}

/// The text of a record with line feeds in it: all of it up to the last line so far.
#[derive(Clone, Copy)]
pub(crate) struct ContinuedText {
    pub(crate) row: usize,
    pub(crate) text: Span,
    pub(crate) state: OpenText,
}
