"""Colours, full-width names, and hints in words that other tools use."""

import os

import pytest

from support.paths import DATA

DEMO = DATA / "demo.strace.zst"


def test_headings_are_bold_if_asked_for(run):
    shown = run("syscalls", DEMO, "--top", 1, "--color", "always").stdout
    heading, row, *_ = shown.splitlines()
    assert heading.startswith("\x1b[1m")
    assert heading.endswith("\x1b[0m")
    assert "\x1b" not in row
    assert "\x1b" not in run("syscalls", DEMO, "--top", 1).stdout
    env = os.environ | {"FORCE_COLOR": "1"}
    assert "\x1b" not in run("syscalls", DEMO, "--color", "never", env=env).stdout


def test_full_width_names_line_up(terminal, tmp_path):
    log = tmp_path / "wide.strace"
    names = ["データ/画像.bin", "plain.bin", "cafe\u0301.bin"]
    calls = [f'openat(AT_FDCWD, "/{name}", O_RDONLY) = 3' for name in names]
    reads = [f'read(3</{name}>, "", 8) = 8' for name in names]
    log.write_text(
        "".join(
            f"5 {call}\n"
            for pair in zip(calls, reads, strict=True)
            for call in (*pair, "close(3) = 0")
        )
    )
    lines = terminal("files", log, "--sort", "path", "--wide", columns=400).splitlines()
    assert sum("bin" in line for line in lines) == len(names)
    narrow = terminal("files", log, columns=44)
    assert all(name.rpartition("/")[2] in narrow for name in names)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("--limit", "5"), "--top"),
        (("-n", "5"), "--top"),
        (("--type", "dir"), "directory"),
        (("--type", "f"), "regular"),
    ],
)
def test_words_of_other_tools_are_understood(run, words, meant):
    ran = run("files", DEMO, *words)
    assert ran.returncode == 2
    assert ran.stderr.endswith(f"hint: did you mean {meant!r}?\n")


def test_a_pattern_that_matches_nothing_names_what_is_near(run):
    ran = run("files", DEMO, "--match", "*model.safetensor")
    near = "/srv/demo/data/models/resnet50/model.safetensors"
    assert f"nothing matches --match *model.safetensor; the nearest is {near}\n" in ran.stderr
