"""Write a table as text: fitted to a terminal, exact and whole elsewhere."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.fitting import TextColumn, cut_to_fit, without_spare
from tracefast.cli.text.layout import align
from tracefast.cli.text.rows import Kind, Rows, Table, rows_of
from tracefast.cli.text.width import cells as text_width

_ABSENT: Final = "-"
# An earlier time is not a date: it counts from the start of the machine or of the log.
_MIN_EPOCH_NS: Final = 315_532_800_000_000_000  # 1980
_S: Final = 1_000_000_000
_DAY: Final = 86_400 * _S

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
    table: Table,
    columns: Sequence[str],
    width: int | None = None,
    spare: Sequence[str] = (),
    *,
    verbatim: bool = False,
) -> str:
    """Write a table as text.

    Parameters
    ----------
    table
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
    >>> import polars as pl
    >>> frame = pl.DataFrame({"reads": [10], "read_bytes": [43290], "path": ["/srv/a.pth"]})
    >>> print(render_table(frame, frame.columns), end="")
    reads  read bytes  path
       10      43,290  /srv/a.pth
    """
    terminal = width is not None
    source = rows_of(table)
    if terminal and not verbatim:
        columns = with_values(source, columns)
    shown = [
        TextColumn(
            name,
            _cells(source, name, terminal=terminal, verbatim=verbatim),
            source.kind(name) == "number",
        )
        for name in columns
    ]
    if width is not None:
        shown = without_spare(shown, width, spare)
        cut_to_fit(shown, width)
    rows = list(zip(*(column.cells for column in shown), strict=True))
    right = [at for at, column in enumerate(shown) if column.numeric]
    return "".join(f"{line}\n" for line in align(rows, right=right))


def fits(table: str, width: int) -> bool:
    """Say whether no line of a table is longer than a terminal is wide.

    Examples
    --------
    >>> fits("calls  path\\n   10  /a\\n", 11), fits("calls  path\\n   10  /a\\n", 10)
    (True, False)
    """
    return all(text_width(line) <= width for line in table.splitlines())


def with_values(table: Table, columns: Sequence[str]) -> list[str]:
    """Give the columns that have a value other than zero, as those of errors mostly have not.

    Examples
    --------
    >>> import polars as pl
    >>> with_values(pl.DataFrame({"reads": [2], "read_errors": [0]}), ["reads", "read_errors"])
    ['reads']
    """
    rows = rows_of(table)
    return [name for name in columns if not _is_empty(name, rows.kind(name), rows.values(name))]


def _cells(rows: Rows, name: str, *, terminal: bool, verbatim: bool) -> list[str]:
    """Write the heading and the values of a column."""
    if verbatim:
        return [printable(name), *_verbatim(rows, name)]
    return [
        printable(heading(name, terminal=terminal)),
        *column_texts(name, rows.kind(name), rows.values(name), terminal=terminal),
    ]


def _is_empty(name: str, kind: Kind, values: Sequence[Any]) -> bool:
    """Say whether a column has only zeros and nulls, as those of errors mostly have.

    A share of zero is a result; such a column is kept.
    """
    if not values:
        return False
    if kind == "number" and not _is_share(name):
        return not any(values)
    return all(_in_words(value) is None for value in values)


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


def column_texts(
    name: str, kind: Kind, values: Sequence[Any], *, terminal: bool = True
) -> list[str]:
    """Write the values of a column: on a terminal, numbers with the units that fit.

    Examples
    --------
    >>> column_texts("read_bytes", "number", [43290, None])
    ['42.3 KiB', '-']
    >>> column_texts("images", "text", [["/bin/sh", "/bin/ls"], [], None])
    ['/bin/sh, /bin/ls', '-', '-']
    >>> column_texts("images", "text", [["/bin/sh"], None], terminal=False)
    ['["/bin/sh"]', '-']
    """
    if kind == "time":
        return _times(values, terminal=terminal)
    if kind == "text":
        if terminal:
            values = [_in_words(value) for value in values]
        return [_ABSENT if value is None else printable(_text(value)) for value in values]
    format_value = _formatter(name, terminal=terminal)
    return [
        _ABSENT if value is None else format_value(value) if math.isfinite(value) else str(value)
        for value in values
    ]


def _in_words(value: object) -> object:
    """Write lists of names and what is true as people do; what is not so is not said."""
    if isinstance(value, bool):
        return "yes" if value else None
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return ", ".join(value) or None
    return value


def _text(value: object) -> str:
    """Write what is not a number or a time: lists as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def _verbatim(rows: Rows, name: str) -> list[str]:
    """Write values as they are: numbers with all digits, without separators."""
    if rows.kind(name) == "time":
        return _dates(rows.values(name), dated=True)
    from tracefast.cli.text.frame_rows import verbatim

    return [_ABSENT if text is None else text for text in verbatim(rows, name)]


