"""Many logs, a file each: what is made, under which names, and what a second run does."""

import json
import os
import shutil
import tempfile
from concurrent.futures import Future
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.logs import READ, write_short
from support.paths import DATA, DOCS
from tracefast.batch import manifest as manifests


@pytest.fixture
def logs(tmp_path) -> Path:
    """Make a folder of small logs of one line and more."""
    folder = tmp_path / "logs"
    folder.mkdir()
    write_short(folder, ["a.strace", "b.strace", "c.strace"])
    return folder


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "events"


def all_of(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("*.strace")))


def status(frame: pl.DataFrame) -> list[str]:
    return frame["status"].to_list()


def test_each_log_becomes_what_parse_makes_of_it(tmp_path, out):
    logs = [
        str(DATA / name) for name in ("spawn/spawn.strace", "spawn/spawn.ftrace", "demo.strace.zst")
    ]
    made = tf.parse_many(logs, out)
    assert made["source"].to_list() == logs
    assert status(made) == ["done"] * 3
    assert made["error"].null_count() == 3
    for log, output, rows, lines in made.select("source", "output", "rows", "lines").rows():
        report = tf.parse(log, tmp_path / "alone.parquet")
        assert (rows, lines) == (report.rows, report.lines)
        assert Path(output).read_bytes() == (tmp_path / "alone.parquet").read_bytes()


def test_polars_reads_the_folder_and_source_tells_the_logs_apart(logs, out):
    tf.parse_many([*all_of(logs), str(logs / "missing")], out)
    frame = pl.scan_parquet(out).collect()
    assert frame.schema == pl.read_parquet(next(out.iterdir())).schema
    counts = frame.group_by(pl.col("source").cast(pl.String)).len().sort("source").rows()
    assert counts == [(log, rows) for rows, log in enumerate(all_of(logs), start=1)]
    assert_frame_equal(
        frame.sort("source", "line"),
        tf.scan(str(out / "*.parquet")).collect().sort("source", "line"),
    )


def test_names_never_meet(tmp_path, out):
    names = [
        "one/app.strace",
        "two/app.strace",
        "app.strace",
        "app.strace.gz",
        "app",
        # The logs of two tasks, beside a file with the name that they have in common.
        "app.301",
        "app.302",
        ".app",
        "odd [*?] = name\n\x1b[31m",
        "-rf",
        "é" * 120,
    ]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        # Two lines of text each, so that none is taken for the other.
        (tmp_path / name).write_text(READ.removeprefix("100 ") * 2)
    # Paths are names, not patterns.
    made = tf.parse_many([tmp_path / name for name in names], out)
    assert status(made) == ["done"] * (len(names) - 1)
    assert made["rows"].to_list().count(4) == 1
    assert made["output"].n_unique() == len(made)
    rows = pl.scan_parquet(out).collect()
    assert rows.height == 2 * len(names)
    assert set(rows["source"].cast(pl.String)) == set(made["source"])
    assert made["source"].n_unique() == len(made)
    assert str(tmp_path / "app.*") in made["source"].to_list()
    for name in (path.name for path in out.iterdir()):
        assert name[0] not in "-._"
        assert name.isprintable()
        assert not set(name) & set("[]*? ")


def test_the_name_of_an_output_depends_on_nothing_but_the_path(logs, tmp_path, monkeypatch):
    first = tf.parse_many(all_of(logs), tmp_path / "one")["output"]
    monkeypatch.chdir(logs)
    second = tf.parse_many("c.strace", tmp_path / "two")["output"]
    assert Path(first[2]).name == Path(second[0]).name


def test_a_log_that_is_named_twice_is_done_once(logs, out):
    log = str(logs / "a.strace")
    made = tf.parse_many([log, str(logs / "*.strace"), os.path.relpath(log)], out)
    assert made["source"].to_list() == all_of(logs)


