"""Record workers that grow: `python grow.py TRACEFS`, as root; without it, be the program.

Three workers are forked by a maker with 8 MiB. Each writes to 2, 4 or 6 MiB of what it shares with
the maker, then to 4 MiB of its own. Printed is what each had of anonymous memory, as
/proc/self/status says (`RssAnon`), at its start and in the end: `grow_fork.json`.
"""

import json
import mmap
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
MIB = 1 << 20
WORKERS = 3
EVENTS = (
    *("kmem/rss_stat", "task/task_newtask", "exceptions/page_fault_user", "syscalls"),
    *("sched/sched_process_fork", "sched/sched_process_exec", "sched/sched_process_exit"),
)


def anon() -> int:
    """Give the resident anonymous memory of this process."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("RssAnon"))
    return int(line.split()[1]) << 10


def touched(size: int) -> mmap.mmap:
    """Map anonymous memory, and write to each page."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, size, mmap.PAGESIZE):
        memory[at] = 1
    return memory


def work(shared: mmap.mmap, number: int) -> tuple[int, int]:
    """Grow."""
    before = anon()
    for at in range(0, 2 * (number + 1) * MIB, mmap.PAGESIZE):
        shared[at] = 2
    own = touched(4 * MIB)
    after = anon()
    own.close()
    return before, after


def program() -> None:
    """Fork the workers, and print what they had."""
    shared = touched(8 * MIB)
    pipes = []
    for number in range(WORKERS):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            before, after = work(shared, number)
            os.write(write, json.dumps([os.getpid(), before, after]).encode())
            # All of them live at one time.
            time.sleep(0.3)
            os._exit(0)
        pipes.append(read)
    print(json.dumps({"anon": [json.loads(os.read(read, 100)) for read in pipes]}))
    for _ in pipes:
        os.wait()


def record(tracing: Path) -> None:
    """Record the program by tracefs."""
    own = tracing / "instances" / f"tracefast-{os.getpid()}"
    own.mkdir()
    try:
        (own / "buffer_size_kb").write_text("16384")
        (own / "options" / "event-fork").write_text("1")
        (own / "options" / "record-tgid").write_text("1")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "grow.py").write_bytes(Path(__file__).read_bytes())
            # It waits until it is traced, and nothing else is.
            command = ["sh", "-c", "read go; exec /usr/bin/python3 -S grow.py"]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            with subprocess.Popen(command, cwd=folder, **pipes) as run:
                (own / "set_event_pid").write_text(str(run.pid))
                for event in EVENTS:
                    (own / "events" / event / "enable").write_text("1")
                known, _ = run.communicate(b"\n")
        (HERE / "grow_fork.json").write_bytes(known)
        target = HERE / "grow_fork.ftrace.zst"
        text = (own / "trace").read_bytes()
        subprocess.run(["zstd", "-q", "-f", "-19", "-o", target], input=text, check=True)
    finally:
        (own / "events" / "enable").write_text("0")
        own.rmdir()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        record(Path(sys.argv[1]))
    else:
        program()
