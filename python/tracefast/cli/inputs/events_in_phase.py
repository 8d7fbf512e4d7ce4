"""Which events are in a phase that a program marked."""

from typing import Final

import polars as pl

from tracefast.analysis.flow.phases import phases
from tracefast.cli.messages.errors import CommandError
from tracefast.error_hints import suggest

# How the marks themselves look, which are no part of any phase.
_MARKS: Final = "/tracefast/"


def in_phase(events: pl.LazyFrame, name: str) -> pl.Expr:
    """Say which events started in phases of a name, of all processes; marks are in none.

    Parameters
    ----------
    events
        The events of the logs: all of them, as they are read once more for the phases.
    name
        The name of the phases.

    Raises
    ------
    CommandError
        There is no such phase, or the log has no times.
    """
    found = phases(events).select("source", "name", "ts_start", "ts_end").collect()
    if name not in found["name"]:
        names = found["name"].unique(maintain_order=True).to_list()
        hint = suggest(name, names) if names else "mark phases by tracefast.mark(NAME)"
        raise CommandError(f"--phase {name}: no such phase", hint)
    times = found.filter(pl.col("name") == name).drop_nulls("ts_start")
    if times.is_empty():
        raise CommandError(
            f"--phase {name}: the log has no times", "record it with strace -ttt, or leave it out"
        )
    spans = _apart(times)

    def within(rows: pl.Series) -> pl.Series:
        events = rows.struct.unnest().with_columns(pl.col("source").cast(pl.String))
        last = (
            events.with_row_index()
            .sort("ts")
            .join_asof(
                spans, left_on="ts", right_on="ts_start", by="source", check_sortedness=False
            )
        )
        return last.sort("index").select(pl.col("ts") <= pl.col("ts_end")).to_series()

    kept = pl.struct("source", "ts").map_batches(
        within, return_dtype=pl.Boolean, is_elementwise=True
    )
    return kept & ~pl.col("path").str.starts_with(_MARKS).fill_null(value=False)


def _apart(times: pl.DataFrame) -> pl.DataFrame:
    """Join spans that overlap, so that the last one that began before a time may have it."""
    rows: list[list[object]] = []
    for source, _, start, end in (
        times.sort("source", "ts_start")
        .with_columns(pl.col("ts_start", "ts_end").cast(pl.Int64))
        .iter_rows()
    ):
        if rows and rows[-1][0] == source and start <= rows[-1][2]:
            rows[-1][2] = max(rows[-1][2], end)
        else:
            rows.append([source, start, end])
    schema = {"source": pl.String, "ts_start": pl.Int64, "ts_end": pl.Int64}
    spans = pl.DataFrame(rows, schema=schema, orient="row")
    return spans.with_columns(pl.col("ts_start", "ts_end").cast(pl.Datetime("ns"))).sort("ts_start")
