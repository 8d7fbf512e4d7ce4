//! The meaning of words in events for the table of files.

use crate::linux::syscalls::{Classes, classes_of};

/// Kinds of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A system call.
    Call,
    /// A completed part of an asynchronous submission.
    Part,
    /// A fact found by the model.
    Notice,
    /// Any other.
    Other,
}

impl RowKind {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "aio" => Self::Part,
            "notice" => Self::Notice,
            _ => Self::Other,
        }
    }
}

/// What a call does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Read,
    Write,
    /// Moves data from one file to another.
    Transfer,
    /// Opens it by name.
    Open,
    /// Looks at it: asks for its size and times, whether it exists, where it leads.
    Look,
    Map,
    Close,
    /// Submits to `io_uring`.
    Ring,
    /// A notice with the position to which earlier relative positions of a description refer.
    Base,
    /// A notice of what calls that overlapped covered together.
    Burst,
    /// Moves the position.
    Seek,
    /// Something else.
    Other,
}

impl Act {
    /// From the name of a system call, a part of a submission, or a notice.
    pub(crate) fn from_name(name: &str) -> Self {
        let classes = classes_of(name.as_bytes());
        if classes.has(Classes::READS.and(Classes::RECEIVES)) {
            Self::Read
        } else if classes.has(Classes::WRITES.and(Classes::SENDS)) {
            Self::Write
        } else if classes.has(Classes::TRANSFERS) {
            Self::Transfer
        } else if classes.has(Classes::OPENS) {
            Self::Open
        } else if classes.has(Classes::LOOKS) {
            Self::Look
        } else if classes.has(Classes::MAPS) {
            Self::Map
        } else if classes.has(Classes::CLOSES) {
            Self::Close
        } else if classes.has(Classes::SEEKS) {
            Self::Seek
        } else {
            match name {
                "io_uring_enter" => Self::Ring,
                "offset-base" => Self::Base,
                "offset-burst" => Self::Burst,
                _ => Self::Other,
            }
        }
    }
}

/// Class of an access, as in the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The access reached the end of the file.
    Eof,
    /// Nothing was accessed before.
    First,
    /// It starts where the previous one ended.
    Consecutive,
    /// It starts after that.
    Forward,
    /// It starts before that.
    Backward,
    /// Another word: an error, or a class of a later version.
    Other,
}

impl Class {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "eof" => Self::Eof,
            "first" => Self::First,
            "consecutive" => Self::Consecutive,
            "forward" => Self::Forward,
            "backward" => Self::Backward,
            _ => Self::Other,
        }
    }
}

/// How well a position is known, worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// The position itself.
    Exact,
    /// Relative to the description's first access.
    Relative,
    /// The position itself, if no call moved it that was not traced.
    Assumed,
    /// Relative to the description's first access, if no such call moved it.
    AssumedRelative,
    /// One of several positions.
    Ambiguous,
    /// Not at all.
    Unknown,
}

impl Known {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "exact" => Self::Exact,
            "relative" => Self::Relative,
            "assumed" => Self::Assumed,
            "assumed-relative" => Self::AssumedRelative,
            "ambiguous" => Self::Ambiguous,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Relative => "relative",
            Self::Assumed => "assumed",
            Self::AssumedRelative => "assumed-relative",
            Self::Ambiguous => "ambiguous",
            Self::Unknown => "unknown",
        }
    }
}
