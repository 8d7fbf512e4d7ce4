"""The graph as SVG."""

import math
from typing import Final
from xml.sax.saxutils import escape

from tracefast.cli.pictures.flow.colours import KINDS, ROLES, colours, legend
from tracefast.cli.pictures.flow.graph import Graph, Group, Line
from tracefast.cli.pictures.flow.texts import line_label
from tracefast.cli.pictures.layout import Edge, Node, layout, middle
from tracefast.cli.text.shorten import cut_middle

_MOST_TEXT: Final = 26
_CHARACTER: Final = 7.0
_SMALL: Final = 5.8
_LINE: Final = 15
_SMALL_LINE: Final = 14
_PAD: Final = 10
_MARGIN: Final = 20
_LEGEND: Final = 26
_LINE_COLOUR: Final = "#94a3b8"
_TEXT: Final = "#111827"
_NOTE: Final = "#4b5563"
# Names that a tooltip lists.
_MOST_NAMES: Final = 20
_FONT: Final = 'font-family="system-ui, sans-serif" font-size="12"'


def svg(graph: Graph, title: str) -> str:
    """Draw the graph.

    Parameters
    ----------
    graph
        What to draw.
    title
        What it shows, for people who do not see it.

    Raises
    ------
    ModuleNotFoundError
        pygraphviz is not installed.
    """
    nodes = [_box(group) for group in graph.groups]
    labels = [line_label(line) for line in graph.lines]
    edges = [
        Edge(line.source, line.target, len(label) * _SMALL)
        for line, label in zip(graph.lines, labels, strict=True)
    ]
    found = layout(nodes, edges)
    swatches = _legend(graph.groups)
    least = sum(swatch[2] for swatch in swatches)
    longest = max((len(note) * _SMALL for note in graph.notes), default=0)
    width = max(found.width, least, longest) + 2 * _MARGIN
    below = found.height + 2 * _MARGIN
    height = below + _LEGEND + len(graph.notes) * _LINE
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} {_FONT}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
    ]
    most = max((line.bytes + (line.back or 0) for line in graph.lines), default=0) or 1
    for line, label, points in zip(graph.lines, labels, found.edges, strict=True):
        parts += _curve(line, label, points, graph.groups, most)
    # No line crosses the text of another one.
    for line, label, points in zip(graph.lines, labels, found.edges, strict=True):
        if label:
            parts.append(_label(label, points, _width(line, most)))
    for group, node, place in zip(graph.groups, nodes, found.nodes, strict=True):
        parts += _node(group, node, place)
    parts.append("</g>")
    x = float(_MARGIN)
    for fill, frame, room, text in swatches:
        square = f'x="{x:.0f}" y="{below - 9:.0f}" width="12" height="12" rx="2"'
        beside = f'x="{x + 18:.0f}" y="{below + 1:.0f}" fill="{_NOTE}"'
        parts += [
            f'<rect {square} fill="{fill}" stroke="{frame}"/>',
            f"<text {beside}>{escape(text)}</text>",
        ]
        x += room
    for at, note in enumerate(graph.notes):
        y = below + _LEGEND + at * _LINE - 4
        text = f'fill="{_NOTE}" font-size="11"'
        parts.append(f'<text x="{_MARGIN}" y="{y:.0f}" {text}>{escape(note)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _box(group: Group) -> Node:
    label, *small = _texts(group)
    width = max(len(label) * _CHARACTER, *(len(text) * _SMALL for text in small), 0) + 2 * _PAD
    return Node(group.label, max(width, 60), (1 + len(small)) * _LINE + _PAD)


def _texts(group: Group) -> list[str]:
    """Give what is in a box: its name, and what it says in small letters below."""
    below = [text for text in (group.below, group.log) if text]
    return [cut_middle(text, _MOST_TEXT) for text in (group.label, *below)]


def _node(group: Group, node: Node, place: tuple[float, float]) -> list[str]:
    x, y = place
    fill, frame = colours(group.kind, group.role)
    process = group.kind in {"process", "phase"}
    names = group.names[:_MOST_NAMES]
    if group.count > len(names):
        names.append(f"and {group.count - len(names):,} more")
    what = f"{group.role or group.kind}: "
    round_ = f'rx="{node.height / 2 if process else 3:.1f}"'
    corner = f'x="{x - node.width / 2:.1f}" y="{y - node.height / 2:.1f}"'
    size = f'width="{node.width:.1f}" height="{node.height:.1f}" {round_}'
    paint = f'fill="{fill}" stroke="{frame}" stroke-width="{1.6 if process else 1.2}"'
    parts = [
        f"<g><title>{escape(what + chr(10).join(names))}</title>",
        f"<rect {corner} {size} {paint}/>",
    ]
    label, *small = _texts(group)
    first = y + 4 - len(small) * _SMALL_LINE / 2
    weight = ' font-weight="600"' if process else ""
    parts.append(
        f'<text x="{x:.1f}" y="{first:.1f}" text-anchor="middle" fill="{_TEXT}"{weight}>'
        f"{escape(label)}</text>"
    )
    for at, text in enumerate(small, start=1):
        parts.append(
            f'<text x="{x:.1f}" y="{first + at * _SMALL_LINE:.1f}" text-anchor="middle"'
            f' fill="{_NOTE}" font-size="10">{escape(text)}</text>'
        )
    return [*parts, "</g>"]


def _curve(
    line: Line, label: str, points: list[tuple[float, float]], groups: list[Group], most: int
) -> list[str]:
    width = _width(line, most)
    start, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
    ends = f"{groups[line.source].label} → {groups[line.target].label}"
    title = f"{ends}: {', '.join(sorted(line.hows | line.back_hows))} {label}".strip()
    paint = f'fill="none" stroke="{_LINE_COLOUR}" stroke-width="{width:.2f}" stroke-opacity=".75"'
    parts = [
        f"<g><title>{escape(title)}</title>",
        f'<path d="M{start}C{" ".join(rest)}" {paint}/>',
        _arrow(points[-2], points[-1], width),
    ]
    if line.back is not None:
        parts.append(_arrow(points[1], points[0], width))
    return [*parts, "</g>"]


def _width(line: Line, most: int) -> float:
    return 0.75 + 9 * math.sqrt((line.bytes + (line.back or 0)) / most)


def _label(label: str, points: list[tuple[float, float]], width: float) -> str:
    x, y = middle(points)
    halo = 'stroke="#fff" stroke-width="3" paint-order="stroke"'
    place = f'x="{x:.1f}" y="{y - width / 2 - 2:.1f}" text-anchor="middle" font-size="10"'
    return f'<text {place} fill="{_NOTE}" {halo}>{escape(label)}</text>'


def _arrow(before: tuple[float, float], tip: tuple[float, float], width: float) -> str:
    """Draw the head of an arrow, as large as its line needs."""
    dx, dy = tip[0] - before[0], tip[1] - before[1]
    length = math.hypot(dx, dy) or 1
    dx, dy = dx / length, dy / length
    size = 6 + width * 0.7
    half = 3 + width * 0.6
    x, y = tip[0] - dx * size, tip[1] - dy * size
    sides = f"{x - dy * half:.1f} {y + dx * half:.1f} {x + dy * half:.1f} {y - dx * half:.1f}"
    return f'<polygon points="{tip[0]:.1f} {tip[1]:.1f} {sides}" fill="#64748b"/>'


def _legend(groups: list[Group]) -> list[tuple[str, str, float, str]]:
    """Give the colours that occur, the room that each needs, and what it means."""
    found: dict[str, tuple[str, str]] = {}
    for group in groups:
        found.setdefault(legend(group.kind, group.role), colours(group.kind, group.role))
    order = [*ROLES, *KINDS]
    known = sorted(found, key=lambda text: order.index(text) if text in order else len(order))
    return [(*found[text], len(text) * _CHARACTER + 36, text) for text in known]
