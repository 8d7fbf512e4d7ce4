"""Files of columns that hold no events of this schema: refused, with what to do about it."""

import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from tracefast import _core
from tracefast._polars.event_schema import event_schema

COMMANDS = ["files", "forks", "events", "blocks"]


@pytest.fixture
def events(spawn_strace, tmp_path):
    tf.parse(spawn_strace, tmp_path / "events.parquet")
    tf.parse(spawn_strace, tmp_path / "events.arrow")
    return tmp_path


def refused(name, *words):
    with pytest.raises(tf.Error) as caught:
        tf.scan(name)
    assert str(caught.value).startswith(f"{name}: ")
    for word in words:
        assert word in str(caught.value)
    assert caught.value.hint == "re-create it from the log"


@pytest.fixture(params=["parquet", "arrow"])
def foreign(request, tmp_path):
    frame = pl.DataFrame({"name": ["read"], "loss": [0.5], "epoch": [1]})
    path = tmp_path / f"run.{request.param}"
    (frame.write_parquet if request.param == "parquet" else frame.write_ipc)(path)
    return path


def test_columns_of_something_else(foreign):
    refused(foreign, "not the events of a log", "no columns 'loss', 'epoch'")


@pytest.mark.parametrize("question", COMMANDS)
def test_every_command_refuses_them(run, question, foreign, pth):
    ran = run(question, foreign)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.startswith(f"error: {foreign}: not the events of a log")
    assert "\nhint: " in ran.stderr
    # The others are done.
    ran = run(question, foreign, pth, "--format", "csv")
    assert ran.returncode == 2
    assert ran.stderr.count("error: ") == 1
    assert "Traceback" not in ran.stderr
    if question == "files":
        assert "43290" in ran.stdout


def test_they_are_no_logs_either(run, foreign):
    ran = run("parse", foreign, "-o", "out.parquet")
    assert ran.returncode == 2
    error = f"error: {foreign}: this is a Parquet or Arrow file, not a log\n"
    assert ran.stderr.startswith(error)
    assert "tracefast files, read it as it is" in ran.stderr


def test_many_columns_are_not_all_named(tmp_path):
    pl.DataFrame({f"x{n}": [n] for n in range(9)}).write_parquet(tmp_path / "wide.parquet")
    refused(tmp_path / "wide.parquet", "'x0', 'x1', 'x2' and 6 more")


def other_version(folder, suffix):
    """Replace the version of the schema in the metadata of a file; its length stays the same."""
    path = folder / f"events.{suffix}"
    data = path.read_bytes()
    key = b"tracefast.schema"
    at = data.rindex(key) + len(key)
    version = _core.SCHEMA_VERSION.encode()
    where = data.index(version, at)
    path.write_bytes(data[:where] + b"9" * len(version) + data[where + len(version) :])
    return path


def test_parquet_of_another_version(run, events):
    path = other_version(events, "parquet")
    refused(path, "events of schema 9", f"tracefast {tf.__version__}")
    ran = run("files", path)
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {path}: events of schema 9")


def test_the_footer_says_the_version(events):
    for name in ("events.parquet", "events.arrow"):
        metadata = _core.metadata(str(events / name))
        assert metadata["tracefast.schema"] == _core.SCHEMA_VERSION
        assert metadata["tracefast.version"] == tf.__version__


@pytest.mark.parametrize("name", ["events.parquet", "events.arrow"])
def test_files_that_are_not_whole(run, events, name):
    data = (events / name).read_bytes()
    for length in (8, 100, len(data) // 2, len(data) - 1):
        (events / name).write_bytes(data[:length])
        refused(events / name, "incomplete or damaged")
        ran = run("files", name)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith(f"error: {name}: ")
        hint = "re-create it from the log: tracefast parse LOG -o FILE.parquet"
        assert ran.stderr.endswith(f"\nhint: {hint}\n")


@pytest.mark.parametrize("byte", range(1, 60))
def test_footers_that_are_damaged_are_refused_or_read(events, byte):
    for name in ("events.parquet", "events.arrow"):
        data = bytearray((events / name).read_bytes())
        data[-byte] ^= 0x55
        path = events / f"damaged-{name}"
        path.write_bytes(data)
        try:
            tf.scan(path)
        except tf.Error as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_part_that_polars_wrote_is_read(events, suffix):
    whole = tf.scan(events / "events.parquet")
    part = whole.filter(pl.col("path").str.ends_with("data.bin"))
    path = events / f"part.{suffix}"
    (part.sink_parquet if suffix == "parquet" else part.sink_ipc)(path)
    assert_frame_equal(tf.files(tf.scan(path)).collect(), tf.files(part).collect())


def test_a_part_without_the_columns_says_so(run, events):
    tf.scan(events / "events.parquet").select("ts", "name").sink_parquet(events / "part.parquet")
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="'dur_ns'"):
        tf.files(tf.scan(events / "part.parquet"))
    ran = run("files", "part.parquet")
    assert ran.returncode == 2
    assert "error: part.parquet: " in ran.stderr
    assert "'dur_ns'" in ran.stderr


