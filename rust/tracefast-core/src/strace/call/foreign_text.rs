//! Finds text of others within a line.
//!
//! strace flushes a line when a call starts. On a terminal, its own messages and the output of the
//! traced program may follow on that line, and the rest of the call is on a later one.

use crate::linux::syscalls::{Classes, classes_of};
use crate::strace::arguments::{Split, closed, skip_string};
use crate::strace::leader::{Layout, Leader, Time};
use crate::strace::line_start::begins_event;
use crate::strace::non_calls::message;
use crate::text::escape::unescape_raw;
use crate::text::number;

/// Where a message of strace starts that follows a call on `line`, where the call does not end.
/// `None` if there is no message.
pub(crate) fn message_start(line: &[u8]) -> Option<usize> {
    // Versions before 4.11 print messages without `strace: `.
    let bare = [&b"Process "[..], b"[ Process PID="]
        .iter()
        .filter_map(|start| memchr::memmem::rfind(line, start))
        .filter(|&at| message::is_bare(&line[at..]))
        .min();
    let named = memchr::memmem::rfind(line, b"strace: ").map(|at| program_start(line, at));
    let at = match (bare, named) {
        (Some(bare), Some(named)) => bare.min(named),
        (bare, named) => bare.or(named)?,
    };
    // A string may hold the same text.
    closed(&line[..at]).then_some(at)
}

/// Where the program name in front of the `strace: ` at `at` starts. A path is taken as far as its
/// bytes can be those of a path: what a call prints before it does not end with a slash.
fn program_start(line: &[u8], at: usize) -> usize {
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'_' | b'-' | b'+');
    let mut low = line[..at].iter().rposition(|b| !part(b)).map_or(0, |n| n + 1);
    // Neither the slash that ends a comment nor the dots of a cut string belong to a path.
    if line[..=low].ends_with(b"*/") {
        low += 1;
    } else if line[low..at].starts_with(b"...") && line[..low].ends_with(b"\"") {
        low += 3;
    }
    let Some(slash) = line[low..at].iter().position(|&b| b == b'/') else { return at };
    let mut start = low + slash;
    // `./strace`, `../strace`
    while start > low && line[start - 1] == b'.' {
        start -= 1;
    }
    start
}

/// Calls that write: the output of the program follows the arguments of the call that wrote it.
pub(crate) fn writes(name: &[u8]) -> bool {
    classes_of(name).has(Classes::WRITES.and(Classes::SENDS))
}

/// Where the program's output starts in `args`, the arguments of a call that writes and what
/// follows them. There is no separator, so the output is recognised by its text: it is the first
/// line of the strings among the arguments. `None` if no output follows.
pub(crate) fn output_start(args: &[u8]) -> Option<usize> {
    let split = Split::new(args, 1);
    let data = split.get(args, 1)?;
    // `Split` ends an argument at a comma or at the end of the text.
    let from = split.start(1) + data.len();
    let tail = args.get(from..).filter(|tail| !tail.is_empty())?;
    let mut written = Vec::new();
    let whole = strings(data, &mut written);
    let line_end = memchr::memchr(b'\n', &written);
    let mut first = &written[..line_end.unwrap_or(written.len())];
    // The line may have ended with CR LF; the LF has been removed, and the CR may have been.
    if !tail.ends_with(b"\r") && line_end.is_some() {
        first = first.strip_suffix(b"\r").unwrap_or(first);
    }
    if first.is_empty() {
        return None;
    }
    let at = if whole || line_end.is_some() {
        tail.ends_with(first).then(|| tail.len() - first.len())?
    } else {
        // The log shows only the start of what was written.
        memchr::memmem::find(tail, first)?
    };
    // The end of an argument must precede it.
    let end = tail[..at].last()?;
    (end.is_ascii_alphanumeric() || matches!(end, b')' | b']' | b'}')).then_some(from + at)
}

/// Whether text follows the number of bytes, which is the third argument of a call that writes.
/// `None` if the call shows no number. `args` may go on after the arguments.
pub(crate) fn count_goes_on(args: &[u8]) -> Option<bool> {
    let split = Split::new(args, 2);
    let count = split.get(args, 2)?;
    let (_, len) = number::c_integer(count);
    (len > 0).then_some(len < count.len())
}

/// How many bytes of the program's output come on later lines. In `args`, the arguments of the call
/// and what follows them, it starts at `output`, which [`output_start`] has found.
pub(crate) fn output_after(args: &[u8], output: usize) -> usize {
    let split = Split::new(&args[..output], 2);
    let text = split.get(args, 1).is_some_and(|data| data.trim_ascii_start().starts_with(b"\""));
    let all = split.get(args, 2).map(<[u8]>::trim_ascii).and_then(number::whole_integer);
    let all = all.and_then(|all| usize::try_from(all).ok()).filter(|_| text).unwrap_or(0);
    all.saturating_sub(args.len() - output + 1)
}

