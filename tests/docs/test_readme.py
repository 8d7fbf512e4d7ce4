"""The examples in the README and in the pages on ftrace and files run, on what is bundled."""

import re
import shlex
import subprocess
import sys

import pytest

import pages
from support.page_commands import run_commands
from support.paths import ROOT

PAGES = {
    name: (ROOT / name).read_text() for name in ("README.md", "docs/ftrace.md", "docs/files.md")
}


@pytest.fixture
def folder(tmp_path, spawn_strace, spawn_ftrace):
    (tmp_path / "app.strace").write_bytes(spawn_strace.read_bytes())
    (tmp_path / "app.ftrace").write_bytes(spawn_ftrace.read_bytes())
    (tmp_path / "trace.txt").write_bytes(spawn_ftrace.read_bytes())
    for name in ("before.strace", "after.strace"):
        (tmp_path / name).write_bytes(spawn_strace.read_bytes())
    (tmp_path / "rules.toml").write_text('[[rule]]\nname = "a"\ntable = "stuck"\nmax_rows = 0\n')
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    return tmp_path


@pytest.mark.parametrize(("page", "least"), [("README.md", 7), ("docs/ftrace.md", 4)])
def test_commands(folder, command, page, least):
    assert run_commands(PAGES[page], folder, command) >= least


def test_commands_on_a_terminal(folder, terminal):
    ran = 0
    for block in pages.blocks(PAGES["docs/files.md"], "console"):
        line, _, expected = block.removeprefix("$ ").partition("\n")
        if not line.startswith("tracefast "):
            continue
        shown = terminal(*shlex.split(line)[1:], cwd=folder)
        # The report of the parser has times.
        assert shown == expected or "parse" in line
        ran += 1
    assert ran >= 7


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("README.md", "/srv/spawn/data.bin"),
        ("docs/ftrace.md", "shape: (0, 3)"),
        ("docs/files.md", "│ /srv/demo/data/images.tar.gz"),
    ],
)
def test_python(folder, command, page, shown):
    log = ROOT / "tests" / "data" / "demo.strace.zst"
    subprocess.run([command, "parse", log, "-o", folder / "demo.parquet", "-q"], check=True)
    (program,) = pages.blocks(PAGES[page], "python")
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert shown in ran.stdout
    assert "naive plan" not in ran.stdout, "a table was not collected"
    assert (page == "docs/ftrace.md") == ("shape: (0," in ran.stdout), "a table is empty"


@pytest.mark.parametrize("page", PAGES)
def test_files_that_it_names_are_there(page):
    for name in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGES[page]):
        assert (ROOT / page).parent.joinpath(name).is_file()
