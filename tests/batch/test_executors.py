"""Batches on executors of the caller: pools of threads and processes, Dask; and interrupts."""

import contextlib
import gzip
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest

import pages
import tracefast as tf
from support.command import interrupts
from support.logs import READ, write_short
from support.paths import DOCS
from tracefast.batch import pool
from tracefast.batch import threads as batch_threads


@pytest.fixture
def logs(tmp_path) -> list[str]:
    folder = tmp_path / "logs"
    folder.mkdir()
    return [str(log) for log in write_short(folder, (f"{n}.strace" for n in range(1, 7)))]


@pytest.fixture
def long_log(tmp_path) -> Path:
    """Write a log that takes seconds to parse, and no time to write."""
    path = tmp_path / "long.strace.gz"
    member = gzip.compress((READ * 60_000).encode(), 1)
    with path.open("wb") as file:
        for _ in range(400):
            file.write(member)
    return path


def check(logs, out, **options) -> None:
    """Check a batch with one bad log by an executor, and a second run."""
    made = tf.parse_many([*logs, "/missing.strace"], out, **options)
    assert made["status"].to_list() == ["done"] * len(logs) + ["failed"]
    assert made["rows"].to_list() == [*range(1, len(logs) + 1), None]
    assert made["source"].to_list() == [*logs, "/missing.strace"]
    again = tf.parse_many([*logs, "/missing.strace"], out, **options)
    assert again["status"].to_list() == ["skipped"] * len(logs) + ["failed"]
    counts = pl.scan_parquet(out).group_by("source").len().sort("len").collect()
    assert counts["source"].cast(pl.String).to_list() == logs


def test_threads(logs, tmp_path):
    with ThreadPoolExecutor(3) as executor:
        check(logs, tmp_path / "events", executor=executor)
        # The executor belongs to the caller: it stays open.
        assert executor.submit(int, "3").result() == 3


def test_spawned_processes(logs, tmp_path):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        check(logs, tmp_path / "events", executor=executor)


@pytest.mark.slow
def test_a_cluster_of_dask(logs, tmp_path):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, Client(cluster) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        check(logs, tmp_path / "events", executor=client)
        # Results are not remembered by what was asked for: the log is another one now.
        Path(logs[0]).write_text(READ * 9)
        again = tf.parse_many(logs, tmp_path / "events", executor=client)
        assert again["status"].to_list() == ["done"] + ["skipped"] * 5
        assert again["rows"][0] == 9


def block(language: str, index: int = 0) -> str:
    """Give a block of code in this language from the how-to."""
    return pages.blocks((DOCS / "batch.md").read_text(), language)[index]


@pytest.fixture
def study(tmp_path) -> Path:
    for number in (1, 2, 3):
        folder = tmp_path / "runs" / str(number)
        folder.mkdir(parents=True)
        (folder / "app.strace.gz").write_bytes(gzip.compress((READ * number).encode()))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("index", [0, 1], ids=["threads", "dask"])
def test_the_scripts(study, index):
    (study / "script.py").write_text(block("python", index))
    ran = subprocess.run(
        [sys.executable, "script.py"], cwd=study, capture_output=True, text=True, check=True
    )
    assert ("/srv/a" if index == 0 else "done") in ran.stdout
    assert pl.scan_parquet(study / "events").select(pl.len()).collect().item() == 6


def test_the_script_for_slurm(study, command):
    (study / "script.sh").write_text(block("bash"))
    path = f"{Path(command).parent}:{os.environ['PATH']}"
    # The third log is that of the third task, which has failed, and is queued again.
    for task in (1, 2, 4, 3):
        environment = os.environ | {"PATH": path, "SLURM_ARRAY_TASK_ID": str(task)}
        subprocess.run(["bash", "script.sh"], cwd=study, env=environment, check=True)
        rows = pl.scan_parquet(study / "events").select(pl.len()).collect().item()
        assert rows == {1: 1, 2: 3, 4: 3, 3: 6}[task]


@pytest.mark.usefixtures("logs")
def test_workers_in_other_folders_find_relative_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    initializer = {"initializer": os.chdir, "initargs": ("/",)}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), **initializer) as executor:
        made = tf.parse_many("logs/*.strace", "events", executor=executor)
    assert made["output"].str.starts_with(f"{tmp_path}/events/").all()
    assert pl.scan_parquet("events").select(pl.len()).collect().item() == 21


