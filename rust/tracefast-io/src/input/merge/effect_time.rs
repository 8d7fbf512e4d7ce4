//! When a line had its effect, on a clock that the logs of all tasks share.

use tracefast_core::linux::syscalls::{Classes, classes_as_printed};
use tracefast_core::strace::call::result;
use tracefast_core::strace::leader::{DAY, Layout, Time};
use tracefast_core::strace::line_start;
use tracefast_core::text::search::find;

/// Calls whose effect is at their entry: other tasks may see the child or the free descriptor
/// before the call returns.
const AT_ENTRY: Classes = Classes::FORKS.and(Classes::CLOSES).and(Classes::CLOSES_RANGE);

/// Calls that transfer data, move a position, change a size or find one: their effect may have
/// happened at any moment until they were certainly over.
const MOVES: Classes = Classes::READS
    .and(Classes::WRITES)
    .and(Classes::TRANSFERS)
    .and(Classes::SEEKS)
    .and(Classes::LISTS)
    .and(Classes::RESIZES)
    .and(Classes::STATS);

/// Calls that look up several descriptors, and may do so at any moment. It matters where nothing
/// shows how long they took.
const COPIES: Classes = Classes::DUPS.and(Classes::SENDS);

/// The coarsest resolution, ns, at which times show the order of most calls: that of `-tt`.
const COARSEST: i64 = 1_000;

/// When a line had its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct EffectTime {
    /// Its start: never before that of the line above, and equal to it where the line has no time.
    pub start: i64,
    /// Its end, at the earliest.
    pub end: i64,
    /// The line has a time of its own.
    pub stamped: bool,
    /// It may end later.
    pub moves: bool,
    /// How long it takes at most, after the next time in any log.
    pub took: Option<i64>,
}

/// The times of one task's lines, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    layout: Layout,
    /// Days that have passed, added to the time of day.
    days: i64,
    /// Time column of the last line that has one.
    entry: Option<i64>,
    key: i64,
    /// The resolution of the time column, ns; 0: not known yet.
    unit: i64,
}

impl Clock {
    /// A clock for lines of this layout. If a log with times of day starts before `origin`, its
    /// first line is of the day after the one on which the first of all logs starts.
    pub(crate) fn new(layout: Layout, first: Option<i64>, origin: i64) -> Self {
        let late = layout.time == Time::Day && first.is_some_and(|first| first < origin);
        Self { layout, days: if late { DAY } else { 0 }, entry: None, key: i64::MIN, unit: 0 }
    }

    /// The time column of a line.
    pub(crate) fn column(layout: &Layout, line: &[u8]) -> Option<i64> {
        if Self::is_known(layout) { layout.leader(line)?.time } else { None }
    }

    /// Whether times are so fine that they show the order of most calls.
    pub(crate) fn is_fine(layout: &Layout, line: &[u8]) -> bool {
        layout.leader(line).is_some_and(|leader| unit(&line[..leader.next]) <= COARSEST)
    }

    /// Sets the clock to the log's first time: lines before it go with it.
    pub(crate) fn begin(&mut self, first: Option<i64>) {
        if let Some(first) = first {
            self.key = first.saturating_add(self.days);
        }
    }

    /// Whether lines have times that can be compared between tasks.
    pub(crate) fn is_known(layout: &Layout) -> bool {
        layout.time != Time::None
    }

    /// When the effect of the task's next line is.
    ///
    /// strace takes a line's time, then reads the arguments, and only then lets the task go and
    /// measures the call: time and duration together are the earliest moment of its end. While
    /// strace reads the arguments it does nothing else, so that the next time of any line is
    /// after that.
    pub(crate) fn next(&mut self, line: &[u8]) -> EffectTime {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let span = self.span(line).unwrap_or(EffectTime {
            start: self.key,
            end: self.key,
            stamped: false,
            moves: false,
            took: None,
        });
        self.key = span.end;
        span
    }

