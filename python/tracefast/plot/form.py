"""What charts have in common: their size, the axis of time, lines of tooltips."""

from typing import Any, Final

from tracefast.plot.altair import altair

WIDTH: Final = 640
HEIGHT: Final = 300
# Formats of d3: https://d3js.org/d3-format
SECONDS: Final = ".6f"
COUNT: Final = ",d"
ID: Final = "d"
SHORT: Final = ".3~s"


def time_axis(field: str, *, title: str | None = "time (s)") -> Any:  # noqa: ANN401 - of altair
    """Give the axis of time, in seconds.

    Examples
    --------
    >>> time_axis("start_s").to_dict()["title"]
    'time (s)'
    """
    alt = altair()
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(nice=False))


def amounts(**axis: Any) -> Any:  # noqa: ANN401 - of altair
    """Give an axis of amounts, such as 200M: d3 would write nothing as 0M.

    Examples
    --------
    >>> amounts(tickCount=4).to_dict()["format"]
    '~s'
    """
    label = "datum.value === 0 ? '0' : datum.label"
    return altair().Axis(format="~s", labelExpr=label, **axis)


def count_axis(field: str, *, title: str) -> Any:  # noqa: ANN401 - of altair
    """Give the axis of counts from 0 to millions, on which 1 can be told from 0.

    Examples
    --------
    >>> count_axis("calls", title="calls").to_dict()["scale"]
    {'type': 'symlog'}
    """
    alt = altair()
    # Vega's own ticks are as far apart as on a linear axis, which leaves its lower half without.
    ticks = [0, *(10**power for power in range(10))]
    axis = alt.Axis(values=ticks, format=COUNT)
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="symlog"), axis=axis)


def tooltip(*lines: str | tuple[str, str] | tuple[str, str | None, str]) -> list[Any]:
    """Give the lines of a tooltip.

    Parameters
    ----------
    lines
        Each a column of text; or with a title; or a column of numbers with a title, None for the
        column's name, and the format.

    Examples
    --------
    >>> [line.to_dict()["title"] for line in tooltip("way", ("worker_pid", None, ID))]
    ['way', 'worker pid']
    """
    alt = altair()
    given = [(line,) if isinstance(line, str) else line for line in lines]
    return [
        alt.Tooltip(
            f"{field}:{'Q' if rest[1:] else 'N'}",
            title=(rest[0] if rest else None) or field.replace("_", " "),
            **({"format": rest[1]} if rest[1:] else {}),
        )
        for field, *rest in given
    ]


def ways(field: str, names: list[str], *, title: str | None = None) -> Any:  # noqa: ANN401 - of altair
    """Give a colour to each of some words, the same in every chart.

    Examples
    --------
    >>> ways("way", ["read", "write"]).to_dict()["scale"]
    {'domain': ['read', 'write']}
    """
    alt = altair()
    return alt.Color(f"{field}:N", title=title, scale=alt.Scale(domain=names))
