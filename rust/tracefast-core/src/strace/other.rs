//! Lines that are no events: summaries, messages, tables.

/// What a line without an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    Blank,
    Summary,
    Message,
    Unknown,
}

/// Classifies a line that has no leader or no event behind it.
pub(super) fn classify(line: &[u8], rest: &[u8]) -> Other {
    if line.trim_ascii().is_empty() {
        Other::Blank
    } else if is_summary(line) {
        Other::Summary
    } else if is_message(line) || is_message(rest) {
        Other::Message
    } else {
        Other::Unknown
    }
}

/// A table or a message: something that only strace writes.
pub(super) fn is_known(line: &[u8]) -> bool {
    matches!(classify(line, line), Other::Summary | Other::Message)
}

/// A line of the tables that `-c` and `-C` print: head, rule, row, total.
fn is_summary(line: &[u8]) -> bool {
    let trimmed = line.trim_ascii();
    if trimmed.starts_with(b"% time ") || line.starts_with(b"System call usage summary for ") {
        return true;
    }
    if trimmed.len() >= 20 && trimmed.iter().all(|b| matches!(b, b'-' | b' ')) {
        return trimmed.starts_with(b"------ ");
    }
    // `  0.00    0.000000           0         2           read`; a comma in some languages.
    let mut words = trimmed.split(|&b| b == b' ').filter(|word| !word.is_empty());
    let (Some(share), Some(seconds)) = (words.next(), words.next()) else { return false };
    let decimal = |word: &[u8], digits: usize| {
        word.len() > digits
            && matches!(word[word.len() - digits - 1], b'.' | b',')
            && word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
    };
    let share_ok = decimal(share, 2) || share.ends_with(b"nan");
    let name_ok = |word: &[u8]| {
        word.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'?')
    };
    share_ok && decimal(seconds, 6) && words.next_back().is_some_and(name_ok)
}

/// A message of strace itself.
fn is_message(line: &[u8]) -> bool {
    // argv[0], as the tracer was called, then a colon.
    let name = line.iter().position(|b| matches!(b, b' ' | b':' | b'"' | b'(')).unwrap_or(0);
    if line[name..].starts_with(b": ") && line[..name].ends_with(b"strace") {
        return true;
    }
    if line.starts_with(b"[ Process PID=") && line.ends_with(b" mode. ]") {
        return true;
    }
    // Before 4.11 without the name.
    line.strip_prefix(b"Process ").is_some_and(|rest| {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0
            && [&b" attached"[..], b" detached", b" suspended", b" resumed"]
                .iter()
                .any(|text| rest[digits..].starts_with(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_events() {
        for (line, kind) in [
            ("% time     seconds  usecs/call     calls    errors syscall", Other::Summary),
            ("------ ----------- ----------- --------- --------- ----------------", Other::Summary),
            ("  0.00    0.000000           0         2           read", Other::Summary),
            ("100,00    0,000592          74         8         1 total", Other::Summary),
            ("  -nan    0.000000           0         1           read", Other::Summary),
            ("strace: Process 17 attached", Other::Message),
            ("/usr/bin/strace: Process 17 attached with 3 threads", Other::Message),
            ("Process 17 attached", Other::Message),
            ("[ Process PID=30788 runs in 32 bit mode. ]", Other::Message),
            ("  ", Other::Blank),
            ("Process of elimination", Other::Unknown),
            ("hello", Other::Unknown),
        ] {
            assert_eq!(classify(line.as_bytes(), line.as_bytes()), kind, "{line}");
        }
    }
}
