"""Where the nodes of a graph go, and along which curves its edges run."""

import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

# Points per inch, as Graphviz counts.
_DPI: Final = 72
# What pictures can hold and people can read.
MOST_NODES: Final = 60
MOST_EDGES: Final = 120
# Parts of a curve that are straight enough to measure it.
_PARTS: Final = 16


@dataclass(frozen=True)
class Node:
    """A node: its name, and the size of its box in points."""

    name: str
    width: float
    height: float


@dataclass(frozen=True)
class Edge:
    """An edge from one node to another, by their positions in the list; the width of its label."""

    source: int
    target: int
    label: float = 0


@dataclass(frozen=True)
class Layout:
    """The size of a picture; the centre of each node; the control points of each edge.

    The first point of an edge is its start; each three that follow are a cubic Bézier curve.
    """

    width: float
    height: float
    nodes: list[tuple[float, float]]
    edges: list[list[tuple[float, float]]]


def can_layout() -> bool:
    """Say whether the library that finds the places is installed."""
    return importlib.util.find_spec("pygraphviz") is not None


def layout(nodes: Sequence[Node], edges: Sequence[Edge]) -> Layout:
    """Find places for the nodes of a directed graph, from left to right, and curves for its edges.

    Parameters
    ----------
    nodes
        The nodes; at most 60 can be read.
    edges
        The edges; the same pair may be there twice.

    Raises
    ------
    ModuleNotFoundError
        pygraphviz is not installed: ``pip install 'tracefast[report]'``.

    Examples
    --------
    >>> found = layout([Node("a", 72, 36), Node("b", 72, 36)], [Edge(0, 1)])
    >>> found.nodes[0][0] < found.nodes[1][0]
    True
    """
    import pygraphviz  # type: ignore[import-untyped]

    graph = pygraphviz.AGraph(
        directed=True,
        strict=False,
        rankdir="LR",
        nodesep=0.3,
        ranksep=max([0.5, *(edge.label / _DPI + 0.4 for edge in edges)]),
        nslimit=2,
        mclimit=0.5,
    )
    for at, node in enumerate(nodes):
        graph.add_node(
            f"n{at}",
            shape="box",
            fixedsize=True,
            width=node.width / _DPI,
            height=node.height / _DPI,
            label="",
        )
    for at, edge in enumerate(edges):
        graph.add_edge(f"n{edge.source}", f"n{edge.target}", key=str(at), dir="none")
    graph.layout(prog="dot")
    left, bottom, right, top = map(float, graph.graph_attr["bb"].split(","))

    def point(text: str) -> tuple[float, float]:
        x, y = map(float, text.split(",")[:2])
        # Graphviz counts from below.
        return x - left, top - y

    places = [point(graph.get_node(f"n{at}").attr["pos"]) for at in range(len(nodes))]
    curves = []
    for at, edge in enumerate(edges):
        found = graph.get_edge(f"n{edge.source}", f"n{edge.target}", key=str(at))
        curves.append([point(text) for text in found.attr["pos"].split()])
    return Layout(right - left, top - bottom, places, curves)


def middle(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Give the point in the middle of the way along an edge.

    Examples
    --------
    >>> x, y = middle([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (3.0, 0.0)])
    >>> 1.3 < x < 1.7, y
    (True, 0.0)
    """
    steps = [at / _PARTS for at in range(_PARTS)]
    way = []
    for at in range(0, len(points) - 3, 3):
        one, two, three, four = points[at : at + 4]
        for t in steps:
            parts = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            corners = (one, two, three, four)
            x = sum(part * corner[0] for part, corner in zip(parts, corners, strict=True))
            y = sum(part * corner[1] for part, corner in zip(parts, corners, strict=True))
            way.append((x, y))
    way.append(points[-1])
    lengths = [math.dist(a, b) for a, b in pairwise(way)]
    left = sum(lengths) / 2
    for point, length in zip(way, lengths, strict=False):
        if left <= length:
            return point
        left -= length
    return way[-1]
