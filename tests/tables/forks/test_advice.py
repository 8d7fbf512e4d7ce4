"""Each rule of the advice on forks: when it applies, what it says, and when it says nothing."""

import pytest

import tracefast as tf
from support.forks import MIB, MS, made, same
from tracefast.analysis.forks.advice.case import Advice, Range
from tracefast.analysis.forks.advice.rules import (
    RULES,
    error_pipe,
    fork_per_epoch,
    many_processes,
    page_table_copy,
    path_probes,
    re_imports,
    slow_linking,
    threads_at_fork,
)
from tracefast.analysis.forks.evidence import fork_rows
from tracefast.analysis.forks.summary import report

BIG = {"parent_anon_bytes": 800 * MIB, "log_ns": 1_000 * MS, "log_exec_ns": MS}


def said(rule, rows: list[dict]) -> Advice | None:
    """Ask a rule about the group of the first row."""
    found = report(fork_rows(made(rows)).collect())
    image = rows[0].get("image", "/bin/true")
    source = rows[0].get("source", "log")
    (case,) = [
        case for case in found.cases if (case.text("image"), case.text("source")) == (image, source)
    ][:1]
    return rule(case)


def advice(rule, rows: list[dict]) -> Advice:
    """Give what a rule says about the group of the first row; it must say something."""
    found = said(rule, rows)
    assert found is not None
    return found


def test_a_rule_is_asked_once_and_a_code_is_one_word():
    assert len(set(RULES)) == len(RULES) == 8
    rows = made([row | BIG for row in same(100, parent_python="3.7")])
    table = tf.fork_advice(rows).collect()
    assert table["code"].to_list() == ["page-table-copy", "many-processes"]
    assert tf.fork_summary(rows).collect()["advice"].item() == "page-table-copy many-processes"
    assert table.columns[:4] == ["source", "parent_image", "kind", "image"]


# The rule page-table-copy.


def test_python_before_3_10():
    found = advice(page_table_copy, same(10, **BIG, parent_python="3.7"))
    assert "Python before 3.10 (here 3.7) starts subprocesses by fork" in found.what
    assert found.evidence == (
        "10 forks took 20.0 ms each (median), from a parent with 800 MiB of its own memory; execve"
        " took 21.0 ms in the child, which tears the copy down, against 1.00 ms without one;"
        " 400 ms in total, 41 % of the log's time"
    )
    assert found.saving == (399 * MS, 399 * MS)
    assert found.remedy.startswith("Use Python 3.10 or newer, whose subprocess uses vfork. Until")


def test_a_tracer_makes_a_range_of_it():
    tracer = {"tracer_low_ns": MS, "tracer_high_ns": 5 * MS}
    found = advice(page_table_copy, same(10, **BIG, **tracer))
    # What it takes at least is in the gap, which is not in this sum.
    assert found.saving == (359 * MS, 399 * MS)
    assert "360 to 400 ms in total" in found.evidence


