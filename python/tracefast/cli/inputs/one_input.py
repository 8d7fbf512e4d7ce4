"""Make the table of one log, or of its Parquet, by a fold alone.

polars takes longer to import than a small log to read.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from tracefast import Error, _core
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.progress import progress_bar
from tracefast.cli.messages.stderr import print_error
from tracefast.cli.output.form import Format
from tracefast.cli.text.rows import FoldRows, Rows
from tracefast.inputs.contents import Content, is_pipe, sniff
from tracefast.inputs.sources import STDIN, expand
from tracefast.outputs import refuse_own_input

F = TypeVar("F", bound=_core.Fold)


def show_one_input(
    request: Request,
    fold: F,
    show: Callable[[Rows], None],
    look: Callable[[F], object] | None = None,
    columns: Collection[str] | None = None,
) -> int | None:
    """Show a table if it is in text, and of one log or Parquet file; give the exit code.

    Parameters
    ----------
    request
        What was asked for.
    fold
        Makes the table.
    show
        Prints it.
    look
        Called with the fold after all events, before its table is taken.
    columns
        The columns of what `show` makes of the table, if that is another one.

    Returns
    -------
    int or None
        None if more is asked for, or polars has to say what is wrong: nothing was shown then.
    """
    shown = fold.schema.names if columns is None else columns
    asked_more = request.follow or request.in_part or request.where is not None
    sorted_by = request.sort is None or request.sort in shown
    if asked_more or request.form is not Format.TABLE or not sorted_by:
        return None
    found = only_input(request.inputs)
    if found is None:
        return None
    name, content = found
    if content == "parquet":
        rows = _fold_parquet(request, name, fold, look)
        if rows is None:
            return None
    else:
        rows = _fold_log(request, name, fold, look)
        if rows is None:
            return FAILED
    show(rows)
    return DONE


def only_input(given: list[str]) -> tuple[str, Content] | None:
    """Give the log or Parquet file that is the only input, and which of them it is.

    None if there are others, if it is a pipe, or if it cannot be read.
    """
    # What is wrong with inputs is said where all kinds of them are read.
    with suppress(Error, OSError, UnicodeEncodeError):
        names = [name for one in given for name in expand(one)]
        if len(names) == 1 and names != [STDIN] and not is_pipe(names[0]):
            (name,) = names
            name.encode()
            content = sniff(name)
            if content == "log" or (content == "parquet" and _is_of_log(name)):
                return name, content
    return None


def _is_of_log(name: str) -> bool:
    """Say whether tracefast wrote the Parquet file from logs; what it joined has more columns."""
    return _core.metadata(name).get("tracefast.schema") == _core.SCHEMA_VERSION


def _fold_parquet(
    request: Request, name: str, fold: F, look: Callable[[F], object] | None
) -> Rows | None:
    """Make the table of a Parquet file; None if it has no events, or if it cannot be read."""
    parts: list[_core.Batch] = []
    events = 0
    try:
        refuse_own_input([name], request.output)
        for batch in _core.ParquetEvents(name, columns=fold.needed.names):
            events += len(batch)
            fold.push(batch)
            parts += fold.ready()
    except (Error, OSError, ValueError, RuntimeError):
        return None
    return _finish(fold, parts, look) if events else None


def _finish(fold: F, parts: list[_core.Batch], look: Callable[[F], object] | None) -> Rows:
    """Give the table of a fold that has all events, and whose first rows were taken."""
    if look is not None:
        look(fold)
    kinds = dict(_core.column_kinds(fold.schema))
    return FoldRows(kinds, parts + fold.finish())


def _fold_log(
    request: Request, log: str, fold: F, look: Callable[[F], object] | None
) -> Rows | None:
    """Make the table of a log; None if it cannot be read, which is said on standard error."""
    progress = _core.Progress()
    parts: list[_core.Batch] = []
    file = Path(log)
    if file.is_file() and not file.stat().st_size:
        request.warn(f"{log}: the log is empty")
    try:
        refuse_own_input([log], request.output)
        reader = _reader(request, log, fold, progress)
        with progress_bar(progress, disabled=request.quiet), reader:
            ended = False
            while not ended:
                ended, batch = reader.poll()
                if batch is not None:
                    fold.push(batch)
                    parts += fold.ready()
    except (Error, OSError) as error:
        print_error(error)
        return None
    rows = _finish(fold, parts, look)
    if progress.bytes_read and not progress.rows:
        request.warn(f"{log}: no event was found")
    return rows


def _reader(request: Request, log: str, fold: _core.Fold, progress: _core.Progress) -> _core.Reader:
    """Start to parse what the fold needs."""
    return _core.Reader(
        [log],
        format_in=request.format_in,
        machine=request.machine,
        assume_complete=request.assume_complete,
        columns=fold.needed.names,
        progress=progress,
    )
