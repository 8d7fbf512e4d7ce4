//! The closed vocabularies of the schema: kinds, statuses, file types, classes of access.
//!
//! Their dictionaries are complete from the first batch on, so a key means the same everywhere.

/// Defines an enum whose variants are the keys of a dictionary column.
macro_rules! vocabulary {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident => $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every value, in the order of the keys.
            pub const TEXTS: &'static [&'static str] = &[$($text,)+];

            /// The word in tables.
            pub fn text(self) -> &'static str {
                Self::TEXTS[self as usize]
            }
        }
    };
}

vocabulary! {
    /// What a row is.
    EventKind {
        /// A system call, both halves joined.
        Syscall => "syscall",
        /// A signal, or a stop by one.
        Signal => "signal",
        /// The end of a task.
        Exit => "exit",
        /// A tracepoint or probe.
        Event => "event",
        /// A traced function.
        Function => "function",
        /// Text written by a program or a driver.
        Marker => "marker",
        /// A number of records that the tracer lost.
        Lost => "lost",
        /// One completed part of an asynchronous submission.
        Aio => "aio",
        /// A fact found by the model.
        Notice => "notice",
        /// A line that was not understood.
        Unparsed => "unparsed",
    }
}

vocabulary! {
    /// How a call ended.
    Status {
        /// Its start and its end are in the log.
        Complete => "complete",
        /// Ended with one of the ERESTART codes.
        Interrupted => "interrupted",
        /// The tracer made up the result; the call did not take place.
        Injected => "injected",
        /// The tracer delayed the call, which did take place.
        Delayed => "delayed",
        /// No end in the log.
        Unfinished => "unfinished",
        /// An end without a start.
        Headless => "headless",
        /// The task died during the call.
        Killed => "killed",
        /// The tracer detached from the task during the call.
        Detached => "detached",
        /// Another thread's execve took the task's place.
        Superseded => "superseded",
        /// The tracer could not read the result.
        Unavailable => "unavailable",
        /// The line is truncated.
        Truncated => "truncated",
    }
}

vocabulary! {
    /// The type of file that a descriptor refers to.
    FileType {
        /// Regular file.
        Regular => "regular",
        /// Directory.
        Directory => "directory",
        /// Pipe without a name.
        Pipe => "pipe",
        /// Pipe with a name.
        Fifo => "fifo",
        /// Socket.
        Socket => "socket",
        /// Character device.
        Char => "char",
        /// Block device.
        Block => "block",
        /// File of memory only.
        Memfd => "memfd",
        /// Anonymous inode: epoll, eventfd, timerfd, …
        Anon => "anon",
        /// The log does not say.
        Unknown => "unknown",
    }
}

vocabulary! {
    /// How well the offset of an access is known.
    OffsetKnown {
        /// Position in the file.
        Exact => "exact",
        /// Relative to the first access of the description.
        Relative => "relative",
        /// Position in the file if no call moved it that was not traced.
        Assumed => "assumed",
        /// Relative to the first access of the description, if no such call moved it.
        AssumedRelative => "assumed-relative",
        /// Overlapping calls whose order the log does not imply.
        Ambiguous => "ambiguous",
        /// Not known.
        Unknown => "unknown",
    }
}

vocabulary! {
    /// Class of a data access.
    Access {
        /// Failed.
        Error => "error",
        /// End of file.
        Eof => "eof",
        /// First of its stream.
        First => "first",
        /// Starts where the previous one ended.
        Consecutive => "consecutive",
        /// Starts after it.
        Forward => "forward",
        /// Starts before it.
        Backward => "backward",
    }
}

impl FileType {
    /// The type in a mode: inode(7).
    pub(crate) fn of_mode(mode: u32) -> Option<Self> {
        Some(match mode & 0o170_000 {
            0o100_000 => Self::Regular,
            0o040_000 => Self::Directory,
            0o010_000 => Self::Fifo,
            0o020_000 => Self::Char,
            0o060_000 => Self::Block,
            0o140_000 => Self::Socket,
            _ => return None,
        })
    }

    /// The key of the type to keep. `known` comes from the call that created the descriptor, and
    /// `mode` from a stat call, in which a pipe without a name looks like one with a name, and a
    /// memory file like any regular file.
    pub(crate) fn settled(known: Option<u8>, mode: Option<u8>) -> Option<u8> {
        let is = |key: Option<u8>, what: Self| key == Some(what as u8);
        let more = is(known, Self::Pipe) && is(mode, Self::Fifo)
            || is(known, Self::Memfd) && is(mode, Self::Regular);
        if more { known } else { mode.or(known) }
    }
}

