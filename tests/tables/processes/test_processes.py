"""The table of processes on logs: whole ones, parts of them, and those made for one rule."""

import subprocess
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support.folding import plain, without_types
from support.paths import DATA
from support.reference.processes import slow_processes
from support.reference.proved_children import proved
from tracefast import _core

NEEDED = pl.Schema(_core.Processes().needed)
PROVED = sorted((DATA / "processes").glob("*.zst"))
LOGS = [
    *PROVED,
    DATA / "spawn" / "spawn.strace",
    DATA / "spawn" / "spawn.ftrace",
    DATA / "tasks" / "log",
    DATA / "tasks" / "all.strace",
    DATA / "kernel-model" / "positions.strace",
    DATA / "demo.strace.zst",
    DATA / "demo.ftrace.zst",
]


def text_of(log: Path) -> str:
    done = subprocess.run(["zstd", "-dc", log], capture_output=True, check=True)
    return done.stdout.decode(errors="replace")


def slow(events: pl.DataFrame) -> list[dict]:
    return sorted(slow_processes(without_types(events, NEEDED).to_dicts()), key=repr)


def log_of(tmp_path: Path, *lines: str) -> pl.DataFrame:
    path = tmp_path / "made.strace"
    path.write_text("".join(f"{line}\n" for line in lines))
    return tf.processes(tf.scan(path)).collect()


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_the_table_of_a_log_is_the_slow_one(log):
    events = tf.scan(str(log)).collect()
    table = tf.processes(events).collect()
    assert table.height > 0
    assert plain(table) == slow(events)
    # Parts of the events: those of some tasks, some names, some time.
    parts = [
        events.filter(pl.col("task") % 2 == 1),
        events.filter(pl.col("kind") != "exit"),
        events.filter(~pl.col("name").cast(pl.String).str.contains("clone|fork")),
        events.slice(events.height // 3, events.height // 3),
    ]
    for part in parts:
        assert plain(tf.processes(part).collect()) == slow(part)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_every_task_is_in_one_process(log):
    events = tf.scan(str(log)).collect()
    table = tf.processes(events).collect()
    tasks = events.filter(pl.col("task").is_not_null(), pl.col("tid").ne_missing(0))["task"]
    # And children whose only line is that of the call that made them.
    assert table["threads"].sum() >= tasks.n_unique()
    assert table["task"].is_unique().all()
    assert table["children"].sum() == table["parent_task"].count()
    known = table.select("task", "pid")
    parents = table.filter(pl.col("parent_task").is_not_null()).select("parent_task", "ppid")
    joined = parents.join(known, left_on="parent_task", right_on="task")
    assert joined.height == parents.height
    assert (joined["ppid"] == joined["pid"]).all()


@pytest.mark.parametrize("log", PROVED, ids=lambda log: log.name)
def test_children_that_a_log_proves_have_a_parent_a_kind_and_a_program(log):
    truth = proved(text_of(log))
    assert not truth.twice
    assert truth.ended or truth.makers
    table = tf.processes(tf.scan(log)).collect()
    assert table["parent_task"].null_count() == 1
    rows = {row["pid"]: row for row in table.to_dicts()}
    for tid in (truth.ended | set(truth.makers)) - truth.threads:
        row = rows[tid]
        assert (row["exit_status"] is None) != (row["exit_signal"] is None)
        if tid in truth.makers:
            maker = truth.makers[tid]
            assert row["ppid"] == maker or maker in truth.threads
            assert row["kind"] is not None
        if tid in truth.started:
            assert row["images"][-1] == row["image"] is not None
    assert not truth.threads & set(rows)
    assert table["threads"].sum() == table.height + len(truth.threads)


def test_kinds_and_ends_of_a_program_that_starts_others(spawn):
    table = tf.processes(tf.scan(spawn)).collect()
    root = table.filter(pl.col("children") == 6).row(0, named=True)
    children = table.filter(pl.col("parent_task") == root["task"])
    expected = ["vfork", "vfork", "vfork", "posix_spawn", "fork", "fork"]
    assert children["kind"].to_list() == expected
    assert children["exit_status"].to_list() == [0, 3, 255, 0, 7, None]
    # ftrace does not record signals.
    killed = "SIGKILL" if spawn.suffix == ".strace" else None
    assert children["exit_signal"].to_list() == [None] * 5 + [killed]
    assert root["threads"] == 2
    first = table.row(0, named=True)
    assert first["kind"] is first["ppid"] is first["parent_task"] is None


def test_image_is_the_last_program_or_else_that_of_the_parent(tmp_path):
    table = log_of(
        tmp_path,
        '10 execve("/bin/sh", ["sh"], 0x7ff /* 3 vars */) = 0',
        "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
        '10 execve("/bin/env", ["env"], 0x7ff /* 3 vars */) = 0',
        '10 execve("/bin/late", ["late"], 0x7ff /* 3 vars */) = 0',
        "11 clone(child_stack=NULL, flags=SIGCHLD) = 12",
        '12 execve("/bin/true", ["true"], 0x7ff /* 3 vars */) = -1 ENOENT (No such file)',
        "11 getpid() = 11",
    )
    assert table.select("pid", "image").rows() == [
        (10, "/bin/late"),
        (11, "/bin/sh"),
        (12, "/bin/sh"),
    ]
    assert table["images"].to_list() == [["/bin/sh", "/bin/env", "/bin/late"], [], []]


def test_a_number_that_is_used_again_is_another_process(tmp_path):
    lines = []
    for status in (1, 2, 3):
        lines += [
            "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
            f'11 write(1, "x", {status}) = {status}',
            f"11 exit_group({status}) = ?",
            f"11 +++ exited with {status} +++",
        ]
    table = log_of(tmp_path, *lines).filter(pl.col("pid") == 11)
    assert table["exit_status"].to_list() == [1, 2, 3]
    assert table["write_bytes"].to_list() == [1, 2, 3]
    assert table["task"].n_unique() == 3


def test_threads_are_part_of_their_process_even_if_they_are_seen_first(tmp_path):
    flags = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD"
    table = log_of(
        tmp_path,
        # An old strace prints the flags when the call returns.
        "10 clone( <unfinished ...>",
        '11 write(1, "ab", 2) = 2',
        f"10 <... clone resumed> child_stack=0x7f12, flags={flags}) = 11",
        '11 write(1, "ab", 2) = 2',
        '10 write(1, "abc", 3) = 3',
    )
    assert table.select("pid", "threads", "calls", "write_bytes").rows() == [(10, 2, 4, 7)]


def test_a_program_started_from_a_thread_keeps_the_process(tmp_path):
    table = log_of(
        tmp_path,
        '10 execve("/bin/many", ["many"], 0x7ff /* 3 vars */) = 0',
        "10 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0, stack=0x7f12}, 88) = 11",
        "10 pause( <unfinished ...>",
        '11 execve("/bin/one", ["one"], 0x7ff /* 3 vars */ <unfinished ...>',
        "10 <... pause resumed>) = ?",
        "10 +++ superseded by execve in pid 11 +++",
        "10 <... execve resumed>) = 0",
        "10 exit_group(4) = ?",
        "10 +++ exited with 4 +++",
    )
    row = table.row(0, named=True)
    assert table.height == 1
    assert (row["pid"], row["threads"], row["exit_status"]) == (10, 2, 4)
    assert (
        row["images"].to_list()
        if hasattr(row["images"], "to_list")
        else row["images"]
        == [
            "/bin/many",
            "/bin/one",
        ]
    )


def test_lifetimes_of_processes(tmp_path):
    table = log_of(
        tmp_path,
        "10 00:00:01.000000 vfork( <unfinished ...>",
        '11 1.500000 execve("/bin/true", ["true"], 0x7ff /* 3 vars */ <unfinished ...>',
        "10 00:00:01.700000 <... vfork resumed>) = 11 <0.700000>",
        "11 00:00:01.800000 <... execve resumed>) = 0 <0.300000>",
        "11 00:00:02.000000 exit_group(0) = ?",
        "11 00:00:02.250000 +++ exited with 0 +++",
        "10 00:00:03.000000 getpid() = 10 <0.000001>",
    )
    assert table["lifetime_ns"].to_list() == [None, 750_000_000]
    assert table["ts_end"].to_list()[0] is None


def test_children_of_a_log_without_their_lines(tmp_path):
    """Without -f a child has no line of its own: only what its parent learns of it is known."""
    table = log_of(
        tmp_path,
        "00:00:01.000000 clone(child_stack=NULL, flags=SIGCHLD) = 11 <0.500000>",
        "00:00:02.000000 vfork() = 12 <0.500000>",
        "00:00:03.000000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL) = 11"
        " <0.100000>",
        "00:00:04.000000 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=12, si_uid=0,"
        " si_status=SIGTERM, si_utime=0, si_stime=0} ---",
        "00:00:05.000000 clone(child_stack=NULL, flags=SIGCHLD) = -1 EAGAIN (Resource"
        " temporarily unavailable) <0.100000>",
    )
    assert table.select("pid", "kind", "exit_status", "exit_signal", "calls").rows() == [
        (None, None, None, None, 4),
        (11, "fork", 3, None, 0),
        (12, "vfork", None, "SIGTERM", 0),
    ]
    assert table["ts_start"].cast(pl.Int64).to_list()[1:] == [1_000_000_000, 2_000_000_000]
    assert table["ts_end"].null_count() == 3


def test_without_calls_that_make_tasks_the_parent_is_the_process_that_saw_the_end(tmp_path):
    table = log_of(
        tmp_path,
        '10 openat(AT_FDCWD, "/a", O_RDONLY) = 3',
        '11 openat(AT_FDCWD, "/b", O_RDONLY) = 3',
        "11 +++ exited with 1 +++",
        "10 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=11, si_uid=0,"
        " si_status=1, si_utime=0, si_stime=0} ---",
    )
    assert table.select("pid", "ppid", "kind").rows() == [(10, None, None), (11, 10, None)]


def test_waits_and_transfers_by_the_file_of_the_descriptor(tmp_path):
    table = log_of(
        tmp_path,
        '10 read(3</srv/a>, "", 10) = 0 <0.000001>',
        '10 read(4<pipe:[77]>, "", 10) = 0 <0.000010>',
        '10 read(5<socket:[78]>, "x", 10) = 1 <0.000100>',
        '10 write(4<pipe:[77]>, "xy", 2) = 2 <0.000999>',
        # The pipe was full, and somebody had the lock.
        '10 write(4<pipe:[77]>, "", 0) = 0 <3.000000>',
        "10 fcntl(3</srv/a>, F_SETLKW, {l_type=F_WRLCK}) = 0 <4.000000>",
        '10 write(3</srv/a>, "", 0) = 0 <5.000000>',
        "10 futex(0x7f12, FUTEX_WAIT_PRIVATE, 0, NULL) = 0 <0.010000>",
        "10 getpid() = 10 <0.100000>",
        "10 fsync(3</srv/a>) = 0 <1.000000>",
    )
    row = table.row(0, named=True)
    assert (row["io_ns"], row["wait_ns"]) == (6_001_000_000, 7_010_110_000)
    assert (row["read_bytes"], row["write_bytes"]) == (1, 2)


@pytest.mark.parametrize("name", ["sendmmsg", "mq_timedsend", "mq_timedsend_time64", "vmsplice"])
def test_sending_is_input_and_output(tmp_path, name):
    table = log_of(tmp_path, f"10 {name}(3) = 1 <0.000010>")
    assert table.select("io_ns", "wait_ns").rows() == [(10_000, 0)]


def test_times_that_the_log_does_not_have_are_null_not_zero(tmp_path):
    table = log_of(tmp_path, '10 read(3</srv/a>, "x", 10) = 1', "10 getpid() = 10")
    row = table.row(0, named=True)
    assert (row["io_ns"], row["wait_ns"], row["ts_start"]) == (None, 0, None)


def test_events_of_ftrace_alone_show_processes(tmp_path):
    def line(task: str, time: str, event: str) -> str:
        return f"{task:>23} [000] ..... {time}: {event}"

    lines = [
        line("sh-10", "1.000000", "task_newtask: pid=11 comm=sh clone_flags=1200000 oom=0"),
        line("sh-10", "1.000010", "sched_process_fork: comm=sh pid=10 child_comm=sh child_pid=11"),
        line("sh-11", "1.100000", "sched_process_exec: filename=/bin/ls pid=11 old_pid=11"),
        line("ls-11", "1.200000", "task_newtask: pid=12 comm=ls clone_flags=3d0f00 oom=0"),
        line("ls-12", "1.300000", "sched_process_exit: comm=ls pid=12 prio=120"),
        line("ls-11", "1.400000", "sched_process_exit: comm=ls pid=11 prio=120"),
    ]
    table = log_of(tmp_path, "# tracer: nop", "#", *lines)
    known = ("pid", "ppid", "kind", "image", "threads", "lifetime_ns")
    assert table.select(known).rows() == [
        (10, None, None, None, 1, None),
        (11, 10, "fork", "/bin/ls", 2, 300_000_000),
    ]


def test_rows_of_several_logs_are_apart(spawn_strace, tmp_path):
    again = tmp_path / "again.strace"
    again.write_bytes(spawn_strace.read_bytes())
    one = tf.processes(tf.scan(spawn_strace)).drop("source").collect()
    both = tf.processes(tf.scan([spawn_strace, again])).collect()
    assert both.height == 2 * one.height
    for _, part in both.group_by("source"):
        assert part.drop("source").equals(one)


def test_a_lazy_question_takes_columns_rows_and_conditions(spawn_strace):
    lazy = tf.processes(tf.scan(spawn_strace))
    whole = lazy.collect()
    assert lazy.select("pid").head(2).collect().equals(whole.select("pid").head(2))
    failed = pl.col("exit_status") > 0
    assert lazy.filter(failed).collect().equals(whole.filter(failed))


def test_missing_columns_are_named(spawn_strace):
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match="'bytes', 'child'"):
        tf.processes(tf.scan(spawn_strace).drop("child", "bytes"))


