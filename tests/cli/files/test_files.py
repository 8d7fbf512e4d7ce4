"""The text of `tracefast files`: the verdict, what is below it, options that contradict."""

import json
import re
from subprocess import PIPE, STDOUT

import polars as pl
import pytest

import tracefast as tf
from support.logs import lines_of
from support.paths import DATA
from tracefast.cli.screen.files.total import note_on_assumed, total_and_notes
from tracefast.cli.screen.files.usage_lines import access_pattern, usage_lines
from tracefast.cli.text.units import factor, share
from tracefast.quantities import parse_size

EMPTY = {
    **dict.fromkeys(("read_first", "read_consecutive", "read_forward", "read_backward"), 0),
    **dict.fromkeys(("reads", "read_unknown", "read_eof"), 0),
    "type": "regular",
    "read_random_share": None,
}


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"read_random_share": 0.0, "read_consecutive": 3}, "in sequence"),
        # 1 of 1,000 is random: not quite all are sequential.
        ({"read_random_share": 0.001, "read_consecutive": 1000}, "in sequence 99 %"),
        ({"read_random_share": 0.2, "read_consecutive": 10}, "in sequence 80 %"),
        ({"read_random_share": 0.21, "read_consecutive": 10}, "partly random 21 %"),
        ({"read_random_share": 0.5, "read_backward": 10}, "partly random 50 %"),
        ({"read_random_share": 0.51, "read_backward": 10}, "random 51 %"),
        ({"read_random_share": 1.0, "read_backward": 10}, "random 100 %"),
        ({"read_first": 4, "reads": 8, "read_eof": 4}, "once"),
        ({"reads": 2, "read_eof": 2}, "end"),
        ({"reads": 5, "read_unknown": 3, "read_first": 1, "read_eof": 1}, "unknown"),
        # What is known of more than half of them counts.
        (
            {"read_unknown": 2, "read_first": 1, "read_forward": 2, "read_random_share": 1.0},
            "random 100 %",
        ),
        ({"type": "pipe", "reads": 5, "read_unknown": 5}, "pipe"),
        ({"type": "socket", "reads": 5, "read_unknown": 5}, "socket"),
        ({"type": None, "read_first": 1}, "once"),
        ({}, None),
    ],
)
def test_how(row, word):
    assert access_pattern(EMPTY | row, "read") == word


def lines(text: str) -> str:
    """Give every line the start and the time that strace writes."""
    return lines_of(line.strip() for line in text.strip().splitlines())


LOG = """
    openat(AT_FDCWD, "/srv/both.bin", O_RDWR) = 3
    newfstatat(3, "", {st_mode=S_IFREG|0644, st_size=2000, ...}, AT_EMPTY_PATH) = 0
    read(3, "x"..., 100) = 100
    read(3, "x"..., 100) = 100
    pread64(3, "x"..., 100, 0) = 100
    pwrite64(3, "x"..., 50, 1000) = 50
    write(3, "x"..., 8) = -1 ENOSPC (No space left on device)
    close(3) = 0
    openat(AT_FDCWD, "/srv/model.bin", O_RDONLY) = 3
    read(3, "x"..., 8) = 8
    mmap(NULL, 1048576, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f0000000000
    openat(AT_FDCWD, "/srv/library.so", O_RDONLY) = 4
    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 4, 0) = 0x7f0000200000
    openat(AT_FDCWD, "/srv/missing", O_RDONLY) = -1 ENOENT (No such file or directory)
    newfstatat(AT_FDCWD, "/srv/seen", {st_mode=S_IFREG|0644, st_size=7, ...}, 0) = 0
    pipe2([5, 6], 0) = 0
    read(5, "x"..., 10) = 10
    io_uring_setup(8, {flags=0, sq_thread_cpu=0, sq_thread_idle=0}) = 7
    io_uring_enter(7, 3, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 3
    io_uring_enter(7, 2, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 2
"""


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "app.strace"
    path.write_text(lines(LOG))
    return path


