"""`tracefast processes`: one row per process, or the tree that they form."""

from typing import Annotated

import typer

from tracefast.cli import options
from tracefast.cli.errors import DONE, FAILED, CommandError, guard

# What a table in text shows; the program last, as its path may be long.
_MAIN = (
    "pid",
    "ppid",
    "kind",
    "lifetime_ns",
    "threads",
    "children",
    "calls",
    "io_ns",
    "wait_ns",
    "read_bytes",
    "write_bytes",
    "exit_status",
    "exit_signal",
    "image",
)


@guard
def processes(
    inputs: options.Inputs,
    tree: Annotated[
        bool,
        typer.Option("--tree", help="Who made whom, as a tree; equal children are one line."),
    ] = False,
    format_: options.FormatOption = None,
    output: options.OutputOption = "-",
    sort: options.SortOption = None,
    top: options.TopOption = None,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Only processes whose program is like this, such as '*python*'."
        ),
    ] = None,
    wide: options.WideOption = False,
    format_in: options.FormatInOption = None,
    no_clobber: options.ClobberOption = False,
) -> int:
    """Show who ran: programs, how long, system calls, bytes, how each process ended.

    One row per process, in order of their start. The threads of a process are one row, and a number
    that was used again is another process. In the tree, children of one process that ran the same
    program, ended in the same way and have such children themselves are one line, with sums and,
    in brackets, medians; --wide shows each of them.

    \b
    Examples:
      tracefast processes app.strace
      tracefast processes app.strace --tree
      tracefast processes app.parquet --sort lifetime_ns --top 10
      tracefast processes app.parquet --tree --match 'gcc'
      tracefast processes app.parquet --format ndjson | jq .images
    """
    from tracefast.analysis.processes import columns
    from tracefast.analysis.processes import processes as question
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.output import choose

    form = choose(format_, output, no_clobber=no_clobber)
    if tree:
        if form is not options.Format.TABLE:
            raise CommandError("--tree is text", "leave out --format, or --tree")
        if sort is not None or top is not None:
            raise CommandError("--tree is in order of time", "leave out --sort and --top")
    check_sort(sort, columns().names())
    table, complete = answer(inputs, question, format_in)
    if table is not None:
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort("source", "ts_start", nulls_last=True, maintain_order=True)
        if tree:
            from tracefast.cli.process_tree import show

            show(table, output, match=match, whole=wide)
        else:
            table = matching(match, "image")(table)
            finish(table, main=_MAIN, form=form, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
