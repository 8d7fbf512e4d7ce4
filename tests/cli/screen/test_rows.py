"""Rows to print: those of a fold are those of the frame that polars makes of it."""

import sys
from pathlib import Path

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


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "spawn.parquet"
    tf.parse(LOG, path)
    return path


@pytest.mark.parametrize("options", [[], ["--wide"], ["--top", "2"]])
@pytest.mark.parametrize(
    "command", [["files"], ["syscalls"], ["processes"], ["errors"], ["forks", "--each"]]
)
def test_a_condition_that_all_rows_meet_changes_nothing(
    capfdbinary, monkeypatch, saved, command, options
):
    # With a condition, polars makes the table.
    def printed(*more: str) -> tuple[bytes, bytes]:
        monkeypatch.setattr(sys, "argv", ["tracefast", *command, *more, *options])
        assert run() == 0
        return capfdbinary.readouterr()

    columns = {"files": "reads", "errors": "count", "forks": "line"}
    condition = ("--where", f"{columns.get(command[0], 'calls')} >= 0")
    own = printed(str(LOG))
    assert len(own[0].splitlines()) > 2
    assert own == printed(str(LOG), *condition)
    assert printed(str(saved)) == printed(str(saved), *condition)


def test_what_polars_has_to_say_about_parquet_is_said(capfdbinary, monkeypatch, tmp_path, saved):
    def printed(name: Path, *more: str) -> tuple[int, bytes]:
        monkeypatch.setattr(sys, "argv", ["tracefast", "errors", str(name), *more])
        return run(), capfdbinary.readouterr().err

    empty, cut = tmp_path / "empty.parquet", tmp_path / "cut.parquet"
    (tmp_path / "empty.ftrace").write_text("# tracer: nop\n#\n")
    tf.parse(tmp_path / "empty.ftrace", empty)
    code, said = printed(empty)
    assert (code, b"no event was found" in said) == (0, True)
    # The pages are gone, but not the footer.
    data = saved.read_bytes()
    cut.write_bytes(data[:4] + bytes(len(data) - 20_004) + data[-20_000:])
    code, said = printed(cut)
    assert (code != 0, b"cut.parquet" in said) == (True, True)
    for file in (empty, cut):
        assert printed(file) == printed(file, "--where", "count >= 0")
