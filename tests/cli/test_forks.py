"""`tracefast forks`: the screen that says what starting processes costs, and why."""

import csv
import io
import json
import os
import pty
import re
import subprocess
from dataclasses import replace

import polars as pl
import pytest

import tracefast as tf
from support.forks import MIB, MS, made, same
from support.paths import DATA
from tracefast.analysis.forks.evidence import fork_rows
from tracefast.analysis.forks.summary import SCHEMA, report
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.screen.forks_report import render_report, select_groups

TRACED = {"tracer_low_ns": 0, "tracer_high_ns": 10 * MS}


@pytest.fixture
def python37():
    return DATA / "starting" / "subprocess_python37.strace.zst"


def screen_of(rows, **options) -> str:
    found = report(fork_rows(made(rows)).collect(), threads=True)
    return render_report(found, **options)


def test_what_was_started_how_often_by_which_program_and_where_the_time_went(run, python37):
    ran = run("forks", python37)
    assert ran.returncode == 0, ran.stderr
    text = ran.stdout
    assert text.startswith("100 processes were started in 9.19 s. Starting them took 5.")
    assert re.search(r"^  100  fork   15\.9 +2 +5\..* → /bin/echo$", text, re.MULTILINE)
    for line in (
        r"in the call  24\.1 ms +29\.6 ms +2\.51 s +27  copies the parent's page tables",
        r"in execve    25\.2 ms +44\.5 ms +2\.86 s +31  frees the copied page tables",
        r"error pipe   25\.\d ms .* the parent waits for the child's execve \(overlaps\)",
        r"strace's own share of call, gap and execve: ",
        r"page-table-copy: saves 5\.\d+ s",
        r"  Each fork copies the page tables .*",
    ):
        assert re.search(f"^{line}", text, re.MULTILINE), line
    assert "Python before 3.10 (here 3.7)" in text
    assert max(len(line) for line in text.splitlines()) <= 110


def test_forms_for_machines_have_the_summary_as_it_is(run, python37):
    array = json.loads(run("forks", python37, "--format", "json").stdout)
    (row,) = array
    assert list(row) == [name for name in SCHEMA if name != "source"]
    assert row["count"] == 100
    assert row["call_p50_ns"] == 24_094_000
    assert row["advice"] == "page-table-copy error-pipe many-processes"
    (text,) = csv.DictReader(io.StringIO(run("forks", python37, "--format", "csv").stdout))
    assert (text["count"], text["call_p50_ns"], text["slope_r2"]) == ("100", "24094000", "")
    assert run("forks", python37, "--format", "ndjson").stdout.count("\n") == 1
    run("forks", python37, "-o", "out.parquet")


def test_parquet_has_the_types(run, python37, tmp_path):
    run("forks", python37, "-o", "out.parquet")
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert dict(frame.schema) == {name: SCHEMA[name] for name in SCHEMA if name != "source"}


def test_each_process_has_a_row(run, python37):
    rows = run("forks", python37, "--each", "--format", "ndjson").stdout.splitlines()
    assert len(rows) == 100
    assert json.loads(rows[0])["kind"] == "fork"
    listed = run("forks", python37, "--each", "--sort", "call_ns", "--top", 3).stdout.splitlines()
    assert len(listed) == 4
    assert listed[0].split()[:3] == ["ts", "tid", "kind"]


def test_the_whole_summary_as_a_table(run, python37):
    header, row = run("forks", python37, "--wide").stdout.splitlines()
    assert "slope ns per mib" in header
    assert "page-table-copy error-pipe" in row


def test_a_column_that_is_not_there(run, spawn_strace):
    ran = run("forks", spawn_strace, "--sort", "call_ns")
    assert ran.returncode == 2
    assert ran.stderr == (
        "error: --sort call_ns: only single processes have this column\nhint: add --each\n"
    )
    ran = run("forks", spawn_strace, "--sort", "nonsense")
    assert "hint: tracefast schema fork_summary lists all of them" in ran.stderr
    assert run("forks", spawn_strace, "--each", "--sort", "tax_ns").returncode == 2


def test_a_log_without_processes(run, pth):
    ran = run("forks", pth)
    assert ran.returncode == 0
    assert ran.stdout == "The log does not show the start of any process.\n"
    assert json.loads(run("forks", pth, "--format", "json").stdout) == []


