"""Which share of a log's lines leaves the parser's fast path, for the logs of the tests and others.

``detours.py [LOG or FOLDER …]`` prints a table. What is common in real logs must not be in it: a
line that leaves the fast path takes several times as long.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import programs
from text_table import markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

DATA = programs.PROJECT / "tests" / "data"
SUFFIXES = {".strace", ".ftrace", ".log", ".txt"}
SHORT = 200
"""Logs with fewer lines are shown together."""


def logs_in(folder: Path) -> list[Path]:
    """Return the logs of a folder, compressed or not, without those made of unusual lines."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    plain = (path for path in found if "golden" not in path.parts)
    return [path for path in plain if path.with_suffix("").suffix + path.suffix in allowed()]


def allowed() -> set[str]:
    """Return the suffixes of logs, as `logs_in` sees them."""
    return {suffix + packed for suffix in SUFFIXES for packed in ("", ".zst")}


def unpacked(log: Path, folder: Path) -> Path:
    """Return the log, or its text in a folder if it is compressed."""
    if log.suffix != ".zst":
        return log
    path = folder / f"{len(list(folder.iterdir()))}-{log.stem}"
    with pa.input_stream(str(log), compression="zstd") as stream:
        path.write_bytes(stream.read())
    return path


def count(program: Path, logs: list[Path]) -> list[tuple[int, int]]:
    """Return lines, and those that leave the fast path, of each log."""
    with tempfile.TemporaryDirectory(prefix="detours-") as folder:
        plain = [str(unpacked(log, Path(folder))) for log in logs]
        done = subprocess.run([program, *plain], stdout=subprocess.PIPE, text=True, check=True)
    results = (json.loads(line) for line in done.stdout.splitlines())
    return [(result["lines"], result["detours"]) for result in results]


def table(
    logs: Iterable[Path], counts: Iterable[tuple[int, int]], places: Sequence[Path] = ()
) -> str:
    """Return Markdown: each log of some length, then all others, those with most detours first.

    Logs in one of the `places` are named as they are named there.
    """
    named, rest, others = [], [0, 0], 0
    for log, (lines, detours) in zip(logs, counts, strict=True):
        if lines >= SHORT:
            place = next((place for place in (DATA, *places) if log.is_relative_to(place)), None)
            name = log.relative_to(place) if place else log
            named.append((str(name), lines, detours))
        else:
            rest = [rest[0] + lines, rest[1] + detours]
            others += 1
    named.sort(key=lambda row: -row[2] / row[1])
    if others:
        named.append((f"{others} logs of fewer than {SHORT} lines", *rest))
    rows = [
        (name, f"{lines:,}", f"{detours:,}", f"{100 * detours / max(lines, 1):.2f}")
        for name, lines, detours in named
    ]
    return markdown(("log", "lines", "off the fast path", "per cent"), rows, left=1)


def main() -> int:
    """Count, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("logs", nargs="*", type=Path, help="logs and folders (tests/data)")
    parser.add_argument("--program", type=Path, help="counts them (built by cargo)")
    options = parser.parse_args()
    program = options.program or programs.bench("detours")
    if program is None:
        return 2
    logs = []
    for path in options.logs or [DATA]:
        logs += logs_in(path) if path.is_dir() else [path]
    print(table(logs, count(program, logs), [path for path in options.logs if path.is_dir()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
