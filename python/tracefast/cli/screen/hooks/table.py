"""Print the table of `tracefast hooks`, and a line that sums it up."""

from typing import Final

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.stderr import note_lines
from tracefast.cli.output.terminal import is_terminal_table
from tracefast.cli.screen.result_table import print_table
from tracefast.cli.text import units
from tracefast.quantities import plural

# Narrower terminals have no room for the functions.
_WIDTH_OF_ALL: Final = 120
_PREFIX: Final = "syscalls:sys_enter_"


def print_hooks_table(table: pl.DataFrame, request: Request) -> None:
    """Print the table, and on a terminal lines below that say how to go on.

    Parameters
    ----------
    table
        What :func:`tracefast.hooks` gives, of the rows that were asked for.
    request
        What was asked for.
    """
    note = summary(table)
    print_table(
        table,
        request,
        main=table.columns,
        as_text=_as_text,
        noun=("call", "calls"),
        below=len(note_lines([note])),
    )
    if is_terminal_table(request.form, request.output):
        request.note(note)


def _as_text(table: pl.DataFrame, width: int | None) -> pl.DataFrame:
    """Write the rows for people: tracepoints in short, names of functions, what is missing."""
    shown = table.select(
        *(["source"] if "source" in table.columns else []),
        pl.col("events_per_s").round().cast(pl.Int64).alias("events/s"),
        "calls",
        "total_ns",
        "errors",
        "name",
        _tracepoints().alias("tracepoints"),
    )
    if width is None or width >= _WIDTH_OF_ALL:
        names = pl.col("functions").list.eval(pl.element().struct.field("name"))
        functions = table.select(names.list.unique(maintain_order=True).list.join(" "))
        shown = shown.with_columns(functions.to_series().alias("functions"))
    else:
        shown = shown.drop("errors")
    return shown


def _tracepoints() -> pl.Expr:
    """Name both tracepoints as a shell takes them, or say why there is none."""
    name = pl.col("tracepoint_enter").str.strip_prefix(_PREFIX)
    both = pl.format("sys_{}_{}", pl.lit("{enter,exit}"), name)
    known = (
        pl.when(pl.col("tracepoint_exit").is_null())
        .then(pl.format("sys_enter_{}", name))
        .otherwise(both)
    )
    return (
        pl.when(pl.col("available") == "no")
        .then(pl.format("none: {}", pl.col("why")))
        .when(pl.col("available") == "unknown")
        .then(pl.format("{} ?", known))
        .otherwise(known)
    )


def summary(table: pl.DataFrame) -> str:
    """Sum up all rows of the table: what watching all would cost, and what cannot be watched.

    Examples
    --------
    >>> from tracefast.analysis.hooks.table import SCHEMA
    >>> row = {"name": "read", "events_per_s": 1500.0, "available": "yes"}
    >>> print(summary(pl.DataFrame([dict.fromkeys(SCHEMA) | row], schema=SCHEMA)))
    1 call, 1,500 events per second; tracepoints are of the group syscalls. --explain read shows all
    hook points of a call, --emit bpftrace writes a script
    """
    text = plural(table["name"].n_unique(), "call")
    if (rate := table["events_per_s"].sum()) > 0:
        text += f", {units.count(round(rate))} events per second"
    for value, what in (("no", "without tracepoints"), ("unknown", "unknown (?)")):
        if count := table.filter(pl.col("available") == value)["name"].n_unique():
            text += f", {count:,} {what}"
    text += "; tracepoints are of the group syscalls"
    if "unknown" in table["available"]:
        why = table.filter(pl.col("available") == "unknown")["why"][0].partition(";")[0]
        text += f". {why[0].upper()}{why[1:]}"
    if not table.is_empty():
        text += f". --explain {table['name'][0]} shows all hook points of a call, --emit bpftrace"
        text += " writes a script"
    return text
