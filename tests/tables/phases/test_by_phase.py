"""Files and system calls by phase, against tables in which each row is given its phase first."""

from functools import partial

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.folding import (
    check_cuts,
    check_layouts,
    frame,
    near_enough,
    plain,
    summed,
    without_types,
)
from support.marks import marked
from support.paths import DATA
from support.reference.files import slow_files
from support.reference.flow import with_phases
from support.reference.syscalls import slow_syscalls
from tracefast import _core

FILES = list(_core.Files(by="phase").needed)
CALLS = list(_core.Syscalls(by="phase").needed)
NAMES = ["read", "read", "write", "pread64", "sendfile", "openat", "newfstatat", "mmap", "futex"]
TYPES_OF = {"/a": "regular", "/b": "pipe", "/c": "unknown"}
# A run that goes on in a child is counted as two there.
RUNS = ["read_runs", "read_run_bytes_median", "write_runs", "write_run_bytes_median"]
MANY = 100
NAMES_OF = {1: "/a", 2: "/b", 3: "/c"}
CLASSES = ["first", "consecutive", "consecutive", "forward", "backward", "eof"]


@st.composite
def call(draw):
    """Draw a call, apart from its task and time."""
    ret = draw(st.sampled_from([-1, 0, 3, 8]))
    # Each file has one name and type: which of several comes first is tested without phases.
    file, file2 = draw(st.sampled_from([1, 2, 3, None])), draw(st.sampled_from([1, 2, None]))
    path, path2 = (
        draw(st.sampled_from(["/a", "/b", "/c", None])),
        draw(st.sampled_from(["/a", "/d"])),
    )
    path, path2 = NAMES_OF.get(file, path), NAMES_OF.get(file2, path2)
    name = draw(st.sampled_from(NAMES * 2 + ["pread", "offset-base"]))
    return {
        "kind": {"pread": "aio", "offset-base": "notice"}.get(name, "syscall"),
        "name": name,
        "ret": ret,
        "errno": "EAGAIN" if ret < 0 else None,
        "status": draw(st.sampled_from(["complete"] * 12 + ["injected", "unfinished"])),
        "ofd": draw(st.integers(0, 3)),
        "ofd2": draw(st.integers(0, 3)),
        "path": path,
        "path2": path2,
        "file": file,
        "file2": file2,
        "file_type": draw(st.sampled_from([TYPES_OF.get(path), None])),
        "offset": draw(st.sampled_from([0, 3, 8, 16])),
        "offset2": draw(st.sampled_from([0, 8])),
        "offset_known": draw(st.sampled_from(["exact", "exact", "relative"])),
        "requested": draw(st.sampled_from([8, 16])),
        "bytes": ret if ret >= 0 else None,
        "access": draw(st.sampled_from(CLASSES)),
        "access2": draw(st.sampled_from(CLASSES)),
    }


def logs(*, children_first=True):
    """Give the rows of logs, with all columns that the slow tables read."""
    names = dict.fromkeys([*FILES, *CALLS])
    rows = marked(call(), children_first=children_first)
    return rows.map(lambda rows: [names | row for row in rows])


def without(names, rows):
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


@settings(max_examples=MANY, deadline=None)
@given(rows=logs())
def test_syscalls_are_those_of_the_slow_table(rows):
    table = summed(_core.Syscalls(by="phase"), frame(rows, CALLS))
    near_enough(plain(table), sorted(slow_syscalls(with_phases(rows), "phase"), key=repr))


@settings(max_examples=MANY, deadline=None)
@given(rows=logs(children_first=False))
def test_files_are_those_of_the_slow_table(rows):
    table = summed(_core.Files(by="phase"), frame(rows, FILES))
    slow = slow_files(with_phases(rows), "stream", "phase", 131072)
    near_enough(plain(table), sorted(slow, key=repr))


@settings(max_examples=MANY, deadline=None)
@given(rows=logs())
def test_files_of_children_whose_maker_comes_later(rows):
    table = summed(_core.Files(by="phase"), frame(rows, FILES))
    slow = slow_files(with_phases(rows), "stream", "phase", 131072)
    got, wanted = without(RUNS, plain(table)), without(RUNS, slow)
    near_enough(sorted(got, key=repr), sorted(wanted, key=repr))


@settings(max_examples=60, deadline=None)
@given(rows=logs(), cuts=st.lists(st.integers(0, 40), max_size=6))
def test_batches_may_be_cut_anywhere(rows, cuts):
    check_cuts(partial(_core.Syscalls, by="phase"), frame(rows, CALLS), cuts)
    check_cuts(partial(_core.Files, by="phase"), frame(rows, FILES), cuts)


@settings(max_examples=30, deadline=None)
@given(rows=logs())
def test_text_in_any_layout_gives_the_same_table(rows):
    for ask, fold, names in ((tf.files, _core.Files, FILES), (tf.syscalls, _core.Syscalls, CALLS)):
        check_layouts(partial(fold, by="phase"), partial(ask, by="phase"), frame(rows, names))


@settings(max_examples=60, deadline=None)
@given(rows=logs(), first=st.integers(0, 2000), last=st.integers(0, 2000))
def test_rows_that_are_not_counted_still_show_phases(rows, first, last):
    counted = [first <= row["ts"] < last for row in rows]
    phased = with_phases(rows)
    kept = [row for row, counts in zip(phased, counted, strict=True) if counts]
    for fold, names, slow in (
        (_core.Syscalls, CALLS, slow_syscalls(kept, "phase")),
        (_core.Files, FILES, slow_files(kept, "stream", "phase", 131072)),
    ):
        table = summed(
            fold(by="phase"),
            frame(rows, names).with_columns(counted=pl.Series(counted, dtype=pl.Boolean)),
        )
        got, wanted = without(RUNS, plain(table)), without(RUNS, slow)
        near_enough(sorted(got, key=repr), sorted(wanted, key=repr))


