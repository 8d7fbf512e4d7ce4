"""Help of the commands, its examples, suggestions, and the form of messages."""

import os
import re
import shlex

import pytest
import typer

from support.paths import DOCS
from tracefast.cli.app import make_app

COMMANDS = typer.main.get_command(make_app()).commands
NAMES = sorted(COMMANDS)
# What runs for a log without a command.
OF_A_LOG = "overview"


def examples(name):
    """Give the examples of a command, as words: each part of a pipe for itself."""
    _, _, text = COMMANDS[name].help.partition("Examples:")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [part for line in lines for part in split(shlex.split(line))]


def split(words):
    parts = [[]]
    for word in words:
        if word in {"|", ">", ">>", "<"}:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def test_all_commands_are_there():
    expected = "parse files forks syscalls processes events blocks schema sql version completion"
    assert set(expected.split()) <= set(NAMES)


def test_every_command_is_listed_once_below_a_heading(run):
    commands = run("--help").stdout.partition("\nOptions:\n")[2]
    assert sorted(re.findall(r"^  ([a-z]+) +\w", commands, re.MULTILINE)) == [
        one for one in NAMES if one != OF_A_LOG
    ]
    other = commands.partition("\nOther:\n")[2]
    assert re.findall(r"^  ([a-z]+) ", other, re.MULTILINE) == ["version", "completion"]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_examples_with_options_that_exist(name):
    mine = [words for words in examples(name) if words[0] == "tracefast"]
    assert mine, name
    for words in mine:
        command = COMMANDS.get(words[1], COMMANDS[OF_A_LOG])
        known = {option for one in command.params for option in one.opts} | {"--help"}
        for word in words[2:]:
            if re.match(r"--?[a-z]", word):
                assert word.partition("=")[0] in known, words


def test_the_docs_name_options_that_exist():
    text = (DOCS / "cli.md").read_text()
    lines = re.findall(r"^\$ (tracefast .*)", text, re.MULTILINE)
    assert len(lines) > 5
    for words in (split(shlex.split(line, comments=True))[0] for line in lines):
        known = {option for one in COMMANDS[words[1]].params for option in one.opts}
        assert {word for word in words[2:] if re.match(r"--?[a-z]", word)} <= known
    everything = {option for one in COMMANDS.values() for p in one.params for option in p.opts}
    everything |= {"--help", "--install-completion"}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= everything


@pytest.mark.parametrize("name", NAMES)
def test_help_fits_its_width_and_ends_well(run, name):
    ran = run(name, "--help", env={**os.environ, "COLUMNS": "100"})
    assert ran.returncode == 0
    # A line each, not a paragraph.
    assert re.search(r"^  Examples:\n    \w", ran.stdout, re.MULTILINE)


def test_h_is_short_for_help(run):
    assert run("files", "-h").stdout == run("files", "--help").stdout


