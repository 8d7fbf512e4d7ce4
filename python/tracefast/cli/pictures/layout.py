"""Where the nodes of a graph go, and along which curves its edges run."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# Points per inch, as Graphviz counts.
_DPI: Final = 72
# What pictures can hold and people can read.
MOST_NODES: Final = 60
MOST_EDGES: Final = 120


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