@pytest.mark.parametrize(
    ("row", "why", "remedy"),
    [
        (
            {"parent_python": "3.12"},
            "Python 3.12 uses fork here; the log does not show why",
            "preexec",
        ),
        ({"parent_image": "/opt/python3.9"}, "Python before 3.10 (here 3.9)", "Use Python 3.10"),
        (
            {"parent_image": "/root/.pyenv/versions/3.8.16/bin/python"},
            "Python before 3.10 (here 3.8)",
            "Use Python 3.10",
        ),
        ({"parent_image": "/bin/loader"}, "the parent uses fork", "posix_spawn"),
        (
            {"parent_image": "/bin/loader", "child_calls": "setuid"},
            "the parent uses fork",
            "posix_spawn",
        ),
        (
            {"parent_image": "/bin/loader", "parent_python": "3.6"},
            "Python before 3.10 (here 3.6)",
            "Use Python 3.10",
        ),
        (
            {"parent_python": "3.11", "child_calls": "close execve setgid setgroups setuid"},
            "the child changes its user or groups (setgid, setgroups, setuid)",
            "Leave out user=",
        ),
        (
            {"parent_python": "3.11", "child_calls": "close execve getrandom gettid openat"},
            "the child runs Python code between fork and execve (getrandom, gettid)",
            "Leave out preexec_fn=",
        ),
        (
            {"parent_python": "3.7", "child_calls": "close prctl"},
            "Python before 3.10 (here 3.7)",
            "it calls prctl)",
        ),
        (
            {"parent_python": "3.7", "child_calls": "setresuid"},
            "Python before 3.10 (here 3.7)",
            "but not with user=, group= or extra_groups=: here is setresuid",
        ),
        (
            {"parent_python": "3.11", "child_calls": "close close_range dup2 execve rt_sigaction"},
            "the log does not show why",
            "preexec_fn=",
        ),
    ],
)
def test_the_cause_as_far_as_the_log_shows_it(row, why, remedy):
    found = advice(page_table_copy, same(10, **{**BIG, **row}))
    assert why in found.what
    assert remedy in found.remedy


def test_calls_of_few_children_are_not_the_cause():
    rows = [{**BIG, "child_calls": "prctl" if i < 4 else "close"} for i in range(10)]
    found = advice(page_table_copy, rows)
    assert "does not show why" in found.what


@pytest.mark.parametrize(
    "row",
    [
        {"kind": "vfork"},
        {"kind": "posix_spawn"},
        {"kind": None},
        {"image": None, "exec_ns": None},
        # It does something else before it executes a program.
        {"exec_gap_ns": 6 * MS},
        # Small parents, cheap calls, and calls that are rare.
        {"parent_anon_bytes": 20 * MIB},
        {"call_ns": 300_000},
        {"log_ns": 10_000 * MS},
        {"call_ns": None},
    ],
)
def test_no_page_tables_to_speak_of(row):
    assert said(page_table_copy, same(10, **{**BIG, **row})) is None


def test_a_gap_that_is_the_tracers_does_not_count():
    row = {**BIG, "exec_gap_ns": 8 * MS, "tracer_low_ns": MS, "tracer_high_ns": 4 * MS}
    assert said(page_table_copy, same(10, **row)) is not None


# The rule error-pipe.


def test_a_wait_on_the_error_pipe():
    found = advice(error_pipe, same(10, **BIG, error_pipe_ns=25 * MS))
    assert found.evidence.startswith(
        "10 reads of that pipe took 25.0 ms each (median), 250 ms in total, 25 % of the log's time;"
        " in that time the child needs 1.00 ms to get to execve and 21.0 ms in it"
    )


@pytest.mark.parametrize(
    "row",
    [
        {"error_pipe_ns": None},
        {"error_pipe_ns": 400_000, "log_ns": 100 * MS},
        {"error_pipe_ns": 800_000},
        {"error_pipe_ns": 25 * MS, "kind": "vfork"},
        {"error_pipe_ns": 25 * MS, "tracer_low_ns": 20 * MS, "tracer_high_ns": 25 * MS},
    ],
)
def test_no_wait_to_speak_of(row):
    assert said(error_pipe, same(10, **{**BIG, **row})) is None


# The rule many-processes.


def test_many_small_processes():
    found = advice(many_processes, same(100, startup_ns=2 * MS, startup_calls=20))
    assert found.what == "A process of true is started for each small piece of work."
    assert found.evidence == (
        "100 processes of /bin/true, 10.0 per second, at most 1 at once, each lived for 30.0 ms"
        " (median), 24.0 ms of this passed before its own code ran"
    )


@pytest.mark.parametrize(
    ("count", "row"),
    [
        (99, {}),
        (100, {"image": None}),
        (100, {"lifetime_ns": 2_000 * MS}),
        (101, {"errno": "EAGAIN"}),
    ],
)
def test_few_or_large_processes(count, row):
    assert said(many_processes, same(count, **row)) is None