def test_a_line_for_reads_and_one_for_writes_and_one_for_what_is_not_either(log):
    found = usage_lines(tf.files(tf.scan(log)).collect())
    rows = list(found.records(*(name for name in found.names if name not in ("source", "op_ns"))))
    both, model, library = "/srv/both.bin", "/srv/model.bin", "/srv/library.so"
    # 100 + 100 + 100 read, the first 100 twice: 300 / 200; 50 written once.
    assert [row for row in rows if row[-1] == both] == [
        ("read", 300, 3, 0, "partly random 50 %", 1.5, 0.1, both),
        ("write", 50, 1, 1, "once", 1.0, 0.025, both),
    ]
    assert next(row for row in rows if row[-1] == model)[:5] == ("read", 8, 1, 0, "whole +map")
    nothing = (None, None, None)
    assert ("map", 4096, 1, 0, *nothing, library) in rows
    assert ("open", None, 0, 1, *nothing, "/srv/missing") in rows
    assert ("stat", None, 1, 0, *nothing, "/srv/seen") in rows


def test_what_is_below_the_table(run, log):
    ran = run("files", log)
    assert ran.stderr.splitlines() == [
        # both, model, library, seen; times are 10 µs a call, failed ones included.
        (
            "total: 4 files (1 more could not be opened), 308 B in 4 reads (40.0 µs),"
            " 50 B in 1 write (20.0 µs)"
        ),
        "       1 anonymous inode, 1 pipe, 10 B in 1 read (10.0 µs)",
        "note: mmap: 2 files mapped, 1.0 MiB; the log does not show reads through mappings",
        "note: io_uring: 5 submissions; the log does not show what they read or wrote",
    ]
    assert "total" not in ran.stdout
    # Output for machines has no notes for people.
    assert run("files", log, "--format", "csv").stderr == ""
    # It is about the rows that were asked for, those left out by --top included.
    assert run("files", log, "--match", "*.bin", "--top", 1).stderr.startswith("total: 2 files, ")


def test_the_table_says_what_assumed_offsets_are_based_on(make_events):
    one = {"kind": "syscall", "name": "read", "file": 1, "path": "/a", "ret": 5, "bytes": 5}
    one |= {"file_type": "regular", "offset_known": "assumed", "requested": 5, "ofd": 1}
    reads = [one | {"offset": 0, "access": "first"}, one | {"offset": 5, "access": "consecutive"}]
    table = tf.files(make_events(reads)).collect()
    assert table.select("read_consecutive", "read_unknown", "offset_known").row(0) == (
        1,
        0,
        "assumed",
    )
    assert total_and_notes(table)[1:] == []
    assert note_on_assumed(table) == [
        (
            "note: 1 file whose offsets are assumed: not all calls that move positions were traced;"
            " record with -f and -o, and without -e or with the filter of docs/files.md, or insist"
            " with --assume-complete"
        )
    ]


def test_assumed_offsets_are_noted_once_above_the_table(run, tmp_path):
    log = tmp_path / "dd.strace"
    # Attached to a program that reads its input, with -e trace=read,write.
    reads = 'read(0</srv/in>, "x"..., 512) = 512\nwrite(1</srv/out>, "x"..., 512) = 512\n'
    log.write_text(lines(reads * 20))
    table = tf.files(tf.scan(log)).collect()
    assert table["offset_known"].to_list() == ["assumed-relative"] * 2
    ran = run("files", log, capture_output=False, stdout=PIPE, stderr=STDOUT)
    first, *rest = ran.stdout.splitlines()
    assert first.startswith("note: 2 files whose offsets are assumed: ")
    assert not any("assumed" in line for line in rest)
    assert sum("in sequence" in line for line in rest) == 2
    assert any("count from the first access" in line for line in rest)


def test_offsets_that_the_log_does_not_show_are_counted(make_events):
    one = {"kind": "syscall", "name": "read", "file": 1, "path": "/a", "ret": 5, "bytes": 5}
    one |= {"file_type": "regular", "offset_known": "ambiguous", "requested": 5, "ofd": 1}
    other = one | {"file": 2, "ofd": 2, "path": None, "offset_known": "relative", "offset": 0}
    events = make_events([one, one, other | {"access": "first"}])
    assert total_and_notes(tf.files(events).collect())[1:] == [
        (
            "note: 2 reads of 1 file, whose offset the log does not show: in no access class, and"
            " not in covered"
        ),
        (
            "note: 1 file whose offsets count from the first access: open before the log started,"
            " at an unknown position"
        ),
        (
            "note: 1 file without a name in the log: --by open separates them, docs/files.md says"
            " how to record names"
        ),
    ]


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_lines_fit_the_terminal(terminal, spawn_strace, columns):
    for options in ([], ["--by", "process"], ["--scope", "file"], ["--type", "regular"]):
        text = terminal("files", spawn_strace, *options, columns=columns)
        assert max(map(len, text.splitlines())) <= columns, options
        assert "…" in text or columns > 80


