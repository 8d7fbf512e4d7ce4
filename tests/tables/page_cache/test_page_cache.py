"""`tf.page_cache`: what the kernel's page cache did, from events of ftrace."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support import paths
from tracefast.analysis.files.page_cache import SCHEMA

DATA = paths.DATA / "page-cache"
MAP = DATA / "inodes.txt"
BIG = "/srv/page-cache/a file \\ of 32 MiB.bin"
SIZE = 32 << 20


def of_big(name):
    """Return the row of the file that the recordings are about."""
    table = tf.page_cache(tf.scan(DATA / f"{name}.ftrace.zst"), inode_map=MAP).collect()
    (row,) = table.filter(pl.col("path") == BIG).rows(named=True)
    assert (row["dev"], row["ino"]) == ("7:0", 12)
    return row


@pytest.fixture
def log(tmp_path):
    """Write a log of records, each ``(task, name, payload)``, one microsecond apart."""

    def write(*records):
        lines = ["# tracer: nop"]
        for n, (task, name, payload) in enumerate(records):
            lines.append(f"  app-{task}   [000] .....  1.{n:06}: {name}: {payload}")
        path = tmp_path / "made.ftrace"
        path.write_text("\n".join(lines) + "\n")
        return tf.scan(path)

    return write


def lookup(start, end, task=1, ino="2a"):
    return (task, "mm_filemap_get_pages", f"dev=8:1 ino={ino} ofs={start}-{end - 1}")


def fault(start, task=1):
    return (task, "mm_filemap_fault", f"dev=8:1 ino=2a ofs={start}")


def add(start, order=0, task=1, ino="2a"):
    text = f"dev 8:1 ino {ino} pfn=0x1000 ofs={start} order={order}"
    return (task, "mm_filemap_add_to_page_cache", text)


def ahead(kind, index, prev_pos, task=1, ino="2a"):
    text = f"dev=8:1 ino={ino} index={index} req_count=1 order=0 size=0 async_size=0 ra_pages=32"
    return (task, f"page_cache_{kind}_ra", f"{text} mmap_miss=0 prev_pos={prev_pos}")


def order(index, size, task=1):
    text = f"dev=8:1 ino=2a index={index} order=2 size={size} async_size=8 ra_pages=32"
    return (task, "page_cache_ra_order", text)


@pytest.mark.parametrize(
    ("name", "lookups", "sync", "ahead_", "adds", "added"),
    [
        ("seq", 513, 1, 8, 194, SIZE),
        ("rand", 400, 389, 0, 389, 389 * 4096),
        ("rand-fields", 400, 389, 0, 389, 389 * 4096),
        ("mmapseq", 0, 0, 4, 2720, SIZE),
        ("warm", 1026, 1, 8, 194, SIZE),
    ],
)
def test_what_the_kernel_printed_is_counted(name, lookups, sync, ahead_, adds, added):
    row = of_big(name)
    counts = (row["lookups"], row["misses"], row["readahead_sync"], row["readahead_async"])
    assert counts == (lookups, sync, sync, ahead_)
    # Here all was read ahead, and nothing written.
    assert row["added_bytes"] == row["readahead_bytes"] == added
    events = tf.events(tf.scan(DATA / f"{name}.ftrace.zst")).collect()
    counted = dict(events.select("name", "count").rows())
    assert counted["mm_filemap_add_to_page_cache"] == adds


def test_reading_in_order_streams():
    row = of_big("seq")
    assert row["miss_share"] == 1 / 513
    assert (row["random_misses"], row["streaming_share"], row["verdict"]) == (0, 1.0, "streaming")


def test_reading_at_random_misses_at_random():
    row = of_big("rand")
    assert row["miss_share"] == 389 / 400
    assert (row["random_misses"], row["streaming_share"], row["verdict"]) == (389, 0.0, "random")


def test_a_mapping_touched_in_order_streams():
    row = of_big("mmapseq")
    assert (row["lookups"], row["miss_share"]) == (0, None)
    assert row["faults"] == 6
    # 422 times up to 16 pages around a fault.
    assert row["mapped_pages"] == 6752
    assert (row["streaming_share"], row["verdict"]) == (1.0, "streaming")


def test_a_mapping_touched_at_random_fetches_by_fault():
    row = of_big("mmaprand")
    assert (row["faults"], row["added_bytes"]) == (389, 389 * 4096)
    assert (row["streaming_share"], row["verdict"]) == (0.0, "random")
    # No event of read-ahead is in this log: perhaps none was recorded.
    for name in ("misses", "readahead_sync", "readahead_async", "readahead_bytes"):
        assert row[name] is None


def test_what_is_dropped_is_removed():
    assert of_big("warm")["removed_bytes"] == SIZE
    # Where nothing was removed, removals may not have been recorded.
    assert of_big("seq")["removed_bytes"] is None


def test_reads_of_odd_sizes_stream_up_to_the_one_seek():
    row = of_big("odd")
    assert (row["misses"], row["random_misses"]) == (3, 1)
    assert row["streaming_share"] == 8 / 9


def test_the_option_fields_prints_the_same():
    plain, fields = (of_big(name) for name in ("rand", "rand-fields"))
    assert {**plain, "source": ""} == {**fields, "source": ""}


def test_without_a_map_paths_are_null():
    table = tf.page_cache(tf.scan(DATA / "seq.ftrace.zst")).collect()
    assert table["path"].to_list() == [None]
    assert table["ino"].to_list() == [12]


def test_the_inode_is_hexadecimal_and_the_device_decimal(log):
    table = tf.page_cache(log((1, "mm_filemap_fault", "dev=254:10 ino=3443da ofs=0"))).collect()
    assert table.select("dev", "ino").row(0) == ("254:10", 0x3443DA)


def test_old_kernels_show_only_what_was_added_and_removed(log):
    old = "dev 8:1 ino 2a page=00000000d1a2f6b4 pfn=4660 ofs="
    table = tf.page_cache(
        log(
            (1, "mm_filemap_add_to_page_cache", f"{old}0"),
            (1, "mm_filemap_add_to_page_cache", f"{old}4096"),
            (1, "mm_filemap_delete_from_page_cache", f"{old}0"),
        )
    ).collect()
    (row,) = table.rows(named=True)
    known = {name: value for name, value in row.items() if value is not None}
    assert known.keys() == {"source", "dev", "ino", "added_bytes", "removed_bytes"}
    assert (row["added_bytes"], row["removed_bytes"]) == (8192, 4096)


def test_without_events_of_read_ahead_misses_are_unknown(log):
    table = tf.page_cache(log(add(0), lookup(0, 4096), lookup(0, 4096, ino="2b"))).collect()
    (row, other) = table.rows(named=True)
    assert (row["lookups"], row["added_bytes"]) == (1, 4096)
    for name in ("misses", "miss_share", "readahead_sync", "random_misses", "streaming_share"):
        assert row[name] is None
    assert row["verdict"] is None
    # Of the other file nothing was added: what was looked up was there.
    assert other["verdict"] == "cached"


def test_a_file_that_is_there_is_cached(log):
    table = tf.page_cache(log(lookup(0, 4096), lookup(4096, 8192), ahead("sync", 9, -1, task=2)))
    # The other task fetched on the same file: it is not cached for all.
    (row,) = table.collect().rows(named=True)
    assert (row["lookups"], row["misses"], row["verdict"]) == (2, 1, None)
    quiet = tf.page_cache(log(lookup(0, 4096), (2, "page_cache_sync_ra", "dev=8:1 ino=7 index=0")))
    (row,) = quiet.filter(pl.col("ino") == 0x2A).collect().rows(named=True)
    assert (row["misses"], row["miss_share"], row["streaming_share"]) == (0, 0.0, None)
    assert row["verdict"] == "cached"


def test_writes_are_not_read_ahead(log):
    records = [ahead("sync", 0, -1), add(0), lookup(0, 4096), add(4096, order=2)]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["added_bytes"], row["readahead_bytes"]) == (4096 + 16384, 4096)


def test_tasks_side_by_side_are_separate(log):
    # The lookup of the second task comes between the read-ahead of the first and its pages.
    records = [
        *[ahead("sync", 0, -1), lookup(0, 4096, task=2), add(0, order=2), lookup(0, 4096)],
        *[fault(1 << 20, task=3), ahead("async", 4, 4096), add(1 << 20, task=3), add(16384, 2)],
    ]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["added_bytes"], row["readahead_bytes"]) == (16384 * 2 + 4096, 16384 * 2)
    assert row["streaming_share"] == 1 / 3  # The first; neither the fault nor the mark.


def test_a_long_read_has_several_lookups_and_goes_on_all_the_same(log):
    # One read of 1 MiB after another: the mark is in its middle, far from its start.
    records = [
        *[ahead("sync", 256, 1 << 20), add(1 << 20, 5), lookup(1 << 20, 2 << 20)],
        *[ahead("async", 288, 1 << 20), add(9 << 17, 5), lookup(9 << 17, 2 << 20)],
    ]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["streaming_share"], row["random_misses"]) == (1.0, 0)


def test_a_mark_that_is_met_by_chance_is_not_a_stream(log):
    records = [ahead("async", 288, 1 << 24), lookup(288 << 12, 289 << 12)]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["streaming_share"], row["verdict"]) == (0.0, None)


def test_one_fetch_is_no_pattern(log):
    (row,) = (
        tf.page_cache(log(ahead("sync", 0, -1), add(0), lookup(0, 4096))).collect().rows(named=True)
    )
    assert (row["misses"], row["streaming_share"], row["verdict"]) == (1, 1.0, None)
    far = [ahead("sync", 99, -1), add(99 << 12), lookup(99 << 12, 100 << 12)]
    (row,) = tf.page_cache(log(*far)).collect().rows(named=True)
    assert (row["misses"], row["streaming_share"], row["verdict"]) == (1, 0.0, None)
    two = [*far, ahead("sync", 9, 100 << 12), add(9 << 12), lookup(9 << 12, 10 << 12)]
    (row,) = tf.page_cache(log(*two)).collect().rows(named=True)
    assert (row["misses"], row["verdict"]) == (2, "random")


def test_read_ahead_for_a_fault_is_not_a_miss_of_a_lookup(log):
    records = [fault(0), ahead("sync", 0, -1), add(0, 2), fault(16384), ahead("sync", 4, -1)]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["readahead_sync"], row["misses"], row["random_misses"]) == (2, 0, 0)
    assert row["streaming_share"] == 1.0


def test_a_fault_is_laid_to_nothing_but_its_own_page(log):
    # The page was there; what was written next, and read next, is elsewhere.
    (row,) = (
        tf.page_cache(log(fault(0), add(1 << 20), ahead("sync", 9, 1 << 24, task=2)))
        .collect()
        .rows(named=True)
    )
    assert (row["misses"], row["random_misses"], row["streaming_share"]) == (1, 1, 0.0)
    records = [fault(0), ahead("sync", 9, 1 << 24), add(9 << 12), lookup(9 << 12, 10 << 12)]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["misses"], row["random_misses"]) == (1, 1)
    (row,) = tf.page_cache(log(fault(0), add(1 << 20))).collect().rows(named=True)
    assert (row["streaming_share"], row["verdict"]) == (None, None)


def test_faults_show_nothing_of_reads_that_are_not_recorded(log):
    records = [fault(0), add(0), lookup(4096, 8192)]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["streaming_share"], row["verdict"]) == (None, None)


def test_a_file_that_was_not_used_has_no_verdict(log):
    delete = "dev 8:1 ino 2b pfn=0x1000 ofs=0 order=0"
    records = [lookup(0, 4096), ahead("sync", 0, -1)]
    records += [(1, "mm_filemap_delete_from_page_cache", delete)]
    table = tf.page_cache(log(*records)).filter(pl.col("ino") == 0x2B).collect()
    assert table.select("lookups", "removed_bytes", "verdict").rows() == [(0, 4096, None)]


def test_read_ahead_around_a_fault_fetches_for_it(log):
    records = [fault(1 << 20), order(248, 32), add(248 << 12, 5), fault(0), order(0, 32)]
    (row,) = tf.page_cache(log(*records)).collect().rows(named=True)
    assert (row["streaming_share"], row["verdict"]) == (0.5, "mixed")


def test_pages_may_be_larger(log):
    records = [ahead("sync", 1, 65536), add(65536, 1), lookup(65536, 131072)]
    (row,) = tf.page_cache(log(*records), page_bytes=65536).collect().rows(named=True)
    assert (row["added_bytes"], row["random_misses"]) == (131072, 0)
    with pytest.raises(ValueError, match="power of two, got 1000"):
        tf.page_cache(log(*records), page_bytes=1000)


def test_each_log_gives_what_it_has(tmp_path, log):
    seq, made = DATA / "seq.ftrace.zst", tmp_path / "made.ftrace"
    log(add(0))
    table = tf.page_cache(tf.scan([seq, made])).collect()
    rows = {row["source"]: row for row in table.rows(named=True)}
    assert rows[str(seq)]["lookups"] == 513
    assert rows[str(made)]["lookups"] is None
    assert rows[str(made)]["added_bytes"] == 4096


def test_nothing_is_read_before_the_table_is_collected(unreadable):
    table = tf.page_cache(unreadable, inode_map=MAP)
    assert table.collect_schema() == pl.Schema(SCHEMA)
    with pytest.raises(Exception, match="read too early"):
        table.collect()


def test_a_log_without_such_events_has_no_rows(pth):
    table = tf.page_cache(tf.scan(pth)).collect()
    assert_frame_equal(table, pl.DataFrame(schema=SCHEMA))


def test_a_part_of_the_events_will_do():
    events = tf.scan(DATA / "seq.ftrace.zst")
    whole = tf.page_cache(events).collect()
    part = events.filter(pl.col("ts").is_not_null()).select(
        "source", "task", "kind", "name", "args"
    )
    assert_frame_equal(tf.page_cache(part).collect(), whole)
    assert_frame_equal(tf.page_cache(part.collect()).collect(), whole)
    parts = [frame.lazy() for frame in part.collect().iter_slices(7)]
    assert_frame_equal(tf.page_cache(pl.concat(parts)).collect(), whole)
    assert_frame_equal(tf.page_cache(part).collect(engine="streaming"), whole)


def test_numbers_that_are_none_do_no_harm(log):
    huge = 2**64 - 1
    records = [
        add(0, order=2**32 - 1),
        add(huge),
        lookup(huge, huge),
        ahead("sync", huge, -(2**63)),
        (1, "mm_filemap_get_pages", "dev=8:1 ino=2a ofs=9-0"),
        (1, "mm_filemap_fault", "dev=8:1 ino=ffffffffffffffff ofs=-1"),
        (1, "mm_filemap_fault", "dev=8:1 ino= ofs="),
        (1, "mm_filemap_fault", ""),
    ]
    table = tf.page_cache(log(*records)).collect()
    assert set(table["ino"]) <= {0x2A, huge}


def test_files_are_summed_up_alike_in_one_part_and_in_many(log, monkeypatch):
    records = [
        record
        for n in range(20)
        for record in (ahead("sync", n, n << 12, ino=n), add(n << 12, ino=n), lookup(0, 9, ino=n))
    ]
    whole = tf.page_cache(log(*records)).collect()
    assert whole.height == 20
    monkeypatch.setattr("tracefast.analysis.files.page_cache._PART", 7)
    assert_frame_equal(tf.page_cache(log(*records)).collect(), whole)


def test_the_command(run):
    log = DATA / "seq.ftrace.zst"
    ran = run("files", log, "--page-cache", "--inode-map", MAP)
    assert (ran.returncode, ran.stderr) == (0, "")
    header, row = ran.stdout.splitlines()
    assert header.split()[0] == "verdict"
    assert row.split()[:4] == ["streaming", "100.00%", "513", "1"]
    assert row.endswith(BIG)
    ran = run("files", log, "--page-cache", "--format", "ndjson")
    (row,) = [json.loads(line) for line in ran.stdout.splitlines()]
    assert list(row) == list(SCHEMA)[1:]
    assert (row["path"], row["added_bytes"]) == (None, SIZE)
    ran = run(
        "files", log, "--page-cache", "--inode-map", MAP, "--match", "*.txt", "--format", "csv"
    )
    assert len(ran.stdout.splitlines()) == 1


def test_the_command_says_what_is_missing(run, pth, tmp_path):
    ran = run("files", pth, "--page-cache")
    assert ran.returncode == 0
    assert "warning: no events of the page cache: trace the events filemap:*" in ran.stderr
    bad = tmp_path / "bad.txt"
    bad.write_text("1792 12 /x\n/y\n")
    for arguments in (["--page-cache"], [], ["--explain", "x"]):
        ran = run("files", DATA / "seq.ftrace.zst", *arguments, "--inode-map", bad)
        assert (ran.returncode, ran.stdout) == (2, "")
        assert f"error: {bad}:2: no device, inode and path: /y\nhint: make the" in ran.stderr
    assert run("files", pth, "--page-cache", "--type", "regular").returncode == 2
    assert run("files", pth, "--page-cache", "--explain", "x").returncode == 2


def test_a_map_names_the_files_of_system_calls(run, tmp_path):
    # The file was opened before: the lookups within the calls show what its descriptor is.
    lines = ["# tracer: nop"]
    for n, part in enumerate(("ofs=0-4095", "ofs=4096-8191")):
        lines += [
            f"  app-7   [000] .....  1.{n}00000: sys_read(fd: 3, buf: 7f00, count: 1000)",
            f"  app-7   [000] .....  1.{n}00001: mm_filemap_get_pages: dev=7:0 ino=c {part}",
            f"  app-7   [000] .....  1.{n}00002: sys_read -> 0x1000",
        ]
    path = tmp_path / "calls.ftrace"
    path.write_text("\n".join(lines) + "\n")
    rows = run("files", path, "--inode-map", MAP, "--format", "ndjson").stdout.splitlines()
    (row,) = [json.loads(row) for row in rows]
    assert (row["path"], row["reads"], row["read_bytes"]) == (BIG, 2, 8192)
    ran = run("files", path, "--inode-map", MAP, "--explain", "32 MiB.bin")
    assert ran.returncode == 0
    assert "in-order: 2 calls, 8,192 bytes" in ran.stdout
    assert f"{BIG}: 2 accesses" in ran.stdout
