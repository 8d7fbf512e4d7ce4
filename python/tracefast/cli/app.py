"""The commands and what they have in common: names, help, version."""

import sys
from typing import Annotated

import typer

from tracefast import __version__
from tracefast.cli.command_line.usage_errors import Commands, UsageError, told
from tracefast.cli.commands.blocks import blocks
from tracefast.cli.commands.completion import completion
from tracefast.cli.commands.events import events
from tracefast.cli.commands.files.command import files
from tracefast.cli.commands.forks import forks
from tracefast.cli.commands.parse import parse
from tracefast.cli.commands.processes import processes
from tracefast.cli.commands.schema import schema
from tracefast.cli.commands.sql import sql
from tracefast.cli.commands.syscalls import syscalls
from tracefast.cli.commands.version import version
from tracefast.cli.messages.errors import DONE, FAILED, CommandError, abandon_stdout, explain
from tracefast.inputs.sources import STDIN

_HELP = """\
strace and ftrace text into Arrow and Parquet, and the questions people ask of it.

\b
Examples:
  strace -f -ttt -T -y -o app.strace ./app    record a log
  tracefast parse app.strace -o app.parquet   turn it into columns
  tracefast files app.parquet                 which files were read and written, and how
  tracefast forks app.strace                  who created whom, and what it cost
  tracefast processes app.strace --tree       who ran, for how long, and how it ended
  tracefast syscalls app.parquet              which system calls took the time, and waited
  tracefast events trace.txt                  which events there are, and how many
  tracefast blocks trace.txt                  what reached the disks, and in which order
  tracefast sql "SELECT …" app.parquet        what else you want to know

Every command takes logs or Parquet, any number of them, directories, and - for standard input.
Results go to standard output, everything else to standard error.

\b
Exit codes:
  0    done
  1    done, but --strict was given and something was not understood
  2    a wrong command line, an input or an output failed
  130  interrupted (143, 129: asked to end)
"""

app = typer.Typer(
    name="tracefast",
    cls=Commands,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tracefast {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None: ...


app.command(short_help="Turn logs into Parquet or Arrow.")(parse)
app.command(short_help="Show which files were used, and how.")(files)
app.command(short_help="Show who created which process, and what it cost.")(forks)
app.command(short_help="Show who ran, what it did, and how it ended.")(processes)
app.command(short_help="Show which system calls took the time, and waited.")(syscalls)
app.command(short_help="Show which events there are, and how many.")(events)
app.command(short_help="Show what reached the block devices, and how.")(blocks)
app.command(short_help="Ask a question in SQL.")(sql)
app.command(short_help="Show the columns of events and tables, and what they mean.")(schema)
app.command(short_help="Show versions, as a report of a bug should name them.")(version)
app.command(short_help="Make a shell complete command lines.")(completion)


def run() -> None:
    """Run the command line, and leave with its exit code."""
    commands = typer.main.get_command(app)
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*(word for word in words[1:2] if word != "help"), "--help"]
    try:
        code = commands.main(words, prog_name="tracefast", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a help text has seen enough.
        abandon_stdout()
        code = DONE
    except CommandError as error:
        explain(error)
        code = FAILED
    except OSError as error:
        explain(error, STDIN)
        abandon_stdout()
        code = FAILED
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
        else:
            known = app.registered_commands
            names = {one.callback.__name__ for one in known if one.callback is not None}
            explain(told(error, next((word for word in words[:1] if word in names), None)))
        code = FAILED
    sys.exit(code or DONE)
