"""The graph as one HTML file, which loads nothing."""

from html import escape
from typing import Final

import polars as pl

from tracefast.cli.pictures.flow.graph import Graph
from tracefast.cli.pictures.flow.svg import svg
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable

# Rows of the table below the picture.
_MOST_ROWS: Final = 200
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_STYLE: Final = """
body{font:14px system-ui,sans-serif;margin:24px;color:#111827;background:#fff}
h1{font-size:20px}.box{overflow-x:auto;border:1px solid #e5e7eb;border-radius:6px}
table{border-collapse:collapse;margin-top:16px}th,td{text-align:left;padding:3px 12px 3px 0}
th{border-bottom:1px solid #9ca3af}td.n,th.n{text-align:right}td{overflow-wrap:anywhere}
tr:nth-child(even){background:#f9fafb}
"""


def page(graph: Graph, roles: pl.DataFrame, title: str) -> str:
    """Write a page with the picture, and the files with a part in the run below it."""
    rows = roles.filter(pl.col("role").is_in(["input", "intermediate", "result", "log", "scratch"]))
    several = ["log"] if graph.logs else []
    words = ["role", "path", "written by", "read by", *several]
    head = "".join(f"<th>{name}</th>" for name in words)
    body = []
    for row in rows.head(_MOST_ROWS).rows(named=True):
        lists = (", ".join(_few(row[name])) for name in ("writers", "readers"))
        log = [graph.logs.get(row["source"], "?") for _ in several]
        cells = (row["role"], row["path"], *lists, *log)
        body.append("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in cells) + "</tr>")
    more = rows.height - _MOST_ROWS
    note = f"<p>{units.count(more)} more files</p>" if more > 0 else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_text(title)}</title><style>{_STYLE}</style></head>
<body><h1>{_text(title)}</h1>
<div class="box" tabindex="0">{svg(graph, title)}</div>
<table><thead><tr>{head}</tr></thead><tbody>
{chr(10).join(body)}
</tbody></table>{note}
</body></html>
"""


def _few(names: list[str], most: int = 5) -> list[str]:
    shown = names[:most]
    return shown if len(names) <= most else [*shown, f"and {len(names) - most:,} more"]


def _text(text: str) -> str:
    return escape(printable(text))
