"""The terminal that a table is fitted to: its width, and how many rows it has room for."""

import shutil
import sys

from tracefast.cli.output.form import Format
from tracefast.inputs.sources import STDIN

# The heading, the note on rows that are left out, the prompt.
_OTHER_LINES = 3
_MIN_ROWS = 10


def is_terminal_table(form: Format, output: str) -> bool:
    """Say whether the result is a table on a terminal, which is cut to fit."""
    return form is Format.TABLE and output == STDIN and sys.stdout.isatty()


def terminal_width() -> int:
    """Give the columns of the terminal."""
    return shutil.get_terminal_size().columns


def screen_rows(below: int) -> int:
    """Give the number of rows for which the terminal has room, at least ten.

    Parameters
    ----------
    below
        Lines printed below the rows, apart from the note on rows that are left out and the prompt.
    """
    return max(shutil.get_terminal_size().lines - _OTHER_LINES - below, _MIN_ROWS)
