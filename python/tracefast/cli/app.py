"""All commands, their help, and what happens to errors of the command line."""

import os
import sys
from importlib import import_module
from typing import Annotated, Final

import typer

import tracefast
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.usage_errors import (
    Commands,
    UsageError,
    names_a_log,
    to_command_error,
)
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.stderr import print_error
from tracefast.cli.system.signals import exit_code_of_interrupt
from tracefast.cli.system.streams import discard_stdout
from tracefast.inputs.sources import STDIN

_HELP = """\
Turn strace and ftrace logs into Parquet and Arrow, and answer questions about them.

\b
Examples:
  tracefast record -o app.parquet -- ./app    run a program, and record what it does
  strace -f -ttt -T -y -o app.strace ./app    or record a log
  tracefast app.strace                        the most important of it, on one screen
  tracefast parse app.strace -o app.parquet   turn it into Parquet
  tracefast files app.parquet                 which files were read and written, and how
  tracefast forks app.strace                  what starting processes cost
  tracefast processes app.strace --tree       which processes ran, how long, how they ended
  tracefast syscalls app.parquet              which system calls took the time, or waited
  tracefast errors app.parquet                which calls failed, and what was searched for
  tracefast insights app.strace               what is worth a change, and what it would save
  tracefast report app.strace -o app.html     all of it on one page, to attach to a ticket
  tracefast waits app.strace                  who waited for whom, and who hangs
  tracefast workers train.strace              what worker processes cost, and what all read
  tracefast flow app.strace -o flow.svg       which data went where, and what is the result
  tracefast export app.strace -o app.pftrace  a timeline for ui.perfetto.dev, or a flame graph
  tracefast diff before.strace after.strace   what differs between two runs
  tracefast check rules.toml app.strace       whether it keeps limits, for CI
  tracefast events trace.txt                  which events there are, and how many
  tracefast blocks trace.txt                  what reached the disks, and in which order
  tracefast join a.strace t.ftrace -o both.parquet
                                              what the kernel did in each call
  tracefast hooks app.strace                  where the kernel lets you watch these calls
  tracefast sql "SELECT …" app.parquet        anything else

Every command takes any number of logs and Parquet files, directories, and - for standard input.
Results go to standard output, everything else to standard error.

\b
Exit codes:
  0    done
  1    done, but a line or a result is lost (--strict), or --fail-on or check found something
  2    wrong command line, or an input or output failed
  130  interrupted (143, 129: terminated by SIGTERM, SIGHUP)
"""

# What `tracefast LOG` runs.
_OVERVIEW: Final = "overview"
# By name: its module, and the line in the list of commands; overview is not in it.
COMMANDS: Final = {
    _OVERVIEW: ("overview.command", ""),
    "parse": ("parse.command", "Turn logs into Parquet or Arrow."),
    "files": ("files.command", "Show which files were used, and how."),
    "forks": ("forks", "Show which processes were created, and what it cost."),
    "processes": ("processes", "Show which processes ran, what they did, how they ended."),
    "syscalls": ("syscalls", "Show which system calls took the time, or waited."),
    "errors": ("errors", "Show which calls failed, and what was searched for."),
    "insights": ("insights.command", "Show what is worth a change, and what it would save."),
    "report": ("report.command", "Write a page with charts and tables."),
    "waits": ("waits", "Show who waited for whom, and who can never go on."),
    "workers": ("workers", "Show pools of worker processes, and what they cost."),
    "flow": ("flow", "Show where data went, and what files were for."),
    "export": ("export.command", "Write a timeline or a flame graph for other tools."),
    "events": ("events", "Show which events there are, and how many."),
    "blocks": ("blocks", "Show what reached the block devices, and how."),
    "join": ("join.command", "Put strace's and ftrace's logs of one run together."),
    "diff": ("compare.diff", "Show what differs between runs, and how sure that is."),
    "check": ("compare.check", "Check that logs keep the limits of rules."),
    "record": ("record.command", "Run a program, and turn what it does into events."),
    "hooks": ("hooks", "Show where to watch system calls, and write scripts."),
    "sql": ("sql", "Run a SQL query."),
    "schema": ("schema", "Show the columns of events and tables, and what they mean."),
    "version": ("version", "Show versions, for bug reports."),
    "completion": ("completion", "Print a completion script for a shell."),
}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tracefast {tracefast.__version__}")
        raise typer.Exit


def _common(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None: ...


def make_app(asked: str | None = None) -> typer.Typer:
    """Make the application of typer.

    Parameters
    ----------
    asked
        The command that will run: the other ones are not imported, and listed without options. None
        to make all.
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
    app.callback()(_common)
    for name, (module, line) in COMMANDS.items():
        function = _unasked
        if asked in (None, name):
            function = getattr(import_module(f"tracefast.cli.commands.{module}"), name)
        app.command(name, short_help=line, hidden=name == _OVERVIEW)(function)
    return app


def _unasked() -> None:
    """Stand for a command that does not run."""


def _asked(words: list[str]) -> str | None:
    """Say which command will run: an empty name for none, None if it is not known."""
    if "_TRACEFAST_COMPLETE" in os.environ:
        return None
    return words[0] if words and words[0] in COMMANDS else ""


def run() -> int:
    """Run the command line; give its exit code."""
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*(word for word in words[1:2] if word != "help"), "--help"]
    elif words and names_a_log(words[0], COMMANDS):
        words.insert(0, _OVERVIEW)
    commands = typer.main.get_command(make_app(_asked(words)))
    try:
        code = commands.main(words, prog_name="tracefast", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a help text has seen enough.
        discard_stdout()
        code = DONE
    except typer.Abort:
        # An interrupt outside the commands, as typer raises it.
        code = exit_code_of_interrupt()
    except CommandError as error:
        print_error(error)
        code = FAILED
    except OSError as error:
        print_error(error, STDIN)
        discard_stdout()
        code = FAILED
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
        else:
            print_error(to_command_error(error, _asked(words) or None))
        code = FAILED
    return code or DONE
