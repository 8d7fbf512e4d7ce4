"""Record the workload on this machine, with strace or with the kernel's own tracer.

Both functions leave a complete log: the workload ends by itself, so every task's exit is in it.
They raise :class:`UnavailableError` where the machine does not allow tracing, which is normal in
containers; callers then fall back on a bundled log.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKLOAD = Path(__file__).with_name("workload.py")

FTRACE_EVENTS = (
    "syscalls",
    "sched/sched_process_fork",
    "sched/sched_process_exec",
    "sched/sched_process_exit",
    "sched/sched_switch",
    "block",
)

FTRACE_BUFFER_KB = 512 << 10
"""Ring buffer over all processors: about one gigabyte of text."""

QUIET = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
}
"""Standard files of a traced run: with `-yy` the log would name the caller's."""


class UnavailableError(Exception):
    """Tracing is not possible here; the message says why."""


def clean_environment(home: Path) -> dict[str, str]:
    """Return an environment that reveals nothing about the machine or its user."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}


def workload_command(
    python: str, folder: Path, *, rounds: int | None, seconds: float, log: Path | None, size: int
) -> list[str]:
    """Return the command line of one run of the workload.

    Parameters
    ----------
    python
        Interpreter to run it with.
    folder
        Folder that holds, or gets, its copy of the workload; the run starts there.
    rounds, seconds, log, size
        The run ends after so many rounds or seconds, or when `log` has `size` bytes.
    """
    shutil.copyfile(WORKLOAD, folder / "workload.py")
    command = [python, "workload.py", "--dir", "data", "--seconds", str(seconds)]
    if rounds is not None:
        command += ["--rounds", str(rounds)]
    if log is not None:
        command += ["--log", str(log), "--bytes", str(size)]
    return command


def prepare(folder: Path, python: str) -> None:
    """Run the workload once untraced, so that a traced run finds its files made."""
    folder.mkdir(parents=True, exist_ok=True)
    command = workload_command(python, folder, rounds=1, seconds=60, log=None, size=0)
    subprocess.run(command, cwd=folder, env=clean_environment(folder), check=True)


def record_strace(
    log: Path,
    folder: Path,
    *,
    size: int = 1 << 62,
    seconds: float = 60.0,
    rounds: int | None = None,
    python: str = sys.executable,
) -> None:
    """Record the workload with ``strace -f -ttt -T -yy``.

    Parameters
    ----------
    log
        File to write.
    folder
        Working folder of the workload.
    size
        Stop after the round in which the log reaches this many bytes.
    seconds
        Start no round later than this.
    rounds
        Run exactly so many rounds, unless the time ends first.
    python
        Interpreter that runs the workload.

    Raises
    ------
    UnavailableError
        Without strace, or where it may not trace.
    """
    strace = shutil.which("strace")
    if strace is None:
        message = "strace is not installed"
        raise UnavailableError(message)
    probe = subprocess.run(
        [strace, "-f", "-o", os.devnull, "/bin/true"], capture_output=True, text=True, check=False
    )
    if probe.returncode != 0:
        message = f"strace does not work here: {probe.stderr.strip()}"
        raise UnavailableError(message)
    prepare(folder, python)
    log.unlink(missing_ok=True)
    # While it runs, the workload looks at the length of its own log, which would be seen in it
    # as one call a round: only asked for when a length is the limit.
    watched = log if size < 1 << 62 else None
    command = workload_command(
        python, folder, rounds=rounds, seconds=seconds, log=watched, size=size
    )
    subprocess.run(
        [strace, "-f", "-ttt", "-T", "-yy", "-o", str(log), *command],
        cwd=folder,
        env=clean_environment(folder),
        check=True,
        **QUIET,
    )


@contextmanager
def tracing_instance() -> Iterator[Path]:
    """Mount tracefs in a folder of its own and make a tracing instance there.

    An instance has its own buffer and events, so other tracing on the machine goes on undisturbed.
    One caller waits for the other: there is one folder of instances, and what records takes tracefs
    where it is mounted, even if somebody is about to unmount it.
    """
    with Path(tempfile.gettempdir(), "tracefast-tests-instances.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _instance() as instance:
            yield instance


@contextmanager
def _instance() -> Iterator[Path]:
    mount = Path(tempfile.mkdtemp(prefix="tracefs-"))
    mounted = subprocess.run(
        ["mount", "-t", "tracefs", "nodev", str(mount)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        mount.rmdir()
        message = f"tracefs cannot be mounted: {mounted.stderr.strip()}"
        raise UnavailableError(message)
    instance = mount / "instances" / f"tracefast-{os.getpid()}"
    try:
        try:
            instance.mkdir()
        except OSError as error:
            message = f"no tracing instance can be made: {error}"
            raise UnavailableError(message) from error
        try:
            yield instance
        finally:
            (instance / "tracing_on").write_text("0")
            instance.rmdir()
    finally:
        # Lazily: another program may have found tracefs here meanwhile, and have a file open.
        subprocess.run(["umount", "--lazy", str(mount)], check=False)
        mount.rmdir()


def record_ftrace(
    log: Path,
    folder: Path,
    *,
    seconds: float = 20.0,
    rounds: int | None = None,
    python: str = sys.executable,
) -> None:
    """Record the workload's own tasks with tracefs, in the default layout of the kernel.

    Parameters
    ----------
    log
        File to write.
    folder
        Working folder of the workload.
    seconds
        Start no round later than this.
    rounds
        Run exactly so many rounds, unless the time ends first.
    python
        Interpreter that runs the workload.

    Raises
    ------
    UnavailableError
        Where tracefs cannot be mounted or lacks an event: it needs root.
    """
    if shutil.which("mount") is None or os.geteuid() != 0:
        message = "tracefs needs root and the mount command"
        raise UnavailableError(message)
    prepare(folder, python)
    command = workload_command(python, folder, rounds=rounds, seconds=seconds, log=None, size=0)
    # The shell puts itself on the list of traced tasks and then becomes the workload.
    start = 'echo $$ >"$0/set_event_pid"; echo 1 >"$0/tracing_on"; exec "$@"'
    with tracing_instance() as instance:
        try:
            (instance / "tracing_on").write_text("0")
            buffer_kb = FTRACE_BUFFER_KB // (os.cpu_count() or 1)
            (instance / "buffer_size_kb").write_text(str(buffer_kb))
            for event in FTRACE_EVENTS:
                (instance / "events" / event / "enable").write_text("1")
            (instance / "options" / "event-fork").write_text("1")
        except OSError as error:
            message = f"the tracer refuses its settings: {error}"
            raise UnavailableError(message) from error
        subprocess.run(
            ["/bin/sh", "-c", start, str(instance), *command],
            cwd=folder,
            env=clean_environment(folder),
            check=True,
            **QUIET,
        )
        (instance / "tracing_on").write_text("0")
        with (instance / "trace").open("rb") as source, log.open("wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)
