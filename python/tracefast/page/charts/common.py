"""What the charts of a report share: their size, and the part of the time that they follow."""

from typing import Any, Final

import polars as pl

from tracefast.cli.text import units
from tracefast.page.shell import Spec

# Not longer, or labels would take the room of the chart on a phone.
LABEL: Final = 26
_SIZED: Final = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
# A chart with these attributes shows only the part of the time that another one chooses.
FOLLOW: Final = "data-follow"
_WINDOW: Final = ("window_from", "window_to")


def spec(rows: pl.DataFrame, height: int, **parts: Any) -> Spec:  # noqa: ANN401 - JSON
    """Give a chart as wide as its place.

    Parameters
    ----------
    rows
        Its data.
    height
        Its height in pixels.
    parts
        The rest of it: mark, encoding.
    """
    return {**_SIZED, "height": height, "data": {"values": rows.to_dicts()}, **parts}


def time_axis(field: str, span_s: float, *, follows: bool = False) -> dict[str, Any]:
    """Give the axis of time, in seconds since the start of the log.

    Parameters
    ----------
    field
        The column.
    span_s
        The length of the log.
    follows
        It shows only the part of the time that another chart chooses: see `window_params`.
    """
    scale: dict[str, Any] = {"domain": [0, span_s], "nice": False}
    if follows:
        low, high = _WINDOW
        scale["domainMin"] = {"expr": f"{low} === null ? 0 : {low}"}
        scale["domainMax"] = {"expr": f"{high} === null ? {span_s!r} : {high}"}
        del scale["domain"]
    axis = {"grid": False, "tickCount": 8}
    title = "seconds since the start"
    return {"field": field, "type": "quantitative", "scale": scale, "title": title, "axis": axis}


def window_params() -> list[dict[str, Any]]:
    """Give the parameters by which the page says which part of the time to show."""
    return [{"name": name, "value": None} for name in _WINDOW]


def tip(field: str, title: str) -> dict[str, str]:
    """Give a line of a tooltip."""
    return {"field": field, "title": title, "type": "nominal"}


def durations(values: pl.Series) -> pl.Series:
    """Write times in ns for people."""
    return pl.Series([None if ns is None else units.duration(ns) for ns in values], dtype=pl.String)


def sizes(values: pl.Series) -> pl.Series:
    """Write numbers of bytes for people."""
    return pl.Series([None if n is None else units.size(n) for n in values], dtype=pl.String)
