"""Write a table as text: fitted to a terminal, exact and whole elsewhere."""

import math
from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from tracefast.cli.text import units
from tracefast.cli.text.escaped_columns import as_text, printable_column
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.fitting import TextColumn, cut_to_fit, without_spare
from tracefast.cli.text.layout import align
from tracefast.cli.text.width import cells as text_width

_ABSENT: Final = "-"
# An earlier time is not a date: it counts from the start of the machine or of the log.
_MIN_EPOCH_NS: Final = 315_532_800_000_000_000  # 1980

# Headings that are not the name of the column.
_HEADINGS: Final = {
    "total_share": "% time",
    "share": "% events",
    "in_flight_max": "max parallel",
    "task_top": "top task",
    "op_bytes": "bytes",
    "op_ns": "time",
    "errors": "err",
    "reread_factor": "re-read",
    "covered_share": "covered",
    "read_ns": "read time",
    "write_ns": "write time",
    "sequential_share_1": "seq 1",
    "sequential_share_4": "seq 4",
    "readahead_share": "readahead",
    "streaming_share": "streaming",
    "exit_status": "exit",
    "exit_signal": "signal",
}

_Formatter = Callable[..., str]


def render_table(
    frame: pl.DataFrame,
    columns: Sequence[str],
    width: int | None = None,
    spare: Sequence[str] = (),
    *,
    verbatim: bool = False,
) -> str:
    """Write a table as text.

    Parameters
    ----------
    frame
        The table.
    columns
        The columns to show, in this order; the last one should be text, such as a path.
    width
        Width of the terminal: values get units that fit, long text is cut in its middle, and
        columns of zeros are left out. None for exact and whole values: sizes in bytes, times in
        milliseconds.
    spare
        Columns to leave out on a terminal that is too narrow, the first one first.
    verbatim
        Leave names and values as they are: no units, no column left out, and times as SQL
        understands them.

    Returns
    -------
    str
        One line per row after the header, each ended by a newline.

    Examples
    --------
    >>> frame = pl.DataFrame({"reads": [10], "read_bytes": [43290], "path": ["/srv/a.pth"]})
    >>> print(render_table(frame, frame.columns), end="")
    reads  read bytes  path
       10      43,290  /srv/a.pth
    """
    terminal = width is not None
    if terminal and not verbatim:
        frame = _in_words(frame)
    frame = as_text(frame)
    if terminal and not verbatim:
        columns = with_values(frame, columns)
    shown = [
        TextColumn(
            name,
            _cells(frame[name], terminal=terminal, verbatim=verbatim),
            frame[name].dtype.is_numeric(),
        )
        for name in columns
    ]
    if width is not None:
        shown = without_spare(shown, width, spare)
        cut_to_fit(shown, width)
    rows = list(zip(*(column.cells for column in shown), strict=True))
    right = [at for at, column in enumerate(shown) if column.numeric]
    return "".join(f"{line}\n" for line in align(rows, right=right))


def _in_words(frame: pl.DataFrame) -> pl.DataFrame:
    """Write lists of names and what is true as people do; what is not so is not said."""
    names = [name for name, dtype in frame.schema.items() if dtype == pl.List(pl.String)]
    true = [name for name, dtype in frame.schema.items() if dtype == pl.Boolean]
    return frame.with_columns(
        *(
            pl.when(pl.col(name).list.len() > 0).then(pl.col(name).list.join(", ")).alias(name)
            for name in names
        ),
        *(pl.when(pl.col(name)).then(pl.lit("yes")).alias(name) for name in true),
    )


def fits(table: str, width: int) -> bool:
    """Say whether no line of a table is longer than a terminal is wide.

    Examples
    --------
    >>> fits("calls  path\\n   10  /a\\n", 11), fits("calls  path\\n   10  /a\\n", 10)
    (True, False)
    """
    return all(text_width(line) <= width for line in table.splitlines())


