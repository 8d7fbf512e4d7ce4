"""Filters in the parser: what is pushed down, what is built, and that all answers stay the same.

Counters of what was built are those of `_core.Progress`: the rows and columns that became Arrow.
"""

import datetime as dt
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast._polars.event_schema import event_schema
from tracefast._polars.pushdown import predicate

LOGS = [
    DATA / "spawn" / "spawn.strace",
    DATA / "spawn" / "spawn.ftrace",
    DATA / "calls" / "calls.strace",
    DATA / "events" / "default.ftrace",
]
WHOLE: dict[Path, pl.DataFrame] = {}
NAMES = list(event_schema())


def whole(log: Path) -> pl.DataFrame:
    """Read all events of a log at once."""
    if log not in WHOLE:
        # As `scan` has it: names and sources are strings there.
        WHOLE[log] = pl.DataFrame(tf.read(log)).cast({"name": pl.String, "source": pl.String})
    return WHOLE[log]


def c(name: str) -> pl.Expr:
    return pl.col(name)


def text(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String)


TS = dt.datetime(2023, 1, 1)  # noqa: DTZ001 - the column has no zone either

# Filters that the parser applies as they are: it builds no row that polars would drop.
EXACT = {
    "equal word": c("name") == "openat",
    "word turned": pl.lit("openat") == c("name"),
    "other word": c("kind") != "syscall",
    "kind": c("kind") == "signal",
    "words": c("name").is_in(["openat", "read", "no such call"]),
    "no words": c("name").is_in([]),
    "words as text": text("name").is_in(["openat", "close"]),
    "words or null": c("errno").is_in(["ENOENT", None]),
    "words and null": c("errno").is_in(["ENOENT", None], nulls_equal=True),
    "words, null is not one of them": c("errno").is_in(["ENOENT"], nulls_equal=True),
    "not among": ~c("name").is_in(["read", "write"]),
    "not among, nulls": ~c("errno").is_in(["ENOENT", None]),
    "not among, null is one": ~c("errno").is_in(["ENOENT", None], nulls_equal=True),
    "word begins": c("kind").cat.starts_with("s"),
    "word ends": c("kind").cat.ends_with("t"),
    "word as text begins": text("name").str.starts_with("open"),
    "source": text("source").str.ends_with("strace"),
    "equal source": c("source") == str(LOGS[0]),
    "source of several": c("source").is_in([str(LOGS[0]), "other.log"]),
    "no source": c("source").is_null(),
    "path": c("path") == "/etc/passwd",
    "path of no length": c("path") == "",
    "path begins": c("path").str.starts_with("/usr/lib/"),
    "path begins with two": c("path").str.starts_with("/u"),
    "path begins with nothing": c("path").str.starts_with(""),
    "path ends": c("path").str.ends_with(".so.6"),
    "path has": c("path").str.contains("lib", literal=True),
    "paths": c("path").is_in(["/etc/passwd", "/etc/ld.so.cache", "/dev/null"]),
    "arguments": c("args").str.contains("O_RDONLY", literal=True),
    "no path": c("path").is_null(),
    "no errno": c("errno").is_null(),
    "some path": c("path").is_not_null(),
    "less": c("ret") < 0,
    "at most": c("fd") <= 3,
    "more": c("dur_ns") > 100_000,
    "float": c("dur_ns") > 1e5,
    "float at least": c("dur_ns") >= 100_000.5,
    "float turned": pl.lit(0.5) > c("ret"),
    "float equal": c("ret") == 3.0,
    "float other": c("ret") != 3.0,
    "float large": c("file") > 1e19,
    "float beyond": c("ret") < 1e300,
    "zero": c("ret") == -0.0,
    "between": c("fd").is_between(3, 5),
    "strictly between": c("fd").is_between(3, 5, closed="none"),
    "left": c("fd").is_between(3, 5, closed="left"),
    "right": c("fd").is_between(3, 5, closed="right"),
    "numbers": c("fd").is_in([0, 1, 4]),
    "wide": c("tid").cast(pl.Int64) > 0,
    "out of range": c("fd") == 2**40,
    "not out of range": ~(c("fd") == 2**40),
    "beyond all": c("dur_ns") < 2**100,
    "unsigned and negative": c("cpu") > -1,
    "large": c("file") > 2**63,
    "lines": c("line").is_between(100, 200),
    "missing": c("fd").eq_missing(3),
    "not missing": c("fd").ne_missing(3),
    "word missing": c("errno").ne_missing("ENOENT"),
    "since": c("ts") >= TS,
    "until": c("ts") < TS,
    "times": c("ts").is_between(dt.datetime(1970, 1, 1), TS),  # noqa: DTZ001
    "date": c("ts") > dt.date(2020, 1, 1),
    "time in ns": c("ts").cast(pl.Int64) > 10**18,
    "and": (c("name") == "read") & (c("ret") > 0),
    "or": (c("name") == "read") | (c("path").is_null() & (c("fd") > 3)),
    "or of nulls": (c("fd") > 3) | (c("dur_ns") > 0),
    "not": ~((c("fd") > 3) & (c("name") == "close")),
    "not of nulls": ~((c("fd") > 3) | (c("offset") > 0)),
    "any": pl.any_horizontal(c("fd") == 3, c("fd") == 4),
    "true": pl.lit(True),
    "named": (c("fd") == 3).alias("three"),
}
# Filters that only polars applies: every row is built.
LEFT = {
    "arithmetic": c("ret") + 1 > 3,
    "columns": c("bytes") < c("requested"),
    "pattern": c("path").str.contains("^/usr/.*so"),
    "nan": c("ret") < pl.lit(float("nan")),
    "not nan": c("ret") > pl.lit(float("nan")),
    "infinite": c("dur_ns") < float("inf"),
    "32 bits of a float": c("dur_ns").cast(pl.Float32) > 3.5,
    "narrow": c("dur_ns").cast(pl.Int32, strict=False) > 5,
    "unsigned": c("ret").cast(pl.UInt64, strict=False) > 5,
    "order of words": c("name") > "open",
    "order of texts": c("path") > "/usr",
    "part of a time": c("ts").dt.second() > 30,
    "microseconds": c("ts").cast(pl.Datetime("us")) > pl.lit(TS).dt.offset_by("1d"),
    "null of a comparison": (c("fd") == 3).is_null(),
    "either": (c("fd") == 3) ^ (c("ret") == 0),
    "function": c("fd").is_duplicated(),
    "number as text": c("fd").cast(pl.String) == "3",
    "one part of or": (c("fd") == 3) | (c("ret") + 1 > 3),
    "not of a part": ~((c("fd") == 3) & (c("ret") + 1 > 3)),
}


