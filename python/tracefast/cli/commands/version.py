"""`tracefast version`: what a bug report should include."""

import json
import platform
from enum import StrEnum
from typing import Annotated, Final

import typer

from tracefast import __version__, _core
from tracefast.cli.command_line.exit_codes import DONE, exits_with_code
from tracefast.cli.text.layout import align


class VersionFormat(StrEnum):
    """Forms of the list of versions."""

    TEXT = "text"
    JSON = "json"


# The packages that tracefast uses; the last one is optional.
_OTHERS: Final = ("polars", "pyarrow", "typer", "rich", "duckdb")


@exits_with_code
def version(
    form: Annotated[
        VersionFormat, typer.Option("--format", help="Output format.")
    ] = VersionFormat.TEXT,
) -> int:
    """Show the versions of tracefast, of its schema, and of the packages that it uses.

    \b
    Examples:
      tracefast version
      tracefast version --format json | jq -r .polars
    """
    found = versions()
    if form is VersionFormat.JSON:
        print(json.dumps(found, indent=2))
    else:
        rows = [(name, value or "not installed") for name, value in found.items()]
        print("\n".join(align(rows)))
    return DONE


def versions() -> dict[str, str | None]:
    """Give the versions by name; None for what is not installed."""
    # Slow to import, and only this command needs it.
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
