"""The events that a command is asked about: from logs, Parquet and standard input."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

import tracefast
from tracefast import Error
from tracefast._core import Progress
from tracefast.cli.errors import CommandError, explain, not_utf8, warn
from tracefast.cli.progress import shown
from tracefast.cli.stdin import spool
from tracefast.reading import FormatIn
from tracefast.sources import STDIN, expand, sniff

Question = Callable[[pl.LazyFrame], pl.LazyFrame]


def answer(
    inputs: list[str], question: Question, format_in: FormatIn | None
) -> tuple[pl.DataFrame | None, bool]:
    """Ask a question of all inputs that can be read.

    Inputs that fail are explained on standard error; the others are done.

    Parameters
    ----------
    inputs
        Logs or Parquet files, patterns, ``-``.
    question
        What to ask: an analysis.
    format_in
        Format of the logs; None to find it from the text.

    Returns
    -------
    tuple of polars.DataFrame and bool
        The answer, None if no input could be read; and whether all could.
    """
    with _readable(inputs, format_in) as (names, all_readable):
        if not names:
            return None, False
        progress = Progress()
        with shown(progress):
            try:
                return _ask(names, question, format_in, progress), all_readable
            except (Error, OSError, pl.exceptions.PolarsError) as error:
                if len(names) == 1:
                    explain(_told(error, names[0]))
                    return None, False
            # Which of them failed, asking one by one shows; the others are not to suffer.
            answers = []
            for name in names:
                try:
                    answers.append(_ask([name], question, format_in, progress))
                except (Error, OSError, pl.exceptions.PolarsError) as error:
                    explain(_told(error, name))
        # Inputs asked one by one may have answers of different columns.
        return (pl.concat(answers, how="diagonal_relaxed") if answers else None), False


def _ask(
    names: list[str], question: Question, format_in: FormatIn | None, progress: Progress
) -> pl.DataFrame:
    events = tracefast.scan(names, format_in=format_in, progress=progress)
    return question(events).collect()


def _told(error: Exception, name: str) -> Exception:
    """Put an error of polars into the words of this program."""
    if isinstance(error, pl.exceptions.PolarsError):
        first = str(error).splitlines()[0]
        told = Error(f"{name}: not the events of a log: {first}")
        told.hint = "make Parquet of a log with: tracefast parse LOG -o FILE.parquet"
        return told
    return error


@contextmanager
def _readable(inputs: list[str], format_in: FormatIn | None) -> Iterator[tuple[list[str], bool]]:
    """Find the inputs that are there, and spool standard input, which can be read once only."""
    good = True
    names: list[str] = []
    with tempfile.TemporaryDirectory(prefix="tracefast-") as folder:
        for given in inputs:
            try:
                for name in expand(given):
                    if name == STDIN:
                        names.append(str(spool(Path(folder), format_in)))
                    elif not _is_utf8(name):
                        raise not_utf8(name)
                    else:
                        sniff(name)
                        names.append(name)
                        if Path(name).is_file() and Path(name).stat().st_size == 0:
                            warn(f"{name}: the log is empty")
            except (CommandError, Error, OSError) as error:
                explain(error)
                good = False
        yield names, good


def _is_utf8(name: str) -> bool:
    """Say whether a name can be a value of the column `source`."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
