"""Record the logs in this folder again: `python record.py` as root, with strace and a C compiler.

Writes what strace (`strace -f -ttt -T`) and a tracefs instance of its own (all system calls by
name, then by number) are of one run each of `program.c`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/calls")  # The recording folder: its name is in the logs.
PROGRAM = FOLDER / "program"


def run(*command: object) -> None:
    """Run the program in its folder."""
    subprocess.run(
        [*map(str, command)],
        cwd=FOLDER,
        env={"PATH": "/usr/bin:/bin"},
        check=True,
        stdin=subprocess.DEVNULL,
    )


def record_ftrace(log: Path, tracefs: Path, events: str) -> None:
    """Run the program in a tracefs instance of its own, followed through its forks."""
    instance = tracefs / "instances" / "tracefast-calls"
    instance.mkdir()
    try:
        (instance / "buffer_size_kb").write_text("8192")
        (instance / "options" / "event-fork").write_text("1")
        # Empty, until the program adds itself.
        (instance / "set_event_pid").write_text("4194303")
        (instance / "events" / events / "enable").write_text("1")
        run(PROGRAM, instance / "set_event_pid")
        (instance / "tracing_on").write_text("0")
        log.write_bytes((instance / "trace").read_bytes())
    finally:
        instance.rmdir()


def main() -> None:
    """Record all logs."""
    tracefs = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("/sys/kernel/tracing")
    FOLDER.mkdir(parents=True)
    try:
        flags = ["-O1", "-w", "-static", "-pthread"]
        subprocess.run(["cc", *flags, "-o", str(PROGRAM), str(HERE / "program.c")], check=True)
        run("strace", "-f", "-ttt", "-T", "-o", HERE / "calls.strace", PROGRAM)
        record_ftrace(HERE / "calls.ftrace", tracefs, "syscalls")
        record_ftrace(HERE / "calls-raw.ftrace", tracefs, "raw_syscalls")
    finally:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
