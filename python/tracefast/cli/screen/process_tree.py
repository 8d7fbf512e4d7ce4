"""Print processes as a tree: which process created which, and what each did."""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.system.colours import with_bold_heading
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import GAP
from tracefast.cli.text.shorten import cut_middle
from tracefast.cli.text.width import cells as text_width
from tracefast.cli.text.width import padded

# As many equal processes become one line.
_MIN_GROUP: Final = 3
# Lines deeper than this are not indented further, but show their depth as a number.
_MAX_INDENT: Final = 32
_MIN_NAME: Final = 16
# A longer name does not move the columns of all lines, where there is no terminal.
_MAX_PADDING: Final = 100
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
# Columns that are left out, the first one first, where names would have less room than this.
_SPARE: Final = ("threads", "kind", "calls", "written", "read", "lifetime")
_MIN_ROOM: Final = 24
# How much of the drawn branches is added to that, at most.
_MAX_BRANCHES: Final = 15
# How a line shows its depth as a number.
_DEPTH_WIDTH: Final = len("[100] ")
_INDENT: Final = 3
# What comes before a name: the depth, and the number of equal processes.
_PREFIX: Final = re.compile(r"(\[[0-9]+\] )?([0-9,]+ (\N{MULTIPLICATION SIGN}|x) )?")
# Columns of text; all others are numbers, aligned at the right.
_TEXT_COLUMNS: Final = ("process", "kind", "end")

Row = dict[str, Any]
Line = list[tuple[str, str]]


@dataclass(frozen=True)
class _Drawing:
    """The characters that draw a tree."""

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
    """A process, and those that it created."""

    row: Row
    children: list["_Node"] = field(default_factory=list)
    # Equal for processes that look the same, down to the processes they created.
    shape: int = 0


@dataclass
class _Group:
    """Equal processes, which share one line."""

    nodes: list[_Node]
    depth: int
    lead: str
    below: str


def print_tree(table: pl.DataFrame, selected: pl.DataFrame | None, request: Request) -> None:
    """Print the tree of processes.

    Parameters
    ----------
    table
        The table of processes, in order of their start.
    selected
        Rows of the table: only these processes, and their ancestors; None for all.
    request
        What was asked for: where to write, and whether to draw each of many equal processes.
    """
    output = request.output
    terminal = is_terminal_table(Format.TABLE, output)
    encoding = "utf-8" if output != "-" else (sys.stdout.encoding or "ascii")
    plain = not encoding.lower().replace("-", "").startswith("utf8")
    drawing = _ASCII if plain else _UNICODE
    logs = _logs(table, selected)
    width = terminal_width() if terminal else None
    text, hidden = _draw(logs, drawing, whole=request.wide, width=width, top=request.top or 0)
    write_bytes(text.encode(encoding, errors="replace"), output, clobber=request.clobber)
    if hidden and terminal:
        request.note(f"{hidden:,} more row{'s' if hidden > 1 else ''}; --top 0 prints all")


