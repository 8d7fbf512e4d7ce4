"""`tf.accesses` and `tracefast files --explain`: one file's accesses, and what they amount to."""

import json

import polars as pl
import pytest

import tracefast as tf
from support.logs import line_of
from tracefast import _core
from tracefast.analysis.files.access_patterns import access_patterns
from tracefast.analysis.files.accesses import SCHEMA, of_files

PTH = "data/unet_carvana_scale0.5_epoch2.pth"
DATA = "/srv/data.bin"


class Log:
    """A log of strace, written call by call."""

    def __init__(self):
        self.lines = []

    def __call__(self, text, pid=100):
        self.lines.append(line_of(len(self.lines), text, pid))

    def opened(self, path, size, *, pid=100, fd=3):
        """Open a file as CPython's open does."""
        self(f'openat(AT_FDCWD, "{path}", O_RDONLY|O_CLOEXEC) = {fd}', pid)
        stat = f'newfstatat({fd}, "", {{st_mode=S_IFREG|0644, st_size={size}, ...}}, AT_EMPTY_PATH)'
        self(f"{stat} = 0", pid)
        error = "-1 ENOTTY (Inappropriate ioctl for device)"
        self(f"ioctl({fd}, TCGETS, 0x7fff96473dc0) = {error}", pid)
        self(f"lseek({fd}, 0, SEEK_CUR) = 0", pid)
        self(f"lseek({fd}, 0, SEEK_CUR) = 0", pid)

    def read(self, asked, got, pid=100, fd=3):
        data = '"x"...' if got else '""'
        self(f"read({fd}, {data}, {asked}) = {got}", pid)

    def reads_at(self, offsets):
        """Open `DATA`, and read 100 bytes at each of the offsets."""
        self(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
        for offset in offsets:
            self(f'pread64(3, "x"..., 100, {offset}) = 100')

    def write(self, folder):
        path = folder / "app.strace"
        path.write_text("".join(self.lines))
        return path


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def explained(tmp_path):
    """Give the rows and the habits of the one file of a log."""

    def ask(log, path):
        events = tf.scan(log.write(tmp_path))
        rows = tf.accesses(events, path).collect()
        return rows, {habit.code: habit for habit in access_patterns(events.collect(), rows)}

    return ask


def images(log):
    """Write the reads of three images, as Pillow makes them."""
    log.opened("/srv/small.jpg", 35_885)
    for asked, got in ((4096, 4096), (61_440, 31_789), (28_672, 0)):
        log.read(asked, got)
    log("close(3) = 0")
    log.opened("/srv/larger.jpg", 108_736)
    for asked, got in ((4096, 4096), (61_440, 61_440), (65_536, 43_200), (20_480, 0)):
        log.read(asked, got)
    log("close(3) = 0")
    log.opened("/srv/long-header.jpg", 119_798)
    for _ in range(3):
        log.read(4096, 4096)
    log("lseek(3, 0, SEEK_SET) = 0")
    for asked, got in ((65_536, 65_536), (65_536, 54_262), (8192, 0)):
        log.read(asked, got)
    log("close(3) = 0")


def test_the_model_file(pth):
    rows = tf.accesses(tf.scan(pth), PTH).collect()
    assert rows.schema == pl.Schema(SCHEMA)
    assert rows["n"].to_list() == list(range(1, 11))
    assert rows["access"].to_list() == [
        *["first", "backward", "forward", "backward", "backward", "backward", "backward"],
        *["backward", "backward", "consecutive"],
    ]
    assert rows["gap"].to_list() == [
        *[None, -4096, 124_231_317, -22, -42, -98, -7427, -7459, -124_236_048, 0]
    ]
    assert rows["bytes"].sum() == 43_290
    assert set(rows["offset_known"]) == {"exact"}


def test_what_the_model_file_amounts_to(pth):
    events = tf.scan(pth)
    rows = tf.accesses(events, PTH).collect()
    found = access_patterns(events.collect(), rows)
    assert [(habit.code, habit.count, habit.bytes) for habit in found] == [
        ("random", 8, 23_875),
        ("tail-first", 1, 4096),
        ("rewind", 2, 8192),
    ]
    assert "from 124,235,413 on" in found[1].text
    # This log has no durations.
    assert {habit.ns for habit in found} == {None}


@pytest.mark.parametrize(
    ("path", "codes", "asked"),
    [
        ("/srv/small.jpg", ["in-order", "eof-probe"], 28_672),
        ("/srv/larger.jpg", ["in-order", "eof-probe"], 20_480),
        ("/srv/long-header.jpg", ["header-probe", "rewind", "eof-probe"], 8192),
    ],
)
def test_images(log, explained, path, codes, asked):
    images(log)
    _, found = explained(log, path)
    assert list(found) == codes
    probe = found["eof-probe"]
    assert (probe.count, probe.bytes, probe.ns) == (1, asked, 10_000)
    assert "They are by CPython's buffered reader" in probe.text


def test_the_long_header_is_read_twice(log, explained):
    images(log)
    rows, found = explained(log, "/srv/long-header.jpg")
    header = found["header-probe"]
    assert (header.count, header.bytes, header.ns) == (3, 12_288, 30_000)
    assert (found["rewind"].count, found["rewind"].bytes) == (1, 65_536)
    assert rows["offset"].to_list() == [0, 4096, 8192, 0, 65_536, 119_798]
    assert rows["gap"].to_list() == [None, 0, 0, -12_288, 0, 0]


def test_probes_of_other_programs_are_not_laid_to_cpython(log, explained):
    # The same reads, but no program asked whether the file is a terminal.
    log('openat(AT_FDCWD, "/srv/small.jpg", O_RDONLY) = 3')
    for asked, got in ((4096, 4096), (61_440, 31_789), (28_672, 0)):
        log.read(asked, got)
    _, found = explained(log, "/srv/small.jpg")
    assert found["eof-probe"].count == 1
    assert "CPython" not in found["eof-probe"].text
    half = Log()
    half('openat(AT_FDCWD, "/srv/small.jpg", O_RDONLY) = 3')
    half("fstat(3, {st_mode=S_IFREG|0644, st_size=35885, ...}) = 0")
    half("lseek(3, 0, SEEK_CUR) = 0")
    for asked, got in ((4096, 4096), (61_440, 31_789), (28_672, 0)):
        half.read(asked, got)
    _, found = explained(half, "/srv/small.jpg")
    assert "CPython" not in found["eof-probe"].text
    # Opened so, but another request than the reader would make.
    other = Log()
    other.opened("/srv/small.jpg", 35_885)
    other.read(65_536, 35_885)
    other.read(65_536, 0)
    _, found = explained(other, "/srv/small.jpg")
    assert found["eof-probe"].count == 1
    assert "CPython" not in found["eof-probe"].text


def test_the_block_is_what_the_file_system_recommends(log, explained):
    log('openat(AT_FDCWD, "/srv/x", O_RDONLY) = 3')
    log("fstat(3, {st_mode=S_IFREG|0644, st_blksize=16384, st_size=20000, st_blocks=40, ...}) = 0")
    log("ioctl(3, TCGETS, 0x7f) = -1 ENOTTY (Inappropriate ioctl for device)")
    log("lseek(3, 0, SEEK_CUR) = 0")
    log.read(65_536, 20_000)
    log.read(32_768, 0)  # 45,536 are left: two blocks of 16 KiB, eleven of 4.
    _, found = explained(log, "/srv/x")
    assert "CPython" in found["eof-probe"].text


def test_a_pipe_that_is_closed_was_not_probed(log, explained):
    log("pipe2([3<pipe:[7]>, 4<pipe:[7]>], 0) = 0")
    log('write(4<pipe:[7]>, "x"..., 10) = 10')
    log("close(4<pipe:[7]>) = 0")
    log('read(3<pipe:[7]>, "x"..., 100) = 10')
    log('read(3<pipe:[7]>, "", 100) = 0')
    rows, found = explained(log, "pipe:[7]")
    assert rows["access"].to_list() == [None, None, "eof"]
    assert found == {}


def test_strides(log, explained):
    log.reads_at(n * 1000 for n in range(12))
    _, found = explained(log, DATA)
    assert list(found) == ["stride"]
    assert (found["stride"].count, found["stride"].bytes) == (11, 1100)
    assert "11 of 11 forward jumps skip 900 bytes" in found["stride"].text


@pytest.mark.parametrize("count", [8, 9])
def test_a_stride_needs_eight_jumps_and_half_of_them(log, explained, count):
    log.reads_at(n * 1000 for n in range(count))
    _, found = explained(log, DATA)
    assert ("stride" in found) == (count == 9)


def test_jumps_without_a_common_length_are_random(log, explained):
    log.reads_at(n * n * 1_000_000 for n in range(12))
    _, found = explained(log, DATA)
    assert list(found) == ["random"]
    # Small jumps forward are covered by read-ahead.
    near = Log()
    near.reads_at(n * n * 1000 for n in range(12))
    _, found = explained(near, DATA)
    assert found == {}


def test_random_reads_are_those_that_are_counted_among_all(log, explained):
    # 12 far jumps and 4 near ones: what is near is not random.
    log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
    log('pread64(3, "x"..., 100, 0) = 100')
    at = 0
    for n in range(16):
        at += 1000 * (n + 1) if n % 4 == 3 else 1_000_000 * (n + 1)
        log(f'pread64(3, "x"..., 100, {at}) = 100')
    _, found = explained(log, DATA)
    habit = found["random"]
    assert (habit.count, habit.bytes) == (12, 1200)
    assert habit.text.startswith("12 of 16 reads do not start")


def test_few_jumps_are_not_called_random(log, explained):
    log.reads_at(n * n * 1_000_000 for n in range(8))
    _, found = explained(log, DATA)
    assert found == {}
    # One jump among many reads in order.
    one = Log()
    one.reads_at(n * 100 + (n > 5) * 1_000_000 for n in range(12))
    _, found = explained(one, DATA)
    assert found == {}


def test_a_file_read_in_one_call_is_not_read_from_its_tail(log, explained):
    log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
    log("fstat(3, {st_mode=S_IFREG|0644, st_size=300, ...}) = 0")
    log.read(4096, 300)
    _, found = explained(log, DATA)
    assert list(found) == ["in-order"]
    assert found["in-order"].text.endswith("in one call")


def test_the_end_is_read_first_by_early_reads_only(log, explained):
    for count in (7, 8):
        log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
        log("fstat(3, {st_mode=S_IFREG|0644, st_size=9000, ...}) = 0")
        for n in range(count):
            log(f'pread64(3, "x"..., 10, {n * 100}) = 10')
        log('pread64(3, "x"..., 100, 8990) = 10')
        log("close(3) = 0")
    _, found = explained(log, DATA)
    assert found["tail-first"].count == 1
    # A program that read the middle first was not looking for a directory at the end.
    log = Log()
    log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
    log("fstat(3, {st_mode=S_IFREG|0644, st_size=9000, ...}) = 0")
    log('pread64(3, "x"..., 1000, 4000) = 1000')
    log('pread64(3, "x"..., 100, 8990) = 10')
    _, found = explained(log, DATA)
    assert found == {}


def test_large_reads_before_a_rewind_probe_no_header(log, explained):
    log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
    for _ in range(2):
        log.read(65_536, 65_536)
        log.read(65_536, 65_536)
        log("lseek(3, 0, SEEK_SET) = 0")
    _, found = explained(log, DATA)
    assert list(found) == ["rewind", "again"]


def test_writes_have_an_order_of_their_own(log, explained):
    log(f'openat(AT_FDCWD, "{DATA}", O_RDWR|O_CREAT, 0644) = 3')
    for n in range(9):
        log(f'pwrite64(3, "x"..., 10, {n * 64}) = 10')
        log(f'pread64(3, "x"..., 10, {n * 10}) = 10')
    rows, found = explained(log, DATA)
    assert list(found) == ["in-order", "stride"]
    assert "write" in found["stride"].text or "written" in found["stride"].text
    gaps = rows.group_by("way").agg(pl.col("gap").drop_nulls().unique())
    assert dict(gaps.rows()) == {"read": [0], "write": [54]}


def test_processes_that_each_read_it_whole(log, explained):
    log('openat(AT_FDCWD, "/srv/other", O_RDONLY) = 4')
    for pid in (101, 102, 103):
        log("fork() = " + str(pid))
    for pid in (101, 102, 103):
        log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3', pid)
        log("fstat(3, {st_mode=S_IFREG|0644, st_size=5000, ...}) = 0", pid)
        log.read(3000, 3000, pid)
        log.read(3000, 2000 if pid != 103 else 1999, pid)
    _, found = explained(log, DATA)
    assert (found["whole"].count, found["whole"].bytes) == (4, 10_000)
    assert "2 processes each read all of its 5,000 bytes" in found["whole"].text


def test_a_file_read_again_and_again(log, explained):
    for _ in range(3):
        log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
        log.read(4096, 500)
        log("close(3) = 0")
    _, found = explained(log, DATA)
    assert (found["again"].count, found["again"].bytes) == (3, 1500)
    assert "500 different bytes, each read 3.0 times" in found["again"].text
    assert "through 3 open files" in found["again"].text


def test_mappings_are_named_as_not_visible(log, explained):
    log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
    log("mmap(NULL, 8192, PROT_READ, MAP_SHARED, 3, 0) = 0x7f0000000000")
    log("mmap(NULL, 8192, PROT_READ, MAP_SHARED, 3, 0) = -1 ENOMEM (Cannot allocate memory)")
    rows, found = explained(log, DATA)
    assert rows.is_empty()
    assert (found["mmap"].count, found["mmap"].bytes) == (1, 8192)


def test_a_file_read_in_order_has_no_other_habits(log, explained):
    log(f'openat(AT_FDCWD, "{DATA}", O_RDONLY) = 3')
    log("fstat(3, {st_mode=S_IFREG|0644, st_size=300, ...}) = 0")
    for _ in range(3):
        log.read(100, 100)
    _, found = explained(log, DATA)
    assert [(code, habit.count, habit.bytes) for code, habit in found.items()] == [
        ("in-order", 3, 300)
    ]


def event(**columns):
    common = {"name": "read", "path": DATA, "file": 7, "ofd": 1, "task": 1, "pid": 1}
    return common | {"bytes": columns.get("ret"), "requested": 100} | columns


def test_relative_positions_are_shifted_by_their_proof(make_events):
    rows = [
        event(ret=100, offset=0, offset_known="relative", access="first"),
        event(ret=100, offset=100, offset_known="relative", access="consecutive", ofd=2),
        event(ret=50, offset=100, offset_known="relative", access="consecutive"),
        event(kind="notice", name="offset-base", offset=1000, ret=None, bytes=None),
        event(ret=10, offset=1150, offset_known="exact", access="consecutive"),
    ]
    table = tf.accesses(make_events(rows), DATA).collect()
    assert table["offset"].to_list() == [1000, 100, 1100, 1150]
    assert table["offset_known"].to_list() == ["exact", "relative", "exact", "exact"]
    assert table["gap"].to_list() == [None, None, 0, 0]
    assert table["n"].to_list() == [1, 2, 3, 4]


def test_gaps_are_null_where_an_end_is_not_known(make_events):
    rows = [
        event(ret=100, offset=0, offset_known="exact", access="first"),
        event(ret=100, offset_known="ambiguous"),
        event(ret=100, offset=300, offset_known="exact"),
        event(ret=-1, errno="EIO", bytes=None, offset=400, access="error"),
        event(ret=100, offset=500, offset_known="exact", access="forward"),
        event(ret=0, bytes=0, offset=600, offset_known="exact", access="eof"),
        event(ret=0, bytes=0, offset=9000, offset_known="exact", access="eof"),
        event(ret=100, offset=700, offset_known="exact", access="forward"),
        event(ret=100, offset=0, offset_known="relative"),
        event(ret=100, offset=100, offset_known="exact"),
        event(ret=100),
        event(ret=100, offset=300, offset_known="exact"),
    ]
    events = make_events(rows)
    table = tf.accesses(events, 7).collect()
    assert table["gap"].to_list() == [
        *[None, None, None, None, 100, 0, 8400, 100, None, None, None, None]
    ]
    found = {habit.code: habit for habit in access_patterns(events, table)}
    assert found["unknown"].count == 1


def test_what_counts_as_an_access(make_events):
    rows = [
        event(name="openat", ret=3, bytes=None, requested=None),
        event(ret=100, status="injected"),
        event(kind="aio", name="preadv", ret=10, bytes=10),
        event(kind="aio", name="pwrite", ret=20, bytes=20),
        event(kind="aio", name="fsync", ret=0, bytes=None),
        event(name="read", kind="event", ret=5),
        event(file=8, path="/srv/other", ret=1),
        event(name="pread64", status="unfinished", ret=None, bytes=None),
        event(name="sendto", path=None, ret=30),
        event(name="rename", file=5, path="/srv/a", path2=DATA, file2=7, ret=0),
    ]
    table = tf.accesses(make_events(rows), 7).collect()
    assert table.select("name", "way", "bytes").rows() == [
        ("preadv", "read", 10),
        ("pwrite", "write", 20),
        ("pread64", "read", None),
        ("sendto", "write", 30),
    ]


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *(("pread", "read"), ("pread64", "read"), ("preadv2", "read"), ("recvmmsg", "read")),
        *(("recvmmsg_time64", "read"), ("mq_timedreceive", "read")),
        *(("pwrite", "write"), ("pwritev", "write"), ("sendmmsg", "write"), ("vmsplice", "write")),
        *(("mq_timedsend", "write"), ("mq_timedsend_time64", "write")),
        *(("process_vm_readv", None), ("getdents64", None), ("recv_all", None)),
    ],
)
def test_every_table_knows_the_same_calls_that_move_data(make_events, name, way):
    events = make_events([event(name=name, ret=30)])
    ways = tf.accesses(events, 7).collect()["way"].to_list()
    assert ways == ([] if way is None else [way])
    row = tf.files(events).collect().row(0, named=True)
    moved = {"read": (1, 30, 0, 0), "write": (0, 0, 1, 30), None: (0, 0, 0, 0)}
    assert (row["reads"], row["read_bytes"], row["writes"], row["write_bytes"]) == moved[way]
    row = tf.processes(events).collect().row(0, named=True)
    assert (row["read_bytes"], row["write_bytes"]) == (moved[way][1], moved[way][3])


