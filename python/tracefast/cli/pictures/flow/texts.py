"""The graph as text for Graphviz and Mermaid."""

from tracefast.cli.pictures.flow.colours import colours
from tracefast.cli.pictures.flow.graph import Graph, Group, Line
from tracefast.cli.pictures.quoting import dot_text, mermaid_text
from tracefast.cli.text import units


def line_label(line: Line) -> str:
    """Say how much went along a line, and back."""
    if "rename" in line.hows or "link" in line.hows:
        return "renamed" if "rename" in line.hows else "linked"
    if line.back is not None and line.hows | line.back_hows == {"map"}:
        # What is read and written in it is in no log.
        return f"{units.size(max(line.bytes, line.back))} mapped"
    label = units.size(line.bytes) if line.bytes else ""
    if line.back:
        label = f"{label or '0 B'} / {units.size(line.back)} back"
    return label


def _label(group: Group) -> str:
    role = f"({group.role})" if group.role else ""
    log = f"in {group.log}" if group.log else ""
    return " ".join(text for text in (group.label, group.below, role, log) if text)


def dot(graph: Graph) -> str:
    """Write the graph for Graphviz."""
    lines = [
        "digraph flow {",
        "  rankdir=LR;",
        '  node [shape=box, style="filled", fontname="sans-serif"];',
    ]
    for at, group in enumerate(graph.groups):
        fill, frame = colours(group.kind, group.role)
        shape = ' style="filled,rounded"' if group.kind in {"process", "phase"} else ""
        label = dot_text(_label(group))
        lines.append(f'  n{at} [label={label} fillcolor="{fill}" color="{frame}"{shape}];')
    most = max((line.bytes + (line.back or 0) for line in graph.lines), default=0) or 1
    for line in graph.lines:
        width = 0.75 + 5 * ((line.bytes + (line.back or 0)) / most) ** 0.5
        both = " dir=both" if line.back is not None else ""
        label = dot_text(line_label(line))
        ends = f"n{line.source} -> n{line.target}"
        lines.append(f"  {ends} [label={label} penwidth={width:.2f}{both}];")
    return "\n".join([*lines, "}", ""])


def mermaid(graph: Graph) -> str:
    """Write the graph for Mermaid."""
    lines = ["flowchart LR"]
    classes: dict[tuple[str, str], list[str]] = {}
    for at, group in enumerate(graph.groups):
        first, last = ("([", "])") if group.kind in {"process", "phase"} else ("[", "]")
        lines.append(f"  n{at}{first}{mermaid_text(_label(group))}{last}")
        classes.setdefault(colours(group.kind, group.role), []).append(f"n{at}")
    for line in graph.lines:
        arrow = "<-->" if line.back is not None else "-->"
        label = line_label(line)
        text = f"|{mermaid_text(label)}|" if label else ""
        lines.append(f"  n{line.source} {arrow}{text} n{line.target}")
    for number, ((fill, frame), names) in enumerate(classes.items()):
        lines += [
            f"  classDef c{number} fill:{fill},stroke:{frame},color:#111827",
            f"  class {','.join(names)} c{number}",
        ]
    return "\n".join([*lines, ""])
