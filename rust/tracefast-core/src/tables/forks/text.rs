//! What the texts of rare events tell: signals, waits, ends, mappings, pipes.

use memchr::memmem;

use crate::text::number;

/// siginfo counts processor time in ticks of this length, on every machine that matters.
const TICK_NS: i64 = 10_000_000;

/// A child that ended, as `SIGCHLD` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) pid: i32,
    pub(crate) utime_ns: Option<i64>,
    pub(crate) stime_ns: Option<i64>,
}

/// The number behind `key`, decimal or as C writes others.
fn number(text: &[u8], key: &[u8]) -> Option<i64> {
    let at = memmem::find(text, key)? + key.len();
    let (value, n) = number::c_integer(text.get(at..)?);
    (n > 0).then_some(value)
}

/// Whether siginfo is of a child that ended, not of one that stopped or went on.
fn is_end(text: &[u8]) -> bool {
    let Some(at) = memmem::find(text, b"si_code=") else { return false };
    let code = text.get(at + 8..).unwrap_or_default();
    // Or its number: CLD_EXITED, CLD_KILLED, CLD_DUMPED are 1 to 3.
    [&b"CLD_EXITED"[..], b"CLD_KILLED", b"CLD_DUMPED"].iter().any(|name| code.starts_with(name))
        || matches!(number::c_integer(code), (1..=3, n) if n > 0)
}

/// What siginfo tells of a child that ended.
pub(crate) fn ended(args: &str) -> Option<Ended> {
    let text = args.as_bytes();
    if !is_end(text) {
        return None;
    }
    let ticks = |key| number(text, key).map(|ticks| ticks.saturating_mul(TICK_NS));
    Some(Ended {
        pid: i32::try_from(number(text, b"si_pid=")?).ok()?,
        utime_ns: ticks(b"si_utime="),
        stime_ns: ticks(b"si_stime="),
    })
}

/// Whether a wait told of a child that stopped or went on, or left it to be collected.
pub(crate) fn leaves(args: &str) -> bool {
    let text = args.as_bytes();
    // Or the status as a number: 0x137f, 0xffff.
    let status = number(text, b"[").is_some_and(|s| s & 0xff == 0x7f || s & 0xffff == 0xffff);
    let words = [&b"WIFSTOPPED"[..], b"WIFCONTINUED", b"WNOWAIT"];
    status || words.iter().any(|word| memmem::find(text, word).is_some())
}

/// The child that a `waitid` collected.
pub(crate) fn collected(args: &str) -> Option<i32> {
    const P_PID: i64 = 1;
    const WEXITED: i64 = 4;
    const WNOWAIT: i64 = 0x0100_0000;
    if let Some(ended) = ended(args) {
        return Some(ended.pid);
    }
    // ftrace shows no siginfo, but whom the call waits for.
    let text = args.as_bytes();
    let options = hexadecimal(text, b"options: ")?;
    let one = hexadecimal(text, b"which: ")? == P_PID;
    let takes = options & WEXITED != 0 && options & WNOWAIT == 0;
    let pid = i32::try_from(hexadecimal(text, b"upid: ")?).ok();
    pid.filter(|_| one && takes)
}

/// A hexadecimal number behind `key`, with `0x` or without.
fn hexadecimal(text: &[u8], key: &[u8]) -> Option<i64> {
    let at = memmem::find(text, key)? + key.len();
    let rest = text.get(at..)?;
    let (value, n) = number::hex_digits(rest.strip_prefix(b"0x").unwrap_or(rest));
    (n > 0).then_some(value as i64)
}

/// The status that a call asks to end with.
pub(crate) fn status(args: &str) -> Option<i32> {
    let text = args.as_bytes();
    let value = if text.starts_with(b"error_code: ") {
        hexadecimal(text, b"error_code: ")?
    } else {
        let (value, n) = number::c_integer(text);
        if n == 0 {
            return None;
        }
        value
    };
    Some((value & 0xff) as i32)
}

/// The path in `sched_process_exec`.
pub(crate) fn program(args: &str) -> Option<&str> {
    let rest = args.strip_prefix("filename=")?;
    rest.get(..memmem::rfind(rest.as_bytes(), b" pid=")?)
}

/// The argument at `at`, from 0, of calls whose arguments are numbers and flags; of ftrace without
/// its name.
fn argument(args: &str, at: usize) -> Option<&[u8]> {
    let part = args.split(',').nth(at)?.trim_start().as_bytes();
    Some(memmem::find(part, b": ").map_or(part, |colon| &part[colon + 2..]))
}

