"""Processes as a tree: who made whom, and what matters at each."""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.write import deliver, on_terminal, terminal_width
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable

# Processes alike from which on they are one line.
_SAME: Final = 3
# Depth behind which lines are indented no further, but say how deep they are.
_DEEP: Final = 32
_MIN_NAME: Final = 16
_PADDED: Final = 100
_GAP: Final = "  "
_ABSENT: Final = "-"
_HEADER: Final = (
    "process",
    "pid",
    "kind",
    "lifetime",
    "threads",
    "calls",
    "read",
    "written",
    "end",
)
# What a terminal goes without first, if names have less room than this.
_SPARE: Final = ("threads", "kind", "calls", "written", "read", "lifetime")
_ROOM: Final = 24
# What of the place in the tree is added to that, at most.
_PLACE: Final = 15
# How a line says how deep it is.
_DEPTH: Final = len("[100] ")
_STEP: Final = 3
# What is no part of a name: how many of them there are, how deep they are.
_BEFORE: Final = re.compile(r"(\[[0-9]+\] )?([0-9,]+ (\N{MULTIPLICATION SIGN}|x) )?")
# Columns of text; all others are numbers, and stand at the right.
_TEXT: Final = ("process", "kind", "end")

Row = dict[str, Any]
Line = list[tuple[str, str]]


@dataclass(frozen=True)
class _Drawing:
    """The characters of which a tree is made."""

    child: str
    last: str
    down: str
    times: str
    ellipsis: str

    @property
    def blank(self) -> str:
        return " " * len(self.down)


_UNICODE: Final = _Drawing("├─ ", "└─ ", "│  ", "\N{MULTIPLICATION SIGN}", "…")
_ASCII: Final = _Drawing("|- ", "`- ", "|  ", "x", "...")


@dataclass
class _Node:
    """A process, and those that it made."""

    row: Row
    children: list["_Node"] = field(default_factory=list)
    # Equal for processes that look alike, with all that they made.
    shape: int = 0


@dataclass
class _Group:
    """Processes that are one line."""

    nodes: list[_Node]
    depth: int
    lead: str
    below: str


def show(table: pl.DataFrame, chosen: pl.DataFrame | None, request: Request) -> None:
    """Write the tree of processes.

    Parameters
    ----------
    table
        The table of processes, in order of their start.
    chosen
        Rows of the table: only these processes, and those that lead to them; None for all.
    request
        What was asked for: where to write, and whether each process is drawn, however many are
        alike.
    """
    output = request.output
    terminal = on_terminal(Format.TABLE, output)
    encoding = "utf-8" if output != "-" else (sys.stdout.encoding or "ascii")
    plain = not encoding.lower().replace("-", "").startswith("utf8")
    drawing = _ASCII if plain else _UNICODE
    logs = _logs(table, chosen)
    width = terminal_width() if terminal else None
    text, hidden = _drawn(logs, drawing, whole=request.wide, width=width, top=request.top or 0)
    deliver(text.encode(encoding, errors="replace"), output, clobber=request.clobber)
    if hidden and terminal:
        request.note(f"{hidden:,} more row{'s' if hidden > 1 else ''}; --top 0 prints all")


def render(
    table: pl.DataFrame,
    chosen: pl.DataFrame | None = None,
    *,
    whole: bool = False,
    width: int | None = None,
    plain: bool = False,
    top: int = 0,
) -> str:
    """Lay the tree of processes out as text.

    Parameters
    ----------
    table
        The table of processes, in order of their start.
    chosen
        Rows of the table: only these processes, and those that lead to them; None for all.
    whole
        Draw each process, however many are alike.
    width
        Columns of the terminal: names of programs are cut to fit; None for whole names.
    plain
        Draw in ASCII.
    top
        How many lines of processes there are at most; 0 for all.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.processes(tf.scan("demo.strace")).collect()
    >>> print(render(table).splitlines()[2])
    └─ /bin/true  101  vfork    1.0 ms        1      1      0 B      0 B  exit 0
    """
    logs = _logs(table, chosen)
    return _drawn(logs, _ASCII if plain else _UNICODE, whole=whole, width=width, top=top)[0]


def _logs(table: pl.DataFrame, chosen: pl.DataFrame | None) -> list[tuple[str, list[_Node]]]:
    """Give the logs, and the trees of each."""
    logs = []
    for source in table["source"].unique(maintain_order=True).to_list():
        rows = table.filter(pl.col("source").eq_missing(source)).to_dicts()
        roots = _forest(rows)
        if chosen is not None:
            own = chosen.filter(pl.col("source").eq_missing(source))
            roots = _leading_to(roots, set(own["task"]))
        logs.append((str(source), roots))
    return logs