def counted(query, log: Path) -> tuple[pl.DataFrame, _core.Progress]:
    progress = _core.Progress()
    return query(tf.scan(log, progress=progress)).collect(), progress


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
@pytest.mark.parametrize("expr", EXACT.values(), ids=EXACT.keys())
def test_what_is_pushed_is_what_polars_says(expr, log):
    found, progress = counted(lambda events: events.filter(expr), log)
    assert_frame_equal(found, whole(log).filter(expr))
    assert progress.rows_built == found.height


@pytest.mark.parametrize("expr", LEFT.values(), ids=LEFT.keys())
def test_what_cannot_be_pushed_is_left_to_polars(expr):
    found, progress = counted(lambda events: events.filter(expr), LOGS[0])
    assert_frame_equal(found, whole(LOGS[0]).filter(expr))
    assert progress.rows_built == whole(LOGS[0]).height


def test_a_part_of_a_conjunction_is_pushed():
    both = (c("name") == "read") & (c("ret") + 1 > 3)
    found, progress = counted(lambda events: events.filter(both), LOGS[0])
    assert_frame_equal(found, whole(LOGS[0]).filter(both))
    assert progress.rows_built == (whole(LOGS[0])["name"] == "read").sum()


def test_durations_are_compared_as_polars_compares_them():
    longer = c("dur_ns") > dt.timedelta(microseconds=300)
    found, _ = counted(lambda events: events.filter(longer), LOGS[0])
    assert_frame_equal(found, whole(LOGS[0]).lazy().filter(longer).collect())


QUERIES = {
    "top": lambda events: events.filter(c("fd") == 3).top_k(5, by="dur_ns").sort("line"),
    "sorted head": lambda events: events.filter(c("fd") == 3).sort("line").head(5),
    "head": lambda events: events.filter(c("fd") == 3).head(5),
    "filter of a head": lambda events: events.head(100).filter(c("fd") == 3),
    "filter of a slice": lambda events: events.slice(50, 100).filter(c("name") == "read"),
    "filter of a tail": lambda events: events.tail(100).filter(c("name") == "read"),
    "count": lambda events: events.filter(c("fd") == 3).select(pl.len()),
    "counted rows": lambda events: events.with_row_index().filter(c("fd") == 3),
    "one column": lambda events: events.filter(c("fd") == 3).select("path"),
    "SQL": lambda events: events.sql(
        "select line, path from self where name in ('openat', 'read') and fd between 3 and 4 "
        "and dur_ns > 1e4 and path like '/usr/%' order by line"
    ),
    "function of Python": lambda events: events.filter(
        (c("name") == "read") & c("fd").map_elements(lambda fd: fd > 3, return_dtype=pl.Boolean)
    ),
}


