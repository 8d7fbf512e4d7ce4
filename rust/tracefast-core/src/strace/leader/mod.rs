//! The leader of a line: the columns before the event, in the order in which `printleader` of
//! strace (`src/strace.c`) prints them.
//!
//! `[pid] [security context] [time] [delta] [call number] [instruction pointer]`

pub(crate) mod clock;
pub(crate) mod line_layout;

use crate::text::number;

/// How the task is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Pid {
    /// `[pid  1234] ` while strace traces several tasks and writes to a terminal; otherwise
    /// nothing.
    #[default]
    Bracket,
    /// `1234  `, in a file.
    Plain,
    /// Not printed: the file is named after the task (`-ff`).
    File,
}

/// The clock of the time column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Time {
    /// No time column.
    #[default]
    None,
    /// `HH:MM:SS[.fraction]`.
    Day,
    /// Seconds since 1970, with or without a fraction.
    Epoch,
}

/// The time since the previous line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Delta {
    /// Not printed.
    #[default]
    None,
    /// `     0.000123 `, instead of a time.
    Plain,
    /// `(+     0.000123) `, after a time.
    Paren,
}

/// Which columns precede each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Layout {
    /// The task.
    pub pid: Pid,
    /// The absolute time.
    pub time: Time,
    /// The relative time.
    pub delta: Delta,
    /// `[unconfined_u:…] `.
    pub context: bool,
    /// `[  12] `.
    pub number: bool,
    /// `[00007f050fce1e67] `.
    pub pointer: bool,
}

/// The values of a leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leader {
    /// Task, as printed.
    pub pid: Option<i32>,
    /// Range of the command name.
    pub comm: Option<(usize, usize)>,
    /// Time in ns: of day, since 1970, or since the previous line.
    pub time: Option<i64>,
    /// Range of the columns that are kept as text: context, number, pointer.
    pub extra: Option<(usize, usize)>,
    /// Range of the context, if other columns separate it from `extra`.
    pub context: Option<(usize, usize)>,
    /// Where the event starts.
    pub next: usize,
}

/// A day in ns.
pub const DAY: i64 = 86_400 * 1_000_000_000;

impl Layout {
    /// Parses the leader of `line`; `None` if the line does not have this layout.
    #[inline]
    pub fn leader(&self, line: &[u8]) -> Option<Leader> {
        if *self == COMMON_LAYOUT
            && let Some((pid, time, next)) = line.first_chunk().and_then(parse_common)
        {
            return Some(Leader { pid: Some(pid), time: Some(time), next, ..Leader::default() });
        }
        self.any_leader(line)
    }

