"""What goes wrong, in words that name the place and the way out, and the exit codes."""

import errno
import functools
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Final, ParamSpec

import typer

from tracefast import Error
from tracefast.cli.system.signals import exit_code_of_interrupt
from tracefast.cli.text.escaping import printable
from tracefast.inputs.sources import STDIN

DONE: Final = 0
NOT_UNDERSTOOD: Final = 1
FAILED: Final = 2

P = ParamSpec("P")


class CommandError(Exception):
    """A wrong command line, or a state of the world that the command cannot work in."""

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.hint = hint


def resembling(wanted: str, known: Iterable[str], *, least: float = 0.7) -> str:
    """Say in a hint what may have been meant, or else what there is.

    Examples
    --------
    >>> resembling("read_byte", ["path", "read_bytes", "reads"])
    "did you mean 'read_bytes'?"
    >>> resembling("size", ["path", "reads"])
    'one of: path, reads'
    """
    from difflib import get_close_matches

    names = list(known)
    folded = {name.lower(): name for name in reversed(names)}
    close = [folded[name] for name in get_close_matches(wanted.lower(), folded, 3, least)]
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    return f"one of: {', '.join(names)}"


def not_utf8(name: str) -> CommandError:
    """Say that a name cannot be used, as its bytes are no text."""
    return CommandError(
        f"{name}: the name is not UTF-8",
        "rename it, or use - and redirect: tracefast ... - < LOG, tracefast ... -o - > FILE",
    )


_RED: Final = "31"
_YELLOW: Final = "33"
_CYAN: Final = "36"
# The core names a line behind the file, as a sentence would.
_LINE: Final = re.compile(r"^(.*?): line (\d+): ", re.DOTALL)

_HINTS: Final[dict[int, str]] = {
    errno.ENOENT: "check the name; patterns and - (standard input) are accepted",
    errno.EACCES: "check the permissions of the file and of its folder",
    errno.EISDIR: "give the files in it, such as 'FOLDER/*.log'",
    errno.EEXIST: "leave out --no-clobber to replace it",
    errno.ENOSPC: "free some space, or write elsewhere with -o",
    errno.EROFS: "write elsewhere with -o",
}
_OUTPUT_HINTS: Final[dict[int, str]] = {
    errno.ENOENT: "make the folder first",
    errno.ENOTDIR: "make the folder first",
    errno.EACCES: "write elsewhere with -o, or change the permissions of the folder",
    errno.EISDIR: "give the name of a file, not of a folder",
}


def guard(command: Callable[P, int]) -> Callable[P, None]:
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
            # Polars may deliver the same signal a second time, while the interpreter shuts down.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            code = exit_code_of_interrupt()
        except BrokenPipeError:
            # The reader has seen enough, as `head` does: that is no error.
            abandon_stdout()
            code = DONE
        except UnicodeEncodeError as error:
            # What the user typed need not be UTF-8; columns are.
            explain(not_utf8(error.object))
            abandon_stdout()
            code = FAILED
        except (CommandError, Error, OSError) as error:
            explain(error, place)
            abandon_stdout()
            code = FAILED
        raise typer.Exit(code)

    # typer reads the options from the signature; what is returned is of no interest to it.
    run.__annotations__ = {**command.__annotations__, "return": None}
    return run


def explain(error: Exception, output: str | None = None) -> None:
    """Print an error and what to do about it on standard error.

    Parameters
    ----------
    error
        What was raised.
    output
        The file that was to be written, so that the hint fits.
    """
    what, hint = _words(error, output)
    _say("error", _RED, what)
    if hint:
        _say("hint", _CYAN, hint)


def warn(what: str) -> None:
    """Print a warning on standard error."""
    _say("warning", _YELLOW, what)


def _say(label: str, colour: str, text: str) -> None:
    shown = f"\x1b[1;{colour}m{label}\x1b[0m" if _coloured() else label
    try:
        print(f"{shown}: {printable(text)}", file=sys.stderr, flush=True)
    except OSError:
        # Where nobody can be told, the exit code is all there is.
        _abandon(2)


def _coloured() -> bool:
    """Say whether messages have colours: as https://no-color.org and others agreed."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _words(error: Exception, output: str | None) -> tuple[str, str | None]:
    # Without a number the text is all there is, and names the place itself.
    if not isinstance(error, OSError) or error.errno is None:
        return _LINE.sub(r"\1:\2: ", str(error)), getattr(error, "hint", None)
    name = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else None
    text = error.strerror or str(error)
    hints = _HINTS
    if output is not None and name in {None, output}:
        name = "standard output" if output == STDIN else output
        hints = _HINTS | _OUTPUT_HINTS
    return (f"{name}: {text}" if name else text), hints.get(error.errno)


def abandon_stdout() -> None:
    """Point standard output to nowhere, so that the last flush finds no closed pipe."""
    _abandon(1)


def _abandon(stream: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream)
    os.close(nowhere)
