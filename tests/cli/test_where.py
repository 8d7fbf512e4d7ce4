"""`--where`, `--from` and `--to`: which rows a command prints, and from which events."""

from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf
from tracefast.analysis.conditions import evaluate_condition
from tracefast.scanning.time_window import Since, parse_moment

DAY_NS = 86_400_000_000_000


def calls(*times: str, layout: str = "100 {} ") -> str:
    """Make a log of one call at each of these times."""
    return "".join(f"{layout.format(time)}close({fd}) = 0\n" for fd, time in enumerate(times))


@pytest.fixture
def seen(tmp_path):
    """Say which of the calls of some logs are in a window, by their descriptors."""

    def look(window: tuple[str | None, str | None], *texts: str) -> list[int]:
        names = [str(tmp_path / f"log{chr(97 + i)}") for i in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            Path(name).write_text(text)
        found = {}
        for form in ("log", "parquet"):
            if form == "parquet":
                names = [f"{name}.{form}" for name in names]
                for name in names:
                    tf.parse(name.removesuffix(".parquet"), name)
            part = tf.scan(names, from_=window[0], to=window[1])
            found[form] = part.select("fd").collect()["fd"].to_list()
        assert found["log"] == found["parquet"]
        return found["log"]

    return look


SO = pl.col("path").str.contains(".so", literal=True)


@pytest.mark.parametrize(
    ("command", "where", "expected"),
    [
        ("files", "read_bytes > 800", pl.col("read_bytes") > 800),
        ("files --by open", "path LIKE '%.so%'", SO),
        (
            "files --darshan",
            "POSIX_READS > 0 AND path LIKE '%.so%'",
            SO & (pl.col("POSIX_READS") > 0),
        ),
        ("forks", "tax_ns IS NULL OR failed = 0", pl.col("failed") == 0),
        ("forks --each", "kind = 'vfork'", pl.col("kind") == "vfork"),
        (
            "processes",
            "array_contains(images, '/bin/true')",
            pl.col("images").list.contains("/bin/true"),
        ),
        ("syscalls", "calls > 50 OR errors > 5", (pl.col("calls") > 50) | (pl.col("errors") > 5)),
        ("events", "kind = 'exit'", pl.col("kind") == "exit"),
        ("events", "count = max(count)", pl.col("count") == pl.col("count").max()),
        ("events", "1 = 1", pl.lit(value=True)),
        ("events", "1 = 2", pl.lit(value=False)),
    ],
)
def test_where_is_about_the_rows_that_are_printed(
    run, spawn_strace, tmp_path, command, where, expected
):
    asked = [*command.split(), spawn_strace, "-o"]
    assert run(*asked, "all.parquet").returncode == 0
    ran = run(*asked, "some.parquet", "--where", where)
    assert ran.returncode == 0, ran.stderr
    everything = pl.read_parquet(tmp_path / "all.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "some.parquet"), everything.filter(expected))


def test_where_goes_for_tables_trees_and_screens(run, spawn_strace):
    tree = run("processes", spawn_strace, "--tree", "--where", "image LIKE '%true'").stdout
    assert [line.split()[-1] for line in tree.splitlines()[1:]] == ["0"] * 3
    assert "sh" not in tree
    table = run("files", spawn_strace, "--where", "path LIKE '%data.bin'")
    assert len(table.stdout.splitlines()) == 3
    assert table.stderr.startswith("total: 1 file, ")
    screen = run("forks", spawn_strace, "--where", "kind = 'vfork'").stdout
    assert "posix_spawn" not in screen
    assert "1  vfork" in screen
    nothing = run("forks", spawn_strace, "--where", "count > 1000").stdout
    assert nothing == "Nothing matches.\n"
    accesses = run("files", spawn_strace, "--explain", "data.bin", "--where", "bytes > 60000")
    assert len(accesses.stdout.split("\n\n")[0].splitlines()) == 2


def test_where_goes_for_records_of_events(run, spawn_ftrace):
    asked = ("events", spawn_ftrace, "--event", "sched_process_fork")
    whole, ran = run(*asked), run(*asked, "--where", "child_pid > 9539")
    assert 1 < len(ran.stdout.splitlines()) < len(whole.stdout.splitlines())


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("read_byte > 1", ["no such column: read_byte", "did you mean 'read_bytes'"]),
        ("PATH = 'x'", ["no such column: PATH", "did you mean 'path'"]),
        ("quite_different > 1", ["no such column", "tracefast schema files lists all of them"]),
        ('path = "/etc/passwd"', ["single quotes: '/etc/passwd'"]),
        ("read_bytes >", ["unable to parse", "such as: ", " LIKE '%x%'"]),
        ("", ["unable to parse"]),
        ("read_bytes > 1; DROP", ["unexpected token ';'"]),
        ("read_bytes", ["the result is Int64, not true or false"]),
        ("path > 1", ["cannot compare string with numeric"]),
        ("read_bytes > 1, reads > 1", ["unexpected token ','"]),
        ("wow(read_bytes)", ["unsupported function 'wow'"]),
        # SQL takes these for names of what is in front of them.
        ("read_bytes > 1M", ["unexpected 'M'", "1048576 instead of 1M"]),
        ("read_ns > 2.5 ms", ["unexpected 'ms'", "2500000 instead of 2.5 ms"]),
        ("reads > 100 junk", ["unexpected 'junk'", "such as: "]),
        ("reads > 100 AS x", ["unexpected 'x'"]),
        ("read_bytes > 1KiB AND reads > 2", ["1024 instead of 1KiB"]),
    ],
)
def test_invalid_conditions_are_refused_before_any_work(run, pth, where, words):
    ran = run("files", pth, "missing", "--where", where)
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: --where ")
    assert ran.stderr.count("error: ") == 1
    assert ran.stderr.count("hint: ") == 1
    for word in words:
        assert word in ran.stderr


