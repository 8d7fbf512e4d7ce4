"""`tracefast parse`: logs into one Parquet or Arrow file, or into one for each."""

import re
import sys
from contextlib import nullcontext
from typing import Annotated

import typer

import tracefast
from tracefast._core import Progress
from tracefast.cli.command_line import options
from tracefast.cli.messages.errors import DONE, NOT_UNDERSTOOD, CommandError, guard
from tracefast.cli.messages.progress import shown
from tracefast.cli.screen.parse_report import print_report
from tracefast.cli.screen.unparsed_lines import ExplainFormat, explanation
from tracefast.inputs.sources import STDIN
from tracefast.outputs import Sink, sink_of


@guard
def parse(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG",
            help="Logs, compressed or not, or directories of them; - is standard input.",
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
    out_dir: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write one Parquet file for each log into this folder, leaving out what an "
            "earlier run has done; one bad log stops no other.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--jobs",
            min=1,
            metavar="N",
            help="With --out-dir: logs at a time.  [default: one for each four cores]",
            show_default=False,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="With --out-dir: only every N-th log, from the I-th on.",
            show_default=False,
        ),
    ] = None,
    no_resume: Annotated[
        bool,
        typer.Option("--no-resume", help="With --out-dir: do anew what is done, too."),
    ] = False,
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
        typer.Option(
            min=1, metavar="N", help="Worker threads, for each log.  [default: all cores]"
        ),
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
    """Turn logs of strace or ftrace into one Parquet or Arrow file, or into one for each log.

    An output appears whole or not at all. A report goes to standard error: lines, events by
    kind, what was not understood and in which logs, bytes per second. With --out-dir, a second
    run does what is new, what has changed and what has failed.

    \b
    Examples:
      tracefast parse app.strace -o app.parquet
      tracefast parse run-*.strace.gz -o runs.parquet
      tracefast parse runs --out-dir events --jobs 4
      tracefast parse app.strace -o app.parquet --compression zstd:9 --row-group 1000000
      zcat app.strace.gz | tracefast parse - -o app.parquet
      cat /sys/kernel/tracing/trace | tracefast parse - --format-in ftrace -o trace.arrow
      tracefast parse app.strace -o - --sink arrow | other-program
      tracefast parse app.strace --explain
    """
    if "" in {output, out_dir}:
        raise CommandError("the name of the output is empty", "give it a name")
    if out_dir is not None:
        _check_batch(output, sink, form, explain=explain, no_clobber=no_clobber)
        _check_compression(compression, "parquet")
        from tracefast.batch.job import Options
        from tracefast.cli.commands.parse_each import parse_each

        return parse_each(
            logs,
            out_dir,
            Options(format_in, machine, row_group, compression),
            jobs=jobs,
            threads=threads,
            shard=shard,
            resume=not no_resume,
            strict=strict,
            quiet=quiet,
            verbose=verbose,
        )
    _check_alone(jobs=jobs, shard=shard, no_resume=no_resume)
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


def _check_batch(
    output: str | None,
    sink: str | None,
    form: ExplainFormat | None,
    *,
    explain: bool,
    no_clobber: bool,
) -> None:
    """Refuse what does not go with a file for each log."""
    if output is not None:
        raise CommandError(
            "-o and --out-dir: one file for all logs, or one for each", "leave out one of them"
        )
    if explain or form is not None:
        raise CommandError(
            "--explain and --format print of logs one after another, --out-dir reads several",
            "parse the log in question with --explain and without --out-dir",
        )
    if sink not in {None, "parquet"}:
        raise CommandError(f"--sink {sink}: --out-dir writes Parquet", "leave it out")
    if no_clobber:
        raise CommandError(
            "--no-clobber: --out-dir leaves alone what is done, and replaces what has changed",
            "leave it out, or choose a new folder",
        )


def _check_alone(*, jobs: int | None, shard: str | None, no_resume: bool) -> None:
    """Refuse what goes with a file for each log only."""
    given = {"--jobs": jobs is not None, "--shard": shard is not None, "--no-resume": no_resume}
    for name in (name for name, wanted in given.items() if wanted):
        raise CommandError(
            f"{name}: this is for many logs, each with an output of its own",
            "give --out-dir DIR",
        )


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
                "no output is named",
                "give -o FILE, or --explain to see what is not understood; --out-dir DIR writes a "
                "file for each log",
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