class TestSubsets:
    """`tf.files` of a part of the events."""

    def test_rows(self, events):
        lazy = tf.scan(events / "events.parquet")
        part = lazy.filter(pl.col("path") == "/srv/spawn/data.bin")
        whole = tf.files(lazy).filter(pl.col("path") == "/srv/spawn/data.bin")
        columns = ["path", "reads", "read_bytes", "read_unique_bytes", "writes", "write_bytes"]
        assert_frame_equal(
            tf.files(part).select(columns).collect(), whole.select(columns).collect()
        )

    def test_no_rows(self, events):
        lazy = tf.scan(events / "events.parquet").filter(pl.lit(value=False))
        table = tf.files(lazy).collect()
        assert table.height == 0
        assert table.schema == tf.files(lazy).collect_schema()

    @pytest.mark.parametrize("darshan", [False, True])
    def test_the_missing_column_is_named(self, events, darshan):
        lazy = tf.scan(events / "events.parquet")
        for column in ("offset", "file_type", "ret"):
            with pytest.raises(pl.exceptions.ColumnNotFoundError) as caught:
                tf.files(lazy.drop(column), darshan=darshan)
            assert f"needs the column '{column}'" in str(caught.value)

    def test_columns_that_are_not_needed_may_be_missing(self, events):
        lazy = tf.scan(events / "events.parquet")
        narrow = lazy.drop("args", "comm", "cpu", "line", "extra", "child")
        assert_frame_equal(tf.files(narrow).collect(), tf.files(lazy).collect())

    def test_nothing_is_read_before_the_table_is_collected(self, events):
        seen = []

        def look(frame: pl.DataFrame) -> pl.DataFrame:
            seen.append(frame.height)
            return frame

        lazy = tf.scan(events / "events.parquet").map_batches(
            look, predicate_pushdown=False, projection_pushdown=False, slice_pushdown=False
        )
        table = tf.files(lazy).filter(pl.col("reads") > 0).select("path")
        assert table.collect_schema() == {"path": pl.String}
        assert seen == []
        assert table.collect().height > 0
        assert len(seen) > 0


# Types: those of other libraries for the same data are brought to those of `scan`.

OTHER_TYPES = {
    "as read": lambda frame: frame,
    "strings": lambda frame: frame.with_columns(pl.col(pl.Categorical).cast(pl.String)),
    "names in dictionaries": lambda frame: frame.with_columns(
        pl.col("name", "path", "args").cast(pl.Categorical)
    ),
    "enumerations": lambda frame: frame.with_columns(
        pl.col("kind").cast(pl.Enum(frame["kind"].cast(pl.String).unique()))
    ),
    "microseconds": lambda frame: frame.with_columns(pl.col("ts").cast(pl.Datetime("us"))),
    "a zone": lambda frame: frame.with_columns(
        pl.col("ts").dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    ),
    "narrow": lambda frame: frame.with_columns(
        pl.col("line", "pid", "ofd").cast(pl.Int16), pl.col("bytes").cast(pl.Int32)
    ),
    "wide": lambda frame: frame.with_columns(pl.col("line", "pid", "ofd", "cpu").cast(pl.Int64)),
    "no values": lambda frame: frame.with_columns(pl.lit(None).alias("comm")),
    "other order": lambda frame: frame.select(sorted(frame.columns)),
}
SUFFIXES = pytest.mark.parametrize("suffix", ["parquet", "arrow"])


def written(frame: pl.DataFrame, path):
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_ipc)(path)
    return path


