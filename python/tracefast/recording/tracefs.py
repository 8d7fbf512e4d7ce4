"""Instances of tracefs of this process's own, which leave nothing behind."""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from tracefast._core import Error
from tracefast.error_hints import error_with_hint

# Where tracefs is mounted by itself: Documentation/trace/ftrace.rst.
_USUAL: Final = Path("/sys/kernel/tracing")
# The second instance.
_OTHERS: Final = "others"
_NAME: Final = re.compile(rf"tracefast-(\d+)-(\d+)(?:-{_OTHERS})?")
# In kilobytes for each processor: at first, and at most after records were lost.
_BUFFER_KB: Final = 8 << 10
_MOST_KB: Final = 128 << 10
_OTHERS_KB: Final = 1 << 10
# The times of `tai` are those of strace; all processors agree on these two.
_CLOCKS: Final = ("tai", "mono")
_OPTIONS: Final = ("record-tgid", "event-fork")
# What reaches the block devices, and whose pages it writes; by event, what it shows.
_DEVICES: Final = {
    "block/block_bio_queue": "whose pages kernel threads write",
    "block/block_rq_issue": "requests to devices",
    "block/block_rq_complete": "how long requests to devices take",
    "block/block_rq_requeue": "requests issued again",
    "writeback/writeback_single_inode_start": "whose pages kernel threads write",
    "writeback/writeback_single_inode": "whose pages kernel threads write",
}
# Only where such a file system is mounted.
_FILE_SYSTEMS: Final = ("ext4/ext4_writepages", "ext4/ext4_writepages_result")
_SYSCALLS: Final = "syscalls"
# The same in numbers: kernels without CONFIG_FTRACE_SYSCALLS have neither.
_RAW_SYSCALLS: Final = "raw_syscalls"
# What the tables need, and what an event shows. Not every kernel has all of them.
EVENTS: Final = {
    _SYSCALLS: "arguments of system calls",
    "task/task_newtask": "who creates threads",
    "task/task_rename": "new names of tasks",
    "sched/sched_process_fork": "who creates processes",
    "sched/sched_process_exec": "which programs run",
    "sched/sched_process_exit": "when tasks end",
    "sched/sched_switch": "time on and off a processor",
    "sched/sched_wakeup": "how long tasks wait for a processor",
    "filemap": "what the page cache has",
    "readahead": "what is read ahead",
    **_DEVICES,
}
# Which tasks are traced, and which are not: Documentation/trace/ftrace.rst.
_TRACED: Final = "set_event_pid"
_NOT_TRACED: Final = "set_event_notrace_pid"


