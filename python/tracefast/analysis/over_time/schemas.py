"""The columns of the tables by windows of time."""

from typing import Final

import polars as pl

from tracefast._polars.declared_schema import declared_schema

SCHEMAS: Final[dict[str, pl.Schema]] = {
    name: declared_schema(f"{name}_by_time") for name in ("files", "syscalls", "blocks")
}
