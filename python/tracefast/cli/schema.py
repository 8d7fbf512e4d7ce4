"""`tracefast schema`: the columns of events."""

from typing import Annotated, Final

import typer

from tracefast.cli import options
from tracefast.cli.column_words import WORDS
from tracefast.cli.errors import DONE, CommandError, guard, resembling

# Arrow's names, as docs/schema.md has them, of types that polars names otherwise.
_TYPES: Final = {
    "Datetime(time_unit='ns', time_zone=None)": "timestamp[ns]",
    "Categorical": "dictionary",
    "String": "string_view",
}


@guard
def schema(
    column: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLUMN]",
            help="Only this column.",
            show_default=False,
            autocompletion=lambda incomplete: [n for n in WORDS if n.startswith(incomplete)],
        ),
    ] = None,
    form: options.FormatOption = None,
    output: options.OutputOption = "-",
    no_clobber: options.ClobberOption = False,
) -> int:
    """Show the columns of events: their types in Arrow, their units, what they mean.

    \b
    Examples:
      tracefast schema
      tracefast schema offset_known
      tracefast schema --format csv -o columns.csv
    """
    import polars as pl

    from tracefast import _core
    from tracefast.cli.output import choose, write

    chosen = choose(form, output, no_clobber=no_clobber)
    columns = pl.Schema(_core.schema())
    if column is not None and column not in columns:
        raise CommandError(f"{column}: no such column", resembling(column, columns))
    rows = [
        (name, _TYPES.get(str(dtype), str(dtype).lower()), *WORDS[name])
        for name, dtype in columns.items()
        if column in {None, name}
    ]
    names = ["column", "type", "unit", "meaning"]
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    write(table, chosen, output, names, clobber=not no_clobber, whole=True)
    return DONE
