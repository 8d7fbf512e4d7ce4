"""What all commands that print a table are asked: of which logs, which rows, in which form."""

import functools
import inspect
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from tracefast.cli.command_line import options
from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.time_window import Window
from tracefast.cli.messages import errors
from tracefast.reading import FormatIn, Machine


@dataclass(frozen=True, kw_only=True)
class Request:
    """The shared part of a command line, checked.

    Attributes
    ----------
    inputs
        Logs or Parquet files, patterns, ``-``.
    form
        The form of the result.
    output
        Path of a file, or ``-``.
    clobber
        Replace an output that exists.
    where
        A condition of SQL that the rows of the result fulfil.
    window
        When the events that are looked at happened.
    sort
        The column to sort by; None for the order of the command.
    top
        How many rows to print: 0 for all, None for as many as a terminal bears.
    wide
        Show all columns.
    format_in, machine
        As for :func:`tracefast.scan`.
    quiet
        Nothing on standard error but errors.
    """

    inputs: list[str]
    form: Format
    output: str = "-"
    clobber: bool = True
    where: str | None = None
    window: Window = field(default_factory=Window)
    sort: str | None = None
    top: int | None = None
    wide: bool = False
    format_in: FormatIn | None = None
    machine: Machine | None = None
    quiet: bool = False

    def note(self, text: str) -> None:
        """Print what is good to know on standard error."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def warn(self, text: str) -> None:
        """Print a warning on standard error."""
        if not self.quiet:
            errors.warn(text)


def table_command(
    *, without: Collection[str] = ()
) -> Callable[[Callable[..., int]], Callable[..., None]]:
    """Make a command of typer of a function: with the options that all tables have.

    Parameters
    ----------
    without
        Attributes of a :class:`Request` that mean nothing to this command.
    """
    return lambda command: _command(command, without)


def _command(command: Callable[..., int], without: Collection[str]) -> Callable[..., None]:
    """Make a command.

    The function takes a :class:`Request`, and its own options by name, which come first in the
    help. What it returns or raises becomes an exit code and a message.
    """
    _, *own = inspect.signature(command).parameters.values()
    logs, *all_shared = inspect.signature(_shared).parameters.values()
    shared = [parameter for parameter in all_shared if parameter.name not in without]
    names = {parameter.name for parameter in (logs, *shared)}

    @functools.wraps(command)
    def run(*_: object, **given: Any) -> int:  # noqa: ANN401 - typer has checked the types
        request = _request(**{name: given.pop(name) for name in names})
        return command(request, **given)

    # What has no default is an argument, and stands before the logs.
    arguments = [parameter for parameter in own if parameter.default is parameter.empty]
    choices = [parameter for parameter in own if parameter.default is not parameter.empty]
    parameters = [*arguments, logs, *choices, *shared]
    signature = inspect.Signature(
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    }
    return errors.guard(run)


def _shared(
    inputs: options.Inputs,
    *,
    where: options.WhereOption = None,
    from_: options.FromOption = None,
    to: options.ToOption = None,
    sort: options.SortOption = None,
    top: options.TopOption = None,
    wide: options.WideOption = False,
    format_: options.FormatOption = None,
    output: options.OutputOption = "-",
    no_clobber: options.ClobberOption = False,
    format_in: options.FormatInOption = None,
    machine: options.MachineOption = None,
    quiet: options.QuietOption = False,
) -> None:
    """Hold the options that all tables have, as typer reads them."""


def _request(
    *,
    format_: Format | None,
    output: str,
    no_clobber: bool,
    from_: str | None,
    to: str | None,
    **others: Any,  # noqa: ANN401 - as they are
) -> Request:
    """Check what can be checked before any work is done."""
    from tracefast.cli.output.write import choose

    return Request(
        form=choose(format_, output, no_clobber=no_clobber),
        output=output,
        clobber=not no_clobber,
        window=Window.of(from_, to),
        **others,
    )
