"""The table of known events in docs/events.md: `python tools/event_table.py` prints it."""

from itertools import groupby

import polars as pl

from tracefast import _core

_TYPES = {
    pl.Int32: "i32",
    pl.UInt32: "u32",
    pl.Int64: "i64",
    pl.UInt64: "u64",
    pl.Float64: "f64",
    pl.Boolean: "bool",
    pl.String: "str",
}


def _columns(event: str) -> str:
    decoder = _core.Decoder.for_event(event)
    if decoder is None:
        raise ValueError(event)
    schema = pl.Schema(decoder.schema)
    kinds = [(name, _TYPES[type(dtype)]) for name, dtype in schema.items() if name != "rest"]
    # Neighbours of one type share its name.
    parts = []
    for kind, run in groupby(kinds, key=lambda pair: pair[1]):
        parts.append(", ".join(f"`{name}`" for name, _ in run) + f" {kind}")
    return "; ".join(parts)


def table() -> str:
    """Give the table: a line for neighbouring events that have the same columns."""
    lines = ["| event | fields |", "|---|---|"]
    for columns, run in groupby(_core.known_events(), key=_columns):
        names = ", ".join(f"`{name}`" for name in run)
        lines.append(f"| {names} | {columns} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