/// What a call does to the state of the traced system, as far as the model follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Op {
    /// Nothing.
    #[default]
    None,
    /// Uses a descriptor (`fd`, perhaps `fd2`).
    Use,
    /// Creates a descriptor (`fd`) for `path`.
    Open,
    /// Creates a descriptor without a name, of the type in `flags`.
    OpenAnon,
    /// Creates two descriptors, `fd` and `fd2`, of the type in `flags`.
    OpenPair,
    /// Closes `fd`.
    Close,
    /// Closes the descriptors from `fd` to `fd2`, or marks them as in `flags`. If `number` has
    /// `CLONE_FILES`, the task gets a table of its own first.
    CloseRange,
    /// `fd2` becomes another name of `fd`.
    Dup,
    /// Sets or clears the mark of `fd` to be closed by execve, as in `flags`.
    SetCloexec,
    /// Creates a task; clone flags in `flags`, its id in `ret`.
    Fork,
    /// Reports a new task: clone flags in `flags`, its id in `at`, and in `at2` too if another
    /// event may report it again.
    Appear,
    /// Replaces the program.
    Exec,
    /// Ends the thread, or with `flags` 1 its group.
    ExitCall,
    /// The task is gone (a row of kind `exit`).
    Gone,
    /// The task is switched away: if it exited, this was its last sign of life.
    Away,
    /// Another thread's execve took over this id.
    Superseded,
    /// Reports that the thread `thread` continues under this id.
    Supersedes,
    /// Changes the working directory to `path`.
    Chdir,
    /// Changes the working directory to `fd`.
    Fchdir,
    /// Uses `path` by name.
    Path,
    /// Moves the position of `fd`: how in `flags` ([`whence`]), by the argument in `number`, to
    /// `ret`.
    Seek,
    /// The status flags of `fd` are those in `flags` ([`open_flags`]).
    SetStatus,
    /// Ends the sharing of what `flags` (`CLONE_FILES`, `CLONE_FS`) names.
    Unshare,
    /// `path` becomes the root.
    Chroot,
    /// Renames `path` to `path2`; with `flags` 1 exchanges the two.
    Rename,
    /// Removes the name `path`.
    Unlink,
    /// Adds `path2` as another name of `path`.
    Link,
    /// Makes a FIFO or a device with the name `path`.
    MakeNode,
    /// Makes a symbolic link `path`. The last component of what it leads to has the hash in `number`,
    /// 0 if that is not known.
    Symlink,
    /// The file that `fd` or `path` names has the length in column `size`.
    Truncate,
    /// The file of `fd` has at least `number` bytes; −1: any number. With `flags` 1 it has so many
    /// bytes more than before, or less.
    Allocate,
    /// Sets up a program that was just started, which every C library and runtime does.
    SetUp,
    /// Creates a descriptor (`fd`) for the process with the id in `at`; −100 if that is not known.
    OpenProcess,
    /// Creates a descriptor (`fd`) for descriptor `at` of the process that `fd2` refers to.
    Take,
    /// The kernel does what the ring `fd` asks for (`io_uring(7)`), as in `flags` ([`ring_flags`]).
    Submit,
}

impl Op {
    /// Whether it uses files through descriptors, without creating or closing one.
    #[inline]
    pub fn uses(self) -> bool {
        use Op::{Allocate, Seek, SetStatus, Submit, Truncate, Use};
        matches!(self, Use | Seek | SetStatus | Truncate | Allocate | Submit)
    }

    /// Whether it uses files by path, or, if a path is empty, by the descriptor before it.
    #[inline]
    pub fn names(self) -> bool {
        matches!(self, Self::Path | Self::Rename | Self::Unlink | Self::Link)
    }
}

/// In which direction a call moves data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Motion {
    /// It moves no data.
    #[default]
    None,
    /// Out of `fd`.
    Read,
    /// Into `fd`.
    Write,
    /// Out of `fd`, into `fd2`.
    Copy,
}

/// Where in a file a transfer starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum At {
    /// At the description's own position, which it moves.
    #[default]
    Position,
    /// At the offset in the row's column; the position does not change.
    Given,
    /// At an offset that is not in the text; the position does not change.
    Elsewhere,
    /// In something without positions: the call works only on pipes, sockets or queues.
    Stream,
}

