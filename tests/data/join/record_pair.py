"""Record one program with strace and ftrace at the same time: `record_pair.py FOLDER`.

Needs root, strace and tracefs. The folder must be on a file system with a block device. Writes
`reads.strace`, `reads.ftrace` and `reads.json`, the places of the random reads.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benches"))
import live

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


def record(folder: Path) -> list[int]:
    """Record the program in a folder; give the places of its random reads.

    Raises
    ------
    live.UnavailableError
        strace, root, tracefs or one of the events is missing.
    """
    if os.geteuid() != 0 or shutil.which("strace") is None:
        raise live.UnavailableError("recording needs root and strace")
    (folder / "program.py").write_text(PROGRAM)
    with (folder / "reads.bin").open("wb") as file:
        file.write(os.urandom(4 << 20))
        file.flush()
        os.fsync(file.fileno())
    log = folder / "reads.strace"
    command = ["strace", "-f", "-ttt", "-T", "-y", "-o", str(log)]
    with live.tracing_instance() as instance:
        _enable(instance)
        subprocess.run([*command, sys.executable, "-ISE", "program.py"], cwd=folder, check=True)
        (instance / "tracing_on").write_text("0")
        text = (instance / "trace").read_text(errors="replace")
    tids = {line.split(maxsplit=1)[0] for line in log.read_text(errors="replace").splitlines()}
    (folder / "reads.ftrace").write_text("".join(_of_tasks(text, tids)))
    return list(json.loads((folder / "places.json").read_text()))


def _enable(instance: Path) -> None:
    """Let an instance of tracefs record the events."""
    (instance / "buffer_size_kb").write_text("16384")
    for event in EVENTS:
        enable = instance / "events" / event / "enable"
        if not enable.exists():
            raise live.UnavailableError(f"this kernel has no event {event}")
        enable.write_text("1")


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