def test_a_child_that_shows_itself_before_a_call_that_is_printed_when_it_returns(tmp_path):
    """With -z a call is one line, at the place where it returned."""
    table = log_of(
        tmp_path,
        '10 execve("/bin/sh", ["sh"], 0x7ff /* 3 vars */) = 0',
        '12 write(1, "ab", 2) = 2',
        "10 vfork() = 12",
        '12 write(1, "abc", 3) = 3',
        "12 +++ exited with 0 +++",
    )
    assert table.select("pid", "ppid", "kind", "write_bytes", "exit_status").rows() == [
        (10, None, None, 0, None),
        (12, 10, "vfork", 5, 0),
    ]


def test_a_child_that_shows_itself_while_another_process_makes_a_thread(tmp_path):
    """Its first line does not say whose it is: 12 was taken for a thread of 10."""
    thread = "clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD}, 88"
    table = log_of(
        tmp_path,
        '10 execve("/bin/a", ["a"], 0x7ff /* 3 vars */) = 0',
        "10 clone(child_stack=NULL, flags=SIGCHLD) = 11",
        f"10 {thread} <unfinished ...>",
        "11 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>",
        "12 set_robust_list(0x7f1, 24) = 0",
        "11 <... clone resumed>) = 12",
        "12 getpid() = 12",
        "10 <... clone3 resumed>, 88) = 13",
        "13 gettid() = 13",
        "12 +++ exited with 3 +++",
    )
    assert table.select("pid", "ppid", "kind", "threads", "calls", "exit_status").rows() == [
        (10, None, None, 2, 4, None),
        (11, 10, "fork", 1, 1, None),
        (12, 11, "fork", 1, 2, 3),
    ]


