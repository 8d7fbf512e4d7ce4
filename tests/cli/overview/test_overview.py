"""`tracefast LOG`: a first answer on one screen, as installed."""

import json
import re
import shutil

import polars as pl
import pytest

import tracefast as tf
from support.kernel.split_log import split_log
from support.paths import DATA

DEMO = DATA / "demo.strace.zst"
CROSSED = DATA / "stalls" / "crossed_pipes.strace"
SCHEDULED = DATA / "demo.ftrace.zst"
# As strace -c writes it.
COUNTED = """\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
100.00    0.000010           5         2           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000010           5         2           total
"""
LOCKFORK = DATA / "starting" / "lockfork.strace.zst"


def shown_by(run, *arguments, **options):
    ran = run(*arguments, **options)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_one_screen(terminal):
    lines = terminal(DEMO, columns=80, lines=30).splitlines()
    assert all(len(line) <= 80 for line in lines)
    # Together with the prompt it fits a screen of 30 lines.
    assert len(lines) < 30
    assert "21,270 events in 1.7 s" in lines[0]
    assert "and 46 more processes and 8 threads" in lines[1]
    titles = [line.split("  ")[0] for line in lines[2:] if line and line[0] != " "]
    assert titles == [
        "Time of 55 tasks, added up: 3.9 s",
        "249 files: 37.0 MiB read, 4.5 MiB written",
        "1,540 calls failed, 7.2 %",
        "Worth a change",
    ]


def test_the_numbers_are_those_of_the_tables(run):
    whole = json.loads(shown_by(run, DEMO, "--format", "json", "--top", "3"))
    events = tf.scan(DEMO)
    assert whole["events"] == events.select(pl.len()).collect().item()
    errors = tf.errors(events).head(3).collect()
    assert [row["count"] for row in whole["errors"]] == errors["count"].to_list()
    files = tf.files(events).head(3).collect()
    assert [row["path"] for row in whole["files"]] == files["path"].to_list()
    calls = tf.syscalls(events).select(pl.col("total_ns", "wait_ns").sum()).collect()
    time = whole["time"]
    assert time["waiting_ns"] == calls["wait_ns"].item()
    parts = ("waiting_ns", "files_ns", "starting_ns", "other_ns")
    assert sum(time[part] for part in parts) == calls["total_ns"].item()
    assert time["total_ns"] == calls["total_ns"].item() + time["outside_ns"]


def test_what_hangs_is_found_first(run):
    findings = json.loads(shown_by(run, LOCKFORK, "--format", "json"))["findings"]
    known = tf.insights(tf.scan(LOCKFORK)).select("code", "title").head(5).collect()
    assert [(one["code"], one["title"]) for one in findings] == known.rows()
    assert findings[0]["code"] == "lock-at-fork"
    _, hangs, times, *_ = shown_by(run, LOCKFORK).split("\n\n")
    assert hangs.startswith("It hangs ")
    assert f"tracefast waits {LOCKFORK}\n  lock-at-fork: A child waits for a lock" in hangs
    assert times.startswith("Time of ")


def test_what_else_is_worth_a_change_is_said_after_what_hangs(run):
    assert "Worth a change: nothing else, by " in shown_by(run, CROSSED)


def test_of_a_log_with_few_durations_no_times_are_added_up(run, tmp_path):
    """Without -T, a log of strace has the durations of the calls that it splits."""
    (tmp_path / "timed.strace").write_text(split_log(" <0.000010>"))
    (tmp_path / "untimed.strace").write_text(split_log(""))
    assert "added up: " in shown_by(run, "timed.strace")
    shown = shown_by(run, "untimed.strace")
    assert "durations of few calls only (record with -T)" in " ".join(shown.split())
    assert "added up: " not in shown
    assert json.loads(shown_by(run, "untimed.strace", "--format", "json"))["time"] is None


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("killed by SIGSEGV (core dumped)", "/bin/app; killed by SIGSEGV"),
        ("exited with 3", "/bin/app; exit status 3"),
        ("exited with 0", "/bin/app"),
    ],
)
def test_how_the_program_ended(run, tmp_path, end, said):
    lines = ('execve("/bin/app", ["/bin/app"], 0x1 /* 9 vars */) = 0 <0.000100>', f"+++ {end} +++")
    text = "".join(f"7 1700000000.00000{at} {line}\n" for at, line in enumerate(lines))
    (tmp_path / "app.strace").write_text(text)
    assert shown_by(run, "app.strace").splitlines()[1] == said


def test_findings_name_what_they_are_about(run):
    text = shown_by(run, DEMO)
    assert "random-reads: Files are read at random (/srv/demo/data/models/resnet50" in text


