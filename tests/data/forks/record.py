"""Record the logs in this folder, and what the same program measures when it is not traced.

Needs strace and the command zstd. `record.py` writes `*.strace.zst` and `untraced.json`.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RUNS = {"fork": (200, 8), "vfork": (200, 8), "posix_spawn": (200, 8)}


def run(mode: str, before: list[str]) -> dict[str, object]:
    """Run the program, perhaps under a tracer, and give what it printed."""
    arguments = [mode, *map(str, RUNS[mode])]
    # The program's own start-up would be most of the log.
    command = [*before, sys.executable, "-S", "-E", str(HERE / "program.py"), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Record each way to start a process."""
    untraced = {mode: run(mode, []) for mode in RUNS}
    (HERE / "untraced.json").write_text(json.dumps(untraced, indent=1) + "\n")
    for mode in RUNS:
        log = HERE / f"{mode}.strace"
        run(mode, ["strace", "-f", "-ttt", "-T", "-o", str(log)])
        text = log.read_text().replace(str(HERE), "/srv/forks").replace(sys.prefix, "/usr")
        # The interpreter that the virtual environment is made from may live in a home.
        text = text.replace(str(Path.home() / ".pyenv"), "/opt/python3")
        log.write_text(text)
        subprocess.run(["zstd", "-q", "-19", "--rm", "-f", str(log)], check=True)


if __name__ == "__main__":
    main()
