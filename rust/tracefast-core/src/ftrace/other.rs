//! Lines that are not records: headers, notes of lost records, stack frames.

use crate::num;

/// What a line without columns is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// Nothing but blanks.
    Blank,
    /// Of the log as a whole.
    Header,
    /// The tracer lost records.
    Lost {
        /// On which processor.
        cpu: Option<u16>,
        /// How many, where it knows.
        count: Option<i64>,
    },
    /// None of these.
    Unknown,
}

/// What `line`, which is neither record nor continuation, is.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::other::{Other, classify};
/// let lost = Other::Lost { cpu: Some(0), count: Some(104) };
/// assert_eq!(classify(b"CPU:0 [LOST 104 EVENTS]"), lost);
/// assert_eq!(classify(b"# tracer: nop"), Other::Header);
/// ```
pub fn classify(line: &[u8]) -> Other {
    match line.first() {
        _ if line.iter().all(|b| matches!(b, b' ' | b'\t')) => return Other::Blank,
        Some(b'#') => return Other::Header,
        _ => {}
    }
    lost(line).unwrap_or(if is_header(line) { Other::Header } else { Other::Unknown })
}

/// `cpus=2`, `CPU 3 is empty`, `version = 6`, `TRACE:`.
fn is_header(line: &[u8]) -> bool {
    let number = |text: &[u8], end: &[u8]| {
        let (_, n) = num::digits(text);
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
    line == b"TRACE:"
}

/// `CPU:0 [LOST 104 EVENTS]`, `CPU:1 [LOST EVENTS]`, `CPU:0 [17 EVENTS DROPPED]`,
/// `CPU:0 [EVENTS DROPPED]`, all perhaps behind the name of an instance.
fn lost(line: &[u8]) -> Option<Other> {
    let body = line.strip_suffix(b"]")?;
    let open = memchr::memrchr(b'[', body)?;
    let note = &body[open + 1..];
    let count = match note {
        b"LOST EVENTS" | b"EVENTS DROPPED" => None,
        _ => {
            let number = note
                .strip_prefix(b"LOST ")
                .and_then(|note| note.strip_suffix(b" EVENTS"))
                .or_else(|| note.strip_suffix(b" EVENTS DROPPED"))?;
            Some(num::whole_integer(number)?)
        }
    };
    let before = body[..open].strip_suffix(b" ").unwrap_or(&body[..open]);
    let at = memchr::memmem::rfind(before, b"CPU:")?;
    let (cpu, n) = num::digits(&before[at + 4..]);
    let named = at == 0 || before[..at].ends_with(b" ");
    (n > 0 && at + 4 + n == before.len() && named)
        .then(|| Other::Lost { cpu: u16::try_from(cpu).ok(), count })
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
            let expected = Other::Lost { cpu: Some(cpu), count };
            assert_eq!(classify(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(classify(b"CPU:x [LOST EVENTS]"), Other::Unknown);
        assert_eq!(classify(b"CPU:0 [LOST x EVENTS]"), Other::Unknown);
        assert_eq!(classify(b"[LOST EVENTS]"), Other::Unknown);
    }

    #[test]
    fn headers_and_blanks() {
        for line in
            ["#", "# tracer: nop", "##### CPU 0 buffer started ####", "cpus=2", "CPU 3 is empty"]
        {
            assert_eq!(classify(line.as_bytes()), Other::Header, "{line}");
        }
        assert_eq!(classify(b"version = 6"), Other::Header);
        assert_eq!(classify(b""), Other::Blank);
        assert_eq!(classify(b"  \t"), Other::Blank);
        assert_eq!(classify(b"cpus=two"), Other::Unknown);
        assert_eq!(classify(b"line oom_score_adj=0"), Other::Unknown);
    }
}
