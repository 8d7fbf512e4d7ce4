//! The meaning of words in events for the table of waits.

use crate::linux::clone::is_unnamed_clone3;
use crate::linux::syscalls::{Classes, classes_of};

/// What a call does, as far as waits are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Waits for a futex, or wakes who waits for it: futex(2).
    Futex,
    /// poll(2), ppoll(2).
    Poll,
    /// select(2), pselect(2).
    Select,
    /// `epoll_wait`(2).
    EpollWait,
    /// `epoll_ctl`(2).
    EpollControl,
    /// Takes data from its descriptor: read(2), recv(2).
    Take,
    /// Puts data into its descriptor: write(2), send(2).
    Give,
    /// Moves data between two descriptors: splice(2), sendfile(2).
    Transfer,
    /// Waits for a child: wait4(2).
    Collect,
    /// Makes a task: clone(2).
    Fork,
    /// Starts a program: execve(2).
    Exec,
    /// Ends the task, or its process.
    End,
    /// nanosleep(2).
    Sleep,
    /// pause(2), sigsuspend(2), sigtimedwait(2).
    AwaitSignal,
    /// Semaphores and queues of System V: semop(2), msgrcv(2).
    Ipc,
    /// semget(2), msgget(2).
    IpcGet,
    /// semctl(2), msgctl(2).
    IpcControl,
    /// Queues of POSIX: `mq_receive`(3), `mq_send`(3).
    Queue,
    /// Goes on with a call that a signal interrupted: `restart_syscall`(2).
    Restart,
    /// flock(2).
    Flock,
    /// fcntl(2).
    Control,
    /// Waits for asynchronous I/O: `io_getevents`(2).
    AwaitIo,
    /// `io_uring_enter`(2).
    Ring,
    /// pipe(2).
    Pipe,
    /// socketpair(2).
    SocketPair,
    /// eventfd(2).
    Eventfd,
    /// `timerfd_create`(2).
    Timerfd,
    /// `epoll_create`(2).
    Epoll,
    /// socket(2).
    Socket,
    /// bind(2).
    Bind,
    /// listen(2).
    Listen,
    /// getsockname(2).
    OwnAddress,
    /// getpeername(2).
    PeerAddress,
    /// setsockopt(2).
    SetOption,
    /// shutdown(2).
    Shutdown,
    /// unshare(2), setns(2).
    Namespace,
    /// accept(2).
    Accept,
    /// connect(2).
    Connect,
    /// dup(2).
    Dup,
    /// close(2).
    Close,
    /// `close_range`(2).
    CloseRange,
    /// mmap(2).
    Map,
    /// munmap(2).
    Unmap,
    /// brk(2), which every program calls at its start.
    Memory,
    /// Calls that programs make at their start, and that are in no class of `strace -e trace=%desc`
    /// and the like.
    Startup,
    /// ioctl(2).
    Ioctl,
    /// Starts a timer that ends in SIGALRM or the like: setitimer(2), alarm(2).
    Alarm,
    /// Starts something that may end in any signal, a thread, or an eventfd: `timer_settime`(2),
    /// `io_submit`(2), `mq_notify`(3).
    StartTimer,
    /// Handles a signal: sigaction(2).
    Handle,
    /// Sends a signal: kill(2).
    Kill,
    /// open(2).
    Open,
    /// mknod(2).
    MakeNode,
    /// unlink(2).
    Unlink,
    /// None of these.
    Other,
}

impl Act {
    /// Whether the arguments of most such calls are looked at.
    pub(crate) fn reads_arguments(self) -> bool {
        matches!(self, Self::Futex | Self::Handle | Self::Map | Self::Control)
    }