/// Length of the program's output at the start of `line`, before the rest of a call that writes
/// with the arguments `args`: the part of its strings after their last line feed.
pub(crate) fn output_before(args: &[u8], line: &[u8]) -> usize {
    let split = Split::new(args, 1);
    let mut written = Vec::new();
    let Some(true) = split.get(args, 1).map(|data| strings(data, &mut written)) else { return 0 };
    let last = memchr::memrchr(b'\n', &written).map_or(0, |n| n + 1);
    let end = &written[last..];
    let before = last > 0 && line.starts_with(end) && line.get(end.len()) == Some(&b')');
    if before { end.len() } else { 0 }
}

/// Appends the unescaped strings in `text` to `out`. Returns `false` if one of them is cut
/// (`"…"...`).
fn strings(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut i = 0;
    while let Some(n) = memchr::memchr(b'"', &text[i..]) {
        let start = i + n;
        let Some(end) = skip_string(text, start) else {
            return false;
        };
        unescape_raw(&text[start + 1..end - 1], out);
        if text[end..].starts_with(b"...") {
            return false;
        }
        i = end;
    }
    true
}

/// Finds a leader with a pid or a time within `line`, followed by an event.
pub(crate) fn leader_after_output(layout: &Layout, line: &[u8]) -> Option<(usize, Leader)> {
    let found = |at: usize| {
        let leader = layout.leader(&line[at..])?;
        let event = at + leader.next;
        (leader.next > 0 && begins_event(&line[event..])).then_some((at, leader))
    };
    // Try at most a few places.
    if let Some(at) = memchr::memmem::find_iter(line, b"[pid ").take(TRIES).find_map(found) {
        return Some(at);
    }
    if layout.time == Time::None {
        return None;
    }
    let digit = |at: usize| line.get(at).is_some_and(u8::is_ascii_digit);
    // Not within a number, and not the fraction of one.
    let starts = |at: &usize| match at.checked_sub(1) {
        None => digit(*at),
        Some(before) if line[before] == b'.' => {
            digit(*at) && !before.checked_sub(1).is_some_and(digit)
        }
        Some(before) => digit(*at) && !digit(before),
    };
    (0..line.len()).filter(starts).take(TRIES).find_map(found)
}

/// How many places in a line are tried.
const TRIES: usize = 64;

/// If `line` ends with an exit that follows a call without a line feed: where the leader of the
/// exit starts. Both are of the same task, and the exit is not earlier than the call.
pub(crate) fn exit_after_call(layout: &Layout, line: &[u8]) -> Option<usize> {
    if !line.ends_with(b" +++") {
        return None;
    }
    let at = memchr::memmem::rfind(&line[..line.len() - 4], b"+++ ")?;
    let body = &line[at + 4..];
    let known = [&b"superseded by "[..], b"killed by ", b"exited with "];
    if at == 0 || !known.iter().any(|start| body.starts_with(start)) {
        return None;
    }
    let own = layout.leader(line)?;
    // No leader is longer than 200 bytes.
    if !closed(&line[..at]) {
        return None;
    }
    (at.saturating_sub(200).max(own.next + 1)..=at).rev().find(|&start| {
        layout.leader(&line[start..]).is_some_and(|found| {
            found.next == at - start
                && found.pid == own.pid
                && found.time >= own.time
                && starts_whole(line, start, found.pid.is_some())
        })
    })
}