def test_calls_are_asked_for_by_what_they_do():
    assert set(_core.syscalls_that("execs")) == {"execve", "execveat"}
    with pytest.raises(ValueError, match='no class of system calls: "reeds"'):
        _core.syscalls_that("reeds")


def test_transfers_are_accesses_of_both_files(make_events):
    both = {"path2": "/srv/out", "file2": 9, "ofd2": 2, "offset2": 70, "access2": "forward"}
    rows = [
        event(
            name="copy_file_range", ret=100, offset=0, access="first", offset_known="exact", **both
        )
    ]
    events = make_events(rows)
    source = tf.accesses(events, DATA).collect().row(0, named=True)
    target = tf.accesses(events, "/srv/out").collect().row(0, named=True)
    assert (source["way"], source["offset"], source["access"], source["ofd"]) == (
        *("read", 0, "first"),
        1,
    )
    assert (target["way"], target["offset"], target["access"], target["ofd"]) == (
        *("write", 70, "forward"),
        2,
    )
    inside = make_events([event(name="copy_file_range", ret=5, **(both | {"file2": 7}))])
    assert tf.accesses(inside, 7).collect()["way"].to_list() == ["read", "write"]
    assert of_files(events, [7, 9]).collect().height == 2


def test_a_file_keeps_its_rows_when_it_is_renamed(make_events):
    own = _core.file_id(DATA.encode())
    rows = [event(ret=1, file=own), event(ret=2, file=own, path="/srv/new"), event(ret=3, file=5)]
    table = tf.accesses(make_events(rows), DATA).collect()
    assert table["bytes"].to_list() == [1, 2, 3]


