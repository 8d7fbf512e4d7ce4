"""Commands print what pages show, programs run, and the targets of links exist."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import pages
import tracefast as tf
from support.paths import DOCS, ROOT
from tracefast import _core

PAGES = sorted(pages.usual())
# How many commands how-tos have, at least, and what their programs print that the text speaks of.
COMMANDS = {"data-flow": 3, "hangs": 4, "loading": 4, "page-cache": 3, "timelines": 5, "workers": 9}
SHOWN = {
    "data-flow": 'accuracy.t… ┆ ["python3 7428"]',
    "hangs": "│ 11956 ┆ futex ┆ futex 0x55b23070c590 of 11956 ┆ private-futex ┆ 1709 ",
    "loading": "│ 10    ┆ 43290      ┆ 26972             ┆ 16318             ┆ 2 ",
    "page-cache": "rand [(400, 389, 0, 1593344, 'random')]",
    "workers": "│ /srv/demo/data/dataset/train/i… ┆ 40 ",
}


@pytest.fixture
def folder(tmp_path, command):
    pages.lay_out(tmp_path)
    subprocess.run(
        [command, "parse", "-q", "tests/data/demo.strace.zst", "-o", "demo.parquet"],
        cwd=tmp_path,
        check=True,
    )
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(folder, page):
    text, ran = pages.updated(page, folder)
    assert text == (ROOT / page).read_text(), "if that is right: make pages"
    assert ran >= COMMANDS.get(Path(page).stem, 0)


@pytest.mark.parametrize("page", PAGES)
def test_programs_run(folder, page):
    program = [sys.executable, "-c", pages.program(page)]
    ran = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert SHOWN.get(Path(page).stem, "") in ran.stdout
    assert "naive plan" not in ran.stdout, "a table was not collected"


def test_attributes_of_classes_are_described():
    page = (DOCS / "api.md").read_text()
    for name in ("Reader", "Report", "Progress"):
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for attribute in vars(getattr(_core, name)):
            if not attribute.startswith("__"):
                assert f"`{attribute}`" in section or f"`{attribute}()`" in section, attribute


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api.md").read_text()
    for name in tf.__all__:
        if not name.startswith("__"):
            assert f":: tracefast.{name}\n" in page or f"\n## {name}\n" in page, name


def anchors(text: str) -> set[str]:
    """Give the anchors of a page's sections, as forges and the site make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "page", [str(page.relative_to(ROOT)) for page in [ROOT / "README.md", *DOCS.glob("*.md")]]
)
def test_links_lead_to_files_and_sections_that_are_there(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / page).parent / unquote(name) if name else ROOT / page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text()), target


def test_every_page_is_on_the_site():
    trees = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    listed = {line for tree in trees for line in tree.splitlines() if re.fullmatch(r"[\w-]+", line)}
    assert listed | {"index"} == {page.stem for page in DOCS.glob("*.md")}
