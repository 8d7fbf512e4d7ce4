"""`tracefast hooks`, as installed."""

import csv
import io
import json

import pytest

import tracefast as tf
from support.paths import DATA

DEMO = DATA / "demo.strace.zst"
KERNEL = ("--inventory", DATA / "hooks" / "linux-6.18")


def test_one_row_per_call_the_longest_first(run):
    ran = run("hooks", DEMO, *KERNEL)
    assert (ran.returncode, ran.stderr) == (0, "")
    head, *rows = ran.stdout.splitlines()
    assert head.split() == [
        *("events/s", "calls", "total", "ms", "err", "name", "tracepoints", "functions")
    ]
    assert len(rows) == 78
    read = next(row for row in rows if "sys_{enter,exit}_read " in row)
    assert "ksys_read vfs_read filemap_read" in read
    assert any("sys_enter_exit_group" in row and "{enter" not in row for row in rows)


def test_all_columns_in_other_forms(run):
    table = json.loads(run("hooks", DEMO, *KERNEL, "--format", "json").stdout)
    text = csv.DictReader(io.StringIO(run("hooks", DEMO, *KERNEL, "--format", "csv").stdout))
    assert list(table[0]) == tf.hooks(tf.scan(DEMO)).collect_schema().names()[1:]
    assert [row["name"] for row in text] == [row["name"] for row in table]
    functions = next(row for row in table if row["name"] == "read")["functions"]
    assert set(functions[0]) == {"name", "probe", "tells", "since", "until"}


def test_choice_and_order(run):
    def names(*options):
        lines = run("hooks", DEMO, *KERNEL, *options, "--format", "ndjson").stdout.splitlines()
        return [json.loads(line)["name"] for line in lines]

    assert names("--top", 2) == ["wait4", "read"]
    assert names("--by", "calls", "--top", 1) == ["newfstatat"]
    assert names("--by", "errors", "--top", 1) == ["ioctl"]
    assert names("--by", "bytes", "--top", 1) == ["read"]
    assert set(names("--match", "clone*")) == {"clone", "clone3"}
    assert names("--where", "name = 'futex'") == ["futex"]
    assert names("--sort", "events_per_s", "--top", 1) == ["newfstatat"]


def test_calls_that_cannot_be_watched_say_why(run, tmp_path):
    log = tmp_path / "app.strace"
    log.write_text('7 1700000000.000000 init_module(0x7f, 3, "") = 0 <0.000010>\n')
    ran = run("hooks", log, *KERNEL)
    assert "none: only in kernels with loadable modules" in ran.stdout
    ran = run("hooks", log, *KERNEL, "--emit", "bpftrace", "-o", "watch.bt")
    assert ran.returncode == 2
    assert "none of the calls has a tracepoint" in ran.stderr
    assert not (tmp_path / "watch.bt").exists()


@pytest.mark.parametrize("columns", [80, 160])
def test_on_a_terminal_lines_fit(terminal, columns):
    shown = terminal("hooks", DEMO, *KERNEL, columns=columns)
    assert max(map(len, shown.splitlines())) <= columns
    assert ("vfs_read" in shown) == (columns == 160)
    assert "25,472 events per second" in shown.replace("\n", " ")
    shown = terminal("hooks", DEMO, *KERNEL, "--explain", "read", columns=columns)
    assert max(map(len, shown.splitlines())) <= columns
    assert "syscalls:sys_enter_read" in shown
    assert "arg2 bytes asked for" in shown


def test_what_cannot_be_known_is_marked(run, tmp_path):
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "kallsyms").write_text("0 T vfs_read\n")
    ran = run("hooks", DEMO, "--inventory", "kernel", "--match", "read")
    assert "sys_{enter,exit}_read ?" in ran.stdout
    ran = run("hooks", DEMO, "--inventory", "kernel", "--explain", "read")
    assert "not known whether the kernel has them" in ran.stdout


def test_explain_of_a_call_that_is_not_there(run):
    ran = run("hooks", DEMO, *KERNEL, "--explain", "nothing")
    assert ran.returncode == 2
    assert "--explain nothing: no such call in the log" in ran.stderr


def test_scripts_take_the_calls_that_were_chosen(run, tmp_path):
    ran = run("hooks", DEMO, *KERNEL, "--emit", "bpftrace", "-o", "watch.bt")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert "10 calls of 78; --top 0 watches all" in ran.stderr
    assert (tmp_path / "watch.bt").read_text().count("sys_enter_") == 10
    one = run("hooks", DEMO, *KERNEL, "--emit", "tracefs", "--match", "openat", "-q")
    assert one.stderr == ""
    assert one.stdout.count("syscalls:sys_enter_") == 1
    ran = run("hooks", DEMO, *KERNEL, "--emit", "perf", "--by", "errors", "--top", 1)
    assert "sys_exit_ioctl" in ran.stdout
    assert "sys_exit_wait4" not in ran.stdout
    ran = run("hooks", DEMO, *KERNEL, "--emit", "bcc", "--top", 0, "-o", "watch.bt", "--no-clobber")
    assert ran.returncode == 2
    assert "already exists" in ran.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--emit", "perf", "--explain", "read"], "--emit and --explain are two outputs"),
        (["--emit", "perf", "--format", "csv"], "--format csv: the output is not a table"),
        (["--inventory", "nowhere"], "nowhere: No such file or directory"),
        (["--inventory", "."], "none of the lists of a kernel is in it"),
        (["--points", "nothing.toml"], "nothing.toml: No such file or directory"),
        (["-o", "watch.bt"], "watch.bt: unknown suffix"),
        (["--sort", "nothing"], "no such column"),
    ],
)
def test_wrong_command_lines(run, options, message):
    ran = run("hooks", DEMO, *options)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