def test_nothing_is_read_before_the_table_is_collected(unreadable):
    rows = tf.accesses(unreadable, "/x")
    assert rows.collect_schema() == pl.Schema(SCHEMA)
    with pytest.raises(Exception, match="read too early"):
        rows.collect()


def test_the_command(run, log, tmp_path):
    images(log)
    path = log.write(tmp_path)
    ran = run("files", path, "--explain", "long-header.jpg")
    assert (ran.returncode, ran.stderr) == (0, "")
    table, words = ran.stdout.split("\n\n")
    assert len(table.splitlines()) == 7
    assert table.splitlines()[4].split()[4:] == [
        *["read", "backward", "0", "-12,288", "65,536", "65,536", "0.010", "29"]
    ]
    assert words.startswith(
        "/srv/long-header.jpg: 6 accesses\n  header-probe: 3 calls, 12,288 bytes"
    )
    assert "\n  eof-probe: 1 call, 8,192 bytes requested, 10.0 µs: reads that" in words


def test_other_formats_have_the_rows(run, log, tmp_path):
    images(log)
    path = log.write(tmp_path)
    ran = run("files", path, "--explain", "/srv/small.jpg", "--format", "ndjson")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [row["requested"] for row in rows] == [4096, 61_440, 28_672]
    assert list(rows[0]) == list(SCHEMA)[1:]
    events = tmp_path / "events.parquet"
    run("parse", path, "-o", events)
    for source in (events, "-"):
        given = {"input": path.read_text()} if source == "-" else {}
        again = run("files", source, "--explain", "*small*", "--format", "ndjson", **given)
        assert again.stdout == ran.stdout


