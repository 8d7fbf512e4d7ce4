"""What the model holds, compared with what the kernel reported to the traced program.

`TRACEFAST_LOGS=folder` takes logs of the same kinds below that folder as well: `fdsem.strace`,
`closerace.strace`.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from support import paths
from support.kernel import annotations, truth
from support.kernel.positions import POS, held_and_told

DATA = paths.DATA / "kernel-model"
MORE = Path(os.environ["TRACEFAST_LOGS"]) if "TRACEFAST_LOGS" in os.environ else None
POSITIONS = [DATA / "positions.strace", *(MORE.rglob("fdsem.strace") if MORE else [])]
CLOSING = [DATA / "closing.strace", *(MORE.rglob("closerace.strace") if MORE else [])]


def log_of(original: Path, folder: Path, annotated: bool) -> Path:
    if annotated:
        return original
    copy = folder / original.name
    copy.write_bytes(annotations.strip(original.read_bytes()))
    return copy


@pytest.mark.parametrize("annotated", [True, False], ids=["annotated", "plain"])
@pytest.mark.parametrize("original", POSITIONS, ids=lambda path: path.name)
def test_positions_are_those_of_fdinfo(original: Path, annotated: bool, tmp_path: Path) -> None:
    rows = truth.read_rows(log_of(original, tmp_path, annotated)).filter(
        pl.col("kind").is_in(["syscall", "aio"])
    )
    differences, asked = held_and_told(rows)
    assert differences == []
    assert asked == len(POS.findall(original.read_text())) > 40


def closed_too_early(rows: pl.DataFrame) -> list[str]:
    """Give reads of another description than the one which that thread had just opened."""
    opened: dict[int, dict[str, object]] = {}
    differences = []
    for row in rows.sort("line").iter_rows(named=True):
        if row["name"] == "openat" and row["ret"] >= 0:
            opened[row["tid"]] = row
        elif row["name"] == "read":
            mine = opened[row["tid"]]
            same = all(row[name] == mine[name] for name in ("ofd", "path", "file"))
            at_begin = row["offset"] == 0 and row["offset_known"] == "exact"
            first = row["access"] == ("first" if row["bytes"] else "eof")
            if row["ofd"] is None or not (same and at_begin and first):
                differences.append(f"line {row['line']}: {truth.brief(row)}")
    return differences


@pytest.mark.parametrize("original", CLOSING, ids=lambda path: path.name)
def test_reads_are_of_what_was_open(original: Path, tmp_path: Path) -> None:
    rows = truth.read_rows(log_of(original, tmp_path, annotated=False))
    tids = rows.filter(pl.col("name").is_in(["clone", "clone3"]))["ret"]
    rows = rows.filter(pl.col("tid").is_in(tids.to_list()))
    reads = rows.filter(name="read")
    assert len(tids) == 4
    assert len(reads) >= 600
    assert closed_too_early(rows) == []
    # Each is a description of its own.
    assert reads["ofd"].n_unique() == len(reads)
