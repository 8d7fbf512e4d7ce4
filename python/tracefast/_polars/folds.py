"""Lazy tables that are made in one pass over the events, in their order."""

import itertools
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeVar

import polars as pl
from polars.io.plugins import register_io_source

from tracefast import _core
from tracefast._polars.arriving import arriving
from tracefast._polars.compatible_types import Types, fitted
from tracefast._polars.direct_read import Batches, Opener, UnreadableError, opener_of
from tracefast._polars.fold_threads import expecting, pushed_to_all
from tracefast._polars.given_events import ArrowStream, Events, rows_of
from tracefast._polars.projection import project
from tracefast._polars.source_threads import PATIENCE_S, cores, inside

# Types of columns with few distinct words, which are looked up once per batch.
_WORDS: Final = (pl.String, pl.Categorical, pl.Enum)


class Fold(Protocol):
    """A table in the making, as `tracefast._core.Fold`: those of Rust, and what uses them."""

    @property
    def needed(self) -> Any:  # noqa: ANN401 - what polars takes for a schema
        """The columns of the events that the fold reads."""

    @property
    def schema(self) -> Any:  # noqa: ANN401 - what polars takes for a schema
        """The columns of the table."""

    def words(self, column: str, words: pl.DataFrame) -> None:
        """Take the dictionary of a column whose batches hold only keys."""

    def push(self, events: _core.Batch | pl.DataFrame) -> None:
        """Add events."""

    def ready(self) -> Sequence[ArrowStream]:
        """Return the first rows of the table, if they can no longer change; each once."""

    def finish(self) -> Sequence[ArrowStream]:
        """Return the rest of the table, in one part or several. This can be done once."""


# A column that says which rows a table by phase counts: the others only show phases.
COUNTED: Final = "counted"

# A fold of one table.
F = TypeVar("F", bound=Fold)
# What a pass over events gives.
T = TypeVar("T")


def needed(events: Events, types: Types, question: str) -> pl.LazyFrame:
    """Select the columns that a table needs, in types that a fold takes.

    Parameters
    ----------
    events
        The events.
    types
        The columns and their types. ``Categorical`` means any type of text.
    question
        Name of the function that was called, for the message.

    Raises
    ------
    TypeError
        The events are not a table.
    polars.exceptions.ColumnNotFoundError
        Columns are missing; all of them are named.
    polars.exceptions.SchemaError
        Columns have other types.
    """
    rows = rows_of(events, types, question)
    have = rows.collect_schema()
    return rows.select(_as(name, have[name], wanted) for name, wanted in types.items())


def _as(name: str, have: pl.DataType, wanted: pl.DataType | type[pl.DataType]) -> pl.Expr | None:
    if wanted == pl.Categorical and isinstance(have, _WORDS):
        return pl.col(name)
    return fitted(name, have, wanted)


