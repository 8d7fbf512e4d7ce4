"""Record the logs in this folder again: `python3 record.py` as root, with trace-cmd installed.

All but the logs of the blk tracer come from a tracing instance, which other tracing on the machine
does not disturb. Each log is what the kernel or trace-cmd printed, unedited; from those of records
that were lost, the lines around these are kept.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Mark = Callable[[bytes], object]

HERE = Path(__file__).resolve().parent
GROUP = "tracefast"

PPID = ["syscalls/sys_enter_getppid", "syscalls/sys_exit_getppid"]
CALLS = [
    f"syscalls/sys_{half}_{name}"
    for half in ("enter", "exit")
    for name in (
        *("openat", "read", "write", "lseek", "pread64", "close", "newfstatat", "getppid", "mmap"),
        *("clone", "clone3", "wait4", "execve", "exit", "exit_group", "kill", "rt_sigreturn"),
    )
]
TASKS = [
    *[f"sched/sched_process_{what}" for what in ("fork", "exec", "exit", "wait")],
    *["task/task_newtask", "task/task_rename", "signal/signal_generate", "signal/signal_deliver"],
]

# One capture printed in many ways: what the options change is the print, not the buffer.
PRINTS = {
    "default": {},
    "no-irq-info": {"irq-info": 0},
    "tgid": {"record-tgid": 1},
    "latency": {"latency-format": 1},
    "latency-verbose": {"latency-format": 1, "verbose": 1},
    "verbose": {"verbose": 1},
    "nocontext": {"context-info": 0},
    "raw": {"raw": 1},
    "hex": {"hex": 1},
    "fields": {"fields": 1},
}
CLOCKS = ["global", "counter", "uptime", "mono", "boot", "tai", "x86-tsc"]

REPORTS = {
    "report": [],
    "report-t": ["-t"],
    "report-R": ["-R"],
    "report-N": ["-N"],
    "report-l": ["-l"],
    "report-ts-diff": ["--ts-diff"],
    "report-ts2secs": ["--ts2secs", "1000000000"],
    "report-raw-ts": ["--raw-ts"],
}


@contextmanager
def mounted() -> Iterator[Path]:
    """Mount tracefs in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="tracefs-"))
    try:
        subprocess.run(["mount", "-t", "tracefs", "nodev", str(folder)], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    finally:
        folder.rmdir()


def put(file: Path, text: object, *, add: bool = False) -> None:
    """Write one value, in one write: the kernel takes each write for itself."""
    out = os.open(file, os.O_WRONLY | (os.O_APPEND if add else os.O_TRUNC))
    try:
        os.write(out, f"{text}\n".encode())
    finally:
        os.close(out)


@contextmanager
def instance(tracefs: Path, name: str = GROUP) -> Iterator[Path]:
    """Make a tracing instance that is off, and remove it."""
    folder = tracefs / "instances" / name
    folder.mkdir()
    try:
        put(folder / "tracing_on", 0)
        yield folder
    finally:
        # trace-cmd removes what it extracts.
        if folder.exists():
            put(folder / "tracing_on", 0)
            folder.rmdir()


def options(trace: Path, wanted: dict[str, int]) -> None:
    """Set options."""
    for name, value in wanted.items():
        put(trace / "options" / name, value)


@contextmanager
def printed(trace: Path, wanted: dict[str, int]) -> Iterator[None]:
    """Set options for a while."""
    before = {name: int((trace / "options" / name).read_text()) for name in wanted}
    options(trace, wanted)
    try:
        yield
    finally:
        options(trace, before)


def run(trace: Path, act: Callable[[Mark], None], name: bytes = b"app") -> int:
    """Run one of the programs, traced from its first call to its last."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            program.name_of_task(name)
            put(trace / "set_event_pid", os.getpid())
            marker = os.open(trace / "trace_marker", os.O_WRONLY)

            def mark(text: bytes) -> None:
                os.write(marker, text)

            put(trace / "tracing_on", 1)
            act(mark)
            put(trace / "tracing_on", 0)
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit(f"{act} failed")
    put(trace / "tracing_on", 0)
    return pid


def keep(trace: Path, name: str, wanted: dict[str, int] | None = None) -> None:
    """Keep what the trace file says under some options."""
    with printed(trace, wanted or {}):
        (HERE / f"{name}.ftrace").write_bytes((trace / "trace").read_bytes())


def prepare(trace: Path, events: list[str], **wanted: int) -> None:
    """Enable events and options."""
    for event in events:
        put(trace / "events" / event / "enable", 1)
    options(trace, {name.replace("_", "-"): value for name, value in wanted.items()})


def layouts(tracefs: Path) -> None:
    """Record one capture in all layouts, and one for each clock."""
    with instance(tracefs) as trace:
        prepare(trace, [*CALLS, *TASKS], record_tgid=1, event_fork=1)
        run(trace, program.everyday)
        put(trace / "options/record-tgid", 0)
        for name, wanted in PRINTS.items():
            keep(trace, name, wanted)
    for clock in CLOCKS:
        with instance(tracefs) as trace:
            put(trace / "trace_clock", clock)
            prepare(trace, CALLS)
            run(trace, program.short)
            keep(trace, f"clock-{clock}")
            if clock in {"counter", "x86-tsc"}:
                keep(trace, f"clock-{clock}-latency", {"latency-format": 1})
                keep(trace, f"clock-{clock}-verbose", {"latency-format": 1, "verbose": 1})


def texts(tracefs: Path) -> None:
    """Record names of commands and marks that are no plain text."""
    with instance(tracefs) as trace:
        prepare(trace, [*PPID, "task/task_rename"], event_fork=1, record_tgid=1)
        run(trace, program.names)
        put(trace / "options/record-tgid", 0)
        for name, wanted in (
            ("names", {}),
            ("names-tgid", {"record-tgid": 1}),
            ("names-latency", {"latency-format": 1}),
        ):
            keep(trace, name, wanted)
    with instance(tracefs) as trace:
        prepare(trace, PPID)
        run(trace, program.marks)
        raw = os.open(trace / "trace_marker_raw", os.O_WRONLY)
        put(trace / "tracing_on", 1)
        os.write(raw, b"\x01\x00\x00\x00raw!")
        put(trace / "tracing_on", 0)
        os.close(raw)
        keep(trace, "marks")
        keep(trace, "marks-latency", {"latency-format": 1})
        keep(trace, "marks-nocontext", {"context-info": 0})
    with instance(tracefs) as trace:
        prepare(trace, ["raw_syscalls", "sched/sched_process_exec"], event_fork=1)
        run(trace, program.short)
        keep(trace, "raw-syscalls")
    with instance(tracefs) as trace:
        prepare(trace, [*CALLS, *TASKS], event_fork=1)
        run(trace, program.programs)
        keep(trace, "programs")


def stacks(tracefs: Path) -> None:
    """Record stacks of the kernel and of the program."""
    with instance(tracefs) as trace:
        prepare(trace, PPID, stacktrace=1)
        run(trace, program.short)
        for name, wanted in (
            ("stacks", {}),
            ("stacks-sym-offset", {"sym-offset": 1}),
            ("stacks-sym-addr", {"sym-addr": 1}),
            ("stacks-latency", {"latency-format": 1}),
        ):
            keep(trace, name, wanted)
    with instance(tracefs) as trace:
        prepare(trace, PPID, userstacktrace=1)

        def short(mark: Mark) -> None:
            program.short(mark)
            put(trace / "tracing_on", 0)
            # Libraries are named as long as the program is there.
            keep(trace, "user-stacks-sym-userobj", {"sym-userobj": 1})

        run(trace, short)
        keep(trace, "user-stacks")


def probes(tracefs: Path) -> None:
    """Record probes at a function of the C library, its call and its return."""
    libc, offset = function_of_libc("getppid")
    dynamic = tracefs / "dynamic_events"
    for probe in (
        f"p:{GROUP}/ppid {libc}:{offset:#x} a=%di:x64 s=+0(%sp):x32 c=$comm array=+0(%sp):x8[4]",
        f"r:{GROUP}/ppid_ret {libc}:{offset:#x} value=$retval:s32",
    ):
        put(dynamic, probe, add=True)
    try:
        with instance(tracefs) as trace:
            prepare(trace, [GROUP])
            run(trace, program.short)
            keep(trace, "probes")
            put(trace / "events" / GROUP / "enable", 0)
    finally:
        for name in ("ppid", "ppid_ret"):
            put(dynamic, f"-:{GROUP}/{name}", add=True)


def function_of_libc(name: str) -> tuple[str, int]:
    """Return the library that holds a function, and where in it."""
    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        parts = line.split()
        start, end = (int(part, 16) for part in parts[0].split("-"))
        if start <= address < end:
            return parts[5], address - start + int(parts[2], 16)
    raise SystemExit(f"no library holds {name}")


def many(_mark: Mark) -> None:
    """Make more calls than the smallest buffer holds, on one processor after the other."""
    for cpu in sorted(os.sched_getaffinity(0)):
        os.sched_setaffinity(0, {cpu})
        for _ in range(400):
            os.getppid()


def around(text: bytes, mark: bytes) -> bytes:
    """Keep the lines around those with a mark, as `grep -B 2 -A 2` does."""
    lines = text.splitlines(keepends=True)
    near = [any(mark in line for line in lines[max(n - 2, 0) : n + 3]) for n in range(len(lines))]
    return b"".join(
        line if keep else b"--\n"
        for line, keep, before in zip(lines, near, [True, *near], strict=False)
        if keep or before
    )


def losses(tracefs: Path) -> None:
    """Record what a small buffer loses: to the reader of a pipe, of the trace while live, after."""
    with instance(tracefs) as trace:
        put(trace / "buffer_size_kb", 4)
        prepare(trace, PPID)
        pipe = os.open(trace / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        text = b""
        for _ in range(3):
            run(trace, many)
            try:
                while more := os.read(pipe, 1 << 16):
                    text += more
            except BlockingIOError:
                continue
        os.close(pipe)
        (HERE / "lost-pipe.ftrace").write_bytes(around(text, b"LOST"))
    with instance(tracefs) as trace:
        put(trace / "buffer_size_kb", 4)
        prepare(trace, PPID)
        run(trace, many)
        with (trace / "trace").open("rb", buffering=0) as file:
            text = file.read(3000)
            for _ in range(3):
                run(trace, many)
                text += file.read(1500)
        (HERE / "lost-live.ftrace").write_bytes(text[: text.rfind(b"\n") + 1])
    with instance(tracefs) as trace:
        put(trace / "buffer_size_kb", 4)

        def long(mark: Mark) -> None:
            for number in range(100):
                mark(b"%d " % number * 100)

        run(trace, long)
        keep(trace, "overrun")


@contextmanager
def whole_machine(tracefs: Path) -> Iterator[Path]:
    """Give the buffer of the whole machine, off, and leave it as it was."""
    before = (tracefs / "tracing_on").read_text().strip()
    if (tracefs / "current_tracer").read_text().strip() != "nop":
        raise SystemExit("somebody else is tracing the whole machine")
    put(tracefs / "tracing_on", 0)
    put(tracefs / "trace", "")
    try:
        yield tracefs
    finally:
        put(tracefs / "current_tracer", "nop")
        put(tracefs / "set_event", "")
        put(tracefs / "set_event_pid", "")
        put(tracefs / "trace", "")
        put(tracefs / "tracing_on", before)


def block_layer(tracefs: Path) -> None:
    """Record the blk tracer: only the whole machine's buffer has it."""
    device = program.FOLDER.stat().st_dev
    queue = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/trace")
    if not queue.exists() or "blk" not in (tracefs / "available_tracers").read_text():
        raise SystemExit(f"{queue}: no blk tracer here")
    with whole_machine(tracefs) as trace:
        put(trace / "current_tracer", "blk")

        def blocks(mark: Mark) -> None:
            put(queue / "pid", os.getpid())
            put(queue / "enable", 1)
            program.blocks(mark)

        try:
            run(trace, blocks)
            keep(trace, "blk")
            keep(trace, "blk-classic", {"blk_classic": 1})
            keep(trace, "blk-latency", {"latency-format": 1})
        finally:
            put(queue / "enable", 0)


def command(*arguments: object) -> bytes:
    """Run trace-cmd, and return what it prints."""
    line = ["trace-cmd", *map(str, arguments)]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout


def trace_cmd(tracefs: Path) -> None:
    """Record with trace-cmd: all forms of its report, buffers side by side, records lost."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "trace.dat"

        def report(name: str, *arguments: str) -> None:
            text = command("report", *arguments, "-i", data)
            (HERE / f"trace-cmd-{name}.ftrace").write_bytes(text)

        with whole_machine(tracefs) as trace:
            prepare(trace, ["syscalls", *TASKS])
            run(trace, program.sockets)
            command("extract", "-o", data)
        for name, arguments in REPORTS.items():
            report(name, *arguments)
        with instance(tracefs, "one") as one, instance(tracefs, "two") as two:
            prepare(one, PPID)
            prepare(two, ["syscalls/sys_enter_openat", "syscalls/sys_exit_openat"])

            def both(mark: Mark) -> None:
                put(two / "set_event_pid", os.getpid())
                put(two / "tracing_on", 1)
                for _ in range(3):
                    program.short(mark)
                put(two / "tracing_on", 0)

            run(one, both)
            command("extract", "-B", "one", "-B", "two", "-o", data)
        report("buffers")
        with instance(tracefs) as trace:
            put(trace / "buffer_size_kb", 4)
            prepare(trace, PPID)
            run(trace, many)
            command("extract", "-B", GROUP, "-o", data)
        text = around(command("report", "-i", data), b"DROPPED]")
        (HERE / "trace-cmd-dropped.ftrace").write_bytes(text)
        for name, act in (("marks", program.marks), ("names", program.names)):
            with instance(tracefs) as trace:
                prepare(trace, [*PPID, "task/task_rename"], event_fork=1)
                run(trace, act)
                command("extract", "-B", GROUP, "-o", data)
            report(name)


def main() -> None:
    """Record all logs."""
    if os.geteuid() != 0 or shutil.which("trace-cmd") is None:
        raise SystemExit("recording needs root and trace-cmd")
    program.FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        with mounted() as tracefs:
            # Odd names come last: trace-cmd stops reading the kernel's list of names at such a one.
            for record in (layouts, trace_cmd, stacks, probes, losses, block_layer, texts):
                record(tracefs)
    finally:
        shutil.rmtree(program.FOLDER)


if __name__ == "__main__":
    main()