def test_an_executor_has_its_own_number_of_workers(logs, tmp_path):
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="jobs"):
        tf.parse_many(logs, tmp_path / "events", executor=executor, jobs=2)


@pytest.mark.parametrize(
    ("cores", "logs", "jobs", "threads", "expected"),
    [
        (1, 9, None, None, (1, 1)),
        (2, 9, None, None, (1, 2)),
        (16, 9, None, None, (4, 4)),
        (16, 2, None, None, (2, 8)),
        (64, 0, None, None, (1, 64)),
        (16, 9, 8, None, (8, 2)),
        (2, 9, 8, None, (8, 1)),
        (16, 9, None, 1, (9, 1)),
        (16, 99, None, 1, (16, 1)),
        (16, 9, 3, 7, (3, 7)),
    ],
)
def test_the_cores_are_shared(monkeypatch, cores, logs, jobs, threads, expected):
    monkeypatch.setattr(batch_threads, "cores", lambda: cores)
    assert batch_threads.shares(logs, jobs, threads) == expected


def test_no_more_logs_than_asked_for_are_under_way(logs, tmp_path, monkeypatch):
    under_way, most, changed, run = 0, 0, threading.Condition(), pool.run

    def counted(job, progress):
        nonlocal under_way, most
        with changed:
            under_way += 1
            most = max(most, under_way)
            changed.notify_all()
            # However busy the machine is, the second one comes.
            changed.wait_for(lambda: most >= 2, timeout=60)
        time.sleep(0.02)
        try:
            return run(job, progress)
        finally:
            with changed:
                under_way -= 1

    monkeypatch.setattr(pool, "run", counted)
    tf.parse_many(logs, tmp_path / "events", jobs=2)
    assert most == 2


def begun(command, tmp_path, *arguments) -> subprocess.Popen:
    """Start a batch of a short and a long log; wait until it is done with one, not the other."""
    process = subprocess.Popen(
        [command, "parse", *arguments, "--out-dir", "events", "--jobs", "2"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        preexec_fn=interrupts.allowed,  # noqa: PLW1509
    )
    partial = tmp_path / "events.manifest" / "partial"
    until = time.monotonic() + 120
    while not (list(partial.parent.glob("*.json")) and list(partial.glob(".*.tmp"))):
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.01)
    return process


def check_rest(run, tmp_path, short: str, long: str) -> None:
    """Check what an unfinished run left, and that the next one continues from there."""
    assert pl.scan_parquet(tmp_path / "events").select(pl.len()).collect().item() == 1
    (tmp_path / long).write_bytes(gzip.compress(READ.encode()))
    ran = run("parse", short, long, "--out-dir", "events")
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"^ +done +1 ", ran.stderr, re.MULTILINE)
    assert re.search(r"^ +skipped +1 ", ran.stderr, re.MULTILINE)
    assert pl.scan_parquet(tmp_path / "events").select(pl.len()).collect().item() == 2


@pytest.mark.slow
def test_an_interrupt_stops_what_is_under_way_and_leaves_nothing_half_done(
    command, run, logs, long_log, tmp_path
):
    with begun(command, tmp_path, logs[0], long_log.name) as process:
        code, message = interrupts.interrupt(process)
    assert code == 130
    assert "Traceback" not in message
    assert not list((tmp_path / "events.manifest" / "partial").iterdir())
    check_rest(run, tmp_path, logs[0], long_log.name)


@pytest.mark.slow
def test_a_run_that_was_killed_leaves_a_folder_that_can_be_read(
    command, run, logs, long_log, tmp_path
):
    with begun(command, tmp_path, logs[0], long_log.name) as process:
        process.kill()
    check_rest(run, tmp_path, logs[0], long_log.name)


@pytest.mark.slow
def test_two_runs_at_once(command, logs, tmp_path):
    for _ in range(3):
        processes = [
            subprocess.Popen(
                [command, "parse", *logs, "--out-dir", "events", "--no-resume", "-q"], cwd=tmp_path
            )
            for _ in range(2)
        ]
        with contextlib.ExitStack() as stack:
            for process in processes:
                stack.enter_context(process)
        assert [process.returncode for process in processes] == [0, 0]
        counts = pl.scan_parquet(tmp_path / "events").group_by("source").len().collect()
        assert sorted(counts["len"]) == list(range(1, 7))
    assert tf.parse_many(logs, tmp_path / "events")["status"].to_list() == ["skipped"] * 6
