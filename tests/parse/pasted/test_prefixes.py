"""Logs that were pasted, or went through other programs, which put something before each line."""

from __future__ import annotations

import re
import subprocess

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

CALM = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BLOCKS = st.sampled_from([64, 300, 1000, 4096, 262_144])

# What other programs put before line N, and whether it differs from line to line.
PREFIXES = {
    "blanks": ("  ", False),
    "tab": ("\t", False),
    "quote": ("> ", False),
    "quote twice": ("> > ", False),
    "diff": ("+ ", False),
    "list": ("* ", False),
    "table": ("| ", False),
    "tool": ("[stderr] ", False),
    "cat -n": ("{n:6}\t", True),
    "grep -n": ("{n}:", True),
    "grep -H": ("logs/a-b.log:", False),
    "grep -Hn": ("log.txt:{n}:", True),
    "compose": ("app_1  | ", False),
    "ci": ("2023-01-01T00:{m:02}:{s:02}.1234567Z ", True),
    "ts": ("Jan 01 00:{m:02}:{s:02} ", True),
    "syslog": ("Jan  1 00:{m:02}:{s:02} host app[123]: ", True),
    "cri": ("2023-01-01T00:{m:02}:{s:02}.123456789+02:00 stdout F ", True),
    "journal": ("2023-01-01T00:{m:02}:{s:02}+0000 host app[123]: ", True),
}
PLAIN = ("", False)

STRACE = sorted(path.stem for path in (DATA / "golden").glob("torture-*.log"))


# Names of commands with line feeds need columns that start at the start of the line. Without a
# header or a name there is nothing to find a prefix by, and what a trace of several buffers or the
# kernel's log puts before its lines is a prefix already.
NOT_FOUND = {
    *("ftrace-names-of-commands", "ftrace-names-told", "ftrace-layout-latency"),
    *("ftrace-layout-hex", "ftrace-layout-raw", "ftrace-layout-remote"),
    *("ftrace-kernel-log", "ftrace-page", "ftrace-layout-trace-cmd"),
    *("ftrace-page-systrace", "ftrace-near-records", "ftrace-indents"),
    *("ftrace-mmiotrace", "ftrace-kernel-log-dates"),
    *("names", "names-tgid", "names-latency", "trace-cmd-names"),
    *("trace-cmd-buffers", "trace-cmd-dropped"),
}
# A number may be the start of a name, where names are not aligned, or of a line of text.
NOT_NUMBERED = {
    *("ftrace-layout-trace-cmd-l", "trace-cmd-report-l", "marks-nocontext", "trace-cmd-marks"),
}
# Text with CR LF, which is an end of a line too, and blanks before the line of a lost record.
NOT_WHOLE = {"marks", "marks-latency", "marks-nocontext", "trace-cmd-marks", "lost-pipe"}
# By name: the golden logs, and those that were recorded with each option of tracefs and trace-cmd.
FTRACE_LOGS = {path.stem: path for path in (DATA / "golden").glob("ftrace-*.log")} | {
    path.stem: path for path in (DATA / "ftrace").glob("*.ftrace")
}
FTRACE = sorted({*FTRACE_LOGS} - NOT_FOUND)


