"""`tracefast files`: one row per file."""

from enum import StrEnum
from typing import Annotated

import typer

from tracefast.cli import options
from tracefast.cli.errors import DONE, FAILED, guard


class FileType(StrEnum):
    """Types of files, as the events name them."""

    REGULAR = "regular"
    DIRECTORY = "directory"
    PIPE = "pipe"
    FIFO = "fifo"
    SOCKET = "socket"
    CHAR = "char"
    BLOCK = "block"
    MEMFD = "memfd"
    ANON = "anon"
    UNKNOWN = "unknown"


# What a table in text shows; the path last, as it may be long.
_MAIN = (
    "opens",
    "opens_failed",
    "reads",
    "read_bytes",
    "read_eof",
    "read_errors",
    "read_ns",
    "writes",
    "write_bytes",
    "write_errors",
    "write_ns",
    "type",
    "path",
)


@guard
def files(
    inputs: options.Inputs,
    format_: options.FormatOption = None,
    output: options.OutputOption = "-",
    sort: options.SortOption = None,
    top: options.TopOption = None,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only paths like this, such as '*.pth'.")
    ] = None,
    type_: Annotated[
        FileType | None, typer.Option("--type", help="Only files of this type.")
    ] = None,
    wide: options.WideOption = False,
    format_in: options.FormatInOption = None,
    no_clobber: options.ClobberOption = False,
) -> int:
    """Show which files were used: opens, reads, writes, bytes, errors, time.

    One row per file, largest number of bytes first.

    \b
    Examples:
      tracefast files app.strace
      tracefast files app.parquet --match '*.pth' --wide
      tracefast files app.parquet --type regular --sort read_ns --top 10
      tracefast files run-*.strace --format ndjson | jq .path
      tracefast files app.strace -o files.csv
    """
    import polars as pl

    from tracefast.analysis.files import SCHEMA
    from tracefast.analysis.files import files as question
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.output import choose

    form = choose(format_, output, no_clobber=no_clobber)
    check_sort(sort, list(SCHEMA))
    table, complete = answer(inputs, question, format_in)
    if table is not None:
        moved = pl.col("read_bytes").fill_null(0) + pl.col("write_bytes").fill_null(0)
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort(moved, descending=True, maintain_order=True)
        table = matching(match, "path")(table)
        if type_ is not None:
            table = table.filter(pl.col("type") == type_.value)
        finish(table, main=_MAIN, form=form, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
