"""Rows to print: those of a fold are those of the frame that polars makes of it."""

import sys

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast.cli.app import run
from tracefast.cli.text.frame_rows import FrameRows
from tracefast.cli.text.rows import FoldRows, ListRows, Rows

LOG = DATA / "spawn" / "spawn.strace"


def rows_of(fold: _core.Fold) -> tuple[FoldRows, FrameRows]:
    """Give the table of a log by a fold, and by polars from the same fold."""
    with tf.read(LOG, columns=fold.needed.names) as reader:
        for batch in reader:
            fold.push(batch)
    kinds = dict(_core.column_kinds(fold.schema))
    parts = fold.finish()
    return FoldRows(kinds, parts), FrameRows(pl.concat(map(pl.DataFrame, parts)))


@pytest.mark.parametrize(
    "fold", [_core.Files, lambda: _core.Files(by="open"), _core.Syscalls, _core.Processes]
)
def test_a_fold_has_the_rows_of_its_frame(fold):
    own, frame = rows_of(fold())
    assert own.names == frame.names
    assert len(own) == len(frame) > 2
    chosen = [len(own) - 1, 0, 1]
    for name in own.names:
        assert own.kind(name) == frame.kind(name), name
        for mine, other in (
            (own, frame),
            (own.head(2), frame.head(2)),
            (own.take(chosen), frame.take(chosen)),
            (own.take(chosen).take([2, 0]), frame.take(chosen).take([2, 0])),
            (own.sorted_by(name), frame.sorted_by(name)),
        ):
            assert mine.values(name) == other.values(name), name
            assert list(mine.records(name)) == list(other.records(name)), name
    assert own.without("source").names == frame.without("source").names == own.names[1:]


def test_a_fold_without_rows_has_columns():
    rows = FoldRows({"reads": "number"}, [])
    assert (len(rows), rows.values("reads"), rows.head(3).values("reads")) == (0, [], [])


def test_numbers_are_sorted_largest_first_and_nulls_come_last():
    values: dict[str, list[object]] = {
        "n": [1, None, 3, 3],
        "text": ["b", "a", None, "B"],
        "flag": [True, None, False, True],
    }

    def orders(rows: Rows) -> list[list[object]]:
        return [rows.sorted_by(name).values("row") for name in values]

    frame = pl.DataFrame(values).with_row_index("row")
    columns = {name: ("number" if name == "n" else "text", each) for name, each in values.items()}
    own = ListRows(columns | {"row": ("number", [0, 1, 2, 3])})
    assert orders(own) == orders(FrameRows(frame)) == [[2, 3, 0, 1], [3, 1, 0, 2], [2, 0, 3, 1]]


@pytest.mark.parametrize("options", [[], ["--wide"], ["--top", "2"]])
@pytest.mark.parametrize("command", ["files", "syscalls", "processes"])
def test_a_condition_that_all_rows_meet_changes_nothing(capfdbinary, monkeypatch, command, options):
    # With a condition, polars makes the table.
    def printed(*more: str) -> tuple[bytes, bytes]:
        monkeypatch.setattr(sys, "argv", ["tracefast", command, str(LOG), *options, *more])
        assert run() == 0
        return capfdbinary.readouterr()

    column = "reads" if command == "files" else "calls"
    assert printed() == printed("--where", f"{column} >= 0")
