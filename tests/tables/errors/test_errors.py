"""Failed calls: each is in one row, alike ones and the searches of a program in the same row."""

import polars as pl
import pytest

import tracefast as tf
from support.logs import lines_of
from support.paths import DATA
from tracefast.analysis.errors.frame import SCHEMA

ERRORS = DATA / "errors"
LOGS = sorted(
    path
    for pattern in ("*.strace", "*.strace.zst", "golden/strace*.log", "*.ftrace", "*.ftrace.zst")
    for path in DATA.rglob(pattern)
)
ABSENT = " = -1 ENOENT (No such file or directory)"


def errors_of(path, **options) -> pl.DataFrame:
    return tf.errors(tf.scan(path, **options)).collect()


@pytest.fixture
def made(tmp_path):
    """Make the table of a log of calls of one task."""

    def make(*calls: str) -> pl.DataFrame:
        log = tmp_path / "made.strace"
        log.write_text(lines_of(calls))
        return errors_of(log)

    return make


@pytest.mark.parametrize("log", LOGS, ids=lambda path: str(path.relative_to(DATA)))
def test_counts_are_those_of_syscalls(log):
    events = tf.scan(log)
    by = ["source", "name"]
    counted = tf.errors(events).collect().group_by(by).agg(pl.col("count").sum()).sort(by)
    calls = tf.syscalls(events).filter(pl.col("errors") > 0).collect().sort(by)
    assert counted.rows() == calls.select(*by, "errors").rows()


@pytest.mark.parametrize("log", LOGS, ids=lambda path: str(path.relative_to(DATA)))
def test_programs_and_shares_are_those_of_syscalls(log):
    events = tf.scan(log)
    by = ["source", "name", "image"]
    failed = (
        tf.errors(events)
        .group_by(by)
        .agg(pl.col("count").sum(), pl.col("share").sum().round(6))
        .sort(by)
        .collect()
    )
    calls = tf.syscalls(events, by="process").group_by(by).agg(pl.col("calls", "errors").sum())
    calls = calls.filter(pl.col("errors") > 0).with_columns(
        (pl.col("errors") / pl.col("calls")).round(6).alias("share")
    )
    assert failed.rows() == calls.select(*by, "errors", "share").sort(by).collect().rows()


def test_a_search_along_path():
    table = errors_of(ERRORS / "path.strace.zst").filter(pl.col("search") == "PATH")
    assert table.select("errno", "name", "image", "count").rows() == [
        ("ENOENT", "newfstatat", "/bin/sh", 4)
    ]
    assert table["wanted"].to_list() == [["uname", "no-such-command"]]
    assert table["folders"].to_list() == [["/usr/local/bin", "/usr/bin", "/bin"]]


def test_a_search_for_a_module():
    table = errors_of(ERRORS / "import.strace.zst").filter(pl.col("search") == "import")
    stats, opens = table.rows(named=True)
    assert (stats["name"], opens["name"]) == ("newfstatat", "openat")
    # Its package is looked for as an extension module first: importlib, FileFinder.find_spec.
    assert "tool" in stats["wanted"]
    assert "/srv/search/second" in stats["folders"]
    # No cache is written with -B, so none is found.
    assert {"tool", "part"} <= set(opens["wanted"])
    assert {"/srv/search/second", "/srv/search/second/tool"} <= set(opens["folders"])


def test_a_search_for_a_header():
    table = errors_of(ERRORS / "include.strace.zst").filter(pl.col("search") == "include")
    opens = table.filter(pl.col("name") == "openat").row(0, named=True)
    assert "part.h" in opens["wanted"]
    assert "/srv/search/one" in opens["folders"]
    assert opens["image"].endswith("/cc1")


def test_the_prefixes_of_a_path():
    table = errors_of(ERRORS / "prefixes.strace.zst").filter(pl.col("search") == "prefixes")
    assert table.select("errno", "name", "count").rows() == [("EINVAL", "readlink", 3)]
    assert table["wanted"].to_list() == [["/srv/search/a/b/c"]]
    assert table["folders"].to_list() == [["/srv/search", "/srv/search/a", "/srv/search/a/b"]]


@pytest.mark.parametrize(
    ("path", "search"),
    [
        ("/usr/lib/libm.so.6", "ld.so"),
        ("/usr/lib/glibc-hwcaps/x86-64-v3/libm.so.6", "ld.so"),
        ("/etc/ld.so.preload", "ld.so"),
        ("/usr/share/locale/de/LC_MESSAGES/app.mo", "locale"),
        ("/usr/lib/locale/locale-archive", "locale"),
        ("/srv/app/__init__.cpython-311-x86_64-linux-gnu.so", "import"),
        ("/srv/include/sys/a", "include"),
        ("/srv/data/libre.txt", None),
        ("/srv/data/robin", None),
        ("/srv/so/more", None),
    ],
)
def test_searches_by_the_names_of_files(made, path, search):
    table = made(f'openat(AT_FDCWD, "{path}", O_RDONLY){ABSENT}')
    assert table["search"].to_list() == [search]


