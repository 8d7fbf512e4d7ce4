"""Exit codes, and the decorator that gives every command its own."""

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Final, ParamSpec

import typer

import tracefast
from tracefast.cli.messages.errors import CommandError, name_not_utf8
from tracefast.cli.messages.stderr import print_error
from tracefast.cli.system.signals import exit_code_of_interrupt, ignore_interrupts
from tracefast.cli.system.streams import discard_stdout
from tracefast.inputs.sources import STDIN

DONE: Final = 0
NOT_UNDERSTOOD: Final = 1
FOUND: Final = 1
FAILED: Final = 2

P = ParamSpec("P")


def code_of(levels: Sequence[str], fail_on: str | None, found: Iterable[str], empty: bool) -> int:
    """Give the exit code of a command with ``--fail-on``.

    Parameters
    ----------
    levels
        All levels, the most severe one first.
    fail_on
        The least severe level that fails, if any does.
    found
        Those that were found.
    empty
        Whether a log has no event: nobody can say that it has no such level.

    Examples
    --------
    >>> code_of(["high", "low"], "high", ["low"], empty=False)
    0
    """
    if fail_on is None:
        return DONE
    if not set(found).isdisjoint(levels[: levels.index(fail_on) + 1]):
        return FOUND
    return FAILED if empty else DONE


def exits_with_code(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command returns or raises into an exit code and a message."""

    @functools.wraps(command)
    def run(*args: P.args, **options: P.kwargs) -> None:
        output = options.get("output")
        # What is not written to a file goes to standard output.
        place = output if isinstance(output, str) else STDIN
        try:
            code = command(*args, **options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            ignore_interrupts()
            code = exit_code_of_interrupt()
        except BrokenPipeError:
            # The reader has seen enough, as `head` does: this is not an error.
            discard_stdout()
            code = DONE
        except UnicodeEncodeError as error:
            # What the user typed need not be UTF-8; columns are.
            print_error(name_not_utf8(error.object))
            discard_stdout()
            code = FAILED
        except (CommandError, tracefast.Error, OSError) as error:
            print_error(error, place)
            discard_stdout()
            code = FAILED
        raise typer.Exit(code)

    # typer reads the options from the signature, and has no use for what is returned.
    run.__annotations__ = {**command.__annotations__, "return": None}
    return run
