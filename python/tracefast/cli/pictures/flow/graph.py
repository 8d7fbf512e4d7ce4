"""The graph that is drawn: what data came from and went to, in few nodes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.path_patterns import folder, shape, suffix
from tracefast.cli.text.escaping import printable
from tracefast.quantities import plural

# Files that are no data of the run.
CODE: Final = ("program", "library", "module", "configuration")
# What is read and written at a terminal is worth a node, what goes to other devices is not.
_TERMINALS: Final = ("/dev/pts/", "/dev/tty", "/dev/console")
_PROCESSES: Final = ("process", "phase")
# Edges between two names of a file.
_NAMING: Final = ("rename", "link")

# The kind and name of an end of an edge, in its log.
End = tuple[str | None, str | None, str | None]


@dataclass
class Group:
    """Ends that are one node: what they are, what they are called, how many they are."""

    kind: str
    role: str | None
    label: str
    below: str
    names: list[str]
    count: int


@dataclass
class Line:
    """What goes between two nodes, and back."""

    source: int
    target: int
    bytes: int = 0
    back: int | None = None
    hows: set[str] = field(default_factory=set)
    back_hows: set[str] = field(default_factory=set)


@dataclass
class Graph:
    """The nodes, the lines between them, and what was left out, in words."""

    groups: list[Group]
    lines: list[Line]
    notes: list[str]


class _Edge(NamedTuple):
    source: End
    target: End
    bytes: int
    how: str


def graph_of(
    edges: pl.DataFrame, roles: pl.DataFrame, *, code: bool, nodes: int, most_lines: int
) -> Graph:
    """Fold the edges of the flow of data into a graph that people can read.

    Parameters
    ----------
    edges
        `tracefast.flow`.
    roles
        `tracefast.roles`.
    code
        Keep programs, libraries, modules and settings.
    nodes, most_lines
        How many nodes and lines there may be.
    """
    kept, role_of, left_out = _data(edges, roles, code=code)
    notes = []
    if left_out:
        notes.append("Not drawn: " + ", ".join(left_out) + ".")
    for fold in (_alike, _same_folder, _same_role):
        graph = _folded(kept, role_of, fold)
        if len(graph.groups) <= nodes and len(graph.lines) <= most_lines:
            break
    _number_phases(edges, graph)
    cut = _largest(graph, nodes, most_lines)
    if cut:
        notes.append(cut)
    return Graph(graph.groups, graph.lines, notes)


def _data(
    edges: pl.DataFrame, roles: pl.DataFrame, *, code: bool
) -> tuple[list[_Edge], dict[End, str], list[str]]:
    """Give the edges that are worth a line, the roles of their files, and say what is not."""
    # Most edges lead to libraries: what polars leaves out costs no Python objects.
    rows = edges.select("source", "src_kind", "src", "dst_kind", "dst", "how", "bytes")
    for end in ("src", "dst"):
        rows = _with_role(rows, roles, end)
    hidden = () if code else CODE
    drawn = rows.filter(_is_drawn("src", hidden), _is_drawn("dst", hidden))
    role_of: dict[End, str] = {}
    found = []
    used: set[End] = set()
    for source, src_kind, src, dst_kind, dst, how, moved, src_role, dst_role in drawn.iter_rows():
        edge = _Edge((source, src_kind, src), (source, dst_kind, dst), moved or 0, how)
        if src_role is not None:
            role_of[edge.source] = src_role
        if dst_role is not None:
            role_of[edge.target] = dst_role
        found.append(edge)
        if how not in _NAMING:
            used.add(edge.source)
            used.add(edge.target)
    # A name that a file only had for a while is no node.
    kept = [
        edge
        for edge in found
        if edge.how not in _NAMING or (edge.source in used and edge.target in used)
    ]
    return kept, role_of, _left_out(rows, hidden)


def _with_role(edges: pl.DataFrame, roles: pl.DataFrame, end: str) -> pl.DataFrame:
    """Add the role of the file at one end of each edge."""
    files = roles.select("source", pl.col("path").alias(end), pl.col("role").alias(f"{end}_role"))
    files = files.unique(["source", end], keep="last")
    edges = edges.join(
        files, on=["source", end], how="left", nulls_equal=True, maintain_order="left"
    )
    is_file = pl.col(f"{end}_kind").eq_missing(pl.lit("file"))
    return edges.with_columns(pl.when(is_file).then(f"{end}_role").alias(f"{end}_role"))


def _is_drawn(end: str, hidden: Collection[str]) -> pl.Expr:
    """Say whether what an edge has at one end is worth a node."""
    name, role = pl.col(end).fill_null(""), pl.col(f"{end}_role")
    is_file = pl.col(f"{end}_kind").eq_missing(pl.lit("file"))
    terminal = pl.any_horizontal(name.str.starts_with(start) for start in _TERMINALS)
    return (
        pl.when(role.is_in(hidden).fill_null(value=False))
        .then(statement=False)
        .when(is_file & name.str.starts_with("/dev/"))
        .then(terminal)
        .otherwise(~is_file | role.is_not_null() | pl.col("how").is_in(_NAMING))
    )


def _left_out(edges: pl.DataFrame, hidden: Collection[str]) -> list[str]:
    """Say how many files of each hidden role there are."""
    ends = [edges.select("source", path=end, role=f"{end}_role") for end in ("src", "dst")]
    files = pl.concat(ends).filter(pl.col("role").is_in(hidden)).unique()
    counts = dict(files.group_by("role").len().iter_rows())
    plurals = {"library": "libraries", "configuration": "configuration files"}
    words = []
    for role in CODE:
        if count := counts.get(role):
            many = plurals.get(role, f"{role}s")
            words.append(plural(count, "configuration file" if role == CODE[-1] else role, many))
    return words


def _program(name: str | None) -> str:
    """Give the program in the name of a process: `gzip 11807`."""
    words = (name or "?").split(" ")
    while len(words) > 1 and (words[-1].isdigit() or words[-1].startswith("#")):
        words.pop()
    return " ".join(words).rpartition("/")[2]


def _pattern(end: End, role_of: dict[End, str]) -> Hashable:
    """Give what is the same of an end and others like it, whatever they are called."""
    kind, name = end[1], end[2]
    if kind in _PROCESSES:
        return kind, _program(name)
    if kind in {"file", "shm"}:
        return kind, role_of.get(end), shape(folder(name or "")), suffix(name or "")
    if kind == "socket" and ":" in (name or ""):
        # Ports are given anew each time.
        return kind, (name or "").rpartition(":")[0]
    return kind, None if kind == "pipe" else name


Keys = dict[End, Hashable]


def _alike(edges: list[_Edge], role_of: dict[End, str]) -> Keys:
    """Fold processes of a program that used like files in the same way; then files by these."""
    ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
    patterns = {end: _pattern(end, role_of) for end in ends}
    around: dict[End, set[Hashable]] = defaultdict(set)
    for edge in edges:
        if edge.source[1] in _PROCESSES:
            around[edge.source].add((">", patterns[edge.target]))
        if edge.target[1] in _PROCESSES:
            around[edge.target].add(("<", patterns[edge.source]))
    # A number for each kind of process, which is quicker to compare.
    kinds: dict[Hashable, int] = {}
    keys: Keys = {
        end: kinds.setdefault((patterns[end], frozenset(seen)), len(kinds))
        for end, seen in around.items()
    }
    used: dict[End, set[Hashable]] = defaultdict(set)
    for edge in edges:
        for end, other, way in ((edge.source, edge.target, ">"), (edge.target, edge.source, "<")):
            if end[1] not in _PROCESSES:
                used[end].add((way, keys.get(other, other)))
    for end, seen in used.items():
        keys[end] = kinds.setdefault((patterns[end], frozenset(seen)), len(kinds))
    return keys


def _same_folder(edges: list[_Edge], role_of: dict[End, str]) -> Keys:
    """Fold processes by their program, files by role and folder."""
    keys: Keys = {}
    for edge in edges:
        for end in (edge.source, edge.target):
            if end[1] in {"file", "shm"}:
                keys[end] = (end[1], role_of.get(end), folder(end[2] or ""))
            else:
                keys[end] = _pattern(end, role_of)
    return keys


def _same_role(edges: list[_Edge], role_of: dict[End, str]) -> Keys:
    """Fold files by role and the first folders."""
    keys = _same_folder(edges, role_of)
    for end in keys:
        if end[1] in {"file", "shm"}:
            first = "/".join((end[2] or "").split("/")[:3])
            keys[end] = (end[1], role_of.get(end), first)
        elif end[1] in {"host", "socket"}:
            keys[end] = end[1]
    return keys


def _folded(
    edges: list[_Edge],
    role_of: dict[End, str],
    fold: Callable[[list[_Edge], dict[End, str]], Keys],
) -> Graph:
    keys = fold(edges, role_of)
    members: dict[Hashable, list[End]] = defaultdict(list)
    for end, key in keys.items():
        members[key].append(end)
    builder = _Builder(members, role_of)
    pipes = _straight_pipes(edges, keys)
    for edge in edges:
        source, target = keys[edge.source], keys[edge.target]
        if source in pipes:
            continue
        if target in pipes:
            # What the reader took, once, whoever wrote how often.
            for reader, moved in pipes[target].items():
                builder.add(source, reader, moved, "pipe")
            pipes[target] = {}
        else:
            builder.add(source, target, edge.bytes, edge.how)
    return builder.graph()


class _Builder:
    """Nodes by the keys of their ends, and the lines between them."""

    def __init__(self, members: dict[Hashable, list[End]], role_of: dict[End, str]) -> None:
        self._members = members
        self._role_of = role_of
        self._groups: list[Group] = []
        self._numbers: dict[Hashable, int] = {}
        self._lines: dict[tuple[int, int], Line] = {}

    def _number(self, key: Hashable) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._groups)
            self._groups.append(_group(self._members[key], self._role_of))
        return self._numbers[key]

    def add(self, source: Hashable, target: Hashable, moved: int, how: str) -> None:
        """Add what went from one node to another; back along the same line, if there is one."""
        if source == target:
            return
        pair = self._number(source), self._number(target)
        back = self._lines.get(pair[::-1])
        if back is not None and pair not in self._lines:
            back.back = (back.back or 0) + moved
            back.back_hows.add(how)
            return
        line = self._lines.setdefault(pair, Line(*pair))
        line.bytes += moved
        line.hows.add(how)

    def graph(self) -> Graph:
        """Give the graph. What was written leads right, also where its maker read it back."""
        for line in self._lines.values():
            source = self._groups[line.source]
            if line.back is not None and source.kind not in _PROCESSES and source.role != "input":
                line.source, line.target = line.target, line.source
                line.bytes, line.back = line.back, line.bytes
                line.hows, line.back_hows = line.back_hows, line.hows
        return Graph(self._groups, list(self._lines.values()), [])


def _straight_pipes(edges: list[_Edge], keys: Keys) -> dict[Hashable, dict[Hashable, int]]:
    """Find the pipes with one writer and one reader, which are lines and no nodes.

    Pipes that lead back to their writer, or nowhere, are left out.
    """
    writers: dict[Hashable, set[Hashable]] = defaultdict(set)
    readers: dict[Hashable, dict[Hashable, int]] = defaultdict(dict)
    for edge in edges:
        source, target = keys[edge.source], keys[edge.target]
        if edge.target[1] == "pipe":
            writers[target].add(source)
        if edge.source[1] == "pipe":
            readers[source][target] = readers[source].get(target, 0) + edge.bytes
    return {
        pipe: readers[pipe]
        for pipe in {*writers, *readers}
        if len(writers[pipe]) <= 1 and len(readers[pipe]) <= 1
    }


def _group(ends: list[End], role_of: dict[End, str]) -> Group:
    """Say what ends that are one node are called."""
    ends = sorted(ends, key=str)
    kind, name = ends[0][1] or "unknown", ends[0][2]
    roles = {role_of.get(end) for end in ends}
    role = roles.pop() if len(roles) == 1 else None
    names = [printable(end[2] or "?") for end in ends]
    count = len(ends)
    if kind == "process":
        programs = printable(", ".join(sorted({_program(end[2]) for end in ends})))
        pid = names[0].removeprefix(_program(name)).strip()
        one = f"pid {pid}" if pid.isdigit() else pid
        return Group(
            kind, None, programs, f"{count:,} processes" if count > 1 else one, names, count
        )
    if kind == "phase":
        return Group(kind, None, printable(name or "outside of phases"), "", names, count)
    if kind not in {"file", "shm"}:
        hosts = {name.rpartition(":")[0] for name in names} if kind == "socket" else set()
        label = names[0] if count == 1 else hosts.pop() if len(hosts) == 1 else f"{kind}s"
        below = kind if count == 1 else plural(count, kind)
        return Group(kind, None, label, below, names, count)
    if count == 1:
        above, _, label = names[0].rpartition("/")
        return Group(kind, role, label or names[0], above, names, 1)
    folders = [folder(end[2] or "").split("/") for end in ends]
    common = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    suffixes = {suffix(end[2] or "") for end in ends}
    label = "*" + (suffixes.pop() if len(suffixes) == 1 else "")
    last = common[-1] if common else ""
    between = "*/" if any(len(parts) > len(common) for parts in folders) else ""
    label = printable(f"{last}/{between}{label}" if last else f"{between}{label}")
    return Group(kind, role, label, f"{count:,} files", names, count)


def _number_phases(edges: pl.DataFrame, graph: Graph) -> None:
    """Say of each phase which one it is: edges come in the order of time."""
    phases = [
        pl.when(pl.col(f"{end}_kind") == "phase").then(pl.col(end)).alias(end)
        for end in ("src", "dst")
    ]
    ends = edges.select(phases).filter(pl.any_horizontal(pl.all().is_not_null()))
    order: dict[str, None] = {}
    for names in ends.iter_rows():
        for name in names:
            if name is not None:
                order.setdefault(printable(name))
    numbers = {name: at for at, name in enumerate(order, start=1)}
    for group in graph.groups:
        if group.kind == "phase" and group.names[0] in numbers:
            group.below = f"phase {numbers[group.names[0]]} of {len(numbers)}"


def _largest(graph: Graph, nodes: int, most_lines: int) -> str | None:
    """Keep the lines along which most went, and their nodes; say how many others there are."""
    weight: Counter[int] = Counter()
    for line in graph.lines:
        for end in (line.source, line.target):
            weight[end] += line.bytes + (line.back or 0)
    order = sorted(
        range(len(graph.groups)),
        key=lambda at: (graph.groups[at].kind not in _PROCESSES, -weight[at], at),
    )
    keep = set(order[:nodes])
    lines = [line for line in graph.lines if line.source in keep and line.target in keep]
    lines.sort(key=lambda line: -(line.bytes + (line.back or 0)))
    lines = lines[:most_lines]
    used = {end for line in lines for end in (line.source, line.target)}
    kept = [at for at in range(len(graph.groups)) if at in used]
    fewer, fewer_lines = len(graph.groups) - len(kept), len(graph.lines) - len(lines)
    number = {old: new for new, old in enumerate(kept)}
    for line in lines:
        line.source, line.target = number[line.source], number[line.target]
    graph.groups = [graph.groups[at] for at in kept]
    graph.lines = sorted(lines, key=lambda line: (line.source, line.target))
    if fewer_lines <= 0 and fewer <= 0:
        return None
    what = f"{plural(fewer, 'smaller node')} and {plural(fewer_lines, 'line')}"
    return f"Left out: {what}; --nodes allows more."
