"""Charts of `tracefast.plot` as parts of a page: as wide as their place, on one axis of time."""

from typing import Any, Final

import polars as pl

from tracefast.page.shell import Spec

# A chart with this attribute shows only the part of the time that another one chooses.
FOLLOW: Final = "data-follow"
BRUSH: Final = "data-brush"
_SIZED: Final = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
_WINDOW: Final = ("window_from", "window_to")
_TIME: Final = "time (s)"
_LEGEND: Final = {"orient": "top", "columns": 4, "labelLimit": 150}


def in_page(
    chart: Any,  # noqa: ANN401 - any chart of altair
    *,
    height: int | None = None,
    span_s: float | None = None,
    attribute: str = "",
    rows: pl.DataFrame | None = None,
    legend: bool = True,
) -> Spec:
    """Give a chart as wide as its place.

    Parameters
    ----------
    chart
        The chart.
    height
        Its height in pixels; None to leave it as it is.
    span_s
        How many seconds the time axis spans; None without times.
    attribute
        `BRUSH`: a part of the time can be chosen with the pointer. `FOLLOW`: the chart shows only
        the part that was chosen.
    rows
        The data named ``rows``, of which there is more than altair takes.
    legend
        Say which colour is what: not where the chart above does.
    """
    # The tests check charts against the schema of Vega-Lite, which takes longer than to make them.
    spec: dict[str, Any] = chart.to_dict(validate=False)
    # The page has titles of its own.
    spec.pop("title", None)
    spec |= _SIZED | ({} if height is None else {"height": height})
    if rows is not None:
        spec["datasets"] = {"rows": rows.to_dicts()}
    if attribute:
        spec["params"] = [*spec.get("params", []), *_params(attribute)]
    for part in spec.get("layer", [spec]):
        if colour := part["encoding"].get("color"):
            # Beside the chart it would take the width of a phone, and move the axis of time.
            colour.setdefault("legend", dict(_LEGEND) if legend else None)
        if span_s is not None:
            part["encoding"]["x"] |= _axis(span_s, follows=attribute == FOLLOW)
            part["mark"]["clip"] = True
    return spec


def _axis(span_s: float, *, follows: bool) -> dict[str, Any]:
    scale: dict[str, Any] = {"domain": [0, span_s], "nice": False}
    if follows:
        low, high = _WINDOW
        scale = {
            "domainMin": {"expr": f"{low} === null ? 0 : {low}"},
            "domainMax": {"expr": f"{high} === null ? {span_s!r} : {high}"},
            "nice": False,
        }
    return {"scale": scale, "title": _TIME, "axis": {"grid": False, "tickCount": 8}}


def _params(attribute: str) -> list[dict[str, Any]]:
    if attribute == BRUSH:
        return [{"name": "brush", "select": {"type": "interval", "encodings": ["x"]}}]
    return [{"name": name, "value": None} for name in _WINDOW]
