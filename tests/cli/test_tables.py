"""What commands that print tables have in common: forms, sorting, several logs, terminals."""

import csv
import io
import json
import os
import pty
import subprocess

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA


def test_the_model_file(run, pth):
    ran = run("files", pth)
    assert ran.returncode == 0
    assert ran.stderr == "total: 1 file, 42.3 KiB in 10 reads\n"
    _header, row = ran.stdout.splitlines()
    assert row.split() == [
        *["read", "43,290", "10", "0", "random", "88", "%", "1.605", "0.02%", "-"],
        "data/unet_carvana_scale0.5_epoch2.pth",
    ]


def test_a_table_that_is_not_on_a_terminal_is_whole_and_plain(run, spawn_strace):
    ran = run("files", spawn_strace)
    assert ran.returncode == 0
    assert "\x1b" not in ran.stdout
    assert "…" not in ran.stdout
    rows = tf.files(tf.scan(spawn_strace)).collect()
    both = rows.filter(pl.col("reads") + pl.col("read_errors") > 0, pl.col("writes") > 0)
    # One line for reads, one for writes.
    assert both.height > 0
    assert len(ran.stdout.splitlines()) == rows.height + both.height + 1
    for path in rows["path"]:
        assert path in ran.stdout


@pytest.mark.parametrize("question", ["files", "forks", "events"])
def test_logs_parquet_arrow_and_standard_input_answer_alike(run, question, spawn, tmp_path):
    expected = run(question, spawn).stdout
    assert expected.count("\n") > (0 if spawn.suffix == ".ftrace" else 3)
    run("parse", spawn, "-o", "events.parquet")
    run("parse", spawn, "-o", "events.arrow")
    assert run(question, "events.parquet").stdout == expected
    assert run(question, "events.arrow").stdout == expected
    for source in (spawn, tmp_path / "events.parquet", tmp_path / "events.arrow"):
        assert run(question, "-", input=source.read_bytes(), text=False).stdout.decode() == expected
        with source.open("rb") as file:
            assert run(question, "-", stdin=file).stdout == expected


def test_json_ndjson_and_csv(run, spawn_strace):
    expected = tf.forks(tf.scan(spawn_strace)).filter(pl.col("kind") != "thread").collect()
    asked = ("forks", spawn_strace, "--each", "--format")
    array = json.loads(run(*asked, "json").stdout)
    lines = run(*asked, "ndjson").stdout.splitlines()
    table = list(csv.DictReader(io.StringIO(run(*asked, "csv").stdout)))
    assert array == [json.loads(line) for line in lines]
    assert len(array) == len(table) == expected.height
    assert list(array[0]) == list(table[0]) == expected.columns[1:]
    first = array[0]
    assert first["ts"] == table[0]["ts"] == "2026-11-21T02:58:59.114052000"
    assert first["call_ns"] == int(table[0]["call_ns"]) == 1_863_000
    assert first["exit_signal"] is None
    assert table[0]["exit_signal"] == ""


def test_parquet_out(run, spawn_strace, tmp_path):
    assert run("files", spawn_strace, "--format", "parquet", "-o", "files").returncode == 0
    assert run("files", spawn_strace, "-o", "files.parquet").returncode == 0
    expected = tf.files(tf.scan(spawn_strace)).drop("source").collect()
    assert_frame_equal(pl.read_parquet(tmp_path / "files"), expected)
    assert_frame_equal(pl.read_parquet(tmp_path / "files.parquet"), expected)
    ran = run("files", spawn_strace, "--format", "parquet", text=False)
    assert_frame_equal(pl.read_parquet(io.BytesIO(ran.stdout)), expected)


def test_an_output_replaces_what_was_there_unless_asked_not_to(run, pth, tmp_path):
    output = tmp_path / "files.csv"
    output.write_text("precious")
    ran = run("files", pth, "-o", output, "--no-clobber")
    assert ran.returncode == 2
    assert "hint: " in ran.stderr
    assert output.read_text() == "precious"
    assert run("files", pth, "-o", output).returncode == 0
    assert output.read_text().startswith("file,path,")
    assert [path.name for path in tmp_path.iterdir()] == ["files.csv"]


