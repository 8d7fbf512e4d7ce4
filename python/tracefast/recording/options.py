"""The options of strace that the tables need, each with its reason."""

import re
import subprocess
from typing import Final, Literal, NamedTuple

Only = Literal["files", "processes", "waits"]


class Option(NamedTuple):
    """An option of strace."""

    words: tuple[str, ...]
    since: tuple[int, int] = (4, 5)
    """The first version of strace that has it."""


# For every run.
OPTIONS: Final = (
    # Children and threads, and positions in files that they share.
    Option(("-f",)),
    # Names of files that were open before; which socket, pipe or device.
    Option(("-yy",)),
    # No notes of strace about attached processes on the terminal.
    Option(("-q",)),
)
# When calls started and how long they took, in nanoseconds: many take less than a microsecond.
TIMES: Final = Option(
    ("--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns"),
    since=(5, 6),
)
# The same in microseconds.
COARSE_TIMES: Final = Option(("-ttt", "-T"))
# What the kernel filters, so that other calls cost nothing.
SECCOMP: Final = Option(("--seccomp-bpf",), since=(5, 3))

# What creates, ends and names processes; positions and tables of descriptors are theirs.
_LIVES: Final = "%process,unshare,prctl"
# By `only`: everything that opens, copies, closes or moves a descriptor is in `%file` and `%desc`,
# and `%memory` shows that the rest is there, too (docs/files.md).
SETS: Final[dict[Only, str]] = {
    "files": f"%file,%desc,%memory,%network,{_LIVES}",
    "processes": f"{_LIVES},%memory,pipe,pipe2,read,close,open,openat",
    # Who waits for whom needs descriptors, locks and signals, and sleeps.
    "waits": f"%file,%desc,%memory,%network,{_LIVES},%ipc,%signal,futex,nanosleep,clock_nanosleep",
}


def strace_version(strace: str) -> tuple[int, int]:
    """Give the version of strace; that of 4.5 if it does not say.

    Raises
    ------
    OSError
        It cannot be run.
    """
    text = subprocess.run([strace, "-V"], capture_output=True, text=True, check=False).stdout  # noqa: S603
    found = re.search(r"version (\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (4, 5)


def strace_options(version: tuple[int, int], only: Only | None = None) -> list[str]:
    """Give the options for a run.

    Parameters
    ----------
    version
        That of strace.
    only
        Which calls are wanted; None for all.

    Examples
    --------
    >>> strace_options((6, 1))[:2]
    ['-f', '-yy']
    >>> strace_options((4, 26))
    ['-f', '-yy', '-q', '-ttt', '-T']
    >>> strace_options((6, 1), "processes")[-2]
    '-e'
    """
    times = TIMES if version >= TIMES.since else COARSE_TIMES
    words = [word for option in (*OPTIONS, times) for word in option.words]
    if only is not None:
        words += SECCOMP.words if version >= SECCOMP.since else ()
        # `?`: not every machine has every call, such as open on arm64.
        calls = ",".join(f"?{name}" for name in SETS[only].split(","))
        words += ["-e", f"trace={calls}"]
    return words
