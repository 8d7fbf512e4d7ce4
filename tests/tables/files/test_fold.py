"""The fold of the table of files, compared with a slow and plain one."""

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import check_cuts, check_layouts, frame, maybe, near_enough, plain, summed
from support.reference.files import slow_files
from tracefast import _core

NEEDED = list(_core.Files().needed)
NAMES = [
    "read",
    "write",
    "pread64",
    "sendfile",
    "openat",
    "newfstatat",
    "access",
    "mmap",
    "close",
    "lseek",
]
CLASSES = ["first", "consecutive", "consecutive", "forward", "backward", "eof", "error"]
KNOWN = ["exact", "exact", "relative", "relative", "ambiguous", "unknown"]


@st.composite
def event(draw):
    kind = draw(st.sampled_from(["syscall"] * 12 + ["aio", "notice", "notice", "signal"]))
    ret = draw(st.sampled_from([None, -1, 0, 0, 1, 5, 8, 8, 13]))
    row = {
        "ts": draw(maybe(st.integers(0, 40), 30)),
        "dur_ns": draw(maybe(st.integers(0, 15), 20)),
        "task": draw(st.integers(0, 3)),
        "pid": draw(maybe(st.integers(0, 2), 30)),
        "kind": kind,
        "name": draw(st.sampled_from(NAMES)) if kind == "syscall" else "pread",
        "ret": ret,
        "status": draw(st.sampled_from(["complete"] * 20 + ["injected"])),
        "ofd": draw(maybe(st.integers(0, 3), 20)),
        "ofd2": draw(maybe(st.integers(0, 3))),
        "path": draw(maybe(st.sampled_from(["/a", "/b", "/c"]), 20)),
        "path2": draw(maybe(st.sampled_from(["/a", "/d"]))),
        "file": draw(maybe(st.integers(1, 3), 6)),
        "file2": draw(maybe(st.integers(1, 3), 4)),
        "file_type": draw(maybe(st.sampled_from(["regular", "regular", "pipe", "unknown"]), 2)),
        "size": draw(maybe(st.integers(0, 60), 1)),
        "offset": draw(maybe(st.integers(-4, 40), 20)),
        "offset2": draw(maybe(st.integers(0, 40))),
        "offset_known": draw(maybe(st.sampled_from(KNOWN), 12)),
        "requested": draw(maybe(st.sampled_from([0, 8, 8, 13, 20]), 12)),
        "bytes": None if ret is None or ret < 0 else draw(maybe(st.just(ret), 30)),
        "access": draw(maybe(st.sampled_from(CLASSES), 8)),
        "access2": draw(maybe(st.sampled_from(CLASSES), 8)),
        "source": draw(st.sampled_from(["log", "log", "log", "other"])),
    }
    if kind == "notice":
        row["name"] = draw(st.sampled_from(["offset-base", "offset-burst"]))
    return row


@st.composite
def burst(draw):
    """Calls that overlapped on one description, and what the model says of them."""
    first = draw(event()) | {
        "kind": "syscall",
        "status": "complete",
        "ofd": draw(st.integers(0, 3)),
        "offset": None,
        "offset_known": "ambiguous",
        "access": None,
    }
    name = draw(st.sampled_from(["read", "write"]))
    equal = draw(st.booleans())
    calls = []
    for _ in range(draw(st.integers(1, 4))):
        moved = 8 if equal else draw(st.sampled_from([0, 1, 5, 8]))
        call = first | {"name": name, "ret": moved, "bytes": moved}
        if draw(st.booleans()):
            call["pid"] = draw(st.integers(0, 2))
        calls.append(call)
    start = draw(st.integers(0, 20))
    notice = first | {
        "kind": "notice",
        "name": "offset-burst",
        "ret": sum(call["bytes"] > 0 for call in calls),
        "offset": start,
        "offset2": start + sum(call["bytes"] for call in calls),
        "offset_known": draw(st.sampled_from(["exact", "exact", "relative", "ambiguous"])),
        "access": draw(maybe(st.sampled_from(CLASSES))),
    }
    rows = [*calls, notice]
    if draw(st.integers(0, 3)) == 0:
        rows.insert(draw(st.integers(0, len(rows))), draw(event()))
    return rows


