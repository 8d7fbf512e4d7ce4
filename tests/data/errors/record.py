"""Record programs that search in vain, for the tests of errors: record.py; see README.md.

It needs strace, zstd, gcc, bash, dash and Python; it works in /srv/search, which it makes and
removes.
"""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = Path("/srv/search")
STRACE = ["strace", "-f", "-ttt", "-T", "-y", "-s", "16"]
# No settings of this machine or user.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(FOLDER), "LC_ALL": "C.UTF-8"}
PYTHONPATH = {"PYTHONPATH": f"{FOLDER}/first:{FOLDER}/second"}
# Each after what prepares it, which is not recorded.
PROGRAMS = {
    "import": (
        "mkdir -p second/tool;echo import tool.part >main.py; touch second/tool/{__init__,part}.py",
        ["/usr/bin/python3", "-S", "-B", "main.py"],
    ),
    "include": (
        "mkdir -p one two; echo 'int a;' > two/part.h; echo '#include \"part.h\"' > main.c",
        ["/usr/bin/gcc", "-Ione", "-Itwo", "-fsyntax-only", "main.c"],
    ),
    "path": ("true", ["/bin/sh", "-c", "true; uname > /dev/null; no-such-command; exit 0"]),
    "prefixes": ("mkdir -p a/b; touch a/b/c", ["/usr/bin/realpath", "a/b/c"]),
}


def main() -> None:
    """Record all."""
    for name, (prepare, program) in PROGRAMS.items():
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        subprocess.run(
            prepare, shell=True, executable="/bin/bash", cwd=FOLDER, env=ENVIRONMENT, check=True
        )
        log = FOLDER / f"{name}.strace"
        environment = ENVIRONMENT | (PYTHONPATH if name == "import" else {})
        # Otherwise the names of the terminal would be in the log.
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        command = [*STRACE, "-o", log, *program]
        subprocess.run(command, cwd=FOLDER, env=environment, check=True, **streams)
        kept = HERE / f"{log.name}.zst"
        subprocess.run(["zstd", "-q", "-19", "-f", log, "-o", kept], check=True)
    shutil.rmtree(FOLDER)


if __name__ == "__main__":
    main()