    /// Parses any layout, column by column.
    fn any_leader(&self, line: &[u8]) -> Option<Leader> {
        let mut out = Leader::default();
        let mut i = 0;
        match self.pid {
            Pid::Plain => {
                let (pid, n) = number::digits(line);
                // The kernel limits pids to 4194304 (`PID_MAX_LIMIT` in `include/linux/threads.h`);
                // nine digits and more are a clock.
                if n == 0 || n > 8 {
                    return None;
                }
                out.pid = Some(i32::try_from(pid).ok()?);
                i = n;
                if line.get(i) == Some(&b'<') {
                    i = comm(line, i, &mut out)?;
                }
                i = if self.delta == Delta::Plain {
                    // The delta is padded as well: only the pid's own padding belongs to the pid.
                    one_blank(line, i.max(5))?
                } else {
                    blanks(line, i)?
                };
            }
            Pid::File => {}
            Pid::Bracket => {
                if let Some(rest) = line.strip_prefix(b"[pid ") {
                    i = 5 + rest.iter().position(|&b| b != b' ')?;
                    let (pid, n) = number::digits(&line[i..]);
                    if n == 0 {
                        return None;
                    }
                    out.pid = Some(i32::try_from(pid).ok()?);
                    i += n;
                    if line.get(i) == Some(&b'<') {
                        i = comm(line, i, &mut out)?;
                    }
                    if line.get(i..i + 2) != Some(b"] ") {
                        return None;
                    }
                    i += 2;
                }
            }
        }
        let from = i;
        if self.context {
            i = bracketed(line, i, is_context)?;
            out.extra = Some((from, i - 1));
        }
        match self.time {
            Time::None => {}
            Time::Day => {
                let (ns, n) = time_of_day(line.get(i..)?)?;
                out.time = Some(ns);
                i = one_blank(line, i + n)?;
            }
            Time::Epoch => {
                let (ns, n) = epoch(line.get(i..)?)?;
                out.time = Some(ns);
                i = one_blank(line, i + n)?;
            }
        }
        match self.delta {
            Delta::None => {}
            Delta::Plain => {
                let (ns, end) = delta(line, i)?;
                out.time = Some(ns);
                i = one_blank(line, end)?;
            }
            Delta::Paren => {
                if line.get(i..i + 2) != Some(b"(+") {
                    return None;
                }
                let (_, end) = delta(line, i + 2)?;
                if line.get(end..end + 2) != Some(b") ") {
                    return None;
                }
                i = end + 2;
            }
        }
        if self.number || self.pointer {
            let from = i;
            if self.number {
                i = bracketed(line, i, is_number)?;
            }
            if self.pointer {
                i = bracketed(line, i, is_pointer)?;
            }
            match out.extra {
                Some((start, end)) if end + 1 == from => out.extra = Some((start, i - 1)),
                context => {
                    out.context = context;
                    out.extra = Some((from, i - 1));
                }
            }
        }
        out.next = i;
        Some(out)
    }
}

/// The layout of `-f -ttt` into a file, the most common one.
pub(crate) const COMMON_LAYOUT: Layout = Layout {
    pid: Pid::Plain,
    time: Time::Epoch,
    delta: Delta::None,
    context: false,
    number: false,
    pointer: false,
};

/// Parses a leader of the form `12345 1795175299.690276 ` in a few wide loads. Returns pid, time in
/// ns and length. `None` only means that the leader is not of this form.
///
/// `head` may be longer than the line: bytes after the leader are ignored.
#[inline(always)]
pub(crate) fn parse_common(head: &[u8; 32]) -> Option<(i32, i64, usize)> {
    let first: [u8; 8] = *head.first_chunk()?;
    let (pid, n) = number::short_digits(first)?;
    // Padded to five digits, and a blank.
    let at = n.max(5);
    let others = (u64::from_le_bytes(first) ^ 0x2020_2020_2020_2020) >> (8 * n);
    if others << (8 * (7 + n - at)) != 0 {
        return None;
    }
    let time: &[u8; 18] = head[at + 1..].first_chunk()?;
    let (high, low) = (number::eight_digits(*time.first_chunk()?)?, [time[8], time[9]]);
    let low = low.map(|digit| digit.wrapping_sub(b'0'));
    let micros = number::six_digits(*time.last_chunk()?, b'.', b' ')?;
    // Later times do not fit in 64 bits of ns.
    if high >= 90_000_000 || low[0] > 9 || low[1] > 9 {
        return None;
    }
    let seconds = high as i64 * 100 + i64::from(low[0]) * 10 + i64::from(low[1]);
    Some((pid as i32, seconds * 1_000_000_000 + micros as i64 * 1_000, at + 19))
}

fn comm(line: &[u8], open: usize, out: &mut Leader) -> Option<usize> {
    // strace escapes `<` and `>` within the name.
    let close = open + memchr::memchr(b'>', line.get(open..)?)?;
    out.comm = Some((open + 1, close));
    Some(close + 1)
}

#[inline]
fn blanks(line: &[u8], at: usize) -> Option<usize> {
    let mut i = at;
    while *line.get(i)? == b' ' {
        i += 1;
    }
    (i > at).then_some(i)
}

#[inline]
pub(crate) fn one_blank(line: &[u8], at: usize) -> Option<usize> {
    (line.get(at) == Some(&b' ')).then_some(at + 1)
}

