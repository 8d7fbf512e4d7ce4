"""The pictures are those that the commands draw now."""

import re
import sys

import pytest

from support.paths import ROOT
from tracefast.cli.pictures.layout import can_layout

sys.path.insert(0, str(ROOT / "tools"))
import pictures

pytestmark = pytest.mark.skipif(not can_layout(), reason="pygraphviz is not installed")


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_is_current(name, tmp_path):
    drawn = pictures.draw(name, tmp_path).read_text()
    kept = (pictures.FOLDER / name).read_text()
    # Another version of Graphviz may put nodes elsewhere.
    texts = [re.findall(r"<(?:title|text)[^>]*>([^<]*)", picture) for picture in (drawn, kept)]
    assert sorted(texts[0]) == sorted(texts[1]), "run: make pictures"