@pytest.mark.parametrize("named", ["log.*", "log", ["log", "log.*"]])
def test_logs_cut_by_task_are_one_log(tmp_path, out, named):
    folder = DATA / "tasks"
    names = [named] if isinstance(named, str) else named
    made = tf.parse_many([str(folder / name) for name in names], out)
    assert made["source"].to_list() == [str(folder / "log")]
    tf.parse(str(folder / "log"), tmp_path / "alone.parquet")
    assert Path(made["output"][0]).read_bytes() == (tmp_path / "alone.parquet").read_bytes()


def test_a_new_task_is_a_change(tmp_path, out):
    for number in (301, 302):
        (tmp_path / f"log.{number}").write_text(READ.removeprefix("100 "))
    assert tf.parse_many(tmp_path / "log", out)["rows"].to_list() == [2]
    assert status(tf.parse_many(tmp_path / "log", out)) == ["skipped"]
    (tmp_path / "log.303").write_text(READ.removeprefix("100 "))
    again = tf.parse_many(tmp_path / "log", out)
    assert again.select("status", "rows").rows() == [("done", 3)]
    assert len(list(out.iterdir())) == 1


def test_one_unreadable_file_leaves_the_others_of_its_name(tmp_path, out):
    for number in (301, 302):
        (tmp_path / f"log.{number}").write_text(READ.removeprefix("100 "))
    # gzip by its first bytes, and nothing after them.
    (tmp_path / "log.303.gz").write_bytes(b"\x1f\x8b\x08\x00")
    made = tf.parse_many(sorted(tmp_path.glob("log.*")), out)
    assert sorted(status(made)) == ["done", "failed"]
    assert made.filter(status="done")["rows"].to_list() == [2]
    assert "log.303.gz" in made.filter(status="failed")["error"][0]


def test_bad_logs_stop_no_other(logs, out):
    (logs / "lead").write_text("nothing that any tracer prints\n" * 3)
    (logs / "dir").mkdir()
    names = ["missing", "a.strace", "lead", "b.strace", "dir"]
    made = tf.parse_many([logs / name for name in names], out)
    assert status(made) == ["failed", "done", "failed", "done", "failed"]
    failed = made.filter(status="failed")
    assert failed["output"].null_count() == failed["rows"].null_count() == 3
    for name, error, hint in zip(
        ["missing", "lead", "dir"], failed["error"], failed["hint"], strict=True
    ):
        assert error.startswith(str(logs / name))
        assert hint
    # The second run tries them again, and only them.
    (logs / "missing").write_text(READ)
    again = tf.parse_many([logs / name for name in names], out)
    assert status(again) == ["done", "skipped", "failed", "skipped", "failed"]
    assert again["rows"].to_list() == [1, 1, None, 2, None]


def test_a_pipe_is_refused_and_nothing_is_taken_from_it(logs, out):
    os.mkfifo(logs / "pipe")
    made = tf.parse_many([logs / "pipe", logs / "a.strace"], out)
    assert status(made) == ["failed", "done"]
    assert made["error"][0] == f"{logs / 'pipe'}: Not a regular file"
    assert made["hint"][0]


def test_a_name_that_is_not_utf_8_fails_alone(logs, out):
    odd = os.fsencode(logs) + b"/odd-\xff.301"
    Path(os.fsdecode(odd)).write_text(READ)
    made = tf.parse_many([os.fsdecode(odd), logs / "a.strace"], out)
    assert status(made) == ["failed", "done"]
    assert "odd-\\xff.301: the name is not UTF-8" in made["error"][0]


