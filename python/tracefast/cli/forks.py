"""`tracefast forks`: one row per created task."""

from typing import Annotated

import typer

from tracefast.cli import options
from tracefast.cli.errors import DONE, FAILED, guard

# What a table in text shows; the paths last, as they may be long.
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
    top: options.TopOption = None,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only programs like this, as parent or as child."),
    ] = None,
    threads: Annotated[
        bool, typer.Option("--threads", help="Show the creation of threads too.")
    ] = False,
    wide: options.WideOption = False,
    format_in: options.FormatInOption = None,
    no_clobber: options.ClobberOption = False,
) -> int:
    """Show who created whom, how, the time in the call, and what became of the child.

    One row per created process, in order of time. The kind says how: fork (memory of its own),
    vfork, posix_spawn, thread, shared.

    \b
    Examples:
      tracefast forks app.strace
      tracefast forks app.parquet --sort call_ns --top 10
      tracefast forks app.parquet --match ffprobe --wide
      tracefast forks app.strace --threads --format csv -o forks.csv
    """
    import polars as pl

    from tracefast.analysis.forks import SCHEMA
    from tracefast.analysis.forks import forks as question
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.output import choose

    form = choose(format_, output, no_clobber=no_clobber)
    check_sort(sort, list(SCHEMA))
    table, complete = answer(inputs, question, format_in)
    if table is not None:
        if not threads:
            table = table.filter(pl.col("kind").ne_missing("thread"))
        table = matching(match, "parent_image", "image")(table)
        finish(table, main=_MAIN, form=form, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