def test_sort_top_match_and_type(run, spawn_strace):
    def column(name, *options):
        out = run("files", spawn_strace, "--format", "ndjson", *options).stdout
        return [json.loads(line)[name] for line in out.splitlines()]

    sizes = [size for size in column("size", "--sort", "size") if size is not None]
    assert sizes == sorted(sizes, reverse=True)
    paths = column("path", "--sort", "path")
    assert paths == sorted(paths)
    assert len(column("path", "--top", 3)) == 3
    assert len(column("path", "--top", 0)) == len(paths)
    assert column("path", "--match", "data.bin") == ["/srv/spawn/data.bin"]
    assert column("path", "--match", "/srv/*.bin", "--top", 1) == ["/srv/spawn/data.bin"]
    assert set(column("type", "--type", "regular")) == {"regular"}
    ran = run("files", spawn_strace, "--sort", "nonsense")
    assert ran.returncode == 2
    assert ran.stderr == (
        "error: --sort nonsense: no such column\nhint: tracefast schema files lists all of them\n"
    )


def test_threads_are_shown_when_asked_for(run, spawn_strace):
    assert "thread" not in run("forks", spawn_strace).stdout
    assert "thread" in run("forks", spawn_strace, "--threads").stdout
    ran = run("forks", spawn_strace, "--each", "--match", "true")
    assert ran.stdout.count("/bin/true") == 2


def test_all_columns(run, pth):
    header = run("files", pth, "--wide").stdout.splitlines()[0]
    for name in tf.files(tf.scan(pth)).collect_schema():
        words = name.removesuffix("_ns").replace("_", " ")
        assert (words in header) == (name != "source")


def test_source_comes_first_with_more_than_one_log(run, pth, spawn_strace):
    ran = run("files", pth, spawn_strace, "--format", "csv")
    assert ran.stdout.startswith("source,file,path,")
    assert f"{pth}," in ran.stdout
    assert run("files", pth, "--format", "csv").stdout.startswith("file,path,")
    assert run("files", pth, spawn_strace).stdout.startswith("source")


def test_logs_that_fail_do_not_stop_the_others(run, pth, tmp_path):
    (tmp_path / "program").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 100)
    (tmp_path / "other.parquet").write_bytes(b"PAR1 but not really PAR1")
    ran = run("files", "missing", "program", "other.parquet", pth, "--format", "ndjson")
    assert ran.returncode == 2
    assert ran.stderr.count("error: ") == 3
    for name in ("missing", "program", "other.parquet"):
        assert f"error: {name}:" in ran.stderr
    assert json.loads(ran.stdout)["read_bytes"] == 43_290


