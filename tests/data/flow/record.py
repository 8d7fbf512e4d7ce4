"""Record train.py, phases.py, shared.c and small programs for the tests of flow; see README.md.

Usage: record.py [WHAT…], one of train, phases, shared and apps; all of them by default.

It needs strace, zstd, tar, gcc, git, sqlite3, make, and tracefs in /sys/kernel/tracing of Linux
6.16 or newer; it works in folders of these names in /srv, which it makes and removes.
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRACEFS = Path("/sys/kernel/tracing")
MARKS = HERE.parents[2] / "python" / "tracefast" / "marks.py"
STRACE = ["strace", "-f", "-ttt", "-T", "-yy", "-s", "16"]
# No settings of this machine or user.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/srv/apps/home", "LC_ALL": "C.UTF-8"}
GIT = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main"
MAKEFILE = r"out: mid\n\tcat mid mid > out\nmid: in\n\tsort in > mid\n"
# Each after what prepares it, which is not recorded.
APPS = {
    "tar": ("mkdir in; seq 1000 > in/a; seq 2000 > in/b", "tar -czf out.tar.gz in"),
    "gcc": ("printf 'int main(void){return 0;}' > main.c", "gcc -o main main.c"),
    "git": (f"{GIT} init -q .; seq 9 > a; {GIT} add a", f"{GIT} commit -q -m one"),
    "sqlite": (
        "seq 100 > in.csv",
        "sqlite3 out.db 'create table t(n)' '.import in.csv t' 'select count(*) from t'",
    ),
    "make": (
        f"seq 100 > in; printf '{MAKEFILE}' > Makefile",
        "make -s out",
    ),
}


def main(*wanted: str) -> None:
    """Record all, or what is wanted."""
    for record in (train, phases, shared, apps):
        if not wanted or record.__name__ in wanted:
            record()


def apps() -> None:
    """Record programs that everybody has."""
    for name, (prepare, command) in APPS.items():
        folder = Path("/srv/apps") / name
        shutil.rmtree(folder.parent, ignore_errors=True)
        (folder.parent / "home").mkdir(parents=True)
        folder.mkdir()
        subprocess.run(prepare, shell=True, cwd=folder, env=ENVIRONMENT, check=True)
        log = folder.parent / f"{name}.strace"
        program = ["sh", "-c", command]
        subprocess.run([*STRACE, "-o", log, *program], cwd=folder, env=ENVIRONMENT, check=True)
        keep(log)
    shutil.rmtree("/srv/apps")


def train() -> None:
    """Record the run of train.py, with the marks of this package and nothing else of it."""
    folder, environment = prepare(Path("/srv/train"))
    shutil.copy(HERE / "train.py", folder / "train.py")
    program = ["/usr/bin/python3", "-S", "train.py"]
    data = folder / "data"
    data.mkdir()
    subprocess.run([*program, "prepare", data], cwd=folder, env=environment, check=True)
    log = folder / "train.strace"
    command = [*STRACE, "-o", log, *program, "run", data]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    keep(log)
    shutil.rmtree(folder)


def prepare(folder: Path) -> tuple[Path, dict[str, str]]:
    """Make a folder with the marks of this package; give it, and the environment to run in."""
    shutil.rmtree(folder, ignore_errors=True)
    package = folder / "lib" / "tracefast"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(MARKS.read_text())
    return folder, {**ENVIRONMENT, "PYTHONPATH": str(package.parent)}


def phases() -> None:
    """Record phases.py with strace, and with ftrace, which shows only the marker."""
    folder, environment = prepare(Path("/srv/phases"))
    shutil.copy(HERE / "phases.py", folder / "phases.py")
    (folder / "data").write_text("1\n" * 100)
    program = ["/usr/bin/python3", "-SB", "phases.py", "data"]
    both(folder, "phases", program, environment)
    shutil.rmtree(folder)


def shared() -> None:
    """Record shared.c with strace and with ftrace."""
    folder, environment = prepare(Path("/srv/shared"))
    subprocess.run(["gcc", "-O2", "-o", folder / "shared", HERE / "shared.c"], check=True)
    both(folder, "shared", ["./shared"], environment)
    shutil.rmtree(folder)


def both(folder: Path, name: str, program: list[str], environment: dict[str, str]) -> None:
    """Record a program with strace, and with all events of system calls of ftrace."""
    log, output = folder / f"{name}.strace", folder / "output"
    with output.open("w") as to:
        command = [*STRACE, "-o", log, *program]
        subprocess.run(command, cwd=folder, env=environment, stdout=to, check=True)
    keep(log)
    instance = TRACEFS / "instances" / f"tracefast-{name}"
    instance.mkdir()
    try:
        for option in ("event-fork", "copy_trace_marker"):
            (instance / "options" / option).write_text("1")
        (instance / "buffer_size_kb").write_text("8192")
        (instance / "events" / "syscalls" / "enable").write_text("1")
        shell = f"echo $$ > {instance}/set_event_pid; exec {' '.join(program)}"
        with output.open("w") as to:
            command = ["sh", "-c", shell]
            subprocess.run(command, cwd=folder, env=environment, stdout=to, check=True)
        (instance / "tracing_on").write_text("0")
        log = folder / f"{name}.ftrace"
        log.write_bytes((instance / "trace").read_bytes())
    finally:
        instance.rmdir()
    keep(log)


def keep(log: Path) -> None:
    """Put a log beside this script, compressed."""
    kept = HERE / f"{log.name}.zst"
    subprocess.run(["zstd", "-q", "-19", "-f", log, "-o", kept], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