def test_times_in_conditions(run, spawn_strace):
    where = "ts > TIMESTAMP '2026-11-21 02:58:59.12'"
    assert run("forks", spawn_strace, "--each", "--where", where).returncode == 0
    ran = run("forks", spawn_strace, "--each", "--where", "ts > '2026-11-21'")
    assert "hint: write times as TIMESTAMP '" in ran.stderr


def test_words_of_closed_lists_are_text():
    frame = pl.DataFrame({"kind": ["a", "b", None]}, schema={"kind": pl.Categorical})
    assert evaluate_condition(frame, "kind LIKE 'a%'").to_list() == [True, False, None]
    assert evaluate_condition(frame, "kind IN ('b', 'c')").to_list() == [False, True, None]


@given(st.text())
def test_no_text_of_a_condition_does_harm(text):
    with suppress(tf.Error):
        assert evaluate_condition(pl.DataFrame({"a": [1]}), text).len() == 1


S = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "ns", "since"),
    [
        ("0", 0, Since.START),
        ("12.5", 12_500_000_000, Since.START),
        ("+12.5", 12_500_000_000, Since.START),
        (".5", S // 2, Since.START),
        ("90s", 90 * S, Since.START),
        ("2m", 120 * S, Since.START),
        ("1h2m3.5s", 3723 * S + S // 2, Since.START),
        ("1d", 86_400 * S, Since.START),
        ("10ms", 10_000_000, Since.START),
        ("7us", 7000, Since.START),
        ("3ns", 3, Since.START),
        ("+1700000000", 1_700_000_000 * S, Since.START),
        ("1700000000.123456789", 1_700_000_000_123_456_789, Since.EPOCH),
        ("@1591.5", 1_591_500_000_000, Since.CLOCK),
        ("14:05", (14 * 3600 + 300) * S, Since.MIDNIGHT),
        ("14:05:30.000000001", (14 * 3600 + 330) * S + 1, Since.MIDNIGHT),
        ("2026-11-21", 1_795_219_200 * S, Since.EPOCH),
        ("2026-11-21T02:58:59.063243", 1_795_229_939_063_243_000, Since.EPOCH),
        ("2026-11-21 02:58:59Z", 1_795_229_939 * S, Since.EPOCH),
        ("2026-11-21T04:58:59+02:00", 1_795_229_939 * S, Since.EPOCH),
        ("2026-11-20T21:58:59-0500", 1_795_229_939 * S, Since.EPOCH),
    ],
)
def test_times_are_read_as_people_write_them(text, ns, since):
    found = parse_moment("--from", text)
    assert (found.ns, found.since) == (ns, since)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "-5", "1.2.3", "5 apples", "25:00", "10:61", "@", "@x", "1e3", "1s2", "--to"),
        *("2026-13-01", "2026-02-30", "2026-11-21T25:00", "2026-11-21T10:00+99:99", "9" * 30),
        *("10:00:00.1234567890", "\u0661\u0662"),
    ],
)
def test_invalid_times_are_refused(text):
    with pytest.raises(tf.Error, match="not a valid time") as caught:
        parse_moment("--to", text)
    assert "12.5, 90s, 2m" in caught.value.hint


@given(st.text())
def test_no_text_of_a_time_does_harm(text):
    try:
        found = parse_moment("--to", text)
    except tf.Error:
        return
    assert 0 <= found.ns < 2**63


def test_a_window_that_ends_before_it_starts_is_refused(run, pth):
    ran = run("files", pth, "--from", "5", "--to", "5")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: --to 5: not after --from 5")


def test_the_start_belongs_to_a_window_and_the_end_does_not(seen):
    log = calls("1700000000.0", "1700000001.0", "1700000002.0", "1700000003.0")
    assert seen(("1", "3"), log) == [1, 2]
    assert seen(("1", None), log) == [1, 2, 3]
    assert seen((None, "1s"), log) == [0]
    assert seen(("1700000001", "@1700000002.5"), log) == [1, 2]
    assert seen(("2023-11-14T22:13:21", "22:13:23"), log) == [1, 2]
    assert seen(("9", None), log) == []


