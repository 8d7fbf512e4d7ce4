"""Draw who waits for whom: as SVG, or as text for Graphviz or Mermaid."""

from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

import polars as pl

from tracefast.cli.pictures.layout import MOST_EDGES, MOST_NODES, Edge, Node, layout, middle
from tracefast.cli.pictures.quoting import dot_text, mermaid_text
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.shorten import cut_middle

# A process: its log and its process id.
_Key = tuple[str | None, int | None]

_MOST_TEXT: Final = 24
_CHARACTER: Final = 7.2
_LINE: Final = 16
_PAD: Final = 12
_MARGIN: Final = 24
_NOBODY: Final = "nobody"
_ARROW: Final = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8"'
    ' markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
)


@dataclass
class _Process:
    """A process, and whether it can never go on."""

    title: str
    below: str
    stuck: str | None = None


@dataclass
class _Wait:
    """All waits of one process for another, on one kind of thing."""

    waiter: int
    waker: int
    label: str
    title: str
    stuck: bool


def draw(pairs: pl.DataFrame, stuck: pl.DataFrame, suffix: str) -> bytes:
    """Draw the graph of waits.

    Parameters
    ----------
    pairs
        Who waited for whom, the longest first: `tracefast.wait_graph`.
    stuck
        Those who cannot go on: `tracefast.stuck`.
    suffix
        ``.svg``, ``.dot`` or ``.mmd``.
    """
    processes, waits = _graph(pairs, stuck)
    if suffix == ".dot":
        return _dot(processes, waits).encode()
    if suffix == ".mmd":
        return _mermaid(processes, waits).encode()
    return _svg(processes, waits).encode()


def _graph(pairs: pl.DataFrame, stuck: pl.DataFrame) -> tuple[list[_Process], list[_Wait]]:
    """Give the nodes and the edges: those who hang first, then the longest waits."""
    verdicts: dict[_Key, str] = {}
    for row in stuck.rows(named=True):
        verdicts.setdefault((row["source"], row["pid"]), row["verdict"])
    numbers: dict[_Key, int] = {}
    processes: list[_Process] = []

    def number(source: str | None, pid: int | None, image: str | None) -> int | None:
        key = (source, pid)
        if key not in numbers:
            if len(processes) >= MOST_NODES:
                return None
            name = _NOBODY if pid is None else (image or "?").rpartition("/")[2]
            title = cut_middle(printable(name), _MOST_TEXT)
            numbers[key] = len(processes)
            below = "" if pid is None else str(pid)
            processes.append(_Process(title, below, verdicts.get(key)))
        return numbers[key]

    waits: list[_Wait] = []
    for row in _edges(pairs, stuck).rows(named=True):
        if len(waits) >= MOST_EDGES:
            break
        waiter = number(row["source"], row["waiter_pid"], row["waiter_image"])
        waker = number(row["source"], row["waker_pid"], row["waker_image"])
        if waiter is None or waker is None:
            continue
        length = units.duration(row["total_ns"]) if row["total_ns"] is not None else "?"
        label = f"{row['on']} {length}"
        title = f"{printable(row['object'] or row['on'])}: {row['count']:,} times, {length}"
        waits.append(_Wait(waiter, waker, label, title, row["hangs"]))
    return processes, waits


def _edges(pairs: pl.DataFrame, stuck: pl.DataFrame) -> pl.DataFrame:
    """Give one row per pair and kind of thing; those who hang first, then the longest.

    Of waits whose waker is unknown, only those that can never end are kept.
    """
    found = {
        (row["source"], row["pid"], row["on"], row["object"]): row["verdict"]
        for row in stuck.rows(named=True)
    }
    hung = {(source, pid) for source, pid, *_ in found}
    hangs = []
    for row in pairs.rows(named=True):
        verdict = found.get((row["source"], row["waiter_pid"], row["on"], row["object"]))
        alone = row["waker_pid"] is None
        met = (row["source"], row["waker_pid"]) in hung
        hangs.append(verdict is not None and (verdict != "stalled" if alone else met))
    rows = pairs.with_columns(pl.Series("hangs", hangs, pl.Boolean))
    # Threads of one process wait for one another all the time.
    others = (
        pl.col("waker_pid").ne_missing(pl.col("waiter_pid")) & pl.col("waker_pid").is_not_null()
    )
    rows = rows.filter(others | pl.col("hangs"))
    keys = ["source", "waiter_pid", "waiter_image", "waker_pid", "waker_image", "on", "hangs"]
    together = rows.group_by(keys, maintain_order=True).agg(
        pl.col("object").first(), pl.col("count").sum(), pl.col("total_ns").sum()
    )
    return together.sort("hangs", "total_ns", descending=True, maintain_order=True)


