"""Tables as text: fitted to a terminal, exact and whole elsewhere."""

from datetime import datetime, timedelta

import polars as pl

from tracefast.cli.text.table_text import render_table

LONG = "/srv/a/rather/long/path/to/a/file/that/does/not/fit/model.safetensors"


def frame(**columns) -> pl.DataFrame:
    return pl.DataFrame({name: [value] for name, value in columns.items()})


def test_long_text_is_cut_in_its_middle_on_a_terminal_only():
    table = frame(reads=10, path=LONG)
    narrow = render_table(table, table.columns, 40).splitlines()
    assert max(map(len, narrow)) == 40
    assert narrow[1].endswith(".safetensors")
    assert "/srv/" in narrow[1]
    assert LONG in render_table(table, table.columns)
    assert LONG in render_table(table, table.columns, 200)


def test_a_terminal_that_is_too_narrow_for_anything_still_shows_it():
    table = frame(reads=10, path=LONG, image=LONG)
    assert len(render_table(table, table.columns, 5).splitlines()) == 2


def test_text_cannot_move_the_cursor():
    table = frame(path="a\x1b[2Jb\nc\u202e")
    assert render_table(table, table.columns) == "path\na\\33[2Jb\\nc\\u202e\n"


def test_counts_of_nothing_are_left_out_on_a_terminal_only():
    table = frame(reads=1, read_errors=0, errno=None, path="/a")
    assert render_table(table, table.columns, 80) == "reads  path\n    1  /a\n"
    whole = render_table(table, table.columns)
    assert whole == "reads  read errors  errno  path\n    1            0  -      /a\n"


def test_a_share_of_nothing_is_an_answer():
    table = frame(requests=3, sequential_share_1=0.0, miss_share=None, path="/a")
    assert render_table(table, table.columns, 80) == "requests  seq 1  path\n       3    0 %  /a\n"


def test_units():
    table = frame(call_ns=1_863_000, read_bytes=43_290, line=12_345)
    assert render_table(table, table.columns, 80).split() == [
        *("call", "read", "bytes", "line"),
        *("1.9", "ms", "42.3", "KiB", "12345"),
    ]
    assert render_table(table, table.columns).split() == [
        *("call", "ms", "read", "bytes", "line"),
        *("1.863", "43,290", "12345"),
    ]


def test_times():
    def shown(times: list[datetime], width: int | None = None) -> list[str]:
        table = pl.DataFrame({"ts": times}, schema={"ts": pl.Datetime("ns")})
        return render_table(table, table.columns, width).splitlines()[1:]

    noon = datetime(2026, 11, 21, 12)  # noqa: DTZ001 - logs have no zone
    assert shown([noon]) == ["2026-11-21 12:00:00"]
    assert shown([noon], 80) == ["12:00:00"]
    assert shown([noon, noon + timedelta(days=1)], 80)[1] == "2026-11-22 12:00:00"
    # Clocks that count from the start of the machine.
    assert shown([datetime(1970, 1, 1, 0, 26, 31)]) == ["1591"]  # noqa: DTZ001


def test_verbatim_is_what_was_asked_for():
    values = {
        "max_ns": 735_801_000,
        "read_bytes": 0,
        "hit_share": 311_019.9999999895,
        "POSIX_READS": 1e20,
        "nothing_ns": None,
        "text": "a\x1b[2J",
        "ok": True,
        "ts": datetime(1970, 1, 1, 0, 26, 31),  # noqa: DTZ001 - logs have no zone
    }
    table = frame(**values)
    for width in (None, 200):
        header, row = render_table(table, table.columns, width, verbatim=True).splitlines()
        assert header.split() == list(values)
        assert row.split() == [
            *("735801000", "0", "311019.9999999895", "1e+20", "-", "a\\33[2J", "true"),
            *("1970-01-01", "00:26:31"),
        ]


def test_no_rows():
    table = pl.DataFrame(schema={"reads": pl.UInt32, "path": pl.String})
    assert render_table(table, table.columns, 80) == "reads  path\n"


def test_lists_are_names_on_a_terminal_only():
    table = pl.DataFrame(
        {"readers": [["a", "b"], []], "removed": [True, False], "path": ["x", "y"]}
    )
    lines = render_table(table, table.columns, 80).splitlines()
    assert lines[1:] == ["a, b     yes      x", "-        -        y"]
    assert '["a", "b"]' in render_table(table, table.columns)


def test_rates_and_inodes_are_written_as_people_read_them():
    table = pl.DataFrame({"rate_per_s": [4.5126272335], "ino": [5376256]})
    assert render_table(table, table.columns, 80).splitlines()[1].split() == ["4.5", "5376256"]


def test_a_time_that_does_not_fit_loses_its_end():
    times = [datetime(2026, 11, 21 + day, 12, 0, 0, 123456) for day in (0, 1)]  # noqa: DTZ001
    table = pl.DataFrame({"ts": times, "path": ["/a" * 40] * 2}).cast({"ts": pl.Datetime("ns")})
    assert render_table(table, table.columns, 44).splitlines()[1].startswith("2026-11-21 12:00")
