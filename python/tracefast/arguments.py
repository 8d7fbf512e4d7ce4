"""Checks of arguments: what is wrong with one shows at the call, with its name."""

import operator
import os
from collections.abc import Sequence

_LARGEST = 2**63 - 1
_PAIR = 2


def whole_number(name: str, value: object, *, low: int, high: int = _LARGEST) -> int:
    """Give a whole number of any kind, numpy's too, as an int.

    Parameters
    ----------
    name
        What the argument is called.
    value
        What was given.
    low, high
        The least and the largest number that will do.

    Raises
    ------
    TypeError
        It is no whole number.
    ValueError
        It is too small or too large.

    Examples
    --------
    >>> whole_number("threads", 0, low=1)
    Traceback (most recent call last):
    ...
    ValueError: threads is at least 1, not 0
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    number = operator.index(value)
    if number < low and high == _LARGEST:
        raise ValueError(f"{name} is at least {low}, not {number}")
    if not low <= number <= high:
        raise ValueError(f"{name} is from {low} to {high}, not {number}")
    return number


def threads_of(threads: object) -> int | None:
    """Check a number of threads; None stands for as many as there are cores.

    Raises
    ------
    TypeError, ValueError
        It is none.
    """
    return None if threads is None else whole_number("threads", threads, low=1)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Refuse what is none of some words; None is always one.

    Raises
    ------
    ValueError
        It is none of them; all are named.

    Examples
    --------
    >>> check_choice("format_in", "perf", ("strace", "ftrace"))
    Traceback (most recent call last):
    ...
    ValueError: format_in is 'strace' or 'ftrace', not 'perf'
    """
    if value is not None and value not in choices:
        known = list(map(repr, choices))
        words = f"one of {', '.join(known)}" if len(known) > _PAIR else " or ".join(known)
        raise ValueError(f"{name} is {words}, not {value!r}")


def path_of(name: str, value: object) -> str:
    """Give a path as text, with ``~`` at its begin replaced by the folder of its user.

    Parameters
    ----------
    name
        What the argument is called.
    value
        What was given.

    Raises
    ------
    TypeError
        It is no path.

    Examples
    --------
    >>> from pathlib import Path
    >>> path_of("sources", Path("demo.strace"))
    'demo.strace'
    >>> path_of("sources", b"demo.strace")
    Traceback (most recent call last):
    ...
    TypeError: sources is a path (str or os.PathLike), not bytes: os.fsdecode makes it a str
    """
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(path, str):
        return os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111
    hint = ""
    if isinstance(path, bytes):
        hint = ": os.fsdecode makes it a str"
    elif hasattr(value, "read"):
        hint = ": give the name of the file"
    raise TypeError(f"{name} is a path (str or os.PathLike), not {type(value).__name__}{hint}")
