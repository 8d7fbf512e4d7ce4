//! Whether a text is ftrace's, and which of its optional columns it has.

use super::header::{self, Header};
use super::other::{Other, classify};
use super::payload::{Call, Payload, parse};
use super::{Clock, Format, Raw};

/// Lines that decide between formats.
const LINES: usize = 200;

/// The format of a log by its first lines; `None` if not one of them is ftrace's.
///
/// # Examples
/// ```
/// use tracefast_core::ftrace::{self, Clock};
/// let format = ftrace::detect(b"  bash-7  [001] d..2.  2881.878957: sys_read -> 0x2\n").unwrap();
/// assert_eq!((format.flags, format.tgid, format.clock), (5, false, Clock::Uptime));
/// assert_eq!(ftrace::detect(b"close(3) = 0\n"), None);
/// ```
pub fn detect(text: &[u8]) -> Option<Format> {
    let mut found = Found::default();
    let mut known = false;
    for line in lines(text) {
        if let Some(header) = header::parse(line) {
            found.record(line, &header);
        }
        known = known || is_ftrace(line);
    }
    known.then(|| found.format())
}

/// How many of the first lines of `text` look like ftrace's: to choose between formats. A log that
/// names its tracer is ftrace's, whatever its records look like.
pub fn likeness(text: &[u8]) -> usize {
    if lines(text).take(LINES).any(|line| line.starts_with(b"# tracer: ")) {
        return LINES + 1;
    }
    lines(text).filter(|line| !line.is_empty()).take(LINES).filter(|line| is_ftrace(line)).count()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// The line is a record or one that only ftrace writes.
fn is_ftrace(line: &[u8]) -> bool {
    if let Some(comment) = line.strip_prefix(b"#") {
        return [&b" tracer: "[..], b" entries-in-buffer", b"#### CPU "]
            .iter()
            .any(|known| comment.starts_with(known))
            || comment.starts_with(b"        ")
            || memchr::memmem::find(comment, b"TASK-PID").is_some();
    }
    matches!(classify(line), Other::Lost { .. } | Other::Header) || header::parse(line).is_some()
}

/// What the records show.
#[derive(Default)]
struct Found {
    tgid: bool,
    flags: Option<u8>,
    seconds: usize,
    ticks: usize,
    named: bool,
    x86_64: usize,
    others: usize,
}

impl Found {
    fn record(&mut self, line: &[u8], header: &Header) {
        self.tgid |= header.has_tgid;
        self.flags.get_or_insert((header.flags.1 - header.flags.0) as u8);
        if header.seconds {
            self.seconds += 1;
        } else {
            self.ticks += 1;
        }
        let payload = &line[header.payload..];
        match parse(payload) {
            Payload::Enter { call: Call::Name(..), .. }
            | Payload::Exit { call: Call::Name(..), .. } => self.named = true,
            Payload::Enter { call: Call::Number(_), args } => {
                self.addresses(&payload[args.0..args.1]);
            }
            _ => {}
        }
    }

    /// Addresses of programs, of 12 digits: below 0x7fff… and above 0x5555… on x86-64; on arm64
    /// and others with 48 bits 0xffff… and 0xaaaa….
    fn addresses(&mut self, args: &[u8]) {
        for value in args.split(|&b| b == b' ').map(|v| v.strip_suffix(b",").unwrap_or(v)) {
            match value {
                [b'7' | b'5', ..] if value.len() == 12 => self.x86_64 += 1,
                [b'f' | b'a', ..] if value.len() == 12 => self.others += 1,
                _ => {}
            }
        }
    }

    fn format(&self) -> Format {
        let raw = if self.named {
            Raw::Events
        } else if self.others > self.x86_64 {
            Raw::Numbers
        } else {
            Raw::X86_64
        };
        Format {
            tgid: self.tgid,
            flags: self.flags.unwrap_or(0),
            clock: if self.ticks > self.seconds { Clock::Ticks } else { Clock::Uptime },
            raw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(text: &str) -> Format {
        detect(text.as_bytes()).unwrap_or_else(|| panic!("ftrace's: {text}"))
    }

    #[test]
    fn columns_and_clock() {
        let plain = format("            bash-2101    [001]   2881.878957: x: y\n");
        assert_eq!((plain.flags, plain.tgid, plain.clock), (0, false, Clock::Uptime));
        let full = format("          <idle>-0       (-------) [001] d..h2..  2882.097484: x: y\n");
        assert_eq!((full.flags, full.tgid), (7, true));
        assert_eq!(
            format("            bash-2101    [001] d..2.            2: x: y\n").clock,
            Clock::Ticks
        );
        assert_eq!(format("# tracer: nop\n#\n").flags, 0);
    }

    #[test]
    fn raw_calls_by_architecture() {
        let head = "            bash-2101    [001] .....  2881.878957: ";
        let x86_64 = format!("{head}sys_enter: NR 0 (3, 7ffcad6c47c8, 340, 0, 0, 0)\n");
        assert_eq!(format(&x86_64).raw, Raw::X86_64);
        let arm64 = format!("{head}sys_enter: NR 63 (3, ffffcad6c47c, 340, 0, 0, 0)\n");
        assert_eq!(format(&arm64).raw, Raw::Numbers);
        let both = format!("{head}sys_read(fd: 3, buf: 7f, count: 1)\n{x86_64}");
        assert_eq!(format(&both).raw, Raw::Events);
    }

    #[test]
    fn other_text_is_not_ftrace() {
        assert_eq!(detect(b""), None);
        assert_eq!(detect(b"hello, world\n# comment\n"), None);
        assert_eq!(likeness(b"7 close(3) = 0\n# x\n"), 0);
        let text = b"cpus=2\n#\nCPU:0 [LOST 1 EVENTS]\n  b-1 [000] 1.0: x: y\nprose\n\n";
        assert_eq!(likeness(text), 3);
        // Without their columns the records may be taken for strace's calls.
        let bare = "# tracer: nop\n#\n".to_owned() + &"sys_read(fd: 3)\n".repeat(300);
        assert!(likeness(bare.as_bytes()) > crate::strace::likeness(bare.as_bytes()));
    }
}
