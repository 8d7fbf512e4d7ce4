"""Record the logs in this folder: `python record.py [NAME…]`, with strace, gcc and zstd, as root.

It works in /srv/insights, which it makes and removes.
"""

import compileall
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/insights")
STRACE = ["strace", "-f", "-ttt", "-T", "-s", "8"]
FEWER = ["-e", "trace=%process,openat,read,write,pipe2,close"]
CALL_EVENTS = ("syscalls/sys_enter_getppid", "syscalls/sys_exit_getppid")
MEMORY_EVENTS = (
    *("kmem/rss_stat", "task/task_newtask", "exceptions/page_fault_user"),
    *("sched/sched_process_fork", "sched/sched_process_exec", "sched/sched_process_exit"),
    *("syscalls/sys_enter_read", "syscalls/sys_exit_read"),
    *("syscalls/sys_enter_write", "syscalls/sys_exit_write", "syscalls/sys_exit_clone"),
    "syscalls/sys_enter_clone",
)
PLAIN = (
    *("small_reads", "random_reads", "seek_then_read", "re_reads", "read_by_many"),
    *("end_of_file_probes", "header_then_all", "tail_first_archive", "read_little_of_much"),
    *("copy_by_hand", "small_writes", "sync_per_write", "unaligned_direct", "written_never_read"),
    *("open_close_churn", "failed_opens", "repeated_stats", "directory_scans", "metadata_bound"),
    *(
        "busy_polling",
        "contended_futex",
        "one_slow_worker",
        "starved_trainer",
        "serial_io",
        "tracer_dominates",
    ),
    *("page_table_copy", "error_pipe", "many_processes", "fork_with_threads", "path_probes"),
    "slow_linking",
)
# They never end, but for the corrected ones.
HANGING = ("deadlock", "lock_at_fork")
# Of multiprocessing's start methods, the one that costs and the one that does not.
PYTHON = {"fork_per_epoch": ("each", "once"), "re_imports": ("spawn", "fork")}
# By the kernel's own events; of the buffer, KiB.
TRACEFS = {
    "copy_on_write_growth": (MEMORY_EVENTS, 4096),
    "lost_events": (CALL_EVENTS, 64),
}
# What the log lacks depends on how it is recorded, with and without the option that was forgotten.
OPTIONS = {
    "no_durations": ("small_reads", ["-f", "-ttt"], STRACE[1:]),
    "no_children": ("no_children", ["-ttt", "-T"], STRACE[1:]),
    "no_names": (
        "no_names",
        ["-f", "-ttt", "-T", "-s", "8", "-e", "trace=read"],
        ["-f", "-ttt", "-T", "-s", "8", "-y", "-e", "trace=read"],
    ),
    "wrong_clock": ("small_reads", ["-f", "-t", "-T", "-s", "8"], STRACE[1:]),
}
WANTED = set(sys.argv[1:])