    pub(crate) fn from_name(name: &str) -> Self {
        let classes = classes_of(name.as_bytes());
        match name {
            "futex" | "futex_time64" => Self::Futex,
            "poll" | "ppoll" | "ppoll_time64" => Self::Poll,
            "select" | "_newselect" | "oldselect" | "osf_select" | "pselect6"
            | "pselect6_time64" => Self::Select,
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => Self::EpollWait,
            "epoll_ctl" => Self::EpollControl,
            "nanosleep" | "clock_nanosleep" | "clock_nanosleep_time64" => Self::Sleep,
            "pause"
            | "sigsuspend"
            | "rt_sigsuspend"
            | "rt_sigtimedwait"
            | "rt_sigtimedwait_time64" => Self::AwaitSignal,
            "semop" | "semtimedop" | "semtimedop_time64" | "msgrcv" | "msgsnd" => Self::Ipc,
            "semget" | "msgget" => Self::IpcGet,
            "semctl" | "msgctl" => Self::IpcControl,
            "mq_timedsend"
            | "mq_timedsend_time64"
            | "mq_timedreceive"
            | "mq_timedreceive_time64" => Self::Queue,
            "restart_syscall" => Self::Restart,
            "mknod" | "mknodat" => Self::MakeNode,
            "unlink" | "unlinkat" => Self::Unlink,
            "flock" => Self::Flock,
            "fcntl" | "fcntl64" => Self::Control,
            "io_getevents" | "io_pgetevents" | "io_pgetevents_time64" => Self::AwaitIo,
            "io_uring_enter" => Self::Ring,
            "pipe" | "pipe2" => Self::Pipe,
            "socketpair" => Self::SocketPair,
            "eventfd" | "eventfd2" => Self::Eventfd,
            "timerfd_create" => Self::Timerfd,
            "epoll_create" | "epoll_create1" => Self::Epoll,
            "socket" => Self::Socket,
            "bind" => Self::Bind,
            "listen" => Self::Listen,
            "getsockname" => Self::OwnAddress,
            "getpeername" => Self::PeerAddress,
            "setsockopt" => Self::SetOption,
            "shutdown" => Self::Shutdown,
            "unshare" | "setns" => Self::Namespace,
            "accept" | "accept4" => Self::Accept,
            "connect" => Self::Connect,
            "ioctl" => Self::Ioctl,
            "brk" => Self::Memory,
            "set_tid_address" | "set_robust_list" | "arch_prctl" | "rseq" | "prlimit64"
            | "sched_getaffinity" => Self::Startup,
            "setitimer" | "alarm" => Self::Alarm,
            "timer_settime" | "timer_settime64" | "io_submit" | "io_uring_setup" | "mq_notify" => {
                Self::StartTimer
            }
            "rt_sigaction" | "sigaction" | "signal" => Self::Handle,
            "kill" | "tkill" | "tgkill" | "rt_sigqueueinfo" | "rt_tgsigqueueinfo"
            | "pidfd_send_signal" => Self::Kill,
            _ if classes.has(Classes::FORKS) || is_unnamed_clone3(name) => Self::Fork,
            _ if classes.has(Classes::EXECS) => Self::Exec,
            _ if classes.has(Classes::ENDS) => Self::End,
            _ if classes.has(Classes::COLLECTS) => Self::Collect,
            _ if classes.has(Classes::DUPS) => Self::Dup,
            _ if classes.has(Classes::CLOSES) => Self::Close,
            _ if classes.has(Classes::CLOSES_RANGE) => Self::CloseRange,
            _ if classes.has(Classes::MAPS) => Self::Map,
            _ if classes.has(Classes::UNMAPS) => Self::Unmap,
            _ if classes.has(Classes::OPENS) => Self::Open,
            _ if classes.has(Classes::TRANSFERS) => Self::Transfer,
            _ if classes.has(Classes::READS.and(Classes::RECEIVES)) => Self::Take,
            _ if classes.has(Classes::WRITES.and(Classes::SENDS)) => Self::Give,
            _ => Self::Other,
        }
    }
}

/// How a call ended, by its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It returned.
    Returned,
    /// A signal ended it, whether the kernel restarts it or not.
    Interrupted,
    /// The task ended in it.
    Died,
    /// The log does not show its end.
    Unfinished,
    /// Its start is not in the log.
    Headless,
    /// strace injected its result.
    Injected,
}

impl Status {
    pub(crate) fn from_word(word: &str) -> Self {
        match word {
            "interrupted" => Self::Interrupted,
            "killed" | "superseded" => Self::Died,
            "unfinished" | "detached" | "truncated" => Self::Unfinished,
            "headless" => Self::Headless,
            "injected" => Self::Injected,
            _ => Self::Returned,
        }
    }
}

/// What an error says about a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The time was up.
    Timeout,
    /// A signal came.
    Signal,
    /// There was nothing to wait for: the value of a futex had changed, a descriptor does not block.
    Again,
    /// What it was about was removed: semop(2), msgop(2).
    Removed,
    /// It goes on without the caller: `EINPROGRESS` in connect(2).
    InProgress,
    /// Anything else.
    Other,
}

impl Fault {
    pub(crate) fn from_errno(errno: &str) -> Self {
        match errno {
            "ETIMEDOUT" => Self::Timeout,
            "EINTR" => Self::Signal,
            "EAGAIN" => Self::Again,
            "EIDRM" => Self::Removed,
            "EINPROGRESS" => Self::InProgress,
            _ if errno.starts_with("ERESTART") => Self::Signal,
            _ => Self::Other,
        }
    }
}

/// What a descriptor refers to, by `file_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Pipe,
    Socket,
    /// A character device: a terminal, if the log does not name it.
    Device,
    /// What has no name: an eventfd, a timerfd, an epoll set.
    Anonymous,
    /// A file, a directory, a disk.
    Storage,
    Unknown,
}

impl Holds {
    pub(crate) fn from_file_type(file_type: &str) -> Self {
        match file_type {
            "pipe" | "fifo" => Self::Pipe,
            "socket" => Self::Socket,
            "char" => Self::Device,
            "anon" => Self::Anonymous,
            "regular" | "directory" | "block" | "memfd" => Self::Storage,
            _ => Self::Unknown,
        }
    }
}

/// A signal by what it does if a program does not handle it: signal(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// It ends the process.
    Deadly,
    Other,
}

impl Signal {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "SIGHUP" | "SIGINT" | "SIGQUIT" | "SIGABRT" | "SIGKILL" | "SIGTERM" | "SIGALRM"
            | "SIGUSR1" | "SIGUSR2" => Self::Deadly,
            _ => Self::Other,
        }
    }
}
