"""All commands, their help, and what happens to errors of the command line."""

import sys
from typing import Annotated

import typer

from tracefast import __version__
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.usage_errors import (
    Commands,
    UsageError,
    names_a_log,
    to_command_error,
)
from tracefast.cli.commands.blocks import blocks
from tracefast.cli.commands.compare.check import check
from tracefast.cli.commands.compare.diff import diff
from tracefast.cli.commands.completion import completion
from tracefast.cli.commands.errors import errors
from tracefast.cli.commands.events import events
from tracefast.cli.commands.export.command import export
from tracefast.cli.commands.files.command import files
from tracefast.cli.commands.flow import flow
from tracefast.cli.commands.forks import forks
from tracefast.cli.commands.hooks import hooks
from tracefast.cli.commands.insights.command import insights
from tracefast.cli.commands.join.command import join
from tracefast.cli.commands.overview.command import overview
from tracefast.cli.commands.parse.command import parse
from tracefast.cli.commands.processes import processes
from tracefast.cli.commands.record.command import record
from tracefast.cli.commands.report.command import report
from tracefast.cli.commands.schema import schema
from tracefast.cli.commands.sql import sql
from tracefast.cli.commands.syscalls import syscalls
from tracefast.cli.commands.version import version
from tracefast.cli.commands.waits import waits
from tracefast.cli.commands.workers import workers
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


# What `tracefast LOG` runs.
app.command(hidden=True)(overview)
app.command(short_help="Turn logs into Parquet or Arrow.")(parse)
app.command(short_help="Show which files were used, and how.")(files)
app.command(short_help="Show which processes were created, and what it cost.")(forks)
app.command(short_help="Show which processes ran, what they did, how they ended.")(processes)
app.command(short_help="Show which system calls took the time, or waited.")(syscalls)
app.command(short_help="Show which calls failed, and what was searched for.")(errors)
app.command(short_help="Show what is worth a change, and what it would save.")(insights)
app.command(short_help="Write a page with charts and tables.")(report)
app.command(short_help="Show who waited for whom, and who can never go on.")(waits)
app.command(short_help="Show pools of worker processes, and what they cost.")(workers)
app.command(short_help="Show where data went, and what files were for.")(flow)
app.command(short_help="Write a timeline or a flame graph for other tools.")(export)
app.command(short_help="Show which events there are, and how many.")(events)
app.command(short_help="Show what reached the block devices, and how.")(blocks)
app.command(short_help="Put strace's and ftrace's logs of one run together.")(join)
app.command(short_help="Show what differs between runs, and how sure that is.")(diff)
app.command(short_help="Check that logs keep the limits of rules.")(check)
app.command(short_help="Run a program, and turn what it does into events.")(record)
app.command(short_help="Show where to watch system calls, and write scripts.")(hooks)
app.command(short_help="Run a SQL query.")(sql)
app.command(short_help="Show the columns of events and tables, and what they mean.")(schema)
app.command(short_help="Show versions, for bug reports.")(version)
app.command(short_help="Print a completion script for a shell.")(completion)


def _names() -> set[str]:
    """Give the names of all commands."""
    known = app.registered_commands
    return {one.callback.__name__ for one in known if one.callback is not None}


def run() -> int:
    """Run the command line; give its exit code."""
    commands = typer.main.get_command(app)
    words = sys.argv[1:]
    if words[:1] == ["help"]:
        words = [*(word for word in words[1:2] if word != "help"), "--help"]
    elif words and names_a_log(words[0], _names()):
        words.insert(0, overview.__name__)
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
            command = next((word for word in words[:1] if word in _names()), None)
            print_error(to_command_error(error, command))
        code = FAILED
    return code or DONE
