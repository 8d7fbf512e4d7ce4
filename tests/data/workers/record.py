"""Record the logs of this folder: `python record.py`, with strace, zstd, make and xargs."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOM = Path("/srv/workers")
STRACE = ("strace", "-f", "-ttt", "-T", "-o", "log.strace")
PYTHON = (os.path.realpath(sys.executable), "-I", "-S", "-B", "workers.py")
PROGRAMS = [
    *((program, method) for program in ("pool",) for method in ("fork", "spawn", "forkserver")),
    *(("executor", method) for method in ("fork", "spawn", "forkserver")),
    *((program, "fork") for program in ("resized", "killed", "manager", "nested", "alone")),
    ("processes", "spawn"),
    ("manager", "spawn"),
    ("preload", "forkserver"),
    ("commands", "fork"),
]
MAKEFILE = """\
all: a.out b.out c.out
%.out: %.in
\tcp $< $@; sleep 0.05
"""
COMMANDS = {
    "xargs": ["xargs", "-P", "3", "-n", "1", "-a", "list", "md5sum"],
    "xargs_in_turn": ["xargs", "-n", "1", "-a", "list", "md5sum"],
    "make": ["make", "-j", "3"],
    "shell": [
        "sh",
        "-c",
        "grep a list | grep -v b; (true; echo x) | (read x; echo $x); (exit 1); true",
    ],
}


def record(name: str, command: list[str]) -> None:
    """Run a command under strace; keep the log, and what it printed if that is JSON."""
    shutil.rmtree(ROOM, ignore_errors=True)
    ROOM.mkdir(parents=True)
    shutil.copy(HERE / "workers.py", ROOM)
    (ROOM / "index.json").write_bytes(b"i" * 20_000)
    (ROOM / "Makefile").write_text(MAKEFILE)
    for number in range(4):
        (ROOM / f"{number}.bin").write_bytes(b"n" * (1000 + number))
    for letter in "abc":
        (ROOM / f"{letter}.in").write_bytes(b"x")
    (ROOM / "list").write_text("".join(f"{number % 4}.bin\n" for number in range(6)))
    run = subprocess.run(
        [*STRACE, *command], cwd=ROOM, check=True, stdout=subprocess.PIPE, text=True
    )
    if run.stdout.startswith("{"):
        known = json.loads(run.stdout)
        (HERE / f"{name}.json").write_text(json.dumps(known) + "\n")
    log = HERE / f"{name}.strace.zst"
    text = (ROOM / "log.strace").read_bytes().replace(os.fsencode(sys.base_prefix), b"/opt/python")
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", log], input=text, check=True)


if __name__ == "__main__":
    for program, method in PROGRAMS:
        record(f"{program}_{method}", [*PYTHON, program, method])
    for name, command in COMMANDS.items():
        record(name, command)
    shutil.rmtree(ROOM)
