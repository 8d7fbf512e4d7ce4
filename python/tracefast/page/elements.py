"""Parts of a page: tables, lists, sentences. Every text of a log is escaped by `shell.text`."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import polars as pl

from tracefast.cli.text.frame_rows import kind_of, values_of
from tracefast.cli.text.table_text import column_texts, heading, with_values
from tracefast.cli.text.units import count
from tracefast.page.shell import text

# More rows than these are in a box of their own, which scrolls.
_LOW: Final = 16
# Texts that are longer may be broken into lines, but not into columns of a few letters.
_LONG: Final = 24
# Not the first slash of a path, which would be alone at the end of a line.
_FOLDER: Final = re.compile(r"(?<=\w)/")
# Words of a command with a hyphen, such as options: lines break after these.
_HYPHENATED: Final = re.compile(r"(?<!\S)[\w-]*-[\w=-]*(?!\S)")
# Sentences hold a path or two.
_SENTENCE: Final = 700


class Panel(NamedTuple):
    """A part of the report."""

    id: str
    """Its name in links."""
    title: str
    """What it shows, in a few words."""
    body: str
    """What is in it, as HTML."""


def section(panel: Panel) -> str:
    """Write a panel.

    Examples
    --------
    >>> print(section(Panel("files", "Files", "<p>none</p>")))
    <section id="files" aria-labelledby="files-title">
    <h2 id="files-title">Files</h2>
    <p>none</p>
    </section>
    """
    head = f'<h2 id="{panel.id}-title">{text(panel.title)}</h2>'
    return (
        f'<section id="{panel.id}" aria-labelledby="{panel.id}-title">\n'
        f"{head}\n{panel.body}\n</section>"
    )


def sentence(words: str, *, dim: bool = False) -> str:
    """Write a paragraph.

    Examples
    --------
    >>> sentence("1 < 2")
    '<p>1 &lt; 2</p>'
    """
    return f"<p{' class=dim' if dim else ''}>{text(words, _SENTENCE)}</p>"


def empty(why: str, record: str | None = None) -> str:
    """Say why a panel has no rows, and what to record.

    Examples
    --------
    >>> print(empty("The log has no times.", "strace"))
    <p class="dim empty">The log has no times. Record: <code>strace</code></p>
    """
    more = f" Record: {code(record)}" if record is not None else ""
    return f'<p class="dim empty">{text(why, _SENTENCE)}{more}</p>'


def code(command: str) -> str:
    """Write a command: no line of it ends in the middle of an option.

    Examples
    --------
    >>> code("strace -f <log>")
    '<code>strace <span>-f</span> &lt;log&gt;</code>'
    """
    words = _HYPHENATED.sub(r"<span>\g<0></span>", text(command, _SENTENCE))
    return f"<code>{words}</code>"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Write a list of names and values.

    Examples
    --------
    >>> facts([("Logs", "a.strace")])
    '<dl><dt>Logs</dt><dd>a.strace</dd></dl>'
    """
    parts = [f"<dt>{text(name)}</dt><dd>{text(value, _SENTENCE)}</dd>" for name, value in rows]
    return f"<dl>{''.join(parts)}</dl>"


def bullets(lines: Iterable[str]) -> str:
    """Write a list of sentences.

    Examples
    --------
    >>> bullets(["a", "b"])
    '<ul><li>a</li><li>b</li></ul>'
    """
    return f"<ul>{''.join(f'<li>{text(line, _SENTENCE)}</li>' for line in lines)}</ul>"


def table(
    name: str,
    rows: pl.DataFrame,
    *,
    most: int,
    of: int | None = None,
    names: Mapping[str, str] | None = None,
    search: str | None = None,
    noun: tuple[str, str] = ("row", "rows"),
) -> str:
    """Write a table that can be sorted by any column.

    Numbers are written for people, and are in ``data-v`` as they are. The log is a column only if
    there are several, and columns without a value are left out.

    Parameters
    ----------
    name
        Its name in the page.
    rows
        The rows, those to keep first, with the columns to show.
    most
        How many rows to write.
    of
        How many rows there are, where `rows` are only the first ones.
    names
        Headings that do not follow from the name of the column.
    search
        What the search field is called; None for no field.
    noun
        What a row is, and several of them, for the line that says how many there are.
    """
    kept = rows.head(most)
    if "source" in kept.columns and kept["source"].n_unique() < 2:  # noqa: PLR2004 - one log
        kept = kept.drop("source")
    kept = kept.select(with_values(kept, kept.columns))
    heads = "".join(_head(kept[column], (names or {}).get(column)) for column in kept.columns)
    cells = [_cells(kept[column]) for column in kept.columns]
    lines = "\n".join(f"<tr>{''.join(line)}</tr>" for line in zip(*cells, strict=True))
    field = ""
    if search is not None and kept.height > 1:
        field = (
            f'<div class="search"><label>{text(search)} <input type="search" data-table="{name}">'
            "</label> <output></output></div>"
        )
    note = ""
    if (there := of or rows.height) > kept.height:
        note = sentence(f"The first {count(kept.height)} of {count(there)} {noun[1]}.", dim=True)
    box = "box tall" if kept.height > _LOW else "box"
    return (
        f'{field}<div class="{box}" tabindex="0"><table id="{name}"><thead><tr>{heads}</tr></thead>'
        f"<tbody>\n{lines}\n</tbody></table></div>{note}"
    )


def breakable(html: str) -> str:
    """Let paths be broken into lines after their folders.

    Examples
    --------
    >>> breakable("/srv/data")
    '/srv/<wbr>data'
    """
    return _FOLDER.sub("/<wbr>", html)


def _head(values: pl.Series, words: str | None) -> str:
    kind = " class=n" if values.dtype.is_numeric() else ""
    words = words or heading(values.name, terminal=True)
    return f'<th{kind} data-c="{values.name}" scope="col"><button>{text(words)}</button></th>'


def _cells(values: pl.Series) -> list[str]:
    """Write the cells of a column."""
    # Of one event it would be written in bytes.
    name = "moved_bytes" if values.name == "bytes" else values.name
    texts = column_texts(name, kind_of(values), values_of(values))
    if not values.dtype.is_numeric():
        kind = " class=wide" if max(map(len, texts), default=0) > _LONG else ""
        return [f"<td{kind}>{breakable(text(each))}</td>" for each in texts]
    raw = ["" if value is None or not math.isfinite(value) else repr(value) for value in values]
    return [
        f'<td class=n data-v="{value}">{text(each)}</td>'
        for value, each in zip(raw, texts, strict=True)
    ]
