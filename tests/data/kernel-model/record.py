"""Record the logs in this folder again: `python record.py`, with strace and a C compiler."""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/kernel")  # The recording folder: its name is in the logs.
RUNS = [
    ("positions", ["-f", "-ttt", "-T", "-y"], []),
    ("descriptors", ["-f", "-ttt", "-T"], []),
    ("closing", ["-f", "-ttt", "-T", "-s", "4"], ["first", "second", "third", "150"]),
]


def main() -> None:
    """Record all logs."""
    FOLDER.mkdir(parents=True)
    try:
        for name, options, arguments in RUNS:
            program = FOLDER / name
            flags = ["-O1", "-w", "-static", "-pthread"]
            source = str(HERE / f"{name}.c")
            subprocess.run(["cc", *flags, "-o", str(program), source], check=True)
            for file, size in [("data", 1 << 20), ("first", 900), ("second", 300), ("third", 512)]:
                (FOLDER / file).write_bytes(b"x" * size)
            subprocess.run(
                ["strace", *options, "-o", str(HERE / f"{name}.strace"), str(program), *arguments],
                cwd=FOLDER,
                env={"PATH": "/usr/bin:/bin"},
                check=True,
                stdin=subprocess.DEVNULL,
            )
    finally:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