LOGS = [
    DATA / "flow" / name for name in ("train.strace.zst", "phases.strace.zst", "phases.ftrace.zst")
]
# What depends on the other rows of the log.
OF_THE_LOG = ["total_share", "open_ns"]
# What adds up.
SUMS = {
    "syscalls": ["calls", "errors", "unfinished", "timed", "total_ns", "bytes"],
    "files": [
        *("opens", "opens_failed", "stats", "stats_failed", "mmaps", "mmaps_failed", "mmap_bytes"),
        *(
            f"{way}{column}"
            for way in ("read", "write")
            for column in (
                *("s", "_errors", "_bytes", "_requested", "_first", "_consecutive", "_forward"),
                *("_backward", "_unknown", "_short", "_ns"),
            )
        ),
    ],
}


@pytest.fixture(params=LOGS, ids=lambda log: log.name)
def events(request):
    """Give the events of a log, with their phases as a column."""
    events = pl.DataFrame(tf.read(request.param))
    names = [*dict.fromkeys([*FILES, *CALLS])]
    rows = without_types(events, names).with_columns(pl.col("ts").cast(pl.Int64)).to_dicts()
    phases = [row["phase"] for row in with_phases(rows)]
    return events.with_columns(phase=pl.Series(phases, dtype=pl.String))


def parts(events):
    """Give the rows of each phase."""
    return events.partition_by("phase", as_dict=True, maintain_order=True).items()


def test_calls_of_each_phase(events):
    table = tf.syscalls(events, by="phase").drop(OF_THE_LOG).collect()
    assert table["phase"].n_unique() > 4
    for (phase,), part in parts(events):
        own = table.filter(pl.col("phase").eq_missing(pl.lit(phase, pl.String))).drop("phase")
        assert plain(own) == plain(tf.syscalls(part).drop(OF_THE_LOG).collect()), phase


def test_files_of_each_phase(events):
    columns = ["source", "file", "path", "ts_first", "ts_last", "processes", "tasks"]
    columns += [*SUMS["files"], "read_unique_bytes", "read_reread_bytes", "read_wall_ns"]
    table = tf.files(events, by="phase").collect()
    for (phase,), part in parts(events):
        own = table.filter(pl.col("phase").eq_missing(pl.lit(phase, pl.String))).select(columns)
        assert plain(own) == plain(tf.files(part).select(columns).collect()), phase


def test_calls_add_up_to_the_table_without_phases(events):
    sums = pl.col(SUMS["syscalls"]).cast(pl.Int64).sum()
    whole, by_phase = tf.syscalls(events), tf.syscalls(events, by="phase")
    added, expected = (table.group_by("name").agg(sums) for table in (by_phase, whole))
    assert plain(added.collect()) == plain(expected.collect())


def test_files_add_up_to_the_table_without_phases(events):
    sums = pl.col(SUMS["files"]).cast(pl.Int64).sum()
    whole, by_phase = tf.files(events), tf.files(events, by="phase")
    # A file may have another name in each phase.
    names = whole.drop_nulls("file").select("file", name="path")
    added, expected = (
        table.join(names, on="file", how="left")
        .group_by(pl.coalesce("name", "path"))
        .agg(sums)
        .collect()
        for table in (by_phase, whole)
    )
    assert plain(added) == plain(expected)


def test_text_parquet_and_several_logs_give_the_same(tmp_path):
    logs = LOGS[:2]
    files = [tmp_path / f"{log.name}.parquet" for log in logs]
    for log, file in zip(logs, files, strict=True):
        tf.parse(log, file)
    for ask in (tf.files, tf.syscalls):
        each = [ask(tf.scan(log), by="phase").collect() for log in logs]
        together = ask(tf.scan(logs), by="phase").collect()
        assert plain(together) == plain(pl.concat(each))
        assert ask(tf.scan(files), by="phase").collect().equals(together)
        assert ask(tf.scan(logs).collect(), by="phase").collect().equals(together)


def test_both_tracers_show_the_same_phases():
    found = []
    for log in LOGS[1:]:
        table = tf.syscalls(tf.scan(log), by="phase").drop_nulls("phase").collect()
        # Marks themselves are in the calls of strace only, and the waits for locks differ.
        same = ["read", "close", "clone", "clone3", "wait4", "pipe2", "exit_group"]
        found.append(
            sorted(table.filter(pl.col("name").is_in(same)).select("phase", "name", "calls").rows())
        )
    assert found[0] == found[1]
    assert ("load", "read", 2) in found[0]
    # One of them began here and returned in the phase after it.
    assert ("train", "read", 2) in found[0]


def test_counted_must_be_boolean():
    events = tf.read(DATA / "flow" / "phases.strace.zst")
    rows = pl.DataFrame(events).with_columns(counted=pl.lit(1))
    for ask in (tf.files, tf.syscalls):
        with pytest.raises(pl.exceptions.SchemaError, match="'counted' is Int32, not Boolean"):
            ask(rows, by="phase").collect()
        assert ask(rows).collect().height > 0


def test_scope_file_is_refused():
    with pytest.raises(ValueError, match="scope 'stream' only"):
        tf.files(tf.scan(LOGS[0]), by="phase", scope="file")