@pytest.mark.parametrize("name", ["syscall_435", "syscall_0x1b3"])
def test_clone3_of_a_strace_that_does_not_know_it(tmp_path, name):
    table = log_of(
        tmp_path,
        f"10 {name}(0x7ffd105ee2f0, 0x58, 0x7f2c, 0x8, 0x7f2d, 0x7f2e) = 0xb",
        '11 write(1, "ab", 2) = 2',
        f"10 {name}(0x7ffd105ee2f0, 0x58, 0x7f2c, 0x8, 0x7f2d, 0x7f2e <unfinished ...>",
        '12 execve("/bin/true", ["true"], 0x7ff /* 3 vars */) = 0',
        f"10 <... {name} resumed>) = 0xc",
    )
    assert table.select("pid", "ppid", "kind", "threads", "image").rows() == [
        (10, None, None, 2, None),
        (12, 10, "posix_spawn", 1, "/bin/true"),
    ]


OUTLASTED = """
100 1700000000.000000 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM) = 101 <0.000010>
100 1700000000.000100 exit(0) = ?
101 1700000000.000200 exit({}) = ?
101 1700000000.000300 +++ exited with 5 +++
100 1700000000.000400 +++ exited with 0 +++
""".lstrip()  # noqa: E501


@pytest.mark.parametrize("before", ["", "99 1699999999.000000 fork() = 100 <0.000100>\n"])
def test_the_status_of_a_process_is_that_of_its_last_thread(tmp_path, before):
    log = tmp_path / "outlasted.strace"
    log.write_text(before + OUTLASTED.format(5))
    table = tf.processes(tf.scan(log)).filter(pl.col("pid") == 100).collect()
    assert table.select("exit_status", "exit_signal").rows() == [(5, None)]


