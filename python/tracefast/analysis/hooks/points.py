"""The hook points that are known: tracepoints and kernel functions of each system call."""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from tracefast.error_hints import error_with_hint

_FILE: Final = Path(__file__).with_name("points.toml")
_FORM: Final = "docs/hooks.md describes the form of the file"
# Names of calls and functions as the kernel has them; nothing else may get into a script.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TRACEPOINT: Final = re.compile(r"[A-Za-z0-9_]+:[A-Za-z0-9_]+", re.ASCII)
_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the kernel, and what a probe on it tells."""

    name: str
    entry: str | None
    """What its arguments tell; None if a probe at its entry tells nothing."""
    result: str | None
    """What it returns; None if a probe at its end tells nothing."""
    since: str | None
    """The first version that is known to have it; None if all have."""
    until: str | None
    """The last version that is known to have it; None if it is still there."""


@dataclass(frozen=True, slots=True)
class Points:
    """All hook points.

    Attributes
    ----------
    tracepoints
        System calls whose tracepoints have another name.
    no_exit
        Calls whose exit is never traced, and why.
    absent
        Calls that a kernel may lack, and why.
    functions
        Names of the functions that serve a call.
    related
        Tracepoints that show what a call set off.
    known
        The functions by name.
    """

    tracepoints: Mapping[str, str]
    no_exit: Mapping[str, str]
    absent: Mapping[str, str]
    functions: Mapping[str, tuple[str, ...]]
    related: Mapping[str, tuple[str, ...]]
    known: Mapping[str, Function]

    def tracepoint(self, call: str) -> str | None:
        """Give the part of a tracepoint's name that says which call; None if it cannot have one.

        Examples
        --------
        >>> points = read_points()
        >>> points.tracepoint("fstat"), points.tracepoint("read"), points.tracepoint("a; b")
        ('newfstat', 'read', None)
        """
        return self.tracepoints.get(call, call) if is_name(call) else None


def is_name(text: str) -> bool:
    """Say whether a text has the form of a name in the kernel.

    Names in a log may be anything: a log is only text.
    """
    return _NAME.fullmatch(text) is not None


def read_points(more: str | os.PathLike[str] | None = None) -> Points:
    """Read the hook points of the package, and those that a user adds.

    Parameters
    ----------
    more
        A file of the same form. What it says of a call or a function replaces what the package
        says.

    Raises
    ------
    OSError
        The file cannot be read.
    Error
        It does not have the form.
    """
    points = _own_points()
    if more is None:
        return points
    added = _points_of(Path(more))
    return Points(
        tracepoints={**points.tracepoints, **added.tracepoints},
        no_exit={**points.no_exit, **added.no_exit},
        absent={**points.absent, **added.absent},
        functions={**points.functions, **added.functions},
        related={**points.related, **added.related},
        known={**points.known, **added.known},
    )


@cache
def _own_points() -> Points:
    return _points_of(_FILE)


def _points_of(file: Path) -> Points:
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise error_with_hint(f"{file}: not TOML: {error}", _FORM) from error
    reader = _Reader(file)
    reader.only(data, {"tracepoints", "no_exit", "absent", "hooks", "functions"}, "the file")
    functions: dict[str, tuple[str, ...]] = {}
    related: dict[str, tuple[str, ...]] = {}
    for hook in reader.tables(data.get("hooks", [])):
        reader.only(hook, {"calls", "functions", "related"}, "[[hooks]]")
        for call in reader.names(hook.get("calls"), _NAME, "calls"):
            functions[call] = reader.names(hook.get("functions", []), _NAME, "functions")
            related[call] = reader.names(hook.get("related", []), _TRACEPOINT, "related")
    tracepoints = reader.texts(data.get("tracepoints", {}), "tracepoints")
    for name in tracepoints.values():
        reader.name(name, _NAME, "tracepoints")
    return Points(
        tracepoints=tracepoints,
        no_exit=reader.texts(data.get("no_exit", {}), "no_exit"),
        absent=reader.texts(data.get("absent", {}), "absent"),
        functions=functions,
        related=related,
        known={
            reader.name(name, _NAME, "functions"): reader.function(name, table)
            for name, table in reader.table(data.get("functions", {}), "functions").items()
        },
    )


class _Reader:
    """Checks the values of a file, and names it in errors."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def _wrong(self, what: str) -> Exception:
        return error_with_hint(f"{self._file}: {what}", _FORM)

    def only(self, table: dict[str, Any], allowed: set[str], where: str) -> None:
        for key in table:
            if key not in allowed:
                raise self._wrong(f"{key!r} has no meaning in {where}")

    def table(self, value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(f"{where} is not a table")
        return value

    def tables(self, value: object) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise self._wrong("hooks is not an array of tables: write [[hooks]]")
        return [self.table(each, "[[hooks]]") for each in value]

    def texts(self, value: object, where: str) -> dict[str, str]:
        return {name: self.text(text, where) for name, text in self.table(value, where).items()}

    def text(self, value: object, where: str) -> str:
        if not isinstance(value, str):
            raise self._wrong(f"{where}: {value!r} is not text")
        return value

    def name(self, value: object, form: re.Pattern[str], where: str) -> str:
        if not isinstance(value, str) or form.fullmatch(value) is None:
            raise self._wrong(f"{where}: {value!r} is not such a name")
        return value

    def names(self, value: object, form: re.Pattern[str], where: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._wrong(f"{where} is not a list of names")
        return tuple(self.name(each, form, where) for each in value)

    def function(self, name: str, value: object) -> Function:
        table = self.table(value, f"functions.{name}")
        self.only(table, {"entry", "return", "since", "until"}, f"functions.{name}")
        texts = self.texts(table, f"functions.{name}")
        for key in ("since", "until"):
            if key in texts:
                self.name(texts[key], _VERSION, f"functions.{name}.{key}")
        return Function(
            name, texts.get("entry"), texts.get("return"), texts.get("since"), texts.get("until")
        )