/// `[` body `] `.
pub(crate) fn bracketed(line: &[u8], at: usize, accept: fn(&[u8]) -> bool) -> Option<usize> {
    if line.get(at) != Some(&b'[') {
        return None;
    }
    let close = at + memchr::memchr(b']', &line[at..])?;
    accept(&line[at + 1..close]).then_some(())?;
    one_blank(line, close + 1)
}

pub(crate) fn is_context(body: &[u8]) -> bool {
    !body.is_empty()
        && !body.contains(&b' ')
        && !is_pointer(body)
        // Tools put the name of a stream before each line of it.
        && !matches!(body, b"stderr" | b"stdout")
        && body.iter().any(|b| matches!(b, b':' | b'_' | b'a'..=b'z'))
}

pub(crate) fn is_number(body: &[u8]) -> bool {
    let digits = body.trim_ascii_start();
    (body.len() == 4 || (body.len() > 4 && body.len() <= 20 && digits.len() == body.len()))
        && !digits.is_empty()
        && (digits.iter().all(u8::is_ascii_digit) || digits == b"????" || digits == b"???")
        || body == b"???"
}

pub(crate) fn is_pointer(body: &[u8]) -> bool {
    let value = body.trim_ascii_start();
    matches!(body.len(), 8..=16)
        && !value.is_empty()
        && (value.iter().all(u8::is_ascii_hexdigit) || value.iter().all(|&b| b == b'?'))
}

/// `HH:MM:SS[.fraction]`
#[inline]
pub(crate) fn time_of_day(text: &[u8]) -> Option<(i64, usize)> {
    let two = |i: usize| {
        let (a, b) = (text.get(i)?.wrapping_sub(b'0'), text.get(i + 1)?.wrapping_sub(b'0'));
        (a < 10 && b < 10).then(|| i64::from(a * 10 + b))
    };
    if text.get(2) != Some(&b':') || text.get(5) != Some(&b':') {
        return None;
    }
    let (hours, minutes) = (two(0)?, two(3)?);
    // 60 is a leap second.
    if two(6)? > 60 || is_digit(text.get(8)) {
        return None;
    }
    let (seconds, n) = number::seconds(&text[6..])?;
    let whole = (hours * 60 + minutes) * 60;
    (hours < 24 && minutes < 60).then_some((whole * 1_000_000_000 + seconds, 6 + n))
}

/// Seconds since 1970: nine or ten digits (1973 to 2286) and any fraction.
#[inline]
pub(crate) fn epoch(text: &[u8]) -> Option<(i64, usize)> {
    // Ten digits and six decimals, the common form, in two wide loads.
    if let Some(&[a, b, rest @ ..]) = text.first_chunk::<17>() {
        let high = [a.wrapping_sub(b'0'), b.wrapping_sub(b'0')];
        let whole = [rest[0], rest[1], rest[2], rest[3], rest[4], rest[5], rest[6], rest[7]];
        let micros = [b'0', b'0', rest[9], rest[10], rest[11], rest[12], rest[13], rest[14]];
        if rest[8] == b'.'
            && high[0] < 10
            && high[1] < 10
            && !is_digit(text.get(17))
            && let (Some(low), Some(micros)) =
                (number::eight_digits(whole), number::eight_digits(micros))
        {
            let seconds = i64::from(high[0]) * 1_000_000_000 + i64::from(high[1]) * 100_000_000;
            let ns = (seconds + low as i64).checked_mul(1_000_000_000)?;
            return Some((ns.checked_add(micros as i64 * 1_000)?, 17));
        }
    }
    let (_, digits) = number::digits(text);
    if !(9..=10).contains(&digits) {
        return None;
    }
    number::seconds(text)
}

fn is_digit(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_digit)
}

