//! The arguments of rare calls: mappings, pipes.

use memchr::memmem;

use crate::text::number;

/// The argument at index `at` of a call whose arguments are numbers and flags, without the name
/// that ftrace prints before it.
fn argument(args: &str, at: usize) -> Option<&[u8]> {
    let part = args.split(',').nth(at)?.trim_start().as_bytes();
    Some(memmem::find(part, b": ").map_or(part, |colon| &part[colon + 2..]))
}

/// Address and length of an unmapped range.
pub(crate) fn unmapped(args: &str) -> Option<(i64, i64)> {
    // strace prints only the address with 0x; ftrace prints both or neither.
    let ftrace = args.starts_with("addr: ") || !args.starts_with("0x");
    let value = |at| {
        let part = argument(args, at)?;
        let (value, n) = if ftrace {
            let (value, n) = number::hex_digits(part.strip_prefix(b"0x").unwrap_or(part));
            (value as i64, n)
        } else {
            number::c_integer(part)
        };
        (n > 0).then_some(value)
    };
    Some((value(0)?, value(1)?))
}

/// Whether the mapped memory is executable.
pub(crate) fn executable(args: &str) -> bool {
    const PROT_EXEC: u64 = 4;
    let Some(part) = argument(args, 2) else { return false };
    let (value, n) = number::hex_digits(part.strip_prefix(b"0x").unwrap_or(part));
    memmem::find(part, b"PROT_EXEC").is_some()
        || n > 0 && part.first().is_some_and(u8::is_ascii_digit) && value & PROT_EXEC != 0
}

/// Whether the flags in the last argument close the descriptors on exec.
pub(crate) fn closes_on_exec(args: &str) -> bool {
    const O_CLOEXEC: i64 = 0o2_000_000;
    let flags = args.rsplit(", ").next().unwrap_or_default().as_bytes();
    let (value, n) = number::c_integer(flags);
    memmem::find(flags, b"CLOEXEC").is_some() || n > 0 && value & O_CLOEXEC != 0
}

/// Whether `dup`, `dup2`, `dup3` or `fcntl` makes a descriptor that stays open on exec.
pub(crate) fn hands_on(args: &str) -> bool {
    let text = args.as_bytes();
    let has = |word: &[u8]| memmem::find(text, word).is_some();
    // Only F_DUPFD does; strace names the commands of fcntl, and other calls have numbers there.
    let command = args.split(", ").nth(1).unwrap_or_default();
    let other = command.starts_with("F_") && !command.starts_with("F_DUPFD");
    !other && !has(b"CLOEXEC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings() {
        assert_eq!(unmapped("0x7f41, 38887"), Some((0x7f41, 38887)));
        assert_eq!(unmapped("addr: 0x7f41, len: 0x97e7"), Some((0x7f41, 0x97e7)));
        assert_eq!(unmapped("addr: 7f41, len: 97e7"), Some((0x7f41, 0x97e7)));
        assert_eq!(unmapped("7f41, 97e7, 0, 0"), Some((0x7f41, 0x97e7)));
        assert_eq!(unmapped("0x7f41"), None);
        assert_eq!(unmapped("NULL, 4096"), None);
        assert!(executable("0x7f86, 2342912, PROT_READ|PROT_EXEC, MAP_PRIVATE|MAP_FIXED, 3, 0"));
        assert!(!executable("NULL, 6003000, PROT_READ, MAP_PRIVATE|MAP_DENYWRITE, 3, 0"));
        assert!(executable("addr: 0x7fa6, len: 0x23c000, prot: 5, flags: 0x812, fd: 3, off: 0"));
        assert!(!executable("addr: 0x7fa6, len: 0x23c000, prot: 3, flags: 0x812, fd: 3, off: 0"));
        assert!(executable("0x7f86, 2342912, 0x5, 0x812, 3, 0"));
        assert!(!executable("NULL"));
    }

    #[test]
    fn pipes_that_programs_do_not_get() {
        assert!(closes_on_exec("[3, 4], O_CLOEXEC"));
        assert!(closes_on_exec("[3<pipe:[1, 2]>, 4], O_NONBLOCK|O_CLOEXEC"));
        assert!(closes_on_exec("[3, 4], 0x80000"));
        assert!(!closes_on_exec("[3, 4], O_NONBLOCK"));
        assert!(!closes_on_exec("[3, 4], 0"));
        for args in ["4", "4, 1", "4, 1, 0", "4, F_DUPFD, 10"] {
            assert!(hands_on(args), "{args}");
        }
        for args in ["4, 9, O_CLOEXEC", "4, F_DUPFD_CLOEXEC, 10", "4, F_GETFD"] {
            assert!(!hands_on(args), "{args}");
        }
    }
}