/// A pid may follow any digit. A time must not have lost its first digit.
fn starts_whole(line: &[u8], start: usize, pid: bool) -> bool {
    pid || number::digits(&line[start..]).1 != 9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strace::detect;

    #[test]
    fn a_clock_after_output_is_not_part_of_a_number() {
        let layout = Layout { time: Time::Epoch, ..Layout::default() };
        let at = |line: &str| leader_after_output(&layout, line.as_bytes()).map(|(at, _)| at);
        assert_eq!(at("done.1795229590.124992 close(3) = 0"), Some(5));
        assert_eq!(at(".1795229590.124992 close(3) = 0"), Some(1));
        // Reading the fraction as a time would lose the task.
        assert_eq!(at("[pid 12345] 01795229590.124992224 close(3) = 0"), None);
    }

    #[test]
    fn messages_after_calls() {
        for (head, message) in [
            ("vfork(", "/usr/bin/strace: Process 4312 attached"),
            ("openat(AT_FDCWD, \"/x\", O_RDONLY|O_CLOEXEC", "/usr/bin/strace: Process 5 attached"),
            ("syscall_0x1b3(0x7fff, 0x7fff35aba507", "/b/strace: Process 30455 attached"),
            ("read(3, ", "./strace: Process 1 attached"),
            ("read(3, ", "../b/strace: Process 1 attached"),
            ("futex(0x55, FUTEX_WAIT_PRIVATE, 2, NULL", "strace: Process 27680 detached"),
            ("clone(", "Process 27418 attached"),
            ("clone(", "Process 27418 attached (waiting for parent)"),
            ("execve(\"/x\", [], 0x7f /* 3 vars */", "strace: Process 4 attached"),
            ("execve(\"/x\", [], 0x7f /* 3 vars */", "/usr/bin/strace: Process 4 attached"),
            ("openat(AT_FDCWD, \"/x\"...", "strace: Process 4 attached"),
            ("openat(AT_FDCWD, \"/x\"...", "/b/strace: Process 4 attached"),
            ("read(3, \"/x\"", "./strace: Process 4 attached"),
            ("execve(\"/x\"", "[ Process PID=30788 runs in 32 bit mode. ]"),
        ] {
            let line = format!("{head}{message}");
            assert_eq!(message_start(line.as_bytes()), Some(head.len()), "{line}");
        }
        for line in ["read(3, ", "write(1, \"Process 3 attached", "x(\"strace: y"] {
            assert_eq!(message_start(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn output_after_calls() {
        for (args, output) in [
            (r#"1, "out line 13\n", 12"#, "out line 13"),
            (r#"1, "a\tb\"c\nnext\n", 12"#, "a\tb\"c"),
            (r#"2, "0123456789"..., 100"#, "0123456789 and so on, \"quoted\""),
            (r#"2, [{iov_base="ab", iov_len=2}, {iov_base="c\n", iov_len=2}], 2"#, "abc"),
            (r#"2, "x", 1, MSG_NOSIGNAL, NULL, 0"#, "x"),
        ] {
            let line = format!("{args}{output}");
            assert_eq!(output_start(line.as_bytes()), Some(args.len()), "{line}");
            assert_eq!(output_start(args.as_bytes()), None, "{args}");
        }
        assert_eq!(output_start(br#"2, "\n", 1"#), None);
        assert_eq!(output_start(br#"2, "abc", 3 other"#), None);
    }

    #[test]
    fn exits_after_calls() {
        let times = "29186 12:35:12.844575 execve(0x5582effed015, 0x7ffc28365bb029186 12:35:12.844584 +++ superseded by execve in pid 29191 +++";
        let bare = "12:26:01.032193 pause(12:26:01.089372 +++ killed by SIGKILL +++";
        let epoch = "1795176558.716752 pause(1795176558.816752 +++ killed by SIGKILL +++";
        for (line, first, at) in [
            (
                "5130  close(0x556b5b2ad0005130  +++ superseded by execve in pid 5135 +++",
                "5130  close(3) = 0\n",
                26,
            ),
            (times, "29186 12:35:12.844575 close(3) = 0\n", 59),
            (bare, "12:26:01.032193 close(3) = 0\n", 22),
            (epoch, "1795176558.716752 close(3) = 0\n", 24),
        ] {
            let layout = detect(first.as_bytes()).expect("a log").layout;
            assert_eq!(exit_after_call(&layout, line.as_bytes()), Some(at), "{line}");
        }
        let layout = detect(b"close(3) = 0\n").expect("a log").layout;
        assert_eq!(exit_after_call(&layout, b"pause(+++ killed by SIGKILL +++"), Some(6));
        let layout = detect(b"7 close(3) = 0\n").expect("a log").layout;
        for line in [
            "7 +++ exited with 0 +++",
            "7 write(1, \"+++ killed by SIGKILL +++",
            "7 x(8 +++ killed by SIGKILL +++",
        ] {
            assert_eq!(exit_after_call(&layout, line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn example_of_exit_after_call() {
        use crate::strace::detect;
        let line = b"18077 close(0x318077 +++ superseded by execve in pid 18082 +++";
        let layout = detect(b"18077 close(3) = 0\n").unwrap().layout;
        assert_eq!(exit_after_call(&layout, line), Some(15));
    }

    #[test]
    fn example_of_leader_after_output() {
        use crate::strace::leader::Layout;
        let line = b"some output[pid 19271] <... newfstatat resumed>0) = 0";
        assert_eq!(leader_after_output(&Layout::default(), line).unwrap().0, 11);
        assert!(leader_after_output(&Layout::default(), b"some outputclose(3) = 0").is_none());
    }

    #[test]
    fn example_of_message_start() {
        use crate::strace::call::foreign_text::message_start;
        assert_eq!(
            message_start(b"clone(flags=SIGCHLD/usr/bin/strace: Process 3490 attached"),
            Some(19)
        );
        assert_eq!(message_start(b"wait4(27418, Process 27417 suspended"), Some(13));
        assert_eq!(message_start(b"write(2, \"strace: Process 3 attached"), None);
    }

    #[test]
    fn example_of_output_start() {
        use crate::strace::call::foreign_text::output_start;
        assert_eq!(output_start(br#"2, "5 apples\n", 95 apples"#), Some(18));
        assert_eq!(output_start(br#"2, "partial", 7partial"#), Some(15));
        assert_eq!(output_start(br#"2, "abc\n", 4"#), None);
    }

    #[test]
    fn example_of_output_before() {
        use crate::strace::call::foreign_text::output_before;
        assert_eq!(output_before(br#"1, "menu\n> ", 7"#, b"> ) = 7"), 2);
        assert_eq!(output_before(br#"1, "menu\n", 5"#, b")  = 5"), 0);
    }
}
