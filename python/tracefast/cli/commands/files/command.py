"""`tracefast files`: its options, and the reports that they choose."""

from enum import StrEnum
from typing import Annotated, Final, NamedTuple

import typer

from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.commands.charts.options import with_plots
from tracefast.cli.commands.charts.over_time import EveryOption
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


class Scope(StrEnum):
    """What an access is compared with: the one before it in the same open file, or file."""

    STREAM = "stream"
    FILE = "file"


class By(StrEnum):
    """What a row is about, if not a file."""

    PROCESS = "process"
    OPEN = "open"
    PHASE = "phase"


class _Report(NamedTuple):
    """A report other than the table of files: the options it takes, and why it takes no others."""

    option: str
    takes: frozenset[str]
    reason: str


# In order: each report refuses those after it, too.
_REPORTS: Final = (
    _Report("--explain", frozenset(), "accesses of one file, in order, as they are"),
    _Report(
        "--page-cache",
        frozenset({"--match"}),
        "the page cache has pages of files, but no file types and no system calls",
    ),
    _Report(
        "--darshan",
        frozenset({"--match"}),
        "Darshan has one record per path, its own classes of accesses, and no file types",
    ),
)


@table_command(other_output="plot", live=True)
@with_plots
def files(
    request: Request,
    *,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only paths that match, such as '*.pth'.")
    ] = None,
    type_: Annotated[
        FileType | None, typer.Option("--type", help="Only files of this type.")
    ] = None,
    scope: Annotated[
        Scope | None,
        typer.Option(
            help="Compare each access with the one before it in the same open file (stream): what"
            " the program did; or in the same row (file): what storage sees.  [default: stream]",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="One row per process and file, per open of a file, or per phase and file."
        ),
    ] = None,
    every: EveryOption = None,
    near: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="How many bytes an access may skip and still not be random: 4096, 64K, 1MiB."
            "  [default: 128K]",
            show_default=False,
        ),
    ] = None,
    darshan: Annotated[
        bool,
        typer.Option(
            "--darshan", help="Show the counters of Darshan's POSIX module, one row per path."
        ),
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Show the accesses of this file, in order, and summarize them. The end of a path"
            " or a pattern is enough if it matches one file.",
        ),
    ] = None,
    page_cache: Annotated[
        bool,
        typer.Option("--page-cache", help="Show what the page cache did instead (ftrace)."),
    ] = False,
    inode_map: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Paths of the files that the log names by device and inode only: the output of"
            " find FOLDER -printf '%D %i %p\\n'.",
        ),
    ] = None,
) -> int:
    """Show which files were used, and how: bytes, access pattern, re-reads, time.

    One row per file, the most bytes first. As text, a file has one line for its reads and one for
    its writes. The pattern is in sequence, random or partly random, by the share of accesses that
    jump, "whole" where all of the file was accessed in sequence, and "once" where no access follows
    another. re-read: bytes moved divided by distinct bytes. covered: the part of the file that was
    accessed. A file that was only mapped, opened or looked up
    (stat) has one line. --wide and the other formats have all columns, one row per file.

    \b
    Examples:
      tracefast files app.strace
      tracefast files app.parquet --match '*.pth' --wide
      tracefast files app.parquet --type regular --sort read_ns --top 10
      tracefast files app.parquet --by process --scope file --near 1M
      tracefast files app.strace --by phase --match '*.csv'
      tracefast files app.parquet --every 100ms --match '*.pth'
      tracefast files run-*.strace --format ndjson | jq .path
      tracefast files app.strace -o files.csv
      tracefast files app.strace --explain model.pth
      tracefast files app.strace --darshan --format csv
      tracefast files trace.txt --page-cache --inode-map inodes.txt
    """
    given = {
        "--explain": explain is not None,
        "--page-cache": page_cache,
        "--darshan": darshan,
        "--match": match is not None,
        "--type": type_ is not None,
        "--scope": scope is not None,
        "--by": by is not None,
        "--near": near is not None,
    }
    if every is not None:
        from tracefast.analysis.files.table import files as analysis
        from tracefast.cli.commands.charts.over_time import report_over_time

        del given["--match"]
        others = given | {"--inode-map": inode_map, "--follow": request.follow}
        return report_over_time(request, "files", analysis, every, match=match, others=others)
    if by is By.PHASE and scope is Scope.FILE:
        raise CommandError(
            "--by phase and --scope file: by phase, accesses are compared in each open file",
            "leave out --scope file",
        )
    _check_combination([name for name, is_given in given.items() if is_given])
    near_bytes = None if near is None else _parse_near(near)
    paths = None
    if inode_map is not None:
        from tracefast.analysis.files.inode_map import inodes

        paths = inodes(inode_map)
    if explain is not None:
        from tracefast.cli.commands.files.accesses import report_accesses

        return report_accesses(request, explain, inode_map=paths)
    if page_cache:
        from tracefast.cli.commands.files.page_cache import report_page_cache

        return report_page_cache(request, match=match, inode_map=paths)
    from tracefast.cli.commands.files.table import FilesOptions, report_files

    options = FilesOptions(
        scope=(scope or Scope.STREAM).value,
        by=None if by is None else by.value,
        near=near_bytes,
        darshan=darshan,
        match=match,
        type=None if type_ is None else type_.value,
    )
    return report_files(request, options, inode_map=paths)


def _check_combination(given: list[str]) -> None:
    """Refuse options that the report does not take.

    Raises
    ------
    CommandError
        There are such options.
    """
    for report in _REPORTS:
        if report.option in given:
            refused = [name for name in given if name not in {report.option, *report.takes}]
            if refused:
                raise CommandError(
                    f"{report.option} and {', '.join(refused)}: {report.reason}",
                    f"leave out {refused[0]}",
                )
            return


def _parse_near(text: str) -> int:
    from tracefast.quantities import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise CommandError(
            f"--near {text}: not a byte count", "give a size such as 4096, 64K or 1MiB"
        ) from error
