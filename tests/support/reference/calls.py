"""What calls do, by name, for the slow tables: a list of their own, apart from the program's."""

from __future__ import annotations

Row = dict[str, object]

# How an old strace prints clone3, whose name it does not know.
NUMBERED_CLONE3 = {"syscall_435", "syscall_0x1b3"}
CLONE3 = {"clone3"} | NUMBERED_CLONE3
FORKS = {"clone", "clone2", "clone3", "fork", "vfork"}
EXECS = {"execve", "execveat"}
EXITS = {"exit", "_exit", "exit_group"}
WAITS_FOR_CHILD = {"wait4", "waitpid", "waitid", "oldwait4", "osf_wait4"}
WAITS = WAITS_FOR_CHILD | {
    *("futex", "futex_time64", "futex_wait", "futex_waitv", "poll", "ppoll", "ppoll_time64"),
    *("select", "_newselect", "oldselect", "osf_select", "pselect6", "pselect6_time64"),
    *("epoll_wait", "epoll_wait_old", "epoll_pwait", "epoll_pwait2", "nanosleep", "pause"),
    *("clock_nanosleep", "clock_nanosleep_time64", "rt_sigsuspend", "sigsuspend"),
    *("rt_sigtimedwait", "rt_sigtimedwait_time64", "restart_syscall", "accept", "accept4"),
    *("connect", "recv", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64", "msgrcv"),
    *("mq_timedreceive", "mq_timedreceive_time64", "semop", "semtimedop", "semtimedop_time64"),
    "flock",
}


def is_call(row: Row) -> bool:
    """Say whether a row is a call of its task, and not the return of the call that made it."""
    made_task = row["name"] in FORKS and row["status"] == "headless" and row["ret"] == 0
    return row["kind"] == "syscall" and row["name"] is not None and not made_task