def folded(
    events: Events,
    new_fold: Callable[[], F],
    *,
    name: str,
    question: str,
    look: Callable[[F], object] | None = None,
    by_phase: bool = False,
) -> pl.LazyFrame:
    """Make a lazy table with a fold over all events.

    Parameters
    ----------
    events
        The events, in order.
    new_fold
        Makes a new fold each time that the table is collected.
    name
        What ``LazyFrame.explain`` calls it.
    question
        Name of the function that was called, for messages.
    look
        Called with the fold after all events, before its table is taken.
    by_phase
        The fold counts the rows that are `counted`, if the events have such a column.

    Raises
    ------
    TypeError
        The events are not a table.
    polars.exceptions.ColumnNotFoundError
        Columns are missing; all of them are named.
    polars.exceptions.SchemaError
        Columns have other types.
    """
    empty = new_fold()
    types, schema = pl.Schema(empty.needed), pl.Schema(empty.schema)
    if by_phase and COUNTED in rows_of(events, types, question).collect_schema():
        types[COUNTED] = pl.Boolean()
    rows = needed(events, types, question)
    opener = opener_of(events)
    coming = arriving(events)
    so_far = None if coming is None else coming.attach(empty, look)

    def source(
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        _batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        nothing = project(schema.to_frame(), with_columns)
        left = n_rows
        found = _parts(opener, rows, list(types), new_fold, look) if so_far is None else so_far()
        for part in found:
            if part is None:
                yield nothing
                continue
            table = part
            if left is not None:
                table = table[:left]
                left -= table.height
            yield project(table if predicate is None else table.filter(predicate), with_columns)
            if left == 0:
                return

    return register_io_source(
        lambda *asked: inside(source(*asked)), schema=schema, is_pure=True, explain_name=name
    )


def _parts(
    opener: Opener | None,
    rows: pl.LazyFrame,
    columns: list[str],
    new_fold: Callable[[], F],
    look: Callable[[F], object] | None,
) -> Iterator[pl.DataFrame | None]:
    """Pass all rows to a fold: those of whole files directly, others through polars.

    Yields
    ------
    DataFrame or None
        Parts of the table, as soon as they cannot change; None from time to time, because a source
        that does not yield cannot be stopped (see `source_threads`).
    """
    given = 0
    if opener is not None:
        fold = new_fold()
        yielded = time.monotonic()
        try:
            for batch in opener(columns):
                if batch is not None:
                    fold.push(batch)
                for part in map(pl.DataFrame, fold.ready()):
                    given += part.height
                    yield part
                if (now := time.monotonic()) - yielded > PATIENCE_S:
                    yielded = now
                    yield None
        except UnreadableError:
            pass  # polars has to read the files.
        else:
            yield from _finished(fold, look)
            return
    fold = new_fold()
    for part in itertools.chain(pushed(rows, fold), _finished(fold, look)):
        # The first rows of the table are those that were given before.
        yield part[given:]
        given = max(given - part.height, 0)


def _finished(fold: F, look: Callable[[F], object] | None) -> Iterator[pl.DataFrame]:
    """Give the rest of a fold's table, once all rows are in."""
    if look is not None:
        look(fold)
    parts = list(fold.finish())[::-1]
    while parts:
        yield pl.DataFrame(parts.pop())


def fold_together(
    events: Events, new_folds: Sequence[Callable[[], F]], *, question: str
) -> Generator[None, None, list[F]]:
    """Pass all events to several folds in one pass.

    Parameters
    ----------
    events
        The events, in order.
    new_folds
        Make the folds, whose tables are known at the end.
    question
        Name of the function that was called, for messages.

    Yields
    ------
    None
        From time to time, because a source that does not yield cannot be stopped.

    Returns
    -------
    list of Fold
        The folds, which have all events: `rows_of_fold` takes their tables.

    Raises
    ------
    polars.exceptions.ColumnNotFoundError
        Columns are missing; all of them are named.
    """
    types = pl.Schema({})
    for new_fold in new_folds:
        types |= pl.Schema(new_fold().needed)
    if COUNTED in rows_of(events, types, question).collect_schema():
        types[COUNTED] = pl.Boolean()
    rows = needed(events, types, question)
    opener = opener_of(events)
    if opener is not None:
        folds = [new_fold() for new_fold in new_folds]
        take_over = expecting(folds)
        try:
            yield from _pushed_directly(opener(list(types)), folds)
        except UnreadableError:
            pass  # polars has to read the files.
        else:
            take_over()
            return folds
    folds = [new_fold() for new_fold in new_folds]
    take_over = expecting(folds)
    for _ in pushed(rows, *folds):
        yield
    take_over()
    return folds


def finished(passing: Generator[None, None, T]) -> T:
    """Let a pass over events run to its end, and give its result."""
    while True:
        try:
            next(passing)
        except StopIteration as end:
            result: T = end.value
            return result


def _pushed_directly(batches: Batches, folds: Sequence[Fold]) -> Iterator[None]:
    """Pass batches to folds: to one as they come, to several in threads."""
    several = [fold for fold in folds if isinstance(fold, _core.Fold)]
    if len(several) == len(folds) > 1:
        yield from pushed_to_all(batches, several)
        return
    for batch in batches:
        if batch is not None:
            for fold in folds:
                fold.push(batch)
        yield


def rows_of_folds(folds: Sequence[Fold]) -> list[pl.DataFrame]:
    """Give the tables of folds that have all events, as `rows_of_fold` does, several at once."""
    with ThreadPoolExecutor(min(len(folds), cores()), thread_name_prefix="tracefast-fold") as pool:
        return list(pool.map(rows_of_fold, folds))


def rows_of_fold(fold: Fold) -> pl.DataFrame:
    """Give the table of a fold that has all events, once."""
    parts = [pl.DataFrame(part) for part in fold.finish()]
    return pl.concat(parts) if parts else pl.Schema(fold.schema).to_frame()


def run(rows: pl.LazyFrame, fold: Fold) -> None:
    """Pass all rows to a fold, batch by batch, whose table is known at the end."""
    for _ in pushed(rows, fold):
        pass


def pushed(rows: pl.LazyFrame, *folds: Fold) -> Iterator[pl.DataFrame]:
    """Pass all rows to folds, batch by batch; gives what of the first one's table is ready."""
    words = {
        name: _Words(dtype.categories)
        for name, dtype in rows.collect_schema().items()
        if isinstance(dtype, pl.Categorical | pl.Enum)
    }
    # Words are passed as the numbers that polars has for them: making Arrow dictionaries takes
    # longer than the fold itself, and as a part of the query it doubles the memory of polars.
    for batch in rows.collect_batches(maintain_order=True):
        for name, known in words.items():
            if (more := known.more()) is not None:
                for fold in folds:
                    fold.words(name, more)
        numbered = batch.with_columns(batch[name].to_physical() for name in words)
        for fold in folds:
            fold.push(numbered)
        yield from map(pl.DataFrame, folds[0].ready())


class _Words:
    """The words that the numbers of a column refer to; reading rows may add some."""

    def __init__(self, categories: pl.Categories | pl.Series) -> None:
        self._categories = categories
        self._known = -1

    def more(self) -> pl.DataFrame | None:
        """Give all words, in the order of their numbers; None if no words were added."""
        words = self._categories
        series = words if isinstance(words, pl.Series) else words.to_series()
        if len(series) == self._known:
            return None
        self._known = len(series)
        return series.to_frame()