def test_what_is_not_known_of_many_processes_is_not_said():
    found = advice(many_processes, same(100, lifetime_ns=None, exec_ns=None, exec_gap_ns=None))
    assert found.evidence == "100 processes of /bin/true, 10.0 per second, at most 100 at once"


# The rule path-probes.


def test_a_program_is_looked_for():
    rows = [{}, *same(10, exec_failed=4, exec_failed_ns=200_000)]
    found = advice(path_probes, rows)
    assert found.evidence == (
        "40 execves failed, 4 for each process (median), which took 2.00 ms; first at line 11;"
        " it is /bin/true"
    )
    assert "Give the whole path, /bin/true, or" in found.remedy


def test_a_tracer_takes_its_share_of_failed_calls():
    tracer = {"tracer_low_ns": 0, "tracer_high_ns": 0}
    found = advice(path_probes, same(10, exec_failed=4, exec_failed_ns=300_000, **tracer))
    assert "which took 600 µs to 3.00 ms;" in found.evidence


def test_a_program_that_is_not_found():
    found = advice(path_probes, same(10, exec_failed=4, exec_failed_ns=1, image=None))
    assert "it was not found at all" in found.evidence


@pytest.mark.parametrize(("count", "failed"), [(9, 2), (100, 1), (5, None), (100, 0)])
def test_no_search_to_speak_of(count, failed):
    assert said(path_probes, same(count, exec_failed=failed)) is None


# The rule slow-linking.


def test_libraries_that_take_long():
    row = {"startup_ns": 50 * MS, "startup_calls": 90, "startup_libraries": 40, "startup_misses": 1}
    found = advice(slow_linking, same(2, **row, log_ns=1_000 * MS))
    assert found.evidence == (
        "2 starts: 50.0 ms each, 100 ms in total (10 % of the log's time at most); median of"
        " 90 calls, 40 libraries mapped, 1 file looked for but not found"
    )
    assert found.remedy.startswith("Link it")
    traced = {"tracer_low_ns": 0, "tracer_high_ns": 0}
    found = advice(slow_linking, same(2, **row, **traced, log_ns=1_000 * MS))
    assert "44.6 to 50.0 ms each" in found.evidence


def test_libraries_that_are_looked_for():
    row = {"startup_ns": 3 * MS, "startup_calls": 69, "startup_libraries": 3, "startup_misses": 23}
    found = advice(slow_linking, same(10, **row, log_ns=1_000 * MS))
    assert "23 files looked for but not found" in found.evidence
    assert found.remedy.startswith("Shorten the search")


@pytest.mark.parametrize(
    ("count", "row"),
    [
        (100, {"startup_ns": None}),
        (100, {"startup_ns": 2 * MS, "startup_calls": 28, "startup_misses": 1}),
        (9, {"startup_ns": 3 * MS, "startup_misses": 23}),
        (10, {"startup_ns": MS, "startup_misses": 23}),
        (1, {"startup_ns": 500 * MS}),
        (2, {"startup_ns": 24 * MS}),
        (2, {"startup_ns": 50 * MS, "startup_calls": 900, "tracer_high_ns": 0, "tracer_low_ns": 0}),
    ],
)
def test_linking_that_is_fast_enough(count, row):
    assert said(slow_linking, same(count, **row, log_ns=1_000 * MS)) is None


# The rule fork-with-threads.

WORKER = {"image": None, "exec_ns": None, "exec_gap_ns": None}


