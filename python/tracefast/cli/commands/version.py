"""`tracefast version`: what a report of a bug should name."""

import json
import platform
from enum import StrEnum
from typing import Annotated, Final

import typer

from tracefast import __version__, _core
from tracefast.cli.messages.errors import DONE, guard


class VersionFormat(StrEnum):
    """Forms in which versions are told."""

    TEXT = "text"
    JSON = "json"


# What tracefast works with; the last one if it is installed.
_OTHERS: Final = ("polars", "pyarrow", "typer", "rich", "duckdb")


@guard
def version(
    form: Annotated[
        VersionFormat, typer.Option("--format", help="Form of the result.")
    ] = VersionFormat.TEXT,
) -> int:
    """Show the versions of tracefast, of its schema, and of what it works with.

    \b
    Examples:
      tracefast version
      tracefast version --format json | jq -r .polars
    """
    found = versions()
    if form is VersionFormat.JSON:
        print(json.dumps(found, indent=2))
    else:
        width = max(map(len, found)) + 2
        for name, value in found.items():
            print(f"{name:{width}}{value or 'not installed'}")
    return DONE


def versions() -> dict[str, str | None]:
    """Give the versions by name; None for what is not installed."""
    # Takes longer to import than any other module here, and only this command needs it.
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    found: dict[str, str | None] = {
        "tracefast": __version__,
        "schema": _core.SCHEMA_VERSION,
        "python": platform.python_version(),
    }
    for name in _OTHERS:
        try:
            found[name] = version_of(name)
        except PackageNotFoundError:
            found[name] = None
    return found | {"platform": platform.platform()}