def _dot(processes: list[_Process], waits: list[_Wait]) -> str:
    lines = ["digraph waits {", "  rankdir=LR;", "  node [shape=box];"]
    for at, process in enumerate(processes):
        label = dot_text(" ".join(filter(None, [process.title, process.below, process.stuck])))
        colour = ' color="#c0392b"' if process.stuck else ""
        lines.append(f"  n{at} [label={label}{colour}];")
    for wait in waits:
        colour = ' color="#c0392b"' if wait.stuck else ""
        lines.append(f"  n{wait.waiter} -> n{wait.waker} [label={dot_text(wait.label)}{colour}];")
    return "\n".join([*lines, "}", ""])


def _mermaid(processes: list[_Process], waits: list[_Wait]) -> str:
    lines = ["flowchart LR"]
    for at, process in enumerate(processes):
        label = " ".join(filter(None, [process.title, process.below, process.stuck]))
        lines.append(f"  n{at}[{mermaid_text(label)}]")
    lines += [f"  n{wait.waiter} -->|{mermaid_text(wait.label)}| n{wait.waker}" for wait in waits]
    red = [f"n{at}" for at, process in enumerate(processes) if process.stuck]
    if red:
        lines += [
            "  classDef stuck stroke:#c0392b,stroke-width:3px",
            f"  class {','.join(red)} stuck",
        ]
    return "\n".join([*lines, ""])


def _svg(processes: list[_Process], waits: list[_Wait]) -> str:
    nodes = []
    for process in processes:
        texts = [process.title, process.below, process.stuck or ""]
        width = max(len(text) for text in texts) * _CHARACTER + 2 * _PAD
        lines = sum(bool(text) for text in texts)
        nodes.append(Node(process.title, width, lines * _LINE + _PAD))
    found = layout(
        nodes, [Edge(wait.waiter, wait.waker, len(wait.label) * _CHARACTER) for wait in waits]
    )
    width, height = found.width + 2 * _MARGIN, found.height + 2 * _MARGIN
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    font = 'font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        "<title>Who waits for whom</title>",
        _ARROW,
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
    ]
    labels = []
    for wait, points in zip(waits, found.edges, strict=True):
        colour = "#c0392b" if wait.stuck else "#555"
        start, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
        place_x, place_y = middle(points)
        line = f'fill="none" stroke="{colour}" stroke-width="1.5" marker-end="url(#arrow)"'
        halo = f'fill="{colour}" stroke="#fff" stroke-width="3" paint-order="stroke"'
        place = f'x="{place_x:.1f}" y="{place_y - 4:.1f}" text-anchor="middle"'
        parts += [
            f"<g><title>{escape(wait.title)}</title>",
            f'<path d="M{start}C{" ".join(rest)}" {line}/></g>',
        ]
        labels.append(f"<text {place} {halo}>{escape(wait.label)}</text>")
    # No line crosses the text of another one.
    parts += labels
    for process, node, (x, y) in zip(processes, nodes, found.nodes, strict=True):
        colour = "#c0392b" if process.stuck else "#333"
        parts.append(
            f'<rect x="{x - node.width / 2:.1f}" y="{y - node.height / 2:.1f}"'
            f' width="{node.width:.1f}" height="{node.height:.1f}" rx="4" fill="#f7f7f7"'
            f' stroke="{colour}" stroke-width="{2.5 if process.stuck else 1}"/>'
        )
        texts = [text for text in (process.title, process.below, process.stuck) if text]
        first = y - (len(texts) - 1) * _LINE / 2 + 4
        for at, text in enumerate(texts):
            fill = colour if text == process.stuck else "#222"
            parts.append(
                f'<text x="{x:.1f}" y="{first + at * _LINE:.1f}" text-anchor="middle"'
                f' fill="{fill}">{escape(text)}</text>'
            )
    return "\n".join([*parts, "</g>", "</svg>", ""])
