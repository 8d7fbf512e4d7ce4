//! Several logs, one per task (`-ff`), merged into one text in the order of their effects. Each
//! line has a prefix of fixed width:
//!
//! `PPPPPPPPLLLLLLLLLLL ` - the task, the line number in the task's own log, both hexadecimal, then
//! a blank or a [`Mark`].
//!
//! A line of such a log is a whole call. If other tasks did something during the call, the line
//! appears twice: marked at the start of the call, where only the descriptors that it acts on are
//! read, and again at its end.

use std::ops::Range;

use crate::events::vocabulary::Op;
use crate::linux::syscalls;
use crate::strace::call::ending;
use crate::strace::leader::Layout;
use crate::strace::line_start;

/// Length of a prefix in bytes.
pub const PREFIX: usize = 20;

const PID: usize = 8;

/// What a merged line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mark {
    /// A line of the log.
    #[default]
    None,
    /// A line of the log whose line feed was added: the log ends without one.
    AddedFeed,
    /// Not a line: the start of a call whose line comes later.
    Start,
    /// The line of a call whose start was marked.
    End,
}

impl Mark {
    const ALL: [(Self, u8); 4] =
        [(Self::None, b' '), (Self::AddedFeed, b'+'), (Self::Start, b'<'), (Self::End, b'>')];

    fn byte(self) -> u8 {
        Self::ALL[self as usize].1
    }
}

/// The prefix of a line of merged logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The task whose log the line is from.
    pub pid: i32,
    /// Line number in that log, counted from 1.
    pub line: u64,
    /// What the line is.
    pub mark: Mark,
}

impl Prefix {
    /// Formats the prefix.
    ///
    /// # Examples
    /// ```
    /// use tracefast_core::strace::task_prefix::{Mark, Prefix};
    /// let prefix = Prefix { pid: 4711, line: 12, mark: Mark::None };
    /// assert_eq!(&prefix.text(), b"000012670000000000c ");
    /// assert_eq!(Prefix::parse(&prefix.text()), Some(prefix));
    /// ```
    pub fn text(&self) -> [u8; PREFIX] {
        let mut out = [self.mark.byte(); PREFIX];
        hex(&mut out[..PID], u64::from(self.pid.cast_unsigned()));
        hex(&mut out[PID..PREFIX - 1], self.line);
        out
    }

    /// Parses the prefix of a line; `None` if it has none.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let head: &[u8; PREFIX] = line.first_chunk()?;
        let value = |digits: &[u8]| {
            digits.iter().try_fold(0, |sum, &digit| Some(sum << 4 | nibble(digit)?))
        };
        let last = head[PREFIX - 1];
        let mark = Mark::ALL.iter().find(|&&(_, byte)| byte == last)?.0;
        let pid = u32::try_from(value(&head[..PID])?).ok()?.cast_signed();
        Some(Self { pid, line: value(&head[PID..PREFIX - 1])?, mark })
    }
}

fn hex(out: &mut [u8], mut value: u64) {
    for digit in out.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(value & 15) as usize];
        value >>= 4;
    }
}

fn nibble(digit: u8) -> Option<u64> {
    match digit {
        b'0'..=b'9' => Some(u64::from(digit - b'0')),
        b'a'..=b'f' => Some(u64::from(digit - b'a' + 10)),
        _ => None,
    }
}

/// A call that is complete on its line and acts on descriptors from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Number of the call.
    pub sys: u16,
    /// Range of its arguments in the line.
    pub args: Range<usize>,
}

/// What a mark says about the call on `line`, which has neither prefix nor line feed. `None` if the
/// start of the call has no effect, or if the line can only be understood together with others;
/// such a line must not be marked.
///
/// # Examples
/// ```
/// use tracefast_core::strace::leader::Layout;
/// use tracefast_core::strace::task_prefix;
/// let layout = Layout::default();
/// assert_eq!(task_prefix::entry(&layout, b"read(3, \"x\", 1) = 1").map(|e| e.args), Some(5..14));
/// assert_eq!(task_prefix::entry(&layout, b"read(3, <unfinished ...>"), None);
/// assert_eq!(task_prefix::entry(&layout, b"getpid() = 7"), None);
/// ```
pub fn entry(layout: &Layout, line: &[u8]) -> Option<Entry> {
    let leader = layout.leader(line)?;
    let rest = &line[leader.next..];
    let len = line_start::call_name(rest)?;
    let sys = syscalls::by_name(&rest[..len]);
    let op = syscalls::shape(sys).op;
    let binds = op.uses() || op.names() || matches!(op, Op::Dup | Op::Fchdir | Op::SetCloexec);
    // Colours are removed later, and may hide what the line is.
    if !binds || memchr::memchr(0x1b, line).is_some() {
        return None;
    }
    let args = leader.next + len + 1;
    let ending = ending::ending(&line[args..])?;
    ending.outcome?;
    Some(Entry { sys, args: args..args + ending.args })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_round_trip() {
        for prefix in [
            Prefix { pid: 1, line: 1, mark: Mark::AddedFeed },
            Prefix { pid: 9_999_999, line: (1 << 44) - 1, mark: Mark::None },
            Prefix { pid: 2, line: 3, mark: Mark::Start },
            Prefix { pid: 2, line: 3, mark: Mark::End },
        ] {
            let text = [&prefix.text()[..], b"close(3) = 0"].concat();
            assert_eq!(Prefix::parse(&text), Some(prefix));
        }
        assert_eq!(Prefix::parse(b"short"), None);
        assert_eq!(Prefix::parse(b"close(3</data/x>) = 0"), None);
    }

    #[test]
    fn calls_that_act_on_descriptors_are_marked() {
        let layout = Layout { time: crate::strace::leader::Time::Epoch, ..Layout::default() };
        let of = |text: &str| {
            let line = format!("1795175299.1 {text}");
            entry(&layout, line.as_bytes()).map(|found| line[found.args].to_owned())
        };
        assert_eq!(
            of("read(3</a>, \") = 1\", 9) = 5 <0.1>").as_deref(),
            Some("3</a>, \") = 1\", 9")
        );
        assert_eq!(of("dup2(3, 4) = 4").as_deref(), Some("3, 4"));
        assert!(of("newfstatat(3, \"\", {}, AT_EMPTY_PATH) = 0").is_some());
        for odd in [
            "close(3) = 0",
            "fork() = 7",
            "nosuchcall(3) = 0",
            "read(3, <unfinished ...>",
            "read(3, \"x",
            "read(3, 0x1, 9 <detached ...>",
            "\x1b[33mread\x1b[0m(3, 0x1, 9) = 1",
            "read(3, \"\x1b[0m\", 9) = 1",
            "--- SIGCHLD {} ---",
        ] {
            assert_eq!(of(odd), None, "{odd}");
        }
    }
}