def test_the_status_that_the_parent_got_is_that_of_the_process(tmp_path):
    # As Linux before 5.17 has it.
    log = tmp_path / "outlasted.strace"
    got = (
        "99 1700000001.000000 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=100,"
        " si_uid=0, si_status=0, si_utime=0, si_stime=0} ---\n"
    )
    log.write_text("99 1699999999.000000 fork() = 100 <0.000100>\n" + OUTLASTED.format(5) + got)
    table = tf.processes(tf.scan(log)).filter(pl.col("pid") == 100).collect()
    assert table["exit_status"].to_list() == [0]


def test_the_arguments_of_the_last_program(tmp_path):
    table = log_of(
        tmp_path,
        '10 execve("/bin/sh", ["sh", "-c", "echo \\"a, b\\"\\n"], 0x7f /* 3 vars */) = 0',
        "10 fork() = 11",
        "11 getpid() = 11",
        "10 vfork( <unfinished ...>",
        '12 execve("/opt/none", ["none"], 0x7f /* 3 vars */) = -1 ENOENT (No such file)',
        '12 execve("/bin/python3", ["python3", "-c", "from multiprocessing.spawn impor"..., ...]'
        ", 0x7f /* 3 vars */) = 0",
        "10 <... vfork resumed>) = 12",
        "10 fork() = 13",
        '13 execve("/bin/true", 0x7ffd1000, 0x7f) = 0',
    )
    shell = ["sh", "-c", 'echo "a, b"\n']
    cut = ["python3", "-c", "from multiprocessing.spawn impor...", "..."]
    # A child of fork runs the program of its maker. Of the last one the log has only an address.
    assert table.select("pid", "argv").rows() == [(10, shell), (11, shell), (12, cut), (13, None)]
    assert table.schema["argv"] == pl.List(pl.String)