@SUFFIXES
@pytest.mark.parametrize("change", OTHER_TYPES.values(), ids=OTHER_TYPES.keys())
def test_the_same_data_in_other_types(change, suffix, spawn_strace, events):
    # Of whole microseconds, so that any unit has them.
    whole = pl.col("ts").dt.truncate("1us")
    frame = pl.DataFrame(tf.read(spawn_strace)).with_columns(whole)
    other = written(change(frame), events / f"other.{suffix}")
    own = events / f"events.{suffix}"
    expected = tf.scan(own).with_columns(whole).collect()
    found = tf.scan(other)
    assert dict(found.collect_schema()) == dict(event_schema())
    assert_frame_equal(found.select(expected.columns).collect(), expected)
    more = written(change(frame), events / f"more.{suffix}")
    for several in ([other, own], [own, other], [other, own, more], [other, spawn_strace]):
        both = tf.scan(several).with_columns(whole)
        rows = both.collect()
        assert rows.height == len(several) * expected.height
        reads = both.filter(pl.col("name") == "read").collect()
        assert reads.height == len(several) * (expected["name"] == "read").sum() > 0
    twice = pl.concat([tf.scan(own), tf.scan(own)])
    assert_frame_equal(tf.files(tf.scan([own, other])).collect(), tf.files(twice).collect())


OTHER_DATA = {
    "file": (pl.Float64, "column 'file' is Float64, not UInt64"),
    "bytes": (pl.String, "column 'bytes' is String, not Int64"),
    "ts": (pl.Int64, "column 'ts' is Int64, not Datetime('ns')"),
    "kind": (pl.Binary, "column 'kind' is Binary, not Categorical"),
}


@SUFFIXES
@pytest.mark.parametrize("column", OTHER_DATA)
def test_types_of_other_data_are_refused(column, suffix, run, spawn_strace, events):
    dtype, message = OTHER_DATA[column]
    frame = pl.DataFrame(tf.read(spawn_strace))
    words = pl.String if column == "kind" else None
    changed = pl.col(column).cast(words or frame[column].dtype).cast(dtype)
    other = written(frame.with_columns(changed), events / f"other.{suffix}")
    refused(other, message)
    # Whichever comes first.
    for names in ([events / f"events.{suffix}", other], [other, events / f"events.{suffix}"]):
        with pytest.raises(tf.Error, match=f"{other.name}: column '{column}'"):
            tf.scan(names)
    ran = run("files", other)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"error: {other}: column '{column}'")


def test_what_pandas_made_floats_of_is_refused(spawn_strace, tmp_path):
    pd.DataFrame.from_arrow(tf.read(spawn_strace)).to_parquet(tmp_path / "pandas.parquet")
    refused(tmp_path / "pandas.parquet", "column 'dur_ns' is Float64, not Int64", "more")


def test_types_are_looked_at_where_the_version_is_right(events):
    table = pq.read_table(events / "events.parquet")
    at = table.schema.get_field_index("file")
    other = table.set_column(at, "file", table["file"].cast(pa.float64(), safe=False))
    facts = pq.read_metadata(events / "events.parquet").metadata
    facts = {key: value for key, value in facts.items() if key != b"ARROW:schema"}
    pq.write_table(other.replace_schema_metadata(facts), events / "other.parquet")
    assert _core.metadata(str(events / "other.parquet"))["tracefast.schema"] == "1"
    refused(events / "other.parquet", "column 'file' is Float64, not UInt64")


def test_a_number_that_does_not_fit_is_an_error(spawn_strace, tmp_path):
    frame = pl.DataFrame(tf.read(spawn_strace)).with_columns(pl.lit(-1).alias("line"))
    frame.write_parquet(tmp_path / "other.parquet")
    with pytest.raises(pl.exceptions.InvalidOperationError, match="line"):
        tf.scan(tmp_path / "other.parquet").collect()


def test_files_that_lack_columns_of_others(events):
    part = events / "part.parquet"
    tf.scan(events / "events.parquet").drop("args", "line").sink_parquet(part)
    for names in ([events / "events.parquet", part], [part, events / "events.parquet"]):
        with pytest.raises(tf.Error) as caught:
            tf.scan(names)
        assert str(caught.value) == (
            f"{part}: lacks the columns 'args', 'line' that {events / 'events.parquet'} has"
        )
    tf.scan(part).sink_parquet(events / "same.parquet")
    assert tf.scan([part, events / "same.parquet"]).collect().width == 34


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_column_twice_is_refused_by_name(run, spawn_strace, tmp_path, form):
    events = pa.table(tf.read(spawn_strace))
    twice = events.append_column(events.schema.field("name"), events.column("name"))
    file = tmp_path / f"twice.{form}"
    if form == "parquet":
        pq.write_table(twice, file)
    else:
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, twice.schema) as writer:
            writer.write_table(twice)
    damaged = "the file of events is incomplete or damaged"
    said = f"{file}: {damaged}: it has the column 'name' more than once"
    with pytest.raises(tf.Error, match=re.escape(said)):
        tf.scan(file)
    for command in (["files"], ["sql", "SELECT count(*) FROM events"]):
        ran = run(*command, file)
        assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
        assert f"error: {said}" in ran.stderr
