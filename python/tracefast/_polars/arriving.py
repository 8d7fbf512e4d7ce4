"""Tables of events that still come: what there is can be collected again and again."""

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from tracefast import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracefast._polars.folds import F

# By the identity of the frame that stands for the events.
_arriving: "dict[int, ArrivingEvents]" = {}


class ArrivingEvents:
    """Events that still come, for tables that are made by one fold.

    Parameters
    ----------
    schema
        The columns of the events.

    Attributes
    ----------
    frame
        Stands for the events: a table made from it gives, each time that it is collected, the table
        of the events so far.
    """

    def __init__(self, schema: pl.Schema) -> None:
        self.frame = schema.to_frame().lazy()
        self._fold: _core.Fold | None = None
        self._last: list[pl.DataFrame] | None = None
        _arriving[id(self.frame)] = self
        weakref.finalize(self.frame, _arriving.pop, id(self.frame), None).atexit = False

    @property
    def columns(self) -> list[str]:
        """The columns that the table needs; none if no table was made."""
        return [] if self._fold is None else pl.Schema(self._fold.needed).names()

    def push(self, batch: _core.Batch) -> None:
        """Add events."""
        if self._fold is not None:
            self._fold.push(batch)

    def finish(self) -> None:
        """No events follow."""
        if self._fold is not None:
            self._last = [pl.DataFrame(part) for part in self._fold.finish()]

    def attach(
        self, fold: "F", look: "Callable[[F], object] | None"
    ) -> "Callable[[], Iterator[pl.DataFrame]]":
        """Make the table of a fold; give what reads its rows as they are.

        Raises
        ------
        RuntimeError
            There is a table already, or the fold is known at the end only.
        """
        if self._fold is not None or not isinstance(fold, _core.Fold):
            raise RuntimeError("only tables of one fold can be made while events come")
        self._fold = fold

        def parts() -> Iterator[pl.DataFrame]:
            if self._last is not None:
                yield from self._last
                return
            if look is not None:
                look(fold)
            yield from map(pl.DataFrame, fold.snapshot())

        return parts


def arriving(frame: object) -> ArrivingEvents | None:
    """Say which events a frame stands for; None if they do not still come.

    Examples
    --------
    >>> events = ArrivingEvents(pl.Schema({"name": pl.String()}))
    >>> arriving(events.frame) is events, arriving(pl.LazyFrame())
    (True, None)
    """
    return _arriving.get(id(frame))
