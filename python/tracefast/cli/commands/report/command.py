"""`tracefast report`: all answers about a log on one page."""

import sys
from typing import TYPE_CHECKING

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.inputs.sources import STDIN

if TYPE_CHECKING:
    import polars as pl

    from tracefast.page.report import Page


@table_command(without=("where", "sort", "top", "wide", "format_", "jobs"), pictures=(".html",))
def report(request: Request) -> int:
    """Write a page with findings, charts and tables: one file, to attach to a ticket.

    The page loads nothing from the network, and has at most 2 MB. It says what is worth a change
    first, and where to look; then where the time went, who did what when, which data went where,
    files, calls, errors, started processes, waits.

    \b
    Examples:
      tracefast report app.strace -o app.html
      tracefast report app.parquet --from 1.5 --to 3 -o part.html
    """
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.output.write import write_bytes
    from tracefast.cli.pictures.layout import can_layout
    from tracefast.page.report import report_of

    if not can_layout():
        raise CommandError("a report needs pygraphviz", "run: pip install 'tracefast[report]'")
    if request.output == STDIN and sys.stdout.isatty():
        raise CommandError("standard output is a terminal", "give -o report.html")
    made: list[Page] = []

    def make(events: "pl.LazyFrame") -> "pl.LazyFrame":
        made.append(report_of(events, request.inputs))
        return events.head(1)

    _, complete = run_analysis(request, make, combinable=False)
    if made:
        write_bytes(made[-1].html.encode(), request.output, clobber=request.clobber)
    return DONE if complete and made else FAILED