def test_a_fork_while_threads_live():
    rows = [{**WORKER}, {**WORKER, "parent_tasks": 3}, {**WORKER, "parent_tasks": 2}]
    found = advice(threads_at_fork, rows)
    assert found.evidence == (
        "2 forks of 3, without an execve, with up to 3 threads alive in the parent; the first at"
        " line 11"
    )
    assert "forkserver" in found.remedy
    other = advice(threads_at_fork, [{**WORKER, "parent_tasks": 2, "parent_image": "/bin/server"}])
    assert "forkserver" not in other.remedy
    server = advice(threads_at_fork, same(2, **WORKER, parent_tasks=2, worker_method="forkserver"))
    assert server.remedy.startswith("Preload only modules that start no threads")


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"parent_tasks": None},
        {"parent_tasks": 2, "exec_failed": 1},
        {"parent_tasks": 2, "errno": "EAGAIN"},
        {"parent_tasks": 2, "image": "/bin/true"},
        {"parent_tasks": 2, "kind": "vfork"},
    ],
)
def test_a_harmless_fork(row):
    assert said(threads_at_fork, [{**WORKER, **row}]) is None


# The rule fork-per-epoch.


def epochs(workers: list[int], **row: object) -> list[dict]:
    """Make rounds of workers, each started after the earlier ones have ended."""
    return [
        {**WORKER, "ts": (1000 * i + j) * MS, "lifetime_ns": 500 * MS, **row}
        for i, count in enumerate(workers)
        for j in range(count)
    ]


def test_workers_for_each_epoch():
    found = advice(fork_per_epoch, epochs([4, 4, 4], parent_torch=True))
    assert "DataLoader of PyTorch" in found.what
    assert found.evidence.startswith("3 rounds of 4 forks")
    assert "the 12 forks took 240 ms" in found.evidence
    assert found.remedy == "Give the DataLoader persistent_workers=True."
    assert found.saving == (160 * MS, 160 * MS)
    assert advice(fork_per_epoch, epochs([2, 2], parent_torch=True)).numbers["rounds"] == 2
    other = advice(fork_per_epoch, epochs([2, 2, 2]))
    assert "DataLoader" not in other.what


def test_the_last_epoch_may_be_cut_off_in_the_log():
    rows = epochs([3, 3, 2])
    rows[-1]["lifetime_ns"] = None
    found = advice(fork_per_epoch, rows)
    assert found.evidence.startswith("3 rounds of 3 forks")