    fn span(&mut self, line: &[u8]) -> Option<EffectTime> {
        if !Self::is_known(&self.layout) {
            return None;
        }
        let leader = self.layout.leader(line)?;
        let time = leader.time?;
        (self.days, self.entry) = (self.day(time), Some(time));
        if self.unit == 0 {
            self.unit = unit(&line[..leader.next]);
        }
        let start = time.saturating_add(self.days).max(self.key);
        let at = EffectTime { start, end: start, stamped: true, moves: false, took: None };
        let rest = &line[leader.next..];
        // The time of a second half is that of the exit already.
        let Some(name) = line_start::call_name(rest).map(|len| &rest[..len]) else {
            return Some(at);
        };
        let classes = classes_as_printed(name);
        if classes.has(AT_ENTRY) || rest.ends_with(b" ...>") {
            return Some(at);
        }
        let moves = classes.has(MOVES);
        let ends = line.last() == Some(&b'>');
        let took = if ends { result::elapsed(line, leader.next) } else { None };
        let took = took.filter(|&(_, took)| took >= 0);
        let Some((open, took)) = took else {
            let dup = || name.starts_with(b"fcntl") && find(rest, b", F_DUPFD", 5).is_some();
            let moves = moves || classes.has(COPIES) || dup();
            return Some(EffectTime { moves, ..at });
        };
        let end = time.saturating_add(self.days).saturating_add(took).max(start);
        let cut = self.unit + fraction(&line[open + 2..line.len() - 1]);
        Some(EffectTime { end, moves, took: Some(took.saturating_add(cut)), ..at })
    }

    /// The days that have gone by at the time of day `time` of the task's next line.
    fn day(&self, time: i64) -> i64 {
        let before = self.entry.unwrap_or(time);
        let steps = self.layout.time == Time::Day && before - time > DAY / 2;
        self.days + if steps { DAY } else { 0 }
    }

    /// The time of a line after the current one, or of its start.
    pub(crate) fn peek(&self, line: &[u8]) -> Option<i64> {
        let time = Self::column(&self.layout, line)?;
        Some(time.saturating_add(self.day(time)))
    }
}

/// The resolution of the time among the columns `leader`, ns.
fn unit(leader: &[u8]) -> i64 {
    let is_time = |text: &&[u8]| {
        text.first().is_some_and(u8::is_ascii_digit)
            && text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b':'))
    };
    leader.split(|&b| b == b' ').find(is_time).map_or(1, fraction)
}

/// The unit of the last digit of `seconds`, ns.
fn fraction(seconds: &[u8]) -> i64 {
    let digits = memchr::memrchr(b'.', seconds).map_or(0, |at| seconds.len() - at - 1);
    10_i64.pow(9 - digits.min(9) as u32)
}

/// The time of day at which the first of several logs starts, by the first and last time of each:
/// after the longest part of the day in which none of them was written.
pub(crate) fn first_time_of_day(spans: &[(i64, i64)]) -> i64 {
    let mut parts: Vec<(i64, i64)> = Vec::new();
    for &(first, last) in spans {
        // A log that ends much earlier than it starts crosses midnight.
        if first - last > DAY / 24 {
            parts.extend([(first, DAY), (0, last)]);
        } else {
            parts.push((first, last.max(first)));
        }
    }
    parts.sort_unstable();
    let Some(&(mut origin, mut end)) = parts.first() else { return 0 };
    // The gap from the last part to the first, over midnight, is weighed when that end is known.
    let first_start = origin;
    let mut longest = 0;
    for &(first, last) in &parts[1..] {
        if first - end > longest {
            longest = first - end;
            origin = first;
        }
        end = end.max(last);
    }
    if first_start + DAY - end >= longest { first_start } else { origin }
}

