"""Pages that show commands and what they print: `make pages` runs them and updates the output.

A command of a page is a line `$ tracefast …` of a block `console`. What it printed follows,
up to the next command; if nothing follows, the output is not shown.
"""

import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import terminals

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
# The names of logs on the pages.
LOGS = {
    "app.ftrace": DATA / "spawn" / "spawn.ftrace",
    "app.strace": DATA / "spawn" / "spawn.strace",
    "demo.strace": DATA / "spawn" / "spawn.strace",
    "grow.strace": DATA / "starting" / "grow.strace.zst",
    "subprocess.strace": DATA / "starting" / "subprocess_python37.strace.zst",
    "train.strace": DATA / "flow" / "train.strace.zst",
    "trace.txt": DATA / "demo.ftrace.zst",
}
COLUMNS = 100
# The command without its bar of progress: on a busy machine it would show at once.
_COMMAND_ITSELF = """\
import sys
from tracefast.cli import main
from tracefast.cli.messages import progress
progress._DELAY_S = 3600
sys.argv[0] = "tracefast"
main()
"""
_PROGRAM = re.compile(r"^```python\n", re.MULTILINE)
_COMMAND = re.compile(r"^\$ tracefast ", re.MULTILINE)
# Pages that show what goes into a pipe; all others show a terminal.
PIPED = ("README.md", "docs/forks.md", "docs/ftrace.md")
# These have their own tests and logs; the code on the page about design is not for running. They
# are updated only when they are named.
ELSEWHERE = {"README.md"} | {
    f"docs/{name}.md" for name in ("batch", "cli", "design", "files", "forks", "ftrace")
}


def names() -> list[str]:
    """Give the names of all pages with commands or Python that can be run."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [
        page for page in pages if _COMMAND.search(text := page.read_text()) or _PROGRAM.search(text)
    ]
    return [str(page.relative_to(ROOT)) for page in found]


def usual() -> list[str]:
    """Give the names of the pages that use `LOGS`."""
    return [page for page in names() if page not in ELSEWHERE]


def blocks(text: str, language: str) -> list[str]:
    """Give the blocks of code of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def program(page: str) -> str:
    """Give the Python of a page: all its blocks are one program, as in a notebook.

    It is empty where the page has none, or one that needs what is not installed.
    """
    text = "\n".join(blocks((ROOT / page).read_text(), "python"))
    needed = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    return text if all(map(find_spec, needed)) else ""


def lay_out(folder: Path) -> Path:
    """Put the logs of the pages into a folder, beside a link to the bundled ones."""
    for name, log in LOGS.items():
        (folder / name).symlink_to(log)
    (folder / "tests").symlink_to(ROOT / "tests")
    return folder


def piped(line: str, folder: Path) -> str:
    """Run a line of the shell, and give what it writes to standard output."""
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{line}\n{run.stderr}"
    return run.stdout


def on_terminal(line: str, folder: Path) -> str:
    """Run a line of the shell on a terminal, and give what it shows there."""
    command = ["bash", "-o", "pipefail", "-c", line]
    return terminals.shown(command, cwd=folder, env=_environment(folder))


def updated(page: str, folder: Path) -> tuple[str, int]:
    """Give a page with what its commands print now, and how many commands were run."""
    run = piped if page in PIPED else on_terminal
    ran = 0

    def command(found: re.Match[str]) -> str:
        nonlocal ran
        line, shown = found[1], found[2]
        programs = [part.split()[0] for part in line.split(" | ")]
        if programs[0] != "tracefast" or not all(map(which, programs[1:])):
            return found[0]
        ran += 1
        printed = run(line, folder)
        return f"$ {line}\n" + (printed if shown.strip() else shown)

    def block(found: re.Match[str]) -> str:
        text = re.sub(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", command, found[1], flags=re.MULTILINE)
        return f"```console\n{text}```"

    text = (ROOT / page).read_text()
    return re.sub(r"^```console\n(.*?)^```", block, text, flags=re.MULTILINE | re.DOTALL), ran


def _environment(folder: Path) -> dict[str, str]:
    command = folder / ".bin" / "tracefast"
    if not command.exists():
        command.parent.mkdir(exist_ok=True)
        command.write_text(f"#!{sys.executable}\n{_COMMAND_ITSELF}")
        command.chmod(0o755)
    return {
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "COLUMNS": str(COLUMNS),
        "LINES": "30",
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }


def main() -> None:
    """Update what commands print, on the named pages or on the usual ones."""
    for page in sys.argv[1:] or usual():
        with tempfile.TemporaryDirectory() as folder:
            text, ran = updated(page, lay_out(Path(folder)))
        changed = text != (ROOT / page).read_text()
        (ROOT / page).write_text(text)
        print(f"{page}: {ran} commands{', changed' if changed else ''}")


if __name__ == "__main__":
    main()
