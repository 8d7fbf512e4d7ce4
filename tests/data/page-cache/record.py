"""Record the logs in this folder: `python3 record.py [NAME…]` as root, with e2fsprogs and zstd.

The files lie in a file system of their own, on a loop device whose blocks are in memory: nobody
else uses it, so that events of its device are those of the programs here. The tracing instance is
its own, too. Each log is what the kernel printed, unedited.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent
MOUNT = Path("/srv/page-cache")
DATA = MOUNT / "a file \\ of 32 MiB.bin"
SIZE = 32 << 20
PAGE = 4096
STREAMS = 4
CHUNK = 64 << 10
PR_SET_NAME = 15
EVENTS = ("filemap", "readahead", "block/block_rq_issue", "block/block_rq_complete")


def put(file: Path, text: object) -> None:
    """Write one value, in one write: the kernel takes each write for itself."""
    out = os.open(file, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(out, f"{text}\n".encode())
    finally:
        os.close(out)


@contextmanager
def tracing() -> Iterator[Path]:
    """Make a tracing instance that is off, in a tracefs of its own, and remove both."""
    with tempfile.TemporaryDirectory(prefix="tracefs-") as folder:
        subprocess.run(["mount", "-t", "tracefs", "nodev", folder], check=True)
        trace = Path(folder) / "instances" / "tracefast-page-cache"
        try:
            trace.mkdir()
            put(trace / "tracing_on", 0)
            put(trace / "buffer_size_kb", 8192)
            yield trace
        finally:
            put(trace / "tracing_on", 0)
            trace.rmdir()
            subprocess.run(["umount", folder], check=True)


@contextmanager
def disk() -> Iterator[None]:
    """Mount a file system on a loop device, with the window of read-ahead of a fast disk."""
    with tempfile.TemporaryDirectory(prefix="disk-", dir="/dev/shm") as folder:
        image = Path(folder) / "image"
        with image.open("wb") as file:
            file.truncate(160 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-b", "4096", str(image)], check=True)
        MOUNT.mkdir(parents=True)
        try:
            subprocess.run(["mount", "-o", "loop,noatime", str(image), str(MOUNT)], check=True)
            try:
                device = MOUNT.stat().st_dev
                put(Path(f"/sys/dev/block/7:{os.minor(device)}/queue/read_ahead_kb"), 8192)
                yield
            finally:
                subprocess.run(["umount", str(MOUNT)], check=True)
        finally:
            MOUNT.rmdir()


def cold(path: Path) -> None:
    """Write a file back and drop it from the page cache."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def opened() -> int:
    return os.open(DATA, os.O_RDONLY)


def seq() -> None:
    """Read all of the file, 64 KiB at a time."""
    file = opened()
    while os.read(file, CHUNK):
        pass


def rand() -> None:
    """Read 400 single pages, some of them twice."""
    file = opened()
    places = random.Random(1)
    for _ in range(400):
        os.pread(file, PAGE, places.randrange(SIZE // PAGE) * PAGE)


def mmapseq() -> None:
    """Touch all pages of a mapping in order."""
    data = mmap.mmap(opened(), SIZE, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
    for place in range(0, SIZE, PAGE):
        data[place]


def mmaprand() -> None:
    """Touch 400 places of a mapping that is said to be used at random."""
    data = mmap.mmap(opened(), SIZE, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)
    data.madvise(mmap.MADV_RANDOM)
    places = random.Random(1)
    for _ in range(400):
        data[places.randrange(SIZE)]


def warm() -> None:
    """Read all of the file twice, then have it dropped from the page cache."""
    file = opened()
    for _ in range(2):
        os.lseek(file, 0, os.SEEK_SET)
        while os.read(file, CHUNK):
            pass
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def odd() -> None:
    """Read a file in order by pieces that are no whole pages, others large ones."""
    file = opened()
    for _ in range(300):
        os.read(file, 1000)
    os.lseek(file, 1 << 20, os.SEEK_SET)
    for _ in range(8):
        os.read(file, 3 << 20)


def streams() -> None:
    """Read four files in turns, past the page cache; then write one and have it on the disk."""
    buffer = mmap.mmap(-1, CHUNK)
    files = [os.open(MOUNT / f"stream {n}", os.O_RDONLY | os.O_DIRECT) for n in range(STREAMS)]
    for _ in range(16):
        for file in files:
            os.readv(file, [buffer])
    out = os.open(MOUNT / "written", os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(out, b"w" * (1 << 20))
    os.fsync(out)


def pairs() -> None:
    """Read two pages in order at each of sixty places."""
    file = opened()
    for place in range(60):
        for page in range(2):
            os.pread(file, PAGE, (place << 19) + page * PAGE)


def pairs_told() -> None:
    """Do the same, after the kernel is told that the file is read at random."""
    file = opened()
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    for place in range(60):
        os.pread(file, 2 * PAGE, place << 19)


RUNS = (seq, rand, mmapseq, mmaprand, warm, odd, streams, pairs, pairs_told)
# All, if none is named.
WANTED = set(sys.argv[1:])


def make_files() -> None:
    """Make the files; names that are odd are for the map of inodes."""
    DATA.write_bytes(os.urandom(SIZE))
    for n in range(STREAMS):
        (MOUNT / f"stream {n}").write_bytes(os.urandom(16 * CHUNK))
    for name in ("\u00e4 \u00f6", " blank in front", "tab\tinside", "apostrophe's"):
        (MOUNT / name).write_bytes(b"x")
    (MOUNT / os.fsdecode(b"no text \xff")).write_bytes(b"x")
    os.sync()


def run(act: Callable[[], None]) -> None:
    """Run a program in a process of its own."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            ctypes.CDLL(None).prctl(PR_SET_NAME, b"reader", 0, 0, 0)
            act()
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit(f"{act} failed")


def keep(trace: Path, name: str) -> None:
    """Keep what the trace file says, compressed."""
    text = (trace / "trace").read_bytes()
    (HERE / f"{name}.ftrace.zst").unlink(missing_ok=True)
    command = ["zstd", "-q", "-19", "-o", str(HERE / f"{name}.ftrace.zst")]
    subprocess.run(command, input=text, check=True)


def main() -> None:
    """Record all logs."""
    os.umask(0o022)
    with disk(), tracing() as trace:
        make_files()
        device = MOUNT.stat().st_dev
        number = os.major(device) << 20 | os.minor(device)
        for event in EVENTS:
            folder = trace / "events" / event
            if "/" in event:
                put(folder / "filter", f"dev == {number}")
                put(folder / "enable", 1)
                continue
            for one in folder.glob("*/format"):
                if "s_dev" in one.read_text():
                    put(one.with_name("filter"), f"s_dev == {number}")
                    put(one.with_name("enable"), 1)
        for act in RUNS:
            if WANTED and act.__name__ not in WANTED:
                continue
            cold(DATA)
            put(trace / "trace", "")
            put(trace / "tracing_on", 1)
            run(act)
            # What was written reaches the disk late.
            os.sync()
            put(trace / "tracing_on", 0)
            keep(trace, act.__name__)
            if act is rand:
                put(trace / "options/fields", 1)
                keep(trace, "rand-fields")
                put(trace / "options/fields", 0)
        listing = subprocess.run(
            ["find", str(MOUNT), "-xdev", "-printf", "%D %i %p\\n"], check=True, capture_output=True
        )
        (HERE / "inodes.txt").write_bytes(b"".join(sorted(listing.stdout.splitlines(True))))


if __name__ == "__main__":
    main()
