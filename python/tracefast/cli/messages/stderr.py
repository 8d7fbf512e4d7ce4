"""Print errors, hints and warnings on standard error."""

import os
import re
import shutil
import sys
from collections.abc import Iterable
from typing import Final

from tracefast.cli.messages.hints import command_hint
from tracefast.cli.system.colours import has_colours
from tracefast.cli.system.streams import discard_stderr
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.paragraph import wrap
from tracefast.inputs.sources import STDIN

_RED: Final = "31"
_YELLOW: Final = "33"
_CYAN: Final = "36"
# What the further lines of a note begin with.
_INDENT: Final = "  "
# The library writes `FILE: line N: what`. Editors and terminals jump to `FILE:N`.
_LINE: Final = r"^(.*?): line (\d+): "


def print_error(error: Exception, output: str | None = None) -> None:
    """Print an error and what to do about it.

    Parameters
    ----------
    error
        What was raised.
    output
        The file that was to be written, so that the hint fits.
    """
    what, hint = _describe(error, output)
    _print("error", _RED, what)
    if hint:
        _print("hint", _CYAN, hint)


def print_warning(what: str) -> None:
    """Print a warning."""
    _print("warning", _YELLOW, what)


def note_lines(notes: Iterable[str]) -> list[str]:
    """Write notes as the lines that they take on standard error: on a terminal, lines that fit."""
    if not sys.stderr.isatty():
        return list(notes)
    width = shutil.get_terminal_size().columns
    lines: list[str] = []
    for note in notes:
        text = note.lstrip(" ")
        own = " " * (len(note) - len(text))
        lines += wrap(text, width, first=own, rest=own + _INDENT)
    return lines


def _print(label: str, colour: str, text: str) -> None:
    shown = f"\x1b[1;{colour}m{label}\x1b[0m" if has_colours(sys.stderr) else label
    try:
        print(f"{shown}: {printable(text)}", file=sys.stderr, flush=True)
    except OSError:
        # Nobody reads standard error: the exit code has to do.
        discard_stderr()


def _describe(error: Exception, output: str | None) -> tuple[str, str | None]:
    # Without a number the text is all there is, and names the place itself.
    if not isinstance(error, OSError) or error.errno is None:
        return re.sub(_LINE, r"\1:\2: ", str(error), flags=re.DOTALL), command_hint(error)
    name = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else None
    about_output = output is not None and name in {None, output}
    if about_output:
        name = "standard output" if output == STDIN else output
    text = error.strerror or str(error)
    hint = command_hint(error, output=about_output)
    return (f"{name}: {text}" if name else text), hint
