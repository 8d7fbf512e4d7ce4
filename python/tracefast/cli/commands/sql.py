"""`tracefast sql`: a question in SQL."""

import os
import re
from enum import StrEnum
from typing import Annotated, Final

import typer

from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import DONE, FAILED, CommandError


class Engine(StrEnum):
    """What answers questions in SQL."""

    POLARS = "polars"
    DUCKDB = "duckdb"


_STATEMENT: Final = re.compile(
    r"\s*(select|with|from|show|describe|explain|pivot|summarize|values)\s", re.IGNORECASE
)


@table_command(without=("where", "sort", "wide"))
def sql(
    request: Request,
    *,
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="One SELECT, in quotes.", show_default=False),
    ],
    engine: Annotated[
        Engine,
        typer.Option(help="Whose SQL it is: that of polars, or that of duckdb, if installed."),
    ] = Engine.POLARS,
) -> int:
    """Ask a question in SQL.

    The table events has a row per event; tracefast schema lists its columns. The answers of the
    other commands are tables as well: files, forks (one row per created process), fork_summary,
    fork_advice, syscalls, processes, blocks, page_cache; tracefast schema TABLE lists the columns
    of one. With --from and --to all of them are of this part of the time. Columns and values are
    shown as they are, without units.

    \b
    Examples:
      tracefast sql "SELECT errno, count(*) AS n FROM events GROUP BY errno" app.strace
      tracefast sql "SELECT path, read_bytes FROM files WHERE path LIKE '%.pth'" app.parquet
      tracefast sql "SELECT * FROM events WHERE errno = 'ENOENT'" app.strace -o missing.csv
      tracefast sql "FROM events SELECT quantile_cont(dur_ns, 0.99)" app.parquet --engine duckdb
    """
    from tracefast.cli.inputs.event_sources import answer
    from tracefast.cli.screen.result_table import put

    if engine is Engine.DUCKDB:
        from tracefast.cli.sql.duckdb_engine import asked
    else:
        from tracefast.cli.sql.polars_engine import asked

    _check_order(query, request.inputs)
    # The answers to parts of the logs are not parts of the answer.
    table, complete = answer(request, asked(query), apart=False)
    if table is None:
        return FAILED
    put(table, request, table.columns)
    return DONE if complete else FAILED


def _check_order(query: str, inputs: list[str]) -> None:
    """Refuse a log in the place of the question.

    Raises
    ------
    CommandError
        The question does not come first.
    """
    asked = next((name for name in inputs if _STATEMENT.match(name) and not _exists(name)), None)
    if asked is not None or _exists(query):
        raise CommandError(
            f"{query}: this is no question in SQL",
            f'the question comes first: tracefast sql "{asked or "SELECT …"}" {query}',
        )


def _exists(name: str) -> bool:
    return os.path.exists(name)  # noqa: PTH110 - a question is too long for the name of a path
