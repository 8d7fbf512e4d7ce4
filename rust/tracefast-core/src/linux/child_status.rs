//! How tasks ended, as the arguments of calls and signals show: `struct siginfo` of `SIGCHLD` and
//! `waitid`, the status of `wait4`, the status that `exit` is called with.

use memchr::memmem;

use crate::linux::LONGEST_NS;
use crate::text::number;
use crate::text::search::find;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It exited with this status.
    Status(i32),
    /// This signal killed it.
    Signal(Box<str>),
}

/// A child that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EndedChild {
    pub(crate) pid: i32,
    /// None where the text was cut.
    pub(crate) outcome: Option<Outcome>,
    pub(crate) utime_ns: Option<i64>,
    pub(crate) stime_ns: Option<i64>,
}

/// siginfo counts processor time in clock ticks (sigaction(2)), of which there are 100 per second
/// on every machine but alpha and ia64.
const TICK_NS: i64 = 10_000_000;

/// The processor times of a `struct siginfo`, each with a byte of its key that is rare in one.
const UTIME: (&str, usize) = ("si_utime=", 3);
const STIME: (&str, usize) = ("si_stime=", 6);

/// The child that a `struct siginfo` is about; None unless it ended.
pub(crate) fn siginfo(args: &str) -> Option<EndedChild> {
    let exited = match field(args, "si_code=", 5)? {
        // CLD_EXITED, CLD_KILLED and CLD_DUMPED are 1 to 3.
        "CLD_EXITED" | "1" | "0x1" => true,
        "CLD_KILLED" | "CLD_DUMPED" | "2" | "3" | "0x2" | "0x3" => false,
        _ => return None,
    };
    let status = field(args, "si_status=", 5);
    Some(EndedChild {
        pid: i32::try_from(number(field(args, "si_pid=", 3)?)?).ok()?,
        outcome: if exited { status.and_then(exit_status) } else { status.and_then(signal) },
        utime_ns: cpu_time(args, UTIME).and_then(possible),
        stime_ns: cpu_time(args, STIME).and_then(possible),
    })
}

/// Whether a `struct siginfo` has a processor time that no process can have.
pub(crate) fn has_impossible_cpu_time(args: &[u8]) -> bool {
    let (key, rare) = UTIME;
    let times = || str::from_utf8(&args[find(args, key.as_bytes(), rare)?..]).ok();
    let impossible = |key| {
        times().is_some_and(|times| cpu_time(times, key).is_some_and(|ns| possible(ns).is_none()))
    };
    impossible(UTIME) || impossible(STIME)
}

/// A processor time as printed, in ns.
fn cpu_time(args: &str, (key, rare): (&str, usize)) -> Option<i128> {
    Some(i128::from(field(args, key, rare).and_then(number)?) * i128::from(TICK_NS))
}

/// A processor time, if a process can have it.
fn possible(ns: i128) -> Option<i64> {
    i64::try_from(ns).ok().filter(|ns| (0..=LONGEST_NS).contains(ns))
}

/// What the status that wait4 fills in says: `[{WIFEXITED(s) && WEXITSTATUS(s) == 3}]`.
pub(crate) fn wait_status(args: &str) -> Option<Outcome> {
    match field(args, "WEXITSTATUS(s) == ", 2) {
        Some(status) => exit_status(status),
        None => signal(field(args, "WTERMSIG(s) == ", 4)?),
    }
}

/// Whether a wait returned for a child that stopped or went on, or left it to be collected.
pub(crate) fn leaves_child(args: &str) -> bool {
    let text = args.as_bytes();
    // Or the status as a number, as wait(2) decodes it: 0x137f, 0xffff.
    let status = memchr::memchr(b'[', text).is_some_and(|at| {
        let (status, digits) = number::c_integer(&text[at + 1..]);
        digits > 0 && (status & 0xff == 0x7f || status & 0xffff == 0xffff)
    });
    let words = [&b"WIFSTOPPED"[..], b"WIFCONTINUED", b"WNOWAIT"];
    status || words.iter().any(|word| memmem::find(text, word).is_some())
}

