"""Arguments and options that several commands share."""

from enum import StrEnum
from typing import Annotated

import typer

from tracefast.reading import FormatIn, Machine


class Format(StrEnum):
    """Forms in which a table is written."""

    TABLE = "table"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    PARQUET = "parquet"


Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG|PARQUET",
        help="Logs, Parquet files, or directories of one of these; - is standard input.",
        show_default=False,
    ),
]
FormatInOption = Annotated[
    FormatIn | None,
    typer.Option(help="Format of the logs.  [default: found from the text]", show_default=False),
]
MachineOption = Annotated[
    Machine | None,
    typer.Option(
        help="Machine that numbered the calls of ftrace's raw_syscalls.  [default: guessed]",
        show_default=False,
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR",
        help="Only rows of the result for which this is true: a condition of SQL on its columns,"
        " such as \"COLUMN > 1000000 AND OTHER LIKE 'read%'\"; times are in ns, sizes in bytes.",
    ),
]
FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Only events that begin at this time or later: seconds since the start of the log"
        " (12.5, 90s, 2m), a time of day (14:05:30), a date and time (2026-01-31T14:05:30), or @"
        " and seconds on the log's own clock (@1700000000.5).",
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", help="Only events that begin before this time."),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format", help="Form of the result.  [default: by the suffix of -o, else table]"
    ),
]
OutputOption = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write; - is standard output."),
]
ClobberOption = Annotated[
    bool,
    typer.Option("--no-clobber", help="Refuse to replace an output that exists."),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Sort by this column: numbers largest first, text in alphabetical order.",
    ),
]
TopOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Only the first N rows, 0 for all.  [default: a screenful on a terminal, else all]",
        show_default=False,
    ),
]
WideOption = Annotated[
    bool, typer.Option("--wide", help="All columns in a table, not the main ones.")
]
QuietOption = Annotated[
    bool, typer.Option("-q", "--quiet", help="Nothing on standard error but errors.")
]
