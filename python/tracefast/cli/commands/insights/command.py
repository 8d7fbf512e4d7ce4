"""`tracefast insights`: what is worth a change, in a program or in how it was recorded."""

from typing import TYPE_CHECKING, Annotated

import typer

from tracefast.analysis.insights.finding import Severity
from tracefast.cli.command_line.exit_codes import FAILED, code_of
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

if TYPE_CHECKING:
    from tracefast.scanning.folds_ahead import FoldsAhead

_MAIN = ("severity", "code", "saving_high_ns", "evidence", "object")
_SPARE = ("object", "saving_high_ns")


def _explain(code: str | None) -> None:
    """Print what a rule looks for, and exit."""
    if code is None:
        return
    from tracefast.analysis.insights.registry import RULES, rule_of
    from tracefast.cli.screen.insights.explained_rule import explained
    from tracefast.error_hints import suggest

    rule = rule_of(code)
    if rule is None:
        hint = suggest(code, [each.code for each in RULES])
        raise CommandError(f"--explain {code}: there is no such rule", hint)
    typer.echo(explained(rule), nl=False)
    raise typer.Exit


def _codes(incomplete: str) -> list[str]:
    from tracefast.analysis.insights.registry import RULES

    return [rule.code for rule in RULES if rule.code.startswith(incomplete)]


@table_command(annotations=True)
def insights(
    request: Request,
    *,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only findings about files or programs that match."),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODES",
            help="Only these findings: codes or their beginnings, with commas between them.",
            autocompletion=_codes,
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODES", help="Without these findings, as --select.", autocompletion=_codes
        ),
    ] = None,
    min_: Annotated[
        Severity, typer.Option("--min", help="Leave out findings that are less severe.")
    ] = Severity.LOW,
    fail_on: Annotated[
        Severity | None,
        typer.Option(
            help="Exit with 1 if there is a finding so severe, or more; with 2 if a log has no"
            " event."
        ),
    ] = None,
    _explained: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="CODE",
            callback=_explain,
            is_eager=True,
            help="Print what a rule looks for, its thresholds, and what to do; no log is needed.",
            autocompletion=_codes,
        ),
    ] = None,
) -> int:
    """Show what is worth a change, in a program or in how it was recorded.

    Each finding says how severe it is, what was seen, what a change would save, on which lines to
    look, and what to do. Severity follows from the share of the time, or of the bytes, that the
    finding touches: high from 20 %, medium from 5 %, low from 2 %; time that the tracer may have
    taken makes nothing high.

    \b
    Examples:
      tracefast insights app.strace
      tracefast insights app.parquet --select small-reads,re-reads
      tracefast insights app.parquet --ignore no- --min medium --top 3
      tracefast insights app.parquet --format sarif -o app.sarif --fail-on high
      tracefast insights --explain small-reads
    """
    ahead = None if select or ignore else _begun(request)
    try:
        return _show(request, ahead, match, _listed(select), _listed(ignore), min_, fail_on)
    finally:
        if ahead is not None:
            ahead.close()


def _begun(request: Request) -> "FoldsAhead | None":
    """Start the pass over a Parquet file, if it is the only input and all of it is wanted."""
    from tracefast.analysis.insights.folds import FOLDS
    from tracefast.cli.inputs.one_input import only_input
    from tracefast.scanning.folds_ahead import FoldsAhead

    match None if request.in_part else only_input(request.inputs):
        case (file, "parquet"):
            return FoldsAhead(file, FOLDS)
    return None


def _show(
    request: Request,
    ahead: "FoldsAhead | None",
    match: str | None,
    chosen: list[str],
    ignored: list[str],
    min_: Severity,
    fail_on: Severity | None,
) -> int:
    # These take longer to import than a small log to read.
    import polars as pl

    from tracefast.analysis.insights.registry import chosen_rules
    from tracefast.analysis.insights.table import SCHEMA, by_severity, insights_and_logs
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.output.annotations.cases import Unjudged
    from tracefast.cli.screen.insights.documents import write_document
    from tracefast.cli.screen.insights.report import print_insights
    from tracefast.cli.screen.insights.rows import write_rows
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    check_columns(request, SCHEMA)
    try:
        rules = chosen_rules(chosen, ignored)
    except ValueError as error:
        raise CommandError(f"{error}", "tracefast insights --help") from None
    logs: list[str] = []
    unread: list[str] = []
    empty: list[str] = []
    table, complete = run_analysis(
        request,
        lambda events: insights_and_logs(
            events, select=chosen, ignore=ignored, logs=logs.extend, ahead=ahead
        ),
        is_empty=lambda _: not logs,
        unread=unread.extend,
        without_events=empty.extend,
    )
    unjudged = Unjudged(tuple(unread), tuple(empty))
    as_text = request.annotations is None and request.form is Format.TABLE
    # Without a log that cannot be judged, the output is refused: it may be an input.
    if table is None and (as_text or not any(unjudged)):
        return FAILED
    table = SCHEMA.to_frame() if table is None else table
    levels = [each.value for each in Severity]
    kept = levels[: levels.index(min_.value) + 1]
    found = table.filter(pl.col("severity").is_in(kept))
    table = filter_rows(found, request, match, "object")
    judged = sorted(set(logs))
    several = len({*judged, *unread, *empty}) > 1
    if request.annotations is not None:
        write_document(by_severity(table), request, rules, judged, unjudged)
    elif not as_text:
        write_rows(table, request, unjudged, several=several)
    elif request.wide or request.sort:
        print_table(table, request, main=_MAIN, spare=_SPARE, several=several)
    else:
        print_insights(
            by_severity(table),
            request,
            rules=len(rules),
            none_match=table.is_empty() and not found.is_empty(),
            several=several,
        )
    if not complete:
        return FAILED
    return code_of(levels, fail_on and fail_on.value, table["severity"], empty=bool(empty))


def _listed(codes: list[str] | None) -> list[str]:
    """Split codes that are given with commas between them."""
    return [code.strip() for text in codes or () for code in text.split(",") if code.strip()]
