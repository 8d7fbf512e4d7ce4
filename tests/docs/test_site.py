"""The site is made without a warning; its links lead somewhere, and it needs no network."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit

import pytest

from support.paths import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("sphinx") is None, reason="sphinx is missing"),
]


class Page(HTMLParser):
    """What a page links to, what it loads, and what can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given:
            self.loads.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--quiet"]
    made = subprocess.run(
        [*command, "--keep-going", ROOT / "docs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text()) for path in site.glob("*.html")}


def test_every_page_is_there(pages):
    made = {path.stem for path in pages}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} <= made


def test_links_within_the_site_lead_somewhere(pages):
    checked = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            if target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"
            checked += 1
    assert checked > 500


def test_nothing_comes_from_the_network(site, pages):
    for path, page in pages.items():
        assert page.loads
        for source in page.loads:
            assert not urlsplit(source).netloc, f"{path.name}: {source}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text()), style


def test_the_reference_has_the_docstrings_of_the_code(site):
    commands = (site / "commands.html").read_text()
    assert "--strace-c" in commands
    assert "python -m" not in commands
    functions = (site / "api.html").read_text()
    assert "read_random_bytes_share" in functions
