"""The options that all commands with a table share: which logs, which rows, which format."""

import functools
import inspect
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from tracefast.cli.command_line import options
from tracefast.cli.command_line.exit_codes import exits_with_code
from tracefast.cli.command_line.spans import parse_span
from tracefast.cli.messages.stderr import note_lines, print_warning
from tracefast.cli.output.form import Annotations, Format, ResultFormat
from tracefast.reading import FormatIn, Machine
from tracefast.scanning.time_window import Window

# Options of tables that are shown while their log comes.
_LIVE = ("follow", "refresh")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The shared options of a command line, checked.

    Attributes
    ----------
    inputs
        Logs or Parquet files, patterns, ``-``.
    form
        The output format.
    output
        Path of a file, or ``-``.
    clobber
        Replace an output that exists.
    where
        An SQL condition that is true for the rows to keep.
    window
        The time window of the events.
    phase
        The phases in which the events are; None for all events.
    sort
        The column to sort by; None for the command's own order.
    top
        How many rows to print: 0 for all, None for as many as fit a terminal.
    wide
        Show all columns.
    format_in, machine, assume_complete
        As for :func:`tracefast.scan`.
    jobs
        How many logs are read at a time; None to choose.
    quiet
        Print only errors on standard error.
    picture
        The output has the suffix of a picture.
    annotations
        The document for machines that the results of rules are written as; None for a table.
    follow
        Read the log as it grows.
    refresh
        Seconds between two tables while a log comes.
    """

    form: Format
    inputs: list[str] = field(default_factory=list)
    output: str = "-"
    clobber: bool = True
    where: str | None = None
    window: Window = field(default_factory=Window)
    phase: str | None = None
    sort: str | None = None
    top: int | None = None
    wide: bool = False
    format_in: FormatIn | None = None
    machine: Machine | None = None
    assume_complete: bool = False
    jobs: int | None = None
    quiet: bool = False
    picture: bool = False
    annotations: Annotations | None = None
    follow: bool = False
    refresh: float = 2.0

    @property
    def in_part(self) -> bool:
        """Only a part of the events is meant."""
        return bool(self.window) or self.phase is not None

    def note(self, text: str) -> None:
        """Print a note on standard error."""
        self.note_lines([text])

    def note_lines(self, lines: Collection[str]) -> None:
        """Print notes on standard error; on a terminal, a long one takes several lines."""
        if not self.quiet:
            for line in note_lines(lines):
                print(line, file=sys.stderr)

    def warn(self, text: str) -> None:
        """Print a warning on standard error."""
        if not self.quiet:
            print_warning(text)


def table_command(
    *,
    without: Collection[str] = (),
    other_output: str | None = None,
    pictures: Collection[str] = (),
    annotations: bool = False,
    live: bool = False,
) -> Callable[[Callable[..., int]], Callable[..., None]]:
    """Turn a function into a command with the options that all tables share.

    Parameters
    ----------
    without
        Attributes of :class:`Request` that have no meaning for this command. Without ``inputs``, it
        has its own arguments only.
    other_output
        An option of the command's own: if it is given, the output is not a table, and its name may
        have any suffix.
    pictures
        Suffixes of outputs that are not tables either: the command draws them.
    annotations
        The command gives results of rules, and can write them as documents for machines, too.
    live
        The command can show its table while the log comes.
    """
    without = without if live else (*without, *_LIVE)
    return lambda command: _make_command(command, without, other_output, pictures, annotations)


def _make_command(
    command: Callable[..., int],
    without: Collection[str],
    other_output: str | None,
    pictures: Collection[str],
    annotations: bool,
) -> Callable[..., None]:
    """Turn a function into a command.

    The function takes a :class:`Request`, and its own options by name, which come first in the
    help. What it returns or raises becomes an exit code and a message.
    """
    _, *own = inspect.signature(command).parameters.values()
    declared = inspect.signature(_shared_options).parameters.values()
    offered = [parameter for parameter in declared if parameter.name not in without]
    logs = [parameter for parameter in offered if parameter.name == "inputs"]
    shared = [parameter for parameter in offered if parameter.name != "inputs"]
    if annotations:
        shared = [
            parameter.replace(annotation=options.ResultFormatOption)
            if parameter.name == "format_"
            else parameter
            for parameter in shared
        ]
    names = {parameter.name for parameter in (*logs, *shared)}

    @functools.wraps(command)
    def run(*_: object, **given: Any) -> int:  # noqa: ANN401 - typer has checked the types
        shared_given = {name: given.pop(name) for name in names}
        # Its callback does all that it means.
        shared_given.pop("color", None)
        picture = PurePath(shared_given["output"]).suffix.lower() in pictures
        table = not picture and (other_output is None or given[other_output] is None)
        make = _make_request_of_results if annotations else _make_request
        request = make(table=table, picture=picture, pictures=pictures, **shared_given)
        return command(request, **given)

    # Parameters without a default are arguments, which come before the logs.
    arguments = [parameter for parameter in own if parameter.default is parameter.empty]
    choices = [parameter for parameter in own if parameter.default is not parameter.empty]
    parameters = [*arguments, *logs, *choices, *shared]
    signature = inspect.Signature(
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    return exits_with_code(run)


def _shared_options(
    inputs: options.Inputs,
    *,
    where: options.WhereOption = None,
    from_: options.FromOption = None,
    to: options.ToOption = None,
    phase: options.PhaseOption = None,
    sort: options.SortOption = None,
    top: options.TopOption = None,
    wide: options.WideOption = False,
    format_: options.FormatOption = None,
    output: options.OutputOption = "-",
    no_clobber: options.ClobberOption = False,
    format_in: options.FormatInOption = None,
    machine: options.MachineOption = None,
    assume_complete: options.AssumeCompleteOption = False,
    jobs: options.JobsOption = None,
    color: options.ColorOption = None,
    follow: options.FollowOption = False,
    refresh: options.RefreshOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Declare the options that all tables share, for typer to read."""


def _make_request(
    *,
    table: bool,
    format_: Format | None = None,
    output: str,
    no_clobber: bool,
    from_: str | None,
    to: str | None,
    pictures: Collection[str],
    refresh: str | None = None,
    **others: Any,  # noqa: ANN401 - as they are
) -> Request:
    """Check what can be checked before any work is done."""
    from tracefast.cli.output.form import choose_form

    if refresh is not None:
        others["refresh"] = parse_span("--refresh", refresh) / 1e9

    return Request(
        form=choose_form(format_, output, no_clobber=no_clobber, table=table, pictures=pictures),
        output=output,
        clobber=not no_clobber,
        window=Window.parse(from_, to, ("--from ", "--to ")),
        **others,
    )


def _make_request_of_results(
    *,
    table: bool,
    format_: ResultFormat | None,
    output: str,
    pictures: Collection[str],
    **others: Any,  # noqa: ANN401 - as they are
) -> Request:
    """Check the same for a command that writes documents for machines, too."""
    from tracefast.cli.output.form import ANNOTATION_SUFFIXES, choose_annotations

    document = choose_annotations(format_, output) if table else None
    return _make_request(
        table=table and document is None,
        format_=None if format_ is None or document is not None else Format(format_),
        output=output,
        pictures=(*pictures, *ANNOTATION_SUFFIXES),
        annotations=document,
        **others,
    )