def with_values(frame: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Give the columns that have a value other than zero, as those of errors mostly have not.

    Examples
    --------
    >>> with_values(pl.DataFrame({"reads": [2], "read_errors": [0]}), ["reads", "read_errors"])
    ['reads']
    """
    return [name for name in columns if not _is_empty(frame[name])]


def _cells(values: pl.Series, *, terminal: bool, verbatim: bool) -> list[str]:
    """Write the heading and the values of a column."""
    if verbatim:
        return [printable(values.name), *_verbatim(values)]
    return [
        printable(heading(values.name, terminal=terminal)),
        *_column(values, terminal=terminal),
    ]


def _is_empty(values: pl.Series) -> bool:
    """Say whether a column has only zeros and nulls, as those of errors mostly have.

    A share of zero is a result; such a column is kept.
    """
    if values.is_empty():
        return False
    if values.dtype.is_numeric() and not _is_share(values.name):
        return bool((values.fill_null(0) == 0).all())
    return values.null_count() == len(values)


def _is_share(name: str) -> bool:
    return "share" in name.split("_")


def heading(name: str, *, terminal: bool) -> str:
    """Give the heading of a column.

    Examples
    --------
    >>> heading("max_ns", terminal=True), heading("max_ns", terminal=False)
    ('max', 'max ms')
    """
    if name.startswith("POSIX_"):
        # Darshan's own names are kept, without the prefix that all of them share.
        return name.removeprefix("POSIX_")
    known = _HEADINGS.get(name)
    if name.endswith("_ns"):
        if terminal:
            return known or name.removesuffix("_ns").replace("_", " ")
        known = known if name == "op_ns" else None
        return f"{known or name.removesuffix('_ns').replace('_', ' ')} ms"
    return known or name.replace("_", " ")


def column_texts(values: pl.Series) -> list[str]:
    """Write the values of a column as on a terminal: numbers with the units that fit.

    Examples
    --------
    >>> column_texts(pl.Series("read_bytes", [43290, None]))
    ['42.3 KiB', '-']
    """
    return _column(values, terminal=True)


def _column(values: pl.Series, *, terminal: bool) -> list[str]:
    if values.dtype == pl.Datetime:
        return _times(values, terminal=terminal)
    if not values.dtype.is_numeric():
        texts = printable_column(values.cast(pl.String))
        return [_ABSENT if text is None else text for text in texts]
    format_value = _formatter(values.name, terminal=terminal)
    return [
        _ABSENT if value is None else format_value(value) if math.isfinite(value) else str(value)
        for value in values
    ]


def _verbatim(values: pl.Series) -> list[str]:
    """Write values as they are: numbers with all digits, without separators."""
    if values.dtype == pl.Datetime:
        return _dates(values.dt.cast_time_unit("ns"), "%Y-%m-%d ")
    texts = values.cast(pl.String)
    if values.dtype == pl.String:
        texts = printable_column(texts)
    return [_ABSENT if text is None else text for text in texts]


def _formatter(name: str, *, terminal: bool) -> _Formatter:
    """Choose how the numbers of a column are written, by the unit in its name."""
    if name.endswith("_ns"):
        return units.duration if terminal else units.milliseconds
    sizes = ("_bytes", "size", "size_median", "size_max", "_requested", "_asked_common")
    if terminal and name.endswith(sizes):
        return units.size
    if _is_share(name):
        return _percentage(name, terminal=terminal)
    if name.endswith(("_factor", "imbalance")):
        return units.factor if terminal else "{:.3f}".format
    if name.startswith("POSIX_F_"):
        return "{:.9f}".format
    plain = ("line", "file", "pid", "tid", "task", "ofd", "exit_status")
    return str if name.endswith(plain) else units.count


def _percentage(name: str, *, terminal: bool) -> _Formatter:
    write = units.share if terminal else units.percentage
    if heading(name, terminal=terminal).startswith("%"):
        return lambda value: write(value).removesuffix("%").rstrip()
    return write


def _times(values: pl.Series, *, terminal: bool) -> list[str]:
    """Write times in microseconds, or in nanoseconds where the log has these.

    On a terminal the date is left out if there is only one.
    """
    values = values.dt.cast_time_unit("ns")
    whole = values.cast(pl.Int64)
    latest = whole.max()
    if isinstance(latest, int) and latest < _MIN_EPOCH_NS:
        digits = 9 if _has_nanoseconds(values) else 6
        return [_ABSENT if value is None else f"{value / 1e9:.{digits}f}" for value in whole]
    day = "" if terminal and values.dt.date().n_unique() == 1 else "%Y-%m-%d "
    return _dates(values, day)


def _dates(values: pl.Series, day: str) -> list[str]:
    text = values.dt.to_string(f"{day}%H:%M:%S{'%.9f' if _has_nanoseconds(values) else '%.6f'}")
    return [_ABSENT if value is None else value for value in text]


def _has_nanoseconds(values: pl.Series) -> bool:
    """Say whether microseconds would lose digits."""
    return bool((values.cast(pl.Int64) % 1000 != 0).any())