def main():
    """Record all, or those that are named."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    subprocess.run(
        ["gcc", "-O1", "-static", "-pthread", "-o", FOLDER / "program", HERE / "program.c"],
        check=True,
    )
    # For this one, the linker has work to do.
    subprocess.run(
        ["gcc", "-O1", "-pthread", "-o", FOLDER / "linked", HERE / "program.c"], check=True
    )
    prepare()
    for name in PLAIN:
        record(name, name, STRACE[1:])
        record(f"{name}_fixed", f"{name}.", STRACE[1:])
    for name, (program, without, with_it) in OPTIONS.items():
        record(name, program, without)
        record(f"{name}_fixed", program, with_it)
    for name in HANGING:
        record(name, name, [*STRACE[1:], "-DDD"], ends=False)
        record(f"{name}_fixed", f"{name}.", STRACE[1:])
    for name, how in PYTHON.items():
        for suffix, word in zip(("", "_fixed"), how, strict=True):
            command = [Path(sys.executable).resolve(), "-I", "-S", "workers.py", name, word]
            # What is executed, read, written, opened is enough.
            record(f"{name}{suffix}", None, [*STRACE[1:], *FEWER], command)
    with mounted() as tracefs:
        for name, (events, room) in TRACEFS.items():
            trace(tracefs, name, name, events, room)
            trace(tracefs, f"{name}_fixed", f"{name}.", events, room)
    shutil.rmtree(FOLDER)


def prepare():
    """Make the files that the programs read."""
    sizes = {"19200": 19200, "200K": 204800, "1M": 1 << 20, "2M": 2 << 20, "119798": 119798}
    for name, size in sizes.items():
        (FOLDER / name).write_bytes(bytes(range(256)) * (size // 256) + bytes(size % 256))
    with (FOLDER / "64M").open("wb") as file:
        file.truncate(64 << 20)
    for folder, number, size in (("many", 400, 2000), ("large", 60, 1 << 20), ("path8", 100, 9)):
        (FOLDER / folder).mkdir()
        for i in range(number):
            name = f"module{i}" if folder == "path8" else str(i)
            (FOLDER / folder / name).write_bytes(bytes(size))
    for name in ("lib0", "lib1"):
        (FOLDER / name).mkdir()
    for i in range(30):
        (FOLDER / f"part{i}.py").write_text("")
    shutil.copy(HERE / "workers.py", FOLDER)
    compileall.compile_dir(FOLDER, quiet=1)
    subprocess.run(["sync"], check=True)


def wanted(name):
    return not WANTED or name.removesuffix("_fixed") in WANTED


def record(name, program, options, command=None, *, ends=True):
    """Record a program under strace, and keep what it prints: what it knows."""
    if not wanted(name):
        return
    log = FOLDER / "log"
    command = ["strace", *options, "-o", log, *(command or ["./program", program])]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, cwd=FOLDER, env={"LC_ALL": "C"}, start_new_session=True, **pipes
    ) as run:
        if not ends:
            # The tracer is in another session (-DDD).
            time.sleep(1.5)
            os.killpg(run.pid, signal.SIGKILL)
        known, said = run.communicate()
    if run.returncode and ends:
        raise SystemExit(f"{name}: {said.decode()}")
    text, python = log.read_bytes(), os.fsencode(sys.base_prefix)
    # Whole, and cut off after eight characters (-s 8).
    for part, known_as in ((python, b"/opt/python"), (b'"%s"...' % python[:8], b'"/opt/pyt"...')):
        text = text.replace(part, known_as)
    keep(name, text, "strace")
    if known:
        (HERE / f"{name}.json").write_bytes(known)


def keep(name, text, kind):
    target = HERE / f"{name}.{kind}.zst"
    subprocess.run(["zstd", "-q", "-19", "-f", "-o", target], input=text, check=True)


@contextmanager
def mounted():
    """Mount tracefs in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="tracefs-") as folder:
        subprocess.run(["mount", "-t", "tracefs", "nodev", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def trace(tracefs, name, program, events, room):
    """Record a program and its children by tracefs, on one processor, and what was lost of it."""
    if not wanted(name):
        return
    own = tracefs / "instances" / "tracefast-insights"
    own.mkdir()
    try:
        put(own / "buffer_size_kb", room)
        for option in ("event-fork", "record-tgid"):
            put(own / "options" / option, 1)
        # It waits until it is traced, and nothing else is.
        command = ["taskset", "-c", "0", "sh", "-c", f"echo; read go; exec ./program {program}"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, cwd=FOLDER, **pipes) as run:
            run.stdout.readline()
            put(own / "set_event_pid", run.pid)
            for event in events:
                put(own / "events" / event / "enable", 1)
            run.communicate(b"\n")
        put(own / "tracing_on", 0)
        keep(name, piped(own), "ftrace")
    finally:
        put(own / "events" / "enable", 0)
        own.rmdir()


def piped(own):
    """Give what trace_pipe has: unlike trace, it says how many events were lost."""
    pipe = os.open(own / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
    text = b""
    while True:
        try:
            text += os.read(pipe, 1 << 16)
        except BlockingIOError:
            break
    os.close(pipe)
    return text


def put(file, text):
    """Write one value, in one write: the kernel takes each write for itself."""
    out = os.open(file, os.O_WRONLY | os.O_TRUNC)
    try:
        os.write(out, f"{text}\n".encode())
    finally:
        os.close(out)


if __name__ == "__main__":
    main()
