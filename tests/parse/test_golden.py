"""Golden logs and their rows, which the Rust tests compare as well."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

LOGS = sorted((DATA / "golden").glob("*.log"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_log_gives_its_rows(log: Path, tmp_path: Path) -> None:
    expected = [json.loads(line) for line in log.with_suffix(".ndjson").read_text().splitlines()]
    tf.parse(log, tmp_path / "out.parquet")
    tf.parse(log, tmp_path / "out.arrow")
    frames = {
        "stream": pl.DataFrame(tf.read(log)),
        "parquet": pl.read_parquet(tmp_path / "out.parquet"),
        "arrow": pl.read_ipc(tmp_path / "out.arrow"),
    }
    for name, frame in frames.items():
        rows = frame.drop("source").with_columns(pl.col("ts").cast(pl.Int64)).to_dicts()
        found = [{key: value for key, value in row.items() if value is not None} for row in rows]
        assert found == expected, name


def test_there_are_golden_files() -> None:
    assert len(LOGS) >= 3
