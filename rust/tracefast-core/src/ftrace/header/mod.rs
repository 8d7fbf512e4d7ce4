//! The columns before the payload of a record: which there are, and what they hold.

pub(crate) mod cache;
pub mod layouts;
pub(crate) mod numbers;

/// The columns of one record. Positions count from the start of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Which columns they are.
    pub layout: Layout,
    /// The range of the command's name, without the blanks before it; `None` without such a column.
    pub comm: Option<(usize, usize)>,
    /// Thread id, where there is such a column.
    pub pid: Option<i32>,
    /// Thread group, where the log has the column and the kernel knew it.
    pub tgid: Option<i32>,
    /// The log has the column of thread groups.
    pub has_tgid: bool,
    /// Processor.
    pub cpu: Option<u16>,
    /// The range of the characters for interrupts, scheduling and preemption; empty without them.
    pub flags: (usize, usize),
    /// Nanoseconds, or the value of a clock that does not count seconds.
    pub time: Option<i64>,
    /// What the time counts.
    pub clock: Clock,
    /// Where the payload starts.
    pub payload: usize,
}

impl Header {
    /// No columns at all.
    pub(crate) const EMPTY: Self = Self {
        layout: Layout::NoContext,
        comm: None,
        pid: None,
        tgid: None,
        has_tgid: false,
        cpu: None,
        flags: (0, 0),
        time: None,
        clock: Clock::Uptime,
        payload: 0,
    };
}

/// Width of the column of names: `TASK_COMM_LEN` of the kernel.
pub(crate) const COMM: usize = 16;

/// Which columns precede the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Layout {
    /// `COMM-PID (TGID) [CPU] FLAGS TIME: `.
    #[default]
    Default,
    /// The option `latency-format`, and `trace-cmd report -l`: `COMM-PID CPUFLAGS TIME: `.
    Latency,
    /// The options `latency-format` and `verbose`.
    Verbose,
    /// The option `raw`: `PID CPU TIME `.
    Raw,
    /// The option `hex`: the same in hexadecimal.
    Hex,
    /// The blk tracer's `blk_classic`: `DEVICE CPU TIME PID `.
    Classic,
    /// mmiotrace: the time is within the line.
    Mmio,
    /// A hypervisor's trace: `[CPU] TIME: `.
    Remote,
    /// The option `nocontext-info`: no columns.
    NoContext,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Default,
        Self::Latency,
        Self::Verbose,
        Self::Raw,
        Self::Hex,
        Self::Classic,
        Self::Mmio,
        Self::Remote,
        Self::NoContext,
    ];
}

/// What the times of a log count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clock {
    /// Time since the machine's start, or by another of the kernel's clocks.
    #[default]
    Uptime,
    /// Time since the trace's start.
    Start,
    /// Cycles, records, jiffies: integers that do not count seconds.
    Ticks,
    /// There are no times.
    None,
}
