"""Logs are distinguished: one given twice counts once, those with the same name stay separate."""

import gzip
import shutil
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA

LINE = '{pid} 1700000000.000{n}00 openat(AT_FDCWD, "/srv/{pid}", O_RDONLY) = 3 <0.000010>\n'


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two logs of the same name, each parsed in its own folder."""
    for folder, pid in (("one", 100), ("two", 100)):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        Path("app.strace").write_text("".join(LINE.format(pid=pid, n=n) for n in range(1, 3)))
        if folder == "two":
            with Path("app.strace").open("a") as log:
                log.write(LINE.format(pid=101, n=5))
        tf.parse("app.strace", "app.parquet")
        tf.parse("app.strace", "app.arrow")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def calls(*sources) -> dict[str, int]:
    found = tf.scan(list(sources)).group_by(pl.col("source").cast(pl.String)).len().collect()
    return dict(found.rows())


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_files_of_different_logs_of_one_name_stay_apart(suffix):
    files = [f"one/app.{suffix}", f"two/app.{suffix}"]
    apart = {f"{files[0]}:app.strace": 2, f"{files[1]}:app.strace": 3}
    assert calls(*files) == apart
    processes = tf.processes(tf.scan(files)).select("source", "pid", "calls").collect()
    assert processes.rows() == [
        (f"{files[0]}:app.strace", 100, 2),
        (f"{files[1]}:app.strace", 100, 2),
        (f"{files[1]}:app.strace", 101, 1),
    ]
    one = tf.scan(files).filter(pl.col("source").cast(pl.String) == f"{files[0]}:app.strace")
    assert one.select(pl.len()).collect().item() == 2


@pytest.mark.usefixtures("runs")
def test_one_file_alone_keeps_its_names():
    assert calls("one/app.parquet") == {"app.strace": 2}
    tf.parse("one/app.strace", "third.parquet")
    assert calls("two/app.parquet", "third.parquet") == {"app.strace": 3, "one/app.strace": 2}


def test_a_log_and_another_log_in_columns(runs, monkeypatch):
    monkeypatch.chdir(runs / "one")
    assert calls("app.strace", "../two/app.parquet") == {
        "app.strace": 2,
        "../two/app.parquet:app.strace": 3,
    }


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    "files",
    [
        ("one/app.strace", "one/app.parquet"),
        ("one/app.parquet", "one/app.strace"),
        ("one/app.arrow", "one/app.strace"),
        ("one/app.parquet", "copy.parquet"),
        ("one/app.strace.gz", "packed.parquet"),
    ],
)
def test_the_same_events_twice_are_refused(run, files):
    shutil.copy("one/app.parquet", "copy.parquet")
    Path("one/app.strace.gz").write_bytes(gzip.compress(Path("one/app.strace").read_bytes()))
    tf.parse("one/app.strace.gz", "packed.parquet")
    with pytest.raises(tf.Error, match=r"holds the events of .*, which is also given") as caught:
        tf.scan(list(files))
    assert "give only one of them" in caught.value.hint
    ran = run("syscalls", *files)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr.count("error: ") == 1
    assert "which is also given\nhint: give only one of them" in ran.stderr


def test_what_is_named_twice_is_read_once(runs, run):
    Path("link.strace").symlink_to("one/app.strace")
    names = ["one/app.strace", "one/*.strace", "./one/app.strace", runs / "one" / "app.strace"]
    assert calls(*names, "link.strace") == {"one/app.strace": 2}
    assert calls("one/app.parquet", "one/app.parquet") == {"app.strace": 2}
    assert tf.parse(names, "all.parquet").rows == 2
    assert sum(len(batch) for batch in tf.read(names)) == 2
    ran = run("syscalls", "one/app.strace", "link.strace", "--format", "csv")
    assert ran.stdout.splitlines()[1].split(",")[:3] == ["openat", "2", "0"]


@pytest.mark.usefixtures("runs")
def test_a_hard_link_is_the_same_log(run):
    Path("hard.strace").hardlink_to("one/app.strace")
    assert calls("one/app.strace", "hard.strace") == {"one/app.strace": 2}
    ran = run("syscalls", "one/app.strace", "hard.strace", "--format", "csv")
    assert ran.returncode == 0, ran.stderr
    assert "hard.strace" not in ran.stdout
    tf.parse("hard.strace", "hard.parquet")
    with pytest.raises(tf.Error, match="is also given"):
        tf.scan(["hard.parquet", "one/app.strace"]).collect()


def test_the_common_name_of_logs_means_each_of_them():
    tasks = DATA / "tasks"
    alone = tf.scan(str(tasks / "log")).collect()
    for both in ([tasks / "log", *sorted(tasks.glob("log.*"))], [f"{tasks}/log.*", tasks / "log"]):
        assert tf.scan(both).collect().equals(alone)
        assert tf.parse(both, None).rows == alone.height


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("output", ["one/app.strace", "one/../one/app.strace", "link.parquet"])
def test_no_output_replaces_its_input(run, output):
    Path("link.parquet").symlink_to("one/app.strace")
    before = Path("one/app.strace").read_bytes()
    with pytest.raises(tf.Error, match="the output would replace an input"):
        tf.parse("one/*.strace", output, sink="parquet")
    ran = run("parse", "one/app.strace", "-o", output, "--sink", "parquet")
    assert ran.returncode == 2
    assert "error: " + output + ": the output would replace an input\nhint: " in ran.stderr
    for command in (["files"], ["forks"], ["files", "--darshan"], ["events"], ["sql", "SELECT 1"]):
        ran = run(*command, "one/app.strace", "-o", output, "--format", "csv")
        assert ran.returncode == 2, command
        assert "the output would replace an input" in ran.stderr
    assert Path("one/app.strace").read_bytes() == before
