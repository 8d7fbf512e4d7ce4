"""The table of errors as a frame of polars."""

from itertools import starmap
from typing import Final

import polars as pl

from tracefast._polars.declared_schema import declared_schema
from tracefast.analysis.errors.rows import FAILED_CALLS, FailedCalls, error_rows

SCHEMA: Final = declared_schema("errors")


def error_frame(failed: pl.DataFrame) -> pl.DataFrame:
    """Make the table of errors.

    Parameters
    ----------
    failed
        The table of `tracefast._core.FailedCalls`.
    """
    calls = failed.select(FAILED_CALLS).iter_rows()
    return pl.DataFrame(error_rows(starmap(FailedCalls, calls)), schema=SCHEMA)
