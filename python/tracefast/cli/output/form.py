"""In which form a result is written."""

import sys
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Final

from tracefast.cli.messages.errors import CommandError
from tracefast.inputs.sources import STDIN
from tracefast.outputs import exists


class Format(StrEnum):
    """Output formats of a table."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    PARQUET = "parquet"


class Annotations(StrEnum):
    """Documents for machines of continuous integration."""

    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


class ResultFormat(StrEnum):
    """Output formats of results that rules find: tables, and documents for machines."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    PARQUET = "parquet"
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


_SUFFIXES = {
    ".json": Format.JSON,
    ".ndjson": Format.NDJSON,
    ".jsonl": Format.NDJSON,
    ".csv": Format.CSV,
    ".parquet": Format.PARQUET,
}
ANNOTATION_SUFFIXES: Final = {".sarif": Annotations.SARIF, ".xml": Annotations.JUNIT}
# Suffixes of files that people expect to hold a table in text.
_TEXT_SUFFIXES = ("", ".txt", ".text", ".log", ".out", ".md")


def choose_form(
    form: Format | None,
    output: str,
    *,
    no_clobber: bool,
    table: bool = True,
    pictures: Collection[str] = (),
) -> Format:
    """Choose the form of a result before any work is done.

    Parameters
    ----------
    form
        The form that was asked for; None for that of the suffix.
    output
        Path of a file, or ``-``.
    no_clobber
        Keep an output that exists.
    table
        Whether the result is a table; other results are text, and may have any suffix.
    pictures
        Suffixes of the pictures that the command draws, to name them in a hint.

    Raises
    ------
    CommandError
        The suffix of the output is not one of a known form; the result would be binary on a
        terminal; or the output exists and is to be kept.
    """
    if not output:
        raise CommandError("the name of the output is empty", "give -o a file name")
    if not table:
        if form is not None:
            raise CommandError(f"--format {form}: the output is not a table", "leave it out")
        form = Format.TABLE
    if form is None:
        suffix = Path(output).suffix.lower()
        if suffix[1:2].isalpha() and suffix not in {*_SUFFIXES, *_TEXT_SUFFIXES}:
            raise CommandError(
                f"{output}: unknown suffix",
                f"use one of {', '.join((*_SUFFIXES, *pictures))}, .txt, or give --format",
            )
        form = _SUFFIXES.get(suffix, Format.TABLE)
    if form is Format.PARQUET and output == STDIN and sys.stdout.isatty():
        raise CommandError(
            "standard output is a terminal, and Parquet is binary",
            "write to a file with -o FILE, or into a pipe",
        )
    if no_clobber and output != STDIN and Path(output).exists():
        raise exists(output)
    return form


def choose_annotations(form: ResultFormat | None, output: str) -> Annotations | None:
    """Say in which document for machines results are written; None for a table.

    Parameters
    ----------
    form
        The form that was asked for; None for that of the suffix.
    output
        Path of a file, or ``-``.

    Examples
    --------
    >>> choose_annotations(None, "found.sarif"), choose_annotations(ResultFormat.CSV, "found.sarif")
    (<Annotations.SARIF: 'sarif'>, None)
    """
    if form is None:
        return ANNOTATION_SUFFIXES.get(Path(output).suffix.lower())
    return next((one for one in Annotations if one.value == form.value), None)
