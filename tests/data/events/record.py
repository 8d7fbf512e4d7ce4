"""Record one run twice: as tracefs prints it, and with the option `fields`.

Run as root, with the folder of tracefs as the argument:

    python3 record.py /sys/kernel/tracing

It makes an instance of its own, and writes `default.ftrace` and `fields.ftrace` beside this file:
the same records in the same order, at most four of each event.
"""

import ctypes
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUPS = (
    "sched task signal block filemap readahead ext4 writeback kmem irq irq_vectors exceptions "
    "workqueue timer power jbd2 vmscan pagemap percpu memcg ipi csd tlb msr"
).split()
EACH = 4
NAME = "a pid=7 =>b"  # A command's name that looks like a field.


def entry(program: str) -> int:
    """Where a program begins, as an offset in its file."""
    head = Path(program).read_bytes()[:4096]
    start, table = struct.unpack_from("<QQ", head, 24)
    size, count = struct.unpack_from("<HH", head, 54)
    for i in range(count):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", head, table + i * size)
        if kind == 1 and address <= start < address + length:
            return start - address + offset
    raise ValueError(program)


def append(path: Path, text: str) -> None:
    """Write at the end of a file that cannot be seeked."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def work(folder: str) -> None:
    """Do what the events are about."""
    ctypes.CDLL(None).prctl(15, NAME.encode(), 0, 0, 0)
    program = Path(folder) / "x pid=7 old_pid=8"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o755)
    for _ in range(3):
        subprocess.run([str(program)], check=True)
        subprocess.run(["/bin/true"], check=True)
    data = Path(folder) / "data"
    with data.open("wb") as file:
        file.write(os.urandom(1 << 22))
        file.flush()
        os.fsync(file.fileno())
    file = os.open(data, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    for at in (0, 4096, 8192, 1 << 20, 3 << 20):
        os.pread(file, 4096, at)
    os.close(file)
    data.unlink()
    time.sleep(0.05)


def main() -> None:
    tracing = Path(sys.argv[1])
    own = tracing / "instances" / f"tracefast-{os.getpid()}"
    probe = f"tracefast_{os.getpid()}"
    probes = tracing / "uprobe_events"
    own.mkdir()
    try:
        place = f"/bin/true:{entry('/bin/true'):#x}"
        fetched = "a=$stack0:u8 b=$stack0:x64 c=$stack0:s32 name=$comm"
        append(probes, f"p:{probe}/begun {place} {fetched}\n")
        (own / "buffer_size_kb").write_text("8192")
        for group in [*GROUPS, probe]:
            switch = own / "events" / group / "enable"
            if switch.exists():
                switch.write_text("1")
        (own / "options" / "event-fork").write_text("1")
        (own / "set_event_pid").write_text(str(os.getpid()))
        with tempfile.TemporaryDirectory(dir="/srv", prefix="demo-") as folder:
            marker = own / "trace_marker"
            work(folder)
            for text in ("plain", "B|12|a|b", "E|12", "C|12|count|-4", "S|12|async|7"):
                marker.write_text(text)
            with (own / "trace_marker_raw").open("wb") as file:
                file.write(struct.pack("<I3s", 5, b"raw"))
        (own / "tracing_on").write_text("0")
        plain = (own / "trace").read_text(errors="replace").splitlines()
        (own / "options" / "fields").write_text("1")
        typed = (own / "trace").read_text(errors="replace").splitlines()
    finally:
        for switch in (own / "events").glob("*/enable"):
            switch.write_text("0")
        append(probes, f"-:{probe}/begun\n")
        own.rmdir()
    assert len(plain) == len(typed), "the two readings differ"
    seen: dict[str, int] = {}
    kept = []
    for at, line in enumerate(plain):
        name = re.search(r" [0-9]+\.[0-9]+: ([a-z_0-9]+): |: (#) ", line)
        key = (name[1] or name[2]) if name else ""
        seen[key] = seen.get(key, 0) + 1
        if line.startswith("#") or seen[key] <= (EACH if key != "tracing_mark_write" else 9):
            kept.append(at)
    for file, lines in (("default", plain), ("fields", typed)):
        text = "".join(f"{lines[at]}\n" for at in kept)
        (Path(__file__).parent / f"{file}.ftrace").write_text(text)
    print(f"{len(kept)} lines, {len(seen)} events")


main()
