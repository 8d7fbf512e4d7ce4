"""Hints: what to do about an error, in addition to what went wrong."""

import errno
from typing import Final

from tracefast._core import Error

HINTS_BY_ERRNO: Final[dict[int, str]] = {
    errno.ENOENT: "check the name",
    errno.EACCES: "check the permissions of the file and of its folder",
    errno.EISDIR: "give the files in it, such as 'FOLDER/*.log'",
    errno.ENOSPC: "free some space",
}


def error_with_hint(what: str, hint: str, *, kind: str | None = None) -> Error:
    """Make an error with a hint, like those of the parser.

    Parameters
    ----------
    what
        What is wrong, with the name of the file in front.
    hint
        What to do about it.
    kind
        A word that does not change, by which programs recognise the error.

    Examples
    --------
    >>> error = error_with_hint("app.txt: not a log", "name the log itself")
    >>> error.hint, error.__notes__
    ('name the log itself', ['hint: name the log itself'])
    """
    error = Error(what)
    error.hint, error.kind = hint, kind
    error.add_note(f"hint: {hint}")
    return error


def hint_of(error: BaseException) -> str | None:
    """Give the hint of an error: its own, or the usual one for its number.

    Examples
    --------
    >>> hint_of(FileNotFoundError(2, "No such file or directory", "no.log"))
    'check the name'
    """
    own: str | None = getattr(error, "hint", None)
    if own is not None or not isinstance(error, OSError) or error.errno is None:
        return own
    return HINTS_BY_ERRNO.get(error.errno)
