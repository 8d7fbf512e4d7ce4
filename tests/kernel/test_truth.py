"""Offsets and paths of rows against what the traced programs recorded of their reads.

`TRACEFAST_LOGS=folder pytest tests/kernel/test_truth.py` takes the records below that folder,
too.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from support import paths
from support.kernel import annotations, truth

DATA = paths.DATA / "truth"
RECORDS = truth.records(DATA)
if "TRACEFAST_LOGS" in os.environ:
    RECORDS += truth.records(Path(os.environ["TRACEFAST_LOGS"]))


def name(record: Path) -> str:
    return str(record.relative_to(DATA) if record.is_relative_to(DATA) else record)


# Their tasks seek while others read: where that leaves the position, only the next seek shows.
LOOSE = {f"{name}.truth.json" for name in ("threads", "forks", "plain", "separate")}


def check(outcome: truth.Outcome, record: Path) -> None:
    assert outcome.differences == []
    assert outcome.known.total() > 5
    assert outcome.share("null") == 0
    assert outcome.share("unknown") <= (0.25 if record.name in LOOSE else 0)
    # Only `copies` has descriptors that are older than the log.
    if record.name != "copies.truth.json":
        assert outcome.share("relative", "relative and proved") == 0


@pytest.mark.parametrize("record", RECORDS, ids=name)
def test_reads_are_those_that_the_program_recorded(record: Path) -> None:
    check(truth.annotated(record), record)


@pytest.mark.parametrize("record", [path for path in RECORDS if truth.has_annotations(path)])
def test_annotations_are_not_needed(record: Path, tmp_path: Path) -> None:
    check(truth.stripped(record, tmp_path), record)


def test_only_what_overlaps_is_ambiguous() -> None:
    """The programs whose tasks share nothing, or wait for each other, leave nothing open."""
    outcome = truth.annotated(DATA / "copies.truth.json")
    assert outcome.share("ambiguous") == 0
    assert outcome.known["relative and proved"] >= 2
    for log in LOOSE:
        assert truth.annotated(DATA / log).share("exact") > 0.15, log


def made(**changes: object) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Give a row and the record of the same read; changes are to the row."""
    row = {"kind": "syscall", "name": "read", "source": "log", "tid": 1, "line": 1, "fd": 3} | {
        "ofd": 1,
        "path": "/a",
        "offset": 10,
        "offset_known": "exact",
        "requested": 8,
        "bytes": 8,
        "ret": 8,
        **changes,
    }
    operation = {"tid": 1, "path": "/a", "offset": 10, "requested": 8, "returned": 8}
    schema = {"path": pl.String, "offset": pl.Int64, "offset_known": pl.String, "ofd": pl.UInt32}
    return pl.DataFrame([row], schema_overrides=schema), [operation]


@pytest.mark.parametrize(
    "changes",
    [
        {"offset": 11},
        {"path": "/b"},
        {"path": None},
        {"path": "a"},
        {"requested": 9},
        {"bytes": 7},
        {"tid": 2},
        {"offset_known": "ambiguous"},
        {"offset_known": "ambiguous", "offset": None},
        {"offset_known": "unknown"},
        {"offset_known": None},
    ],
)
def test_differences_are_seen(changes: dict[str, object]) -> None:
    assert truth.Comparison(*made()).run().differences == []
    assert len(truth.Comparison(*made(**changes)).run().differences) == 1


def test_a_read_too_many_is_seen() -> None:
    rows, operations = made()
    twice = pl.concat([rows, rows.with_columns(line=pl.lit(2, pl.Int64))])
    assert len(truth.Comparison(twice, operations).run().differences) == 1
    other = pl.concat([rows, rows.with_columns(path=pl.lit("/lib.so"), line=pl.lit(2, pl.Int64))])
    assert truth.Comparison(other, operations).run().differences == []


def test_relative_offsets_are_shifted_by_their_proof() -> None:
    rows, operations = made(offset=3, offset_known="relative")
    assert truth.Comparison(rows, operations).run().known == {"relative": 1}
    proof = rows.with_columns(
        kind=pl.lit("notice"),
        name=pl.lit("offset-base"),
        offset=pl.lit(7, pl.Int64),
        line=pl.lit(2, pl.Int64),
    )
    both = truth.Comparison(pl.concat([rows, proof]), operations).run()
    assert both.known == {"relative and proved": 1}
    assert both.differences == []
    wrong = pl.concat([rows, proof.with_columns(offset=pl.lit(8, pl.Int64))])
    assert len(truth.Comparison(wrong, operations).run().differences) == 1


@pytest.mark.parametrize(
    ("annotated", "plain"),
    [
        ('read(3</a b>, "x<y>\\"3<z>", 4) = 1', 'read(3, "x<y>\\"3<z>", 4) = 1'),
        (
            'openat(AT_FDCWD</w>, "3<f>", O_RDONLY) = 3</x) = 3>',
            'openat(AT_FDCWD, "3<f>", O_RDONLY) = 3',
        ),
        ("read(0</dev/null<char 1:3>>, ", "read(0, "),
        ("read(4<TCP:[127.0.0.1:1->127.0.0.1:2]>, ", "read(4, "),
        ("read(4<TCPv6:[[::1]:1->[::1]:2]>, ", "read(4, "),
        ('read(4<UNIX-STREAM:[1->2,"/a>b\\"]"]>, ', "read(4, "),
        ("close(3</data/foo->) = 0", "close(3) = 0"),
        ("read(8</srv/gone>(deleted), ", "read(8, "),
        ("cmsg_data=[3</p>, 4<pipe:[5]>]", "cmsg_data=[3, 4]"),
        ("1<<12, 3<<1 read(1 <unfinished ...>", "1<<12, 3<<1 read(1 <unfinished ...>"),
        ("<... read resumed>) = 5 <0.000012>", "<... read resumed>) = 5 <0.000012>"),
        ("dup(3</a\\74b\\76>) = 4</a\\74b\\76>", "dup(3) = 4"),
    ],
)
def test_annotations_are_taken_out(annotated: str, plain: str) -> None:
    assert annotations.strip(annotated.encode()) == plain.encode()
