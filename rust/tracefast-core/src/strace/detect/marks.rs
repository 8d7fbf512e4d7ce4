//! Lines that show that a text is strace's: nothing else ends as they do.
//!
//! A name and a parenthesis are not enough, since C has them, too: `munmap(p, n);`.

use crate::strace::arguments::args_end;
use crate::strace::call::ending;
use crate::strace::leader::{Delta, Layout, Leader, Pid, Time};
use crate::strace::line_start::{begins_event, call_name, is_call};
use crate::text::number;

/// Whether the line ends as an event does.
pub(crate) fn is_marked(line: &[u8]) -> bool {
    let has = |mark: &[u8]| memchr::memmem::find(line, mark).is_some();
    match line.trim_ascii_end() {
        [.., b'>'] if has(b"<unfinished ...>") || has(b" <detached ...>") => true,
        [.., b'+'] => {
            [&b"+++ exited "[..], b"+++ killed ", b"+++ superseded "].into_iter().any(has)
        }
        // A message behind a call, which goes on in the next line.
        [.., b'd'] => has(b": Process ") && has(b" attached"),
        // Dashes are also around titles.
        [.., b'-'] => behind(line, b"--- ").is_some_and(is_signal),
        line => has(b" resumed>") || has_result(line),
    }
}

/// Whether this is what is between `--- ` and ` ---` of a signal, and more.
fn is_signal(text: &[u8]) -> bool {
    let name = text.strip_prefix(b"stopped by ").unwrap_or(text);
    let name = name.strip_prefix(b"{si_signo=").unwrap_or(name);
    let (_, digits) = number::digits(name);
    name.starts_with(b"SIG") || digits > 0 && name[digits..].starts_with(b" ")
}

/// What follows the first `mark`.
fn behind<'a>(line: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    memchr::memmem::find(line, mark).map(|at| &line[at + mark.len()..])
}

/// Whether `)`, blanks and `= ` are in the line.
fn has_result(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, b" = ")
        .any(|at| line[..at].trim_ascii_end().last() == Some(&b')'))
}

/// Whether a marked `line` with this leader is an event of strace.
///
/// Without any column before it, a name that is no system call and ` = ` are not enough either:
/// programs in other languages have them. There the call must end as calls do.
pub(crate) fn is_event(line: &[u8], leader: &Leader) -> bool {
    let rest = &line[leader.next..];
    begins_event(rest)
        && match call_name(rest).filter(|_| leader.next == 0) {
            Some(n) => !is_pure(rest) && (is_call(&rest[..n]) || is_whole(&rest[n + 1..])),
            None => true,
        }
}

/// Whether the text is a function of C++ that has no body: `close() = 0;`, `close() = 0; // why`.
fn is_pure(rest: &[u8]) -> bool {
    behind(rest, b") = 0;")
        .is_some_and(|note| matches!(note.trim_ascii().first(), None | Some(b'/')))
}

/// Whether the text after `NAME(` is the rest of a whole call.
fn is_whole(args: &[u8]) -> bool {
    args.last() != Some(&b';') && ending::ending(args).or_else(|| ending::noted(args)).is_some()
}

/// Whether `line` is the start of an event that was cut: by the end of the log, or at a width.
pub(crate) fn is_cut_event(line: &[u8], layout: &Layout, leader: &Leader) -> bool {
    let rest = &line[leader.next..];
    // C and its diffs have lines that look like the starts of calls.
    let timed = layout.time != Time::None || layout.delta != Delta::None;
    let columns = timed || (layout.pid == Pid::Bracket && leader.next > 0);
    match call_name(rest) {
        Some(n) if !is_call(&rest[..n]) || rest.ends_with(b";") => false,
        Some(n) => columns || args_end(&rest[n + 1..], 0).is_none(),
        None => begins_event(rest) && (columns || rest.starts_with(b"<... ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::strace::detect::sniff;

    #[test]
    fn other_languages_are_not_strace() {
        for text in [
            "exiting_irq();\nmunmap(p, n);\nclose(fd);\n",
            "\tif (read(fd, b, 1) == 1)\n\t\tclose(fd);\n",
            "x(3) = 4;\nfoo(1) = bar;\n",
            "print(\"f(x) = 3\")\n",
            "link(a = b)\nopen(path, mode = \"r\")\n",
            "12 close(fd);\n13 exit(0);\n",
            "--- Contents ---\n+++ b/file.c\n",
            "read(fd,\n     buffer, 3);\n",
            "    virtual void close() = 0;\n    virtual int read(int n) = 0; // why\n",
            "    close() = 0;\n    read(n) = 0; // why\n",
        ] {
            assert_eq!(sniff(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_smallest_logs_are_strace() {
        for text in [
            "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---\n",
            "--- 33 ---\n",
            "--- stopped by SIGSTOP ---\n",
            "+++ exited with 0 +++\r\n",
            "exit_group(0)     = ?\n",
            "pause(",
            "futex(0x7ffe, FUTEX_WAIT_PRIVATE, 2, NULL <detached ...>\n",
            "<... read resumed>\"\", 10) = 0\n",
            "7 <... read resumed>\"\", 10) = 0\n",
            "new_call(3) = 0\n",
            "12:00:00 openat(AT_FDCWD, \"/x\"\n12:00:00 read(3)\n",
        ] {
            assert!(sniff(text.as_bytes()).is_some(), "{text}");
        }
    }
}