/// Seconds, padded to six places.
pub(crate) fn delta(line: &[u8], at: usize) -> Option<(i64, usize)> {
    let pad = line.get(at..)?.iter().position(|&b| b != b' ')?;
    let (_, digits) = number::digits(&line[at + pad..]);
    // More than 999,999 seconds widen the column; nine digits and more are a clock.
    if digits == 0 || digits > 8 || pad + digits < 6 || (pad > 0 && pad + digits != 6) {
        return None;
    }
    let (ns, n) = number::seconds(&line[at + pad..])?;
    Some((ns, at + pad + n))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_usual_shape_is_read_alike(
            pid in 0u32..5_000_000,
            seconds in 0u64..10_000_000_000,
            micros in 0u32..1_000_000,
            at in 0usize..30,
            byte in any::<u8>(),
        ) {
            let mut line = format!("{pid:<5} {seconds}.{micros:06} read(3, ...").into_bytes();
            for broken in [false, true] {
                if broken {
                    let at = at.min(line.len() - 1);
                    line[at] = byte;
                }
                let found = line.first_chunk().and_then(parse_common);
                if let Some((pid, time, next)) = found {
                    let (pid, time) = (Some(pid), Some(time));
                    let leader = Leader { pid, time, next, ..Leader::default() };
                    prop_assert_eq!(COMMON_LAYOUT.any_leader(&line), Some(leader));
                }
                let other = !(1_000_000_000..9_000_000_000).contains(&seconds) || line.len() < 32;
                prop_assert!(broken || found.is_some() || other);
            }
        }
    }

    #[test]
    fn all_columns_at_once() {
        let line = b"27534 12:12:49.461526 (+     0.000017) [   3] [00007f050fce1e67] close(3";
        let layout = Layout {
            pid: Pid::Plain,
            time: Time::Day,
            delta: Delta::Paren,
            number: true,
            pointer: true,
            context: false,
        };
        let leader = layout.leader(line).expect("this layout");
        assert_eq!(leader.pid, Some(27534));
        assert_eq!(leader.time, Some((12 * 3600 + 12 * 60 + 49) * 1_000_000_000 + 461_526_000));
        assert_eq!(&line[leader.next..], b"close(3");
        let (a, b) = leader.extra.expect("kept");
        assert_eq!(&line[a..b], b"[   3] [00007f050fce1e67]");
    }

    #[test]
    fn pids_and_names() {
        let layout = Layout { pid: Pid::Plain, time: Time::Epoch, ..Layout::default() };
        let line = b"21158<ev ents> 1795176485.656349 read(";
        let leader = layout.leader(line).expect("this layout");
        let (a, b) = leader.comm.expect("a name");
        assert_eq!(&line[a..b], b"ev ents");
        assert_eq!(leader.time, Some(1_795_176_485_656_349_000));
        let layout = Layout::default();
        assert_eq!(layout.leader(b"[pid   123] x(").expect("this layout").pid, Some(123));
        assert_eq!(layout.leader(b"x(").expect("no prefix").pid, None);
    }

    #[test]
    fn precisions() {
        let layout = Layout { time: Time::Epoch, ..Layout::default() };
        let time = |text: &str| layout.leader(text.as_bytes()).and_then(|l| l.time);
        assert_eq!(time("1795176760.745550993 r("), Some(1_795_176_760_745_550_993));
        assert_eq!(time("1795176762 r("), Some(1_795_176_762_000_000_000));
        assert_eq!(time("1795176762.123 r("), Some(1_795_176_762_123_000_000));
        assert_eq!(time("1234 r("), None);
        let layout = Layout { time: Time::Day, ..Layout::default() };
        let time = |text: &str| layout.leader(text.as_bytes()).and_then(|l| l.time);
        assert_eq!(time("23:59:60.5 r("), Some(DAY + 500_000_000));
        assert_eq!(time("12:34:136580.65 r("), None);
        let layout = Layout { delta: Delta::Plain, ..Layout::default() };
        let time = |text: &str| layout.leader(text.as_bytes()).and_then(|l| l.time);
        assert_eq!(time("     0.000123 r("), Some(123_000));
        assert_eq!(time("     0 close("), Some(0));
        assert_eq!(time("0.000123 r("), None);
        let layout = Layout { pid: Pid::Plain, delta: Delta::Plain, ..Layout::default() };
        let leader = layout.leader(b"123        0.000045 r(").expect("both columns");
        assert_eq!((leader.pid, leader.time), (Some(123), Some(45_000)));
    }
}