def test_calls_belong_to_the_moment_at_which_they_start(seen):
    log = (
        "1 1700000000.0 close(0) = 0\n1 1700000001.0 read(1,  <unfinished ...>\n"
        '2 1700000002.0 close(2) = 0\n1 1700000003.0 <... read resumed>"", 9) = 0\n'
    )
    assert seen(("0.5", "1.5"), log) == [1]
    assert seen(("1.5", None), log) == [2]


def test_each_log_counts_from_its_own_start(seen):
    logs = (
        calls("1700000000.0", "1700000001.0"),
        calls("1700005000.0", "1700005001.0", "1700005002.0"),
    )
    assert seen(("1", None), *logs) == [1, 1, 2]
    assert seen(("1", "2"), *logs) == [1, 1]
    assert seen(("@1700000001", "@1700005001"), *logs) == [1, 0]
    # A log that has no times has nothing in any window.
    assert seen(("1", None), logs[0], "100 close(7) = 0\n") == [1]


def test_the_start_is_the_first_time_wherever_its_row_is(seen):
    log = "1 1700000000.0 read(0,  <unfinished ...>\n2 1700000005.0 close(1) = 0\n"
    assert seen(("5", None), log + '1 1700000009.0 <... read resumed>"", 9) = 0\n') == [1]


def test_times_of_day(seen):
    log = calls("23:59:58", "23:59:59", "00:00:01", "00:00:02")
    assert seen(("23:59:59", None), log) == [1, 2, 3]
    assert seen(("23:59:59", "00:00:02"), log) == [1, 2]
    assert seen(("00:00:01", None), log) == [2, 3]
    assert seen((None, "00:00:02"), log) == [0, 1, 2]
    assert seen(("1", "3"), log) == [1]
    epoch = calls("1700006398.0", "1700006399.0", "1700006401.0")
    assert seen(("23:59:59", "00:00:01"), epoch) == [1]
    # Before the log began is before all of it.
    assert seen(("10:00", None), epoch) == [0, 1, 2]
    assert seen((None, "10:00"), calls("1700006397.0", "1700006398.0")) == []
    assert seen((None, "00:10"), epoch) == [0, 1, 2]


def test_logs_that_show_no_such_time_say_so(run, spawn_ftrace, tmp_path):
    def refused(log, text):
        ran = run("events", log, "--from", text)
        assert ran.returncode == 2
        assert ran.stdout == ""
        return ran.stderr

    assert "--from 10:00: the log has no time of day, its clock is uptime" in refused(
        spawn_ftrace, "10:00"
    )
    assert "the log has no dates, its first time is 1591.07" in refused(spawn_ftrace, "2026-11-21")
    (tmp_path / "timeless").write_text("close(3) = 0\nclose(4) = 0\n")
    assert "no times in timeless" in refused("timeless", "1")
    (tmp_path / "day").write_text(calls("10:00:00", "10:00:01"))
    assert "the log has no dates" in refused("day", "2026-11-21")
    run("parse", spawn_ftrace, "-o", "trace.parquet")
    assert "its clock is uptime" in refused("trace.parquet", "10:00")


def test_ftrace_counts_on_its_own_clock(run, spawn_ftrace):
    def counted(*options):
        out = run("events", spawn_ftrace, "--format", "csv", *options).stdout
        return len(out.splitlines())

    assert counted() > counted("--from", "@1591.09") > counted("--from", "@1591.095") > 1
    since = counted("--from", "0.01", "--to", "20ms")
    start = 1_591_074_795
    assert since == counted(
        "--from", f"@{(start + 10_000) / 1e6}", "--to", f"@{(start + 20_000) / 1e6}"
    )


def test_an_analysis_sees_the_window_only(run, spawn_strace, tmp_path):
    ran = run("files", spawn_strace, "--from", "0.03", "--to", "0.05", "-o", "files.parquet")
    assert ran.returncode == 0
    start = pl.Series([1_795_229_939_063_243_000]).cast(pl.Datetime("ns"))
    since = pl.col("ts") - start.item()
    events = tf.scan(spawn_strace).filter(
        since >= pl.duration(milliseconds=30), since < pl.duration(milliseconds=50)
    )
    expected = tf.files(events.collect()).drop("source").collect()
    assert expected.height > 0
    assert_frame_equal(pl.read_parquet(tmp_path / "files.parquet"), expected)


def test_an_empty_window_says_so(run, spawn_strace):
    ran = run("events", spawn_strace, "--from", "10d")
    assert (ran.returncode, len(ran.stdout.splitlines())) == (0, 1)
    assert "warning: no events between --from and --to" in ran.stderr
    assert run("events", spawn_strace, "--from", "10d", "-q").stderr == ""


def test_a_window_of_standard_input(run, spawn_strace):
    expected = run("events", spawn_strace, "--from", "0.03").stdout
    ran = run("events", "-", "--from", "0.03", input=spawn_strace.read_text())
    assert (ran.returncode, ran.stdout) == (0, expected)
