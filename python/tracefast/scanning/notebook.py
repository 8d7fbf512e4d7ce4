"""What a frame of events shows in a notebook: its files, and how good they are as far as known."""

import json
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import Final

import polars as pl

from tracefast.scanning.sources import Inputs, one_line
from tracefast.scanning.time_window import Window

_MOST: Final = 20
_LEFT: Final = ' style="text-align: left"'


def show_files(events: pl.LazyFrame, inputs: Inputs, names: Sequence[str], window: Window) -> None:
    """Let a frame show its files in a notebook, and not the plan of its query.

    Nothing is read for that. Frames that are made from it show their plans.

    Parameters
    ----------
    events
        The frame.
    inputs, names
        What is known of its files, and their names, in order.
    window
        The window of time that the events are in.

    Examples
    --------
    >>> import tracefast as tf
    >>> "known when all is read" in tf.scan("demo.strace")._repr_html_()
    True
    """
    show = partial(_table, inputs, tuple(names), window)
    # polars has no other way to say it.
    events._repr_html_ = show  # type: ignore[method-assign]


def _table(inputs: Inputs, names: Sequence[str], window: Window) -> str:
    rows = [(name, _known(inputs, name)) for name in names[:_MOST]]
    if len(names) > _MOST:
        rows.append(("", f"{len(names) - _MOST:,} more files"))
    rows += [("window", moment.text) for moment in window.moments]
    rows.append(("events", "a query, which collect() runs"))
    cells = "".join(
        f"<tr><th{_LEFT}>{escape(one_line(name))}</th><td{_LEFT}>{escape(one_line(text))}</td></tr>"
        for name, text in rows
    )
    return f"<div><strong>Events</strong><table><tbody>{cells}</tbody></table></div>"


def _known(inputs: Inputs, name: str) -> str:
    """Say what the footer of a file says about its log."""
    if inputs.contents[name] == "log":
        return "log; quality: known when all is read"
    file = inputs.files.get(name)
    report = json.loads(file.metadata.get("tracefast.report", "{}")) if file else {}
    if not report:
        return "events; quality: not known"
    warnings = "".join(f"; {text}" for text in report["warnings"])
    return f"{report['rows']:,} rows; quality: {', '.join(report['quality'])}{warnings}"