def test_all_columns_have_whole_paths(terminal, spawn_strace):
    text = terminal("files", spawn_strace, "--wide", "--top", 0, columns=80)
    assert "…" not in text
    for path in tf.files(tf.scan(spawn_strace)).collect()["path"]:
        assert path in text


def test_the_column_that_is_sorted_by_is_shown(run, spawn_strace):
    header, first = run("files", spawn_strace, "--sort", "read_jump_p90").stdout.splitlines()[:2]
    assert "read jump p90" in header
    assert "-" not in first.split()[-2]
    assert "read bytes" not in run("files", spawn_strace, "--sort", "read_bytes").stdout


def ndjson(run, *arguments) -> list[dict[str, object]]:
    ran = run("files", *arguments, "--format", "ndjson")
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def plain(table: pl.LazyFrame) -> list[dict[str, object]]:
    times = pl.col(pl.Datetime).dt.to_string("%Y-%m-%dT%H:%M:%S%.9f")
    return table.drop("source").with_columns(times).collect().to_dicts()


@pytest.mark.parametrize("scope", ["stream", "file"])
@pytest.mark.parametrize("by", [None, "process", "open"])
def test_the_options_are_those_of_the_function(run, spawn_strace, scope, by):
    options = ["--scope", scope, "--near", "4K", *(["--by", by] if by else [])]
    expected = tf.files(tf.scan(spawn_strace), scope=scope, by=by, near=4096)
    assert ndjson(run, spawn_strace, *options) == plain(expected)


def test_darshan_is_that_of_the_function(run, spawn_strace):
    rows = ndjson(run, spawn_strace, "--darshan")
    assert rows == plain(tf.files(tf.scan(spawn_strace), darshan=True))
    names = ndjson(run, spawn_strace, "--darshan", "--match", "*.bin", "--sort", "POSIX_OPENS")
    assert [row["path"] for row in names] == ["/srv/spawn/data.bin"]
    header = run("files", spawn_strace, "--darshan").stdout.splitlines()[0]
    assert header.split()[:4] == ["OPENS", "READS", "SEQ_READS", "CONSEC_READS"]


def test_what_is_near_changes_what_is_random(run, tmp_path):
    # Two jumps forward, of 100 and of 5,000 bytes.
    log = tmp_path / "app.strace"
    reads = [f'pread64(3, "x"..., 10, {offset}) = 10' for offset in (0, 110, 5120)]
    log.write_text(lines("\n".join(['openat(AT_FDCWD, "/a", O_RDONLY) = 3', *reads])))
    for near, share_ in ((None, 0.0), ("5000", 0.0), ("4999", 0.5), ("100", 0.5), ("99", 1.0)):
        (row,) = ndjson(run, log, *(["--near", near] if near else []))
        assert row["read_random_share"] == share_, near


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--darshan", "--scope", "file"], ["--darshan and --scope", "leave out --scope"]),
        (["--darshan", "--by", "open", "--near", "1"], ["--by, --near"]),
        (["--darshan", "--type", "regular"], ["--darshan and --type", "one record per path"]),
        (["--explain", "x", "--darshan"], ["--explain and --darshan"]),
        (["--explain", "x", "--match", "y"], ["--explain and --match"]),
        (["--page-cache", "--scope", "stream"], ["--page-cache and --scope"]),
        (["--explain", "x", "--page-cache"], ["--explain and --page-cache"]),
        (["--near", "much"], ["--near much", "64K"]),
        (["--near", "-1"], ["--near -1"]),
        (["--sort", "POSIX_READS"], ["--sort POSIX_READS", "tracefast schema files"]),
        (["--darshan", "--sort", "read_bytes"], ["--sort read_bytes", "tracefast schema darshan"]),
        (["--by", "ofd"], ["ofd", "process"]),
    ],
)
def test_options_that_contradict_are_refused(run, pth, options, words):
    ran = run("files", pth, *options)
    assert ran.returncode == 2
    assert ran.stdout == ""
    for word in words:
        assert word in ran.stderr


