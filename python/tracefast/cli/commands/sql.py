"""`tracefast sql`: a query in SQL."""

import os
import re
from enum import StrEnum
from typing import Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError


class Engine(StrEnum):
    """The engines that run queries."""

    POLARS = "polars"
    DUCKDB = "duckdb"


_STATEMENT: Final = re.compile(
    r"\s*(select|with|from|show|describe|explain|pivot|summarize|values)\s", re.IGNORECASE
)


@table_command(without=("where", "sort", "wide", "jobs"))
def sql(
    request: Request,
    *,
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help="One SELECT, in quotes.", show_default=False),
    ],
    engine: Annotated[
        Engine,
        typer.Option(help="The engine, and so the dialect: polars, or duckdb if it is installed."),
    ] = Engine.POLARS,
) -> int:
    """Run a SQL query.

    The table events has one row per event; tracefast schema lists its columns. The results of the
    other commands are tables, too: files, files_by_process, forks (one row per created process),
    fork_summary, fork_advice, syscalls, errors, processes, waits, stuck, wait_graph, blocks,
    page_cache;
    tracefast schema TABLE lists the columns of one. --from and --to limit all of them. Columns and
    values are printed as they are, without units.

    \b
    Examples:
      tracefast sql "SELECT errno, count(*) AS n FROM events GROUP BY errno" app.strace
      tracefast sql "SELECT path, read_bytes FROM files WHERE path LIKE '%.pth'" app.parquet
      tracefast sql "SELECT * FROM events WHERE errno = 'ENOENT'" app.strace -o missing.csv
      tracefast sql "FROM events SELECT quantile_cont(dur_ns, 0.99)" app.parquet --engine duckdb
    """
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.result_table import print_query_result

    if engine is Engine.DUCKDB:
        from tracefast.cli.sql.duckdb_engine import sql_analysis
    else:
        from tracefast.cli.sql.polars_engine import sql_analysis

    _check_order(query, request.inputs)
    # The results for some of the logs cannot be combined into the result for all.
    table, complete = run_analysis(request, sql_analysis(query), combinable=False, partial=False)
    if table is None:
        return FAILED
    print_query_result(table, request, table.columns)
    return DONE if complete else FAILED


def _check_order(query: str, inputs: list[str]) -> None:
    """Refuse a log in the place of the query.

    Raises
    ------
    CommandError
        The query does not come first.
    """
    statement = next(
        (name for name in inputs if _STATEMENT.match(name) and not _exists(name)), None
    )
    if statement is not None or _exists(query):
        raise CommandError(
            f"{query}: not a SQL query",
            f'the query comes first: tracefast sql "{statement or "SELECT …"}" {query}',
        )


def _exists(name: str) -> bool:
    return os.path.exists(name)  # noqa: PTH110 - Path.exists raises for a query longer than a path
