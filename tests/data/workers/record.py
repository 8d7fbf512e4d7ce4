"""Record the logs of this folder: `python record.py`, with strace, zstd, make and xargs.

The Python that runs it has joblib and gunicorn, and there is nginx.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import servers

HERE = Path(__file__).parent
ROOM = Path("/srv/workers")
STRACE = ("strace", "-f", "-ttt", "-T", "-o", "log.strace")
PYTHON = (os.path.realpath(sys.executable), "-I", "-S", "-B", "workers.py")
PROGRAMS = [
    *((program, method) for program in ("pool",) for method in ("fork", "spawn", "forkserver")),
    *(("executor", method) for method in ("fork", "spawn", "forkserver")),
    *(
        (program, "fork")
        for program in (
            "resized",
            "killed",
            "manager",
            "nested",
            "alone",
            "train",
            "mapped",
            "kept",
        )
    ),
    *((program, "fork") for program in ("train", "mapped", "kept")),
    ("processes", "spawn"),
    ("manager", "spawn"),
    *((program, "forkserver") for program in ("preload", "preload_all", "eager")),
    ("commands", "fork"),
]
PATH = f"{Path(sys.executable).parent}:/usr/sbin:/usr/bin"
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


def prepare() -> None:
    """Make the files that the programs need."""
    shutil.rmtree(ROOM, ignore_errors=True)
    ROOM.mkdir(parents=True)
    for program in ("workers.py", "servers.py"):
        shutil.copy(HERE / program, ROOM)
    (ROOM / "index.json").write_bytes(b"i" * 20_000)
    (ROOM / "images").mkdir()
    for number in range(12):
        (ROOM / "images" / f"{number:02}.img").write_bytes(b"p" * 100_000)
    # One is far larger.
    os.truncate(ROOM / "images" / "07.img", 64 << 20)
    (ROOM / "Makefile").write_text(MAKEFILE)
    for number in range(4):
        (ROOM / f"{number}.bin").write_bytes(b"n" * (1000 + number))
    for letter in "abc":
        (ROOM / f"{letter}.in").write_bytes(b"x")
    (ROOM / "list").write_text("".join(f"{number % 4}.bin\n" for number in range(6)))


def record(name: str, command: list[str]) -> None:
    """Run a command under strace; keep the log, and what it printed if that is JSON."""
    prepare()
    run = subprocess.run(
        [*STRACE, *command], cwd=ROOM, check=True, stdout=subprocess.PIPE, text=True
    )
    keep(name, json.loads(run.stdout) if run.stdout.startswith("{") else None)


def record_server(name: str) -> None:
    """Run a server under strace, and be its client."""
    prepare()
    before = Path.cwd()
    os.chdir(ROOM)
    known = servers.serve(name, [*STRACE, "env", f"HOME={ROOM}", f"PATH={PATH}"])
    os.chdir(before)
    keep(name, known)


def keep(name: str, known: dict | None) -> None:
    """Keep the log, and what is known."""
    if known:
        (HERE / f"{name}.json").write_text(json.dumps(known) + "\n")
    log = HERE / f"{name}.strace.zst"
    text = (ROOM / "log.strace").read_bytes().replace(os.fsencode(sys.base_prefix), b"/opt/python")
    subprocess.run(["zstd", "-19", "-q", "-f", "-o", log], input=text, check=True)


if __name__ == "__main__":
    for program, method in PROGRAMS:
        record(f"{program}_{method}", [*PYTHON, program, method])
    for name, command in COMMANDS.items():
        record(name, command)
    for backend in ("loky", "multiprocessing"):
        record(f"joblib_{backend}", [sys.executable, "-I", "servers.py", backend])
    for server in servers.COMMANDS:
        record_server(server)
    shutil.rmtree(ROOM)