@pytest.mark.parametrize(
    "rows",
    [
        epochs([4]),
        epochs([1, 1, 1]),
        epochs([2, 5, 3]),
        epochs([4, 4]),
        epochs([2, 2, 2], parent_image="/bin/sh"),
        epochs([2, 2, 2], kind="vfork"),
        epochs([2, 2, 2], image="/bin/true"),
        epochs([2, 2, 2], lifetime_ns=None),
        epochs([2, 2, 2], lifetime_ns=5_000 * MS),
        [row | {"pid": i // 2} for i, row in enumerate(epochs([2, 2, 2, 2, 2, 2]))],
        epochs([2, 2, 2], ts=None),
    ],
)
def test_workers_that_are_not_forked_again(rows):
    assert said(fork_per_epoch, rows) is None


def children(*lives: tuple[int, int], **row: object) -> list[dict]:
    """Make children of one process that are forked and end at some times, in milliseconds."""
    return [
        {**WORKER, "call_ns": MS, "ts": begin * MS, "lifetime_ns": (end - begin) * MS, **row}
        for begin, end in lives
    ]


@pytest.mark.parametrize(
    "rows",
    [
        # A loop that starts a child every 10 ms; each second one takes a little longer.
        children(*((10 * at, 10 * at + 14 - 6 * (at % 2)) for at in range(8))),
        children(*((10 * at, 10 * at + 14 - 6 * (at % 2)) for at in range(8)), parent_torch=True),
        # Three jobs, of which two run at a time, as make -j2 does; then the next three.
        children(*((at + 100 * by, at + 100 * by + 9) for by in range(3) for at in (0, 1, 10))),
        # One command after the other.
        children(*((20 * at, 20 * at + 10) for at in range(12))),
        # One of them outlives the start of the second round.
        children((0, 50), (1, 120), (100, 150), (101, 151), (200, 250), (201, 251)),
    ],
)
def test_children_of_a_loop_are_no_rounds(rows):
    assert said(fork_per_epoch, rows) is None


def test_rounds_of_a_pool_that_starts_slowly_are_rounds():
    lives = ((100 * by + 8 * at, 100 * by + 60 + at) for by in range(3) for at in range(4))
    assert advice(fork_per_epoch, children(*lives)).numbers == {"rounds": 3, "forks": 4}


def test_children_of_a_loop_could_not_live_longer():
    rows = children(*((10 * at, 10 * at + 14 - 6 * (at % 2)) for at in range(8)))
    found = advice(re_imports, [row | SPAWNED | {"child_modules": 100} for row in rows])
    assert "persistent_workers" not in found.remedy


# The rule re-imports.

SPAWNED = {
    "image": "/usr/bin/python3",
    "kind": "vfork",
    "worker_method": "spawn",
    "in_pool": True,
}


def test_workers_that_import_the_same():
    rows = same(3, child_modules=100, child_modules_ns=200 * MS, lifetime_ns=5_000 * MS, **SPAWNED)
    # The resource tracker imports, too, and a probe.
    others = same(2, **SPAWNED | {"child_modules": 60, "in_pool": False})
    found = advice(re_imports, [*rows, *others, {**SPAWNED, "child_modules": 3}])
    assert found.evidence == (
        "3 workers (start method spawn) opened 300 compiled modules (.pyc), 100 each (median),"
        " within 200 ms (median)"
    )
    assert "set_forkserver_preload" in found.remedy
    assert "live longer" not in found.remedy


@pytest.mark.parametrize(
    ("method", "remedy"),
    [
        ("fork", "Import them in the parent before it forks."),
        ("forkserver", "Name what they import in multiprocessing's set_forkserver_preload([…])"),
        ("exec", "Import less in the program that the workers run, or import it later."),
    ],
)
def test_the_remedy_is_not_what_is_done_already(method, remedy):
    row = {"image": None, "worker_method": method, "in_pool": True, "lifetime_ns": 5_000 * MS}
    found = advice(re_imports, same(3, child_modules=100, **row))
    assert found.remedy.startswith(remedy)
    assert f"start method {method}" in found.evidence


def test_workers_that_are_started_again_and_again():
    rows = [row | SPAWNED | {"child_modules": 100} for row in epochs([2, 2])]
    assert "persistent_workers=True" in advice(re_imports, rows).remedy


def test_a_manager_is_no_worker():
    workers = same(2, child_modules=100, **SPAWNED)
    manager = {**SPAWNED, "child_modules": 100, "in_pool": False}
    assert advice(re_imports, [manager, *workers]).evidence.startswith("2 workers")
    assert said(re_imports, [manager, *workers[:1]]) is None


@pytest.mark.parametrize(
    "rows",
    [
        same(5, child_modules=19, **SPAWNED),
        same(1, child_modules=100, **SPAWNED),
        same(5, **SPAWNED),
        same(5, child_modules=100, **SPAWNED | {"in_pool": None}),
        same(5, child_modules=100, parent_image="/bin/sh", **SPAWNED),
    ],
)
def test_workers_that_import_little(rows):
    assert said(re_imports, rows) is None


# Lines.


def test_lines_of_several_logs_have_the_name_of_the_log():
    rows = [{**WORKER, "parent_tasks": 3, "source": "/srv/a.strace"}]
    assert advice(threads_at_fork, rows).evidence.endswith("the first at line 1")
    other = {**WORKER, "source": "/srv/b.strace", "parent_image": "/bin/server"}
    found = advice(threads_at_fork, [*rows, other])
    assert found.evidence.endswith("the first at line 1 of /srv/a.strace")
    probes = same(10, exec_failed=4, exec_failed_ns=300_000)
    found = advice(path_probes, [*probes, {"source": "other"}])
    assert "first at line 1 of log;" in found.evidence


def test_ranges():
    assert str(Range(0, 0)) == "0 s"
    assert str(Range(MS, 2 * MS)) == "1.00 to 2.00 ms"
    assert Range(10, 20).per(5) == (2, 4)