/// Address and length of a mapping that is taken away.
pub(crate) fn unmapped(args: &str) -> Option<(i64, i64)> {
    // strace marks the address as hexadecimal; ftrace marks both or none.
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

/// Whether what is mapped may be executed.
pub(crate) fn executable(args: &str) -> bool {
    const PROT_EXEC: u64 = 4;
    let Some(part) = argument(args, 2) else { return false };
    let (value, n) = number::hex_digits(part.strip_prefix(b"0x").unwrap_or(part));
    memmem::find(part, b"PROT_EXEC").is_some()
        || n > 0 && part.first().is_some_and(u8::is_ascii_digit) && value & PROT_EXEC != 0
}

/// Whether the flags in the last argument say that programs started do not get the descriptors.
pub(crate) fn closes_on_exec(args: &str) -> bool {
    const O_CLOEXEC: i64 = 0o2_000_000;
    let flags = args.rsplit(", ").next().unwrap_or_default().as_bytes();
    let (value, n) = number::c_integer(flags);
    memmem::find(flags, b"CLOEXEC").is_some() || n > 0 && value & O_CLOEXEC != 0
}

/// Whether `dup`, `dup2`, `dup3` or `fcntl` makes a descriptor that programs started get.
pub(crate) fn hands_on(args: &str) -> bool {
    let text = args.as_bytes();
    let has = |word: &[u8]| memmem::find(text, word).is_some();
    // Of the commands of fcntl one does; the others have numbers beside words.
    let command = args.split(", ").nth(1).unwrap_or_default();
    let other = command.starts_with("F_") && !command.starts_with("F_DUPFD");
    !other && !has(b"CLOEXEC")
}

/// Pages of memory of its own that the current task has, in bytes, as `rss_stat` tells.
pub(crate) fn anonymous(args: &str) -> Option<i64> {
    let text = args.as_bytes();
    let anonymous =
        memmem::find(text, b"type=MM_ANONPAGES").is_some() || number(text, b"member=") == Some(1);
    let own = number(text, b"curr=").is_none_or(|current| current != 0);
    number(text, b"size=").filter(|_| anonymous && own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_tell_of_children_that_ended() {
        let end = |pid, utime_ns, stime_ns| Some(Ended { pid, utime_ns, stime_ns });
        let text = "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=20, si_uid=0, si_status=0, \
                    si_utime=3 /* 0.03 s */, si_stime=0}";
        assert_eq!(ended(text), end(20, Some(30_000_000), Some(0)));
        assert_eq!(ended("{si_code=CLD_DUMPED, si_pid=7}"), end(7, None, None));
        assert_eq!(ended("{si_signo=17, si_code=0x1, si_pid=7}"), end(7, None, None));
        for text in
            ["{si_code=CLD_STOPPED, si_pid=7}", "{si_code=SI_USER, si_pid=7}", "{si_code=5}", ""]
        {
            assert_eq!(ended(text), None, "{text}");
        }
    }

    #[test]
    fn waits_tell_whom_they_collected() {
        assert!(leaves("20, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], WSTOPPED, NULL"));
        assert!(leaves("-1, [0x137f], 0x2, NULL") && leaves("-1, [0xffff], 0x8, NULL"));
        assert!(!leaves("-1, [0x9], 0x2, NULL") && !leaves("-1, [0x7f00], 0x2, NULL"));
        assert!(!leaves("20, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL"));
        let text = "P_PID, 20, {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=20}, WEXITED, NULL";
        assert_eq!(collected(text), Some(20));
        let ftrace = "which: 1, upid: 0x67cf, infop: 0x7ffc, options: 4, ru: 0";
        assert_eq!(collected(ftrace), Some(0x67cf));
        assert_eq!(collected("which: 0x1, upid: 14, infop: 0, options: 0x1000004, ru: 0"), None);
        assert_eq!(collected("which: 0, upid: 14, infop: 0, options: 4, ru: 0"), None);
        assert_eq!(collected("P_ALL, 0, NULL, WEXITED|WNOHANG, NULL"), None);
    }

    #[test]
    fn ends_have_a_status() {
        assert_eq!(status("3"), Some(3));
        assert_eq!(status("-1"), Some(255));
        assert_eq!(status("0x7"), Some(7));
        assert_eq!(status("error_code: 0xffffffff"), Some(255));
        assert_eq!(status("error_code: 2"), Some(2));
        assert_eq!(status(""), None);
    }

    #[test]
    fn programs_may_have_any_name() {
        assert_eq!(program("filename=/a b pid=7 pid=20 old_pid=20"), Some("/a b pid=7"));
        assert_eq!(program("/bin/true"), None);
    }

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

    #[test]
    fn memory() {
        let text = "mm_id=3117311479 curr=1 type=MM_ANONPAGES size=6852608B";
        assert_eq!(anonymous(text), Some(6_852_608));
        let fields =
            "mm_id=0xb9ce65f7 (-1177655817) curr=0x1 (1) member=0x1 (1) size=0x689000 (6852608)";
        assert_eq!(anonymous(fields), Some(6_852_608));
        assert_eq!(anonymous("member=1 size=4096B"), Some(4096));
        assert_eq!(anonymous("mm_id=9 curr=0 type=MM_ANONPAGES size=0B"), None);
        assert_eq!(anonymous("mm_id=9 curr=1 type=MM_FILEPAGES size=4096B"), None);
    }
}
