"""`tracefast diff`: what differs between runs."""

import os
from dataclasses import replace
from functools import partial
from typing import Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.hints import RECORD_DURATIONS
from tracefast.cli.output.form import Format
from tracefast.columns.compare.diff import TABLES, Table

_MAIN: Final = (
    *("table", "measure", "unit", "before", "after", "change", "ratio", "only_in"),
    *("before_spread", "after_spread", "p", "sure", "key"),
)


@table_command(without=["inputs"])
def diff(
    request: Request,
    *,
    before: Annotated[
        str,
        typer.Argument(
            metavar="BEFORE",
            help="A log or Parquet file; several runs: a directory, a pattern in quotes, or names"
            " with commas between them.",
            show_default=False,
        ),
    ],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The same.", show_default=False)],
    table: Annotated[
        Table | None,
        typer.Option(help="The table to compare.  [default: all]", show_default=False),
    ] = None,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only files, calls, programs that match.")
    ] = None,
    normalise: Annotated[
        bool,
        typer.Option(
            "--normalise/--exact",
            help="Fold names that vary from run to run, such as temporary files, or keep them.",
        ),
    ] = True,
) -> int:
    """Show what differs between two runs, or two groups of runs: which files, calls, processes.

    First come the largest changes in words: of the whole run, then of single calls and files. Then
    a table of them: times, bytes, numbers of calls. A side is a log or Parquet file; several runs
    are a directory, a pattern in quotes, or names with commas between them. With four runs or more
    on each side, the table has p, how likely chance alone gives such a difference (exact
    Mann-Whitney test), and whether it is sure among so many comparisons. Formats other than table,
    --wide and --sort give all rows.

    \b
    Examples:
      tracefast diff before.strace after.strace
      tracefast diff before.strace after.strace --table files --match '*.h'
      tracefast diff old1.strace,old2.strace 'new*.strace'
      tracefast diff runs/old runs/new --table syscalls --match execve
      tracefast diff old.parquet new.parquet --where "measure = 'opens_failed'"
    """
    from tracefast.analysis.compare.diff import SCHEMA, compare
    from tracefast.analysis.compare.kept_values import KeptValues
    from tracefast.analysis.compare.values import SIDES, values_of
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.compare.diff_report import (
        Report,
        print_diff_report,
        whole_numbers,
    )
    from tracefast.cli.screen.result_table import (
        check_columns,
        filter_matching,
        filter_rows,
        print_table,
    )

    check_columns(request, SCHEMA)
    chosen = TABLES if table is None else (table,)
    runs, complete = [], True
    with KeptValues(chosen, normalise=normalise) as values:
        for side, given in zip(SIDES, (before, after), strict=True):
            of_side = replace(request, inputs=_runs(given))
            analysis = partial(values_of, side=side, tables=chosen)
            found, whole = run_analysis(of_side, analysis, keep=values.add)
            if found is None:
                return FAILED
            if found.is_empty():
                raise CommandError(f"{given}: no event to compare", "give logs of the same program")
            runs.append(found.height)
            complete = complete and whole
        compared = compare(values, match=match)
    if compared.untimed is not None:
        request.warn(
            f"{compared.untimed}: no durations of calls, or of few, so times are not compared:"
            f" {RECORD_DURATIONS}"
        )
    matching = filter_matching(compared.keys, request, match, "key")
    changes = filter_rows(compared.changes, request)
    none_match = not compared.keys.is_empty() and (
        matching.is_empty() or (changes.is_empty() and not compared.changes.is_empty())
    )
    if request.form is Format.TABLE and not (request.wide or request.sort):
        print_diff_report(
            Report(changes, (runs[0], runs[1]), compared.tests), request, none_match=none_match
        )
    else:
        shown = whole_numbers(changes) if request.form is Format.TABLE else changes
        print_table(shown, request, main=_MAIN)
    return DONE if complete else FAILED


def _runs(side: str) -> list[str]:
    """Give the names of the runs of a side."""
    if "," not in side or os.path.exists(side):  # noqa: PTH110 - never raises
        return [side]
    return [name for name in side.split(",") if name]
