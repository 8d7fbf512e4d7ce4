"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from tracefast.cli.output.form import Format, ResultFormat
from tracefast.cli.system.colours import Color, choose_colours
from tracefast.reading import FormatIn, Machine

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG|PARQUET",
        help="Logs, Parquet files, or directories of them; - is standard input.",
        show_default=False,
    ),
]
FormatInOption = Annotated[
    FormatIn | None,
    typer.Option(help="Format of the logs.  [default: detected]", show_default=False),
]
MachineOption = Annotated[
    Machine | None,
    typer.Option(
        help="Machine whose system call numbers ftrace's raw_syscalls show.  [default: guessed]",
        show_default=False,
    ),
]
AssumeCompleteOption = Annotated[
    bool,
    typer.Option(
        "--assume-complete",
        help="All calls that open files or move positions were traced, even if the log seems to"
        " lack some of them.",
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR",
        help="Only rows of the result for which this SQL condition is true, such as"
        " \"COLUMN > 1000000 AND OTHER LIKE 'read%'\"; times are in ns, sizes in bytes.",
    ),
]
FromOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Only events that start at this time or later: seconds since the start of the log"
        " (12.5, 90s, 2m), a time of day (14:05:30), a date and time (2026-01-31T14:05:30), or @"
        " and seconds on the log's own clock (@1700000000.5).",
    ),
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="TIME", help="Only events that start before this time."),
]
PhaseOption = Annotated[
    str | None,
    typer.Option(
        "--phase",
        metavar="NAME",
        help="Only events in phases of this name, which the program marked: see flow --phases.",
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="Output format.  [default: by the suffix of -o, else table]"),
]
ResultFormatOption = Annotated[
    ResultFormat | None,
    typer.Option("--format", help="Output format.  [default: by the suffix of -o, else table]"),
]
OutputOption = Annotated[
    str,
    typer.Option("-o", "--output", metavar="FILE", help="Output file; - is standard output."),
]
ClobberOption = Annotated[
    bool,
    typer.Option("--no-clobber", help="Fail if the output exists, instead of replacing it."),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Sort by this column: numbers largest first, text alphabetically.",
    ),
]
TopOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Only the first N rows, 0 for all.  [default: what fits a terminal, else all]",
        show_default=False,
    ),
]
WideOption = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="All columns in a table, not only the main ones; on a terminal that is too narrow for"
        " them, below each other.",
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "-j",
        "--jobs",
        min=1,
        metavar="N",
        help="Read N logs at a time.  [default: one for each four cores]",
        show_default=False,
    ),
]
ColorOption = Annotated[
    Color | None,
    typer.Option(
        callback=choose_colours,
        help="Colours and bold headings.  [default: auto: on terminals, unless NO_COLOR is set]",
        show_default=False,
    ),
]
FollowOption = Annotated[
    bool,
    typer.Option(
        "--follow", help="Read the log as it grows, until Ctrl-C, and show the table meanwhile."
    ),
]
RefreshOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="How often a table is shown while its log comes, by --follow or through a pipe."
        "  [default: 2s]",
        show_default=False,
    ),
]
QuietOption = Annotated[
    bool, typer.Option("-q", "--quiet", help="Print only errors on standard error.")
]
