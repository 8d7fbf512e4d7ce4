"""One program seen by strace, and by ftrace by name and by number: the same rows.

What differs is what a tracer adds or cannot see, and the tests say all of it.
"""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

CALLS = DATA / "calls"
# Results that are addresses or ids, which differ from run to run.
OWN = ["arch_prctl", "brk", "mmap", "mremap", "getpid", "getppid", "gettid", "set_tid_address"]
MAKES_TASKS = ["clone", "clone3", "fork", "vfork"]
TRANSFERS = ["read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev"]


def rows(name: str) -> pl.DataFrame:
    """The system calls of a log, each task's in order, tasks by age."""
    frame = pl.DataFrame(tf.read(CALLS / name)).filter(pl.col("kind") == "syscall")
    return frame.select(
        pl.col("name", "errno", "status").cast(pl.String),
        # Ids are given out in order.
        rank=pl.col("tid").rank("dense").cast(pl.Int64) - 1,
        **{c: pl.col(c) for c in ["ret", "fd", "fd2", "bytes", "requested", "offset", "size"]},
        line=pl.col("line").cast(pl.Int64),
    ).sort("rank", "line")


@pytest.fixture(scope="module")
def strace() -> pl.DataFrame:
    return rows("calls.strace")


@pytest.fixture(scope="module", params=["calls.ftrace", "calls-raw.ftrace"])
def ftrace(request: pytest.FixtureRequest) -> pl.DataFrame:
    return rows(request.param)


def added() -> pl.Expr:
    """What only ftrace has: ends of calls whose start it did not see."""
    return pl.col("status") == "headless"


def test_the_logs_hold_many_calls(strace):
    assert strace["name"].n_unique() > 100
    assert strace["rank"].n_unique() == 7
    assert set(TRANSFERS) < set(strace["name"])


def test_ftrace_adds_the_first_return_of_every_task(strace, ftrace):
    extra = ftrace.filter(added())
    # The program wrote its id into `set_event_pid`, and was traced from there on. Every other task
    # returns from the call that made it, which strace does not show.
    first = ftrace.group_by("rank", maintain_order=True).first()
    assert_frame_equal(extra, first.select(extra.columns))
    assert extra["name"][0] == "write"
    assert extra["ret"][1:].to_list() == [0] * 6
    made = strace.filter(pl.col("name").is_in(MAKES_TASKS)).sort("line")
    assert sorted(extra["name"][1:]) == sorted(made["name"])


def test_counts_by_name_are_the_same(strace, ftrace):
    def counts(frame: pl.DataFrame) -> dict[str, int]:
        return dict(frame.group_by("name").len().sort("name").rows())

    assert counts(ftrace.filter(~added())) == counts(strace)


def test_reads_and_writes_move_the_same_bytes(strace, ftrace):
    def moved(frame: pl.DataFrame) -> pl.DataFrame:
        transfers = frame.filter(pl.col("bytes").is_not_null())
        return transfers.group_by("name").agg(pl.len(), pl.col("bytes").sum()).sort("name")

    found = moved(ftrace.filter(~added()))
    assert_frame_equal(found, moved(strace))
    assert set(TRANSFERS) < set(found["name"])


# What ftrace does not show: descriptors, vectors and structures that pointers refer to, and the end
# of a signal's handler, which leaves no number of a call.
HIDDEN = {
    "name": set(),
    "ret": {"rt_sigreturn"},
    "errno": {"rt_sigreturn"},
    "fd": {"pipe2", "socketpair"},
    "fd2": {"pipe2", "socketpair"},
    "bytes": set(),
    "requested": {"readv", "writev", "preadv", "preadv2", "pwritev"},
    # ftrace prints the address of the flags of clone3: the child may share the descriptors.
    "offset": {"read"},
    "size": {"newfstatat", "statx"},
}


def test_rows_are_the_same_one_by_one(strace, ftrace):
    left, right = strace, ftrace.filter(~added())
    # A task that kills itself has no result for strace; for the kernel it had one.
    killed = (left["status"] == "killed").to_list()
    assert left.filter(killed).select("name", "ret").rows() == [("kill", None)]
    assert right.filter(killed).select("status", "ret").rows() == [("complete", 0)]
    left, right = (frame.filter(~pl.Series(killed)) for frame in (left, right))
    assert left["rank"].to_list() == right["rank"].to_list()
    assert left["status"].to_list() == right["status"].to_list()
    ids = left["name"].is_in([*OWN, *MAKES_TASKS, "wait4"]) & (left["ret"] > 0).fill_null(False)
    for column, hidden in HIDDEN.items():
        differ = left[column].ne_missing(right[column])
        if column == "ret":
            assert right.filter(ids)[column].min() > 0
            differ &= ~ids
        if column == "offset":
            # Names show what has no positions (/dev/null); ftrace does not print them.
            differ &= left[column].is_not_null()
        assert right.filter(differ)[column].null_count() == differ.sum(), column
        assert set(left.filter(differ)["name"]) == hidden, column


@pytest.mark.parametrize("machine", ["x86_64", None])
def test_the_machine_is_guessed_or_chosen(machine):
    report = tf.parse(CALLS / "calls-raw.ftrace", None, machine=machine)
    assert report.sources[0]["machine"] == "x86_64"
    assert tf.parse(CALLS / "calls.ftrace", None, machine=machine).sources[0]["machine"] is None
    assert tf.parse(CALLS / "calls.strace", None, machine=machine).sources[0]["machine"] is None


def test_a_chosen_machine_names_the_calls():
    raw = CALLS / "calls-raw.ftrace"
    names = pl.col("name").cast(pl.String).unique()
    frames = [
        pl.DataFrame(tf.read(raw, machine="arm64")),
        tf.scan(raw, machine="arm64").collect(),
    ]
    for frame in frames:
        found = set(frame.filter(pl.col("kind") == "syscall").select(names).to_series())
        # Numbers 0 and 1, so frequent here, are others there.
        assert {"io_setup", "io_destroy"} < found
        assert "write" not in found


def test_an_unknown_machine_is_refused(run, tmp_path):
    raw = CALLS / "calls-raw.ftrace"
    message = "machine must be one of 'x86_64', .*'riscv64'.*, got 'vax'"
    for call in (
        lambda: tf.parse(raw, tmp_path / "out.parquet", machine="vax"),
        lambda: tf.read(raw, machine="vax"),
        lambda: tf.scan(raw, machine="vax"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    refused = run("parse", raw, "-o", "out.parquet", "--machine", "vax")
    assert refused.returncode == 2
    assert "vax" in refused.stderr
    assert "riscv64" in refused.stderr
    assert not (tmp_path / "out.parquet").exists()


def test_the_command_names_the_machine(run):
    done = run("parse", CALLS / "calls-raw.ftrace", "-o", "out.parquet")
    assert "system call numbers of: x86_64" in done.stderr
    done = run("parse", CALLS / "calls-raw.ftrace", "-o", "out.parquet", "--machine", "arm")
    assert "system call numbers of: arm\n" in done.stderr
    done = run("parse", CALLS / "calls.ftrace", "-o", "out.parquet")
    assert "numbered" not in done.stderr
