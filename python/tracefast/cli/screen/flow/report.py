"""Print what a run read, made and left, and along which way the data went."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.pictures.flow.graph import Graph, Group, graph_of
from tracefast.cli.screen.flow.gaps import gap_lines
from tracefast.cli.screen.matching import NOTHING_MATCHES
from tracefast.cli.system.colours import with_bold_heading
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import GAP, align
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.shorten import cut_middle
from tracefast.cli.text.width import cells as text_width
from tracefast.quantities import plural

Row = dict[str, Any]

_LINES: Final = 40
_PROSE_WIDTH: Final = 100
# More than anybody reads; files that are alike are one node below that.
_MOST: Final = 400
_MIN_NAME: Final = 14
# Roles whose files are listed, with the words before them.
_LISTED: Final = {
    "result": ("Results", "written by"),
    "intermediate": ("Intermediate files", "written by"),
    "log": ("Logs", "written by"),
    "scratch": ("Scratch files", "written by"),
}
_NOUNS: Final = {
    "input": ("input", "inputs"),
    "intermediate": ("intermediate file", "intermediate files"),
    "result": ("result", "results"),
    "log": ("log", "logs"),
    "scratch": ("scratch file", "scratch files"),
}


def print_flow_report(
    edges: pl.DataFrame,
    roles: pl.DataFrame,
    request: Request,
    *,
    gaps: Iterable[str],
    chosen: bool = False,
) -> None:
    """Print the report.

    Parameters
    ----------
    edges, roles
        The tables.
    request
        What was asked for: where to, how many lines.
    gaps
        What the logs lack.
    chosen
        Only some of the edges are wanted.
    """
    terminal = is_terminal_table(Format.TABLE, request.output)
    width = terminal_width() if terminal else None
    most = request.top
    if most is None:
        most = max(screen_rows(0) // 2, 8) if terminal else _LINES
    text = render(edges, roles, gaps=gaps, width=width, top=most or _MOST, chosen=chosen)
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(
    edges: pl.DataFrame,
    roles: pl.DataFrame,
    *,
    gaps: Iterable[str],
    width: int | None,
    top: int,
    chosen: bool = False,
) -> str:
    """Write the report; at most `top` lines for each list.

    Parameters
    ----------
    edges, roles, gaps, chosen
        As for `print_flow_report`.
    width
        The width of the terminal; None for no limit.
    top
        Lines of each list.
    """
    graph = graph_of(edges, roles, code=False, nodes=_MOST, most_lines=_MOST)
    parts = [gap_lines(gaps, width), _summary(roles, graph, width), _lines(graph, width, top)]
    parts += [_files(roles, role, graph.logs, width, top) for role in _LISTED]
    parts = [part for part in parts if part]
    if not parts:
        return NOTHING_MATCHES if chosen else "Nothing was read or written.\n"
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _summary(roles: pl.DataFrame, graph: Graph, width: int | None) -> list[str]:
    """Say how many files of each role there are."""
    counts = dict(roles.group_by("role").len().iter_rows())
    words = [plural(counts[role], *nouns) for role, nouns in _NOUNS.items() if counts.get(role)]
    text = [", ".join(words)] if words else []
    return [line for note in text + graph.notes for line in wrap(note, width or _PROSE_WIDTH)]


def _name(group: Group) -> str:
    """Name a node in a line."""
    if group.count > 1:
        return f"{group.label} ({group.below})"
    if group.kind == "process":
        return f"{group.label} {group.below.removeprefix('pid ')}".strip()
    if group.kind in {"file", "shm"} and group.names:
        return group.names[0]
    return group.label


def _lines(graph: Graph, width: int | None, top: int) -> list[str]:
    """Write what went between which nodes, the most first."""
    if not graph.lines:
        return []
    cells = [["bytes", "how", "from", "", "to", "log"]]
    order = sorted(graph.lines, key=lambda line: -(line.bytes + (line.back or 0)))
    for line in order[:top]:
        source, target = graph.groups[line.source], graph.groups[line.target]
        hows = _hows(line.hows)
        size = units.size(line.bytes) if line.bytes or line.back is not None else "-"
        log = source.log or ""
        cells.append([size, hows, _name(source), "→", _name(target), log])
        if line.back is not None:
            hows = _hows(line.back_hows)
            back = [units.size(line.back), hows, _name(target), "→", _name(source), log]
            cells.append(back)
    lines = _fitted(cells, (2, 4, 5), width) if graph.logs else _fitted(_rest(cells), (2, 4), width)
    return [*lines, *_more(len(graph.lines), top)]


def _rest(cells: list[list[str]]) -> list[list[str]]:
    """Leave out the last column, which says which log."""
    return [row[:-1] for row in cells]


def _hows(hows: set[str]) -> str:
    """Say how data went; that a file was made says less than that it was written."""
    return ", ".join(sorted(hows - {"create"} or hows))


def _files(
    roles: pl.DataFrame, role: str, logs: dict[str | None, str], width: int | None, top: int
) -> list[str]:
    """Write the files of a role, and who made them."""
    rows = roles.filter(pl.col("role") == role).sort("ts_written", nulls_last=True)
    if rows.is_empty():
        return []
    heading, words = _LISTED[role]
    cells = [[heading, words, "read by", "log"]]
    for row in rows.head(top).rows(named=True):
        note = " (removed)" if row["removed"] and role == "intermediate" else ""
        path = printable(row["path"]) + note
        log = logs.get(row["source"], "")
        cells.append([path, _few(row["writers"]), _few(row["readers"]), log])
    cells = cells if logs else _rest(cells)
    return [*_fitted(cells, range(len(cells[0])), width), *_more(rows.height, top)]


def _few(names: list[str]) -> str:
    shown = ", ".join(printable(name) for name in names[:2]) or "-"
    return shown if len(names) <= 2 else f"{shown}, +{len(names) - 2:,}"  # noqa: PLR2004


def _fitted(cells: list[list[str]], long: Sequence[int], width: int | None) -> list[str]:
    """Align cells; of those that are long, the middles are cut until a line fits."""
    if width is not None:
        widths = [max(map(text_width, column)) for column in zip(*cells, strict=True)]
        rest = width - sum(w for at, w in enumerate(widths) if at not in long)
        rest -= len(GAP) * (len(widths) - 1)
        limits = _shares([widths[at] for at in long], rest)
        limit = dict(zip(long, limits, strict=True))
        cells = [
            [cut_middle(cell, limit[at]) if at in limit else cell for at, cell in enumerate(row)]
            for row in cells
        ]
    right = [0] if 0 not in long else []
    return with_bold_heading(align(cells, right=right), width)


def _shares(wanted: list[int], room: int) -> list[int]:
    """Share room: who wants less than an equal share leaves the rest to the others."""
    limits = [0] * len(wanted)
    left, rest = room, len(wanted)
    for at in sorted(range(len(wanted)), key=lambda at: wanted[at]):
        limits[at] = max(min(wanted[at], left // rest), _MIN_NAME)
        left, rest = left - limits[at], rest - 1
    return limits


def _more(rows: int, top: int) -> list[str]:
    return [f"{rows - top:,} more; --top 0 prints all"] if rows > top else []
