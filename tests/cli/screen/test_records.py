"""All columns where lines are too narrow for them: one record below the other."""

import polars as pl

from tracefast.cli.text.records import render_records, rows_on_screen

PATH = "/srv/a/rather/long/path/to/a/file/that/does/not/fit/データ.safetensors"
TABLE = pl.DataFrame(
    {"reads": [3, 0], "read_errors": [0, 0], "read_bytes": [43_290, None], "path": [PATH, "a\x1b"]}
)


def test_records_have_every_value_whole():
    first, second = render_records(TABLE, TABLE.columns, 40)
    title, *lines = first.splitlines()
    assert title == "-[ row 1 ]------------------------------"
    assert lines == ["reads       3", "read bytes  42.3 KiB", f"path        {PATH}"]
    # Zero is a value where another row has one, and a name cannot act on the terminal.
    assert second.splitlines()[1:] == ["reads       0", "read bytes  -", "path        a\\33"]


def test_a_screen_has_as_many_records_as_fit():
    assert [rows_on_screen(TABLE, TABLE.columns, lines) for lines in (2, 7, 8)] == [1, 1, 2]


def test_wide_is_a_table_where_it_fits(terminal, tmp_path):
    log = tmp_path / "app.strace"
    log.write_text('5 openat(AT_FDCWD, "/srv/a.bin", O_RDONLY) = 3\n5 read(3, "", 8) = 8\n')
    assert terminal("files", log, "--wide", columns=1000).splitlines()[0].split()[0] == "file"
    narrow = terminal("files", log, "--wide", columns=80).splitlines()
    assert narrow[0].startswith("-[ row 1 ]--")
    assert any(line.split() == ["path", "/srv/a.bin"] for line in narrow)
