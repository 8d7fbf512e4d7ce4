"""Record the same build several times, with and without a useless include folder: record.py.

It needs strace, zstd and gcc; it works in /srv/build, which it makes and removes.
"""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = Path("/srv/build")
STRACE = ["strace", "-f", "-ttt", "-T", "-y", "-s", "16"]
# No settings of this machine or user.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/srv/build", "LC_ALL": "C.UTF-8"}
PARTS = range(1, 13)
RUNS = range(1, 5)
OLD = ["-Ilegacy", "-Iinclude"]
NEW = ["-Iinclude"]


def main() -> None:
    """Record two groups of runs of the old build, and one of the new build, in turn."""
    shutil.rmtree(BUILD, ignore_errors=True)
    (BUILD / "legacy").mkdir(parents=True)
    (BUILD / "include").mkdir()
    for part in PARTS:
        (BUILD / "include" / f"part{part}.h").write_text(f"#define PART{part} {part}\n")
    lines = [f'#include "part{part}.h"\n' for part in PARTS]
    (BUILD / "main.c").write_text("".join([*lines, "int main(void) { return PART1; }\n"]))
    # The first run fills the page cache.
    run(OLD, BUILD / "first.strace")
    for number in RUNS:
        for name, folders in (("old", OLD), ("again", OLD), ("new", NEW)):
            log = BUILD / f"{name}-{number}.strace"
            run(folders, log)
            kept = HERE / f"{log.name}.zst"
            subprocess.run(["zstd", "-q", "-19", "-f", log, "-o", kept], check=True)
    shutil.rmtree(BUILD)


def run(folders: list[str], log: Path) -> None:
    """Preprocess main.c under strace."""
    command = ["gcc", "-E", *folders, "-o", "main.i", "main.c"]
    subprocess.run([*STRACE, "-o", log, *command], cwd=BUILD, env=ENVIRONMENT, check=True)


if __name__ == "__main__":
    main()
