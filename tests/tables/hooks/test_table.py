"""The table of hook points: names of tracepoints, rates, functions, and what a kernel lacks."""

from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core

KERNELS = DATA / "hooks"
DEMO = DATA / "demo.strace.zst"
LOG = """\
7 1700000000.000000 fstat(3, {st_mode=S_IFREG, st_size=5}) = 0 <0.000010>
7 1700000000.500000 read(3, "x", 4096) = 1 <0.000010>
7 1700000001.000000 read(3, "", 4096) = 0 <0.000010>
7 1700000001.500000 stat64("/x", 0x7f) = -1 ENOENT (No such file or directory) <0.000010>
7 1700000001.600000 init_module(0x7f, 3, "") = 0 <0.000010>
7 1700000002.000000 exit_group(0) = ?
7 1700000002.000000 +++ exited with 0 +++
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.strace"
    path.write_text(LOG)
    return path


def rows(log, kernel, **options):
    table = tf.hooks(tf.scan(log), KERNELS / kernel, **options).collect()
    return {row["name"]: row for row in table.rows(named=True)}


def test_names_of_tracepoints_differ_from_those_of_calls(log):
    found = rows(log, "linux-6.18")
    assert found["fstat"]["tracepoint_enter"] == "syscalls:sys_enter_newfstat"
    assert found["fstat"]["tracepoint_exit"] == "syscalls:sys_exit_newfstat"
    assert found["fstat"]["wrapper"] == "__x64_sys_newfstat"
    assert found["read"]["available"] == "yes"


def test_calls_that_do_not_return_have_no_exit(log):
    row = rows(log, "linux-6.18")["exit_group"]
    assert (row["available"], row["tracepoint_exit"]) == ("yes", None)
    assert row["why"] == "no exit: it does not return"


def test_what_a_kernel_lacks_is_said(log):
    found = rows(log, "linux-6.18")
    for name, part in (("stat64", "32-bit"), ("init_module", "CONFIG_MODULES")):
        row = found[name]
        assert (row["available"], row["tracepoint_enter"], row["wrapper"]) == ("no", None, None)
        assert part in row["why"]
    # Debian's kernel has modules.
    assert rows(log, "linux-6.1")["init_module"]["available"] == "yes"


def test_rate_counts_entries_and_exits_per_second_of_the_log(log):
    found = rows(log, "linux-6.18")
    # Two seconds; exit_group has no exit.
    assert found["read"]["events_per_s"] == pytest.approx(2)
    assert found["exit_group"]["events_per_s"] == pytest.approx(0.5)


def test_a_log_without_times_has_no_rate(tmp_path):
    path = tmp_path / "app.strace"
    path.write_text('read(3, "x", 4096) = 1\nread(3, "", 4096) = 0\n')
    (row,) = rows(path, "linux-6.18").values()
    assert (row["calls"], row["events_per_s"]) == (2, None)


def test_functions_are_those_of_the_kernel(log):
    def names(kernel):
        return [each["name"] for each in rows(log, kernel)["read"]["functions"]]

    assert "pipe_read" in names("linux-6.1")
    assert "anon_pipe_read" not in names("linux-6.1")
    assert "anon_pipe_read" in names("linux-6.18")
    assert "pipe_read" not in names("linux-6.18")
    assert "anon_pipe_read (since 6.18" in rows(log, "linux-6.1")["read"]["why"]


def test_probes_follow_from_what_the_kernel_has(log, tmp_path):
    found = rows(log, "linux-6.1")["read"]["functions"]
    assert {each["probe"] for each in found} == {"kprobe", "kretprobe"}
    folder = tmp_path / "kernel"
    folder.mkdir()
    (folder / "kallsyms").write_text((KERNELS / "linux-6.1" / "kallsyms").read_text())
    (folder / "vmlinux").touch()  # Its own types, as in /sys/kernel/btf.
    functions = tf.hooks(tf.scan(log), folder).collect()["functions"].explode()
    assert set(functions.struct.field("probe").drop_nulls()) == {"fentry", "fexit"}


def test_without_a_list_of_tracepoints_nothing_is_sure(log, tmp_path):
    folder = tmp_path / "kernel"
    folder.mkdir()
    (folder / "available_filter_functions").write_text("vfs_read\next4_sync_file [ext4]\n")
    table = tf.hooks(tf.scan(log), folder).collect()
    row = table.filter(name="read").row(0, named=True)
    assert row["available"] == "unknown"
    assert row["tracepoint_enter"] == "syscalls:sys_enter_read"
    assert "available_events" in row["why"]
    assert [each["name"] for each in row["functions"]] == ["vfs_read", "vfs_read"]


def test_a_kernel_without_tracepoints_of_calls_is_named_as_such(log, tmp_path):
    folder = tmp_path / "kernel"
    folder.mkdir()
    (folder / "available_events").write_text("sched:sched_switch\n")
    row = tf.hooks(tf.scan(log), folder).collect().filter(name="read").row(0, named=True)
    assert row["available"] == "no"
    assert "CONFIG_FTRACE_SYSCALLS" in row["why"]


def test_variants_of_a_compiler_are_named(tmp_path):
    path = tmp_path / "app.strace"
    path.write_text('7 1700000000.000000 readlink("/x", "y", 9) = 1 <0.000010>\n')
    row = rows(path, "linux-6.18")["readlink"]
    assert "do_readlinkat.part.0" in row["why"]
    assert "do_readlinkat" not in [each["name"] for each in row["functions"]]


def test_logs_and_parquet_and_filtered_rows_answer_alike(tmp_path):
    parquet = tmp_path / "events.parquet"
    tf.parse(DEMO, parquet)
    kernel = KERNELS / "linux-6.18"
    expected = tf.hooks(tf.scan(DEMO), kernel).collect().drop("source")
    assert tf.hooks(tf.scan(parquet), kernel).collect().drop("source").equals(expected)
    part = tf.scan(parquet).filter(pl.col("name") == "read")
    found = tf.hooks(part, kernel).collect()
    assert found["calls"].to_list() == expected.filter(name="read")["calls"].to_list()


def test_counts_are_those_of_syscalls():
    columns = ["source", "name", "calls", "errors", "total_ns"]
    found = tf.hooks(tf.scan(DEMO), KERNELS / "linux-6.18").select(columns).collect()
    assert found.equals(tf.syscalls(tf.scan(DEMO)).select(columns).collect())


def logs():
    """Give the logs among the data of tests."""
    kinds = (".strace", ".ftrace", ".log")
    return [
        path
        for path in sorted(DATA.rglob("*"))
        if path.is_file() and any(kind in path.name for kind in kinds)
    ]


def check(names, kernel):
    """Every call has a tracepoint that is in the kernel's own list, or a reason."""
    listed = set((kernel / "available_events").read_text().split())
    events = pl.DataFrame(
        {"name": names, "kind": ["syscall"] * len(names)},
    ).select(
        *(
            pl.col(name) if name in ("name", "kind") else pl.lit(None, dtype).alias(name)
            for name, dtype in pl.Schema(_core.Syscalls(span=True).needed).items()
        )
    )
    table = tf.hooks(events, kernel).collect()
    assert set(table["name"]) == set(names)
    for row in table.rows(named=True):
        tracepoints = {row["tracepoint_enter"], row["tracepoint_exit"]} - {None}
        assert tracepoints <= listed, row
        if row["available"] == "yes":
            assert row["tracepoint_enter"]
        assert row["why"] or row["tracepoint_exit"], row
        assert not row["related"] or set(row["related"]) <= listed


def test_every_call_of_the_logs_has_an_existing_tracepoint_or_a_reason():
    names = set()
    for log in logs():
        try:
            events = tf.scan(log).filter(pl.col("kind") == "syscall")
            names |= set(events.select(pl.col("name").unique()).collect()["name"])
        except tf.Error:
            continue  # Not a log.
    assert len(names) > 150
    check(sorted(names - {None}), KERNELS / "linux-6.18")


def test_every_call_that_is_known_has_an_existing_tracepoint_or_a_reason():
    every = {
        name
        for does in ("reads", "writes", "opens", "waits", "stats", "forks", "maps")
        for name in _core.syscalls_that(does)
    }
    check(sorted(every), KERNELS / "linux-6.18")
