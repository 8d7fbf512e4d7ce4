//! The messages of strace, such as `strace: Process 17 attached`.

use crate::text::number;

/// What a message says about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskChange {
    /// strace traces it from now on.
    Attached(i32),
    /// strace no longer traces it.
    Detached(i32),
}

/// Whether the line is a message of strace.
pub(crate) fn is_message(line: &[u8]) -> bool {
    text(line).is_some() || is_bare(line) || is_version(line) || is_wait(line)
}

/// The text after `strace: `, whatever path strace was called by.
fn text(line: &[u8]) -> Option<&[u8]> {
    let end = line.iter().position(|b| matches!(b, b' ' | b':' | b'"' | b'('))?;
    let text = line[end..].strip_prefix(b": ")?;
    let program = &line[..end];
    let program = &program[program.iter().rposition(|&b| b == b'/').map_or(0, |n| n + 1)..];
    // Builds of strace may be called strace-6.2 or x86_64-strace.
    let named = program.starts_with(b"strace") || program.ends_with(b"strace");
    (named || !program.is_empty() && is_process(text)).then_some(text)
}

/// Messages that versions before 4.11 print without the program name, and changes of personality
/// (`update_personality` in `src/syscall.c`).
pub(crate) fn is_bare(line: &[u8]) -> bool {
    let personality = line.starts_with(b"[ Process PID=");
    is_process(line) || personality && line.trim_ascii_end().ends_with(b" mode. ]")
}

/// Whether the line is `Process N attached` or another message about a task.
fn is_process(line: &[u8]) -> bool {
    process(line).is_some_and(|(_, rest)| {
        rest == b"attached"
            || rest == b"suspended"
            || rest == b"resumed"
            || rest == b"detached"
            || rest.starts_with(b"attached with ")
            || rest.starts_with(b"attached (")
            || rest.starts_with(b"attached - ")
            || rest.starts_with(b"resumed (")
            || rest.starts_with(b"detached - ")
            || rest.starts_with(b"runs in ")
    })
}

/// `Process N `: the number, and the text after it, without blanks that an editor may have added.
fn process(line: &[u8]) -> Option<(i32, &[u8])> {
    let rest = line.strip_prefix(b"Process ")?;
    let (pid, n) = number::digits(rest);
    let rest = rest[n..].strip_prefix(b" ")?.trim_ascii_end();
    Some((i32::try_from(pid).ok().filter(|_| n > 0)?, rest))
}

/// Whether the line holds what `-d` prints for each stop, possibly in the middle of other text.
fn is_wait(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"strace: [wait(0x").is_some()
}

/// Whether the line is part of the output of `strace -V`.
fn is_version(line: &[u8]) -> bool {
    [
        &b"strace -- version "[..],
        b"Copyright (c) 1991-",
        b"This is free software; see the source for copying conditions.  There is NO",
        b"warranty; not even for MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.",
        b"Optional features enabled: ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// What the message at the start of `line` says about a task.
pub(crate) fn task_change(line: &[u8]) -> Option<TaskChange> {
    let (pid, rest) = process(text(line).unwrap_or(line))?;
    if rest.starts_with(b"attached") {
        Some(TaskChange::Attached(pid))
    } else if rest.starts_with(b"detached") {
        Some(TaskChange::Detached(pid))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_versions() {
        for line in [
            "strace: Process 17 attached",
            "/usr/bin/strace: Process 17 attached with 3 threads",
            "./strace-6.2: ptrace(PTRACE_SEIZE, 17): Operation not permitted",
            "strace: [wait(0x00857f) = 14231] WIFSTOPPED,sig=133",
            "strace: System call limit has been reached, detaching tracees",
            "strace: Exit of unknown pid 17 ignored",
            "seccomp filter/b/strace: [wait(0x00857f) = 14231] WIFSTOPPED,sig=133",
            "tracer: Process 17 attached",
            "Process 17 attached",
            "Process 17 attached (waiting for parent)",
            "Process 17 attached - interrupt to quit",
            "Process 17 resumed (parent 3 ready)",
            "Process 17 suspended",
            "Process 17 suspended \t",
            "[ Process PID=30788 runs in 32 bit mode. ]",
        ] {
            assert!(is_message(line.as_bytes()), "{line}");
        }
        for line in ["hello", "Process of elimination", "Process 17 is gone", "app: error 3", ": x"]
        {
            assert!(!is_message(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn changes_of_tasks() {
        let of = |line: &str| task_change(line.as_bytes());
        assert_eq!(of("Process 17 attached (waiting for parent)"), Some(TaskChange::Attached(17)));
        assert_eq!(of("/b/strace: Process 3 attached"), Some(TaskChange::Attached(3)));
        assert_eq!(of("Process 17 suspended"), None);
        assert_eq!(of("strace: Exit of unknown pid 17 ignored"), None);
    }

    #[test]
    fn example_of_is_message() {
        use crate::strace::non_calls::message::is_message;
        assert!(is_message(b"/usr/bin/strace: Process 17 attached with 3 threads"));
        assert!(is_message(b"Process 17 attached"));
        assert!(!is_message(b"Process of elimination"));
    }

    #[test]
    fn example_of_news() {
        use crate::strace::non_calls::message::{TaskChange, task_change};
        assert_eq!(task_change(b"strace: Process 17 attached"), Some(TaskChange::Attached(17)));
        assert_eq!(task_change(b"strace: Process 17 detached"), Some(TaskChange::Detached(17)));
    }
}
