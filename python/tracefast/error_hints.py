"""Hints: what to do about an error, in addition to what went wrong."""

import errno
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tracefast._core import Error

HINTS_BY_ERRNO: Final[dict[int, str]] = {
    errno.ENOENT: "check the name",
    errno.EACCES: "check the permissions of the file and of its folder",
    errno.EISDIR: "give the files in it, such as 'FOLDER/*.log'",
    errno.ENOSPC: "free some space",
}


def error_with_hint(what: str, hint: str, *, kind: str | None = None) -> "Error":
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
    from tracefast._core import Error

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


def suggest(wanted: str, known: Iterable[str], *, cutoff: float = 0.7) -> str:
    """Suggest the names that resemble an unknown one, or else list all names.

    Examples
    --------
    >>> suggest("read_byte", ["path", "read_bytes", "reads"])
    "did you mean 'read_bytes'?"
    >>> suggest("size", ["path", "reads"])
    'one of: path, reads'
    """
    from difflib import get_close_matches

    names = list(known)
    by_lower_case = {name.lower(): name for name in reversed(names)}
    matches = get_close_matches(wanted.lower(), by_lower_case, 3, cutoff)
    if matches:
        return f"did you mean {' or '.join(repr(by_lower_case[name]) for name in matches)}?"
    return f"one of: {', '.join(names)}"
