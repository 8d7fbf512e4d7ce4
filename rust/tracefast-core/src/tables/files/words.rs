//! What the words in events mean for the use of files.

/// Kinds of rows that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A system call.
    Call,
    /// A part of a submission.
    Part,
    /// A remark of the model.
    Notice,
    /// Any other.
    Other,
}

impl Kind {
    pub(crate) fn of(word: &str) -> Self {
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
    /// It moves data from it.
    Read,
    /// It moves data to it.
    Write,
    /// It moves data from one file to another.
    Transfer,
    /// It opens it by a name.
    Open,
    /// It asks for its size and times.
    Stat,
    /// It maps it.
    Map,
    /// It closes a descriptor.
    Close,
    /// It submits to `io_uring`.
    Ring,
    /// A notice: earlier relative positions of a description are known from here on.
    Base,
    /// Something else.
    Other,
}

impl Act {
    /// Of a system call, a part of a submission, or a notice, by name.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "read" | "readv" | "pread64" | "pread" | "preadv" | "preadv2" | "recv" | "recvfrom"
            | "recvmsg" | "recvmmsg" | "recvmmsg_time64" => Self::Read,
            "write" | "writev" | "pwrite64" | "pwrite" | "pwritev" | "pwritev2" | "send"
            | "sendto" | "sendmsg" | "sendmmsg" => Self::Write,
            "sendfile" | "sendfile64" | "splice" | "copy_file_range" | "tee" => Self::Transfer,
            "open" | "openat" | "openat2" | "creat" | "open_by_handle_at" | "memfd_create"
            | "mq_open" => Self::Open,
            "stat" | "stat64" | "newstat" | "oldstat" | "lstat" | "lstat64" | "newlstat"
            | "oldlstat" | "fstat" | "fstat64" | "newfstat" | "oldfstat" | "fstatat64"
            | "newfstatat" | "statx" => Self::Stat,
            "mmap" | "mmap2" | "old_mmap" => Self::Map,
            "close" => Self::Close,
            "io_uring_enter" => Self::Ring,
            "offset-base" => Self::Base,
            _ => Self::Other,
        }
    }
}

/// Class of an access, as the events give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// The end of the file was met.
    Eof,
    /// Nothing was accessed before.
    First,
    /// It begins where the one before it ended.
    Consecutive,
    /// It begins behind that.
    Forward,
    /// It begins before that.
    Backward,
    /// Another word: an error, or what a later version may say.
    Other,
}

impl Class {
    pub(crate) fn of(word: &str) -> Self {
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

/// What is known of a position, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// The position itself.
    Exact,
    /// The distance from the description's first access.
    Relative,
    /// One of several.
    Ambiguous,
    /// Nothing.
    Unknown,
}

impl Known {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "exact" => Self::Exact,
            "relative" => Self::Relative,
            "ambiguous" => Self::Ambiguous,
            _ => Self::Unknown,
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Relative => "relative",
            Self::Ambiguous => "ambiguous",
            Self::Unknown => "unknown",
        }
    }
}
