"""Recorded programs with workers: the table agrees with what they know, and with a slow one."""

import json

import polars as pl
import pytest

import tracefast as tf
from support.folding import plain, summed
from support.paths import DATA
from support.reference.workers import slow_workers
from tracefast import _core

LOGS = sorted(
    path.name.removesuffix(".strace.zst") for path in (DATA / "workers").glob("*.strace.zst")
)
# Of each: the method, and the workers of each round of each pool.
POOLS = {
    **{f"pool_{method}": (method, [[3, 3]]) for method in ("fork", "spawn", "forkserver")},
    **{f"executor_{method}": (method, [[3]]) for method in ("fork", "spawn", "forkserver")},
    "preload_forkserver": ("forkserver", [[3]]),
    "preload_all_forkserver": ("forkserver", [[3, 3]]),
    "eager_forkserver": ("forkserver", [[3]]),
    "processes_spawn": ("spawn", [[3]]),
    "killed_fork": ("fork", [[3]]),
    "manager_fork": ("fork", [[3]]),
    "manager_spawn": ("spawn", [[3]]),
    "nested_fork": ("fork", [[2], [2], [2]]),
    "kept_fork": ("fork", [[2]]),
    "alone_fork": ("fork", [[3]]),
    "train_fork": ("fork", [[2]]),
    "mapped_fork": ("fork", [[3]]),
    "xargs": ("exec", [[6]]),
    "make": ("exec", [[3]]),
    "joblib_loky": ("spawn", [[2]]),
    "joblib_multiprocessing": ("fork", [[2]]),
    "gunicorn": ("fork", [[2]]),
    "nginx": ("fork", [[2]]),
    "commands_fork": (None, []),
    "xargs_in_turn": (None, []),
    "shell": (None, []),
}


def events(name):
    return tf.scan(DATA / "workers" / f"{name}.strace.zst")


def known(name):
    """Give what a program knows: when workers were made and ready, and their jobs."""
    text = json.loads((DATA / "workers" / f"{name}.json").read_text())
    return dict(text["made"]), dict(text["ready"]), dict(text["jobs"])


@pytest.mark.parametrize("name", POOLS)
def test_method_pools_and_rounds(name):
    table = tf.workers(events(name)).collect()
    method, pools = POOLS[name]
    assert set(table["method"]) == ({method} if pools else set())
    sizes = table.group_by("pool", "round").len().sort("pool", "round")
    found = [part["len"].to_list() for _, part in sizes.group_by("pool", maintain_order=True)]
    assert found == pools
    maker = tf.processes(events(name)).collect()["pid"][0]
    if name != "nested_fork":
        assert set(table["parent_pid"]) <= {maker}


@pytest.mark.parametrize("name", ["calls", "calls-raw"])
def test_programs_without_names_are_not_the_same(name):
    # Events of calls alone, as ftrace writes them, have no path: three programs, one at a time.
    assert tf.workers(tf.scan(DATA / "calls" / f"{name}.ftrace")).collect().is_empty()


@pytest.mark.parametrize("name", [name for name in LOGS if name.endswith(("fork", "spawn", "er"))])
def test_what_the_program_knows(name):
    made, ready, jobs = known(name)
    table = tf.workers(events(name)).collect()
    for row in table.filter(pl.col("pid").is_in(list(made))).iter_rows(named=True):
        pid = row["pid"]
        if row["start_ns"] is not None:
            assert (row["jobs"] or 0) == jobs.get(pid, 0)
        if pid in ready:
            wanted = ready[pid] - made[pid]
            assert row["start_ns"] / 1e9 == pytest.approx(wanted, rel=0.1, abs=0.002)
    if name != "nested_fork":
        assert set(ready) <= set(table["pid"])


