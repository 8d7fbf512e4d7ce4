"""`tracefast schema`: the columns of events, and those of tables."""

from collections.abc import Iterator
from typing import Annotated, Final

import typer

from tracefast.cli.command_line import options
from tracefast.cli.command_line.exit_codes import DONE, exits_with_code
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.text.paragraph import wrap
from tracefast.columns.tables import EVENTS, TABLES, described, names_of
from tracefast.error_hints import suggest

_HEADS: Final = ("column", "type", "unit", "meaning")
_GAP: Final = 2
# A column of text that is narrower than this is no easier to read.
_MIN_TEXT: Final = 30

Row = tuple[str, str, str | None, str]


@exits_with_code
def schema(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE|COLUMN]",
            help=f"The columns of a table ({', '.join(TABLES)}), or one column of the events.",
            show_default=False,
            autocompletion=lambda incomplete: [
                name for name in (*TABLES, *names_of(EVENTS)) if name.startswith(incomplete)
            ],
        ),
    ] = None,
    form: options.FormatOption = None,
    output: options.OutputOption = "-",
    no_clobber: options.ClobberOption = False,
) -> int:
    """Show the columns of the events, or those of a table: types, units, what they mean.

    The events are the rows of a log, with types of Arrow. Tables are what the other commands
    show, with types of polars: files, accesses (files --explain), darshan (files --darshan),
    page_cache (files --page-cache), blocks, forks (forks --each), fork_summary (forks),
    fork_advice, processes, memory, syscalls, errors, insights, hooks, waits,
    stuck (waits --stuck), wait_graph (waits --pairs), event_counts (events). The names of columns
    are those that --where, --sort and tracefast sql take.

    \b
    Examples:
      tracefast schema
      tracefast schema offset_known
      tracefast schema files
      tracefast schema --format csv -o columns.csv
    """
    import polars as pl

    from tracefast.cli.output.form import choose_form
    from tracefast.cli.output.terminal import is_terminal_table, terminal_width
    from tracefast.cli.output.write import write_table

    chosen = choose_form(form, output, no_clobber=no_clobber)
    rows = list(_of_table(what) if what in TABLES else _of_events(what))
    if is_terminal_table(chosen, output):
        rows = list(_wrapped(rows, terminal_width()))
    shown = pl.DataFrame(rows, schema=dict.fromkeys(_HEADS, pl.String), orient="row")
    write_table(shown, chosen, output, _HEADS, clobber=not no_clobber, whole=True)
    return DONE


def _of_events(column: str | None) -> Iterator[Row]:
    """Give the columns of events, or one of them.

    Raises
    ------
    CommandError
        There is no such column, nor a table of this name; the hint names tables that have it.
    """
    columns = described(EVENTS)
    if column == "events":
        column = None
    if column is not None and column not in columns:
        having = [name for name, groups in TABLES.items() if column in names_of(groups)]
        hint = suggest(column, (*columns, *TABLES))
        if having:
            hint = f"a column of {', '.join(having)}: tracefast schema {having[0]}"
        elif "did you" not in hint:
            hint = f"tracefast schema lists all of them; tables are: {', '.join(TABLES)}"
        raise CommandError(f"{column}: no such column of the events, and no such table", hint)
    for name, (dtype, unit, meaning) in columns.items():
        if column in {None, name}:
            yield name, dtype, unit, meaning


def _of_table(name: str) -> Iterator[Row]:
    """Give the columns of a table."""
    for column, (dtype, unit, meaning) in described(TABLES[name]).items():
        yield column, dtype, unit, meaning


def _wrapped(rows: list[Row], width: int) -> Iterator[Row]:
    """Wrap what a column means at the width of the terminal."""
    others = zip(_HEADS[:-1], *(row[:-1] for row in rows), strict=True)
    room = width - sum(max(len(text or "-") for text in column) + _GAP for column in others)
    for name, kind, unit, meaning in rows:
        first, *more = wrap(meaning, max(room, _MIN_TEXT)) or [""]
        yield name, kind, unit or "", first
        for line in more:
            yield "", "", "", line
