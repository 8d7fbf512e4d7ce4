//! Which columns a log has: found from its first lines, since no header names them.

pub(crate) mod first_task;

use crate::strace::leader::line_layout::{is_call, personality};
use crate::strace::leader::{Delta, Layout, Pid, Time};
use crate::text::search::find;

/// Lines that are looked at.
const LINES: usize = 200;

/// The layout that most of the first lines of `text` have, and how many of them; `None` if not one
/// line looks like strace's. Where the first lines do not, later ones are asked: a program's own
/// output may come first.
pub fn sniff(text: &[u8]) -> Option<(Layout, usize)> {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').filter(|l| !l.is_empty()).collect();
    lines.chunks(LINES).find_map(best)
}

fn best(lines: &[&[u8]]) -> Option<(Layout, usize)> {
    let mut best: Option<(Layout, usize)> = None;
    for layout in candidates() {
        let hits = lines
            .iter()
            .filter(|line| {
                layout.leader(line).is_some_and(|leader| {
                    let rest = &line[leader.next..];
                    begins_event(rest) && (leader.next > 0 || is_plausible(rest))
                })
            })
            .count();
        if hits > best.map_or(0, |(_, hits)| hits) {
            best = Some((layout, hits));
        }
    }
    best
}

/// Without any column before it, a name and a parenthesis are not enough: prose and programs have
/// them too.
fn is_plausible(rest: &[u8]) -> bool {
    call_name(rest).is_none_or(|n| is_call(&rest[..n]) || find(rest, b" = ", 1).is_some())
}

/// Every layout, the simpler ones first: of two that fit equally well the first is taken.
fn candidates() -> impl Iterator<Item = Layout> {
    let flags = [false, true];
    let clocks = [
        (Time::None, Delta::None),
        (Time::None, Delta::Plain),
        (Time::Day, Delta::None),
        (Time::Epoch, Delta::None),
        (Time::Day, Delta::Paren),
        (Time::Epoch, Delta::Paren),
    ];
    flags.into_iter().flat_map(move |context| {
        flags.into_iter().flat_map(move |number| {
            flags.into_iter().flat_map(move |pointer| {
                clocks.into_iter().flat_map(move |(time, delta)| {
                    [Pid::Bracket, Pid::Plain].map(|pid| Layout {
                        pid,
                        time,
                        delta,
                        context,
                        number,
                        pointer,
                    })
                })
            })
        })
    })
}

/// The rest of a line behind its leader begins as an event does.
pub fn begins_event(rest: &[u8]) -> bool {
    let rest = &rest[personality(rest)..];
    match rest.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => call_name(rest).is_some(),
        Some(b'<') => rest.starts_with(b"<... "),
        Some(b'+') => rest.starts_with(b"+++ "),
        Some(b'-') => rest.starts_with(b"--- ") && rest.ends_with(b"---"),
        Some(b'?') => rest.starts_with(b"????(") || rest.starts_with(b"???("),
        _ => false,
    }
}

/// Bytes of the longest name of a call. No kernel has one half as long; whatever is longer is
/// other text, and would only fill the dictionary of names.
pub const NAME_MAX: usize = 255;

/// Length of the name before the `(` of a call.
#[inline(always)]
pub fn call_name(rest: &[u8]) -> Option<usize> {
    let mut n = 0;
    // Eight bytes at a time: where a name ends is hard to predict for a loop over bytes.
    while let Some(eight) = rest.get(n..).and_then(|rest| rest.first_chunk::<8>()) {
        let others = !name_bytes(u64::from_le_bytes(*eight)) & HIGH;
        if others != 0 {
            n += others.trailing_zeros() as usize / 8;
            return (is_length(n) && rest[n] == b'(').then_some(n);
        }
        n += 8;
    }
    let tail = rest[n..].iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
    n += tail;
    (is_length(n) && rest[n] == b'(').then_some(n)
}

/// A name may be so long.
#[inline(always)]
pub fn is_length(n: usize) -> bool {
    (1..=NAME_MAX).contains(&n)
}

const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each of eight bytes that may stand in a name: a letter, a digit, `_`.
#[inline(always)]
fn name_bytes(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Sums of seven-bit values stay within their bytes.
    let low = word & !HIGH;
    let letter = low | (EACH * 0x20);
    let letters = (letter + EACH * (0x80 - 0x61)) & !(letter + EACH * (0x80 - 0x7b));
    let digits = (low + EACH * (0x80 - 0x30)) & !(low + EACH * (0x80 - 0x3a));
    let underscores = !((low ^ (EACH * 0x5f)) + EACH * 0x7f);
    (letters | digits | underscores) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_their_bytes_end() {
        for byte in 0..=255u8 {
            let name = byte.is_ascii_alphanumeric() || byte == b'_';
            assert_eq!(name_bytes(u64::from(byte)) & 0x80 != 0, name, "{byte:#x}");
            let mut text = *b"sched_yield_to_x(0, 1, 2, 3)";
            text[10] = byte;
            let expected = match byte {
                b'(' => Some(10),
                _ if name => Some(16),
                _ => None,
            };
            assert_eq!(call_name(&text), expected, "{byte:#x}");
        }
        assert_eq!(call_name(b"a("), Some(1));
        assert_eq!(call_name(b"(a"), None);
        assert_eq!(call_name(b"abc"), None);
    }

    fn layout(text: &str) -> Layout {
        sniff(text.as_bytes()).expect("a strace log").0
    }

    #[test]
    fn numbers_are_told_apart() {
        assert_eq!(layout("1234 read(3, \"\", 1) = 0\n").pid, Pid::Plain);
        assert_eq!(layout("1795176762 read(3, \"\", 1) = 0\n").time, Time::Epoch);
        let both = layout("1234  1795176762.1 read(3, \"\", 1) = 0\n");
        assert_eq!((both.pid, both.time), (Pid::Plain, Time::Epoch));
        assert_eq!(both.delta, Delta::None);
        assert_eq!(layout("     0.000123 read(3, \"\", 1) = 0\n").delta, Delta::Plain);
        assert_eq!(layout("read(3, \"\", 1) = 0\n"), Layout::default());
        let stderr = layout("execve(\"/x\", [], 0x0) = 0\n[pid   12] read(3, \"\", 1) = 0\n");
        assert_eq!(stderr.pid, Pid::Bracket);
        assert!(layout("5240  1795176558.716752 [   3] close(1) = 0\n").number);
        assert!(layout("26847 [00007fcff6408e67] close(2) = 0\n").pointer);
    }

    #[test]
    fn output_of_the_program_may_come_first() {
        let text = "a line of output\n".repeat(500) + "7 close(3) = 0\n";
        assert_eq!(layout(&text).pid, Pid::Plain);
    }

    #[test]
    fn other_text_is_not_strace() {
        assert_eq!(sniff(b"hello, world\nmain(void)\n"), None);
        assert_eq!(sniff(b""), None);
    }
}
