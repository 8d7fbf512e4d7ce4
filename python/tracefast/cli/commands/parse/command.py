"""`tracefast parse`: turn logs into one Parquet or Arrow file, or one for each log."""

import re
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

import tracefast
from tracefast._core import Progress
from tracefast.cli.command_line import options
from tracefast.cli.command_line.exit_codes import DONE, NOT_UNDERSTOOD, exits_with_code
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.progress import progress_bar
from tracefast.cli.screen.parse_report import print_report
from tracefast.cli.screen.unparsed_lines import ExplainFormat, explanation_writer
from tracefast.inputs.sources import STDIN
from tracefast.outputs import Sink, sink_of

if TYPE_CHECKING:
    from tracefast.reading import Explain


@exits_with_code
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
            help="Output file: .parquet, or .arrow, .feather, .ipc; - is standard output.",
            show_default=False,
        ),
    ] = None,
    out_dir: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write one Parquet file for each log into this folder, and skip what an earlier "
            "run has done. A log that fails does not stop the others.",
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
            help="With --out-dir: parse N logs at a time.  [default: one for each four cores]",
            show_default=False,
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="With --out-dir: only every N-th log, starting with the I-th.",
            show_default=False,
        ),
    ] = None,
    no_resume: Annotated[
        bool,
        typer.Option("--no-resume", help="With --out-dir: parse finished logs again, too."),
    ] = False,
    sink: Annotated[
        str | None,
        typer.Option(
            metavar="parquet|arrow",
            help="Output format.  [default: by the suffix of -o]",
            show_default=False,
        ),
    ] = None,
    format_in: options.FormatInOption = None,
    machine: options.MachineOption = None,
    assume_complete: options.AssumeCompleteOption = False,
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Worker threads for each log.  [default: all cores]"),
    ] = None,
    row_group: Annotated[
        int,
        typer.Option(min=1, max=1 << 24, metavar="ROWS", help="Rows in a row group of Parquet."),
    ] = 65_536,
    compression: Annotated[
        str | None,
        typer.Option(
            metavar="zstd|zstd:LEVEL|lz4|none",
            help="Compression of Parquet pages; LEVEL is 1 to 22, and higher levels save little. "
            "Arrow files are not compressed.  [default: zstd:1]",
            show_default=False,
        ),
    ] = None,
    no_clobber: options.ClobberOption = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if a line or a result is lost.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print each line that was not understood, and what was expected; lost results; "
            "the first notes behind results. -o is optional.",
        ),
    ] = False,
    form: Annotated[
        ExplainFormat | None,
        typer.Option("--format", help="Output format of --explain.  [default: text]"),
    ] = None,
    quiet: options.QuietOption = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Report every log, and bytes by kind of line.")
    ] = False,
) -> int:
    """Turn strace or ftrace logs into one Parquet or Arrow file, or into one for each log.

    An output appears whole or not at all. A report goes to standard error: lines, events by
    kind, what was not understood and in which logs, bytes per second. With --out-dir, a second
    run parses only logs that are new, have changed or have failed.

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
        raise CommandError("the name of the output is empty", "give -o or --out-dir a name")
    if out_dir is not None:
        _check_each(output, sink, form, explain=explain, no_clobber=no_clobber)
        _check_compression(compression, "parquet")
        from tracefast.batch.job import Options
        from tracefast.cli.commands.parse.each_log import parse_each

        return parse_each(
            logs,
            out_dir,
            Options(format_in, machine, row_group, compression, assume_complete=assume_complete),
            jobs=jobs,
            threads=threads,
            shard=shard,
            resume=not no_resume,
            strict=strict,
            quiet=quiet,
            verbose=verbose,
        )
    _check_single(jobs=jobs, shard=shard, no_resume=no_resume)
    chosen_sink = _check(output, sink, form, explain=explain)
    _check_compression(compression, chosen_sink)
    progress = Progress()

    writer: AbstractContextManager[Explain | None] = nullcontext()
    if explain:
        writer = explanation_writer(form, ignore_closed_pipe=output is not None)
    # The bar would appear between the lines of the explanation.
    with progress_bar(progress, disabled=quiet or explain), writer as print_lines:
        report = tracefast.parse(
            logs,
            output,
            sink=chosen_sink,
            format_in=format_in,
            machine=machine,
            assume_complete=assume_complete,
            threads=threads,
            row_group=row_group,
            compression=compression,
            clobber=not no_clobber,
            explain=print_lines,
            progress=progress,
        )
    if not quiet:
        print_report(report, output, explained=explain, verbose=verbose)
    return NOT_UNDERSTOOD if strict and report.losses else DONE


def _check_each(
    output: str | None,
    sink: str | None,
    form: ExplainFormat | None,
    *,
    explain: bool,
    no_clobber: bool,
) -> None:
    """Refuse options that do not go with --out-dir."""
    if output is not None:
        raise CommandError(
            "-o and --out-dir: choose one file for all logs, or one for each",
            "leave out one of them",
        )
    if explain or form is not None:
        raise CommandError(
            "--explain and --format: not available with --out-dir, which parses logs in parallel",
            "parse one log with --explain and without --out-dir",
        )
    if sink not in {None, "parquet"}:
        raise CommandError(f"--sink {sink}: --out-dir writes only Parquet", "leave it out")
    if no_clobber:
        raise CommandError(
            "--no-clobber: --out-dir keeps what is done, and replaces what has changed",
            "leave it out, or choose a new folder",
        )


def _check_single(*, jobs: int | None, shard: str | None, no_resume: bool) -> None:
    """Refuse options that need --out-dir."""
    given = {"--jobs": jobs is not None, "--shard": shard is not None, "--no-resume": no_resume}
    for name in (name for name, wanted in given.items() if wanted):
        raise CommandError(
            f"{name}: only available with --out-dir",
            "give --out-dir DIR",
        )


def _check(
    output: str | None, sink: str | None, form: ExplainFormat | None, *, explain: bool
) -> Sink | None:
    """Refuse options that do not go together before any work is done; choose the sink."""
    if form is not None and not explain:
        raise CommandError(
            f"--format {form}: this is the output format of --explain",
            "give --explain, or --sink to choose the format of -o",
        )
    if output is None:
        if not explain:
            raise CommandError(
                "no output is given",
                "give -o FILE, or --explain to print what is not understood; --out-dir DIR writes "
                "one file for each log",
            )
        return None
    if output == STDIN and explain:
        raise CommandError(
            "--explain and -o -: events and explanations would both go to standard output",
            "write the events to a file with -o FILE",
        )
    return _choose_sink(output, sink)


def _check_compression(wanted: str | None, sink: Sink | None) -> None:
    """Refuse a compression that does not exist, or that the output cannot have."""
    if wanted is None:
        return
    if not re.fullmatch(r"none|lz4|zstd(:([1-9]|1[0-9]|2[0-2]))?", wanted, re.ASCII):
        raise CommandError(
            f"--compression {wanted}: no such compression",
            "give zstd, zstd:1 to zstd:22, lz4, or none",
        )
    if sink != "parquet":
        raise CommandError(
            f"--compression {wanted}: only Parquet is compressed",
            "leave it out, or name the output .parquet",
        )


def _choose_sink(output: str, wanted: str | None) -> Sink:
    """Choose the sink, and refuse to write binary output to a terminal."""
    if wanted not in {None, "parquet", "arrow"}:
        raise CommandError(f"--sink {wanted}: no such format", "give parquet or arrow")
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
            f"{output}: unknown suffix",
            "use .parquet, .arrow, .feather or .ipc, or give --sink parquet",
        )
    return chosen
