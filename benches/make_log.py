"""Make a real log of a chosen size: ``make_log.py SIZE [--format ftrace]``; prints its path.

The log is recorded live where the machine allows that, for a bounded time, and grown from what was
recorded if that is too short; elsewhere it is grown from the log that ships with the project.
Either way it is kept in a cache folder, and made only once.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import pyarrow as pa

import grow
import live

PROJECT = Path(__file__).resolve().parents[1]
CACHE = PROJECT / "build" / "bench"
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}

BASE_BYTES = 160_000_000
"""Longest log recorded live: longer ones are grown, which is faster and takes less memory."""

FTRACE_SECONDS = 10.0
"""Longest recording with ftrace, which slows the workload down less: about 130 MB."""


def parse_size(text: str) -> int:
    """Return a size in bytes from text such as ``200MB`` or ``1.5GB`` (powers of ten).

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is no size.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?B?)", text.strip().upper())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 200MB or 1GB")
    unit = match[2] if match[2].endswith("B") or not match[2] else match[2] + "B"
    return int(float(match[1]) * UNITS[unit])


def show_size(size: int) -> str:
    """Return a size as :func:`parse_size` reads it, rounded to three digits."""
    for unit in ("GB", "MB", "KB"):
        # A log is a line shorter than was asked for: what rounds up to a unit is one.
        if size >= UNITS[unit] * 0.9995:
            return f"{size / UNITS[unit]:.3g}{unit}"
    return f"{size}B"


def bundled(kind: str) -> bytes:
    """Return the text of the log that ships with the project."""
    path = PROJECT / "tests" / "data" / f"demo.{kind}.zst"
    with pa.input_stream(str(path), compression="zstd") as stream:
        return stream.read()


def recorded(kind: str, size: int, folder: Path, seconds: float) -> bytes | None:
    """Return the text of a log recorded now or before, or None where that is not possible."""
    log = folder / f"{kind}-recorded.log"
    wanted = min(size, BASE_BYTES)
    # A recording that its time ended is shorter than wanted; it would be so again.
    if not log.exists() or log.stat().st_size < wanted // 2:
        part = log.with_suffix(".part")
        work = folder / "work"
        print(f"recording {kind} for at most {seconds:.0f} s ...", file=sys.stderr)
        try:
            if kind == "strace":
                live.record_strace(part, work, size=wanted, seconds=seconds)
            else:
                live.record_ftrace(part, work, seconds=min(seconds, FTRACE_SECONDS))
        except live.UnavailableError as reason:
            print(f"{reason}; growing the bundled log instead", file=sys.stderr)
            return None
        part.replace(log)
    return log.read_bytes()


def make_log(kind: str, size: int, folder: Path, *, source: str, seconds: float) -> Path:
    """Return the path of a log of a chosen kind and size, made unless it is in the cache.

    Parameters
    ----------
    kind
        ``"strace"`` or ``"ftrace"``.
    size
        Length in bytes; the log is shorter by less than a line.
    folder
        The cache.
    source
        ``"live"`` to record here if possible, ``"bundled"`` to grow the bundled log.
    seconds
        Longest time of a recording.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{source}-{show_size(size)}.log"
    if path.exists():
        return path
    base = recorded(kind, size, folder, seconds) if source == "live" else None
    if base is None:
        base = bundled(kind)
    part = path.with_suffix(".part")
    start = time.monotonic()
    copies = grow.grow(base, kind, size, part)
    part.replace(path)
    print(
        f"{path.name}: {copies} copies of a log of {show_size(len(base))},"
        f" {time.monotonic() - start:.1f} s",
        file=sys.stderr,
    )
    return path


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where a log comes from and where it is kept."""
    parser.add_argument("--dir", type=Path, default=CACHE, help="cache folder (build/bench)")
    parser.add_argument(
        "--source", choices=("live", "bundled"), default="live", help="record here, or grow"
    )
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="longest time of a recording (60)"
    )


def main() -> None:
    """Make a log and print its path."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("size", type=parse_size, help="such as 200MB or 1GB")
    parser.add_argument("--format", choices=("strace", "ftrace"), default="strace")
    add_options(parser)
    options = parser.parse_args()
    path = make_log(
        options.format,
        options.size,
        options.dir.resolve(),
        source=options.source,
        seconds=options.seconds,
    )
    print(path)


if __name__ == "__main__":
    main()
