"""Cut seeds for the fuzz targets out of logs.

    python3 rust/reference/fuzz/seeds.py LOGS [--corpus rust/reference/fuzz/corpus] [--most 400]

LOGS is a folder; every ``*.log``, ``*.trace`` and ``*.ftrace`` below it is read. Of lines that look
alike once numbers, strings and names are taken away, one is kept: logs repeat themselves, grammars
do not. Each target gets what its input looks like; the seeds of ``fuzz/seeds`` and the
captures of ``tests/data`` are always among them.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What logs are named.
SUFFIXES = {".log", ".trace", ".ftrace"}

#: Longer lines teach a fuzzer nothing that shorter ones do not.
LONGEST = 1000

#: Lines around one that is kept, so that halves and continuations come along.
AROUND = 6

#: Bytes in front of the text that a target takes from its input (`rust/reference/src/checks`).
PREFIX = {"accounting": b"", "pipeline": b"\x07\x02\x00", "blocks": b"\x28\x00"}

#: The same for a log of ftrace, which `split` cannot tell.
PREFIX_FTRACE = PREFIX | {"blocks": b"\x28\x10"}

#: Leaders, and the bytes with which `strace_lines` chooses them (`src/made/strace.rs`).
LEADERS = [
    (re.compile(rb"\[pid +\d+(<.*?>)?\] "), 0, 2),
    (re.compile(rb"\d+(<.*?>)? +(?=\D|\d+:|\d{9})"), 0, 0),
    (re.compile(rb"\d{9,}\.\d+ \(\+"), 1, 4),
    (re.compile(rb"\d\d:\d\d:\d\d(\.\d+)? \(\+"), 1, 5),
    (re.compile(rb"\d\d:\d\d:\d\d(\.\d+)? "), 1, 2),
    (re.compile(rb"\d{9,}\.\d+ "), 1, 0),
    (re.compile(rb" *\d+\.\d+ "), 1, 3),
]


def shape(line: bytes) -> bytes:
    """Take from a line its numbers, strings and names.

    Examples
    --------
    >>> shape(b'7 read(3, "abc", 9) = 3 <0.1>') == shape(b'81 write(4, "", 1) = 22 <0.9>')
    True
    """
    line = re.sub(rb'"(?:[^"\\]|\\.)*"', b'"', line)
    return re.sub(rb"[A-Za-z0-9_.]+", b"a", line)


def pieces(text: bytes, seen: set[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Lines of a shape not seen before, and each with its neighbours.

    Yields
    ------
    tuple of bytes
        The line without its line feed, and the lines around it.
    """
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        if not line or len(line) > LONGEST:
            continue
        form = shape(line)
        if form in seen:
            continue
        seen.add(form)
        around = lines[max(number - AROUND, 0) : number + AROUND]
        yield line, b"\n".join(one for one in around if len(one) <= LONGEST) + b"\n"


def choices(line: bytes) -> bytes:
    """Give the bytes with which `grammar` takes a line as it is, in a log of lines like it."""
    chosen = [1, 1]
    rest = line
    for pattern, place, choice in LEADERS:
        if (found := pattern.match(rest)) and chosen[place] == 1:
            chosen[place] = choice
            # Times are looked for behind the task.
            rest = rest[found.end() :] if place == 0 else rest
    day = b"\0" if chosen[1] in {2, 5} else b""
    times = b"\3" if re.search(rb"<\d+\.\d+>$", line) else b"\0"
    return bytes(chosen) + b"\0" + day + b"\0" + b"\0\0\0" + times + b"\0\x07"


def strings(line: bytes) -> Iterator[bytes]:
    """Texts between quotes that hold escapes."""
    for found in re.finditer(rb'"((?:[^"\\]|\\.)*\\(?:[^"\\]|\\.)*)"', line):
        yield found[1]


def write(folder: Path, data: bytes) -> None:
    """Write a seed under the name that libFuzzer would give it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


def strace_seeds(corpus: Path, line: bytes) -> None:
    """Write the seeds of targets that take a line of strace, or of what is in one."""
    write(corpus / "strace_lines", choices(line) + line)
    write(corpus / "strace_arguments", line)
    # Its bytes are choices: any will do.
    write(corpus / "strace_halves", hashlib.sha512(line).digest())
    for text in strings(line):
        write(corpus / "strace_escapes", text)


def ftrace_seeds(corpus: Path, line: bytes) -> None:
    """Write the seeds of targets that take a line of ftrace, or of what is in one."""
    # Any layout, no changes, the line itself.
    write(corpus / "ftrace_headers", b"\0\0\x07" + line)
    # Their bytes are choices: any will do.
    for target in ("ftrace_logs", "ftrace_functions", "ftrace_calls"):
        write(corpus / target, hashlib.sha512(line).digest())
    if named := re.search(rb": (\w+): (.*)", line):
        write(corpus / "ftrace_fields", b"\n".join(named.groups()))


def main(argv: list[str] | None = None) -> int:
    """Run the command; gives its exit code."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("logs", type=Path, nargs="?", help="folder of logs")
    parser.add_argument("--corpus", type=Path, default=here / "corpus")
    parser.add_argument("--most", type=int, default=2000, help="lines to keep (default: 2000)")
    options = parser.parse_args(argv)
    files = sorted((here / "seeds").iterdir())
    data = here.parents[2] / "tests" / "data"
    for captures in ("ftrace", "events"):
        files += sorted((data / captures).glob("*.ftrace"))
    if options.logs is not None:
        if not options.logs.is_dir():
            parser.error(f"{options.logs}: not a folder")
        found = (path for path in options.logs.rglob("*") if path.suffix in SUFFIXES)
        # In an order that mixes folders, of which each has logs of one kind.
        files += sorted(found, key=lambda path: hashlib.sha256(bytes(path)).digest())
    seen: set[bytes] = set()
    kept = 0
    for path in files:
        ftrace = path.suffix == ".ftrace"
        for line, around in pieces(path.read_bytes(), seen):
            if kept >= options.most:
                break
            kept += 1
            for target, prefix in (PREFIX_FTRACE if ftrace else PREFIX).items():
                write(options.corpus / target, prefix + around)
            (ftrace_seeds if ftrace else strace_seeds)(options.corpus, line)
    sys.stderr.write(f"{kept} lines of {len(files)} files\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