def render_tree(
    table: pl.DataFrame,
    selected: pl.DataFrame | None = None,
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
    selected
        Rows of the table: only these processes, and their ancestors; None for all.
    whole
        Draw each process, even of many equal ones.
    width
        Columns of the terminal: names of programs are cut to fit; None for whole names.
    plain
        Draw in ASCII.
    top
        The largest number of lines of processes; 0 for all.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.processes(tf.scan("demo.strace")).collect()
    >>> print(render_tree(table).splitlines()[2])
    └─ /bin/true  101  vfork    1.0 ms        1      1      0 B      0 B  exit 0
    """
    logs = _logs(table, selected)
    return _draw(logs, _ASCII if plain else _UNICODE, whole=whole, width=width, top=top)[0]


def _logs(table: pl.DataFrame, selected: pl.DataFrame | None) -> list[tuple[str, list[_Node]]]:
    """Give the trees of each log."""
    logs = []
    for source in table["source"].unique(maintain_order=True).to_list():
        rows = table.filter(pl.col("source").eq_missing(source)).to_dicts()
        roots = _forest(rows)
        if selected is not None:
            own = selected.filter(pl.col("source").eq_missing(source))
            roots = _with_ancestors(roots, set(own["task"]))
        logs.append((str(source), roots))
    return logs


def _draw(
    logs: list[tuple[str, list[_Node]]],
    drawing: _Drawing,
    *,
    whole: bool,
    width: int | None,
    top: int,
) -> tuple[str, int]:
    """Lay out the trees; give the text, and how many lines are left out."""
    lines, titles = _all_lines(logs, drawing, alone=whole, max_indent=_MAX_INDENT)
    if width is not None:
        _, room = _fit_columns(lines, width, drawing)
        names = [line[0][0] for line in lines]
        # In a deep tree, names matter more than branches.
        if any(len(name) > room < _branches_width(name, drawing) + _MIN_NAME for name in names):
            max_indent = max((room - _MIN_NAME - _DEPTH_WIDTH) // _INDENT, 1)
            lines, titles = _all_lines(logs, drawing, alone=whole, max_indent=max_indent)
    hidden = max(len(lines) - 1 - top, 0) if top else 0
    lines = lines[: len(lines) - hidden]
    at = _HEADER.index("lifetime")
    if any(line[at][1] for line in lines):
        lines[0][at] = (_HEADER[at], " (median)")
    return _aligned(lines, titles, width, drawing), hidden


def _all_lines(
    logs: list[tuple[str, list[_Node]]], drawing: _Drawing, *, alone: bool, max_indent: int
) -> tuple[list[Line], dict[int, str]]:
    """Give the lines of all logs, the header first, and the titles above some of them."""
    lines: list[Line] = [[(name, "") for name in _HEADER]]
    titles: dict[int, str] = {}
    for source, roots in logs:
        if len(logs) > 1:
            titles[len(lines)] = printable(source)
        lines += _lines(roots, drawing, alone=alone, max_indent=max_indent)
    return lines, titles


def _forest(rows: list[Row]) -> list[_Node]:
    """Put each process below the one that created it."""
    nodes = {row["task"]: _Node(row) for row in rows}
    roots: list[_Node] = []
    for node in nodes.values():
        parent = nodes.get(node.row["parent_task"])
        (roots if parent is None else parent.children).append(node)
    # A process that is its own ancestor is below no root. No real log has such processes.
    seen = {id(node) for node in _below(roots)}
    for node in nodes.values():
        if id(node) not in seen:
            parent = nodes[node.row["parent_task"]]
            parent.children = [child for child in parent.children if child is not node]
            roots.append(node)
            seen.update(id(below) for below in _below([node]))
    return roots


def _below(roots: list[_Node]) -> Iterator[_Node]:
    """Give all processes, each before those that it created."""
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _with_ancestors(roots: list[_Node], tasks: set[int]) -> list[_Node]:
    """Keep the selected processes and their ancestors."""
    kept = set()
    for node in reversed(list(_below(roots))):
        node.children = [child for child in node.children if id(child) in kept]
        if node.children or node.row["task"] in tasks:
            kept.add(id(node))
    return [root for root in roots if id(root) in kept]


def _number_shapes(roots: list[_Node]) -> None:
    """Give equal numbers to processes of equal program, kind, exit and shapes of children."""
    numbers: dict[tuple[object, ...], int] = {}
    for node in reversed(list(_below(roots))):
        row = node.row
        below = frozenset(child.shape for child in node.children)
        look = (row["image"] or row["comm"], row["kind"], _exit(row), below)
        node.shape = numbers.setdefault(look, len(numbers))


def _grouped(nodes: list[_Node], *, alone: bool) -> list[list[_Node]]:
    """Group equal processes, at the place of the first of them."""
    many = Counter(node.shape for node in nodes)
    groups: dict[object, list[_Node]] = defaultdict(list)
    for node in nodes:
        together = not alone and many[node.shape] >= _MIN_GROUP
        groups[node.shape if together else id(node), together].append(node)
    return list(groups.values())


def _lines(roots: list[_Node], drawing: _Drawing, *, alone: bool, max_indent: int) -> list[Line]:
    _number_shapes(roots)
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
            if depth > max_indent:
                lead, down = f"{group.below}[{depth}] ", group.below
            waiting.append(_Group(nodes, depth, lead, down))
    return lines


def _line(group: _Group, drawing: _Drawing) -> Line:
    """Give the cells of a line: for several processes sums, with medians in parentheses."""
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
        (_exit(first), ""),
    ]


def _amount(rows: Sequence[Row], name: str, write: Callable[[int], str]) -> tuple[str, str]:
    known = sorted(row[name] for row in rows if row[name] is not None)
    if not known:
        return _ABSENT, ""
    median = known[(len(known) - 1) // 2]
    return write(sum(known)), f" ({write(median)})" if len(rows) > 1 else ""


def _exit(row: Row) -> str:
    if row["exit_signal"] is not None:
        return printable(row["exit_signal"])
    return "" if row["exit_status"] is None else f"exit {row['exit_status']}"


def _aligned(
    lines: list[Line], titles: dict[int, str], width: int | None, drawing: _Drawing
) -> str:
    """Align the cells of all lines."""
    names = [line[0][0] for line in lines]
    if width is not None:
        lines, room = _fit_columns(lines, width, drawing)
        names = [_cut_name(name, max(room, _MIN_NAME), drawing) for name in names]
    columns = len(lines[0])
    # One long name does not widen all lines.
    column = min(max(map(text_width, names)), _MAX_PADDING if width is None else width)
    values = [column, *(_widest(lines, c, 0) for c in range(1, columns))]
    extras = [_widest(lines, c, 1) for c in range(columns)]
    header = [name for name, _ in lines[0]]
    out = []
    for at, (name, line) in enumerate(zip(names, lines, strict=True)):
        if at in titles:
            out.append(titles[at])
        cells = [padded(name, values[0])]
        for c in range(1, columns):
            text, extra = line[c]
            shown = padded(text, values[c], right=header[c] not in _TEXT_COLUMNS)
            cells.append(shown + extra.ljust(extras[c]))
        out.append(GAP.join(cells).rstrip())
    text = "\n".join([*with_bold_heading(out, width), ""])
    return text.replace("µs", "us") if drawing is _ASCII else text


def _widest(lines: list[Line], column: int, part: int) -> int:
    return max(len(line[column][part]) for line in lines)


def _fit_columns(lines: list[Line], width: int, drawing: _Drawing) -> tuple[list[Line], int]:
    """Leave out columns that do not fit the terminal; give the others, and the room for names."""
    spare = list(_SPARE)
    names = [line[0][0] for line in lines]
    deepest = max(_branches_width(name, drawing) for name in names)
    wanted = min(max(map(text_width, names)), _MIN_ROOM + min(deepest, _MAX_BRANCHES))
    while True:
        header = [name for name, _ in lines[0]]
        wide = (_widest(lines, c, 0) + _widest(lines, c, 1) for c in range(1, len(header)))
        room = width - sum(wide) - len(GAP) * (len(header) - 1)
        if room >= wanted or not spare:
            return lines, room
        gone = header.index(spare.pop(0))
        lines = [line[:gone] + line[gone + 1 :] for line in lines]


def _cut_name(name: str, limit: int, drawing: _Drawing) -> str:
    """Cut the name of a program in its middle, and its branches only if there is no room."""
    if len(name) <= limit:
        return name
    depth = _branches_width(name, drawing)
    before = _PREFIX.match(name, depth)
    depth = min(before.end() if before else depth, limit - _MIN_NAME // 2)
    return name[:depth] + cut_middle(name[depth:], limit - depth, drawing.ellipsis)


def _branches_width(name: str, drawing: _Drawing) -> int:
    """Give the width of what is drawn before a name."""
    marks = {*drawing.child, *drawing.last, *drawing.down}
    return next((at for at, mark in enumerate(name) if mark not in marks), len(name))
