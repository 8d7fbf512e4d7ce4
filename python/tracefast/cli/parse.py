"""`tracefast parse`: logs into one Parquet or Arrow file."""

import re
import sys
from contextlib import nullcontext
from typing import Annotated

import typer

import tracefast
from tracefast._core import Progress
from tracefast.cli import options
from tracefast.cli.errors import DONE, NOT_UNDERSTOOD, CommandError, guard
from tracefast.cli.explanation import ExplainFormat, explanation
from tracefast.cli.progress import shown
from tracefast.cli.report import print_report
from tracefast.sources import STDIN, Sink, sink_of


@guard
def parse(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG",
            help="Logs, compressed or not; - is standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="What to write: .parquet, or .arrow, .feather, .ipc; - is standard output.",
            show_default=False,
        ),
    ] = None,
    sink: Annotated[
        str | None,
        typer.Option(
            metavar="parquet|arrow",
            help="Form of the output.  [default: by the suffix of -o]",
            show_default=False,
        ),
    ] = None,
    format_in: options.FormatInOption = None,
    machine: options.MachineOption = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Worker threads.  [default: all cores]"),
    ] = None,
    row_group: Annotated[
        int,
        typer.Option(min=1, max=1 << 24, metavar="ROWS", help="Rows in a row group of Parquet."),
    ] = 65_536,
    compression: Annotated[
        str | None,
        typer.Option(
            metavar="zstd|zstd:LEVEL|none",
            help="What the pages of Parquet are compressed with; LEVEL is from 1 to 22, and higher "
            "ones save little. Arrow files are not compressed.  [default: zstd:1]",
            show_default=False,
        ),
    ] = None,
    no_clobber: options.ClobberOption = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a line was not understood.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print each line that was not understood, and what was expected; -o may be left "
            "out.",
        ),
    ] = False,
    form: Annotated[
        ExplainFormat | None,
        typer.Option("--format", help="Form of what --explain prints.  [default: text]"),
    ] = None,
    quiet: options.QuietOption = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Report on every log, and bytes by use.")
    ] = False,
) -> int:
    """Turn logs of strace or ftrace into one Parquet or Arrow file.

    The output appears whole or not at all. A report goes to standard error: lines, events by
    kind, what was not understood and in which logs, bytes per second.

    \b
    Examples:
      tracefast parse app.strace -o app.parquet
      tracefast parse run-*.strace.gz -o runs.parquet
      tracefast parse app.strace -o app.parquet --compression zstd:9 --row-group 1000000
      zcat app.strace.gz | tracefast parse - -o app.parquet
      cat /sys/kernel/tracing/trace | tracefast parse - --format-in ftrace -o trace.arrow
      tracefast parse app.strace -o - --sink arrow | other-program
      tracefast parse app.strace --explain
    """
    chosen = _check(output, sink, form, explain=explain)
    _check_compression(compression, chosen)
    progress = Progress()

    told = explanation(form, outlive=output is not None) if explain else nullcontext()
    # A bar would be drawn between the lines of the explanation.
    with shown(progress, disabled=quiet or explain), told as tell:
        report = tracefast.parse(
            logs,
            output,
            sink=chosen,
            format_in=format_in,
            machine=machine,
            threads=threads,
            row_group=row_group,
            compression=compression,
            clobber=not no_clobber,
            explain=tell,
            progress=progress,
        )
    if not quiet:
        print_report(report, output, explained=explain, verbose=verbose)
    return NOT_UNDERSTOOD if strict and report.accounting["unparsed"] else DONE


def _check(
    output: str | None, sink: str | None, form: ExplainFormat | None, *, explain: bool
) -> Sink | None:
    """Refuse options that do not go together before any work is done; choose the sink."""
    if form is not None and not explain:
        raise CommandError(
            f"--format {form}: this is the form of what --explain prints",
            "give --sink for the form of the output, or --explain",
        )
    if output is None:
        if not explain:
            raise CommandError(
                "no output is named", "give -o FILE, or --explain to see what is not understood"
            )
        return None
    if output == STDIN and explain:
        raise CommandError(
            "events and explanation would both go to standard output",
            "write the events to a file with -o FILE",
        )
    return _sink(output, sink)


def _check_compression(wanted: str | None, sink: Sink | None) -> None:
    """Refuse what cannot be written."""
    if wanted is None:
        return
    if not re.fullmatch(r"none|zstd(:([1-9]|1[0-9]|2[0-2]))?", wanted, re.ASCII):
        raise CommandError(
            f"--compression {wanted}: no such form", "give zstd, zstd:1 to zstd:22, or none"
        )
    if sink != "parquet":
        raise CommandError(
            f"--compression {wanted}: only Parquet is compressed",
            "leave it out, or name the output .parquet",
        )


def _sink(output: str, wanted: str | None) -> Sink:
    """Choose the sink, and refuse bytes that nobody can read."""
    if wanted not in {None, "parquet", "arrow"}:
        raise CommandError(f"--sink {wanted}: no such form", "give parquet or arrow")
    if output == STDIN and sys.stdout.isatty():
        raise CommandError(
            "standard output is a terminal, and the result is binary",
            "write to a file with -o FILE, or into a pipe",
        )
    chosen: Sink | None = (
        "arrow" if wanted == "arrow" else "parquet" if wanted == "parquet" else sink_of(output)
    )
    if chosen is None:
        raise CommandError(
            f"{output}: this suffix does not say what to write",
            "name it .parquet, .arrow, .feather or .ipc, or give --sink parquet",
        )
    return chosen