/// The child that a `waitid` which succeeded collected.
pub(crate) fn collected_by_waitid(args: &str) -> Option<i32> {
    const P_PID: i64 = 1;
    const WEXITED: i64 = 4;
    const WNOWAIT: i64 = 0x0100_0000;
    if let Some(ended) = siginfo(args) {
        return Some(ended.pid);
    }
    // ftrace shows no siginfo, but whom the call waits for.
    let options = hexadecimal(args, "options: ")?;
    let one = hexadecimal(args, "which: ")? == P_PID;
    let takes = options & WEXITED != 0 && options & WNOWAIT == 0;
    let pid = i32::try_from(hexadecimal(args, "upid: ")?).ok();
    pid.filter(|_| one && takes)
}

/// The status that `exit` or `exit_group` is called with: `3`, `0x3`, `status=3`,
/// `error_code: 0x3`, or registers in hexadecimal.
pub(crate) fn exit_code(args: &str) -> Option<i32> {
    if args.starts_with("error_code: ") {
        return hexadecimal(args, "error_code: ").map(low_byte);
    }
    if memchr::memchr(b',', args.as_bytes()).is_some() {
        return hexadecimal(args, "").map(low_byte);
    }
    number(word(args.strip_prefix("status=").unwrap_or(args))).map(low_byte)
}

/// The word after a key; `rare` as in [`find`].
fn field<'a>(text: &'a str, key: &str, rare: usize) -> Option<&'a str> {
    let at = find(text.as_bytes(), key.as_bytes(), rare)? + key.len();
    text.get(at..).map(word)
}

