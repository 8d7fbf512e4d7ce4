"""The page on what starting processes costs: its commands print what it says, its Python runs."""

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

import pages
import tracefast as tf
from support.page_commands import run_commands
from support.paths import ROOT
from tracefast.analysis.forks.advice.rules import RULES

PAGE = (ROOT / "docs" / "forks.md").read_text()
LOGS = {"subprocess.strace": "subprocess_python37", "grow.strace": "grow"}


@pytest.fixture
def folder(tmp_path):
    """Link the logs, compressed or not, under the names that the page gives them."""
    for name, log in LOGS.items():
        (tmp_path / name).symlink_to(ROOT / "tests" / "data" / "starting" / f"{log}.strace.zst")
    return tmp_path


def test_commands(folder, command):
    assert run_commands(PAGE, folder, command) == 3


def test_python(folder):
    """One program, as a notebook is; the plot only where altair is installed."""
    cells = pages.blocks(PAGE, "python")
    if find_spec("altair") is None:
        cells = [cell for cell in cells if "altair" not in cell]
    ran = subprocess.run(
        [sys.executable, "-c", "\n".join(cells)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Python before 3.10 (here 3.7)" in ran.stdout
    assert "/bin/echo" in ran.stdout
    if len(cells) == len(pages.blocks(PAGE, "python")):
        assert "vega" in (folder / "forks.html").read_text()


def test_all_rules_are_described():
    named = set(re.findall(r"`([a-z0-9_-]+)`", PAGE.partition("## The advice")[2]))
    codes = {rule.__name__.replace("_", "-") for rule in RULES} - {"threads-at-fork"}
    assert codes | {"fork-with-threads"} <= named


def test_files_that_it_names_are_there():
    for name in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGE):
        assert (ROOT / "docs" / name).is_file()


def test_the_numbers_in_the_text():
    grow = tf.fork_summary(tf.scan(ROOT / "tests/data/starting/grow.strace.zst")).collect()
    assert round(grow["slope_ns_per_mib"].item() / 1000) == 32
    assert (grow["parent_anon_min_bytes"].item() >> 20, grow["count"].item()) == (7, 113)
