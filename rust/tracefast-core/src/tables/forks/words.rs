//! What the words in events mean for the lives of tasks.

use crate::tables::texts::Names;

/// Kinds of rows that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Row {
    /// A system call.
    Call,
    /// The end of a task.
    Exit,
    /// A signal.
    Signal,
    /// An event of the kernel.
    Event,
    /// Any other.
    Other,
}

impl Row {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "syscall" => Self::Call,
            "exit" => Self::Exit,
            "signal" => Self::Signal,
            "event" => Self::Event,
            _ => Self::Other,
        }
    }
}

/// Calls that make tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    Clone,
    Clone2,
    Clone3,
    Fork,
    Vfork,
}

impl Maker {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Clone => "clone",
            Self::Clone2 => "clone2",
            Self::Clone3 => "clone3",
            Self::Fork => "fork",
            Self::Vfork => "vfork",
        }
    }
}

/// What a row of that name may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// It makes a task.
    Make(Maker),
    /// It starts a program.
    Exec,
    /// It waits for children: `wait4`, `waitpid`.
    Wait,
    /// `waitid`.
    WaitId,
    /// It asks to end.
    End,
    /// `pipe2`.
    Pipe,
    /// `close`.
    Close,
    /// `dup`, `dup2`, `dup3`, `fcntl`.
    Dup,
    /// `read`.
    Read,
    /// It maps memory.
    Map,
    /// It unmaps memory.
    Unmap,
    /// It changes what memory may be used for.
    Protect,
    /// `set_robust_list`.
    Robust,
    /// What else dynamic linkers call.
    Loader,
    /// `exited`: an end with a status.
    Exited,
    /// A signal, or an end by one, by number of its name.
    Signal(u32),
    /// The signal that tells of a child.
    Chld,
    /// `task_newtask`.
    NewTask,
    /// `sched_process_fork`.
    Forked,
    /// `sched_process_exec`.
    Executed,
    /// `sched_process_exit`.
    Ended,
    /// `rss_stat`.
    Rss,
    /// Something else.
    Other,
}

impl Act {
    /// Of a row's name. Names of signals are numbered.
    pub(crate) fn of(name: &str, names: &mut Names) -> Self {
        match name {
            "clone" => Self::Make(Maker::Clone),
            "clone2" => Self::Make(Maker::Clone2),
            // By number where the tracer is older than the call: it has one number on every machine.
            "clone3" | "syscall_435" | "syscall_0x1b3" => Self::Make(Maker::Clone3),
            "fork" => Self::Make(Maker::Fork),
            "vfork" => Self::Make(Maker::Vfork),
            "execve" | "execveat" => Self::Exec,
            "wait4" | "waitpid" => Self::Wait,
            "waitid" => Self::WaitId,
            "exit" | "exit_group" => Self::End,
            "pipe2" => Self::Pipe,
            "close" => Self::Close,
            "dup" | "dup2" | "dup3" | "fcntl" | "fcntl64" => Self::Dup,
            "read" => Self::Read,
            "mmap" | "mmap2" | "old_mmap" => Self::Map,
            "munmap" => Self::Unmap,
            "mprotect" => Self::Protect,
            "set_robust_list" => Self::Robust,
            "brk" | "open" | "openat" | "pread64" | "stat" | "stat64" | "lstat" | "lstat64"
            | "newlstat" | "newstat" | "fstat" | "fstat64" | "newfstat" | "newfstatat"
            | "fstatat64" | "statx" | "access" | "faccessat" | "faccessat2" | "readlink"
            | "readlinkat" | "arch_prctl" | "set_tid_address" | "set_thread_area" | "set_tls"
            | "rseq" | "prlimit64" | "getrlimit" | "ugetrlimit" | "uname" | "newuname"
            | "getuid" | "geteuid" | "getgid" | "getegid" | "getuid32" | "geteuid32"
            | "getgid32" | "getegid32" => Self::Loader,
            "exited" => Self::Exited,
            "SIGCHLD" => Self::Chld,
            "task_newtask" => Self::NewTask,
            "sched_process_fork" => Self::Forked,
            "sched_process_exec" => Self::Executed,
            "sched_process_exit" => Self::Ended,
            "rss_stat" => Self::Rss,
            _ if name.starts_with("SIG") => Self::Signal(names.number(name)),
            _ => Self::Other,
        }
    }

    /// Whether dynamic linkers call it before the program begins.
    pub(crate) fn links(self) -> bool {
        matches!(
            self,
            Self::Map
                | Self::Unmap
                | Self::Protect
                | Self::Robust
                | Self::Loader
                | Self::Read
                | Self::Close
        )
    }
}

/// How a call ended, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did not take place.
    Injected,
    /// Its begin is not in the log.
    Headless,
    /// In another way.
    Other,
}

impl Outcome {
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "injected" => Self::Injected,
            "headless" => Self::Headless,
            _ => Self::Other,
        }
    }
}

/// Why a call failed, as far as it matters; the number is that of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno {
    pub(crate) name: u32,
    /// The kernel starts it anew.
    pub(crate) restarts: bool,
    /// `ENOENT`.
    pub(crate) missing: bool,
}

impl Errno {
    pub(crate) fn of(word: &str, names: &mut Names) -> Self {
        Self {
            name: names.number(word),
            restarts: word.starts_with("ERESTART"),
            missing: word == "ENOENT",
        }
    }
}
