"""Record one program with strace and ftrace at the same time: `record_pair.py FOLDER`.

Needs root, strace and tracefs. The folder must be on a file system with a block device. Writes
`reads.strace`, `reads.ftrace` and `reads.json`, the places of the random reads.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

EVENTS = (
    *("raw_syscalls", "filemap", "readahead"),
    *("sched/sched_switch", "sched/sched_waking"),
    *("block/block_bio_queue", "block/block_rq_issue", "block/block_rq_complete"),
)
PROGRAM = """
import json, os, random, sys
name = "reads.bin"
fd = os.open(name, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
for _ in range(8):
    os.read(fd, 32768)
random.seed(7)
places = [page * 4096 for page in random.sample(range(600, 1024), 12)]
for _ in range(2):
    for place in places:
        os.pread(fd, 4096, place)
os.close(fd)
children = []
for child in range(4):
    pid = os.fork()
    if pid == 0:
        own = os.open(name, os.O_RDONLY)
        for place in places[child::4]:
            os.pread(own, 4096, place)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
with open("places.json", "w") as file:
    json.dump(places, file)
"""


class CannotRecordError(Exception):
    """Something that recording needs is not there."""


def record(folder: Path) -> list[int]:
    """Record the program in a folder; give the places of its random reads.

    Raises
    ------
    CannotRecordError
        strace, root or tracefs are missing.
    """
    if os.geteuid() != 0 or shutil.which("strace") is None:
        raise CannotRecordError("recording needs root and strace")
    (folder / "program.py").write_text(PROGRAM)
    with (folder / "reads.bin").open("wb") as file:
        file.write(os.urandom(4 << 20))
        file.flush()
        os.fsync(file.fileno())
    log = folder / "reads.strace"
    command = ["strace", "-f", "-ttt", "-T", "-y", "-o", str(log)]
    with _instance() as instance:
        subprocess.run([*command, sys.executable, "-ISE", "program.py"], cwd=folder, check=True)
        (instance / "tracing_on").write_text("0")
        text = (instance / "trace").read_text(errors="replace")
    tids = {line.split(maxsplit=1)[0] for line in log.read_text(errors="replace").splitlines()}
    (folder / "reads.ftrace").write_text("".join(_of_tasks(text, tids)))
    return list(json.loads((folder / "places.json").read_text()))


@contextlib.contextmanager
def _instance() -> Iterator[Path]:
    """Make an instance of tracefs that records the events, and remove it."""
    with tempfile.TemporaryDirectory() as root:
        mounted = subprocess.run(["mount", "-t", "tracefs", "nodev", root], check=False)
        if mounted.returncode:
            raise CannotRecordError("tracefs cannot be mounted")
        instance = Path(root) / "instances" / f"tracefast-test-{os.getpid()}"
        try:
            instance.mkdir()
            (instance / "buffer_size_kb").write_text("16384")
            for event in EVENTS:
                enable = instance / "events" / event / "enable"
                if not enable.exists():
                    raise CannotRecordError(f"this kernel has no event {event}")
                enable.write_text("1")
            yield instance
        finally:
            with contextlib.suppress(OSError):
                instance.rmdir()
            subprocess.run(["umount", root], check=False)


def _of_tasks(text: str, tids: set[str]) -> Iterator[str]:
    """Keep the records of the program's tasks and of the device, and who wakes the tasks."""
    mentioned = re.compile(r"\b(?:pid|prev_pid|next_pid)=(\d+)")
    for line in text.splitlines(keepends=True):
        of_task = re.match(r".{16}-(\d+) ", line) or re.match(r"\s*\S.*?-(\d+)\s+\[", line)
        if (
            line.startswith("#")
            or "block_rq_" in line
            or (of_task and of_task[1] in tids)
            or tids.intersection(mentioned.findall(line))
        ):
            yield line


if __name__ == "__main__":
    print(record(Path(sys.argv[1]).resolve()))
