//! Finds the columns of a line from the line alone: for lines whose layout is not that of the log,
//! and to decide whether a line is certainly the start of an event.

use crate::strace::leader::{self, Delta, Layout, Pid, Time};
use crate::strace::line_start::{call_name, is_call, personality};
use crate::text::block::LINE_START;
use crate::text::colour;
use crate::text::number;
use crate::text::prefix::Prefix;

/// How many bytes of a line decide whether it starts an event.
pub(crate) const LOOK: usize = 512;

/// The layout of `line`, and where its event starts. `None` if no event can follow.
///
/// A number of up to eight digits at the start is a pid; nine or ten digits are a clock.
pub(crate) fn layout_of(line: &[u8]) -> Option<(Layout, usize)> {
    let mut layout = Layout::default();
    let mut i = 0;
    if let Some(rest) = line.strip_prefix(b"[pid ") {
        i = 5 + rest.iter().position(|&b| b != b' ')?;
        let (_, n) = number::digits(&line[i..]);
        i = comm_end(line, i + n)?;
        if n == 0 || !line[i..].starts_with(b"] ") {
            return None;
        }
        i += 2;
    } else {
        let (_, n) = number::digits(line);
        if (1..=8).contains(&n) && matches!(line.get(n), Some(b' ' | b'<')) {
            layout.pid = Pid::Plain;
            i = comm_end(line, n)?;
            let blanks = line[i..].iter().position(|&b| b != b' ').filter(|&n| n > 0)?;
            // Blanks beyond the padding of the pid belong to a delta.
            let own = if i == n { i.max(5) + 1 } else { i + 1 };
            i = own.min(i + blanks);
        }
    }
    if let Some(end) = leader::bracketed(line, i, leader::is_context) {
        layout.context = true;
        i = end;
    }
    let rest = &line[i..];
    let time = leader::time_of_day(rest)
        .map(|(_, n)| (Time::Day, n))
        .or_else(|| leader::epoch(rest).map(|(_, n)| (Time::Epoch, n)));
    if let Some((time, n)) = time {
        layout.time = time;
        i = leader::one_blank(line, i + n)?;
        if line[i..].starts_with(b"(+") {
            layout.delta = Delta::Paren;
        }
    } else if let Some((_, end)) = leader::delta(line, i) {
        layout.delta = Delta::Plain;
        i = leader::one_blank(line, end)?;
    }
    if layout.delta == Delta::Paren {
        let (_, end) = leader::delta(line, i + 2)?;
        if !line[end..].starts_with(b") ") {
            return None;
        }
        i = end + 2;
    }
    if let Some(end) = leader::bracketed(line, i, leader::is_number) {
        layout.number = true;
        i = end;
    }
    if let Some(end) = leader::bracketed(line, i, leader::is_pointer) {
        layout.pointer = true;
        i = end;
    }
    Some((layout, i))
}

/// Skips the `<comm>` at `at`, if there is one.
fn comm_end(line: &[u8], at: usize) -> Option<usize> {
    if line.get(at) != Some(&b'<') {
        return Some(at);
    }
    memchr::memchr(b'>', &line[at..]).map(|n| at + n + 1)
}

/// Whether the line, judged by its first [`LOOK`] bytes, starts as only an event does. It then
/// belongs to no line before it, so a block may start with it.
pub(crate) fn stands_alone(line: &[u8]) -> bool {
    let look = &line[..line.len().min(LOOK)];
    if memchr::memchr(0x1b, look).is_some() {
        let mut plain = look.to_vec();
        let len = colour::strip(&mut plain);
        return begins(&plain[..len], true);
    }
    begins(look, false)
}

/// The same for a line that may have a prefix, judged by its first [`LINE_START`] bytes.
#[cold]
pub(crate) fn stands_alone_behind(prefix: &Prefix, line: &[u8]) -> bool {
    let look = &line[..line.len().min(LINE_START)];
    let own = |look: &[u8], coloured| {
        let own = &look[prefix.skip(look).unwrap_or(0)..];
        begins(&own[..own.len().min(LOOK)], coloured)
    };
    if memchr::memchr(0x1b, look).is_some() {
        let mut plain = look.to_vec();
        let len = colour::strip(&mut plain);
        return own(&plain[..len], true);
    }
    own(look, false)
}