class TestResume:
    """What a second run does again."""

    @pytest.fixture(autouse=True)
    def first(self, logs, out):
        self.logs, self.out = all_of(logs), out
        assert status(tf.parse_many(self.logs, out)) == ["done"] * 3

    def again(self, **options) -> list[str]:
        return status(tf.parse_many(self.logs, self.out, **options))

    def test_nothing(self):
        before = {path: path.stat().st_ino for path in self.out.iterdir()}
        kept = tf.parse_many(self.logs, self.out)
        assert status(kept) == ["skipped"] * 3
        assert kept["rows"].to_list() == [1, 2, 3]
        assert {path: path.stat().st_ino for path in self.out.iterdir()} == before

    def test_all_of_it_if_asked_to(self):
        assert self.again(resume=False) == ["done"] * 3

    def test_new_logs(self, logs):
        (logs / "d.strace").write_text(READ)
        self.logs = all_of(logs)
        assert self.again() == ["skipped"] * 3 + ["done"]

    def test_a_log_that_grew(self):
        with Path(self.logs[1]).open("a") as log:
            log.write(READ)
        again = tf.parse_many(self.logs, self.out)
        assert status(again) == ["skipped", "done", "skipped"]
        assert again["rows"].to_list() == [1, 3, 3]
        assert self.again() == ["skipped"] * 3

    def test_a_log_that_was_touched(self):
        os.utime(self.logs[0], ns=(1, 1))
        assert self.again() == ["done", "skipped", "skipped"]

    def test_a_log_of_the_same_size_and_time(self):
        log = Path(self.logs[2])
        facts = log.stat()
        log.write_text((READ * 3).replace("100 ", "200 "))
        os.utime(log, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        assert self.again() == ["skipped", "skipped", "done"]

    @pytest.mark.parametrize(
        "options",
        [
            {"format_in": "strace"},
            {"machine": "arm64"},
            {"row_group": 7},
            {"compression": "zstd:3"},
            {"model": False},
        ],
    )
    def test_other_options(self, options):
        assert self.again(**options) == ["done"] * 3
        assert self.again(**options) == ["skipped"] * 3

    def test_not_for_options_that_change_no_byte(self):
        assert self.again(threads=2, jobs=2) == ["skipped"] * 3

    def test_another_schema(self, monkeypatch):
        monkeypatch.setattr("tracefast._core.SCHEMA_VERSION", "99")
        assert self.again() == ["done"] * 3

    def test_outputs_that_are_gone_or_are_not_whole(self):
        outputs = sorted(self.out.iterdir())
        outputs[0].unlink()
        with outputs[1].open("r+b") as file:
            file.truncate(1000)
        # Of the right length, but its end never reached the disk.
        size = outputs[2].stat().st_size
        with outputs[2].open("r+b") as file:
            file.seek(size - 200)
            file.write(b"\0" * 200)
        assert self.again() == ["done"] * 3
        assert pl.scan_parquet(self.out).select(pl.len()).collect().item() == 6

    def test_records_that_are_gone_torn_or_of_another_kind(self):
        records = sorted(manifest_of(self.out).glob("*.json"))
        records[0].unlink()
        records[1].write_text(records[1].read_text()[:100])
        records[2].write_text('{"source": 1}\n')
        assert self.again() == ["done"] * 3
        records[0].write_text("[" * 1_000_000)
        assert sorted(self.again()) == ["done", "skipped", "skipped"]
        assert self.again() == ["skipped"] * 3

    def test_copies_of_both_folders_are_as_good(self, tmp_path):
        shutil.copytree(self.out, tmp_path / "copy", copy_function=shutil.copyfile)
        shutil.copytree(
            manifest_of(self.out), tmp_path / "copy.manifest", copy_function=shutil.copyfile
        )
        assert status(tf.parse_many(self.logs, tmp_path / "copy")) == ["skipped"] * 3

    def test_what_others_left_unfinished_goes_after_a_while(self):
        partial = manifest_of(self.out) / "partial"
        fresh, old = partial / "fresh.parquet", partial / "old.parquet"
        fresh.touch()
        old.touch()
        hours = 2 * 3600 * 10**9
        os.utime(old, ns=(old.stat().st_mtime_ns - hours, old.stat().st_mtime_ns - hours))
        assert self.again() == ["skipped"] * 3
        assert list(partial.iterdir()) == [fresh]


def manifest_of(out: Path) -> Path:
    return out.with_name(out.name + ".manifest")


def test_a_log_that_grows_while_it_is_read_is_done_again(logs, out, monkeypatch):
    log = logs / "a.strace"
    look = manifests.Stamp.from_files

    def looked(files):
        stamp = look(files)
        with log.open("a") as more:
            more.write(READ)
        return stamp

    monkeypatch.setattr(manifests.Stamp, "from_files", looked)
    assert tf.parse_many(log, out)["rows"].to_list() == [2]
    monkeypatch.undo()
    assert tf.parse_many(log, out).select("status", "rows").rows() == [("done", 2)]
    assert status(tf.parse_many(log, out)) == ["skipped"]


def test_the_manifest_is_as_documented(logs, out):
    tf.parse_many([logs / "c.strace", logs / "missing"], out, compression="none")
    text = (DOCS / "batch.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    documented = [name.strip("` ") for row in rows for name in row.split("|")[1].split(",")]
    found = {}
    for path in manifest_of(out).glob("*.json"):
        lines = path.read_text().splitlines()
        assert len(lines) == 1
        record = json.loads(lines[0])
        assert sorted(record) == sorted(documented)
        found[Path(record["source"]).name] = record
    done, failed = found["c.strace"], found["missing"]
    log = logs / "c.strace"
    assert done["source"] == str(log)
    assert (done["files"], done["size"]) == (1, log.stat().st_size)
    assert done["mtime_ns"] == log.stat().st_mtime_ns
    assert (done["status"], done["error"], done["rows"], done["bytes"]) == (
        "done",
        None,
        3,
        len(READ) * 3,
    )
    assert done["options"]["compression"] == "none"
    assert done["version"] == tf.__version__
    assert done["output_bytes"] == (out / done["output"]).stat().st_size
    assert failed["status"] == "failed"
    assert failed["error"].endswith("missing: No such file or directory")


def test_shards_are_all_of_it_and_each_log_once(logs, out):
    shards = [tf.parse_many(all_of(logs), out, shard=(i, 2))["source"].to_list() for i in (1, 2)]
    assert shards == [[all_of(logs)[0], all_of(logs)[2]], [all_of(logs)[1]]]
    assert status(tf.parse_many(all_of(logs), out)) == ["skipped"] * 3
    assert tf.parse_many(all_of(logs), out, shard=(9, 9)).schema["rows"] == pl.Int64


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"machine": "z80"}, "machine"),
        ({"format_in": "dtrace"}, "format_in"),
        ({"compression": "lead"}, "compression"),
        ({"row_group": 0}, "row_group"),
        ({"jobs": 0}, "jobs"),
        ({"threads": 0}, "threads"),
        ({"shard": (0, 2)}, "shard"),
        ({"shard": (3, 2)}, "shard"),
        ({"executor": object()}, "executor"),
    ],
)
def test_wrong_options_are_refused_before_any_work(logs, out, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        tf.parse_many(all_of(logs), out, **options)
    assert not out.exists() or not list(out.iterdir())


def test_sources_that_are_none_are_refused(logs, out, tmp_path):
    with pytest.raises(ValueError, match="standard input"):
        tf.parse_many(["-", *all_of(logs)], out)
    with pytest.raises(ValueError, match="no source"):
        tf.parse_many([], out)
    with pytest.raises(FileNotFoundError):
        tf.parse_many(str(tmp_path / "no-*"), out)
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        tf.parse_many(all_of(logs), tmp_path / "file")
    with pytest.raises(ValueError, match="out_dir"):
        tf.parse_many(all_of(logs), "")


def test_a_mount_of_its_own_is_refused(logs, out, monkeypatch):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        if Path(elsewhere).stat().st_dev == logs.stat().st_dev:
            pytest.skip("there is one file system only")
        monkeypatch.setattr(
            manifests.Manifest, "beside", lambda _out: manifests.Manifest(elsewhere)
        )
        with pytest.raises(OSError, match="file system"):
            tf.parse_many(all_of(logs), out)


class Broken:
    """An executor whose workers die."""

    def submit(self, _run, job):
        future = Future()
        if job.log.source.endswith("b.strace"):
            future.set_exception(RuntimeError("the worker died"))
        else:
            future.set_result(_run(job))
        return future


def test_a_worker_that_dies_fails_its_log_only(logs, out):
    made = tf.parse_many(all_of(logs), out, executor=Broken())
    assert status(made) == ["done", "failed", "done"]
    assert made["error"][1] == f"{logs / 'b.strace'}: RuntimeError: the worker died"
    assert status(tf.parse_many(all_of(logs), out)) == ["skipped", "done", "skipped"]
