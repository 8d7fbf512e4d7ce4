"""Record `program.py` by strace and by tracefs: `python record.py TRACEFS`, as root.

It makes an instance of tracefs of its own, and writes `steps.strace.zst` and `steps.ftrace.zst`
beside this file. The folder of the program is replaced by `/srv/memory`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
EVENTS = (
    *("kmem/rss_stat", "task/task_newtask"),
    *("sched/sched_process_fork", "sched/sched_process_exec", "sched/sched_process_exit"),
)
PROGRAM = ["/usr/bin/python3", "-S", "program.py"]


def keep(name: str, text: bytes, folder: str) -> None:
    text = text.replace(os.fsencode(folder), b"/srv/memory")
    target = HERE / f"{name}.zst"
    subprocess.run(["zstd", "-q", "-f", "-19", "-o", target], input=text, check=True)


def by_strace(folder: str) -> None:
    log = Path(folder) / "log"
    strace = ["strace", "-f", "-ttt", "-T", "-s", "256", "-o", log]
    output = subprocess.DEVNULL
    subprocess.run([*strace, *PROGRAM, "-", folder], cwd=folder, stdout=output, check=True)
    keep("steps.strace", log.read_bytes(), folder)


def by_tracefs(folder: str, tracing: Path) -> None:
    own = tracing / "instances" / f"tracefast-{os.getpid()}"
    own.mkdir()
    try:
        (own / "buffer_size_kb").write_text("8192")
        (own / "options" / "event-fork").write_text("1")
        (own / "options" / "record-tgid").write_text("1")
        # It waits until it is traced, and nothing else is.
        command = ["sh", "-c", f"read go; exec {' '.join(PROGRAM)} {own}/trace_marker ."]
        with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE) as run:
            (own / "set_event_pid").write_text(str(run.pid))
            for event in EVENTS:
                (own / "events" / event / "enable").write_text("1")
            run.communicate(b"\n")
        keep("steps.ftrace", (own / "trace").read_bytes(), folder)
    finally:
        (own / "events" / "enable").write_text("0")
        own.rmdir()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "program.py").write_bytes((HERE / "program.py").read_bytes())
        by_strace(folder)
        by_tracefs(folder, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
