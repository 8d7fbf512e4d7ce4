"""`tracefast workers` as installed: the screen, the tables, the formats, the messages."""

import csv
import io
import json

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.workers.pools import pools_of
from tracefast.analysis.workers.table import workers_in_detail
from tracefast.cli.screen.workers_report import render

LOGS = DATA / "workers"
SPAWN = LOGS / "pool_spawn.strace.zst"
FORK = LOGS / "pool_fork.strace.zst"


@pytest.fixture
def workers(run):
    """Run the command; give what it prints, of an error what it says."""

    def call(*words, code=0):
        ran = run("workers", *words)
        assert ran.returncode == code, ran.stderr
        return ran.stderr if code == 2 else ran.stdout

    return call


def test_the_screen_tells_of_start_time_reading_memory_and_batches(workers):
    lines = workers(SPAWN).splitlines()
    assert lines[0].startswith("3 workers in each of 2 rounds, spawned by process 19156: ")
    labels = [line.split()[0] for line in lines[1:20] if line[:1].strip()]
    assert labels[:5] == ["starting", "time", "reading", "memory", "batches"]
    text = " ".join(" ".join(lines).split())
    assert "each (median) up to the first job" in text
    assert "The method forkserver, with set_forkserver_preload" in text
    assert "each grows to 9.1 MiB (median, mapped), 9.1 MiB of it before its first job" in text
    assert "then nothing with each job" in text
    # Who receives is the thread of the pool, which does nothing else.
    assert "a thread of their maker waited 402 ms" in text
    assert "messages, most of it (52 %) while the worker itself waited; tracefast waits" in text
    assert "starves" not in text
    assert "None" not in text


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_nobody_is_told_to_do_what_is_done(workers, method):
    text = " ".join(workers(LOGS / f"pool_{method}.strace.zst").split())
    assert ("The method forkserver" in text) == (method == "spawn")
    assert ("set_forkserver_preload" in text) == (method != "fork")


@pytest.mark.parametrize(
    "table", [[], ["--pools"], ["--batches"], ["--shared-reads"], ["--memory"]]
)
@pytest.mark.parametrize("width", [80, 160])
def test_tables_keep_to_the_width(terminal, table, width):
    lines = terminal("workers", FORK, *table, "--top", 5, columns=width).splitlines()
    assert lines
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("table", "rows"),
    [("", 6), ("--pools", 1), ("--batches", 18), ("--shared-reads", 5), ("--memory", None)],
)
def test_data_formats_give_all_columns(workers, table, rows):
    words = (FORK, *([table] if table else []))
    objects = json.loads(workers(*words, "--format", "json"))
    records = list(csv.DictReader(io.StringIO(workers(*words, "--format", "csv"))))
    assert len(objects) == len(records) == (rows or len(records)) > 0
    assert list(objects[0]) == list(records[0])
    assert not {"module_ns", "shared_paths", "batch_ts", "anon_ready_bytes", "ts_ready"} & set(
        objects[0]
    )


def test_rows_can_be_chosen(workers):
    ended = workers(LOGS / "killed_fork.strace.zst", "--where", "exit_signal IS NOT NULL")
    assert "SIGKILL" in ended
    assert workers(FORK, "--where", "pid = 1") == "Nothing matches.\n"
    assert workers(LOGS / "shell.strace.zst") == "No workers.\n"
    longest = json.loads(
        workers(FORK, "--batches", "--sort", "wait_ns", "--top", "1", "--format", "json")
    )
    assert [row["batch"] for row in longest] == [6]


def test_a_wait_for_workers_that_start_is_called_so(tmp_path):
    # A worker that imports for 400 ms before it asks for its first job, and then works for 10 ms.
    (tmp_path / "log").write_text(
        "7 1700000000.000100 pipe2([3, 4], 0) = 0 <0.000010>\n"
        "7 1700000000.000200 pipe2([5, 6], 0) = 0 <0.000010>\n"
        "7 1700000000.001000 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000200>\n"
        '7 1700000000.002000 write(4, "\\0\\0\\0\\1a", 5) = 5 <0.000020>\n'
        '8 1700000000.401000 read(3, "\\0\\0\\0\\1", 4) = 4 <0.000010>\n'
        '8 1700000000.401100 read(3, "a", 1) = 1 <0.000010>\n'
        '8 1700000000.411000 write(6, "\\0\\0\\0\\1A", 5) = 5 <0.000020>\n'
        '7 1700000000.003000 read(5, "\\0\\0\\0\\1", 4) = 4 <0.408100>\n'
        '7 1700000000.411200 read(5, "A", 1) = 1 <0.000010>\n'
        "8 1700000000.420000 +++ exited with 0 +++\n"
    )
    workers = workers_in_detail(tf.scan(tmp_path / "log"), question="tests").collect()
    text = render(pools_of(workers.lazy()).collect(), workers, workers, width=None, top=1)
    said = "(100 %) for 1 message: it starves, most of it (97 %) while workers started"
    assert said in " ".join(text.split())


def test_the_screen_says_what_grows_once_and_what_with_each_epoch():
    workers = workers_in_detail(tf.scan(LOGS / "kept_fork.strace.zst"), question="tests").collect()
    pools = pools_of(workers.lazy()).collect()
    text = render(pools, workers, workers, width=None, top=1)
    # Sixteen megabytes and a stack, then six for each epoch.
    said = (
        "grows by 34.2 MiB, 0 B of it before its first job; 16.1 MiB of it once, and 6.0 MiB with"
    )
    assert said in " ".join(text.split())


def test_rounds_of_several_sizes_are_not_called_equal():
    ended = tf.workers(tf.scan(SPAWN)).collect()["pid"].to_list()[-2:]
    gone = pl.any_horizontal(pl.col("pid", "child").is_in(ended).fill_null(value=False))
    rest = tf.scan(SPAWN).filter(~gone)
    workers = workers_in_detail(rest, question="tests").collect()
    pools = pools_of(workers.lazy()).collect()
    assert workers["round"].to_list() == [0, 0, 0, 1]
    text = render(pools, workers, workers, width=None, top=1)
    assert text.startswith("4 workers in 2 rounds, spawned by process 19156: ")


def test_an_empty_table_says_why_and_what_to_try(run):
    unshared = ("--where", "readers > 99")
    for log, words, said in [
        ("shell", (), "no pool of workers: no process hands work to others"),
        ("shell", ("--batches",), "no pool of workers: no process hands work to others"),
        ("make", ("--batches",), "no message from a worker to its maker"),
        ("make", ("--pools",), ""),
        ("make", ("--shared-reads", *unshared), ""),
    ]:
        ran = run("workers", LOGS / f"{log}.strace.zst", *words)
        assert (ran.returncode, ran.stderr[:6]) == (0, "note: " if said else ""), ran.stderr
        assert said in ran.stderr


def test_of_several_logs_each_pool_names_its_log(workers):
    text = " ".join(workers(FORK, SPAWN).split())
    assert "pool_fork.strace.zst: 3 workers in each of 2 rounds, forked by" in text
    assert "pool_spawn.strace.zst: 3 workers in each of 2 rounds, spawned by" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pools", "--batches"], "--pools and --batches are different tables"),
        (["--by", "folder"], "add --shared-reads"),
        (["--where", "jobbs > 1"], "jobbs"),
        (["--sort", "jobbs"], "jobbs"),
        (["--pools", "--sort", "jobs"], "jobs"),
    ],
)
def test_bad_input_says_what_to_do(workers, words, said):
    assert said in workers(FORK, *words, code=2)
