"""What the tests of tables share."""

import polars as pl
import pytest

import tracefast as tf


@pytest.fixture
def unreadable() -> pl.LazyFrame:
    """Events that fail with "read too early" as soon as anybody reads them."""

    def refuse(_frame):
        raise AssertionError("read too early")

    schema = pl.Schema(tf.schema())
    return pl.LazyFrame(schema=schema).map_batches(refuse, schema=schema)
