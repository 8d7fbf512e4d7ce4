//! What the first bytes of a line or of an event say: the name of a call, a mark, a continuation.

use crate::linux::syscalls::is_syscall;

/// The line belongs to the event before it: a stack frame, a dump.
#[inline]
pub fn is_continuation(line: &[u8]) -> bool {
    line.first() == Some(&b' ')
        && (matches!(line.get(1..3), Some(b"| " | b"> " | b"* " | b"= "))
            || line.starts_with(b" VCPU"))
}

/// The rest of a line behind its leader begins as an event does.
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

/// Bytes of the longest name of a call. No kernel has one half as long; whatever is longer is
/// other text, and would only fill the dictionary of names.
pub const NAME_MAX: usize = 255;

/// Length of the name before the `(` of a call.
#[inline(always)]
pub fn call_name(rest: &[u8]) -> Option<usize> {
    let mut n = 0;
    // Eight bytes at a time: where a name ends is hard to predict for a loop over bytes.
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

/// A name may be so long.
#[inline(always)]
pub fn is_length(n: usize) -> bool {
    (1..=NAME_MAX).contains(&n)
}

const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each of eight bytes that may stand in a name: a letter, a digit, `_`.
#[inline(always)]
fn name_bytes(word: u64) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Sums of seven-bit values stay within their bytes.
    let low = word & !HIGH;
    let letter = low | (EACH * 0x20);
    let letters = (letter + EACH * (0x80 - 0x61)) & !(letter + EACH * (0x80 - 0x7b));
    let digits = (low + EACH * (0x80 - 0x30)) & !(low + EACH * (0x80 - 0x3a));
    let underscores = !((low ^ (EACH * 0x5f)) + EACH * 0x7f);
    (letters | digits | underscores) & !word & HIGH
}

/// Length of the `linux:` before a call's name: on some machines strace says of which system the
/// call is.
pub(crate) fn personality(rest: &[u8]) -> usize {
    [&b"linux:"[..], b"svr4:", b"solaris:", b"sunos:", b"hpux:", b"osf:"]
        .iter()
        .find(|prefix| rest.starts_with(prefix))
        .map_or(0, |prefix| prefix.len())
}

/// A name that only a system call has.
pub(crate) fn is_call(name: &[u8]) -> bool {
    name.starts_with(b"syscall_") || is_syscall(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_where_their_bytes_end() {
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
