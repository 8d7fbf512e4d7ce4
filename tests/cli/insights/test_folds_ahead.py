"""The pass over a Parquet file begins while its rules are imported: nothing else changes."""

import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast.scanning.folds_ahead import FoldsAhead

DEMO = DATA / "demo.strace.zst"
FOLDS = {"files": _core.Files, "tasks": _core.TaskTally}

# Prints whether polars is there when the pass begins, and whether its tables are used.
LOOK = """
import sys
from tracefast.scanning.folds_ahead import FoldsAhead
start, take = FoldsAhead.__init__, FoldsAhead.take
def look(*given):
    print("polars" in sys.modules, file=sys.stderr)
    start(*given)
def used(self):
    found = take(self)
    print(found is not None, file=sys.stderr)
    return found
FoldsAhead.__init__, FoldsAhead.take = look, used
from tracefast.cli import main
main()
"""


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    file = tmp_path_factory.mktemp("ahead") / "demo.parquet"
    tf.parse(DEMO, file)
    return file


def insights(*arguments):
    ran = subprocess.run(
        [sys.executable, "-c", LOOK, "insights", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout, ran.stderr, ran.returncode


def test_it_begins_before_polars_is_imported(parquet):
    out, said, code = insights(parquet, "--format", "json")
    assert (said, code) == ("False\nTrue\n", 0)
    found = tf.insights(tf.scan(parquet)).collect()
    assert pl.read_json(out.encode())["code"].to_list() == found["code"].to_list()
    assert found.height > 0


@pytest.mark.parametrize(
    "options",
    [["--select", "small-reads"], ["--ignore", "small-reads"], ["--from", "0.1"]],
    ids=lambda options: options[0],
)
def test_what_asks_for_less_begins_as_before(parquet, options):
    assert insights(parquet, *options)[1:] == ("", 0)


def test_logs_and_several_files_begin_as_before(parquet, tmp_path):
    log = tmp_path / "short.strace"
    log.write_text("7 1.000000 getpid() = 7 <0.000001>\n")
    assert insights(log, "--quiet")[1:] == ("", 0)
    assert insights(parquet, log, "--quiet")[1:] == ("", 0)


def test_a_damaged_file_is_said_once(parquet, tmp_path):
    damaged = tmp_path / "damaged.parquet"
    data = bytearray(parquet.read_bytes())
    # The pages of the columns; the metadata, at the end, stay as they are.
    data[8 : len(data) // 2] = b"\xff" * (len(data) // 2 - 8)
    damaged.write_bytes(data)
    out, said, code = insights(damaged)
    assert (out, code) == ("", 2)
    assert said.startswith("False\nFalse\n")
    assert said.count("damaged.parquet") == 1


def test_folds_are_given_once(parquet):
    ahead = FoldsAhead(str(parquet), FOLDS)
    assert all(found is None for found in ahead.wait())
    folds = ahead.take()
    assert list(folds) == ["files", "tasks"]
    rows = sum(len(part) for part in folds["files"].finish())
    assert rows == tf.files(tf.scan(parquet)).collect().height
    assert ahead.take() is None


def test_a_pass_that_is_stopped_gives_nothing(parquet, monkeypatch):
    def endless(*_):
        while True:
            yield

    monkeypatch.setattr("tracefast.scanning.folds_ahead.pushed_from", endless)
    ahead = FoldsAhead(str(parquet), FOLDS)
    ahead.close()
    assert ahead.take() is None


def test_a_file_without_the_columns_is_read_otherwise(tmp_path):
    file = tmp_path / "other.parquet"
    pl.DataFrame({"ts": [1, 2]}).write_parquet(file)
    ahead = FoldsAhead(str(file), FOLDS)
    ahead.close()
    assert ahead.take() is None