def test_a_file_in_every_folder_above(made):
    folders = ("/srv/app/src", "/srv/app", "/srv", "")
    table = made(*(f'access("{folder}/.git", F_OK){ABSENT}' for folder in folders))
    assert table.select("search", "pattern", "count").rows() == [("prefixes", "*/.git", 4)]


def test_a_file_in_every_folder_of_a_tree_is_no_search(made):
    """What git does for .gitignore: it goes through the tree, and asks in each folder."""
    tree = [f"/srv/app/{a}/{b}" for a in "abc" for b in "xyz"]
    folders = ["/srv/app", *(f"/srv/app/{a}" for a in "abc"), *tree]
    table = made(
        *(f'openat(AT_FDCWD, "{of}/.gitignore", O_RDONLY){ABSENT}' for of in folders),
        # A search: it goes up to the root, or has hardly any branches.
        *(f'access("{of}/.git", F_OK){ABSENT}' for of in [*tree, *folders[:4], "/srv", ""]),
        *(f'stat("/srv/app{of}/Makefile", 0x1){ABSENT}' for of in ("/a/x", "/a", "")),
    )
    searches = dict(table.group_by("name").agg(pl.col("search").unique()).rows())
    assert searches == {"openat": [None], "access": ["prefixes"], "stat": ["prefixes"]}


def test_only_lookups_are_parts_of_a_search(made):
    table = made(
        f'unlink("/srv/a.pyc"){ABSENT}',
        'openat(AT_FDCWD, "/srv/a.py", O_RDONLY) = -1 EMFILE (Too many open files)',
        'mkdir("/srv/__pycache__", 0777) = -1 EEXIST (File exists)',
    )
    assert table["search"].to_list() == [None, None, None]


def test_a_linker_does_not_look_for_libraries_to_load(made):
    table = made(
        'execve("/usr/bin/ld", ["ld"], 0x1 /* 1 var */) = 0',
        f'openat(AT_FDCWD, "/usr/lib/libc.so", O_RDONLY){ABSENT}',
    )
    assert table["search"].to_list() == [None]


def test_paths_that_are_alike_share_a_row(made):
    table = made(
        *(f'openat(AT_FDCWD, "/srv/part-{n}.bin", O_RDONLY){ABSENT}' for n in range(3)),
        f'openat(AT_FDCWD, "/srv/libx.7.bin", O_RDONLY){ABSENT}',
        f'openat(AT_FDCWD, "/srv/part-0.bin", O_RDONLY){ABSENT}',
    )
    assert table.select("pattern", "count", "first_line", "total_ns").rows() == [
        ("/srv/part-*.bin", 4, 1, 40_000),
        ("/srv/libx.7.bin", 1, 4, 10_000),
    ]


def test_restarts_are_no_errors(made):
    table = made(
        "read(0, 0x1, 1) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)",
        "rt_sigreturn({mask=[]}) = -1 EINTR (Interrupted system call)",
        'read(9, "", 1) = -1 EBADF (Bad file descriptor)',
    )
    assert table.select("errno", "name", "pattern", "share").rows() == [
        ("EBADF", "read", None, 0.5)
    ]


def test_a_log_without_errors(pth):
    table = errors_of(pth).filter(pl.col("errno") == "ENOENT")
    assert dict(table.schema) == dict(SCHEMA)
    assert table.is_empty()


def test_logs_have_rows_of_their_own(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(lines_of([f'access("/srv/{name}", F_OK){ABSENT}']))
    table = errors_of([tmp_path / "a", tmp_path / "b"]).sort("source")
    assert table["pattern"].to_list() == ["/srv/a", "/srv/b"]
    assert table["share"].to_list() == [1.0, 1.0]


def test_rows_that_were_filtered_and_parquet_give_the_same(tmp_path):
    log = DATA / "flow" / "gcc.strace.zst"
    tf.parse(log, tmp_path / "gcc.parquet")
    by = ["image", "errno", "name", "first_line"]
    tables = [
        tf.errors(events).drop("source").sort(by).collect()
        for events in (
            tf.scan(log),
            tf.scan(tmp_path / "gcc.parquet"),
            tf.scan(log).filter(pl.col("line") > 0),
            tf.scan(tmp_path / "gcc.parquet").collect(),
        )
    ]
    assert all(table.equals(tables[0]) for table in tables)


def test_no_call_is_lost_where_there_are_many_paths(tmp_path):
    log = tmp_path / "many.strace"
    paths = (f"/srv/{n % 3}/{n}" for n in range(140_000))
    log.write_text("".join(f'5 access("{path}", F_OK){ABSENT}\n' for path in paths))
    table = errors_of(log)
    assert table["count"].sum() == 140_000
    assert table.height < 10
