"""`--match`: what matches nothing is said by every command, and is no answer of its own."""

import pytest

from support.paths import DATA

DEMO = DATA / "demo.strace.zst"
COMMANDS = [
    *("files", "forks", "forks --each", "syscalls", "syscalls --strace-c", "processes", "errors"),
    *("waits", "waits --pairs", "workers", "flow", "flow --roles", "insights"),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_matches_is_noted(run, command):
    ran = run(*command.split(), DEMO, "--match", "zzz")
    assert ran.returncode == 0
    assert "note: nothing matches --match zzz" in ran.stderr
    assert "The log does not show" not in ran.stdout
    assert "No w" not in ran.stdout


def test_nothing_to_compare_is_noted(run):
    ran = run("diff", DEMO, DEMO, "--match", "zzz")
    assert ran.returncode == 0
    assert ran.stdout == "Nothing matches.\n"
    assert "note: nothing matches --match zzz" in ran.stderr
    same = run("diff", DEMO, DEMO, "--match", "wait4")
    assert (same.stdout, same.stderr) == ("No difference detected.\n", "")


def test_a_share_of_the_time_is_that_of_what_was_chosen(run):
    chosen = run("forks", DEMO, "--where", "image LIKE '%/wc'").stdout
    assert chosen.splitlines()[0] == run("forks", DEMO, "--match", "*/wc").stdout.splitlines()[0]
    assert "<0.1 % of the time" in chosen
