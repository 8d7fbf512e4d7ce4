"""Write an overview as JSON."""

import json
from dataclasses import asdict
from typing import Any, Final

import polars as pl

from tracefast.analysis.overview.tables import Overview, findings
from tracefast.analysis.overview.times import times_of
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.encode import encode_table
from tracefast.cli.output.form import Format
from tracefast.cli.output.write import write_bytes
from tracefast.cli.text.escaping import plain_json

# As on the screen.
_MOST: Final = 5
_FILES: Final = ("source", "path", "reads", "read_bytes", "read_ns", "writes", "write_bytes")


def write_overview(found: Overview, request: Request) -> None:
    """Write the numbers of an overview as one object of JSON.

    Parameters
    ----------
    found
        The tables.
    request
        What was asked for: where to, how many rows of a list.
    """
    most = _MOST if request.top is None else request.top or None
    times = times_of(found)
    whole: dict[str, Any] = {
        "events": int(found.table("tasks")["events"].sum()),
        "not_understood": int(found.table("tasks")["unparsed"].sum()),
        "gaps": found.gaps,
        "quality": list(found.quality),
        "time": None if times is None else asdict(times),
        "processes": _rows(found.table("processes"), most),
        "files": _rows(found.table("files").select(_FILES), most),
        "errors": _rows(found.table("errors"), most),
        "findings": [one._asdict() for one in findings(found)[:most]],
    }
    text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    write_bytes(plain_json(text).encode(), request.output, clobber=request.clobber)


def _rows(table: pl.DataFrame, most: int | None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(encode_table(table.slice(0, most), Format.JSON))
    return rows