def test_a_terminal_cuts_lines_and_lists(command):
    demo = DATA / "demo.strace.zst"
    master, slave = pty.openpty()
    environment = os.environ | {"COLUMNS": "70", "LINES": "30", "TERM": "xterm"}
    asked = [command, "forks", "--top", "3", demo]
    with subprocess.Popen(asked, stdout=slave, env=environment) as process:
        os.close(slave)
        data = b""
        while True:
            try:
                data += os.read(master, 4096)
            except OSError:
                break
    assert process.returncode == 0
    # Headings are bold.
    lines = data.decode().replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
    assert max(map(len, lines)) <= 70
    assert any(re.fullmatch(r"\d+ more rows; --top 0 prints all", line) for line in lines)
    listed = [line for line in lines if re.match(r" +\d+  \w+ .* →", line)]
    assert len(listed) == 3
    assert listed[2].endswith("python3 → python3")


def test_the_list_is_sorted_by_the_cost_that_it_shows():
    rows = [
        {"image": "/bin/logged", "call_ns": 20 * MS, "tracer_low_ns": 0, "tracer_high_ns": 0},
        {"image": "/bin/traced", "call_ns": 30 * MS, "tracer_low_ns": 15 * MS},
        {"image": "/bin/cheap", "call_ns": 5 * MS, "tracer_low_ns": 0, "tracer_high_ns": 0},
        {"image": "/bin/unknown", "call_ns": None, "exec_ns": None},
    ]
    rows = [{"kind": "vfork", "tracer_high_ns": 20 * MS} | row for row in rows]
    found = report(fork_rows(made(rows)).collect(), threads=True)
    request = Request(inputs=[], form=Format.TABLE)

    def listed(request):
        cases = select_groups(found, request).cases
        return [case.text("image").removeprefix("/bin/") for case in cases]

    assert listed(request) == ["logged", "traced", "cheap", "unknown"]
    assert found.cases[0].text("image") == "/bin/traced"
    # As the log has it, where that is asked for.
    assert listed(replace(request, sort="tax_ns"))[:2] == ["traced", "logged"]