def _formatter(name: str, *, terminal: bool) -> _Formatter:
    """Choose how the numbers of a column are written, by the unit in its name."""
    if name.endswith("_ns"):
        return units.duration if terminal else units.milliseconds
    sizes = ("_bytes", "size", "size_median", "size_max", "_requested", "_asked_common")
    if terminal and name.endswith(sizes):
        return units.size
    if _is_share(name):
        return _percentage(name, terminal=terminal)
    if name.startswith("POSIX_F_") or name.endswith(("_factor", "imbalance", "_per_s")):
        return _decimal(name, terminal=terminal)
    plain = ("line", "file", "ino", "pid", "tid", "task", "ofd", "exit_status")
    return str if name.endswith(plain) else units.count


def _decimal(name: str, *, terminal: bool) -> _Formatter:
    if name.startswith("POSIX_F_"):
        return "{:.9f}".format
    if name.endswith("_per_s"):
        return "{:,.1f}".format
    return units.factor if terminal else "{:.3f}".format


def _percentage(name: str, *, terminal: bool) -> _Formatter:
    write = units.share if terminal else units.percentage
    if heading(name, terminal=terminal).startswith("%"):
        return lambda value: write(value).removesuffix("%").rstrip()
    return write


def _times(values: Sequence[int | None], *, terminal: bool) -> list[str]:
    """Write times with as many digits as the log, or a step of `--every`, has.

    On a terminal the date is left out if there is only one.
    """
    latest = max((value for value in values if value is not None), default=None)
    if latest is not None and latest < _MIN_EPOCH_NS:
        digits = _digits(values)
        return [_ABSENT if value is None else f"{value / 1e9:.{digits}f}" for value in values]
    days = {None if value is None else value // _DAY for value in values}
    return _dates(values, dated=not (terminal and len(days) == 1))


def _dates(values: Sequence[int | None], *, dated: bool) -> list[str]:
    """Write times by the calendar: with the day or without."""
    form = "%Y-%m-%d %H:%M:%S" if dated else "%H:%M:%S"
    digits = _digits(values)
    texts: list[str] = []
    for value in values:
        if value is None:
            texts.append(_ABSENT)
            continue
        seconds, rest = divmod(value, _S)
        time = datetime.fromtimestamp(seconds, UTC)
        texts.append(f"{time:{form}}.{f'{rest:09}'[:digits]}".rstrip("."))
    return texts


def _digits(values: Sequence[int | None]) -> int:
    """Say how many decimals of seconds lose nothing: 0, 3, 6 or 9.

    Examples
    --------
    >>> _digits([1_000_000_000, None]), _digits([1_500_000_000]), _digits([1_000_000_001])
    (0, 3, 9)
    """
    rests = [value % _S for value in values if value is not None]
    return next(
        digits for digits in (0, 3, 6, 9) if not any(rest % 10 ** (9 - digits) for rest in rests)
    )
