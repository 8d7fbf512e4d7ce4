"""`tracefast forks`: what starting processes costs, and what to change."""

from typing import Annotated

import typer

from tracefast.cli import options
from tracefast.cli.errors import DONE, FAILED, CommandError, guard

# What a table of rows in text shows; the paths last, as they may be long.
_MAIN = (
    "ts",
    "tid",
    "kind",
    "child_pid",
    "errno",
    "call_ns",
    "exec_gap_ns",
    "exec_failed",
    "exec_ns",
    "startup_ns",
    "lifetime_ns",
    "exit_status",
    "exit_signal",
    "parent_image",
    "image",
)


@guard
def forks(
    inputs: options.Inputs,
    format_: options.FormatOption = None,
    output: options.OutputOption = "-",
    sort: options.SortOption = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Only the first N lines of the list, 0 for all.  [default: 20 on a terminal, 50"
            " with --each or --wide, else all]",
            show_default=False,
        ),
    ] = None,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only programs like this, as parent or as child."),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="One row per created process, not a summary.")
    ] = False,
    threads: Annotated[
        bool, typer.Option("--threads", help="The creation of threads, too.")
    ] = False,
    wide: options.WideOption = False,
    format_in: options.FormatInOption = None,
    no_clobber: options.ClobberOption = False,
) -> int:
    """Show who started what, how often and how, where the time went, and what to change.

    The cost is the time in the call that makes a process and, after fork, that in execve beyond
    what it takes without the parent's memory. The kind says how a process is made: fork (memory of
    its own), vfork, posix_spawn, thread, shared.

    With --each, one row per created process, in order of time: its call, the way to its execve,
    what became of it. The other forms of output have the numbers as they are, in nanoseconds and
    bytes, and all columns.

    \b
    Examples:
      tracefast forks app.strace
      tracefast forks app.parquet --match ffprobe
      tracefast forks app.parquet --format json | jq '.[0].saving_ns'
      tracefast forks app.parquet --each --sort call_ns --top 10
      tracefast forks app.strace --each --threads -o forks.csv
    """
    import polars as pl

    from tracefast.analysis.fork_rows import fork_rows
    from tracefast.analysis.fork_summary import SCHEMA as SUMMARY
    from tracefast.analysis.fork_summary import report
    from tracefast.analysis.forks import SCHEMA
    from tracefast.analysis.forks import forks as question
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.fork_screen import show
    from tracefast.cli.output import choose

    form = choose(format_, output, no_clobber=no_clobber)
    if not each and sort in SCHEMA and sort not in SUMMARY:
        raise CommandError(f"--sort {sort}: a column of single processes", "add --each")
    check_sort(sort, list(SCHEMA if each else SUMMARY))
    rows, complete = answer(inputs, question if each else fork_rows, format_in)
    if rows is not None:
        if not threads:
            rows = rows.filter(pl.col("kind").ne_missing("thread"))
        rows = matching(match, "parent_image", "image")(rows)
        if each:
            finish(rows, main=_MAIN, form=form, output=output, sort=sort, top=top, wide=wide)
        elif wide or form is not options.Format.TABLE:
            table = report(rows, threads=True).summary
            finish(table, main=(), form=form, output=output, sort=sort, top=top, wide=True)
        else:
            show(report(rows, threads=True), output=output, sort=sort, top=top)
    return DONE if complete else FAILED