class Instances:
    """Instances whose events are chosen, and which record nothing yet.

    One is for the tasks of a program. What these request from a device often completes in an
    interrupt of another task, and kernel threads write what they left in the page cache: a second
    one has the events of devices of all other tasks (since Linux 5.7).

    Attributes
    ----------
    folders
        One folder or two.
    missing
        Events that this kernel does not have, and what they would show.
    recorded
        Names of those that are recorded.

    Raises
    ------
    Error
        There is no tracefs, this user may not use it, or it shows no system calls.
    """

    def __init__(self) -> None:
        root, self._mounted = _root()
        remove_left(root)
        own = root / "instances" / f"tracefast-{os.getpid()}-{_started(os.getpid())}"
        self.folders = [own]
        self.missing: dict[str, str] = {}
        self.recorded: set[str] = set()
        self._kb = [_BUFFER_KB, _OTHERS_KB]
        self._lost = [0, 0]
        try:
            self._make(own, _BUFFER_KB, EVENTS)
            if (own / _NOT_TRACED).exists():
                self.folders.append(own.with_name(f"{own.name}-{_OTHERS}"))
                self._make(self.folders[1], _OTHERS_KB, _DEVICES)
        except OSError as error:
            self.close()
            raise error_with_hint(
                f"{own}: {error.strerror}", "recording with the kernel needs root"
            ) from error
        except Error:
            self.close()
            raise

    def _make(self, folder: Path, kilobytes: int, events: Iterable[str]) -> None:
        folder.mkdir()
        _write(folder, "tracing_on", "0")
        _write(folder, "buffer_size_kb", str(kilobytes))
        offered = (folder / "trace_clock").read_text()
        clock = next((one for one in _CLOCKS if one in offered.split()), None)
        if clock is not None:
            _write(folder, "trace_clock", clock)
        for option in _OPTIONS:
            _write(folder, f"options/{option}", "1")
        for event in (*events, *_FILE_SYSTEMS):
            enable = f"events/{event}/enable"
            if (folder / enable).exists():
                _write(folder, enable, "1")
                self.recorded |= _names(folder / "events" / event)
            elif event not in _FILE_SYSTEMS:
                self.missing[event] = EVENTS[event]
        if _SYSCALLS in self.missing and _SYSCALLS in events:
            self._trace_raw_calls(folder)

    def _trace_raw_calls(self, folder: Path) -> None:
        """Trace system calls by their numbers.

        Raises
        ------
        Error
            The kernel cannot trace them: there would be nothing to show.
        """
        enable = f"events/{_RAW_SYSCALLS}/enable"
        if not (folder / enable).exists():
            raise error_with_hint(
                f"{folder.parent.parent}: this kernel has no events of system calls",
                "it needs CONFIG_FTRACE_SYSCALLS; leave out --kernel or --both",
            )
        _write(folder, enable, "1")
        self.recorded |= _names(folder / "events" / _RAW_SYSCALLS)

    def start(self, tasks: Sequence[int]) -> None:
        """Trace tasks and their future children.

        Raises
        ------
        OSError
            There is no such task.
        """
        text = " ".join(map(str, tasks))
        for folder, which in zip(self.folders, (_TRACED, _NOT_TRACED), strict=False):
            _write(folder, which, text)
        for folder in reversed(self.folders):
            _write(folder, "tracing_on", "1")

    def stop(self) -> None:
        """Trace no more; what is in the buffers can still be read."""
        for folder in self.folders:
            _write(folder, "tracing_on", "0")

    def lost(self) -> int:
        """Count the records that were lost; if there are more than before, enlarge the buffers."""
        for number, folder in enumerate(self.folders):
            lost = _lost(folder)
            if lost > self._lost[number] and self._kb[number] < _MOST_KB:
                self._kb[number] *= 2
                with suppress(OSError):  # There may be no memory for it.
                    _write(folder, "buffer_size_kb", str(self._kb[number]))
            self._lost[number] = lost
        return sum(self._lost)

    def close(self) -> None:
        """Remove them, and unmount what was mounted for them."""
        for folder in self.folders:
            _remove(folder)
        if self._mounted:
            unmount = ["umount", str(_USUAL)]
            subprocess.run(unmount, capture_output=True, check=False)  # noqa: S603


def _names(event: Path) -> set[str]:
    """Give the name of an event, or those of all in a group."""
    return {one.parent.name for one in event.rglob("id")}


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)


def _lost(folder: Path) -> int:
    """Count the records that an instance has lost."""
    lost = 0
    for stats in folder.glob("per_cpu/cpu*/stats"):
        for line in stats.read_text().splitlines():
            name, _, number = line.partition(":")
            if name in {"overrun", "commit overrun", "dropped events"}:
                lost += int(number)
    return lost


def _root() -> tuple[Path, bool]:
    """Find tracefs, or mount it; say whether it was mounted now."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, place, kind, *_ = line.split(" ")
        if kind == "tracefs":
            return Path(place.encode().decode("unicode_escape")), False
    mount = ["mount", "-t", "tracefs", "nodev", str(_USUAL)]
    try:
        subprocess.run(mount, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error)
        raise error_with_hint(
            f"tracefs: not mounted, and cannot be: {said.partition(chr(10))[0]}",
            "recording with the kernel needs root, and a kernel with CONFIG_FTRACE; without them, "
            "leave out --kernel or --both",
        ) from error
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
