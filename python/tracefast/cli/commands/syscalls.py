"""`tracefast syscalls`: one row per name of a system call."""

from enum import StrEnum
from typing import Annotated

import typer

from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import DONE, FAILED, CommandError


class Part(StrEnum):
    """What rows may be parted by."""

    PROCESS = "process"


@table_command()
def syscalls(
    request: Request,
    *,
    by: Annotated[
        Part | None, typer.Option(help="One row per process and name, not per name.")
    ] = None,
    strace_c: Annotated[
        bool,
        typer.Option("--strace-c", help="The summary that strace -c -w would have printed."),
    ] = False,
    match: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only names like this, such as 'epoll_*'.")
    ] = None,
) -> int:
    """Show which system calls took the time: how many, how long, waiting or working, errors.

    One row per name, the longest sum of times first. A call waits if somebody else has to do
    something before it goes on: futex, poll, wait, sleep, and reads from pipes, sockets and
    terminals. All other time is work, that of disks included.

    With --strace-c, the table of strace's own option -c, with wall time (-w): what strace counts
    and what it does not is as there.

    \b
    Examples:
      tracefast syscalls app.strace
      tracefast syscalls app.parquet --by process --top 20
      tracefast syscalls app.parquet --match 'epoll_*' --wide
      tracefast syscalls app.parquet --sort errors --format ndjson | jq .name
      tracefast syscalls app.strace --strace-c
    """
    from tracefast.cli.screen.syscalls import strace_summary, table

    if strace_c:
        others = ((request.sort, "--sort"), (request.top, "--top"), (request.where, "--where"))
        for given, option in ((by, "--by"), *others, (request.wide or None, "--wide")):
            if given is not None:
                raise CommandError(
                    f"{option}: the table of strace has no such choice", "leave it out"
                )
        done = strace_summary.show(request, match=match)
    else:
        done = table.show(request, by="process" if by is Part.PROCESS else None, match=match)
    return DONE if done else FAILED
