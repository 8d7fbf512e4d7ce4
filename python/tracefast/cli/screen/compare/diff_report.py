"""Print what differs between runs: first in words, then the largest changes."""

from itertools import chain, islice, zip_longest
from typing import Any, Final, NamedTuple

import polars as pl

from tracefast.analysis.compare.diff import UNITS
from tracefast.analysis.compare.significance import LEVEL, MIN_RUNS, runs_needed
from tracefast.analysis.compare.tables import TOTALS
from tracefast.analysis.compare.values import SIDES
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.compare.changes_in_words import in_words
from tracefast.cli.screen.matching import NOTHING_MATCHES
from tracefast.cli.system.colours import with_bold_heading
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align, room_for_last
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.shorten import cut_middle
from tracefast.quantities import plural

Row = dict[str, Any]

_TOP: Final = 10
_PROSE_WIDTH: Final = 100
_MIN_NAME: Final = 16
_COLUMNS: Final = ("table", "measure", "before", "after", "change", "ratio")
# Those of numbers, and what a narrow terminal does without, the first one first.
_RIGHT: Final = {"before", "after", "change", "ratio", "p"}
_SPARE: Final = ("ratio", "p", "table", "before")


class Report(NamedTuple):
    """What is printed."""

    changes: pl.DataFrame
    """What :func:`tracefast.diff` gives."""
    runs: tuple[int, int]
    """How many runs there are before and after."""
    tests: tuple[int, ...]
    """How many comparisons were made in each family."""


def print_diff_report(report: Report, request: Request, *, none_match: bool) -> None:
    """Print the words and the largest changes.

    Parameters
    ----------
    report
        What to print.
    request
        What was asked for: where to, how many lines.
    none_match
        There is something to compare, but nothing that was asked for.
    """
    terminal = is_terminal_table(Format.TABLE, request.output)
    width = terminal_width() if terminal else None
    changes = report.changes
    top = request.top
    if top is None:
        one_table = changes["table"].n_unique() <= 1
        top = screen_rows(8) if one_table and terminal else 0 if one_table else _TOP
    text = (
        render(report, width=width, top=top or changes.height)
        if not none_match
        else NOTHING_MATCHES
    )
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(report: Report, *, width: int | None, top: int) -> str:
    """Write the report.

    Parameters
    ----------
    report
        What to write.
    width
        The width of the terminal; None for no limit, and exact numbers.
    top
        How many changes to list.
    """
    changes = report.changes
    if changes.is_empty():
        return "No difference detected.\n"
    tested = min(report.runs) >= MIN_RUNS
    prose = width or _PROSE_WIDTH
    wrapped = [
        wrap(text, prose, rest="  ") for text in [*_words(changes, tested=tested), how_sure(report)]
    ]
    shown = _sure_first(changes, top)
    lines = [*chain.from_iterable(wrapped), "", *_table(shown, width, tested=tested)]
    if (more := changes.height - shown.height) > 0:
        lines.append(f"{plural(more, 'more row')}; --top 0 prints all")
    return "\n".join(lines) + "\n"


def _words(changes: pl.DataFrame, *, tested: bool) -> list[str]:
    """Say what is sure; if nothing is, what may be; and of too few runs, what there is."""
    if not tested:
        return in_words(changes)
    if changes["sure"].any():
        return in_words(changes.filter("sure"), changes)
    return [f"not sure: {text}" for text in in_words(changes.filter(pl.col("p") <= LEVEL))]


def how_sure(report: Report) -> str:
    """Say how sure the differences are.

    Parameters
    ----------
    report
        What is printed.

    Examples
    --------
    >>> how_sure(Report(pl.DataFrame({"sure": [None]}), (1, 3), ()))
    '1 and 3 runs cannot tell a difference from chance: 4 on each side can'
    >>> how_sure(Report(pl.DataFrame({"sure": [True, False]}), (6, 6), (2, 7)))
    '6 and 6 runs, 9 comparisons: 1 difference is sure (p at most .05, corrected)'
    """
    before, after = report.runs
    runs = f"{before} and {after} runs" if (before, after) != (1, 1) else "One run on each side"
    if min(report.runs) < MIN_RUNS:
        return f"{runs} cannot tell a difference from chance: {MIN_RUNS} on each side can"
    sure = int(report.changes["sure"].sum())
    text = f"{runs}, {plural(sum(report.tests), 'comparison')}: "
    if sure:
        what = plural(sure, "difference is", "differences are")
        return text + f"{what} sure (p at most .05, corrected)"
    text += "no difference is sure"
    needed = runs_needed(max(report.tests, default=1))
    if needed > min(report.runs):
        text += (
            f"; with so many, it takes {needed} runs on each side: record more, or compare less"
            " with --table and --match"
        )
    return text


