"""Write a table for machines: JSON, CSV, Parquet."""

from io import BytesIO

import polars as pl

from tracefast.cli.output.form import Format
from tracefast.cli.text.escaped_columns import as_text, spreadsheet_column, without_bytes
from tracefast.cli.text.escaping import plain_json, spreadsheet_cell
from tracefast.cli.text.frame_rows import frame_of
from tracefast.cli.text.rows import Table

_ISO_8601 = "%Y-%m-%dT%H:%M:%S%.9f"


def encode_table(table: Table, form: Format) -> bytes:
    """Write a table, which is a frame of polars, in any form but text."""
    frame = frame_of(table)
    buffer = BytesIO()
    if form is Format.PARQUET:
        frame.write_parquet(buffer)
        return buffer.getvalue()
    # With all nine digits: JSON and CSV have no type for times.
    plain = without_bytes(frame).with_columns(pl.col(pl.Datetime).dt.to_string(_ISO_8601))
    if form is Format.CSV:
        plain = as_text(plain)
        texts = plain.select(pl.col(pl.String).map_batches(spreadsheet_column))
        plain.with_columns(texts.get_columns()).rename(spreadsheet_cell).write_csv(buffer)
        return buffer.getvalue()
    if form is Format.NDJSON:
        plain.write_ndjson(buffer)
    else:
        plain.write_json(buffer)
        buffer.write(b"\n")
    return plain_json(buffer.getvalue().decode()).encode()
