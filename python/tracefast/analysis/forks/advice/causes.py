"""Why a program uses fork where vfork would do, as far as a log shows it."""

from typing import Final, NamedTuple

from tracefast import _core
from tracefast.analysis.forks.advice.case import Case

# CPython's subprocess uses vfork since 3.10, unless it has to run something between the two calls.
_VFORK_SINCE: Final = (3, 10)

# What changes the user or the groups: subprocess's user=, group=, extra_groups=.
IDENTITY: Final = frozenset(
    {
        *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups"),
        *("setuid32", "setgid32", "setreuid32", "setregid32", "setgroups32"),
        *("setresuid32", "setresgid32", "setfsuid", "setfsgid", "initgroups"),
    }
)
# What the C library and subprocess themselves do between fork and execve.
_OWN: Final = frozenset(
    {
        *("set_robust_list", "rseq", "close", "close_range", "dup", "dup2", "dup3", "fcntl"),
        *("fcntl64", "ioctl", "chdir", "fchdir", "umask", "rt_sigaction", "rt_sigprocmask"),
        *("sigaction", "sigprocmask", "rt_sigreturn", "sigreturn", "setsid", "setpgid", "open"),
        *("openat", "getdents", "getdents64", "fstat", "fstat64", "newfstatat", "fstatat64"),
        *("prlimit64", "getrlimit", "ugetrlimit", "brk", "mmap", "mmap2", "munmap", "mprotect"),
        *("madvise", "futex", "read", "write", "restart_syscall"),
        *_core.syscalls_that("execs"),
        # The child's return from the call that made it, in ftrace.
        *_core.syscalls_that("forks"),
    }
)


class Cause(NamedTuple):
    """Why, and what to do about it."""

    why: str
    remedy: str


def cause_of_fork(case: Case) -> Cause:
    """Name the cause, as far as the log shows it, and the remedy."""
    calls = _calls(case)
    identity = sorted(calls & IDENTITY)
    others = sorted(calls - IDENTITY - _OWN)
    version = case.python
    if not case.runs_python:
        return Cause(
            "the parent uses fork.",
            "Start programs by posix_spawn or vfork, or from a small process that was started"
            " early and does nothing else.",
        )
    if version is not None and version < _VFORK_SINCE:
        also = _also(identity, others)
        return Cause(
            f"Python before 3.10 (here {version[0]}.{version[1]}) starts subprocesses by fork.",
            f"Use Python 3.10 or newer, whose subprocess uses vfork{also}. Until then, start them"
            " from a small process that was started early (multiprocessing's forkserver).",
        )
    if identity:
        return Cause(
            f"the child changes its user or groups ({', '.join(identity)}), for which Python's"
            " subprocess has to fork.",
            "Leave out user=, group= and extra_groups= (or what changes them in preexec_fn=), and"
            " let the program be started by one that changes them, such as setpriv.",
        )
    if others:
        return Cause(
            f"the child runs Python code between fork and execve ({', '.join(others[:6])}), as"
            " preexec_fn= has it do.",
            "Leave out preexec_fn=: process_group=, start_new_session=, umask=, cwd= and"
            " pass_fds= do the most common things without it; a wrapper such as prlimit or taskset"
            " does others.",
        )
    known = "" if version is None else f" {version[0]}.{version[1]}"
    return Cause(
        f"Python{known} uses fork here; the log does not show why.",
        "Python's subprocess uses vfork since 3.10, unless it is given preexec_fn=, user=, group="
        " or extra_groups=, or os.fork is called: leave these out.",
    )


def _also(identity: list[str], others: list[str]) -> str:
    """Say what would keep a newer Python from using vfork."""
    if identity:
        return f" (but not with user=, group= or extra_groups=: here is {', '.join(identity)})"
    if others:
        names = ", ".join(others[:6])
        return f" (but not with preexec_fn=, which the child seems to run: it calls {names})"
    return ""


def _calls(case: Case) -> set[str]:
    """Give what at least half of the children called before they executed their program."""
    texts = case.column("child_calls").drop_nulls()
    seen: dict[str, int] = {}
    for text in texts:
        for name in text.split():
            seen[name] = seen.get(name, 0) + 1
    return {name for name, count in seen.items() if 2 * count >= len(texts)}
