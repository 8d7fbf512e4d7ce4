//! Lines that are not records: headers, notes of lost records, stack frames.

use crate::text::number;

/// What a line without columns is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonRecord {
    /// Nothing but blanks.
    Blank,
    /// Of the log as a whole.
    Header,
    /// It starts like a header, but not like one that the kernel writes: perhaps part of a text.
    Comment,
    /// The tracer lost records.
    Lost {
        /// On which processor.
        cpu: Option<u16>,
        /// How many, if the tracer says so.
        count: Option<i64>,
    },
    /// None of these.
    Unknown,
}

/// What `line`, which is neither record nor continuation, is.
pub(crate) fn classify(line: &[u8]) -> NonRecord {
    match line.first() {
        _ if line.iter().all(|b| matches!(b, b' ' | b'\t')) => return NonRecord::Blank,
        Some(b'#') => {
            return if is_known(&line[1..]) { NonRecord::Header } else { NonRecord::Comment };
        }
        Some(b' ' | b'\t') if line.trim_ascii_start().starts_with(b"#") => {
            let begins = |words: &[u8]| line.trim_ascii_start().starts_with(words);
            let known = begins(b"# tracer: ") || begins(b"# entries-in-buffer/");
            return if known { NonRecord::Header } else { NonRecord::Comment };
        }
        _ => {}
    }
    let rule = line.trim_ascii();
    if rule.len() >= 20 && rule.iter().all(|&b| b == b'-') {
        // A line around a dump in the kernel's log; text may contain such lines, too.
        return NonRecord::Comment;
    }
    lost(line).unwrap_or(if is_header(line) { NonRecord::Header } else { NonRecord::Unknown })
}

/// What the kernel writes after a `#`: `# tracer: nop`, counts, the legend of the columns.
fn is_known(comment: &[u8]) -> bool {
    const WORDS: [&[u8]; 12] = [
        b"  ",
        b" tracer: ",
        b" entries-in-buffer/",
        b" latency: ",
        b" ---",
        b" CPU",
        b" TIME ",
        b" DEV ",
        b" TASK",
        b" WARNING",
        b" MAY BE MISSING",
        b"####",
    ];
    matches!(comment, b"" | b" ")
        || comment.starts_with(b" | ")
        || WORDS.iter().any(|word| comment.starts_with(word))
        || memchr::memmem::find(comment, b" latency trace v").is_some()
}

/// Headers that are a whole line. The last one separates matches of `grep` with context.
const WHOLE: [&[u8]; 6] = [
    b"capturing trace... done",
    b"TRACE:",
    b"PROCESS DUMP",
    b"CGROUP DUMP",
    b"Dumping ftrace buffer:",
    b"--",
];

/// Whether nothing but a log of ftrace has this header: other texts have comments and versions, too.
pub(crate) fn names_ftrace(header: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [
        b"# tracer: ",
        b"# entries-in-buffer/",
        b"# latency: ",
        b" latency trace v",
        b" TASK-PID ",
        b" FUNCTION CALLS",
    ];
    match header.first() {
        Some(b'#') => WORDS.iter().any(|word| memchr::memmem::find(header, word).is_some()),
        _ => !header.starts_with(b"version = ") && header.trim_ascii() != b"--",
    }
}

/// `cpus=2`, `CPU 3 is empty`, `version = 6`, `TRACE:`.
fn is_header(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let number = |text: &[u8], end: &[u8]| {
        let (_, n) = number::digits(text);
        n > 0 && text[n..] == *end
    };
    if let Some(rest) = line.strip_prefix(b"cpus=") {
        return number(rest, b"");
    }
    if let Some(rest) = line.strip_prefix(b"CPU ") {
        return number(rest, b" is empty");
    }
    if let Some(rest) = line.strip_prefix(b"version = ") {
        return number(rest, b"");
    }
    // mmiotrace lists versions and devices first.
    if let Some(rest) = line.strip_prefix(b"VERSION ") {
        return number(rest, b"");
    }
    if let Some(rest) = line.strip_prefix(b"PCIDEV ") {
        return memchr::memmem::find(rest, b" 0x").is_some();
    }
    let line = line.trim_ascii();
    WHOLE.contains(&line) || is_latency(line)
}

/// What `trace-cmd report -w` prints at the end (`show_wakeup_timings` in `trace-read.c`).
fn is_latency(line: &[u8]) -> bool {
    let heads = [&b"Average wakeup latency: "[..], b"Maximum Latency: ", b"Minimum Latency: "];
    let rest = heads.into_iter().find_map(|head| line.strip_prefix(head));
    line == b"RT task timings:"
        || rest.is_some_and(|rest| {
            let n = rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
            n > 0 && rest[n..].starts_with(b" usecs")
        })
}

/// `MARK 12.345678 Lost 5 events.` of mmiotrace.
fn lost_mmio(line: &[u8]) -> Option<NonRecord> {
    let rest = line.strip_prefix(b"MARK ")?;
    let note = &rest[memchr::memmem::find(rest, b" Lost ")? + 6..];
    let count = number::whole_integer(note.strip_suffix(b" events.")?)?;
    Some(NonRecord::Lost { cpu: None, count: Some(count) })
}

