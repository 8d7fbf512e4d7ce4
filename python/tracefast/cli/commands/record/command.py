"""`tracefast record`: run a program, and show what it did."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tracefast._core import Progress
from tracefast.cli.command_line import options
from tracefast.cli.command_line.exit_codes import exits_with_code
from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.stderr import print_warning
from tracefast.cli.output.form import Format
from tracefast.cli.text.units import count, size
from tracefast.outputs import sink_of
from tracefast.recording.options import Only

if TYPE_CHECKING:
    from tracefast.recording.run import Recording

_INTERVAL_S = 0.5


@exits_with_code
def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND [ARGUMENT]...", help="What to run.", show_default=False),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Events: .parquet, or .arrow, .feather, .ipc.",
            show_default=False,
        ),
    ] = None,
    pid: Annotated[
        list[int] | None,
        typer.Option(
            "-p",
            "--pid",
            metavar="PID",
            help="Attach to this process instead; may be repeated. Ctrl-C ends the recording.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        Only | None,
        typer.Option(
            help="Record only what files, forks or waits need: other calls cost nothing.",
            show_default=False,
        ),
    ] = None,
    kernel: Annotated[
        bool,
        typer.Option(
            "--kernel",
            help="Record with the kernel's tracefs, not strace (root): page cache, devices and"
            " scheduler, too, at a fraction of the cost.",
        ),
    ] = False,
    both: Annotated[
        bool,
        typer.Option(
            "--both",
            help="Record with strace and with the kernel at the same time, and join them (root).",
        ),
    ] = False,
    keep_log: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Keep the text of the tracer, too; with --both also FILE.ftrace.",
            show_default=False,
        ),
    ] = None,
    no_clobber: options.ClobberOption = False,
    quiet: options.QuietOption = False,
) -> int:
    """Run a command below strace, and turn what it does into events, without a log in between.

    The command has the terminal, its input and its outputs; Ctrl-C and other signals go to it, and
    its exit code is that of record. At the end a report and a first screen go to standard error:
    the same as tracefast FILE.

    \b
    Examples:
      tracefast record -o app.parquet -- ./app
      tracefast record -o app.parquet --only files -- python train.py
      tracefast record -o server.parquet -p 1234
      sudo tracefast record --kernel -o app.parquet -- ./app
      sudo tracefast record --both -o app.parquet -- ./app
      tracefast record -o app.parquet --keep-log app.strace -- ./app
    """
    from tracefast.recording.run import record as run

    if output is None:
        raise CommandError("no output is given", "give -o FILE.parquet")
    if output == "-" or sink_of(output) is None:
        raise CommandError(f"{output}: unknown suffix", "use .parquet, .arrow, .feather or .ipc")
    if bool(command) == bool(pid):
        raise CommandError(
            "neither a command nor a process is given" if not pid else "-p and a command",
            "give -- COMMAND, or -p PID",
        )
    if kernel and both:
        raise CommandError("--kernel and --both", "--both records with the kernel, too")
    if only and (kernel or both):
        raise CommandError("--only: is for strace alone", "leave it out")
    if both and sink_of(output) != "parquet":
        raise CommandError(f"{output}: joined events are Parquet", "name it FILE.parquet")
    if both and keep_log is not None and keep_log.endswith(".ftrace"):
        raise CommandError(f"{keep_log}: is the name of the kernel's text", "name it FILE.strace")
    progress = Progress()
    with _progress_line(progress, disabled=quiet):
        made = run(
            command or [],
            output,
            pids=pid or [],
            only=only,
            kernel=kernel,
            both=both,
            keep_log=keep_log,
            clobber=not no_clobber,
            progress=progress,
            say=print_warning,
        )
    if not quiet:
        _show(made)
    return made.exit_code


def _show(made: "Recording") -> None:
    """Print the report and the first screen, on standard error: the command has the output."""
    from tracefast.cli.commands.join.report import print_join_report
    from tracefast.cli.commands.overview.command import made_overview
    from tracefast.cli.output.terminal import terminal_width
    from tracefast.cli.screen.overview.report import render
    from tracefast.cli.screen.parse_report import print_report
    from tracefast.cli.system.colours import has_colours

    print_report(made.report, made.output)
    if made.joined:
        print_join_report(made.joined)
    found, _ = made_overview(Request(form=Format.TABLE, inputs=[made.output], quiet=True))
    if found is not None:
        print(file=sys.stderr)
        width = max(terminal_width(), 60)
        text = render(found, [made.output], width=width, bold=has_colours(sys.stderr))
        print(text, end="", file=sys.stderr)


@contextmanager
def _progress_line(progress: Progress, *, disabled: bool) -> Iterator[None]:
    """Show how much was recorded while the block runs, if standard error is a terminal."""
    if disabled or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    done = threading.Event()

    def follow() -> None:
        while not done.wait(_INTERVAL_S):
            if _is_plain():
                text = f"recording: {size(progress.bytes_read)}, {count(progress.rows)} events"
                print(f"\r{text}\x1b[K\r", end="", file=sys.stderr, flush=True)

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        done.set()
        follower.join()
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _is_plain() -> bool:
    """Say whether the terminal takes lines; not where the command draws on it."""
    import termios

    try:
        return bool(termios.tcgetattr(sys.stderr.fileno())[3] & termios.ICANON)
    except (termios.error, OSError):
        return False