def whole_numbers(changes: pl.DataFrame) -> pl.DataFrame:
    """Make numbers of a table whole, where all of a column are, and round the others."""
    floats = changes.select(pl.col(pl.Float64))
    return changes.with_columns(
        column.cast(pl.Int64) if (column == column.round()).all() else column.round(3)
        for column in floats.get_columns()
    )


def largest(changes: pl.DataFrame, top: int) -> pl.DataFrame:
    """Pick the largest changes of time, of bytes, and of numbers, in turn.

    Of a table and key, one row of each unit is enough, where not all rows have room.
    """
    if changes.height <= top:
        return changes
    # The words have the totals.
    parts = changes.filter(pl.col("table") != TOTALS)
    rows = (changes if parts.is_empty() else parts).with_row_index("row")
    firsts = rows.unique(["table", "key", "unit"], keep="first", maintain_order=True)
    chosen = firsts if firsts.height >= top else rows
    of_units = [chosen.filter(pl.col("unit").eq_missing(unit))["row"] for unit in UNITS]
    turns = (row for turn in zip_longest(*of_units) for row in turn if row is not None)
    return rows.filter(pl.col("row").is_in(list(islice(turns, top)))).drop("row")


def _sure_first(changes: pl.DataFrame, top: int) -> pl.DataFrame:
    """Pick the largest changes of those that are sure, and where there is room, of the others."""
    is_sure = pl.col("sure").fill_null(value=False)
    sure = largest(changes.filter(is_sure), top)
    return sure.vstack(largest(changes.filter(~is_sure), top - sure.height))


def _table(rows: pl.DataFrame, width: int | None, *, tested: bool) -> list[str]:
    columns = [*_COLUMNS, *(("p", "sure") if tested else ())]
    if rows["table"].n_unique() <= 1:
        columns.remove("table")
    cells = [[*columns, "key"]] + [
        [*(_cell(row, column, exact=width is None) for column in columns), printable(row["key"])]
        for row in rows.rows(named=True)
    ]
    if width is not None:
        for spare in _SPARE:
            if spare in columns and room_for_last(cells, width) < _MIN_NAME:
                at = columns.index(spare)
                del columns[at]
                for line in cells:
                    del line[at]
        room = max(room_for_last(cells, width), _MIN_NAME)
        for line in cells:
            line[-1] = cut_middle(line[-1], room)
    right = [at for at, name in enumerate(columns) if name in _RIGHT]
    return with_bold_heading(align(cells, right=right), width)


def _cell(row: Row, column: str, *, exact: bool) -> str:
    if column in {"table", "measure"}:
        return str(row[column])
    if column == "sure":
        return "-" if row["sure"] is None else "yes" if row["sure"] else "no"
    if column == "p":
        return "-" if row["p"] is None else f"{row['p']:.3f}".removeprefix("0")
    if column == "ratio":
        if row["only_in"] is not None:
            return "gone" if row["only_in"] == SIDES[0] else "new"
        return "-" if row["ratio"] is None else units.factor(row["ratio"])
    value = row[column]
    sign = "+" if column == "change" and value > 0 else "-" if value < 0 else ""
    return sign + _number(abs(value), row["unit"], exact=exact)


def _number(value: float, unit: str | None, *, exact: bool) -> str:
    # The median of an even number of runs may be half of something.
    whole = round(value)
    if unit == "ns":
        return f"{units.milliseconds(whole)} ms" if exact else units.duration(whole)
    if unit == "bytes" and not exact:
        return units.size(whole)
    return f"{value:,.0f}" if value == whole else f"{value:,.1f}"