/// Letters, digits and `_` at the start of a text, perhaps with a sign.
fn word(text: &str) -> &str {
    let end =
        text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn number(word: &str) -> Option<i64> {
    let (number, len) = number::c_integer(word.as_bytes());
    (len > 0 && len == word.len()).then_some(number)
}

/// A hexadecimal number after a key, with `0x` or without.
fn hexadecimal(text: &str, key: &str) -> Option<i64> {
    let at = memmem::find(text.as_bytes(), key.as_bytes())? + key.len();
    let rest = text.as_bytes().get(at..)?;
    let (value, digits) = number::hex_digits(rest.strip_prefix(b"0x").unwrap_or(rest));
    (digits > 0).then_some(value as i64)
}

/// The kernel keeps the low byte of a status (exit(3)).
fn low_byte(status: i64) -> i32 {
    status as i32 & 0xff
}

fn exit_status(word: &str) -> Option<Outcome> {
    number(word).map(|status| Outcome::Status(low_byte(status)))
}

/// A signal by its name, or by its number on all machines but alpha, mips, parisc and sparc
/// (signal(7)).
fn signal(word: &str) -> Option<Outcome> {
    if word.starts_with("SIG") {
        return Some(Outcome::Signal(word.into()));
    }
    let name = match number(word)? {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        16 => "SIGSTKFLT",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        26 => "SIGVTALRM",
        27 => "SIGPROF",
        29 => "SIGIO",
        30 => "SIGPWR",
        31 => "SIGSYS",
        _ => return None,
    };
    Some(Outcome::Signal(name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siginfo_in_all_spellings() {
        let ended = |outcome| Some((7, Some(outcome)));
        let killed = |name: &str| ended(Outcome::Signal(name.into()));
        for (args, expected) in [
            (
                "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7, si_uid=0, si_status=3, si_utime=0}",
                ended(Outcome::Status(3)),
            ),
            (
                "{si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=7, si_uid=0, si_status=SIGTERM}",
                killed("SIGTERM"),
            ),
            (
                "P_PID, 7, {si_signo=SIGCHLD, si_code=CLD_DUMPED, si_pid=7, si_status=SIGSEGV}, WEXITED",
                killed("SIGSEGV"),
            ),
            (
                "{si_signo=17, si_code=0x1, si_pid=7, si_uid=0, si_status=0x3}",
                ended(Outcome::Status(3)),
            ),
            ("{si_signo=17, si_code=0x2, si_pid=7, si_uid=0, si_status=0x9}", killed("SIGKILL")),
            ("{si_signo=SIGCHLD, si_code=CLD_STOPPED, si_pid=7, si_status=SIGSTOP}", None),
            ("{si_signo=SIGCHLD, si_code=SI_USER, si_pid=7, si_uid=0}", None),
            ("{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7", Some((7, None))),
            ("{si_code=5, si_pid=7}", None),
            ("", None),
        ] {
            assert_eq!(siginfo(args).map(|child| (child.pid, child.outcome)), expected, "{args}");
        }
    }

    #[test]
    fn statuses_of_wait4() {
        for (args, expected) in [
            ("-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL", Some(Outcome::Status(3))),
            ("7, [WIFEXITED(s) && WEXITSTATUS(s) == 0], 0, NULL", Some(Outcome::Status(0))),
            (
                "7, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL",
                Some(Outcome::Signal("SIGKILL".into())),
            ),
            (
                "7, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGRT_5 && WCOREDUMP(s)}], 0, NULL",
                Some(Outcome::Signal("SIGRT_5".into())),
            ),
            ("7, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], WSTOPPED, NULL", None),
            ("7, NULL, 0, NULL", None),
        ] {
            assert_eq!(wait_status(args), expected, "{args}");
        }
    }

    #[test]
    fn statuses_asked_for() {
        for (args, status) in [
            ("0", Some(0)),
            ("16", Some(16)),
            ("0x9", Some(9)),
            ("-1", Some(255)),
            ("256", Some(0)),
            ("status=3", Some(3)),
            ("error_code: 10", Some(16)),
            ("error_code: 0x10", Some(16)),
            ("10, 7f0012, 0", Some(16)),
            ("error_code: ", None),
            ("", None),
        ] {
            assert_eq!(exit_code(args), status, "{args}");
        }
    }

    #[test]
    fn siginfo_has_processor_times() {
        let times = |args| siginfo(args).map(|child| (child.utime_ns, child.stime_ns));
        let text = "{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=20, si_uid=0, si_status=0, \
                    si_utime=3 /* 0.03 s */, si_stime=0}";
        assert_eq!(times(text), Some((Some(30_000_000), Some(0))));
        assert_eq!(times("{si_code=CLD_DUMPED, si_pid=7}"), Some((None, None)));
    }

    #[test]
    fn waits_collect_children() {
        for args in [
            "20, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], WSTOPPED, NULL",
            "-1, [0x137f], 0x2, NULL",
            "-1, [0xffff], 0x8, NULL",
        ] {
            assert!(leaves_child(args), "{args}");
        }
        for args in [
            "-1, [0x9], 0x2, NULL",
            "-1, [0x7f00], 0x2, NULL",
            "20, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL",
        ] {
            assert!(!leaves_child(args), "{args}");
        }
        let text = "P_PID, 20, {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=20}, WEXITED, NULL";
        assert_eq!(collected_by_waitid(text), Some(20));
        let ftrace = "which: 1, upid: 0x67cf, infop: 0x7ffc, options: 4, ru: 0";
        assert_eq!(collected_by_waitid(ftrace), Some(0x67cf));
        for args in [
            "which: 0x1, upid: 14, infop: 0, options: 0x1000004, ru: 0",
            "which: 0, upid: 14, infop: 0, options: 4, ru: 0",
            "P_ALL, 0, NULL, WEXITED|WNOHANG, NULL",
        ] {
            assert_eq!(collected_by_waitid(args), None, "{args}");
        }
    }
}
