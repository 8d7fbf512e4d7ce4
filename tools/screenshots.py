"""Pictures of what commands show on a terminal, made from the demo log: `make screenshots`.

The output of each command, colours included, goes through rich, which draws SVG. The same log and
the same code give the same bytes.
"""

import re
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

import pages

FOLDER = pages.ROOT / "docs" / "screenshots"
PICTURES = {
    "files": "tracefast files demo.parquet --match '/srv/*' --type regular --top 8",
    "explain": "tracefast files demo.parquet --explain '*/0019.img' --top 8",
    "forks": "tracefast forks demo.parquet --top 5",
    "processes": "tracefast processes demo.parquet --tree",
    "syscalls": "tracefast syscalls demo.parquet --top 10",
    "events": "tracefast events demo.ftrace --top 10",
    "blocks": "tracefast blocks reader.ftrace",
    "joined": "tracefast files both.parquet --match '*/reads.bin'",
}
# A page, which Debian's chromium opens.
REPORT = "report"
# What the commands read, by its name in the pictures.
_LOGS = {
    "demo.strace": "demo.strace.zst",
    "demo.ftrace": "demo.ftrace.zst",
    "reader.ftrace": "page-cache/rand.ftrace.zst",
    "reads.strace": "join/reads.strace.zst",
    "reads.ftrace": "join/reads.ftrace.zst",
}
# rich names a font that browsers would fetch; any font of one width will do.
_FONTS = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)
_FAMILY = "'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace"


def drawn(name: str, folder: Path) -> str:
    """Give the picture of a command, as SVG.

    Parameters
    ----------
    name
        Which one of `PICTURES`.
    folder
        Where the logs lie, as `lay_out` puts them.
    """
    # The terminal is dumb: a slow machine shows no progress bar there.
    shown = pages.on_terminal(f"export FORCE_COLOR=1; {PICTURES[name]}", folder)
    line = (f"$ {PICTURES[name]}\n", "bold")
    # The space below the last line is too small for descenders and "_".
    text = Text.assemble(line, Text.from_ansi(shown.rstrip("\n")), "\n")
    # One more column, because viewers differ in the width of letters.
    width = max(map(len, text.plain.splitlines())) + 1
    console = Console(
        record=True, width=width, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(text, soft_wrap=True)
    command = " ".join(PICTURES[name].split()[:2])
    svg = console.export_svg(title=command, unique_id=f"tracefast-{name}")
    svg = _FONTS.sub("", svg).replace("Fira Code, monospace", _FAMILY)
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE).rstrip("\n") + "\n"


def lay_out(folder: Path) -> Path:
    """Put the logs of the pictures into a folder."""
    for name, log in _LOGS.items():
        (folder / name).symlink_to(pages.DATA / log)
    pages.on_terminal("tracefast parse -q demo.strace -o demo.parquet", folder)
    pages.on_terminal("tracefast join -q reads.strace reads.ftrace -o both.parquet", folder)
    return folder


def photographed(folder: Path) -> bytes:
    """Give the first panels of the report of the demo log, as PNG."""
    from playwright.sync_api import sync_playwright

    import tracefast as tf

    page_file = folder / "report.html"
    tf.report(tf.scan(folder / "demo.parquet")).write(page_file)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 1900})
        page.goto(page_file.as_uri())
        page.wait_for_selector("body[data-ready]", state="attached")
        picture = page.screenshot()
        browser.close()
    return picture


def main() -> None:
    """Draw all pictures, or the named ones."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        for name in sys.argv[1:] or [*PICTURES, REPORT]:
            if name == REPORT:
                (FOLDER / f"{name}.png").write_bytes(photographed(Path(folder)))
                print(f"docs/screenshots/{name}.png")
                continue
            (FOLDER / f"{name}.svg").write_text(drawn(name, Path(folder)))
            print(f"docs/screenshots/{name}.svg")


if __name__ == "__main__":
    main()
