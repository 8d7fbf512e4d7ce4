//! What kind of task a call makes, by its flags in any spelling: clone(2).

use crate::events::vocabulary::clone_flags::{CLONE_FILES, CLONE_THREAD, CLONE_VFORK, CLONE_VM};
use crate::linux::machine::printed_by_number;
use crate::linux::syscalls::flags;
use crate::text::number;
use crate::text::search::{find, rfind};

/// How a task was made, by what it shares with its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A process with a copy of the memory.
    Fork,
    /// A process that uses the memory and the stack of its parent until it executes a program.
    Vfork,
    /// The same with a stack of its own, as the C library's `posix_spawn` makes it.
    PosixSpawn,
    /// Another thread of the process.
    Thread,
    /// A process that keeps sharing memory.
    Shared,
}

impl Kind {
    /// The word for it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Vfork => "vfork",
            Self::PosixSpawn => "posix_spawn",
            Self::Thread => "thread",
            Self::Shared => "shared",
        }
    }

    /// What `flags` (those of clone) mean in the call `name`.
    ///
    /// `own_stack`: whether the caller gives the child a stack; `None` if the log does not say. A
    /// child that its parent waits for is then taken for one of `posix_spawn` if `clone3` made it,
    /// as nothing else calls `clone3` in this way, and otherwise for one of `vfork`.
    pub(crate) fn from_flags(name: &str, flags: u32, own_stack: Option<bool>) -> Self {
        match name {
            "fork" => return Self::Fork,
            "vfork" => return Self::Vfork,
            _ => {}
        }
        if flags & CLONE_THREAD != 0 {
            Self::Thread
        } else if flags & CLONE_VM == 0 {
            Self::Fork
        } else if flags & CLONE_VFORK == 0 {
            Self::Shared
        } else if own_stack.unwrap_or(name == "clone3") {
            Self::PosixSpawn
        } else {
            Self::Vfork
        }
    }
}

/// Whether a call of this name is clone3 under its number.
pub(crate) fn is_unnamed_clone3(name: &str) -> bool {
    printed_by_number(name.as_bytes()) == Some("clone3")
}

/// Whether the task that a call makes shares the table of descriptors of its parent.
pub(crate) fn shares_files(name: &str, args: &str) -> bool {
    given(name, args).is_some_and(|(flags, _)| flags & CLONE_FILES != 0)
}

/// The kind of task that a call makes, or that the event `task_newtask` reports. `name` and `args`
/// are those of the event schema, from strace (names or numbers) or ftrace. `None` if the text does
/// not have the flags (ftrace only prints the address of those of `clone3`), or for any other name.
pub(crate) fn kind_of(name: &str, args: &str) -> Option<Kind> {
    let (flags, own_stack) = given(name, args)?;
    Some(Kind::from_flags(name, flags, own_stack))
}

/// The flags of such a call or event, and whether the child has a stack of its own.
fn given(name: &str, args: &str) -> Option<(u32, Option<bool>)> {
    let text = args.as_bytes();
    match name {
        "fork" | "vfork" => Some((0, None)),
        "clone" | "clone2" | "clone3" => named(text)
            .or_else(|| registers(text).filter(|_| name != "clone3"))
            .map(|(flags, stack)| (flags, stack.filter(|_| name != "clone2"))),
        "task_newtask" => {
            let at = rfind(text, b"clone_flags=", 5)? + b"clone_flags=".len();
            Some((hexadecimal(text.get(at..)?)?, None))
        }
        _ => None,
    }
}

/// Flags and stack of text that names them: `child_stack=NULL, flags=CLONE_VM|SIGCHLD`,
/// `{flags=0x100, …, stack=NULL}`, `clone_flags: 0x1200011, newsp: 0x0`, `clone_flags=1200011`.
fn named(text: &[u8]) -> Option<(u32, Option<bool>)> {
    let after = |key: &[u8], rare: usize| {
        let at = find(text, key, rare)? + key.len();
        text.get(at..)
    };
    if let Some(rest) = after(b"clone_flags: ", 11).or_else(|| after(b"clone_flags=", 5)) {
        let stack = after(b"newsp: ", 2).and_then(hexadecimal_long).map(|stack| stack != 0);
        return Some((hexadecimal(rest)?, stack));
    }
    let rest = after(b"flags=", 0)?;
    // The line was cut before the flags.
    rest.first().filter(|byte| byte.is_ascii_alphanumeric())?;
    let stack = after(b"stack=", 4).and_then(|rest| {
        let word = rest.iter().position(|byte| !byte.is_ascii_alphanumeric());
        match rest.get(..word.unwrap_or(rest.len()))? {
            b"" => None,
            b"NULL" | b"0" | b"0x0" => Some(false),
            _ => Some(true),
        }
    });
    Some((flags::mask(rest, flags::clone_bit), stack))
}

/// Flags and stack from registers in hexadecimal: `0x1200011, 0, 0, 0x7f…`.
fn registers(text: &[u8]) -> Option<(u32, Option<bool>)> {
    let flags = hexadecimal(text)?;
    let second = memchr::memchr(b',', text).and_then(|at| text.get(at + 1..));
    let stack = second.and_then(|rest| hexadecimal_long(rest.trim_ascii_start()));
    Some((flags, stack.map(|stack| stack != 0)))
}

