"""Record `program.py` with each start method: `python record.py`, with strace and zstd.

Only calls that concern processes, open files, sockets and waiting are kept.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
METHODS = ("fork", "spawn", "forkserver", "forkserver-preload")
CALLS = "%process,openat,listen,poll,ppoll,futex,close,pipe2,clock_nanosleep"


def main() -> None:
    for method in METHODS:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            (Path(folder) / "program.py").write_bytes((HERE / "program.py").read_bytes())
            strace = ["strace", "-f", "-ttt", "-T", "-e", f"trace={CALLS}", "-o", str(log)]
            python = [sys.executable, "-S", "program.py", method]
            subprocess.run([*strace, *python], cwd=folder, check=True)
            text = log.read_bytes()
            for path, name in ((folder, "/srv/workers"), (sys.base_prefix, "/opt/python3.11")):
                text = text.replace(os.fsencode(path), name.encode())
            target = HERE / f"{method}.strace.zst"
            subprocess.run(["zstd", "-q", "-f", "-19", "-o", target], input=text, check=True)


if __name__ == "__main__":
    main()
