"""An instance of tracefs of this process's own, which leaves nothing behind."""

import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

from tracefast.error_hints import error_with_hint

# Where tracefs is mounted by itself: Documentation/trace/ftrace.rst.
_USUAL: Final = Path("/sys/kernel/tracing")
_NAME: Final = re.compile(r"tracefast-(\d+)-(\d+)")
# In kilobytes for each processor: at first, and at most after records were lost.
_BUFFER_KB: Final = 8 << 10
_MOST_KB: Final = 128 << 10
# The times of `tai` are those of strace; all processors agree on these two.
_CLOCKS: Final = ("tai", "mono")
_OPTIONS: Final = ("record-tgid", "event-fork")
# What the tables need. Not every kernel has all of them.
EVENTS: Final = (
    "syscalls",
    "task/task_newtask",
    "task/task_rename",
    "sched/sched_process_fork",
    "sched/sched_process_exec",
    "sched/sched_process_exit",
    "sched/sched_switch",
    "sched/sched_wakeup",
    "filemap",
    "readahead",
    "block/block_rq_issue",
    "block/block_rq_complete",
    "block/block_rq_requeue",
)


class Instance:
    """An instance whose events are chosen, and which records nothing yet.

    Attributes
    ----------
    missing
        Events that this kernel does not have.

    Raises
    ------
    Error
        There is no tracefs, or this user may not use it.
    """

    def __init__(self) -> None:
        root, self._mounted = _root()
        remove_left(root)
        self.folder = root / "instances" / f"tracefast-{os.getpid()}-{_started(os.getpid())}"
        self.missing: list[str] = []
        self._kb = _BUFFER_KB
        self._lost = 0
        try:
            self.folder.mkdir()
            self._set_up()
        except OSError as error:
            self.close()
            raise error_with_hint(
                f"{self.folder}: {error.strerror}", "recording with the kernel needs root"
            ) from error

    def _set_up(self) -> None:
        self.write("tracing_on", "0")
        self.write("buffer_size_kb", str(self._kb))
        offered = (self.folder / "trace_clock").read_text()
        clock = next((one for one in _CLOCKS if one in offered.split()), None)
        if clock is not None:
            self.write("trace_clock", clock)
        for option in _OPTIONS:
            self.write(f"options/{option}", "1")
        for event in EVENTS:
            enable = f"events/{event}/enable"
            if (self.folder / enable).exists():
                self.write(enable, "1")
            else:
                self.missing.append(event)
        if "syscalls" in self.missing:
            self.write("events/raw_syscalls/enable", "1")

    def write(self, name: str, text: str) -> None:
        """Write one of its files."""
        (self.folder / name).write_text(text)

    def lost(self) -> int:
        """Count the records that were lost; if there are more than before, enlarge the buffers."""
        lost = 0
        for stats in self.folder.glob("per_cpu/cpu*/stats"):
            for line in stats.read_text().splitlines():
                name, _, number = line.partition(":")
                if name in {"overrun", "commit overrun", "dropped events"}:
                    lost += int(number)
        if lost > self._lost and self._kb < _MOST_KB:
            self._kb *= 2
            with suppress(OSError):  # There may be no memory for it.
                self.write("buffer_size_kb", str(self._kb))
        self._lost = lost
        return lost

    def close(self) -> None:
        """Remove it, and unmount what was mounted for it."""
        _remove(self.folder)
        if self._mounted:
            unmount = ["umount", str(_USUAL)]
            subprocess.run(unmount, capture_output=True, check=False)  # noqa: S603


def _root() -> tuple[Path, bool]:
    """Find tracefs, or mount it; say whether it was mounted now."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split(" ")
        if kind == "tracefs":
            return Path(place.encode().decode("unicode_escape")), False
    mount = ["mount", "-t", "tracefs", "nodev", str(_USUAL)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise error_with_hint(
            f"tracefs: not mounted, and cannot be: {done.stderr.partition(chr(10))[0]}",
            "recording with the kernel needs root, and a kernel with CONFIG_FTRACE; without them, "
            "leave out --kernel",
        )
    return _USUAL, True


def _started(pid: int) -> int | None:
    """Say when a process was started, in ticks since boot; None if it does not exist."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return int(fields[19])


def remove_left(root: Path) -> None:
    """Remove instances of processes that were killed: theirs by pid and time of start."""
    for folder in (root / "instances").glob("tracefast-*"):
        name = _NAME.fullmatch(folder.name)
        if name and _started(int(name[1])) != int(name[2]):
            _remove(folder)


def _remove(folder: Path) -> None:
    with suppress(OSError):
        (folder / "tracing_on").write_text("0")
    with suppress(OSError):
        folder.rmdir()
