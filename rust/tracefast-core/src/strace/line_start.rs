//! What the start of a line, or of the event on it, says: the name of a call, a mark, a
//! continuation.

use crate::linux::syscalls::is_syscall;
use crate::text::search;

/// Whether the line is a stack frame (`-k`) or a dump (`-e read=`), which belong to the event
/// before them.
#[inline]
pub fn is_continuation(line: &[u8]) -> bool {
    line.first() == Some(&b' ')
        && (matches!(line.get(1..3), Some(b"| " | b"> " | b"* " | b"= "))
            || line.starts_with(b" VCPU"))
}

/// Whether `rest`, the part of a line after its leader, starts like an event.
pub fn begins_event(rest: &[u8]) -> bool {
    let rest = &rest[personality(rest)..];
    match rest.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => call_name(rest).is_some(),
        Some(b'<') => rest.starts_with(b"<... "),
        Some(b'+') => rest.starts_with(b"+++ "),
        Some(b'-') => rest.starts_with(b"--- ") && rest.ends_with(b"---"),
        Some(b'?') => rest.starts_with(b"????(") || rest.starts_with(b"???("),
        _ => false,
    }
}

/// Longest accepted name of a call, in bytes. Names in the kernel are less than half as long;
/// anything longer is other text and would only fill the dictionary of names.
pub(crate) const NAME_MAX: usize = 255;

/// Length of the name before the `(` of a call.
#[inline(always)]
pub fn call_name(rest: &[u8]) -> Option<usize> {
    let mut n = 0;
    // Eight bytes at a time: a loop over bytes mispredicts where a name ends.
    while let Some(eight) = rest.get(n..).and_then(|rest| rest.first_chunk::<8>()) {
        let others = !name_bytes(u64::from_le_bytes(*eight)) & HIGH;
        if others != 0 {
            n += others.trailing_zeros() as usize / 8;
            return (is_length(n) && rest[n] == b'(').then_some(n);
        }
        n += 8;
    }
    let tail = rest[n..].iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))?;
    n += tail;
    (is_length(n) && rest[n] == b'(').then_some(n)
}

#[inline(always)]
pub(crate) fn is_length(n: usize) -> bool {
    (1..=NAME_MAX).contains(&n)
}

const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each of eight bytes that may be part of a name: letters, digits, `_`.
#[inline(always)]
fn name_bytes(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Sums of seven-bit values do not carry into the next byte.
    let low = word & !HIGH;
    let letter = low | (EACH * 0x20);
    let letters = (letter + EACH * (0x80 - 0x61)) & !(letter + EACH * (0x80 - 0x7b));
    let digits = (low + EACH * (0x80 - 0x30)) & !(low + EACH * (0x80 - 0x3a));
    let underscores = !((low ^ (EACH * 0x5f)) + EACH * 0x7f);
    (letters | digits | underscores) & !word & HIGH
}

/// Length of the personality before the name of a call: strace for some architectures prints which
/// system a call belongs to, as `linux:read`.
pub(crate) fn personality(rest: &[u8]) -> usize {
    [&b"linux:"[..], b"svr4:", b"solaris:", b"sunos:", b"hpux:", b"osf:"]
        .iter()
        .find(|prefix| rest.starts_with(prefix))
        .map_or(0, |prefix| prefix.len())
}

/// Whether only a system call has this name.
pub(crate) fn is_call(name: &[u8]) -> bool {
    name.starts_with(b"syscall_") || is_syscall(name)
}

/// The line without blanks and tabs behind its event, which editors and pages add. The end of a call
/// that is cut stays as it is.
#[cold]
pub(crate) fn without_blanks(line: &[u8]) -> &[u8] {
    let event = line.trim_ascii_end();
    let marks = [&b" +++"[..], b" ---", b" ...>"];
    // ` <ptrace(SYSCALL):No such process>`, ` <unfinished ... exit status 0>`
    let gone = event.ends_with(b">")
        && memchr::memmem::rfind(event, b" <").is_some_and(|at| {
            let mark = &event[at + 2..];
            let marks = [&b"ptrace("[..], b"unfinished ... exit status ", b"Cannot restart pid "];
            marks.into_iter().any(|start| mark.starts_with(start))
        });
    let ends = gone || marks.into_iter().any(|mark| event.ends_with(mark));
    if ends || search::find(event, b" = ", 1).is_some() { event } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_the_first_byte_that_no_name_holds() {
        for byte in 0..=255u8 {
            let name = byte.is_ascii_alphanumeric() || byte == b'_';
            assert_eq!(name_bytes(u64::from(byte)) & 0x80 != 0, name, "{byte:#x}");
            let mut text = *b"sched_yield_to_x(0, 1, 2, 3)";
            text[10] = byte;
            let expected = match byte {
                b'(' => Some(10),
                _ if name => Some(16),
                _ => None,
            };
            assert_eq!(call_name(&text), expected, "{byte:#x}");
        }
        assert_eq!(call_name(b"a("), Some(1));
        assert_eq!(call_name(b"(a"), None);
        assert_eq!(call_name(b"abc"), None);
    }
}
