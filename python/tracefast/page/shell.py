"""The shell of every page: one file that loads nothing and runs only its own two scripts.

Data of a log is in a page as text, never as a part of its scripts: charts are blocks of JSON, which
the page's own script hands to Vega. Vega interprets its expressions (`ast`), so that the policy of
the page need not allow code that is made from text.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from tracefast.cli.text.escaping import printable
from tracefast.cli.text.shorten import cut_middle

# A chart as Vega-Lite describes it, such as `altair.Chart.to_dict` gives it.
Spec = Mapping[str, Any]

_ASSETS: Final = files("tracefast.page") / "assets"
# Longer names say no more, and would make the size of a page depend on the log.
MOST_TEXT: Final = 160
# Rules of the page's own: https://www.w3.org/TR/CSP3/. Styles may be inline, as Vega sets some.
_POLICY: Final = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'"
)
# Digits of numbers in charts: more than a screen can show, fewer than floats have.
_DIGITS: Final = 6


def text(value: str, most: int = MOST_TEXT) -> str:
    """Write text of a log for HTML: what is invisible is escaped, what is long is cut.

    Parameters
    ----------
    value
        The text.
    most
        How many characters to keep.

    Examples
    --------
    >>> text('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return escape(shown(value, most))


def shown(value: str, most: int = MOST_TEXT) -> str:
    r"""Write text of a log as a page shows it: what is invisible is escaped, what is long is cut.

    Examples
    --------
    >>> print(shown("a\u202eb\n"), len(shown("long/" * 100)))
    a\u202eb\n 160
    """
    return cut_middle(printable(value), most)


def json_block(value: object, attributes: str) -> str:
    r"""Write a block of JSON into HTML: no text in it can end the block.

    Examples
    --------
    >>> print(json_block({"path": "</script>"}, 'id="x"'))
    <script type="application/json" id="x">{"path":"\u003c/script>"}</script>
    """
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    safe = written.replace("<", r"\u003c")
    return f'<script type="application/json" {attributes}>{safe}</script>'


def figure(spec: Spec, label: str, *, attributes: str = "") -> str:
    """Write a chart into HTML.

    Parameters
    ----------
    spec
        The chart. Rows of its data are written as columns, which takes half the room.
    label
        What it shows, for people who do not see it.
    attributes
        Attributes of the element that holds the chart, as HTML.
    """
    plain = {name: part for name, part in spec.items() if name not in {"datasets", "$schema"}}
    made = _plain(plain)
    # The page has its own colours.
    made.pop("config", None)
    data = made.get("data")
    if isinstance(data, dict) and "values" in data:
        made["data"] = {"columns": _columns(spec["data"]["values"])}
    if "datasets" in spec:
        made["datasets"] = {name: _columns(rows) for name, rows in spec["datasets"].items()}
    return (
        f'<figure class="chart" role="img" aria-label="{text(label)}" {attributes}>'
        f"{json_block(made, '')}</figure>"
    )


def _plain(part: Any) -> Any:  # noqa: ANN401 - any part of a chart
    """Write every text in a part of a chart as it is shown, every number with few digits."""
    if isinstance(part, str):
        return printable(part)
    if isinstance(part, float):
        return float(f"{part:.{_DIGITS}g}") if part % 1 else int(part)
    if isinstance(part, Mapping):
        return {name: _plain(value) for name, value in part.items()}
    if isinstance(part, Sequence):
        return [_plain(value) for value in part]
    return part


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows into columns."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [_plain(row.get(name)) for row in rows] for name in names}


def document(title: str, body: str, *, charts: bool) -> str:
    """Write a page.

    Parameters
    ----------
    title
        Its title, as text.
    body
        What it holds, as HTML.
    charts
        There are charts in it, which need Vega: 0.9 MB.
    """
    scripts = [vega_bundle()] if charts else []
    scripts.append(_asset("page.js"))
    policy = _POLICY.format(scripts=" ".join(f"'sha256-{_digest(script)}'" for script in scripts))
    written = "\n".join(f"<script>{script}</script>" for script in scripts)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{text(title)}</title>
<style>
{_asset("style.css")}</style></head>
<body>
{body}
{written}
</body></html>
"""


def chart_page(spec: Spec, title: str) -> str:
    """Write a page with one chart.

    Parameters
    ----------
    spec
        The chart, as `altair.Chart.to_dict` gives it.
    title
        What it shows.
    """
    body = f"<main><h1>{text(title)}</h1>\n{figure(spec, title)}</main>"
    return document(title, body, charts=True)


@cache
def vega_bundle() -> str:
    """Give Vega, Vega-Lite and vega-embed as one script, as `assets/NOTICE` describes it."""
    return gzip.decompress((_ASSETS / "vega.js.gz").read_bytes()).decode()


@cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
