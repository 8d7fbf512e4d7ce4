"""Print findings: how severe, what, the evidence, what it would save, where, what to do."""

from typing import Any, Final

import polars as pl

from tracefast.analysis.insights.finding import Severity
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.matching import NOTHING_MATCHES
from tracefast.cli.system.colours import bold_heading, has_coloured_tables
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.paragraph import wrap
from tracefast.quantities import plural, span

_PROSE_WIDTH: Final = 100
# Longer lines are hard to read, however wide the terminal is.
_WIDEST: Final = 120
_INDENT: Final = "        "


def print_insights(
    rows: pl.DataFrame, request: Request, *, rules: int, none_match: bool, several: bool
) -> None:
    """Print findings.

    Parameters
    ----------
    rows
        The findings, those to print first.
    request
        What was asked for: where to, how many.
    rules
        How many rules were asked.
    none_match
        There are findings, but none of them is one of those that were asked for.
    several
        More than one log was named.
    """
    width, bold = _PROSE_WIDTH, False
    if is_terminal_table(Format.TABLE, request.output):
        width, bold = min(terminal_width(), _WIDEST), has_coloured_tables()
    top = request.top or rows.height
    text = render(rows, width=width, top=top, rules=rules, bold=bold, several=several)
    if none_match:
        text = NOTHING_MATCHES
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(
    rows: pl.DataFrame, *, width: int, top: int, rules: int, bold: bool, several: bool
) -> str:
    """Write findings.

    Parameters
    ----------
    rows
        The findings.
    width
        Columns of a line.
    top
        How many to write.
    rules
        How many rules were asked.
    bold
        Write the title of each finding in bold.
    several
        Name the log of each finding.
    """
    parts = [_wrapped(_summary(rows, rules), width)]
    listed = (_finding(row, width, several=several) for row in rows.head(top).rows(named=True))
    parts += map(bold_heading, listed) if bold else listed
    if rows.height > top:
        parts.append(f"{rows.height - top:,} more; --top 0 prints all\n")
    return "\n".join(parts)


def _summary(rows: pl.DataFrame, rules: int) -> str:
    asked = plural(rules, "rule")
    if rows.is_empty():
        return f"Nothing was found by {asked}."
    counts = [(rows["severity"] == severity.value).sum() for severity in Severity]
    named = [
        f"{count:,} {severity.value}"
        for severity, count in zip(Severity, counts, strict=True)
        if count
    ]
    logs = rows["source"].n_unique()
    of_logs = f" in {logs:,} logs" if logs > 1 else ""
    return f"{plural(rows.height, 'finding')} by {asked}{of_logs}: {', '.join(named)}."


def _finding(row: dict[str, Any], width: int, *, several: bool) -> str:
    head = f"{row['severity']:<7} {row['code']}: {row['title']}"
    text = _wrapped(head, width, "", _INDENT)
    text += _wrapped(f"Seen: {row['evidence']}.", width, _INDENT)
    if place := _place(row, several=several):
        text += _wrapped(place, width, _INDENT)
    if row["saving_high_ns"] is not None:
        saving = span(row["saving_low_ns"], row["saving_high_ns"])
        text += _wrapped(f"Saves: {saving}", width, _INDENT)
    return text + _wrapped(f"Do: {row['advice']} See {row['page']}", width, _INDENT)


def _place(row: dict[str, Any], *, several: bool) -> str:
    """Say what a finding is about, and where the log shows it."""
    where = f"of {row['source']}" if several else ""
    if row["lines"]:
        noun = "line" if len(row["lines"]) == 1 else "lines"
        where = f"{noun} {', '.join(map(str, row['lines']))} {where}".strip()
    place = ", ".join(filter(None, (row["object"], where)))
    # The name of a file is as it is.
    return place if row["object"] is not None else place[:1].upper() + place[1:]


def _wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> str:
    lines = wrap(printable(text), width, first=first, rest=first if rest is None else rest)
    return "\n".join([*lines, ""])
