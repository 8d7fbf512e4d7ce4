"""Record the logs in this folder again: `python record.py`, with strace and a C compiler.

Each is a run of `program.c` with the program's own record beside it, `NAME.truth.json`.
"""

import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/truth")  # The recording folder: its name is in the logs.
SIZE = 128 << 10
TIMES = ["-f", "-ttt", "-T", "-s", "8"]
# Name, what the program does, how often, options of strace.
RUNS = [
    ("threads", "threads", 40, [*TIMES, "-y"]),
    ("forks", "forks", 40, [*TIMES, "-yy"]),
    ("plain", "forks", 30, ["-f", "-s", "8"]),
    ("separate", "forks", 40, ["-ff", "-ttt", "-T", "-s", "8", "-y"]),
    ("copies", "copies", 0, [*TIMES, "-y"]),
]


def prepare() -> None:
    """Make the files that the program reads: every 8 bytes say where they are."""
    words = b"".join(struct.pack("<Q", at) for at in range(0, SIZE, 8))
    (FOLDER / "inner").mkdir(exist_ok=True)
    for name, size in [("data.bin", SIZE), ("copy.bin", 8000), ("inner/small.bin", 4000)]:
        (FOLDER / name).write_bytes(words[:size])
    link = FOLDER / "link.bin"
    link.unlink(missing_ok=True)
    link.symlink_to("inner/small.bin")


def truth() -> list[dict[str, object]]:
    """Collect what the tasks wrote down, with absolute names."""
    operations = []
    for part in sorted(FOLDER.glob("*.part"), key=lambda path: int(path.stem)):
        for line in part.read_text().splitlines():
            operation = json.loads(line)
            operation["path"] = str(FOLDER / operation["path"])
            operations.append(operation)
        part.unlink()
    return operations


def record(name: str, what: str, rounds: int, options: list[str]) -> None:
    """Run the program under strace, and keep its log and its record."""
    prepare()
    log = HERE / f"{name}.strace"
    for old in HERE.glob(f"{name}.strace*"):
        old.unlink()
    # Two descriptors are older than the log; their positions are not 0.
    with (FOLDER / "data.bin").open("rb", 0) as first, (FOLDER / "data.bin").open("rb", 0) as last:
        first.seek(1000)
        last.seek(SIZE - 5000)

        def inherit() -> None:
            os.dup2(first.fileno(), 0)
            os.dup2(last.fileno(), 9, inheritable=True)

        subprocess.run(
            ["strace", *options, "-o", str(log), str(FOLDER / "program"), what, str(rounds)],
            cwd=FOLDER,
            env={"PATH": "/usr/bin:/bin"},
            check=True,
            close_fds=False,
            preexec_fn=inherit,
        )
    operations = ",\n".join(json.dumps(operation) for operation in truth())
    flags = json.dumps(" ".join(options))
    (HERE / f"{name}.truth.json").write_text(
        f'{{"workload": "{what}", "flags": {flags}, "ops": [\n{operations}\n]}}\n'
    )


def main() -> None:
    """Record all logs."""
    FOLDER.mkdir(parents=True)
    try:
        source = str(HERE / "program.c")
        flags = ["-O1", "-w", "-static", "-pthread"]
        subprocess.run(["cc", *flags, "-o", str(FOLDER / "program"), source], check=True)
        for run in RUNS:
            record(*run)
    finally:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
