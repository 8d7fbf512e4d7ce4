//! Distinguishes lines without an event: tables, messages, marks for omitted lines.

use crate::strace::non_calls::message::is_message;
use crate::strace::non_calls::summary_table::{self, TableLine};

/// What a line without an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonCall {
    Blank,
    /// Part of a summary table; `head` if the table starts here.
    Summary {
        head: bool,
    },
    Message,
    Unknown,
}

/// Classifies a line without a leader or without an event after it. `table`: a table has started.
pub(crate) fn classify(line: &[u8], rest: &[u8], table: bool) -> NonCall {
    if line.trim_ascii().is_empty() {
        return NonCall::Blank;
    }
    if is_message(line) || is_message(rest) || is_elision(line.trim_ascii()) {
        return NonCall::Message;
    }
    match summary_table::table_line(line) {
        TableLine::Head => NonCall::Summary { head: true },
        TableLine::Sure => NonCall::Summary { head: false },
        TableLine::Row if table => NonCall::Summary { head: false },
        TableLine::Row | TableLine::None => NonCall::Unknown,
    }
}

/// Whether only strace writes such a line: a table or a message.
pub(crate) fn is_known(line: &[u8]) -> bool {
    matches!(classify(line, line, false), NonCall::Summary { .. } | NonCall::Message)
        && !is_elision(line.trim_ascii())
}

/// Whether the text is a mark that people put in place of omitted lines.
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
    fn lines_without_an_event() {
        for (line, kind) in [
            (
                "% time     seconds  usecs/call     calls    errors syscall",
                NonCall::Summary { head: true },
            ),
            (
                "  0.00    0.000000           0         2           read",
                NonCall::Summary { head: false },
            ),
            ("strace: Process 17 attached", NonCall::Message),
            ("[ Process PID=30788 runs in 32 bit mode. ]", NonCall::Message),
            ("[...]", NonCall::Message),
            ("  […]", NonCall::Message),
            ("  ", NonCall::Blank),
            ("Process of elimination", NonCall::Unknown),
            ("5 apples", NonCall::Unknown),
            ("hello", NonCall::Unknown),
        ] {
            assert_eq!(classify(line.as_bytes(), line.as_bytes(), false), kind, "{line}");
        }
        let row = classify(b"5 read", b"5 read", true);
        assert_eq!(row, NonCall::Summary { head: false });
    }
}
