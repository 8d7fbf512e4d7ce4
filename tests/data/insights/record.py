"""Record the logs in this folder: `python record.py [NAME…]`, with strace, gcc and zstd, as root.

It works in /srv/insights, which it makes and removes.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/insights")
STRACE = ["strace", "-f", "-ttt", "-T", "-s", "8"]
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
)
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
    prepare()
    for name in PLAIN:
        record(name, name, STRACE[1:])
        record(f"{name}_fixed", f"{name}.", STRACE[1:])
    for name, (program, without, with_it) in OPTIONS.items():
        record(name, program, without)
        record(f"{name}_fixed", program, with_it)
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
    subprocess.run(["sync"], check=True)


def record(name, program, options):
    if WANTED and name.removesuffix("_fixed") not in WANTED:
        return
    log = FOLDER / "log"
    command = ["strace", *options, "-o", log, "./program", program]
    subprocess.run(command, cwd=FOLDER, env={"LC_ALL": "C"}, check=True)
    kept = HERE / f"{name}.strace.zst"
    subprocess.run(["zstd", "-q", "-19", "-f", log, "-o", kept], check=True)


if __name__ == "__main__":
    main()
