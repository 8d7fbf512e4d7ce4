//! Lines that are no events: tables, messages, marks of what was left out.

use crate::strace::non_calls::message::is_message;
use crate::strace::non_calls::summary_table::{self, Part};

/// What a line without an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Other {
    Blank,
    /// Part of a table; whether one begins here.
    Summary {
        head: bool,
    },
    Message,
    Unknown,
}

/// Classifies a line that has no leader or no event behind it; `table`: a table has begun.
pub(crate) fn classify(line: &[u8], rest: &[u8], table: bool) -> Other {
    if line.trim_ascii().is_empty() {
        return Other::Blank;
    }
    if is_message(line) || is_message(rest) || is_elision(line.trim_ascii()) {
        return Other::Message;
    }
    match summary_table::part(line) {
        Part::Head => Other::Summary { head: true },
        Part::Sure => Other::Summary { head: false },
        Part::Row if table => Other::Summary { head: false },
        Part::Row | Part::None => Other::Unknown,
    }
}

/// A table or a message: something that only strace writes.
pub(crate) fn is_known(line: &[u8]) -> bool {
    matches!(classify(line, line, false), Other::Summary { .. } | Other::Message)
        && !is_elision(line.trim_ascii())
}

/// The mark that people put where they leave lines out.
fn is_elision(text: &[u8]) -> bool {
    matches!(text, b"[...]" | b"..." | b"(...)" | b"<...>" | b"[..]" | b"[snip]" | b"<snip>")
        || text.starts_with(b"[...") && text.ends_with(b"...]")
        || matches!(text, [b'[', inner @ .., b']'] if inner == "…".as_bytes())
        || text == "…".as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_events() {
        for (line, kind) in [
            (
                "% time     seconds  usecs/call     calls    errors syscall",
                Other::Summary { head: true },
            ),
            (
                "  0.00    0.000000           0         2           read",
                Other::Summary { head: false },
            ),
            ("strace: Process 17 attached", Other::Message),
            ("[ Process PID=30788 runs in 32 bit mode. ]", Other::Message),
            ("[...]", Other::Message),
            ("  […]", Other::Message),
            ("  ", Other::Blank),
            ("Process of elimination", Other::Unknown),
            ("5 apples", Other::Unknown),
            ("hello", Other::Unknown),
        ] {
            assert_eq!(classify(line.as_bytes(), line.as_bytes(), false), kind, "{line}");
        }
        let row = classify(b"5 read", b"5 read", true);
        assert_eq!(row, Other::Summary { head: false });
    }
}
