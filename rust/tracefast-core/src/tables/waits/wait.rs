//! One wait: a row of the table.

use crate::tables::packed::Packed;

/// What a task waits on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum On {
    Futex,
    Pipe,
    Socket,
    Child,
    Lock,
    Timer,
    Signal,
    Eventfd,
    Terminal,
    Disk,
    Ring,
    Other,
}

impl On {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Futex => "futex",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Child => "child",
            Self::Lock => "lock",
            Self::Timer => "timer",
            Self::Signal => "signal",
            Self::Eventfd => "eventfd",
            Self::Terminal => "terminal",
            Self::Disk => "disk",
            Self::Ring => "ring",
            Self::Other => "other",
        }
    }
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Woken,
    Timeout,
    Signal,
    Error,
    Open,
}

impl End {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Woken => "woken",
            Self::Timeout => "timeout",
            Self::Signal => "signal",
            Self::Error => "error",
            Self::Open => "open",
        }
    }
}

/// Who ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waker {
    pub(crate) task: u32,
    pub(crate) line: u64,
    /// The log proves it.
    pub(crate) exact: bool,
}

/// What is said of a wait that did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It can never end.
    Deadlock,
    /// The same, but the log ends too early, or does not show all that proves it.
    LikelyDeadlock,
    /// It waits only for those that can never go on.
    Stalled,
    /// Somebody who runs could end it.
    Waiting,
    /// It ends by itself.
    Asleep,
}

impl Verdict {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::LikelyDeadlock => "likely-deadlock",
            Self::Stalled => "stalled",
            Self::Waiting => "waiting",
            Self::Asleep => "asleep",
        }
    }
}

/// What proves that a wait can never end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Every task of the address space waits for a private futex.
    PrivateFutex,
    /// Tasks wait for one another.
    Cycle,
    /// Only the waiter's process holds the other end.
    OwnPipe,
    /// Nobody who could go on would write.
    NoWriter,
    /// The child that would have acted died.
    LostChild,
    /// The lock's holder waits for it, or can never go on.
    HeldLock,
}

impl Proof {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::PrivateFutex => "private-futex",
            Self::Cycle => "cycle",
            Self::OwnPipe => "own-pipe",
            Self::NoWriter => "no-writer",
            Self::LostChild => "lost-child",
            Self::HeldLock => "held-lock",
        }
    }
}

/// The verdict on a wait, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) proof: Option<Proof>,
    /// The stuck task that it leads to.
    pub(crate) root: Option<u32>,
    /// The line that explains it, and the task that is in it.
    pub(crate) because: Option<(u64, u32)>,
    /// A task that it waits for, of those that can never go on.
    pub(crate) waits_for: Option<u32>,
    /// Tasks that could end it. `None` if others could.
    pub(crate) could_wake: Option<Vec<u32>>,
    /// How long it lasted when it was judged, from the first of a series.
    pub(crate) open_ns: Option<i64>,
}

/// One wait.
#[derive(Debug)]
pub(crate) struct Wait {
    pub(crate) task: u32,
    pub(crate) row: u64,
    pub(crate) line: u64,
    pub(crate) ts: Packed<i64>,
    pub(crate) dur: Packed<i64>,
    pub(crate) open: Packed<i64>,
    pub(crate) run_delay: Packed<i64>,
    /// The number of the call's name in the tracker.
    pub(crate) name: Packed<u32>,
    pub(crate) fd: Packed<i32>,
    pub(crate) on: On,
    pub(crate) object: Option<Box<str>>,
    pub(crate) timeout: Packed<i64>,
    pub(crate) end: End,
    pub(crate) waker: Option<Waker>,
    pub(crate) judged: Option<Box<Judged>>,
}
