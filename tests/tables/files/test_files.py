"""The table of files, on events made by hand and on recorded logs."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.files.table import columns

A = {"file": 1, "path": "/a", "file_type": "regular", "task": 1, "pid": 10}


def one(events) -> dict[str, object]:
    table = tf.files(events).collect()
    assert table.height == 1
    assert table.schema == columns()
    return table.row(0, named=True)


def read(ret, requested=4096, dur=1000, **rest):
    errno = {"errno": "EIO", "bytes": None} if ret is not None and ret < 0 else {"bytes": ret}
    return A | {"name": "read", "ret": ret, "requested": requested, "dur_ns": dur} | errno | rest


def test_reads(make_events):
    sizes = [4096, 4096, 100, 0, 50]
    rows = [read(size, dur=1000 * i, ts=i) for i, size in enumerate(sizes, 1)]
    rows += [read(-1, dur=9000, ts=9), read(10_000, requested=10_000, dur=500, ts=20)]
    row = one(make_events(rows))
    assert row["reads"] == 6
    assert row["read_errors"] == 1
    assert row["read_bytes"] == sum(sizes) + 10_000
    assert row["read_requested"] == 5 * 4096 + 10_000
    assert row["read_eof"] == 1
    assert row["read_short"] == 2
    # Sorted: 0, 50, 100, 4096, 4096, 10000; the third of six by nearest rank.
    assert row["read_size_median"] == 100
    assert row["read_size_max"] == 10_000
    assert row["read_asked_common"] == 4096
    assert row["read_ns"] == 15_000 + 9_000 + 500
    # Sorted: 500, 1000, 2000, 3000, 4000, 5000, 9000; the fourth of seven.
    assert row["read_p50_ns"] == 3000
    assert row["read_p99_ns"] == row["read_max_ns"] == 9000
    assert row["writes"] == row["write_bytes"] == row["write_ns"] == 0
    assert row["write_size_median"] is None
    assert row["ts_first"].microsecond == 0


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 100, 101, 700])
def test_percentiles_are_exact_by_nearest_rank(make_events, count):
    row = one(make_events([read(1, dur=i) for i in range(count, 0, -1)]))
    assert row["read_p50_ns"] == -(-count * 50 // 100)
    assert row["read_p99_ns"] == -(-count * 99 // 100)


def test_what_the_log_does_not_say_is_null_not_zero(make_events):
    row = one(make_events([read(None, requested=None, dur=None, status="unfinished", bytes=None)]))
    assert row["reads"] == 0
    row = one(make_events([read(5, requested=None, dur=None) | {"bytes": None}]))
    assert row["reads"] == 1
    assert row["read_bytes"] is None
    assert row["read_requested"] is None
    assert row["read_ns"] is None
    assert row["size"] is None


def test_injected_calls_never_count_and_interrupted_ones_are_no_errors(make_events):
    events = make_events(
        [
            read(4096),
            read(7, status="injected"),
            read(None, errno="ERESTARTSYS", status="interrupted", bytes=None),
            read(8, status="delayed"),
        ]
    )
    row = one(events)
    assert (row["reads"], row["read_errors"], row["read_bytes"]) == (2, 0, 4104)


@pytest.mark.parametrize("name", ["sendfile", "splice", "copy_file_range", "tee"])
def test_transfers_read_one_file_and_write_the_other(make_events, name):
    two = {"name": name, "ret": 10, "bytes": 10, "requested": 20, "dur_ns": 7}
    events = make_events([A | two | {"path2": "/b", "file2": 2}, A | two | {"path2": None}])
    table = tf.files(events).collect().sort("path")
    assert table["path"].to_list() == ["/a", "/b"]
    assert table["reads"].to_list() == [2, 0]
    assert table["read_bytes"].to_list() == [20, 0]
    assert table["writes"].to_list() == [0, 1]
    assert table["write_bytes"].to_list() == [0, 10]
    assert table["write_short"].to_list() == [0, 1]
    assert table["type"].to_list() == ["regular", None]


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("preadv2", "reads"),
        ("recvmsg", "reads"),
        ("pwrite64", "writes"),
        ("sendto", "writes"),
        ("openat2", "opens"),
        ("creat", "opens"),
        ("memfd_create", "opens"),
        ("statx", "stats"),
        ("access", "stats"),
        ("readlinkat", "stats"),
        ("fstatfs", "stats"),
        ("lgetxattr", "stats"),
        ("mmap", "mmaps"),
    ],
)
def test_calls_count_where_they_belong(make_events, name, column):
    row = one(make_events([A | {"name": name, "ret": 3, "requested": 5, "bytes": 3}]))
    counts = ("reads", "writes", "opens", "stats", "mmaps")
    assert {count: row[count] for count in counts} == dict.fromkeys(counts, 0) | {column: 1}
    assert row["mmap_bytes"] == (5 if name == "mmap" else 0)


def test_calls_by_path_only_join_the_file_of_that_name(make_events):
    failed = {"name": "openat", "ret": -1, "errno": "ENOENT", "file": None, "task": 2, "pid": 20}
    events = make_events(
        [
            A | failed | {"ts": 1},
            A | {"name": "openat", "ret": 3, "ts": 2, "dur_ns": 5},
            A | {"name": "stat", "ret": 0, "file": None, "size": 77, "ts": 3},
            A | failed | {"path": "/missing", "ts": 4},
            A | failed | {"path": "/missing", "ts": 5},
        ]
    )
    table = tf.files(events).collect().sort("path")
    assert table["path"].to_list() == ["/a", "/missing"]
    assert table["file"].to_list() == [1, None]
    assert table["opens"].to_list() == [1, 0]
    assert table["opens_failed"].to_list() == [1, 2]
    assert table["stats"].to_list() == [1, 0]
    assert table["tasks"].to_list() == [2, 1]
    assert table["processes"].to_list() == [2, 1]
    assert table["size"].to_list() == [77, None]


def test_a_file_has_the_name_it_was_opened_by(make_events):
    events = make_events(
        [
            read(1, path="/renamed"),
            A | {"name": "openat", "ret": 3, "path": "/first"},
            read(1, path="/third"),
            A | {"name": "openat", "ret": 3, "path": "/second"},
        ]
    )
    assert one(events)["path"] == "/first"


def test_sources_are_kept_apart_and_rows_are_in_order(make_events):
    small, large = read(1, path="/b", file=2), read(100, path="/c", file=3)
    events = make_events([small, large, read(1), read(1, source="other")])
    table = tf.files(events).collect()
    assert table.select("source", "path").rows() == [
        ("log", "/c"),
        ("log", "/a"),
        ("other", "/a"),
        ("log", "/b"),
    ]


def test_the_model_file(pth):
    row = one(tf.scan(pth))
    assert row["path"].endswith("data/unet_carvana_scale0.5_epoch2.pth")
    assert row["reads"] == 10
    assert row["read_bytes"] == 43_290
    assert row["opens"] == row["stats"] == 1
    assert row["size"] == 124_239_509
    assert row["type"] == "regular"
    assert row["read_short"] == 3
    assert row["read_asked_common"] == 4096
    assert row["read_size_max"] == 15_319


def test_the_program(spawn_strace):
    table = tf.files(tf.scan(spawn_strace)).collect()
    data = table.filter(pl.col("path") == "/srv/spawn/data.bin")
    assert data.height == 1
    row = data.row(0, named=True)
    assert (row["opens"], row["reads"], row["read_eof"]) == (2, 11, 1)
    assert row["read_bytes"] == 65_536 + 3 * 4_096
    assert (row["writes"], row["write_bytes"]) == (1, 65_536)
    assert row["size"] == 65_536
    missing = table.filter(pl.col("path").str.ends_with("missing.bin")).sort("path")
    assert missing["path"].str.split("/").list.last().to_list() == [
        "also-missing.bin",
        "missing.bin",
    ]
    assert missing["opens_failed"].to_list() == [1, 2]


def test_the_same_table_from_a_log_from_parquet_and_from_a_frame(spawn, tmp_path):
    tf.parse(spawn, tmp_path / "events.parquet")
    expected = tf.files(tf.scan(spawn)).collect()
    assert_frame_equal(tf.files(tf.scan(tmp_path / "events.parquet")).collect(), expected)
    assert_frame_equal(tf.files(tf.scan(spawn).collect()).collect(), expected)


def test_text_columns_will_do_for_dictionaries(spawn_strace):
    events = tf.scan(spawn_strace)
    text = events.with_columns(pl.col(pl.Categorical).cast(pl.String))
    assert_frame_equal(tf.files(text).collect(), tf.files(events).collect())


def test_a_part_of_the_events(spawn_strace):
    events = tf.scan(spawn_strace).filter(pl.col("path").str.ends_with("data.bin"))
    table = tf.files(events).filter(pl.col("reads") > 0).select("reads").collect()
    assert table.rows() == [(11,)]


def test_nothing(make_events):
    assert tf.files(make_events([])).collect().height == 0


@pytest.mark.parametrize("by", ["process", "open"])
def test_rows_of_one_file_share_the_type_that_one_of_them_learned(make_events, by):
    writes = {"name": "write", "ret": 5, "bytes": 5, "file_type": None}
    events = [
        A | writes | {"pid": 11, "ofd": 1},
        A | {"name": "newfstatat", "ret": 0, "pid": 12, "ofd": 2},
        A | writes | {"pid": 13, "ofd": 3},
        A | writes | {"pid": 14, "ofd": 4, "file": 2, "path": "/b"},
        A | writes | {"pid": 15, "ofd": 5, "source": "other"},
    ]
    table = tf.files(make_events(events), by=by).collect()
    part = "pid" if by == "process" else "ofd"
    types = {row[part] % 10: row["type"] for row in table.rows(named=True)}
    assert types == {1: "regular", 2: "regular", 3: "regular", 4: None, 5: None}


def test_the_type_is_the_one_that_was_learned_first(make_events):
    events = make_events(
        [
            A | {"name": "write", "pid": 11, "file_type": None, "ret": 1, "bytes": 1},
            A | {"name": "fstat", "pid": 12, "file_type": "unknown", "ret": 0},
            A | {"name": "fstat", "pid": 13, "file_type": "pipe", "ret": 0},
            A | {"name": "fstat", "pid": 11, "file_type": "fifo", "ret": 0},
        ]
    )
    assert tf.files(events).collect()["type"].to_list() == ["pipe"]
    assert tf.files(events, by="process").collect()["type"].to_list() == ["pipe"] * 3


def test_what_a_process_learned_by_name_alone_is_the_type_of_the_file(make_events):
    stat = {"name": "stat", "path": "/a", "file_type": "regular", "pid": 11, "ret": 0, "task": 1}
    failed = {"name": "open", "path": "/a", "pid": 12, "ret": -1, "task": 2}
    wrote = A | {"name": "write", "pid": 13, "file_type": None, "ret": 1, "bytes": 1}
    elsewhere = failed | {"path": "/b"}
    table = tf.files(make_events([stat, failed, wrote, elsewhere]), by="process").collect()
    assert table.sort("pid", "path").select("pid", "path", "type").rows() == [
        (11, "/a", "regular"),
        (12, "/a", "regular"),
        (12, "/b", None),
        (13, "/a", "regular"),
    ]


def test_what_gzip_wrote_in_the_demonstration_is_a_regular_file():
    table = tf.files(tf.scan(DATA / "demo.strace.zst"), by="process")
    rows = table.filter(pl.col("path").str.ends_with("images.tar.gz"), pl.col("writes") > 0)
    wrote = rows.select("pid", "type", "write_bytes").sort("pid").collect()
    assert wrote.rows() == [(11807, "regular", 1_248_857), (11825, "regular", 1_248_857)]