@pytest.mark.filterwarnings("ignore::polars.exceptions.PolarsInefficientMapWarning")
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_queries_with_filters(query, engine):
    expected = query(whole(LOGS[0]).lazy()).collect()
    assert_frame_equal(query(tf.scan(LOGS[0])).collect(engine=engine), expected)


# What makes a filter: a column, and values near those that it has.

NUMBERS = [name for name, dtype in event_schema().items() if dtype.is_integer()]
TEXTS = [name for name, dtype in event_schema().items() if isinstance(dtype, pl.String)]
WORDS = [name for name, dtype in event_schema().items() if isinstance(dtype, pl.Categorical)]
ODD = [0, -1, 2**31, -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, 2**70, 1.5, -1e300]


def of(log: Path, name: str) -> st.SearchStrategy:
    values = whole(log)[name].cast(pl.String) if name in WORDS else whole(log)[name]
    return st.sampled_from(values.drop_nulls().unique().sort().to_list() or [None])


def compared(column: pl.Expr, value: object) -> st.SearchStrategy[pl.Expr]:
    ways = [
        column.__eq__,
        column.__ne__,
        column.__lt__,
        column.__le__,
        column.__gt__,
        column.__ge__,
        column.eq_missing,
        column.ne_missing,
    ]
    return st.sampled_from(ways).map(lambda way: way(value))


@st.composite
def leaf(draw, log: Path) -> pl.Expr:
    name = draw(st.sampled_from(NAMES))
    column = c(name)
    value = draw(of(log, name))
    if value is None or draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([column.is_null(), column.is_not_null()]))
    if name in NUMBERS:
        near = [value, value - 1, value + 1, value + 0.5, draw(st.sampled_from(ODD))]
        if draw(st.booleans()):
            return draw(compared(column, draw(st.sampled_from(near))))
        numbers = draw(st.lists(st.one_of(of(log, name), st.none()), max_size=4))
        return column.is_in(numbers, nulls_equal=draw(st.booleans()))
    if name == "ts":
        value += draw(st.timedeltas(dt.timedelta(seconds=-1), dt.timedelta(seconds=1)))
        return draw(compared(column, value))
    return draw(of_text(log, name, value))


@st.composite
def of_text(draw, log: Path, name: str, value: str) -> pl.Expr:
    column = c(name)
    among = draw(st.lists(st.one_of(of(log, name), st.none()), max_size=4))
    cut = draw(st.integers(0, len(value)))
    tests = [column == value, column != value[:cut], column.is_in(among), column.eq_missing(value)]
    if name in WORDS:
        tests += [column.cat.starts_with(value[:cut]), text(name).str.ends_with(value[cut:])]
    else:
        tests += [
            column.str.starts_with(value[:cut]),
            column.str.ends_with(value[cut:]),
            column.str.contains(value[cut : cut + 3], literal=True),
            column < value,
        ]
    return draw(st.sampled_from(tests))


def expression(log: Path) -> st.SearchStrategy[pl.Expr]:
    return st.recursive(
        leaf(log),
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
            st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
            inner.map(lambda one: ~one),
        ),
        max_leaves=5,
    )


@settings(
    max_examples=300,
    deadline=None,
    # Four logs are read before the first example.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_a_filtered_scan_is_the_filter_of_the_full_scan(data):
    log = data.draw(st.sampled_from(LOGS))
    expr = data.draw(expression(log))
    columns = data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True))
    threads = data.draw(st.sampled_from([1, 2]))
    block_bytes = data.draw(st.sampled_from([100, 3_000, 262_144]))
    expected = whole(log).lazy().filter(expr).select(columns).collect()
    with patch.object(_core, "Reader", partial(_core.Reader, block_bytes=block_bytes)):
        found = tf.scan(log, threads=threads).filter(expr).select(columns).collect()
    assert_frame_equal(found, expected)


def test_most_generated_filters_are_pushed():
    """The property above does not cover filters that only polars applies."""
    seen = {True: 0, False: 0}

    @settings(max_examples=100, deadline=None, database=None)
    @given(leaf(LOGS[0]))
    def count(expr):
        seen[predicate([SimpleNamespace(expr=expr)]) is not None] += 1

    count()
    assert seen[True] > seen[False]


# What was built, and how far a log was read.


def test_one_column_is_built_where_one_is_asked_for():
    frame, progress = counted(lambda events: events.select("name"), LOGS[0])
    assert frame.width == progress.columns_built == 1
    assert progress.rows_built == frame.height == whole(LOGS[0]).height
    _, progress = counted(lambda events: events.select(pl.len()), LOGS[0])
    assert progress.columns_built == 0


