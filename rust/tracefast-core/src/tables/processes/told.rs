//! What the arguments of rare rows tell: how a child ended, which status a task asked for.

use memchr::memmem;

use crate::tables::processes::task::Outcome;
use crate::text::number;

/// A child that ended, and how.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its process, where the text has it.
    pub(crate) pid: Option<i32>,
    pub(crate) outcome: Outcome,
}

/// What a `struct siginfo` tells, of SIGCHLD or of waitid: None unless a child ended.
pub(crate) fn siginfo(args: &str) -> Option<Ended> {
    let code = field(args, "si_code=")?;
    let exited = match code {
        "CLD_EXITED" | "1" | "0x1" => true,
        "CLD_KILLED" | "CLD_DUMPED" | "2" | "3" | "0x2" | "0x3" => false,
        _ => return None,
    };
    let pid = i32::try_from(number(field(args, "si_pid=")?)?).ok()?;
    let status = field(args, "si_status=")?;
    let outcome =
        if exited { Outcome::Status(number(status)? as i32 & 0xff) } else { signal(status)? };
    Some(Ended { pid: Some(pid), outcome })
}

/// What the status that wait4 fills in tells: `[{WIFEXITED(s) && WEXITSTATUS(s) == 3}]`.
pub(crate) fn wait_status(args: &str) -> Option<Ended> {
    let behind = |key: &str| {
        let at = memmem::find(args.as_bytes(), key.as_bytes())? + key.len();
        args.get(at..).map(word)
    };
    let outcome = match behind("WEXITSTATUS(s) == ") {
        Some(status) => Outcome::Status(number(status)? as i32 & 0xff),
        None => signal(behind("WTERMSIG(s) == ")?)?,
    };
    Some(Ended { pid: None, outcome })
}

/// The status that `exit` or `exit_group` is called with: `3`, `0x3`, `status=3`,
/// `error_code: 0x3`, or registers in hexadecimal.
pub(crate) fn exit_code(args: &str) -> Option<i32> {
    let text = args.as_bytes();
    let hex = |text: &[u8]| {
        let (number, digits) = number::hex_digits(text.strip_prefix(b"0x").unwrap_or(text));
        (digits > 0).then_some(number as i32 & 0xff)
    };
    if let Some(rest) = text.strip_prefix(b"error_code: ") {
        return hex(rest);
    }
    if memchr::memchr(b',', text).is_some() {
        return hex(text);
    }
    let value = args.strip_prefix("status=").unwrap_or(args);
    number(word(value)).map(|number| number as i32 & 0xff)
}

/// The program that `sched_process_exec` names: `filename=/bin/true pid=7 old_pid=7`.
pub(crate) fn exec_event(args: &str) -> Option<&str> {
    let rest = args.strip_prefix("filename=")?;
    let end = memmem::rfind(rest.as_bytes(), b" pid=")?;
    rest.get(..end)
}

/// The task that an event tells to be made: `pid=9 comm=…` of `task_newtask`.
pub(crate) fn new_task(args: &str) -> Option<i32> {
    whole(word(args.strip_prefix("pid=")?))
}

/// The same of `sched_process_fork`: `comm=… pid=7 child_comm=… child_pid=9`.
pub(crate) fn fork_event(args: &str) -> Option<i32> {
    let at = memmem::rfind(args.as_bytes(), b" child_pid=")? + b" child_pid=".len();
    whole(word(args.get(at..)?))
}

/// The word behind a key, up to what ends it.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let at = memmem::find(text.as_bytes(), key.as_bytes())? + key.len();
    text.get(at..).map(word)
}

/// Letters, digits and `_` at the beginning of a text, with a sign perhaps.
fn word(text: &str) -> &str {
    let end =
        text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn number(word: &str) -> Option<i64> {
    let (number, len) = number::c_integer(word.as_bytes());
    (len > 0 && len == word.len()).then_some(number)
}

fn whole(word: &str) -> Option<i32> {
    number(word).and_then(|number| i32::try_from(number).ok())
}

/// A signal by its name, or by its number on all machines but alpha, mips, parisc and sparc.
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
        let ended = |outcome| Some(Ended { pid: Some(7), outcome });
        let killed = |name: &str| ended(Outcome::Signal(name.into()));
        for (args, told) in [
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
            ("{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7", None),
            ("", None),
        ] {
            assert_eq!(siginfo(args), told, "{args}");
        }
    }

    #[test]
    fn statuses_of_wait4() {
        for (args, told) in [
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
            assert_eq!(wait_status(args).map(|told| told.outcome), told, "{args}");
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
    fn events_whose_names_look_like_more() {
        assert_eq!(exec_event("filename=/a b pid=1 pid=7 old_pid=7"), Some("/a b pid=1"));
        assert_eq!(exec_event("filename=/bin/true"), None);
        assert_eq!(new_task("pid=9 comm=pid=3 clone_flags=0 oom_score_adj=0"), Some(9));
        assert_eq!(new_task("pid= comm=x"), None);
        assert_eq!(fork_event("comm=a pid=7 child_comm= child_pid=3 child_pid=9"), Some(9));
        assert_eq!(fork_event("comm=a pid=7"), None);
    }
}
