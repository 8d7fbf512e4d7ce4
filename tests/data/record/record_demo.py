"""Record the demo logs again: ``python3 record_demo.py strace|ftrace [FOLDER]``.

Everything happens in a neutral folder with an empty environment and the system's own Python, so
that the logs name neither the machine nor its user. Needs zstd, tar and gzip; strace, or root and
tracefs.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DATA.parents[1] / "benches"))

import live  # noqa: E402 - found through the path above

PYTHON = "/usr/bin/python3"


def main() -> None:
    """Record one log and put it, compressed, beside the other test data."""
    kind = sys.argv[1]
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else "/srv/demo")
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / f"demo.{kind}"
        if kind == "strace":
            live.record_strace(log, folder, rounds=2, python=PYTHON)
        else:
            live.record_ftrace(log, folder, rounds=1, python=PYTHON)
        target = DATA / f"demo.{kind}.zst"
        subprocess.run(["zstd", "-q", "-f", "-19", str(log), "-o", str(target)], check=True)
        subprocess.run(["wc", "-lc", str(log)], check=True)


if __name__ == "__main__":
    main()