def _drawn(
    logs: list[tuple[str, list[_Node]]],
    drawing: _Drawing,
    *,
    whole: bool,
    width: int | None,
    top: int,
) -> tuple[str, int]:
    """Lay the trees out; say how many lines are left out."""
    lines, titles = _all_lines(logs, drawing, alone=whole, deep=_DEEP)
    if width is not None:
        _, room = _narrowed(lines, width, drawing)
        names = [line[0][0] for line in lines]
        # The places in a deep tree are not worth that nothing is left of names.
        if any(len(name) > room < _place(name, drawing) + _MIN_NAME for name in names):
            deep = max((room - _MIN_NAME - _DEPTH) // _STEP, 1)
            lines, titles = _all_lines(logs, drawing, alone=whole, deep=deep)
    hidden = max(len(lines) - 1 - top, 0) if top else 0
    lines = lines[: len(lines) - hidden]
    at = _HEADER.index("lifetime")
    if any(line[at][1] for line in lines):
        lines[0][at] = (_HEADER[at], " (median)")
    return _aligned(lines, titles, width, drawing), hidden


def _all_lines(
    logs: list[tuple[str, list[_Node]]], drawing: _Drawing, *, alone: bool, deep: int
) -> tuple[list[Line], dict[int, str]]:
    """Give the lines of all logs, the header first, and what stands above some of them."""
    lines: list[Line] = [[(name, "") for name in _HEADER]]
    titles: dict[int, str] = {}
    for source, roots in logs:
        if len(logs) > 1:
            titles[len(lines)] = printable(source)
        lines += _lines(roots, drawing, alone=alone, deep=deep)
    return lines, titles


def _forest(rows: list[Row]) -> list[_Node]:
    """Hang each process below the one that made it."""
    nodes = {row["task"]: _Node(row) for row in rows}
    roots: list[_Node] = []
    for node in nodes.values():
        parent = nodes.get(node.row["parent_task"])
        (roots if parent is None else parent.children).append(node)
    # Whoever is not below a root is below itself: what no real log tells.
    seen = {id(node) for node in _below(roots)}
    for node in nodes.values():
        if id(node) not in seen:
            parent = nodes[node.row["parent_task"]]
            parent.children = [child for child in parent.children if child is not node]
            roots.append(node)
            seen.update(id(below) for below in _below([node]))
    return roots


def _below(roots: list[_Node]) -> Iterator[_Node]:
    """Give all processes, each before those that it made."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _leading_to(roots: list[_Node], tasks: set[int]) -> list[_Node]:
    """Keep the processes that are chosen, and those that lead to them."""
    kept = set()
    for node in reversed(list(_below(roots))):
        node.children = [child for child in node.children if id(child) in kept]
        if node.children or node.row["task"] in tasks:
            kept.add(id(node))
    return [root for root in roots if id(root) in kept]


def _shape(roots: list[_Node]) -> None:
    """Give equal numbers to processes of equal program, end, and looks of what they made."""
    numbers: dict[tuple[object, ...], int] = {}
    for node in reversed(list(_below(roots))):
        row = node.row
        below = frozenset(child.shape for child in node.children)
        look = (row["image"] or row["comm"], row["kind"], _end(row), below)
        node.shape = numbers.setdefault(look, len(numbers))


def _grouped(nodes: list[_Node], *, alone: bool) -> list[list[_Node]]:
    """Bring processes that look alike together, where the first of them stands."""
    many = Counter(node.shape for node in nodes)
    groups: dict[object, list[_Node]] = defaultdict(list)
    for node in nodes:
        together = not alone and many[node.shape] >= _SAME
        groups[node.shape if together else id(node), together].append(node)
    return list(groups.values())


def _lines(roots: list[_Node], drawing: _Drawing, *, alone: bool, deep: int) -> list[Line]:
    _shape(roots)
    lines = []
    waiting = [_Group(nodes, 0, "", "") for nodes in reversed(_grouped(roots, alone=alone))]
    while waiting:
        group = waiting.pop()
        lines.append(_line(group, drawing))
        below = _grouped([c for node in group.nodes for c in node.children], alone=alone)
        for last, nodes in zip((True, *(False,) * len(below)), reversed(below), strict=False):
            depth = group.depth + 1
            lead = group.below + (drawing.last if last else drawing.child)
            down = group.below + (drawing.blank if last else drawing.down)
            if depth > deep:
                lead, down = f"{group.below}[{depth}] ", group.below
            waiting.append(_Group(nodes, depth, lead, down))
    return lines


def _line(group: _Group, drawing: _Drawing) -> Line:
    """Give the cells of a line: for several processes sums, and in brackets medians."""
    rows = [node.row for node in group.nodes]
    first = rows[0]
    many = len(rows) > 1
    name = first["image"] or (first["comm"] and f"({first['comm']})") or "?"
    times = f"{len(rows):,} {drawing.times} " if many else ""
    pid = "" if many else _ABSENT if first["pid"] is None else str(first["pid"])
    return [
        (group.lead + times + printable(name), ""),
        (pid, ""),
        (first["kind"] or "", ""),
        _amount(rows, "lifetime_ns", units.duration),
        _amount(rows, "threads", units.count),
        _amount(rows, "calls", units.count),
        _amount(rows, "read_bytes", units.size),
        _amount(rows, "write_bytes", units.size),
        (_end(first), ""),
    ]


def _amount(rows: Sequence[Row], name: str, write: Callable[[int], str]) -> tuple[str, str]:
    known = sorted(row[name] for row in rows if row[name] is not None)
    if not known:
        return _ABSENT, ""
    median = known[(len(known) - 1) // 2]
    return write(sum(known)), f" ({write(median)})" if len(rows) > 1 else ""


def _end(row: Row) -> str:
    if row["exit_signal"] is not None:
        return printable(row["exit_signal"])
    return "" if row["exit_status"] is None else f"exit {row['exit_status']}"


def _aligned(
    lines: list[Line], titles: dict[int, str], width: int | None, drawing: _Drawing
) -> str:
    """Put the cells of all lines below each other."""
    names = [line[0][0] for line in lines]
    if width is not None:
        lines, room = _narrowed(lines, width, drawing)
        names = [_fitted(name, max(room, _MIN_NAME), drawing) for name in names]
    columns = len(lines[0])
    # One long name is not to widen all lines.
    column = min(max(map(len, names)), _PADDED if width is None else width)
    values = [column, *(_widest(lines, c, 0) for c in range(1, columns))]
    extras = [_widest(lines, c, 1) for c in range(columns)]
    header = [name for name, _ in lines[0]]
    out = []
    for at, (name, line) in enumerate(zip(names, lines, strict=True)):
        if at in titles:
            out.append(f"{titles[at]}\n")
        cells = [name.ljust(values[0])]
        for c in range(1, columns):
            text, extra = line[c]
            shown = text.ljust(values[c]) if header[c] in _TEXT else text.rjust(values[c])
            cells.append(shown + extra.ljust(extras[c]))
        out.append(_GAP.join(cells).rstrip() + "\n")
    text = "".join(out)
    return text.replace("µs", "us") if drawing is _ASCII else text


def _widest(lines: list[Line], column: int, part: int) -> int:
    return max(len(line[column][part]) for line in lines)


def _narrowed(lines: list[Line], width: int, drawing: _Drawing) -> tuple[list[Line], int]:
    """Leave out what a terminal has no room for; give what is left, and the room for names."""
    spare = list(_SPARE)
    names = [line[0][0] for line in lines]
    deepest = max(_place(name, drawing) for name in names)
    wanted = min(max(map(len, names)), _ROOM + min(deepest, _PLACE))
    while True:
        header = [name for name, _ in lines[0]]
        wide = (_widest(lines, c, 0) + _widest(lines, c, 1) for c in range(1, len(header)))
        room = width - sum(wide) - len(_GAP) * (len(header) - 1)
        if room >= wanted or not spare:
            return lines, room
        gone = header.index(spare.pop(0))
        lines = [line[:gone] + line[gone + 1 :] for line in lines]


def _fitted(name: str, limit: int, drawing: _Drawing) -> str:
    """Cut the name of a program in its middle, but not its place while there is room."""
    if len(name) <= limit:
        return name
    depth = _place(name, drawing)
    before = _BEFORE.match(name, depth)
    depth = min(before.end() if before else depth, limit - _MIN_NAME // 2)
    room = limit - depth - len(drawing.ellipsis)
    head = room // 3
    return name[: depth + head] + drawing.ellipsis + name[len(name) - (room - head) :]


def _place(name: str, drawing: _Drawing) -> int:
    """Give the length of what is drawn before a name."""
    marks = {*drawing.child, *drawing.last, *drawing.down}
    return next((at for at, mark in enumerate(name) if mark not in marks), len(name))
