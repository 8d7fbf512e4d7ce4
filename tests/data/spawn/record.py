"""Record the logs in this folder again: `python record.py` as root, with strace installed.

Writes `spawn.strace` (strace -f -ttt -T -y) and `spawn.ftrace` (the text of a tracefs instance with
all system calls and the scheduler's life-cycle events) of one run each of `program.py`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/spawn")  # The recording folder: its name is in the logs.
PROGRAM = ["/usr/bin/python3", "-ISs", "program.py"]
EVENTS = [
    "syscalls",
    "sched/sched_process_fork",
    "sched/sched_process_exec",
    "sched/sched_process_exit",
]


def record_strace(log: Path) -> None:
    """Run the program under strace."""
    command = ["strace", "-f", "-ttt", "-T", "-y", "-o", str(log), *PROGRAM]
    subprocess.run(command, cwd=FOLDER, env={"PATH": "/usr/bin:/bin"}, check=True)


def record_ftrace(log: Path, tracefs: Path) -> None:
    """Run the program in a tracefs instance of its own, followed through its forks."""
    instance = tracefs / "instances" / "tracefast-spawn"
    instance.mkdir()
    try:
        (instance / "buffer_size_kb").write_text("8192")
        (instance / "options" / "event-fork").write_text("1")
        for event in EVENTS:
            (instance / "events" / event / "enable").write_text("1")

        def follow() -> None:
            (instance / "set_event_pid").write_text(str(os.getpid()))

        subprocess.run(
            PROGRAM, cwd=FOLDER, env={"PATH": "/usr/bin:/bin"}, check=True, preexec_fn=follow
        )
        (instance / "tracing_on").write_text("0")
        log.write_bytes((instance / "trace").read_bytes())
    finally:
        instance.rmdir()


def main() -> None:
    """Record both logs."""
    tracefs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("/sys/kernel/tracing")
    FOLDER.mkdir(parents=True)
    try:
        shutil.copy(HERE / "program.py", FOLDER)
        record_strace(HERE / "spawn.strace")
        record_ftrace(HERE / "spawn.ftrace", tracefs)
    finally:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