/// `CPU:0 [LOST 104 EVENTS]`, `CPU:1 [LOST EVENTS]`, `CPU:0 [17 EVENTS DROPPED]`,
/// `CPU:0 [EVENTS DROPPED]`, perhaps after the name of an instance.
fn lost(line: &[u8]) -> Option<NonRecord> {
    let Some(body) = line.strip_suffix(b"]") else { return lost_mmio(line) };
    let open = memchr::memrchr(b'[', body)?;
    let note = &body[open + 1..];
    let count = match note {
        b"LOST EVENTS" | b"EVENTS DROPPED" => None,
        _ => {
            let number = note
                .strip_prefix(b"LOST ")
                .and_then(|note| note.strip_suffix(b" EVENTS"))
                .or_else(|| note.strip_suffix(b" EVENTS DROPPED"))?;
            Some(number::whole_integer(number)?)
        }
    };
    let before = body[..open].strip_suffix(b" ").unwrap_or(&body[..open]);
    let at = memchr::memmem::rfind(before, b"CPU:")?;
    let (cpu, n) = number::digits(&before[at + 4..]);
    let named = at == 0 || before[..at].ends_with(b" ");
    (n > 0 && at + 4 + n == before.len() && named)
        .then(|| NonRecord::Lost { cpu: u16::try_from(cpu).ok(), count })
}

/// The line belongs to the record before it: a frame of its stack.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::is_continuation;
/// assert!(is_continuation(b" => schedule+0x23/0xa0"));
/// assert!(is_continuation(b"\t   => schedule+0x23/0xa0"));
/// assert!(!is_continuation(b"  bash-1 [000] 1.000000: sys_read -> 0x1"));
/// ```
#[inline]
pub fn is_continuation(line: &[u8]) -> bool {
    // Pasted ones may have an indent.
    let indent = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    line[indent..].starts_with(b"=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_records() {
        for (line, cpu, count) in [
            ("CPU:0 [LOST 104 EVENTS]", 0, Some(104)),
            ("CPU:1 [LOST EVENTS]", 1, None),
            ("CPU:12 [1704389 EVENTS DROPPED]", 12, Some(1_704_389)),
            ("CPU:0 [EVENTS DROPPED]", 0, None),
            ("other: CPU:3 [EVENTS DROPPED]", 3, None),
        ] {
            let expected = NonRecord::Lost { cpu: Some(cpu), count };
            assert_eq!(classify(line.as_bytes()), expected, "{line}");
        }
        let expected = NonRecord::Lost { cpu: None, count: Some(5) };
        assert_eq!(classify(b"MARK 12.345678 Lost 5 events."), expected);
        assert_eq!(classify(b"CPU:x [LOST EVENTS]"), NonRecord::Unknown);
        assert_eq!(classify(b"CPU:0 [LOST x EVENTS]"), NonRecord::Unknown);
        assert_eq!(classify(b"[LOST EVENTS]"), NonRecord::Unknown);
    }

    #[test]
    fn headers_and_blanks() {
        for line in [
            "#",
            "# tracer: nop",
            "# entries-in-buffer/entries-written: 2058/2058   #P:2",
            "##### CPU 0 buffer started ####",
            "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
            "# nop latency trace v1.1.5 on 6.18.44",
            "# --------------------------------------------------------------------",
            "# latency: 0 us, #2058/2058, CPU#0 | (M:PREEMPT(none) VP:0, KP:0, SP:0 HP:0 #P:2)",
            "#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)",
            "# DEV   CPU TIMESTAMP     PID ACT FLG",
            "#  |     |     |           |   |   |",
            "# CPU  DURATION                  FUNCTION CALLS",
            "# |     |   |                     |   |   |   |",
            "cpus=2",
            "cpus=2 \t",
            "CPU 3 is empty",
            "capturing trace... done",
            "TRACE:",
            "--",
        ] {
            assert_eq!(classify(line.as_bytes()), NonRecord::Header, "{line}");
        }
        for line in [
            "  # tracer: nop",
            "\t# entries-in-buffer/entries-written: 2058/2058   #P:2",
            "VERSION 20070824",
            "PCIDEV 0018 8086100e 0b 0xfebc0000 0x0",
            "Average wakeup latency: 12.345 usecs",
            "Maximum Latency: 99.001 usecs at timestamp: 321.623902",
            "Minimum Latency: 2.001 usecs at timestamp: 321.623902",
            "RT task timings:",
        ] {
            assert_eq!(classify(line.as_bytes()), NonRecord::Header, "{line}");
        }
        for line in ["  #", "   # a heading", "\t#include"] {
            assert_eq!(classify(line.as_bytes()), NonRecord::Comment, "{line}");
        }
        for line in
            ["Maximum Latency: unknown", "VERSION two", "PCIDEV", "Average wakeup latency: x"]
        {
            assert_eq!(classify(line.as_bytes()), NonRecord::Unknown, "{line}");
        }
        assert_eq!(classify(b"# a heading"), NonRecord::Comment);
        assert_eq!(classify(b"#include"), NonRecord::Comment);
        assert_eq!(classify(b"---------------------------------"), NonRecord::Comment);
        assert_eq!(classify(b"version = 6"), NonRecord::Header);
        assert_eq!(classify(b""), NonRecord::Blank);
        assert_eq!(classify(b"  \t"), NonRecord::Blank);
        assert_eq!(classify(b"cpus=two"), NonRecord::Unknown);
        assert_eq!(classify(b"line oom_score_adj=0"), NonRecord::Unknown);
    }

    #[test]
    fn example_of_classify() {
        use crate::ftrace::non_records::classify::{NonRecord, classify};
        let lost = NonRecord::Lost { cpu: Some(0), count: Some(104) };
        assert_eq!(classify(b"CPU:0 [LOST 104 EVENTS]"), lost);
        assert_eq!(classify(b"# tracer: nop"), NonRecord::Header);
    }
}
