"""Checks of arguments, so that an error is raised at the call and names the argument."""

import operator
import os
from collections.abc import Sequence

_LARGEST = 2**63 - 1
_PAIR = 2


def integer(name: str, value: object, *, low: int, high: int = _LARGEST) -> int:
    """Return an integer of any type, such as numpy's, as an int.

    Parameters
    ----------
    name
        Name of the argument.
    value
        Its value.
    low, high
        The smallest and the largest value allowed.

    Raises
    ------
    TypeError
        The value is not an integer.
    ValueError
        It is too small or too large.

    Examples
    --------
    >>> integer("threads", 0, low=1)
    Traceback (most recent call last):
    ...
    ValueError: threads must be at least 1, got 0
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    number = operator.index(value)
    if number < low and high == _LARGEST:
        raise ValueError(f"{name} must be at least {low}, got {number}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be between {low} and {high}, got {number}")
    return number


def thread_count(threads: object) -> int | None:
    """Check a number of threads; None means one for each core.

    Raises
    ------
    TypeError, ValueError
        It is not an integer of at least 1.
    """
    return None if threads is None else integer("threads", threads, low=1)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Check that a value is one of some words, or None.

    Raises
    ------
    ValueError
        It is not; the message names all of them.

    Examples
    --------
    >>> check_choice("format_in", "perf", ("strace", "ftrace"))
    Traceback (most recent call last):
    ...
    ValueError: format_in must be 'strace' or 'ftrace', got 'perf'
    """
    if value is not None and value not in choices:
        known = list(map(repr, choices))
        words = f"one of {', '.join(known)}" if len(known) > _PAIR else " or ".join(known)
        raise ValueError(f"{name} must be {words}, got {value!r}")


def path_text(name: str, value: object) -> str:
    """Return a path as text; a leading ``~`` stands for the user's home directory.

    Parameters
    ----------
    name
        Name of the argument.
    value
        Its value.

    Raises
    ------
    TypeError
        The value is not a path.

    Examples
    --------
    >>> from pathlib import Path
    >>> path_text("sources", Path("demo.strace"))
    'demo.strace'
    >>> path_text("sources", b"demo.strace")
    Traceback (most recent call last):
    ...
    TypeError: sources must be a path (str or os.PathLike), got bytes: use os.fsdecode
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(path, str):
        return os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111
    hint = ""
    if isinstance(path, bytes):
        hint = ": use os.fsdecode"
    elif hasattr(value, "read"):
        hint = ": pass the name of the file"
    raise TypeError(f"{name} must be a path (str or os.PathLike), got {type(value).__name__}{hint}")