def test_no_other_rows_are_built():
    frame, progress = counted(lambda events: events.filter(c("name") == "openat"), LOGS[0])
    assert 0 < frame.height == progress.rows_built < whole(LOGS[0]).height
    assert progress.columns_built == len(NAMES)
    none, progress = counted(lambda events: events.filter(c("name") == "reboot"), LOGS[0])
    assert (none.height, progress.rows_built, progress.columns_built) == (0, 0, 0)
    assert progress.rows > 0


def test_a_head_reads_a_few_blocks(long_log):
    frame, progress = counted(lambda events: events.head(10), long_log)
    assert frame.height == progress.rows_built == 10
    # One for each thread, and what they take while the first is made into rows.
    assert progress.blocks <= 8
    assert progress.bytes_read <= 8 * 262_144 + 1_048_576
    assert_frame_equal(frame.drop("source"), whole(LOGS[0]).head(10).drop("source"))
    frame, progress = counted(lambda events: events.slice(20_000, 10), long_log)
    assert frame["line"].is_sorted()
    assert frame.height == 10
    assert progress.blocks <= 40


def test_a_filtered_head_stops_as_well(long_log):
    opened = c("name") == "openat"
    frame, progress = counted(lambda events: events.filter(opened).head(10), long_log)
    assert frame.height == 10
    assert progress.bytes_read < long_log.stat().st_size / 2


def test_few_rows_do_not_keep_the_text_of_all(long_log):
    """Arguments are views into the log's text; for rows that are far apart they are copied."""
    kept = pl.DataFrame(tf.read(long_log, columns=["args"])).estimated_size()
    few = tf.scan(long_log).filter(c("name") == "execve").select("args").collect()
    assert few.height > 1000
    assert few.estimated_size() < kept / 10


def test_a_limit_counts_rows_before_they_are_filtered():
    wanted = ("in", "name", ["openat"])
    some = _core.Reader([str(LOGS[0])], limit=100, predicate=wanted, plain_words=True)
    found = pl.DataFrame(some)
    assert_frame_equal(found, whole(LOGS[0]).head(100).filter(c("name") == "openat"))
    assert pl.DataFrame(_core.Reader([str(LOGS[0])], limit=0)).height == 0


@pytest.mark.parametrize("limit", [1, 99, 1486, 8192, 8193, 10**6])
def test_a_limit_is_kept_for_any_blocks(limit):
    for log in LOGS[:2]:
        for block_bytes in (100, 10_000):
            for threads in (1, 2):
                some = _core.Reader(
                    [str(log)],
                    limit=limit,
                    threads=threads,
                    block_bytes=block_bytes,
                    plain_words=True,
                )
                assert_frame_equal(pl.DataFrame(some), whole(log).head(limit))


def test_several_logs_have_one_limit():
    both = [str(log) for log in LOGS[:2]]
    rows = whole(LOGS[0]).height
    found = tf.scan(both).head(rows + 5).collect()
    assert found["source"].cast(pl.String).value_counts(sort=True)["count"].to_list() == [rows, 5]


@pytest.mark.parametrize(
    "wrong",
    [
        ("between", "name", 1, 2),
        ("in", "ret", ["x"]),
        ("in", "nonsense", ["x"]),
        ("nonsense", "name", "x"),
    ],
)
def test_a_predicate_that_makes_no_sense(wrong):
    with pytest.raises(ValueError, match=r"name|ret|nonsense"):
        _core.Reader([str(LOGS[0])], predicate=wrong)


def test_explain_shows_what_is_pushed_down():
    query = tf.scan(LOGS[0]).filter(c("path").str.starts_with("/usr"), c("fd") == 3)
    plan = query.select("ret").explain()
    assert f"PROJECT 3/{len(NAMES)} COLUMNS" in plan
    assert 'SELECTION: (col("fd") == 3) & col("path").str.starts_with(["/usr"])' in plan
    assert f"logs: {LOGS[0]}" in plan
    assert "SLICE: Positive { offset: 0, len: 3 }" in tf.scan(LOGS[0]).head(3).explain()


def test_rows_of_calls_that_never_return_are_counted(tmp_path):
    both = [tmp_path / "one", tmp_path / "two"]
    for log in both:
        log.write_text(
            "7 read(3, 0x1, 8) = 0\n8 wait4(-1 <unfinished ...>\n9 pause( <unfinished ...>\n"
        )
    for logs in (both[:1], both):
        progress = _core.Progress()
        report = tf.parse(logs, None, progress=progress)
        assert (progress.rows, report.rows) == (3 * len(logs), 3 * len(logs))