/// With `coloured`, any name is accepted.
fn begins(look: &[u8], coloured: bool) -> bool {
    let Some((_, at)) = layout_of(look) else { return false };
    let rest = &look[at..];
    let rest = &rest[personality(rest)..];
    match rest.first() {
        Some(b'<') => rest.starts_with(b"<... "),
        Some(b'+') => rest.starts_with(b"+++ "),
        Some(b'-') => rest.starts_with(b"--- "),
        Some(b'?') => rest.starts_with(b"????(") || rest.starts_with(b"???("),
        _ => call_name(rest).is_some_and(|n| at > 0 || coloured || is_call(&rest[..n])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_leader() {
        for (line, event) in [
            ("read(3, \"\", 4096)                       = 0", 0),
            ("11067 read(3, \"\", 4096)                 = 0", 6),
            ("7     read(3, \"\", 4096)                 = 0", 6),
            ("[pid  4103] read(3, \"\", 4096)           = 0", 12),
            ("3999993 1795177798.841108 execve(\"/data\"", 26),
            ("21158<events> 1795176485.656349 read(3, \"r\"..., 100) = 100", 32),
            ("[pid 17982<events>]      0.000018 exit(0 <unfinished ...>", 34),
            ("25398 12:12:37 close(4)                 = 0", 15),
            ("26278 12:12:41.892 <... close resumed>) = 0 <0>", 19),
            ("26078 1795176760.745550993 close(3) = 0", 27),
            ("26324 1795176762 (+     0.000031997) close(3) = 0", 37),
            ("     0 close(33)                        = 0", 7),
            ("25666 12:12:38 (+     0.000082) close(3) = 0", 32),
            ("5240  1795176558.716752 [   3] close(1) = 0 <0.000261>", 31),
            ("26847 [00007fcff6408e67] close(2 <unfinished ...>", 25),
            ("26847 [    7f6629bf4ad7] close(2 <unfinished ...>", 25),
            ("7 [unconfined_t] 12:12:37 [????????] close(4) = 0", usize::MAX),
            (
                "27534 [a_u:b_r:c_t:s0-s0:c0.c1023] 12:12:49.461526 (+     0.000017) [   3] [00007f050fce1e67] close(3) = 0",
                94,
            ),
            ("1795176762 close(3) = 0", 11),
            ("27534      0.000017 close(3) = 0", 20),
            ("123        0.000017 close(3) = 0", 20),
        ] {
            let found = layout_of(line.as_bytes());
            if event == usize::MAX {
                assert!(found.is_some(), "{line}");
                continue;
            }
            let (layout, at) = found.unwrap_or_else(|| panic!("{line} has a leader"));
            assert_eq!(at, event, "{line}");
            let leader = layout.leader(line.as_bytes()).expect("the layout that was found");
            assert_eq!(leader.next, event, "{line}");
            assert!(stands_alone(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn continuation_lines_do_not_stand_alone() {
        for line in [
            "",
            ")            = 12",
            ", child_tidptr=0x7fa19750aa10) = 3490",
            " => {parent_tid=[21098]}, 88) = 21098",
            " <unfinished ...>",
            "child_stack=0, flags=SIGCHLD, child_tidptr=0x7f) = 10429",
            "[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL) = 1198",
            "strace: Process 27681 detached",
            "% time     seconds  usecs/call     calls    errors syscall",
            "  0.00    0.000000           0         1           read",
            "line>, \"new\\nline\", 8) = 8",
            "a line of output (of the program)",
            "12 monkeys",
            "main(argc)",
        ] {
            assert!(!stands_alone(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn example_of_layout_of() {
        let (layout, at) = layout_of(b"27534 12:12:49.461526 close(3) = 0").unwrap();
        assert_eq!((layout.pid, layout.time, at), (Pid::Plain, Time::Day, 22));
    }

    #[test]
    fn example_of_stands_alone() {
        use crate::strace::leader::line_layout::stands_alone;
        assert!(stands_alone(b"7 close(3) = 0"));
        assert!(stands_alone(b"[pid   12] +++ exited with 0 +++"));
        assert!(!stands_alone(b", 0x7ffe484ec850) = -1 ENOTTY (Inappropriate ioctl for device)"));
        assert!(!stands_alone(b" > libc.so.6(read+0x10) [0x11]"));
    }
}