@st.composite
def events(draw, most=40):
    parts = draw(st.lists(st.one_of(event().map(lambda row: [row]), burst()), max_size=most))
    return [row for part in parts for row in part]


@pytest.mark.parametrize("by", [None, "process", "open"])
@pytest.mark.parametrize("scope", ["stream", "file"])
@settings(max_examples=60, deadline=None)
@given(rows=events(), near=st.sampled_from([0, 3, 10, 131072]))
def test_every_column_is_that_of_the_slow_table(scope, by, rows, near):
    table = summed(_core.Files(scope=scope, by=by, near=near), frame(rows, NEEDED))
    near_enough(plain(table), sorted(slow_files(rows, scope, by, near), key=repr))


@settings(max_examples=50, deadline=None)
@given(rows=events(), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_batches_may_be_cut_anywhere(rows, cuts):
    check_cuts(_core.Files, frame(rows, NEEDED), cuts)


@settings(max_examples=60, deadline=None)
@given(rows=events(most=30))
def test_text_in_any_layout_gives_the_same_table(rows):
    events = frame(rows, NEEDED)
    check_layouts(_core.Files, tf.files, events)
    paths = events.with_columns(pl.col("path").cast(pl.Categorical))
    assert tf.files(paths).collect().equals(tf.files(events).collect())


ranges = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.integers(0, 2),
        maybe(st.integers(-20, 60)),
        maybe(st.integers(-3, 20)),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(rows=ranges)
@example(rows=[("a", 0, None, 5)])
def test_covered_bytes_are_those_of_a_set_of_bytes(rows):
    schema = {"path": pl.String, "pid": pl.Int64, "offset": pl.Int64, "bytes": pl.Int64}
    events = pl.DataFrame(rows, schema=schema, orient="row")
    for by in (["path"], ["path", "pid"]):
        expected = {}
        for path, pid, start, length in rows:
            covered = expected.setdefault((path, pid)[: len(by)], set())
            if start is not None and length is not None:
                covered.update(range(start, start + length))
        table = tf.covered_bytes(events, by=by).collect()
        assert table.columns == [*by, "covered_bytes"]
        assert table.rows() == [(*key, len(covered)) for key, covered in expected.items()]


def test_covered_bytes_of_expressions_and_of_many_batches(tmp_path):
    rows = pl.DataFrame({"k": [i % 7 for i in range(50_000)], "n": range(50_000)})
    rows.write_parquet(tmp_path / "rows.parquet", row_group_size=1000)
    table = tf.covered_bytes(
        pl.scan_parquet(tmp_path / "rows.parquet"),
        by="k",
        start=pl.col("n") * 10,
        length=pl.lit(15),
    )
    assert table.collect_schema() == {"k": pl.Int64, "covered_bytes": pl.Int64}
    expected = [(k, 15 * len(range(k, 50_000, 7))) for k in range(7)]
    assert table.collect().rows() == expected
    assert table.filter(pl.col("k") == 3).select("covered_bytes").collect().item() == expected[3][1]


def test_covered_bytes_wants_columns_that_are_there():
    rows = pl.DataFrame({"k": [1], "offset": [0]})
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="bytes"):
        tf.covered_bytes(rows, by="k")
    for by in ([], ["k", "k"]):
        with pytest.raises(ValueError, match="by must be one column"):
            tf.covered_bytes(rows, by=by, length="offset")


def test_times_are_those_of_the_events():
    rows = [{"kind": "syscall", "name": "read", "path": "/a", "ts": 10**18, "dur_ns": 5}]
    table = tf.files(frame(rows, NEEDED)).collect()
    assert table["ts_first"].cast(pl.Int64).to_list() == [10**18]
    assert (table["ts_last"] - table["ts_first"]).dt.total_nanoseconds().to_list() == [5]
