"""`tracefast files`: one row per file."""

from enum import StrEnum
from typing import Annotated

import typer

from tracefast.cli import options
from tracefast.cli.errors import DONE, FAILED, CommandError, guard


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
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Print the accesses of this file, in order, and what they amount to. The end of"
            " a path or a pattern will do, if one file matches.",
        ),
    ] = None,
    page_cache: Annotated[
        bool,
        typer.Option("--page-cache", help="What the page cache did instead (ftrace)."),
    ] = False,
    inode_map: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Paths of files that the log names by device and inode: the output of"
            " find FOLDER -printf '%D %i %p\\n'.",
        ),
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
      tracefast files app.strace --explain model.pth
      tracefast files trace.txt --page-cache --inode-map inodes.txt
    """
    import polars as pl

    from tracefast.analysis.files import columns
    from tracefast.analysis.files import files as question
    from tracefast.analysis.inode_map import inodes, with_paths
    from tracefast.cli.accesses import show as explain_file
    from tracefast.cli.events import answer
    from tracefast.cli.finish import check_sort, finish, matching
    from tracefast.cli.output import choose
    from tracefast.cli.page_cache import show as show_page_cache

    names = None if inode_map is None else inodes(inode_map)
    if explain is not None:
        if match is not None or type_ is not None or page_cache:
            raise CommandError("--explain names the one file", "leave out the other choices")
        return explain_file(
            inputs,
            explain,
            form=format_,
            output=output,
            sort=sort,
            top=top,
            wide=wide,
            format_in=format_in,
            no_clobber=no_clobber,
            inode_map=names,
        )
    if page_cache:
        if type_ is not None:
            raise CommandError("--type: events of the page cache tell no types", "leave it out")
        return show_page_cache(
            inputs,
            form=format_,
            output=output,
            sort=sort,
            top=top,
            match=match,
            wide=wide,
            format_in=format_in,
            no_clobber=no_clobber,
            inode_map=names,
        )
    form = choose(format_, output, no_clobber=no_clobber)
    check_sort(sort, columns().names())
    table, complete = answer(
        inputs,
        lambda events: question(events) if names is None else with_paths(question(events), names),
        format_in,
    )
    if table is not None:
        moved = pl.col("read_bytes").fill_null(0) + pl.col("write_bytes").fill_null(0)
        # Inputs that were asked one by one are in order each, not together.
        table = table.sort(moved, descending=True, maintain_order=True)
        table = matching(match, "path")(table)
        if type_ is not None:
            table = table.filter(pl.col("type") == type_.value)
        finish(table, main=_MAIN, form=form, output=output, sort=sort, top=top, wide=wide)
    return DONE if complete else FAILED
