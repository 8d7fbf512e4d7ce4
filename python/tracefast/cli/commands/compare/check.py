"""`tracefast check`: whether logs keep the limits of rules."""

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED, FOUND
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

if TYPE_CHECKING:
    from tracefast.analysis.compare.rules import Rule

# The suffix of files of rules.
_RULES: Final = ".toml"


@table_command(
    without=["inputs", "where", "sort", "top", "wide"], pictures=[_RULES], annotations=True
)
def check(
    request: Request,
    *,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="[RULES.toml] LOG|PARQUET",
            help="A file of rules, unless --that is given; then the logs: Parquet files and"
            " directories, too, and - for standard input.",
            show_default=False,
        ),
    ],
    that: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'TABLE: CONDITION'",
            help="Fail if this SQL condition is true for a row of the table. May be given several"
            " times.",
        ),
    ] = None,
    init: Annotated[
        bool, typer.Option("--init", help="Write a first file of rules from what the log shows.")
    ] = False,
) -> int:
    """Check that logs keep the limits of rules, for example in continuous integration.

    A rule is a table [[rule]] of a TOML file: a name, the table that it judges, and a limit. That
    is max_rows, or value (an SQL expression) with max or min. With where, an SQL condition, only
    some rows count. With baseline, a log or Parquet file, the limit is what that has, and the
    tolerance. Each log is judged for itself. What fails is printed, one line each; the formats
    junit, sarif and github are for machines, the others have a row for each rule and log.

    \b
    Examples:
      tracefast check --init app.strace -o rules.toml
      tracefast check rules.toml app.strace
      tracefast check rules.toml runs --format junit -o results.xml
      tracefast check rules.toml app.parquet --format github
      tracefast check app.strace --that "files: path LIKE '%.pth' AND read_random_share > 0.5"

    \b
    Exit codes:
      0  all logs keep all rules
      1  a rule fails
      2  something cannot be judged: a rule is not valid, a log cannot be read or cannot say
    """
    from tracefast.analysis.compare.check import SCHEMA, baselines, judged
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.output.annotations.cases import Unjudged
    from tracefast.cli.output.write import write_bytes, write_table
    from tracefast.cli.screen.compare.check_report import document, render, with_unjudged

    if init:
        return _write_first_rules(request, inputs, that)
    if request.picture:
        raise CommandError(
            f"-o {request.output}: only --init writes rules", "use another suffix, or add --init"
        )
    rules, logs = _rules_and_logs(inputs, that or [])
    base = baselines(rules)
    unread: list[str] = []
    empty: list[str] = []
    table, complete = run_analysis(
        replace(request, inputs=logs),
        lambda events: judged(rules, events, base),
        by_source=False,
        unread=unread.extend,
        without_events=empty.extend,
    )
    # Without a log that cannot be judged, the output is refused: it may be an input.
    if table is None and not (unread or empty):
        return FAILED
    unjudged = Unjudged(tuple(unread), tuple(empty))
    found = SCHEMA.to_frame() if table is None else table
    if request.annotations is not None:
        text = document(request.annotations, found, rules, unjudged)
        write_bytes(text.encode(), request.output, clobber=request.clobber)
    elif request.form is Format.TABLE:
        text = render(found, unjudged)
        write_bytes(text.encode(), request.output, clobber=request.clobber)
    else:
        rows = with_unjudged(found, rules, unjudged)
        write_table(rows, request.form, request.output, rows.columns, clobber=request.clobber)
    if not complete or empty or found["passed"].null_count() or found.is_empty():
        return FAILED
    return DONE if found["passed"].all() else FOUND


def _rules_and_logs(inputs: list[str], that: list[str]) -> "tuple[list[Rule], list[str]]":
    """Take the files of rules, which come first, from the logs.

    Raises
    ------
    CommandError
        There is no rule, or no log.
    """
    from tracefast.analysis.compare.rules import read_rules, rule_that

    files = [name for name in inputs if name.lower().endswith(_RULES)]
    logs = [name for name in inputs if name not in files]
    for file in files:
        if not Path(file).exists():
            raise CommandError(
                f"{file}: {os.strerror(errno.ENOENT)}",
                f"tracefast check --init LOG -o {file} writes a first one",
            )
    rules = [rule for file in files for rule in read_rules(file)]
    rules += [rule_that(text) for text in that]
    if not rules:
        raise CommandError(
            f"{inputs[0]}: not a file of rules",
            "the rules come first, in a file that ends in .toml; or give --that",
        )
    if not logs:
        raise CommandError("no log to check", f"name some after {files[0] if files else '--that'}")
    if repeated := {rule.name for rule in rules if [r.name for r in rules].count(rule.name) > 1}:
        raise CommandError(f"{min(repeated)}: two rules have this name", "give each its own")
    return rules, logs


def _write_first_rules(request: Request, logs: list[str], that: list[str] | None) -> int:
    """Write a file of rules that the logs keep."""
    import polars as pl

    from tracefast.analysis.compare.first_rules import first_rules
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.output.write import write_bytes

    if that:
        raise CommandError("--that: --init writes rules, and checks none", "leave out one of them")
    if request.annotations is not None or request.form is not Format.TABLE:
        raise CommandError("--format: --init writes TOML", "leave it out")

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        return pl.LazyFrame({"text": [first_rules(events)]})

    empty: list[str] = []
    found, complete = run_analysis(
        replace(request, inputs=logs),
        analysis,
        combinable=False,
        without_events=empty.extend,
    )
    if found is None or empty:
        return FAILED
    write_bytes(found["text"].item().encode(), request.output, clobber=request.clobber)
    return DONE if complete else FAILED