fn hexadecimal(text: &[u8]) -> Option<u32> {
    hexadecimal_long(text).map(|number| number as u32)
}

fn hexadecimal_long(text: &[u8]) -> Option<u64> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let (number, digits) = number::hex_digits(text);
    // A word that only starts like a number, such as `child_stack`, is not one.
    let whole = text.get(digits).is_none_or(|&byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    (digits > 0 && whole).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::Kind::{Fork, PosixSpawn, Shared, Thread, Vfork};
    use super::*;

    #[track_caller]
    fn each(name: &str, cases: &[(&str, Option<Kind>)]) {
        for &(args, kind) in cases {
            assert_eq!(kind_of(name, args), kind, "{name}({args})");
        }
    }

    #[test]
    fn calls_that_take_no_flags() {
        each("fork", &[("", Some(Fork))]);
        each("vfork", &[("", Some(Vfork)), (" <unfinished ...>", Some(Vfork))]);
    }

    #[test]
    fn clone_of_strace_by_names() {
        each(
            "clone",
            &[
                (
                    "child_stack=0, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f9",
                    Some(Fork),
                ),
                (
                    "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD",
                    Some(Fork),
                ),
                ("child_stack=NULL, flags=SIGCHLD", Some(Fork)),
                ("child_stack=0x7f12e0, flags=CLONE_VM|CLONE_VFORK|SIGCHLD", Some(PosixSpawn)),
                ("child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD", Some(Vfork)),
                ("child_stack=0, flags=CLONE_VM|CLONE_VFORK|SIGCHLD", Some(Vfork)),
                ("child_stack=0x7f12e0, flags=CLONE_VM|SIGCHLD", Some(Shared)),
                (
                    "child_stack=0x7f3b8f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|\
              CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID, \
              parent_tid=[4711], tls=0x7f3b8f, child_tidptr=0x7f3b8f",
                    Some(Thread),
                ),
                // Namespaces change nothing.
                ("child_stack=NULL, flags=CLONE_NEWNS|CLONE_NEWPID|SIGCHLD", Some(Fork)),
            ],
        );
        each(
            "clone2",
            &[("child_stack=0x7f12e0, stack_size=0x8000, flags=CLONE_VM|SIGCHLD", Some(Shared))],
        );
    }

    #[test]
    fn clone_of_strace_by_numbers() {
        each(
            "clone",
            &[
                ("child_stack=NULL, flags=0x1200000|17, child_tidptr=0x7f56a0", Some(Fork)),
                (
                    "child_stack=NULL, flags=0x1200000 /* CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID */\
              |17 /* SIGCHLD */, child_tidptr=0x7f",
                    Some(Fork),
                ),
                ("child_stack=0x7f56a0, flags=0x4100|17", Some(PosixSpawn)),
                (
                    "child_stack=0x7f56a0, flags=0x4100 /* CLONE_VM|CLONE_VFORK */|17 /* SIGCHLD */",
                    Some(PosixSpawn),
                ),
                ("child_stack=NULL, flags=0x4100|17", Some(Vfork)),
                ("child_stack=0, flags=0", Some(Fork)),
                // `-e raw=clone`: registers.
                ("0x1200011, 0, 0, 0x7f8a51b0ca10, 0", Some(Fork)),
                (
                    "0x3d0f00, 0x7f8a51b0afb0, 0x7f8a51b0b9d0, 0x7f8a51b0b9d0, 0x7f8a51b0b700",
                    Some(Thread),
                ),
                ("0x4111, 0x7f8a51b0afb0, 0, 0, 0", Some(PosixSpawn)),
                ("0x4111, 0, 0, 0, 0", Some(Vfork)),
                ("0x4111", Some(Vfork)),
                ("0x111, 0x7f8a51b0afb0, 0, 0, 0", Some(Shared)),
                // The kernel's own name of the flags comes with hexadecimal numbers.
                ("clone_flags=3d0f00", Some(Thread)),
                ("clone_flags=1200011", Some(Fork)),
                ("clone_flags=4111", Some(Vfork)),
            ],
        );
    }

    #[test]
    fn clone3_of_strace() {
        each(
            "clone3",
            &[
                (
                    "{flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=0x7f12, stack_size=0x9000}, 88",
                    Some(PosixSpawn),
                ),
                (
                    "{flags=CLONE_VM|CLONE_VFORK|CLONE_CLEAR_SIGHAND, exit_signal=SIGCHLD, stack=0x7f12, \
              stack_size=0x9000}, 88",
                    Some(PosixSpawn),
                ),
                (
                    "{flags=0x100004100, exit_signal=17, stack=0x7f12, stack_size=0x9000}, 88",
                    Some(PosixSpawn),
                ),
                (
                    "{flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD, stack=NULL, stack_size=0}, 88",
                    Some(Vfork),
                ),
                (
                    "{flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM|\
              CLONE_SETTLS|CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID, child_tid=0x7f, \
              parent_tid=0x7f, exit_signal=0, stack=0x7f, stack_size=0x7fff00, tls=0x7f} \
              => {parent_tid=[814]}, 88",
                    Some(Thread),
                ),
                (
                    "{flags=0x3d0f00 /* CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|\
              CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID */, \
              child_tid=0x7f, exit_signal=0, stack=0x7f, stack_size=0x7fff00}, 88",
                    Some(Thread),
                ),
                ("{flags=0x3d0f00, child_tid=0x7f, exit_signal=0, stack=0x7f}", Some(Thread)),
                ("{flags=0, exit_signal=SIGCHLD, stack=NULL, stack_size=0}, 88", Some(Fork)),
                (
                    "{flags=CLONE_INTO_CGROUP, exit_signal=SIGCHLD, stack=NULL, stack_size=0, \
              cgroup=3</sys/fs/cgroup/flags=CLONE_THREAD>}, 88",
                    Some(Fork),
                ),
                // Only the address of the flags.
                ("0x7ffd1e6a2b10, 0x58", None),
            ],
        );
    }

    #[test]
    fn ftrace_in_all_forms() {
        each(
            "clone",
            &[
                (
                    "clone_flags: 1200011, newsp: 0, parent_tidptr: 0, child_tidptr: 7f2e",
                    Some(Fork),
                ),
                ("clone_flags: 0x1200011, newsp: 0x0, parent_tidptr: 0x0", Some(Fork)),
                ("clone_flags: 0x3d0f00, newsp: 0x7f3b8f", Some(Thread)),
                ("clone_flags: 0x00004111, newsp: 0x7f3b8f", Some(PosixSpawn)),
                ("clone_flags: 4111, newsp: 0, parent_tidptr: 0", Some(Vfork)),
                ("newsp: 0x7f3b8f, clone_flags: 0x4111", Some(PosixSpawn)),
                (
                    "clone_flags: 0x1200011 (CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID), newsp: 0x0",
                    Some(Fork),
                ),
                // Of `raw_syscalls`.
                ("1200011, 0, 0, 7f8a51b0ca10, 0, 0", Some(Fork)),
                ("3d0f00, 7f8a51b0afb0, 7f8a51b0b9d0", Some(Thread)),
            ],
        );
        each(
            "clone3",
            &[("uargs: 0x7ffd3a10, size: 0x58", None), ("7ffd3a10, 58, 0, 0, 0, 0", None)],
        );
        each(
            "task_newtask",
            &[
                ("pid=1529 comm=bash clone_flags=1200000 oom_score_adj=0", Some(Fork)),
                ("pid=1529 comm=bash clone_flags=0x1200000 oom_score_adj=0", Some(Fork)),
                ("pid=1529 comm=python3.11 clone_flags=3d0f00 oom_score_adj=0", Some(Thread)),
                ("pid=1529 comm=make clone_flags=4100 oom_score_adj=0", Some(Vfork)),
                ("pid=1529 comm=kthreadd clone_flags=800100 oom_score_adj=0", Some(Shared)),
                // A name of a command that looks like more.
                (
                    "pid=1529 comm= clone_flags=10000 clone_flags=1200000 oom_score_adj=0",
                    Some(Fork),
                ),
                ("pid=1529 comm=bash clone_flags=", None),
            ],
        );
        each(
            "sched_process_fork",
            &[("comm=a pid=1 child_comm=clone_flags=100 child_pid=2", None)],
        );
    }

    #[test]
    fn text_that_was_cut() {
        each(
            "clone",
            &[
                ("", None),
                ("child_stack=NULL", None),
                ("child_stack=NULL, flags=", None),
                ("child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIG", Some(Vfork)),
                ("child_stack=", None),
                ("flags=CLONE_VM|CLONE_VFORK, child_stack=", Some(Vfork)),
            ],
        );
        each(
            "clone3",
            &[("", None), ("{flags=", None), ("{flags=CLONE_VM|CLONE_VFORK", Some(PosixSpawn))],
        );
        each("openat", &[("AT_FDCWD, \"flags=CLONE_VM\", O_RDONLY", None)]);
    }

    #[test]
    fn example_of_of_flags() {
        use crate::linux::clone::Kind;
        assert_eq!(Kind::from_flags("clone", 0x120_0011, None), Fork);
        assert_eq!(Kind::from_flags("clone3", 0x4100, None), PosixSpawn);
    }

    #[test]
    fn example_of_text() {
        assert_eq!(PosixSpawn.text(), "posix_spawn");
    }

    #[test]
    fn example_of_kind_of() {
        use crate::linux::clone::kind_of;
        let args = "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD";
        assert_eq!(kind_of("clone", args), Some(Fork));
        assert_eq!(
            kind_of("clone3", "{flags=0x4100, stack=0x7f00, stack_size=0x9000}, 88"),
            Some(PosixSpawn)
        );
        assert_eq!(kind_of("clone3", "uargs: 0x7ffd3a10, size: 0x58"), None);
    }
}