def test_notes_go_on_where_the_terminal_ends():
    rows = [{"parent_anon_bytes": n * 10 * MIB, "call_ns": n * MS} for n in range(10, 40)]
    text = screen_of(rows, width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "copies the parent's page tables: 100.0 µs per MiB (R² 1.00)" in " ".join(text.split())


def test_into_a_file(run, python37, tmp_path):
    assert run("forks", python37, "-o", "out.txt").stdout == ""
    assert (tmp_path / "out.txt").read_text() == run("forks", python37).stdout


def test_several_logs_are_separate(run, python37, spawn_strace):
    text = run("forks", python37, spawn_strace).stdout
    assert "of 2 logs" in text.splitlines()[0]
    assert re.search(r"  \S+subprocess_python37\.strace\.zst +\S+ → /bin/echo\n", text)
    assert re.search(r"  \S+spawn\.strace +\S+ → /usr/bin/true\n", text)


def test_ranges_are_without_the_tracer():
    text = screen_of(same(10, **TRACED, log_exec_ns=MS))
    shown = " ".join(text.split())
    assert "Starting them took 300 to 400 ms, 32 to 43 % of the time. strace" in shown
    assert "300-400 ms   32-43  " in text
    assert "strace" not in screen_of(same(10))


def test_what_the_log_does_not_know_is_not_there():
    text = screen_of([{"call_ns": None, "exec_ns": None, "lifetime_ns": None, "kind": None}])
    assert re.search(r"^ +1  \? +- +1 +- ", text, re.MULTILINE)
    assert "None" not in text
    text = screen_of([{"parent_image": None, "image": None, "exec_ns": None}])
    assert "(unknown program) → (itself)" in text
    text = screen_of([{"image": None, "exec_failed": 3, "exec_ns": None}])
    assert "(no program found)" in text
    assert "(a thread)" in screen_of([{"kind": "thread", "image": None, "exec_ns": None}])


def test_the_same_advice_is_given_once():
    rows = [
        {"image": None, "exec_ns": None, "parent_tasks": 2, "parent_image": f"/bin/p{i}"}
        for i in range(5)
    ]
    text = screen_of(rows)
    assert text.count("A process with several threads is forked") == 1
    assert text.count("  Seen: p") == 3
    assert "  … and 2 more\n" in text
    assert text.count("  Do: ") == 1


def test_names_cannot_move_the_cursor():
    text = screen_of(same(200, image="/bin/\x1b[31mred\nline", exec_failed=3, exec_failed_ns=MS))
    assert "\x1b" not in text
    assert "\\33[31mred\\nline" in text


def test_memory_and_slope_are_given():
    rows = [{"parent_anon_bytes": n * 10 * MIB, "call_ns": n * MS} for n in range(10, 40)]
    text = screen_of(rows)
    assert "30 forks by a parent with 100 to 390 MiB of its own memory" in text
    assert "copies the parent's page tables: 100.0 µs per MiB (R² 1.00)" in text


def test_sorted_by_any_column(run):
    demo = DATA / "demo.strace.zst"
    rows = json.loads(run("forks", demo, "--sort", "count", "--format", "json").stdout)
    counts = [row["count"] for row in rows]
    assert counts == sorted(counts, reverse=True)
    listed = re.findall(
        r"^ +(\d+)  \w+ .* → ", run("forks", demo, "--sort", "count").stdout, re.MULTILINE
    )
    assert [int(number) for number in listed] == counts
    assert tf.fork_summary(tf.scan(demo)).collect()["count"].sum() == sum(counts)


def test_a_few_processes_have_no_rate(run, tmp_path):
    line = "1 17000000{:02}.000000 vfork() = {} <0.0001>\n"
    for number, rate in ((9, "-"), (10, "1.0")):
        (tmp_path / "log").write_text("".join(line.format(i, 10 + i) for i in range(number)))
        row = next(x for x in run("forks", "log").stdout.splitlines() if " vfork " in x)
        assert row.split()[:3] == [str(number), "vfork", rate]


def test_impossible_times_are_unknown(run, tmp_path):
    huge = "9223372036.854775807"
    log = tmp_path / "long.strace"
    log.write_text(
        f"100 1700000000.000000 vfork( <unfinished ...>\n"
        f'101 1700000000.000100 execve("/bin/true", ["true"], 0x7ff /* 2 vars */) = 0 <{huge}>\n'
        f"100 1700000000.000200 <... vfork resumed>) = 101 <{huge}>\n"
        "101 1700000000.000300 +++ exited with 0 +++\n"
        "100 1700000000.000400 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101,"
        " si_uid=0, si_status=0, si_utime=9223372036854775807, si_stime=3} ---\n"
    )
    for options in ([], ["--each"], ["--format", "csv"]):
        ran = run("forks", log, *options)
        assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran.stderr
    row = tf.forks(tf.scan(log)).collect().row(0, named=True)
    # The halves of vfork have times of their own.
    assert (row["call_ns"], row["exec_ns"]) == (200_000, None)
    assert (row["child_utime_ns"], row["child_stime_ns"]) == (None, 30_000_000)


def test_the_gap_before_an_execve_is_never_negative(run, tmp_path):
    # The clock was set back between the return of fork and the execve.
    log = tmp_path / "back.strace"
    log.write_text(
        "100 1700000000.000000 fork() = 101 <0.000100>\n"
        "101 1700000000.500000 <... fork resumed>) = 0 <0.000010>\n"
        '101 1699999999.000000 execve("/bin/true", ["true"], 0x7ff /* 2 vars */) = 0 <0.000100>\n'
        "101 1699999999.100000 +++ exited with 0 +++\n"
    )
    row = tf.forks(tf.scan(log)).collect().row(0, named=True)
    assert (row["image"], row["exec_gap_ns"]) == ("/bin/true", None)
    assert run("forks", log).returncode == 0


def test_all_columns_are_as_logged(run, spawn_strace):
    assert "with what strace adds" in run("forks", spawn_strace, "--wide").stderr
    assert run("forks", spawn_strace, "--wide", "--quiet").stderr == ""
    assert run("forks", spawn_strace, "--format", "csv").stderr == ""
