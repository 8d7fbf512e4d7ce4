"""`tracefast files`: one row per file."""

from enum import StrEnum
from typing import Annotated

import typer

from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError


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


class Scopes(StrEnum):
    """Which access is the one before."""

    STREAM = "stream"
    FILE = "file"


class Parts(StrEnum):
    """What a row is about, if not a file."""

    PROCESS = "process"
    OPEN = "open"


# Options that mean nothing beside another one, and why.
_CLASSES = ("--scope", "--by", "--near")
_APART = (
    (
        "--explain",
        ("--page-cache", "--darshan", "--match", "--type", *_CLASSES),
        "accesses of one file, in order, as they are",
    ),
    (
        "--page-cache",
        ("--darshan", "--type", *_CLASSES),
        "the page cache knows pages of files, neither types nor system calls",
    ),
    (
        "--darshan",
        ("--type", *_CLASSES),
        "Darshan has one record per path, of its own classes, and no types",
    ),
)


@table_command()
def files(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only paths like this, such as '*.pth'.")
    ] = None,
    type_: Annotated[
        FileType | None, typer.Option("--type", help="Only files of this type.")
    ] = None,
    scope: Annotated[
        Scopes | None,
        typer.Option(
            help="Which access is the one before: that of the same open file (stream), which is"
            " what the program did, or that of the same row (file), which is what storage sees."
            "  [default: stream]",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        Parts | None,
        typer.Option(help="One row per process and file, or per open of a file."),
    ] = None,
    near: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Bytes that an access may skip without being random, such as 4096, 64K or 1MiB."
            "  [default: 128K]",
            show_default=False,
        ),
    ] = None,
    darshan: Annotated[
        bool,
        typer.Option("--darshan", help="The counters of Darshan's POSIX module, a row per path."),
    ] = False,
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
) -> int:
    """Show which files were used, and how: how much, in which order, how often again, how long.

    One row per file, largest number of bytes first. As text, a line for its reads and one for its
    writes say how: sequential, random or mixed by the share of accesses that jump, once if none
    had one before it. re-read: bytes moved, by different ones. covered: the part of the file that
    was touched. A file that is only mapped, opened or looked at has a line as well. --wide and the
    other formats have all columns, a row per file.

    \b
    Examples:
      tracefast files app.strace
      tracefast files app.parquet --match '*.pth' --wide
      tracefast files app.parquet --type regular --sort read_ns --top 10
      tracefast files app.parquet --by process --scope file --near 1M
      tracefast files run-*.strace --format ndjson | jq .path
      tracefast files app.strace -o files.csv
      tracefast files app.strace --explain model.pth
      tracefast files app.strace --darshan --format csv
      tracefast files trace.txt --page-cache --inode-map inodes.txt
    """
    from tracefast.analysis.files.inode_map import inodes
    from tracefast.cli.screen.files.accesses import show as explain_file
    from tracefast.cli.screen.files.page_cache import show as show_page_cache
    from tracefast.cli.screen.files.table import Choice
    from tracefast.cli.screen.files.table import show as show_table

    chosen = {
        "--explain": explain is not None,
        "--page-cache": page_cache,
        "--darshan": darshan,
        "--match": match is not None,
        "--type": type_ is not None,
        "--scope": scope is not None,
        "--by": by is not None,
        "--near": near is not None,
    }
    _check({name for name, given in chosen.items() if given})
    skip = None if near is None else _bytes(near)
    names = None if inode_map is None else inodes(inode_map)
    if explain is not None:
        return explain_file(request, explain, inode_map=names)
    if page_cache:
        return show_page_cache(request, match=match, inode_map=names)
    return show_table(
        request,
        Choice(
            scope=(scope or Scopes.STREAM).value,
            by=None if by is None else by.value,
            near=skip,
            darshan=darshan,
            match=match,
            type=None if type_ is None else type_.value,
        ),
        inode_map=names,
    )


def _check(given: set[str]) -> None:
    """Refuse options that do not go together.

    Raises
    ------
    CommandError
        There are such options.
    """
    for main, others, why in _APART:
        if main in given and (wrong := [name for name in others if name in given]):
            raise CommandError(f"{main} and {', '.join(wrong)}: {why}", f"leave out {wrong[0]}")


def _bytes(text: str) -> int:
    from tracefast.cli.text.units import bytes_of

    try:
        return bytes_of(text)
    except ValueError as error:
        raise CommandError(
            f"--near {text}: no number of bytes", "such as 4096, 64K or 1MiB"
        ) from error
