"""The schema of a table in the types of polars, from the table of columns."""

from typing import Final

import polars as pl

from tracefast.columns.tables import TABLES

_TYPES: Final[dict[str, pl.DataType]] = {
    "Boolean": pl.Boolean(),
    "Datetime": pl.Datetime("ns"),
    "Float64": pl.Float64(),
    "Int32": pl.Int32(),
    "Int64": pl.Int64(),
    "List(String)": pl.List(pl.String),
    "List(UInt64)": pl.List(pl.UInt64),
    "String": pl.String(),
    "UInt32": pl.UInt32(),
    "UInt64": pl.UInt64(),
}
# Lists of structs, by column: what their fields are.
_STRUCTS: Final[dict[str, pl.Struct]] = {
    "functions": pl.Struct(dict.fromkeys(("name", "probe", "tells", "since", "until"), pl.String)),
    "numbers": pl.Struct({"name": pl.String, "value": pl.Float64}),
}


def declared_schema(table: str) -> pl.Schema:
    """Give the columns of a table as `tracefast.columns` declares them.

    Parameters
    ----------
    table
        Name of the table.

    Examples
    --------
    >>> declared_schema("blocks")["latency_p50_ns"]
    Int64
    """
    return pl.Schema(
        {
            name: pl.List(_STRUCTS[name]) if group.type == "List(Struct)" else _TYPES[group.type]
            for group in TABLES[table]
            for name in group.names
        }
    )