def test_rows_of_several_logs_keep_their_source(run, pth, log):
    rows = ndjson(run, pth, log, "--by", "open", "--type", "regular", "--top", 2)
    assert [row["source"] for row in rows] == [str(pth), str(log)]
    assert run("files", pth, log, "--by", "process").stdout.split()[:3] == ["source", "pid", "op"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("131072", 131_072), ("128K", 131_072), ("128k", 131_072), ("128KiB", 131_072)],
        *[("128 KiB", 131_072), ("128KB", 128_000), ("1.5M", 1_572_864), ("0", 0), ("7B", 7)],
        *[("1G", 2**30), ("2TiB", 2**41), ("9223372036854775807", 2**63 - 1)],
    ],
)
def test_sizes(text, number):
    assert parse_size(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "K", "-1", "1.5", "0.3K", "1Ki", "1 2", "1e3", "٣", "9223372036854775808", "9" * 400],
)
def test_text_that_is_not_a_size(text):
    with pytest.raises(ValueError, match="not a byte count"):
        parse_size(text)


def test_shares_and_factors():
    assert [share(part) for part in (0, 1, 0.29, 0.57, 0.099999)] == [
        *["0 %", "100 %", "29 %", "57 %", "9.9 %"]
    ]
    assert factor(1.0000001) == "1.00x"


MISSING = """
100 1700000000.000000 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory) <0.000010>
100 1700000000.000100 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory) <0.000010>
100 1700000000.000200 access("/etc/ld.so.preload", R_OK) = -1 ENOENT (No such file or directory) <0.000010>
100 1700000000.000300 readlink("/srv/link", "target", 4096) = 6 <0.000010>
100 1700000000.000400 readlink("/srv/link/x", 0x7ffd, 4096) = -1 EINVAL (Invalid argument) <0.000010>
100 1700000000.000500 getxattr("/srv/plain", "security.selinux", 0x7ffd, 255) = -1 ENODATA (No data available) <0.000010>
100 1700000000.000600 statfs("/srv/plain", {f_type=EXT2_SUPER_MAGIC}) = 0 <0.000010>
100 1700000000.000700 openat(AT_FDCWD, "/srv/none", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000010>
100 1700000000.000800 unlink("/srv/other") = -1 ENOENT (No such file or directory) <0.000010>
""".lstrip()  # noqa: E501


def test_looks_that_fail_are_failures(run, tmp_path):
    log = tmp_path / "missing.strace"
    log.write_text(MISSING)
    ran = run("files", log, "--format", "ndjson")
    rows = {row["path"]: row for row in map(json.loads, ran.stdout.splitlines())}
    counts = ("stats", "stats_failed", "opens", "opens_failed")
    assert {path: tuple(row[name] for name in counts) for path, row in rows.items()} == {
        "/etc/ld.so.preload": (3, 3, 0, 0),
        "/srv/link": (1, 0, 0, 0),
        "/srv/link/x": (1, 1, 0, 0),
        "/srv/plain": (2, 1, 0, 0),
        "/srv/none": (0, 0, 0, 1),
        "/srv/other": (0, 0, 0, 0),
    }
    ran = run("files", log)
    lines = {line.split()[-1]: line.split()[:4] for line in ran.stdout.splitlines()}
    assert lines["/etc/ld.so.preload"] == ["stat", "-", "0", "3"]
    assert lines["/srv/link"] == ["stat", "-", "1", "0"]
    assert lines["/srv/plain"] == ["stat", "-", "1", "1"]
    assert lines["/srv/none"] == ["open", "-", "0", "1"]
    # How often other calls failed is in no column.
    assert lines["/srv/other"] == ["other", "-", "-", "-"]
    # What never existed is no file.
    total = "total: 2 files (1 more could not be opened, 2 more could not be looked at, 1 more only"
    assert total in ran.stderr


def test_the_total_leaves_no_row_out(run):
    rows = tf.files(tf.scan(DATA / "demo.strace.zst")).collect().height
    total, others = run("files", DATA / "demo.strace.zst").stderr.splitlines()[:2]
    said = re.findall(r"([\d,]+) (?:files?|more) ", total)
    streams = re.findall(r"(\d+) (?:anonymous|device|pipe|socket|fifo)", others)
    assert sum(int(number.replace(",", "")) for number in [*said, *streams]) == rows
