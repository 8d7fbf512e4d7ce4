"""The graph that is drawn: what data came from and went to, in few nodes."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from tracefast.analysis.path_patterns import folder, suffix
from tracefast.cli.pictures.flow.ends import CODE, PROCESSES, End, Flows, flows_of
from tracefast.cli.pictures.flow.folds import FOLDS, Keys, program
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.shorten import without_common_folders
from tracefast.quantities import plural


@dataclass
class Group:
    """Ends that are one node: what they are, what they are called, how many they are.

    `log` is the log that they are in, where the graph has several.
    """

    kind: str
    role: str | None
    label: str
    below: str
    names: list[str]
    count: int
    log: str | None = None


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
    """The nodes, the lines between them, and what was left out, in words.

    `logs` has short names of the logs, if there are several.
    """

    groups: list[Group]
    lines: list[Line]
    notes: list[str] = field(default_factory=list)
    logs: dict[str | None, str] = field(default_factory=dict)


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
    flows = flows_of(edges, roles, () if code else CODE)
    notes = []
    if flows.hidden:
        notes.append("Not drawn: " + ", ".join(_hidden(flows.hidden)) + ".")
    logs = _log_names(edges)
    for fold in FOLDS:
        graph = _folded(flows, fold(flows), logs)
        if len(graph.groups) <= nodes and len(graph.lines) <= most_lines:
            break
    _number_phases(edges, graph)
    cut = _largest(graph, nodes, most_lines)
    if cut:
        notes.append(cut)
    return Graph(graph.groups, graph.lines, notes, logs)


def _hidden(counts: dict[str, int]) -> Iterator[str]:
    """Say how many files of each hidden role there are."""
    nouns = {"library": "libraries", "configuration": "configuration files"}
    for role in CODE:
        if count := counts.get(role):
            many = nouns.get(role, f"{role}s")
            yield plural(count, "configuration file" if role == "configuration" else role, many)


def _folded(flows: Flows, keys: Keys, logs: dict[str | None, str]) -> Graph:
    """Make one node of all ends with one key."""
    members: dict[int, list[End]] = defaultdict(list)
    for end, key in zip(flows.ends, keys, strict=True):
        members[key].append(end)
    key_of = [pl.lit(keys).gather(pl.col(end)).alias(end) for end in ("source", "target")]
    folded = (
        flows.edges.select(*key_of, "bytes", "how")
        .group_by("source", "target", maintain_order=True)
        .agg(pl.col("bytes").sum(), pl.col("how").unique())
    )
    edges = list(folded.iter_rows())
    builder = _Builder(members, logs)
    pipes = _straight_pipes(edges, members)
    for source, target, moved, hows in edges:
        if source in pipes:
            continue
        if target in pipes:
            # What the reader took, once, whoever wrote how often.
            for reader, taken in pipes[target].items():
                builder.add(source, reader, taken, ["pipe"])
            pipes[target] = {}
        else:
            builder.add(source, target, moved, hows)
    return builder.graph()


def _log_names(edges: pl.DataFrame) -> dict[str | None, str]:
    """Give short names of the logs, if there are several."""
    logs = edges["source"].unique(maintain_order=True).to_list()
    if len(logs) < 2:  # noqa: PLR2004 - nobody asks which one
        return {}
    short = without_common_folders([log or "?" for log in logs])
    return dict(zip(logs, map(printable, short), strict=True))


class _Builder:
    """Nodes by the keys of their ends, and the lines between them."""

    def __init__(self, members: dict[int, list[End]], logs: dict[str | None, str]) -> None:
        self._members = members
        self._logs = logs
        self._groups: list[Group] = []
        self._numbers: dict[int, int] = {}
        self._lines: dict[tuple[int, int], Line] = {}

    def _number(self, key: int) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self._groups)
            group = _group(self._members[key])
            if self._logs:
                logs = {end.log for end in self._members[key]}
                group.log = self._logs[logs.pop()] if len(logs) == 1 else f"{len(logs)} logs"
            self._groups.append(group)
        return self._numbers[key]

    def add(self, source: int, target: int, moved: int, hows: list[str]) -> None:
        """Add what went from one node to another; back along the same line, if there is one."""
        if source == target:
            return
        pair = self._number(source), self._number(target)
        back = self._lines.get(pair[::-1])
        if back is not None and pair not in self._lines:
            back.back = (back.back or 0) + moved
            back.back_hows.update(hows)
            return
        line = self._lines.setdefault(pair, Line(*pair))
        line.bytes += moved
        line.hows.update(hows)

    def graph(self) -> Graph:
        """Give the graph. What was written leads right, also where its maker read it back."""
        for line in self._lines.values():
            source = self._groups[line.source]
            if line.back is not None and source.kind not in PROCESSES and source.role != "input":
                line.source, line.target = line.target, line.source
                line.bytes, line.back = line.back, line.bytes
                line.hows, line.back_hows = line.back_hows, line.hows
        return Graph(self._groups, list(self._lines.values()))


def _straight_pipes(
    edges: list[tuple[int, int, int, list[str]]], members: dict[int, list[End]]
) -> dict[int, dict[int, int]]:
    """Find the pipes with one writer and one reader, which are lines and no nodes.

    Pipes that lead back to their writer, or nowhere, are left out.
    """
    writers: dict[int, set[int]] = defaultdict(set)
    readers: dict[int, dict[int, int]] = defaultdict(dict)
    for source, target, moved, _ in edges:
        if members[target][0].kind == "pipe":
            writers[target].add(source)
        if members[source][0].kind == "pipe":
            readers[source][target] = readers[source].get(target, 0) + moved
    return {
        pipe: readers[pipe]
        for pipe in {*writers, *readers}
        if len(writers[pipe]) <= 1 and len(readers[pipe]) <= 1
    }


def _group(ends: list[End]) -> Group:
    """Say what ends that are one node are called."""
    ends = sorted(ends, key=str)
    kind, name = ends[0].kind or "unknown", ends[0].name
    roles = {end.role for end in ends}
    role = roles.pop() if len(roles) == 1 else None
    names = [printable(end.name or "?") for end in ends]
    count = len(ends)
    if kind == "process":
        programs = printable(", ".join(sorted({program(end.name) for end in ends})))
        pid = names[0].removeprefix(program(name)).strip()
        one = f"pid {pid}" if pid.isdigit() else pid
        return Group(
            kind, None, programs, f"{count:,} processes" if count > 1 else one, names, count
        )
    if kind == "phase":
        return Group(kind, None, printable(name or "outside of phases"), "", names, count)
    if kind == "shm" and not ends[0].is_file:
        below = plural(count, "segment") if count > 1 else ""
        return Group(kind, None, program(name) if count > 1 else names[0], below, names, count)
    if kind not in {"file", "shm"}:
        hosts = {name.rpartition(":")[0] for name in names} if kind == "socket" else set()
        label = names[0] if count == 1 else hosts.pop() if len(hosts) == 1 else f"{kind}s"
        below = kind if count == 1 else plural(count, kind)
        return Group(kind, None, label, below, names, count)
    if count == 1:
        above, _, label = names[0].rpartition("/")
        return Group(kind, role, label or names[0], above, names, 1)
    folders = [folder(end.name or "").split("/") for end in ends]
    common = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        common.append(parts[0])
    suffixes = {suffix(end.name or "") for end in ends}
    label = "*" + (suffixes.pop() if len(suffixes) == 1 else "")
    last = common[-1] if common else ""
    between = "*/" if any(len(parts) > len(common) for parts in folders) else ""
    label = printable(f"{last}/{between}{label}" if last else f"{between}{label}")
    return Group(kind, role, label, f"{count:,} files", names, count)


def _number_phases(edges: pl.DataFrame, graph: Graph) -> None:
    """Say of each phase which one it is: edges come in the order of time."""
    phases = pl.concat_list(
        pl.when(pl.col(f"{end}_kind") == "phase").then(pl.col(end)) for end in ("src", "dst")
    )
    ends = edges.select(phase=phases).explode("phase").drop_nulls()
    order = dict.fromkeys(map(printable, ends["phase"].unique(maintain_order=True)))
    numbers = {name: at for at, name in enumerate(order, start=1)}
    for group in graph.groups:
        if group.kind == "phase" and group.names[0] in numbers:
            group.below = f"phase {numbers[group.names[0]]} of {len(numbers)}"


def _largest(graph: Graph, nodes: int, most_lines: int) -> str | None:
    """Keep the lines along which most went, and their nodes; say how many others there are."""
    lines: list[Line] = []
    used: set[int] = set()
    for line in sorted(graph.lines, key=lambda line: -(line.bytes + (line.back or 0))):
        ends = used | {line.source, line.target}
        if len(lines) < most_lines and len(ends) <= nodes:
            lines.append(line)
            used = ends
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