def test_paths_that_are_several_or_none(run, log, tmp_path):
    images(log)
    path = log.write(tmp_path)
    ran = run("files", path, "--explain", ".jpg")
    assert ran.returncode == 2
    assert "--explain .jpg: 3 files match" in ran.stderr
    assert "/srv/larger.jpg, /srv/long-header.jpg, /srv/small.jpg" in ran.stderr
    ran = run("files", path, "--explain", "smal.jpg")
    assert ran.returncode == 2
    assert "error: --explain smal.jpg: no opened file has this path" in ran.stderr
    assert "hint: similar paths: /srv/small.jpg" in ran.stderr
    ran = run("files", path, "--explain", "nothing like it")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "hint: tracefast files lists the paths" in ran.stderr
    ran = run("files", path, "--explain", "small.jpg", "--type", "regular")
    assert ran.returncode == 2


def test_a_whole_path_is_not_a_pattern(run, log, tmp_path):
    for name in ("x[1].jpg", "x1.jpg"):
        log(f'openat(AT_FDCWD, "/srv/{name}", O_RDONLY) = 3')
        log.read(10, len(name))
        log("close(3) = 0")
    path = log.write(tmp_path)
    for name in ("x[1].jpg", "x1.jpg"):
        ran = run("files", path, "--explain", f"/srv/{name}", "--format", "ndjson")
        assert json.loads(ran.stdout)["bytes"] == len(name)


def test_one_is_not_several(run, log, tmp_path):
    log.opened("/srv/empty.bin", 0)
    log.read(1, 0)
    ran = run("files", log.write(tmp_path), "--explain", "empty.bin")
    assert "eof-probe: 1 call, 1 byte requested" in ran.stdout