@pytest.mark.parametrize("name", ["joblib_loky", "joblib_multiprocessing", "gunicorn", "nginx"])
def test_pools_of_other_programs(name):
    text = json.loads((DATA / "workers" / f"{name}.json").read_text())
    table = tf.workers(events(name)).collect()
    assert sorted(table["pid"]) == text["workers"]
    done = dict(text["jobs"])
    assert dict(table.select("pid", "jobs").iter_rows()) == {
        pid: done.get(pid, 0) for pid in text["workers"]
    }
    assert table["start_ns"].null_count() == 0
    assert table["exit_status"].to_list() == [0, 0]


def test_growth_is_what_the_kernel_counted():
    known = json.loads((DATA / "workers" / "grow_fork.json").read_text())["anon"]
    table = tf.workers(tf.scan(DATA / "workers" / "grow_fork.ftrace.zst")).collect()
    assert table["pid"].to_list() == [pid for pid, _, _ in known]
    assert set(table["memory_from"]) == {"rss_stat"}
    for number, (row, (_, before, after)) in enumerate(
        zip(table.iter_rows(named=True), known, strict=True)
    ):
        assert row["anon_start_bytes"] == pytest.approx(before, rel=0.04)
        assert row["anon_growth_bytes"] == pytest.approx(after - before, rel=0.04)
        # It wrote to so many pages of its maker, and to some of the interpreter's own.
        written = 2 * (number + 1) * 256
        assert written <= row["cow_faults"] < written + 512


def test_what_comes_once_and_what_with_each_epoch():
    table = tf.workers(events("kept_fork")).collect()
    # malloc maps a page with each (M_MMAP_THRESHOLD in mallopt(3)).
    megabyte = (1 << 20) + 4096
    for row in table.iter_rows(named=True):
        assert row["anon_per_job_bytes"] == pytest.approx(megabyte, rel=0.01)
        assert row["anon_per_phase_bytes"] == pytest.approx(6 * megabyte, rel=0.01)
        assert row["anon_once_bytes"] == row["anon_growth_bytes"] - 3 * row["anon_per_phase_bytes"]
        # What it keeps of the first job, and the stack of the thread that sends results.
        assert 16 << 20 <= row["anon_once_bytes"] < 17 << 20
    # Without marks, the jobs tell.
    unmarked = events("kept_fork").filter(
        ~pl.col("path").str.starts_with("/tracefast/").fill_null(value=False)
    )
    other = tf.workers(unmarked).collect()
    assert other["anon_per_phase_bytes"].null_count() == 2
    assert other["anon_per_job_bytes"].equals(table["anon_per_job_bytes"])
    assert other["anon_once_bytes"].is_between(16 << 20, 17 << 20).all()


def test_what_comes_with_each_epoch_by_marks_in_the_log_of_ftrace(tmp_path):
    megabyte = 1 << 20
    sizes = dict.fromkeys((101, 102), 8 * megabyte)
    lines = []

    def add(pid, text):
        lines.append(f"python3-{pid} ( {pid}) [000] ..... 100.{len(lines):06}: {text}")

    def grow(pid, by):
        sizes[pid] += by
        add(pid, f"rss_stat: mm_id={pid} curr=1 type=MM_ANONPAGES size={sizes[pid]}B")

    for pid in sizes:
        add(100, f"task_newtask: pid={pid} comm=python3 clone_flags=1200000 oom_score_adj=0")
        grow(pid, 0)
    for epoch in range(3):
        add(100, f"tracing_mark_write: /tracefast/phase/epoch {epoch}")
        for pid in sizes:
            add(pid, "sys_read(fd: 3, buf: 7f00, count: 4)")
            add(pid, "sys_read -> 0x4")
            grow(pid, megabyte if epoch else 5 * megabyte)
    (tmp_path / "log").write_text("# tracer: nop\n#\n" + "\n".join(lines) + "\n")
    table = tf.workers(tf.scan(tmp_path / "log")).collect()
    assert table["pid"].to_list() == [101, 102]
    assert set(table["memory_from"]) == {"rss_stat"}
    assert set(table["anon_growth_bytes"]) == {7 * megabyte}
    assert set(table["anon_per_phase_bytes"]) == {megabyte}
    assert set(table["anon_once_bytes"]) == {4 * megabyte}


