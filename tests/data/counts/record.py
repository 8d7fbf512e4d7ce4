"""Record the logs in this folder again: `python record.py`, with strace installed.

Each is a run of `program.sh` with strace's table of calls after the trace (`-C`).
"""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/counts")  # The recording folder: its name is in the logs.
PROGRAM = ["/bin/sh", "program.sh"]
FILES = {
    # The table as it comes; calls of several tasks split by one another.
    "plain.strace": ["-f"],
    # Times, descriptors, errors made up by the tracer, and other columns of the table.
    "columns.strace": [
        *["-f", "-tt", "-T", "-y", "-w", "-S", "errors", "-U", "name,calls,max-time,errors"],
        *["--inject=newfstatat:error=EACCES:when=3+4"],
    ],
    # Wall time to the nanosecond, in the lines as in the table, which they amount to exactly.
    "wall.strace": ["-f", "-ttt", "--syscall-times=ns", "-y", "-w"],
    # Lines in the order in which calls end, and only those that succeeded.
    "staged.strace": ["-f", "-z"],
}


def main() -> None:
    """Record all logs, and one that strace writes where the program writes too."""
    FOLDER.mkdir(parents=True)
    try:
        shutil.copy(HERE / "program.sh", FOLDER)

        def strace(options: list[str], error: int = subprocess.DEVNULL) -> bytes:
            done = subprocess.run(
                ["strace", "-C", *options, *PROGRAM],
                cwd=FOLDER,
                env={"PATH": "/usr/bin:/bin"},
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=error,
            )
            return done.stderr or b""

        for name, options in FILES.items():
            strace([*options, "-o", str(HERE / name)])
        (HERE / "stderr.strace").write_bytes(strace(["-f"], subprocess.PIPE))
    finally:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