def test_processes_are_those_that_make_calls(run):
    traced = tf.processes(tf.scan(SCHEDULED)).collect()
    calling = traced.filter(pl.col("calls") > 0).height
    assert 1 < calling < traced.height
    assert f"and {calling - 1} more process" in shown_by(run, SCHEDULED)


def test_a_large_log_is_not_parsed_again_for_each_rule(run, tmp_path):
    """The rules that need no further pass are those of hangs and of started processes."""
    large = tmp_path / "large.strace"
    blank = b" " * 99 + b"\n"
    large.write_bytes(CROSSED.read_bytes() + blank * (1 + (32 << 20) // len(blank)))
    findings = json.loads(shown_by(run, large, "--format", "json"))["findings"]
    assert findings == [
        {
            "code": "deadlock",
            "title": "2 tasks can never go on",
            "command": "waits",
            "object": None,
            "source": None,
        }
    ]


def test_parquet_shows_the_same(run, tmp_path):
    tf.parse(DEMO, tmp_path / "demo.parquet")
    of_log = shown_by(run, DEMO, "--format", "json")
    of_parquet = shown_by(run, "demo.parquet", "--format", "json")
    assert json.loads(of_log) == json.loads(of_parquet)


def test_standard_input(run, spawn_strace):
    text = shown_by(run, "-", input=spawn_strace.read_text())
    assert text.startswith("-: 1,226 events in ")
    assert "tracefast files LOG" in text


def test_ftrace(run, spawn_ftrace):
    text = shown_by(run, spawn_ftrace)
    assert "computing (outside of calls)" in text
    assert "strace itself" not in text


def test_several_logs_are_summed_up(run, spawn_strace, spawn_ftrace):
    text = shown_by(run, spawn_strace, spawn_ftrace)
    assert text.startswith("2 logs: 2,509 events\n")
    assert "tracefast errors LOG…" in text


def test_what_the_log_lacks(run, pth):
    text = " ".join(shown_by(run, pth).split())
    assert "The log: no times (record with -ttt -T); no thread ids" in text
    assert "Time of" not in text


def test_lines_that_were_not_understood_are_counted(run, tmp_path, spawn_strace):
    log = tmp_path / "odd.strace"
    log.write_text(spawn_strace.read_text() + "9530 this is not a call\n")
    assert "1 line not understood" in shown_by(run, log)


def test_what_reading_shows_of_the_quality(run, tmp_path, spawn_strace):
    text = spawn_strace.read_text()
    (tmp_path / "cut.strace").write_text("\n".join(line[:70] for line in text.splitlines()[:50]))
    report = tf.parse(tmp_path / "cut.strace", tmp_path / "cut.parquet")
    [lost] = [words for words in report.quality if words.endswith("lost")]
    assert lost in shown_by(run, "cut.strace")
    assert lost in shown_by(run, "cut.parquet")
    whole = json.loads(shown_by(run, spawn_strace, "--format", "json"))
    assert whole["quality"] == []
    (tmp_path / "counted.strace").write_text(COUNTED)
    ran = run("counted.strace")
    assert "The log: only strace's summary of calls (record without -c, or with -C)" in ran.stdout


def test_files_of_the_system_come_last_and_nothing_is_said_to_be_found(run):
    text = shown_by(run, DATA / "flow" / "tar.strace.zst")
    files = text.partition(" files: ")[2].partition(" calls failed")[0].splitlines()[2:7]
    paths = [line.split()[-1] for line in files]
    assert paths[:3] == ["/srv/apps/tar/in/b", "/srv/apps/tar/out.tar.gz", "/srv/apps/tar/in/a"]
    assert paths[3].endswith("/libc.so.6")
    assert "Worth a change: nothing, by 43 rules" in text


def test_what_ran_where_the_log_shows_no_start_and_no_names(run, tmp_path):
    opens = ("python3-7", "openat(dfd: ffffff9c, filename: 7ffd1000, flags: 0, mode: 0)", 3)
    read = ("python3-7", "read(fd: 3, buf: 7ffd0000, count: 1000)", 4096)
    calls = ("sh-6", "getppid()", 5), opens, read, read
    lines = ["# tracer: nop", "#"]
    for at, (task, call, result) in enumerate(calls):
        where = f" {task:>15} [000] ..... 100.0000{at}"
        name = call.partition("(")[0]
        lines += [f"{where}1: sys_{call}", f"{where}2: sys_{name} -> {result:#x}"]
    (tmp_path / "short.ftrace").write_text("\n".join(lines) + "\n")
    text = shown_by(run, "short.ftrace")
    assert text.splitlines()[1] == "python3, and 1 more process"
    # How many files these are, nobody can say.
    assert "Files without names: 8.0 KiB read, 0 B written" in text
    assert "read  " not in text
    # A log of the scheduler alone names no programs that it follows.
    machine = shown_by(run, DATA / "page-cache" / "rand.ftrace.zst").splitlines()
    assert "more process" not in machine[1]


def test_an_empty_log(run, tmp_path):
    (tmp_path / "empty.strace").touch()
    ran = run("empty.strace")
    assert (ran.returncode, ran.stdout) == (0, "empty.strace: 0 events\n")
    assert "the log is empty" in ran.stderr


def test_a_part_of_the_log(run):
    part = json.loads(shown_by(run, DEMO, "--to", "0.5", "--format", "json"))
    assert 0 < part["events"] < 21_270


@pytest.mark.parametrize(
    ("word", "what", "hint"),
    [
        ("fils", "fils: no such command", "did you mean 'files'?"),
        ("none.strace", "none.strace: No such file or directory", "check the name"),
        ("none/app", "none/app: No such file or directory", "check the name"),
    ],
)
def test_neither_a_command_nor_a_log(run, word, what, hint):
    ran = run(word, "app.strace")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"error: {what}" in ran.stderr
    assert hint in ran.stderr


def test_a_command_goes_before_a_file_of_its_name(run, tmp_path, spawn_strace):
    (tmp_path / "processes").write_bytes(spawn_strace.read_bytes())
    assert shown_by(run, "processes", "processes") == shown_by(run, "processes", spawn_strace)
    assert shown_by(run, "./processes").startswith("./processes: 1,226 events")


def test_a_log_without_a_suffix(run, tmp_path, spawn_strace):
    (tmp_path / "app").write_bytes(spawn_strace.read_bytes())
    assert shown_by(run, "app").startswith("app: 1,226 events")


def test_other_forms_are_refused(run, spawn_strace):
    ran = run(spawn_strace, "--format", "csv")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "give --format json" in ran.stderr


@pytest.mark.parametrize("ask", [[], ["syscalls", "--hist"]])
def test_what_is_no_log_is_named_and_the_others_are_summed_up(run, tmp_path, ask):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("a.md", "z.md"):
        (folder / name).write_text("# Notes\n")
    for at in range(2):
        log = f'{at + 1} 1700000000.0 openat(AT_FDCWD, "/srv/a", O_RDONLY) = 3 <0.1>\n'
        (folder / f"{at}.strace").write_text(log)
    alone, ran = run(*ask, *sorted(folder.glob("*.strace"))), run(*ask, folder)
    assert ran.returncode == 2
    assert ran.stderr.count("error: ") == ran.stderr.count("no line of the first megabyte") == 2
    # Below the heading, and but for the commands that show more, it is the same.
    lines = [re.sub(" +tracefast .*", "", each.stdout).splitlines()[1:] for each in (alone, ran)]
    assert lines[0] == lines[1] != []


def test_the_heading_names_what_was_read(run, tmp_path):
    # A long name would take lines of its own.
    shutil.copy(DEMO, tmp_path / "demo.zst")
    ran = run("demo.zst", "none.strace", cwd=tmp_path)
    assert ran.returncode == 2
    assert ran.stdout.startswith("demo.zst: 21,270 events")


@pytest.mark.parametrize(
    ("program", "heading"), [("header_then_all", "op "), ("failed_opens", "count ")]
)
def test_of_several_logs_each_line_says_of_which_it_is(run, tmp_path, program, heading):
    for name in ("a", "b"):
        shutil.copy(DATA / "insights" / f"{program}.strace.zst", tmp_path / f"{name}.zst")
    several = shown_by(run, tmp_path)
    assert re.search(rf"\n  source +{heading}.*\n  a\.zst .*\n  b\.zst ", several)
    code = program.replace("_", "-")
    assert f"\n  a.zst: {code}: " in several
    assert f"\n  b.zst: {code}: " in several
    alone = shown_by(run, tmp_path / "a.zst")
    assert re.search(rf"\n  +{heading}", alone)
    assert f"\n  {code}: " in alone


def test_time_outside_of_calls_may_be_that_of_others_if_not_all_were_traced(run, tmp_path):
    log = tmp_path / "filtered.strace"
    log.write_text(
        '1 1700000000.0 execve("/bin/a", ["a"], 0x7f /* 9 vars */) = 0 <0.1>\n'
        + "".join(
            f'1 17000000{at:02}.0 openat(AT_FDCWD, "/srv/a", O_RDONLY) = 3 <0.1>\n'
            f'1 17000000{at:02}.2 read(3, "x"..., 4096) = 4096 <0.1>\n'
            f"1 17000000{at:02}.4 close(3) = 0 <0.1>\n"
            for at in range(1, 40)
        )
    )
    text = shown_by(run, log)
    assert "not all calls were traced" in text
    assert "computing, calls that were not traced, and strace itself (at most " in text