def test_loaders_in_a_log_without_the_calls_that_take_jobs():
    # A thread of each listens, to pass descriptors of the tensors that it sends.
    log = tf.scan(DATA / "starting" / "loader.strace.zst")
    table = tf.workers(log).select("pid", "round", "method", "jobs").collect()
    rounds = {7405: 0, 7407: 0, 7467: 1, 7469: 1}
    assert table.rows() == [(pid, number, "fork", None) for pid, number in rounds.items()]


def test_what_all_read_in_a_log_of_ftrace_that_has_paths(tmp_path):
    pids = (101, 102, 103)
    calls = [f"task_newtask: pid={pid} comm=python3 clone_flags=1200000" for pid in pids]
    lines = [(100, call) for call in calls]
    for pid in pids:
        for path, size in (("/srv/index.json", 20_000), (f"/srv/{pid}.bin", 1000)):
            opened = f'sys_openat(dfd: 0xffffff9c, filename: 0x7f00 "{path}", flags: 0, mode: 0)'
            read = f"sys_read(fd: 3, buf: 0x7f00, count: 0x{size:x})"
            lines += [(pid, call) for call in (opened, "sys_openat -> 0x3")]
            lines += [(pid, call) for call in (read, f"sys_read -> 0x{size:x}")]
            lines += [(pid, call) for call in ("sys_close(fd: 3)", "sys_close -> 0x0")]
    text = "".join(
        f"python3-{pid} ( {pid}) [000] ..... 100.{at:06}: {call}\n"
        for at, (pid, call) in enumerate(lines)
    )
    (tmp_path / "log").write_text(f"# tracer: nop\n#\n{text}")
    log = tf.scan(tmp_path / "log")
    reads = tf.shared_reads(log).drop("source", "pool", "file").collect()
    assert reads.rows() == [("/srv/index.json", 3, 3, 60_000, 40_000)]
    folders = tf.shared_reads(log, by="folder").drop("source", "pool").collect()
    assert folders.rows() == [("/srv", 1, 3, 3, 60_000, 40_000)]
    assert tf.workers(log).collect()["read_shared_bytes"].to_list() == [20_000] * 3
    # Which pipe a descriptor is, the log does not show.
    assert tf.batches(log).collect().is_empty()


def test_few_jobs_do_not_show_what_each_adds():
    table = tf.workers(events("pool_fork")).collect()
    assert table["jobs"].max() < 9
    for name in ("anon_per_phase_bytes", "anon_per_job_bytes", "anon_once_bytes"):
        assert table[name].null_count() == table.height


def test_workers_of_a_pool_that_replaces_them():
    made, _, _ = known("resized_fork")
    table = tf.workers(events("resized_fork")).collect()
    assert set(table["pid"]) == set(made)
    assert set(table["method"]) == {"fork"}


def test_how_they_ended():
    table = tf.workers(events("killed_fork")).collect()
    assert sorted(table["exit_signal"].drop_nulls()) == ["SIGKILL"]
    assert table["exit_status"].drop_nulls().to_list() == [0, 0]


@pytest.mark.parametrize(
    "name", ["pool_fork", "pool_forkserver", "executor_fork", "processes_spawn", "killed_fork"]
)
def test_what_all_read_of_one_file_is_shared(name):
    # Of all reads of files, those of the index alone, which is as long.
    index = pl.col("path").str.ends_with("/index.json")
    alone = events(name).filter(
        index | ~pl.col("name").is_in(["read", "pread64"]) | ~pl.col("file_type").eq("regular")
    )
    table = tf.workers(alone).collect()
    shared = [20_000 if jobs else 0 for jobs in table["jobs"]]
    assert sum(shared) >= 60_000
    assert table["read_shared_bytes"].to_list() == shared
    again = sum(shared) - 20_000
    assert tf.pools(alone).collect()["read_shared_bytes"].to_list() == [again]
    reads = tf.shared_reads(alone).drop("source", "pool", "file").collect()
    path = "/srv/workers/index.json"
    readers = sum(bytes_ > 0 for bytes_ in shared)
    assert reads.rows() == [(path, table.height, readers, sum(shared), again)]
    folders = tf.shared_reads(alone, by="folder").drop("source", "pool").collect()
    assert folders.rows() == [("/srv/workers", 1, table.height, readers, sum(shared), again)]


