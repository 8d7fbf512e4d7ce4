"""Record the logs again: ``python3 record.py [FOLDER]``. Needs strace.

The same program is recorded twice: with a file for each task (``log.PID``), and as one log with a
pid column (``all.strace``).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent
PROGRAM = "/bin/echo one | /usr/bin/wc -c; (/bin/true & wait); /bin/cat /etc/shells"


def record(folder: Path, *options: str) -> None:
    """Run the program under strace, in a neutral folder with an empty environment."""
    command = ["strace", *options, "-ttt", "-T", "-y", "sh", "-c", PROGRAM]
    nothing = subprocess.DEVNULL
    streams = {"stdin": nothing, "stdout": nothing, "stderr": nothing}
    subprocess.run(command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, check=True, **streams)


def main() -> None:
    """Replace the logs that lie beside this file."""
    for old in DATA.glob("log.*"):
        old.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else scratch)
        record(folder, "-ff", "-o", str(DATA / "log"))
        record(folder, "-f", "-o", str(DATA / "all.strace"))


if __name__ == "__main__":
    main()
