"""The pictures in the docs show what the commands print today."""

import re
import xml.etree.ElementTree as ET

import pytest

import screenshots
import tracefast as tf
from support.paths import DATA

DEMO = DATA / "demo.strace.zst"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return screenshots.lay_out(tmp_path_factory.mktemp("screenshots"))


def words(svg: str) -> list[str]:
    """Give the lines of text of a picture, which is well formed."""
    lines: dict[str, str] = {}
    for piece in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        height = piece.get("y", "")
        lines[height] = lines.get(height, "") + "".join(piece.itertext()).replace("\xa0", " ")
    return [line.rstrip() for line in lines.values()]


@pytest.mark.parametrize("name", screenshots.PICTURES)
def test_they_are_of_today(folder, name):
    kept, drawn = (screenshots.FOLDER / f"{name}.svg").read_text(), screenshots.drawn(name, folder)
    # The words are compared: another version of rich may draw them in another way.
    assert words(kept) == words(drawn), "if that is right: make screenshots"
    assert words(kept)[1].startswith(f"$ tracefast {screenshots.PICTURES[name].split()[1]} ")
    assert screenshots.drawn(name, folder) == drawn


def test_there_are_no_others():
    drawn = {path.stem for path in screenshots.FOLDER.glob("*.svg")}
    assert drawn == set(screenshots.PICTURES)
    assert {path.name for path in screenshots.FOLDER.glob("*.png")} == {"report.png"}
    tour = (screenshots.FOLDER.parent / "tour.md").read_text()
    assert set(re.findall(r"screenshots/(\w+)\.svg", tour)) == drawn


@pytest.mark.parametrize("name", screenshots.PICTURES)
def test_they_ask_nothing_of_the_network(name):
    svg = (screenshots.FOLDER / f"{name}.svg").read_text()
    assert not re.search(r"url\(['\"]?https?:|@import|href=['\"]https?:", svg)


def test_the_figures_are_those_of_the_demo(folder):
    events = tf.scan(DEMO)
    calls = tf.syscalls(events).select("calls").sum().collect().item()
    assert any(
        f"{calls:,} calls took" in line for line in words(screenshots.drawn("syscalls", folder))
    )
    model = tf.files(events).sort("read_bytes", descending=True).head(1).collect()
    (row,) = [line for line in words(screenshots.drawn("files", folder)) if "safetensors" in line]
    assert f"{model['read_bytes'].item() / 2**20:.1f} MiB" in row
    assert f"{model['reads'].item()} " in row
    assert f"random {int(100 * model['read_random_share'].item())} %" in row