def test_shared_reads_add_up_to_those_of_the_pool():
    log = events("pool_spawn")
    reads = tf.shared_reads(log).collect()
    pool = tf.pools(log).collect().row(0, named=True)
    assert reads["read_shared_bytes"].sum() == pool["read_shared_bytes"]
    assert reads["read_shared_bytes"].is_sorted(descending=True)
    assert reads["readers"].min() >= 2
    files = tf.files(log).select("source", "file", of_all="read_shared_bytes")
    # The maker reads some of them as well.
    both = reads.lazy().join(files, on=["source", "file"]).collect()
    assert both.height == reads.height
    assert both.filter(pl.col("read_shared_bytes") > pl.col("of_all")).is_empty()
    folders = tf.shared_reads(log, by="folder").collect()
    assert folders["files"].sum() == reads.height
    assert folders["read_shared_bytes"].sum() == pool["read_shared_bytes"]
    with pytest.raises(ValueError, match="by must be"):
        tf.shared_reads(log, by="process")


def test_no_method_saves_what_fork_costs():
    assert tf.pools(events("pool_fork")).collect()["saving_method"].to_list() == [None]


def test_preloaded_modules_cost_less():
    start = {
        name: tf.pools(events(f"{name}_forkserver")).collect().row(0, named=True)
        for name in ("pool", "preload")
    }
    assert start["preload"]["read_bytes"] / 3 < start["pool"]["read_bytes"] / 6
    assert start["pool"]["saving_method"] == "preload"


@pytest.mark.parametrize(
    ("name", "method"), [("pool_spawn", "forkserver-preload"), ("pool_forkserver", "preload")]
)
def test_the_range_of_savings_holds_what_the_other_method_saves(name, method):
    pool = tf.pools(events(name)).collect().row(0, named=True)
    assert pool["saving_method"] == method
    assert 0 < pool["saving_low_ns"] <= pool["saving_high_ns"] < pool["start_sum_ns"]
    # The same program with a server that has imported what the workers need.
    other = tf.pools(events("preload_all_forkserver")).collect().row(0, named=True)
    saved = pool["start_sum_ns"] - other["start_sum_ns"]
    assert pool["saving_low_ns"] <= saved <= pool["saving_high_ns"]


def test_memory_from_mappings():
    table = tf.workers(events("pool_fork")).collect()
    assert set(table["memory_from"]) == {"mappings"}
    # They have what their maker had when it forked them.
    maker = table["parent_pid"][0]
    held = tf.memory(events("pool_fork")).filter(pid=maker).collect()
    for ts, start in table.select("ts_start", "anon_start_bytes").iter_rows():
        assert held.filter(pl.col("ts") <= ts)["anon_bytes"][-1] == start
    assert table["cow_faults"].null_count() == 6
    # A new program starts with nothing.
    assert set(tf.workers(events("pool_spawn")).collect()["anon_start_bytes"]) == {0}


