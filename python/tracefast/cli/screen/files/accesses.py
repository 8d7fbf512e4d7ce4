"""Print the accesses of one file and, below the table, what they amount to."""

import shutil
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.result_table import filter_rows, print_table
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.units import duration
from tracefast.inputs.sources import STDIN
from tracefast.quantities import plural

if TYPE_CHECKING:
    from tracefast.analysis.files.access_patterns import AccessPattern

# What a table in text shows.
_MAIN: Final = (
    "n",
    "ts",
    "pid",
    "name",
    "access",
    "offset",
    "gap",
    "requested",
    "bytes",
    "dur_ns",
    "line",
)
# What narrow terminals do without, the first one first.
_SPARE: Final = ("requested", "pid", "gap", "dur_ns")
_MAX_WIDTH: Final = 100
# The patterns whose bytes were not moved, but requested or mapped.
_NOT_MOVED: Final = {"eof-probe": " requested", "mmap": " mapped"}


def print_accesses(rows: pl.DataFrame, events: pl.DataFrame, path: str, request: Request) -> None:
    """Print the accesses.

    Parameters
    ----------
    rows
        The accesses of the file.
    events
        The system calls that they are made of.
    path
        The path or paths of the file, as they were found.
    request
        What was asked for.
    """
    print_table(filter_rows(rows, request), request, main=_MAIN, spare=_SPARE)
    if request.form is Format.TABLE:
        write_bytes(f"{_summary(path, events, rows)}\n".encode(), STDIN)


def _summary(path: str, events: pl.DataFrame, rows: pl.DataFrame) -> str:
    from tracefast.analysis.files.access_patterns import access_patterns

    found = access_patterns(events, rows)
    lines = [f"\n{printable(path)}: {plural(rows.height, 'access', 'accesses')}"]
    if not found:
        lines[0] += ", nothing unusual found"
    width = min(shutil.get_terminal_size((_MAX_WIDTH, 0)).columns, _MAX_WIDTH)
    for pattern in found:
        text = f"{pattern.code}: {_evidence(pattern)}: {pattern.text}."
        lines += wrap(text, width, first="  ", rest="    ")
    return "\n".join(lines)


def _evidence(pattern: "AccessPattern") -> str:
    parts = [
        plural(pattern.count, "call"),
        plural(pattern.bytes, "byte") + _NOT_MOVED.get(pattern.code, ""),
    ]
    if pattern.ns is not None:
        parts.append(duration(pattern.ns))
    return ", ".join(parts)
