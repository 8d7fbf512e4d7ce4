"""Make the table of one log by a fold alone: polars takes longer to import than a small log."""

from collections.abc import Callable
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
from tracefast.inputs.contents import is_pipe, sniff
from tracefast.inputs.sources import STDIN, expand
from tracefast.outputs import refuse_own_input

F = TypeVar("F", bound=_core.Fold)


def show_one_log(
    request: Request,
    fold: F,
    show: Callable[[Rows], None],
    look: Callable[[F], object] | None = None,
) -> int | None:
    """Show a table if it is in text, and of one log; give the exit code.

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

    Returns
    -------
    int or None
        None if more is asked for: nothing was read then.
    """
    name = _only_log(request, fold.schema)
    if name is None:
        return None
    rows = _fold_log(request, name, fold, look)
    if rows is None:
        return FAILED
    show(rows)
    return DONE


def _only_log(request: Request, columns: _core.Schema) -> str | None:
    """Give the log, if a table in text of one log is all that is asked for."""
    asked_more = request.follow or request.in_part or request.where is not None
    sorted_by = request.sort is None or request.sort in columns.names
    if asked_more or request.form is not Format.TABLE or not sorted_by:
        return None
    # What is wrong with inputs is said where all kinds of them are read.
    with suppress(Error, OSError, UnicodeEncodeError):
        names = [name for given in request.inputs for name in expand(given)]
        if len(names) == 1 and names != [STDIN]:
            (name,) = names
            name.encode()
            return name if not is_pipe(name) and sniff(name) == "log" else None
    return None


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
    if look is not None:
        look(fold)
    kinds = dict(_core.column_kinds(fold.schema))
    parts += fold.finish()
    if progress.bytes_read and not progress.rows:
        request.warn(f"{log}: no event was found")
    return FoldRows(kinds, parts)


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
