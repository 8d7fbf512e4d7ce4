"""`tracefast errors`: which calls failed, and what programs looked for in vain."""

from typing import TYPE_CHECKING, Annotated

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command

if TYPE_CHECKING:
    from tracefast.cli.text.rows import Rows


@table_command()
def errors(
    request: Request,
    *,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Only programs, calls, errors or patterns of paths that match."
        ),
    ] = None,
) -> int:
    """Show which system calls failed: how often, in which programs, for which files.

    One row per call, error, program and pattern of paths, the most frequent first. A program that
    looks for a command along PATH, for a library, a Python module, a header or translations in one
    folder after another has one row for that. failed: which share of the calls of that name by that
    program failed in this way. --wide and the other formats have all folders of a search, and the
    line of the first call.

    Not every error is a fault: a search ends where it finds something, and many programs ask
    whether a file exists by trying to open it.

    \b
    Examples:
      tracefast errors app.strace
      tracefast errors app.parquet --sort total_ns --top 10
      tracefast errors app.parquet --match ENOENT
      tracefast errors app.parquet --where "search = 'import'" --wide
      tracefast errors app.parquet --format ndjson | jq .folders
    """
    from itertools import starmap

    from tracefast import _core
    from tracefast.analysis.errors.rows import FAILED_CALLS, FailedCalls, error_rows
    from tracefast.cli.inputs.one_input import show_one_input
    from tracefast.cli.text.rows import declared_rows
    from tracefast.columns.tables import TABLES, names_of

    def show(failed: "Rows") -> None:
        calls = starmap(FailedCalls, failed.records(*FAILED_CALLS))
        _print(declared_rows("errors", error_rows(calls)), request, match=match)

    columns = names_of(TABLES["errors"])
    code = show_one_input(request, _core.FailedCalls(), show, columns=columns)
    return _report_frame(request, match=match) if code is None else code


def _report_frame(request: Request, *, match: str | None) -> int:
    """Print the table that polars makes."""
    from tracefast.analysis.errors.frame import SCHEMA
    from tracefast.analysis.errors.table import errors as analysis
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import check_columns
    from tracefast.cli.text.frame_rows import FrameRows

    check_columns(request, SCHEMA)
    table, complete = run_analysis(request, analysis)
    if table is not None:
        _print(FrameRows(table), request, match=match)
    return DONE if complete else FAILED


def _print(rows: "Rows", request: Request, *, match: str | None) -> None:
    """Print the table of errors, the most frequent ones first."""
    from tracefast.cli.screen.errors_table import print_errors_table

    # Each log is in order, but not all together.
    rows = rows.ordered([-count for count in rows.values("count")])
    print_errors_table(rows, request, match=match)
