"""Take and give back known amounts of memory; after each step write what the kernel says of it.

`python program.py TO FOLDER` writes lines `step NAME pid=N anon=BYTES file=BYTES shm=BYTES` into
TO, standard output or tracefs's trace_marker, each with one call, so that they are in the log at
the place of the step.
"""

import mmap
import os
import sys
from pathlib import Path

MIB = 1 << 20
PAGE = mmap.PAGESIZE
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def resident() -> dict[str, int]:
    """Read what is resident, exactly: smaps counts pages, where status may lack some."""
    found = {}
    for line in Path("/proc/self/smaps").read_text().splitlines():
        key, _, value = line.partition(":")
        if key in ("Rss", "Anonymous"):
            found[key] = found.get(key, 0) + int(value.split()[0]) * 1024
    status = {}
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.startswith("Rss"):
            status[key] = int(value.split()[0]) * 1024
    # smaps does not tell shared memory from files.
    shm = status["RssShmem"]
    return {
        "anon": found["Anonymous"],
        "file": found["Rss"] - found["Anonymous"] - shm,
        "shm": shm,
    }


def step(to: int, name: str) -> None:
    # Reading takes pages, too, at the first time.
    resident()
    numbers = " ".join(f"{key}={value}" for key, value in resident().items())
    os.write(to, f"step {name} pid={os.getpid()} {numbers}\n".encode())


def touch(memory: mmap.mmap) -> None:
    for at in range(0, len(memory), PAGE):
        memory[at] = 1


def main() -> None:
    target, folder = sys.argv[1], Path(sys.argv[2])
    to = 1 if target == "-" else os.open(target, os.O_WRONLY)
    data = folder / "data"
    data.write_bytes(os.urandom(2 * MIB))
    # The allocator's own memory settles before the first step.
    for _ in range(3):
        resident()
    step(to, "start")
    private = mmap.mmap(-1, 8 * MIB, flags=PRIVATE)
    # Huge pages would make all of it resident at once.
    private.madvise(mmap.MADV_NOHUGEPAGE)
    step(to, "mapped-8-MiB")
    touch(private)
    step(to, "touched-8-MiB")
    shared = mmap.mmap(-1, 4 * MIB)
    touch(shared)
    step(to, "shared-4-MiB")
    memory_file = os.memfd_create("numbers")
    os.ftruncate(memory_file, MIB)
    more_shared = mmap.mmap(memory_file, MIB)
    touch(more_shared)
    step(to, "memfd-1-MiB")
    with data.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    sum(mapped[at] for at in range(0, len(mapped), PAGE))
    step(to, "file-2-MiB")
    child = os.fork()
    if child == 0:
        step(to, "child-start")
        own = mmap.mmap(-1, 6 * MIB, flags=PRIVATE)
        own.madvise(mmap.MADV_NOHUGEPAGE)
        touch(own)
        step(to, "child-6-MiB")
        os._exit(0)
    os.waitpid(child, 0)
    private.madvise(mmap.MADV_DONTNEED, 0, 4 * MIB)
    step(to, "gave-back-4-MiB")
    private.close()
    mapped.close()
    step(to, "unmapped")
    os.posix_spawn("/bin/true", ["true"], os.environ)
    os.wait()
    step(to, "end")


main()
