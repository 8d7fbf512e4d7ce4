"""The last name of a path stays on the screen, whatever its width is."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tracefast.cli.text.shorten import cut_middle, last_name
from tracefast.cli.text.table_text import render_table
from tracefast.cli.text.width import cells

NAME = st.text(alphabet="abc-_.0é\N{KATAKANA LETTER DE}", min_size=1, max_size=70)
PATH = st.lists(NAME, min_size=1, max_size=6).map(lambda names: "/" + "/".join(names))
WIDTH = st.integers(24, 200)


@given(paths=st.lists(PATH, min_size=1, max_size=5), calls=st.integers(1, 10**12), width=WIDTH)
def test_columns_go_before_the_last_name_of_a_path_is_cut(paths, calls, width):
    table = pl.DataFrame(
        {"calls": calls, "read_ns": calls, "pattern": "in sequence 98 %, by 17 processes"}
        | {"path": paths}
    )
    shown = render_table(table, table.columns, width, ["pattern", "read_ns", "calls"]).splitlines()
    assert max(map(cells, shown)) <= width
    for path, line in zip(paths, shown[1:], strict=True):
        name = last_name(path)
        if cells(name) < width or cells(path) <= width:
            assert line.endswith(name), "the name fits, with what marks the folders as cut"
        else:
            assert "…" in line
            assert line.split("  ")[-1][0] in (name[1], "…"), "the start of the name is kept"
    if max(map(cells, render_table(table, table.columns, 10**6).splitlines())) <= width:
        assert "pattern" in shown[0], "nothing is left out where everything fits"


@given(path=PATH, limit=st.integers(8, 100))
def test_a_cut_path_ends_with_its_name_or_shows_both_ends_of_it(path, limit):
    short = cut_middle(path, limit)
    assert cells(short) <= limit
    name = last_name(path)
    if cells(name) < limit:
        assert short.endswith(name)
    elif cells(name) > limit + 1:
        head, tail = short.split("…")
        assert name.removeprefix("/").startswith(head)
        assert name.endswith(tail)
        assert head


def test_a_name_that_never_fits_costs_no_column():
    table = pl.DataFrame({"calls": 10, "path": ["/a/" + "x" * 300, "/srv/" + "y" * 100 + "/b.pth"]})
    shown = render_table(table, table.columns, 60, ["calls"]).splitlines()
    assert shown[0].split() == ["calls", "path"]
    assert shown[2].endswith("/b.pth")


def test_names_of_pipes_and_sockets_are_no_paths():
    socket = "TCP:[127.0.0.1:42178->127.0.0.1:8080]"
    table = pl.DataFrame({"calls": 10, "path": [socket]})
    assert render_table(table, table.columns, 30, ["calls"]).splitlines()[0].split()[0] == "calls"


def test_two_columns_of_paths_both_keep_their_names():
    long = "/usr/lib/python3/dist-packages/a-package/"
    table = pl.DataFrame(
        {"calls": 10, "parent_image": [long + "server-of-images"], "image": [long + "ffprobe"]}
    )
    shown = render_table(table, table.columns, 50, ["calls"]).splitlines()[1]
    assert shown.split()[1].endswith("/server-of-images")
    assert shown.endswith("/ffprobe")