def test_parquet_of_something_else(run, tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    ran = run("files", "other.parquet")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: other.parquet: not the events of a log")
    assert "Traceback" not in ran.stderr


def test_an_empty_log_has_an_empty_table(run, tmp_path):
    (tmp_path / "empty").touch()
    for question in ("files", "forks", "events"):
        ran = run(question, "empty")
        assert ran.returncode == 0
        assert len(ran.stdout.splitlines()) == 1
        assert "warning: " in ran.stderr


def test_a_terminal_gets_units_that_people_read(terminal, pth):
    header, row, total = terminal("files", pth).splitlines()
    assert "42.3 KiB" in row
    assert header.split() == ["op", "bytes", "calls", "pattern", "re-read", "covered", "path"]
    assert row.endswith(".pth")
    assert max(map(len, (header, row))) <= 100
    assert total == "total: 1 file, 42.3 KiB in 10 reads"


def test_binary_does_not_go_to_a_terminal(command, pth):
    for arguments in (["parse", pth, "-o", "-"], ["files", pth, "--format", "parquet"]):
        master, slave = pty.openpty()
        ran = subprocess.run(
            [command, *arguments], stdout=slave, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(slave)
        os.close(master)
        assert ran.returncode == 2
        assert "hint: " in ran.stderr


def test_a_directory_means_the_files_in_it(run, spawn_strace, pth, tmp_path):
    (tmp_path / "runs" / "more").mkdir(parents=True)
    for log, name in ((spawn_strace, "a.strace"), (pth, "more/b.strace")):
        (tmp_path / "runs" / name).write_bytes(log.read_bytes())
    asked = ("--format", "csv")
    expected = run("events", "runs/a.strace", "runs/more/b.strace", *asked).stdout
    assert run("events", "runs", *asked).stdout == expected
    assert expected.count("runs/more/b.strace") > 3
    assert run("parse", "runs", "-o", "one.parquet").returncode == 0
    assert run("events", "one.parquet", *asked).stdout == expected
    for _ in range(2):
        assert run("parse", "runs", "--out-dir", "events").returncode == 0
    logs = run("events", "events", *asked).stdout
    assert len(logs.splitlines()) == len(expected.splitlines())
    # What a run has written into the folder of its logs are the same events twice.
    run("parse", "runs/a.strace", "-o", "runs/a.parquet")
    ran = run("events", "runs")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: runs: holds both logs and Parquet or Arrow files")
    assert "runs/*.parquet or runs/*.strace" in ran.stderr


SUMMARY = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 87.72    0.000050          25         2         1 read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000057          19         3         1 total
"""


@pytest.mark.parametrize(
    "question",
    [
        *(["files"], ["files", "--darshan"], ["forks"], ["forks", "--each"], ["processes"]),
        *(["processes", "--tree"], ["syscalls"], ["syscalls", "--strace-c"], ["events"]),
        *(["blocks"], ["sql", "SELECT count(*) AS n FROM events"]),
    ],
    ids=str,
)
def test_a_log_without_events_is_warned_of(run, spawn_strace, tmp_path, question):
    (tmp_path / "summary.log").write_text(SUMMARY)
    run("parse", "summary.log", "-o", "summary.parquet")
    for name in ("summary.log", "summary.parquet"):
        ran = run(*question, name)
        assert ran.returncode == 0
        assert ran.stderr.count(f"warning: {name}: no event was found\n") == 1
    ran = run(*question, "-", input=SUMMARY)
    assert ran.stderr.count("no event was found") == 1
    assert "no event was found" not in run(*question, spawn_strace).stderr
    assert "no event was found" not in run(*question, "summary.log", "-q").stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("files", "--sort", "time"), "the heading 'time' is read_ns or write_ns"),
        (("files", "--sort", "err"), "the heading 'err' is read_errors or write_errors"),
        (("files", "--sort", "re-read"), "is read_reread_factor or write_reread_factor"),
        (("files", "--where", "covered > 0.5"), "is read_coverage_share or write_coverage_share"),
        (("files", "--explain", "data.bin", "--sort", "dur"), "the heading 'dur' is dur_ns"),
        (("files", "--explain", "data.bin", "--sort", "xyzzy"), "tracefast schema accesses lists"),
        (("files", "--page-cache", "--sort", "xyzzy"), "tracefast schema page_cache lists"),
        (("files", "--darshan", "--sort", "xyzzy"), "tracefast schema darshan lists"),
        (("syscalls", "--sort", "max"), "the heading 'max' is max_ns"),
        (("syscalls", "--sort", "max ms"), "the heading 'max ms' is max_ns"),
        (("syscalls", "--by", "process", "--sort", "xyzzy"), "tracefast schema syscalls lists"),
        (("processes", "--sort", "exit"), "the heading 'exit' is exit_status"),
        (("processes", "--tree", "--where", "written > 1"), "the heading 'written' is write_bytes"),
        (("forks", "--sort", "cost"), "the heading 'cost' is tax_ns"),
        (("forks", "--sort", "xyzzy"), "tracefast schema fork_summary lists"),
        (("forks", "--each", "--where", "xyzzy > 1"), "tracefast schema forks lists"),
        (("events", "--sort", "xyzzy"), "tracefast schema event_counts lists"),
        (("blocks", "--sort", "seq 1"), "the heading 'seq 1' is sequential_share_1"),
    ],
)
def test_hints_lead_from_headings_to_columns(run, spawn_strace, arguments, hint):
    ran = run(*arguments, spawn_strace)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "no such column" in ran.stderr
    assert hint in ran.stderr


CACHE = DATA / "page-cache"
TWO = (CACHE / "streams.ftrace.zst", CACHE / "rand.ftrace.zst")


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize(
    "arguments",
    [
        ("blocks", DATA / "demo.ftrace.zst"),
        ("blocks", CACHE / "streams.ftrace.zst"),
        ("blocks", *TWO),
        ("files", "--page-cache", CACHE / "streams.ftrace.zst"),
        ("files", "--page-cache", CACHE / "mmaprand.ftrace.zst"),
        ("files", "--page-cache", *TWO),
        ("files", *TWO),
        ("files", DATA / "demo.strace.zst", DATA / "demo.ftrace.zst"),
        ("files", DATA / "demo.strace.zst", "--by", "open"),
        ("files", DATA / "demo.strace.zst", "--explain", "*/0019.img"),
        ("processes", DATA / "demo.strace.zst"),
        ("processes", *TWO),
        ("processes", DATA / "demo.strace.zst", DATA / "demo.ftrace.zst"),
        ("syscalls", DATA / "demo.strace.zst", DATA / "demo.ftrace.zst"),
        ("forks", DATA / "demo.strace.zst", DATA / "demo.ftrace.zst"),
        ("forks", "--each", DATA / "demo.strace.zst"),
        ("events", *TWO),
    ],
    ids=str,
)
def test_tables_fit_the_terminal(terminal, arguments, columns):
    lines = terminal(*arguments, columns=columns).splitlines()
    assert len(lines) > 1
    # A terminal wraps what is said in sentences.
    table = [line for line in lines if not line.startswith("note: ")]
    assert [line for line in table if len(line) > columns] == []


@pytest.mark.parametrize("columns", [60, 80, 100, 120])
def test_rows_of_forks_can_be_joined_with_processes(terminal, columns):
    log = DATA / "demo.strace.zst"
    header, first, *_ = terminal("forks", "--each", log, columns=columns).splitlines()
    assert "  child pid  " in header
    assert "  11787  " in first
    assert max(len(header), len(first)) <= columns
    header, *_ = terminal("processes", log, columns=columns).splitlines()
    assert "ppid" in header.split()


def test_costs_of_several_logs_stay_separate(terminal):
    logs = (DATA / "demo.strace.zst", DATA / "demo.ftrace.zst")
    text = terminal("forks", *logs, columns=80)
    assert "  demo.strace.zst  " in text
    assert "  demo.ftrace.zst  " in text


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_terminal_shows_how_sequential_requests_were(terminal, columns):
    header, reads, *_ = terminal("blocks", *TWO, columns=columns).splitlines()
    assert "seq 1  seq 4" in header
    assert "0 %   95 %" in reads


@pytest.mark.parametrize("question", [("blocks",), ("files", "--page-cache")])
def test_rows_of_several_logs_stay_separate(terminal, question):
    text = terminal(*question, *TWO, columns=80)
    assert "\nrand.ftrace.zst  " in text
    assert "\nstreams.ftrace.zst  " in text


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (("files", "--match", "*/images/*", "--top", 39), "1 more file"),
        (("files", "--match", "*/images/*", "--top", 30), "10 more files"),
        (("files", "--match", "*/0019.img", "--by", "process", "--top", 1), "files of processes"),
        (("files", "--match", "*/0019.img", "--by", "open", "--top", 1), "more open files"),
        (("processes", "--top", 46), "1 more row"),
        (("processes", "--top", 45), "2 more rows"),
    ],
)
def test_what_is_left_out_is_counted_by_its_name(terminal, arguments, note):
    text = terminal(*arguments, DATA / "demo.strace.zst")
    assert f"{note}; --top 0 prints all\n" in text