def test_examples_run(run, spawn_strace, spawn_ftrace, tmp_path):
    # What the examples name is there, in small.
    logs = ["app", "run-1", "before", "after", "old1", "old2", "new1", "runs/old/1", "runs/new/1"]
    (tmp_path / "runs" / "old").mkdir(parents=True)
    (tmp_path / "runs" / "new").mkdir()
    for name in logs:
        (tmp_path / f"{name}.strace").write_bytes(spawn_strace.read_bytes())
    (tmp_path / "rules.toml").write_text('[[rule]]\nname = "a"\ntable = "stuck"\nmax_rows = 0\n')
    (tmp_path / "trace.txt").write_bytes(spawn_ftrace.read_bytes())
    for name in ("reads.strace", "reads.ftrace"):
        (tmp_path / name).write_bytes((DOCS.parent / f"tests/data/join/{name}.zst").read_bytes())
    (tmp_path / "inodes.txt").write_text("65024 1 /a\n")
    run("parse", "app.strace", "-o", "app.parquet", "-q")
    for name in ("old", "new"):
        run("parse", "app.strace", "-o", f"{name}.parquet", "-q")
    run("parse", "trace.txt", "-o", "trace.parquet", "-q")
    for name in NAMES:
        if name in {"parse", "record"}:
            # Of record, each program and process would have to be there: tests/record.
            continue
        for words in examples(name):
            if words[0] != "tracefast" or "model.pth" in words:
                continue
            ran = run(*words[1:])
            assert ran.returncode == 0, (words, ran.stderr)


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["fils"], "fils: no such command", "did you mean 'files'?"),
        (["syscall"], "syscall: no such command", "did you mean 'syscalls'?"),
        (["qqq"], "qqq: no such command", "one of: parse, files"),
        (["files", "x", "--sorrt", "y"], "--sorrt: no such option", "did you mean '--sort'?"),
        (["files", "x", "--wiide"], "--wiide: no such option", "did you mean '--wide'?"),
        (["files", "x", "--qqqqq"], "--qqqqq: no such option", "tracefast files --help"),
        (["--qqqqq"], "--qqqqq: no such option", "tracefast --help"),
        (["files", "x", "--format", "jsn"], "--format jsn: invalid choice", "mean 'json'"),
        (["files", "x", "--type", "regulr"], "--type regulr: invalid choice", "mean 'regular'"),
        (["files", "x", "--format-in", "dtrace"], "--format-in dtrace: invalid choice", "mean"),
        (["files", "x", "--top", "-1"], "--top: ", "tracefast files --help"),
        (["files", "x", "--top", "few"], "--top: ", "tracefast files --help"),
        (["files"], "LOG|PARQUET: missing", "tracefast files --help"),
        (["sql", "SELECT 1"], "LOG|PARQUET: missing", "tracefast sql --help"),
        (["files", "x", "--sort"], "--sort: needs a value", "see tracefast files --help"),
        (["files", "x", "--format"], "--format: needs a value", "see tracefast files --help"),
        (["files", "x", "--top", "few"], "--top: not a whole number", "files --help"),
        (["files", "x", "--top", "1.5"], "--top: not a whole number", "files --help"),
        (["files", "x", "--top", "-1"], "--top: must be at least 0", "files --help"),
        (["parse", "x", "--row-group", "99999999"], "must be at most 16777216", "parse --help"),
        (["completion", "fsh"], "error: SHELL fsh: invalid choice", "did you mean 'fish'?"),
        (["completion"], "SHELL: missing", "tracefast completion --help"),
        (["files", "LOG", "--sort", "read_byts"], "no such column", "did you mean 'read_bytes'"),
        (["files", "LOG", "--where", "pth = 'x'"], "no such column: pth", "did you mean 'path'?"),
        (["schema", "offst"], "offst: no such column", "did you mean 'offset'"),
        (["files", "missing"], "missing: No such file or directory", "check the name"),
        (["files", "no-*.log"], "no-*.log: No file matches the pattern", "check the name"),
    ],
)
def test_messages_say_what_and_what_to_do(run, spawn_strace, arguments, error, hint):
    ran = run(*(spawn_strace if word == "LOG" else word for word in arguments))
    assert ran.returncode == 2
    assert ran.stdout == ""
    first, second = ran.stderr.splitlines()
    assert first.startswith("error: ")
    assert error in first
    assert second.startswith("hint: ")
    assert hint in second


def test_events_that_are_not_there_are_suggested(run, spawn_ftrace):
    ran = run("events", spawn_ftrace, "--event", "sched_proces_exec")
    assert ran.returncode == 0
    assert "no event sched_proces_exec: did you mean 'sched_process_exec'" in ran.stderr
    ran = run("events", spawn_ftrace, "--event", "qqq")
    assert "no event qqq: one of: " in ran.stderr


@pytest.mark.parametrize("event", ["execve", "sys_enter_execve", "sys_exit_execve"])
def test_system_calls_are_no_events_with_fields(run, spawn_strace, event):
    ran = run("events", spawn_strace, "--event", event)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"error: --event {event}: a system call" in ran.stderr
    hint = "hint: tracefast sql \"SELECT * FROM events WHERE name = 'execve'\" LOG\n"
    assert ran.stderr.endswith(hint)
    words = shlex.split(hint)[2:-1]
    assert len(run(*words, spawn_strace).stdout.splitlines()) > 1


def test_help_is_a_command_as_well(run):
    assert run("help").stdout == run("--help").stdout == run("help", "help").stdout != ""
    assert run("help", "files").stdout == run("files", "--help").stdout != ""
    assert "did you mean 'files'" in run("help", "fils").stderr


def test_messages_name_the_line(run, pth, tmp_path):
    (tmp_path / "inodes").write_text("65024 1 /a\nnonsense\n")
    ran = run("files", pth, "--page-cache", "--inode-map", "inodes")
    assert ran.stderr.startswith("error: inodes:2: ")


def test_colours_of_messages(run):
    def message(**environment):
        plain = {name: value for name, value in os.environ.items() if "COLOR" not in name}
        return run("files", "missing", env={**plain, **environment}).stderr

    assert message().startswith("error: missing")
    assert message(FORCE_COLOR="1").startswith("\x1b[1;31merror\x1b[0m: missing")
    assert message(FORCE_COLOR="1", NO_COLOR="1").startswith("error: missing")
    assert message(NO_COLOR="").startswith("error: missing")


def test_without_arguments_there_is_help(run):
    ran = run()
    assert ran.returncode == 2
    assert "\nCompare:\n  diff " in ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