/// Bits of the internal column `flags` for [`Op::Open`], [`Op::OpenAnon`], [`Op::OpenPair`] and
/// [`Op::Dup`]; the low byte is a [`FileType`].
pub mod open_flags {
    /// A successful execve closes it.
    pub const CLOEXEC: u32 = 1 << 8;
    /// The type in the low byte is known.
    pub(crate) const TYPED: u32 = 1 << 9;
    /// `O_APPEND`.
    pub(crate) const APPEND: u32 = 1 << 10;
    /// `O_TRUNC`: the file is empty.
    pub(crate) const TRUNC: u32 = 1 << 11;
    /// The call created the file (`O_CREAT` with `O_EXCL`, `O_TMPFILE`).
    pub(crate) const NEW: u32 = 1 << 12;
    /// `O_PATH`: nothing can be read or written.
    pub(crate) const PATH: u32 = 1 << 13;
    /// The descriptors stay in the queue as well (`MSG_PEEK`).
    pub(crate) const PEEKS: u32 = 1 << 15;
    /// It is a ring that the kernel looks at by itself (`IORING_SETUP_SQPOLL`).
    pub(crate) const POLLS: u32 = 1 << 14;
    /// The log does not show the other flags.
    pub const UNSHOWN: u32 = 1 << 16;
    /// The number of the process is that of strace's pid namespace.
    pub(crate) const TRANSLATED: u32 = 1 << 17;
    /// The path is what the descriptor leads to: no component is a symbolic link.
    pub(crate) const RESOLVED: u32 = 1 << 18;
    /// The last component of the path is no symbolic link (`O_NOFOLLOW`); of [`Op::Path`], too.
    ///
    /// [`Op::Path`]: super::Op::Path
    pub(crate) const NO_LINK: u32 = 1 << 19;
    /// A pair of sockets that may be of another type than `SOCK_STREAM`.
    pub(crate) const RECORDS: u32 = 1 << 20;
    /// The file that was opened has no name any more, or never had one: its path is also that of
    /// others.
    pub(crate) const DELETED: u32 = 1 << 21;
}

/// Bits of the internal column `flags` for [`Op::Use`] where it writes.
pub mod write_flags {
    /// This write appends (`RWF_APPEND`).
    pub(crate) const APPEND: u32 = 1;
    /// This write does not append (`RWF_NOAPPEND`).
    pub(crate) const NO_APPEND: u32 = 2;
}

/// Bits of the internal column `flags` for [`Op::Submit`].
pub mod ring_flags {
    /// All that was asked for is done: the row is a line that was not understood.
    pub(crate) const DONE: u32 = 1;
    /// From here on the kernel looks for more by itself.
    pub(crate) const POLLS: u32 = 2;
}

/// Values of the internal column `flags` for [`Op::Seek`]: those of the kernel.
#[allow(missing_docs)] // The kernel's own names.
pub mod whence {
    pub const SEEK_SET: u32 = 0;
    pub const SEEK_CUR: u32 = 1;
    pub const SEEK_END: u32 = 2;
    pub(crate) const SEEK_DATA: u32 = 3;
    pub(crate) const SEEK_HOLE: u32 = 4;
    /// Another one, or not in the text.
    pub(crate) const OTHER: u32 = 5;
}

/// Bits of the internal column `flags` for [`Op::Gone`].
pub mod gone_flags {
    /// Events may still name the task.
    pub const NAMED: u32 = 1;
}

/// The kernel's clone flags that decide what a child shares.
#[allow(missing_docs)] // The kernel's own names.
pub mod clone_flags {
    /// The log does not show the flags. The kernel has the signal of the child's end there (`CSIGNAL`).
    pub const UNSHOWN: u32 = 0x1;
    /// The bits of that signal.
    pub(crate) const CSIGNAL: u32 = 0xff;
    pub const CLONE_VM: u32 = 0x100;
    pub const CLONE_FS: u32 = 0x200;
    pub const CLONE_FILES: u32 = 0x400;
    pub(crate) const CLONE_PIDFD: u32 = 0x1000;
    pub const CLONE_VFORK: u32 = 0x4000;
    pub(crate) const CLONE_PARENT: u32 = 0x8000;
    pub const CLONE_THREAD: u32 = 0x1_0000;
    pub(crate) const CLONE_NEWNS: u32 = 0x2_0000;
    pub const CLONE_NEWPID: u32 = 0x2000_0000;
}