# A launcher of two ranks, which meet at a port of it, and what one of them starts.
RANKS = r"""
7 0.000 execve("/venv/bin/torchrun", ["torchrun", "--nproc-per-node=2", "train.py"], []) = 0 <0.001>
7 0.010 socket(AF_INET6, SOCK_STREAM, IPPROTO_IP) = 3 <0.001>
7 0.020 listen(3, 2048) = 0 <0.001>
7 0.100 vfork() = 8 <0.002>
8 0.110 execve("/venv/bin/python", ["python", "-u", "train.py"], []) = 0 <0.001>
7 0.120 vfork() = 9 <0.002>
9 0.130 execve("/venv/bin/python", ["python", "-u", "train.py"], []) = 0 <0.001>
8 0.200 socket(AF_INET6, SOCK_STREAM, IPPROTO_IP) = 4 <0.001>
8 0.210 connect(4, {sa_family=AF_INET6, sin6_port=htons(29500)}, 28) = 0 <0.001>
8 0.220 recvfrom(4, "x", 1, 0, NULL, NULL) = 1 <0.100>
8 0.400 vfork() = 10 <0.002>
10 0.410 execve("/sbin/ldconfig", ["ldconfig", "-p"], []) = 0 <0.001>
10 0.420 +++ exited with 0 +++
8 0.900 +++ exited with 0 +++
9 0.910 +++ exited with 1 +++
7 0.950 +++ exited with 1 +++
"""


def test_ranks_that_a_launcher_started(tmp_path):
    (tmp_path / "log").write_text(RANKS.lstrip().replace(" 0.", " 1700000000."))
    table = tf.workers(tf.scan(tmp_path / "log")).collect()
    columns = ["pid", "method", "parent_pid", "image", "exit_status", "start_ns", "jobs"]
    python = "/venv/bin/python"
    assert table.select(columns).rows() == [
        (8, "exec", 7, python, 0, None, None),
        (9, "exec", 7, python, 1, None, None),
    ]


CLONE = "7 {ts} clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000200>"
BEGINS = "7 {ts} clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>"
RETURNS = "7 {ts} <... clone resumed>) = {pid} <0.003500>"
READ = '{pid} {ts} pread64(3</srv/data>, ""..., 4096, 0) = 4096 <0.000100>'
WAIT = "7 {ts} wait4(-1, [{{WIFEXITED(s) && WEXITSTATUS(s) == 0}}], 0, NULL) = {pid} <0.000010>"
LOOK = WAIT.replace("0, NULL)", "WNOHANG, NULL)")
END = "{pid} {ts} +++ exited with 0 +++"


@pytest.mark.parametrize(
    ("first", "workers"),
    [
        # A maker that has not waited for it yet has it still.
        ([CLONE, READ, END], [8, 9, 10]),
        ([BEGINS, READ, END, RETURNS], [8, 9, 10]),
        # As multiprocessing looks at each start which have ended.
        ([CLONE, READ, END, LOOK], [8, 9, 10]),
        # One that has makes others that follow it.
        ([CLONE, READ, END, WAIT], [9, 10]),
        ([BEGINS, READ, END, RETURNS, WAIT], [9, 10]),
    ],
)
def test_one_that_ended_before_the_others_were_made(tmp_path, first, workers):
    lines = [(line, 8) for line in first]
    lines += (
        [(CLONE, 9), (CLONE, 10)] + [(READ, pid) for pid in [9, 10] * 10] + [(END, 9), (END, 10)]
    )
    lines += [(WAIT, pid) for pid in ([9, 10] if {WAIT, LOOK} & set(first) else [8, 9, 10])]
    text = [line.format(pid=pid, ts=f"1700000000.{ts:03}") for ts, (line, pid) in enumerate(lines)]
    (tmp_path / "log").write_text("\n".join(text) + "\n")
    table = tf.workers(tf.scan(tmp_path / "log")).collect()
    assert table["pid"].to_list() == workers
    assert set(table["round"]) == {0}


@pytest.mark.parametrize("name", LOGS)
def test_the_slow_table(name):
    log = events(name).collect()
    table = summed(_core.Workers(), log)
    slow = slow_workers(plain(log, key=lambda row: row["line"]))
    columns = list(slow[0]) if slow else ["pid"]
    order = ["pool", "pid"] if slow else "pid"
    if slow:
        assert table.select(columns).sort(order).to_dicts() == (
            pl.DataFrame(
                slow, schema_overrides=dict.fromkeys(columns, pl.Int64) | {"method": pl.String}
            )
            .sort(order)
            .to_dicts()
        )
    else:
        assert table.is_empty()
