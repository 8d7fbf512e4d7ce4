"""`tracefast join`: strace's events with what the kernel did in each call, as Parquet."""

from typing import Annotated

import typer

from tracefast.cli.command_line import options
from tracefast.cli.command_line.exit_codes import DONE, exits_with_code
from tracefast.cli.messages.errors import CommandError
from tracefast.inputs.sources import STDIN


@exits_with_code
def join(
    strace: Annotated[
        str,
        typer.Argument(metavar="STRACE", help="strace's log, or its Parquet.", show_default=False),
    ],
    ftrace: Annotated[
        str,
        typer.Argument(
            metavar="FTRACE",
            help="ftrace's log of the same run, or its Parquet.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="FILE.parquet", help="Output file."),
    ],
    no_clobber: options.ClobberOption = False,
    machine: options.MachineOption = None,
    quiet: options.QuietOption = False,
) -> int:
    """Put strace's log and ftrace's log of one run together.

    The result is strace's events in Parquet, which every command reads, with more columns at the
    end: for each system call the time in the kernel, what the tracer added, time on and off the
    processor, pages found in the cache and missed, read-ahead, and what a device moved for it.
    How well the logs match goes to standard error; logs of different runs are refused.

    \b
    Examples:
      tracefast join reads.strace reads.ftrace -o both.parquet
      tracefast files both.parquet
    """
    from tracefast.analysis.join.write import write_joined
    from tracefast.cli.commands.join.report import print_join_report

    if STDIN in {strace, ftrace}:
        raise CommandError("-: join reads its inputs more than once", "give files")
    report = write_joined(strace, ftrace, output, clobber=not no_clobber, machine=machine)
    if not quiet:
        print_join_report(report)
    return DONE