def prefixed(text: bytes, prefix: str, behind: str = "") -> bytes:
    """The log with the prefix before each line, and more at its end."""
    out = []
    for n, line in enumerate(text.split(b"\n")[:-1], 1):
        before = prefix.format(n=n, m=n // 60 % 60, s=n % 60).encode()
        out.append(before + line + behind.encode() + b"\n")
    return b"".join(out)


def events(path, text: bytes, **options) -> pl.DataFrame:
    path.write_bytes(text)
    return pl.DataFrame(tf.read(path, **options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("prefixes")


def golden(name: str) -> bytes:
    return FTRACE_LOGS.get(name, DATA / "golden" / f"{name}.log").read_bytes()


def clock(text: bytes, folder) -> str:
    (folder / "clean").write_bytes(text)
    return tf.parse(folder / "clean", None).clock


def without(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    return frame.drop("source", *columns, strict=False)


@pytest.mark.parametrize("name", STRACE)
@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_log_of_strace_is_itself_behind_a_prefix(tmp_path, name, prefix):
    text = golden(name)
    before, varies = prefix
    clean = events(tmp_path / "log", text)
    found = events(tmp_path / "log", prefixed(text, before))
    columns = ["extra"] if varies else []
    if tf.parse(tmp_path / "log", None).clock != clock(text, tmp_path):
        # Durations of split calls follow from their times.
        columns += ["ts", "dur_ns"]
    assert_frame_equal(without(found, *columns), without(clean, *columns))
    assert ("ts" in columns) == (clock(text, tmp_path) == "none" and ":{s:02}" in before)


@pytest.mark.parametrize("indent", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("pid", [7, 47, 4711, 47112, 4711234])
def test_an_indented_pid_is_a_pid(tmp_path, indent, pid):
    text = f"{pid} read(3, 0x7f, 10) = 3\n{pid} close(3) = 0\n".encode()
    found = events(tmp_path / "log", prefixed(text, " " * indent))
    assert_frame_equal(without(found), without(events(tmp_path / "log", text)))


@pytest.mark.parametrize("name", FTRACE)
@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_a_log_of_ftrace_is_itself_behind_a_prefix(tmp_path, name, prefix):
    # Without the record that is cut at the end of `ftrace-lines`.
    text = golden(name).rpartition(b"\n")[0] + b"\n"
    before, varies = prefix
    if "{n" in before and name in NOT_NUMBERED:
        pytest.skip("the number may be the log's own")
    clean = events(tmp_path / "log", text)
    found = events(tmp_path / "log", prefixed(text, before))
    texts = ["args"] if name in NOT_WHOLE else []
    assert_frame_equal(without(found, "extra", *texts), without(clean, "extra", *texts))
    if not varies:
        assert_frame_equal(without(found, *texts), without(clean, *texts))


@CALM
@given(
    name=st.sampled_from([*STRACE, *FTRACE]),
    prefix=st.sampled_from([PLAIN, *PREFIXES.values()]),
    behind=st.sampled_from(["", " ", "\t ", "\r"]),
    block_bytes=BLOCKS,
)
def test_blocks_and_ends_of_lines_change_nothing(folder, name, prefix, behind, block_bytes):
    text = golden(name)
    before, _ = prefix
    assume("{n" not in before or name not in NOT_NUMBERED)
    expected = events(folder / "log", prefixed(text, before))
    data = prefixed(text, before, behind)
    found = events(folder / "log", data, block_bytes=block_bytes)
    if behind == "" or (behind == "\r" and name in STRACE):
        assert_frame_equal(found, expected)
    elif behind == "\r":
        # Text that was written to a trace may have such ends of lines itself.
        texts = ["args", "extra"]
        assert_frame_equal(found.drop(texts), expected.drop(texts))
    report = tf.parse(folder / "log", None, block_bytes=block_bytes)
    assert report.bytes == len(data) == sum(report.accounting_bytes.values())
    assert report.lines == data.count(b"\n") == sum(report.accounting.values())
    # Blanks before records without a header are a wider column of names.
    if name in STRACE or before.strip(" ") or not before:
        assert (report.oddities["prefixes"] > 0) == (before != "")


def test_what_differs_from_line_to_line_is_kept(tmp_path):
    text = b"7 read(3,  <unfinished ...>\n8 close(4) = 0\n7 <... read resumed>0x7f, 10) = 3\n"
    found = events(tmp_path / "log", prefixed(text, "log.txt:{n}:"))
    assert found.sort("line")["extra"].to_list() == ["log.txt:1:", "log.txt:2:"]
    found = events(tmp_path / "log", prefixed(text, "log.txt:"))
    assert found["extra"].to_list() == [None, None]
    assert tf.parse(tmp_path / "log", None).oddities["prefixes"] == 3


TIMES = [
    ("2023-01-01T00:00:{s:02}.1234567Z ", "epoch", 1_672_531_200, 123_456_700),
    ("2023-01-01T01:00:{s:02}+01:00 stdout F ", "epoch", 1_672_531_200, 0),
    ("2023-01-01 00:00:{s:02},123 ", "time-of-day", 0, 123_000_000),
    ("Jan 01 00:00:{s:02} host app[123]: ", "time-of-day", 0, 0),
    ("00:00:{s:02}.5 | ", "time-of-day", 0, 500_000_000),
    # The last one is nearest to strace.
    ("Jan 01 12:00:00 2023-01-01T00:00:{s:02}Z ", "epoch", 1_672_531_200, 0),
]


@pytest.mark.parametrize(("prefix", "named", "start", "rest"), TIMES)
def test_a_time_in_the_prefix_is_that_of_the_call(tmp_path, prefix, named, start, rest):
    text = b"7 read(3,  <unfinished ...>\n8 close(4) = 0\n7 <... read resumed>0x7f, 10) = 3\n"
    found = events(tmp_path / "log", prefixed(text, prefix)).sort("line")
    wanted = [(start + second) * 1_000_000_000 + rest for second in (1, 2)]
    assert found["ts"].to_physical().to_list() == wanted
    assert tf.parse(tmp_path / "log", None).clock == named


def test_times_of_day_in_the_prefix_pass_midnight(tmp_path):
    lines = [f"Jan 01 {hour:02}:30:00 host app: close(3) = 0\n" for hour in (22, 23, 0, 1)]
    found = events(tmp_path / "log", "".join(lines).encode(), block_bytes=64)
    hours = [22, 23, 24, 25]
    wanted = [(hour * 60 + 30) * 60 * 1_000_000_000 for hour in hours]
    assert found["ts"].to_physical().to_list() == wanted


@pytest.mark.parametrize("own", ["1795175299.690276 ", "     0.000123 "])
def test_times_of_strace_go_before_those_of_the_prefix(tmp_path, own):
    text = f"{own}close(3) = 0\n".encode() * 3
    clean = events(tmp_path / "log", text)
    found = events(tmp_path / "log", prefixed(text, "2023-01-01T00:00:{s:02}Z "))
    assert found["ts"].to_list() == clean["ts"].to_list()


def test_lines_without_the_prefix_are_read_as_they_are(tmp_path):
    text = b"> 7 read(3, 0x7f, 10) = 3\n" * 20
    text += b"8 close(4) = 0\nhello\n> hello\n> 7 close(3) = 0\n"
    found = events(tmp_path / "log", text)
    assert found["kind"][-4:].to_list() == ["syscall", "unparsed", "unparsed", "syscall"]
    assert found["tid"][-4:].to_list() == [8, None, None, 7]
    assert found["args"][-3:-1].to_list() == ["hello", "hello"]


# Numbers that go up and down may be pids, and different words different logs.
COLUMNS = ["[ {pid}: {pid}] ", "{pid}/0x1: ", "pid {pid}: ", "app_{pid} | "]


@pytest.mark.parametrize("column", COLUMNS)
def test_columns_are_no_prefix(tmp_path, column):
    lines = [column.format(pid=100 + n * 7 % 4) + "close(3) = 0\n" for n in range(20)]
    (tmp_path / "log").write_text("".join(lines))
    with pytest.raises(tf.Error, match="looks like strace"):
        tf.read(tmp_path / "log")


def test_a_line_of_output_does_not_make_a_prefix(tmp_path):
    clean = golden("torture-leader-epoch-ns")
    found = events(tmp_path / "log", b"see: close(3) = 0\n  close(3) = 0\n" + clean)
    assert found["kind"][:2].to_list() == ["unparsed"] * 2
    assert tf.parse(tmp_path / "log", None).oddities["prefixes"] == 0


BOM = "\ufeff".encode()


@pytest.mark.parametrize("name", [*STRACE, *FTRACE])
def test_a_byte_order_mark_is_read_over(tmp_path, name):
    text = golden(name)
    found = events(tmp_path / "log", BOM + text)
    assert_frame_equal(without(found), without(events(tmp_path / "log", text)))
    report = tf.parse(tmp_path / "log", None)
    assert sum(report.accounting_bytes.values()) == report.bytes == len(text)
    (tmp_path / "log").write_bytes(BOM + text)
    report = tf.parse(tmp_path / "log", None, block_bytes=64)
    assert sum(report.accounting_bytes.values()) == report.bytes == len(text) + len(BOM)


# Within text over several lines, as at the end of `ftrace-lines`, it is part of that.
@pytest.mark.parametrize("name", ["torture-leader-epoch-ns", *sorted({*FTRACE} - {"ftrace-lines"})])
def test_a_byte_order_mark_in_the_middle_is_read_over(tmp_path, name):
    """Two files put together; blocks start at it, or do not."""
    text = golden(name)
    clean = events(tmp_path / "log", text + text)
    for size in (64, 1 << 18):
        found = events(tmp_path / "log", text + BOM + text, block_bytes=size)
        assert_frame_equal(without(found), without(clean))


@pytest.mark.parametrize("format_in", ["strace", "ftrace"])
def test_a_byte_order_mark_alone_is_a_blank_line(tmp_path, format_in):
    (tmp_path / "log").write_bytes(BOM)
    report = tf.parse(tmp_path / "log", None, format_in=format_in)
    assert (report.lines, report.bytes, sum(report.accounting_bytes.values())) == (1, 3, 3)


@pytest.mark.parametrize("name", ["torture-file", "torture-leader-none", "torture-leader-tt"])
def test_colours_of_grep_are_removed(tmp_path, name):
    """`grep --color=always -n` colours the number, the colon and what it found, and erases."""
    text = golden(name)
    clean = prefixed(text, "{n}:")
    number = "\x1b[32m\x1b[K{n}\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K"
    coloured = prefixed(text, number).replace(b"close", b"\x1b[01;31m\x1b[Kclose\x1b[m\x1b[K")
    coloured = coloured.replace(b"/etc", b"/\x1b[01;31m\x1b[Ketc\x1b[m\x1b[K")
    expected = events(tmp_path / "log", clean)
    for block_bytes in (64, 262_144):
        found = events(tmp_path / "log", coloured, block_bytes=block_bytes)
        assert_frame_equal(found, expected)
        report = tf.parse(tmp_path / "log", None, block_bytes=block_bytes)
        assert sum(report.accounting_bytes.values()) == report.bytes == len(coloured)


COLOURED = ("ftrace-default", "ftrace-function", "ftrace-calls-forms", "ftrace-lost")


@pytest.mark.parametrize("name", COLOURED)
def test_colours_around_events_of_ftrace_are_removed(tmp_path, name):
    text = golden(name).rpartition(b"\n")[0] + b"\n"
    clean = prefixed(text, "log.txt:")
    path = "\x1b[35m\x1b[Klog.txt\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K"
    coloured = prefixed(text, path).replace(b"s", b"\x1b[01;31m\x1b[Ks\x1b[m\x1b[K")
    plain = re.sub(rb"\x1b\[[0-9;]*[mK]", b"", coloured)
    assert plain == clean
    expected = events(tmp_path / "log", clean)
    for block_bytes in (64, 262_144):
        found = events(tmp_path / "log", coloured, block_bytes=block_bytes)
        assert_frame_equal(found, expected)
        report = tf.parse(tmp_path / "log", None, block_bytes=block_bytes)
        assert sum(report.accounting_bytes.values()) == report.bytes == len(coloured)


def test_a_line_in_one_colour_is_a_record(tmp_path):
    text = golden("ftrace-default")
    lines = [b"\x1b[33m" + line + b"\x1b[0m\n" for line in text.splitlines()]
    expected = events(tmp_path / "log", text)
    assert_frame_equal(events(tmp_path / "log", b"".join(lines)), expected)


def test_colours_that_a_program_wrote_are_its_text(tmp_path):
    head = "            bash-7       [001] .....     1.000001: "
    text = f"{head}tracing_mark_write: \x1b[31mred\x1b[0m\n{head}x: y\n"
    found = events(tmp_path / "log", text.encode())
    assert found["args"].to_list() == ["\x1b[31mred\x1b[0m", "y"]
    # The name of a command, too.
    text = text[:-3] + "z\n" + head.replace("     bash", "\x1b[31mbash") + "x: y\n"
    found = events(tmp_path / "log", text.encode())
    assert found["comm"].to_list() == ["bash", "bash", "\x1b[31mbash"]


CALLS = 'execve("/bin/cat", ["cat"], 0x7ffe) = 0\nopen("/x", O_RDONLY) = 3\n' * 3
TYPESET = {
    "typographic quotes": CALLS.replace('("', "(\u201c").replace('",', "\u201d,"),
    "no-break spaces": CALLS.replace(" = ", "\u00a0=\u00a0"),
    "no-break spaces and typographic quotes": CALLS.replace('("', "(\u201c").replace(" ", "\u00a0"),
}


@pytest.mark.parametrize("what", TYPESET)
def test_what_word_processors_do_is_named(tmp_path, what):
    log = tmp_path / "log"
    log.write_text(TYPESET[what], encoding="utf-8")
    with pytest.raises(tf.Error, match=f"put {what} into this log") as raised:
        tf.read(log)
    assert raised.value.kind == "typeset"
    assert "sed 's/" in raised.value.hint
    script = raised.value.hint.split("sed '")[1].rstrip("'")
    fixed = subprocess.run(["sed", script, log], capture_output=True, check=True, text=True)
    assert fixed.stdout == CALLS
    assert len(pl.DataFrame(tf.read(log, format_in="strace"))) == 6


def test_output_with_typographic_quotes_is_output(tmp_path):
    (tmp_path / "log").write_text(CALLS + "cat: \u201c/x\u201d: no such file\n", encoding="utf-8")
    assert pl.DataFrame(tf.read(tmp_path / "log"))["kind"].to_list()[-1] == "unparsed"