/// The task that a call on this line created, or whose end a signal on it reports.
pub(crate) fn other_task(event: &[u8]) -> Option<i32> {
    if event.starts_with(b"--- SIGCHLD ") {
        let at = find(event, b"si_pid=", 3)?;
        return number(&event[at + 7..]);
    }
    let name = &event[..line_start::call_name(event)?];
    classes_as_printed(name).has(Classes::FORKS).then(|| returned(event)).flatten()
}

/// The task itself, where the line says which it is.
pub(crate) fn own_task(event: &[u8]) -> Option<i32> {
    let name = &event[..line_start::call_name(event)?];
    [&b"set_tid_address"[..], b"gettid"].contains(&name).then(|| returned(event)).flatten()
}

fn returned(call: &[u8]) -> Option<i32> {
    let at = memchr::memmem::rfind(call, b" = ")?;
    number(&call[at + 3..]).filter(|&pid| pid > 0)
}

fn number(text: &[u8]) -> Option<i32> {
    // The results of calls that strace does not know are hexadecimal.
    let (text, radix) = text.strip_prefix(b"0x").map_or((text, 10), |text| (text, 16));
    let digits = text.iter().take(8).take_while(|&&b| char::from(b).is_digit(radix)).count();
    i32::from_str_radix(std::str::from_utf8(&text[..digits]).ok()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    use tracefast_core::strace::leader::{Delta, Pid};

    const EPOCH: Layout = Layout {
        pid: Pid::Bracket,
        time: Time::Epoch,
        delta: Delta::None,
        context: false,
        number: false,
        pointer: false,
    };

    fn keys(layout: Layout, lines: &[&str]) -> Vec<i64> {
        let mut clock = Clock::new(layout, None, 0);
        lines.iter().map(|line| clock.next(line.as_bytes()).end / 1_000_000).collect()
    }

    #[test]
    fn effects_are_at_the_exit_but_of_some_calls() {
        let base = 1_795_175_299_000;
        let found = |line: &str| keys(EPOCH, &[line])[0] - base;
        assert_eq!(found("1795175299.500 read(3, \"\", 9) = 0 <0.250>"), 750);
        assert_eq!(found("1795175299.500 read(3, \"\", 9) = 0"), 500);
        for name in
            ["fork", "vfork", "clone", "clone2", "clone3", "syscall_435", "close", "close_range"]
        {
            assert_eq!(found(&format!("1795175299.500 {name}(3) = 0 <0.250>")), 500, "{name}");
        }
        assert_eq!(found("1795175299.500 closed(3) = 0 <0.250>"), 750);
        assert_eq!(found("1795175299.500 <... execve resumed>) = 0 <0.250>"), 500);
        assert_eq!(found("1795175299.500 dup(3</a>) = 4</b> 0.250>"), 500);
        assert_eq!(found("1795175299.500 +++ exited with 0 +++"), 500);
    }

    #[test]
    fn what_moves_may_end_later() {
        let span = |line: &str| Clock::new(EPOCH, None, 0).next(line.as_bytes());
        let took = |line: &str| {
            let span = span(line);
            assert!(span.moves, "{line}");
            span.took
        };
        // Both times are cut, not rounded.
        assert_eq!(took("1795175299.000100 read(3, \"\", 9) = 0 <0.000007>"), Some(9_000));
        assert_eq!(took("1795175299.000100001 lseek(3) = 0 <0.000007001>"), Some(7_003));
        assert_eq!(took("1795175299 read(3) = 0 <0.007>"), Some(1_008_000_000));
        assert_eq!(took("1795175299.000100 statx(3) = 0"), None);
        for line in [
            "getpid() = 0 <0.1>",
            "openat(3) = 4 <0.1>",
            "recvfrom(3) = 4 <0.1>",
            "read(3, <unfinished ...>",
        ] {
            assert!(!span(&format!("1795175299.1 {line}")).moves, "{line}");
        }
        let mut clock = Clock::new(Layout { time: Time::Day, ..EPOCH }, None, 0);
        clock.next(b"23:59:59.5 getpid() = 3");
        assert_eq!(clock.peek(b"00:00:01.000000 x"), Some(DAY + 1_000_000_000));
        assert_eq!(clock.peek(b" > /lib/libc.so.6(read+0x17) [0x101ab7]"), None);
        assert_eq!(clock.peek(b"00:00:01.0"), None);
    }

    #[test]
    fn a_line_is_never_before_the_one_above() {
        let lines = [
            "1795175299.5 read(3, \"\", 9) = 0 <0.4>",
            " > /lib/libc.so.6(read+0x17) [0x101ab7]",
            "1795175299.6 getpid() = 3 <0.0>",
            "1795175298.0 getpid() = 3 <0.0>",
            "1795175300.0 getpid() = 3 <0.0>",
        ];
        let found: Vec<i64> =
            keys(EPOCH, &lines).iter().map(|key| key - 1_795_175_299_000).collect();
        assert_eq!(found, [900, 900, 900, 900, 1000]);
    }

    #[test]
    fn midnight_begins_a_day() {
        let layout = Layout { time: Time::Day, ..EPOCH };
        let lines = ["23:59:59 getpid() = 3", "00:00:01 getpid() = 3", "23:00:00 getpid() = 3"];
        let day = DAY / 1_000_000;
        let second_day = [day - 1_000, day + 1_000, day + 23 * 3_600_000];
        assert_eq!(keys(layout, &lines), second_day);
        // A clock that was set back by an hour did not pass midnight.
        let lines = ["12:00:00 getpid() = 3", "11:00:00 getpid() = 3"];
        assert_eq!(keys(layout, &lines), [12 * 3_600_000; 2]);
    }

    #[test]
    fn logs_that_begin_after_midnight_come_later() {
        let hour = DAY / 24;
        assert_eq!(first_time_of_day(&[]), 0);
        assert_eq!(first_time_of_day(&[(10 * hour, 11 * hour), (15 * hour, 16 * hour)]), 10 * hour);
        assert_eq!(
            first_time_of_day(&[(23 * hour, 23 * hour), (hour, hour), (2 * hour, 2 * hour)]),
            23 * hour
        );
        // One log crosses midnight; others start before and after it.
        assert_eq!(
            first_time_of_day(&[(6 * hour, 2 * hour), (23 * hour, 23 * hour), (hour, 2 * hour)]),
            6 * hour
        );
        let layout = Layout { time: Time::Day, ..EPOCH };
        let late = Clock::new(layout, Some(hour), 6 * hour).next(b"01:00:00 getpid() = 3").end;
        assert_eq!(late, DAY + hour);
    }

    #[test]
    fn deltas_and_no_times_give_no_order() {
        let none = Layout { time: Time::None, ..EPOCH };
        let delta = Layout { delta: Delta::Plain, ..none };
        for (layout, line) in [(none, "getpid() = 3"), (delta, "     0.000123 getpid() = 3")] {
            let span = Clock::new(layout, None, 0).next(line.as_bytes());
            assert_eq!((span.start, span.end, span.stamped), (i64::MIN, i64::MIN, false));
        }
    }

    #[test]
    fn tasks_are_named_by_calls_and_signals() {
        assert_eq!(other_task(b"clone(child_stack=NULL, flags=SIGCHLD) = 17 <0.1>"), Some(17));
        assert_eq!(other_task(b"syscall_0x1b3(0x7ffd105ee2f0, 0x58) = 0x11 <0.1>"), Some(17));
        assert_eq!(other_task(b"fork() = -1 EAGAIN (Resource temporarily unavailable)"), None);
        assert_eq!(
            other_task(b"--- SIGCHLD {si_signo=SIGCHLD, si_pid=18, si_uid=0} ---"),
            Some(18)
        );
        assert_eq!(other_task(b"close(3) = 17"), None);
        assert_eq!(own_task(b"set_tid_address(0x7f0a) = 19"), Some(19));
        assert_eq!(own_task(b"getuid() = 19"), None);
    }
}
