"""Print all hook points of one call, and what each of them tells."""

from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.paragraph import wrap
from tracefast.quantities import plural

_PROSE_WIDTH: Final = 100
_LABEL_WIDTH: Final = 13
_TELLS_INDENT: Final = " " * 4


def print_explained_call(rows: pl.DataFrame, request: Request, *, call: str) -> None:
    """Print the hook points of a call.

    Parameters
    ----------
    rows
        Its rows in the table of hooks: one for each log.
    request
        What was asked for.
    call
        Its name.

    Raises
    ------
    CommandError
        No log has such a call.
    """
    if rows.is_empty():
        raise CommandError(f"--explain {call}: no such call in the log", "tracefast hooks LOG")
    terminal = is_terminal_table(Format.TABLE, request.output)
    text = render(rows.row(0, named=True), terminal_width() if terminal else _PROSE_WIDTH)
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(row: dict[str, Any], width: int) -> str:
    """Write the hook points of a row of the table."""
    lines = [_head(row), "", *_points(row, width)]
    if row["functions"]:
        lines += ["", "Functions of the kernel, from the outside inwards:"]
        name = None
        for probe in row["functions"]:
            if probe["name"] != name:
                name = probe["name"]
                lines.append(f"  {name}{_versions(probe)}")
            lines += _wrapped(f"{probe['probe']:<9} {probe['tells']}", width, _TELLS_INDENT)
    return "\n".join(lines) + "\n"


def _head(row: dict[str, Any]) -> str:
    text = f"{printable(row['name'])}: {plural(row['calls'], 'call')}"
    if row["errors"]:
        text += f", {plural(row['errors'], 'error')}"
    if row["total_ns"] is not None:
        text += f", {units.duration(row['total_ns'])}"
    if row["events_per_s"] is not None:
        text += f"; both tracepoints: {units.count(round(row['events_per_s']))} events per second"
    return text


def _points(row: dict[str, Any], width: int) -> Iterator[str]:
    tracepoints = [row["tracepoint_enter"], row["tracepoint_exit"]]
    sure = " (not known whether the kernel has them)" if row["available"] == "unknown" else ""
    points = (
        ("tracepoints", "  ".join(filter(None, tracepoints)) + sure),
        ("arrives at", row["wrapper"]),
        ("sets off", "  ".join(row["related"])),
        ("missing", row["why"]),
    )
    for label, text in points:
        if text:
            indent = " " * _LABEL_WIDTH
            yield from wrap(printable(text), width, first=f"{label:<{_LABEL_WIDTH}}", rest=indent)


def _versions(probe: dict[str, str | None]) -> str:
    since, until = probe["since"], probe["until"]
    parts = [f"from {since}"] if since else []
    parts += [f"to {until}"] if until else []
    return f" ({', '.join(parts)})" if parts else ""


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return wrap(text, width, first=indent, rest=indent + " " * 10)
