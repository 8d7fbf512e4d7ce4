"""Logs whose lines were wrapped at a width: by mail, by forms, by copies from terminals."""

from __future__ import annotations

import textwrap

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

CALM = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WIDTHS = (60, 72, 80, 100, 132)
TORTURE = sorted(path.stem for path in (DATA / "golden").glob("torture-*.log"))
# What the text says of an event; paths and offsets may follow from events before it.
OWN = ["ts", "tid", "name", "ret", "errno", "args", "dur_ns", "bytes", "requested", "status"]


def demo() -> bytes:
    """Read a log of processes that start others, with paths, times and split calls."""
    return (DATA / "spawn" / "spawn.strace").read_bytes()


def cut(text: bytes, width: int) -> bytes:
    """Cut each line behind so many bytes, as `fold -b` and terminals do."""
    lines = text.split(b"\n")[:-1]
    parts = [line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width)]
    return b"".join(part + b"\n" for part in parts)


def fold(text: bytes, width: int) -> bytes:
    """Break lines behind the last blank that fits, as `fold -s` does."""
    out = []
    for line in text.split(b"\n")[:-1]:
        rest = line
        while len(rest) > width:
            blank = rest.rfind(b" ", 0, width)
            at = width if blank < 0 else blank + 1
            out.append(rest[:at])
            rest = rest[at:]
        out.append(rest)
    return b"".join(part + b"\n" for part in out)


def fill(text: bytes, width: int) -> bytes:
    """Break lines between words, without the blanks, as mail programs do."""
    wrapper = textwrap.TextWrapper(width, break_on_hyphens=False, expand_tabs=False)
    lines = text.decode().split("\n")[:-1]
    return "".join(part + "\n" for line in lines for part in wrapper.wrap(line)).encode()


def events(path, text: bytes, **options) -> pl.DataFrame:
    path.write_bytes(text)
    return pl.DataFrame(tf.read(path, **options)).drop("source", strict=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("wrapped")


@pytest.fixture(scope="module")
def clean(folder) -> pl.DataFrame:
    return events(folder / "clean", demo())


@pytest.mark.parametrize("width", WIDTHS)
def test_a_log_cut_at_a_width_is_itself(tmp_path, clean, width):
    text = cut(demo(), width)
    found = events(tmp_path / "log", text)
    assert_frame_equal(found.drop("line"), clean.drop("line"))
    report = tf.parse(tmp_path / "log", None)
    assert report.quality == ["complete", f"looks wrapped at {width}"]
    more = text.count(b"\n") - demo().count(b"\n")
    assert report.oddities["wrapped"] == more == report.accounting["continuation"]
    assert report.lines == text.count(b"\n")
    assert report.bytes == len(text) == sum(report.accounting_bytes.values())


def test_events_are_on_their_first_lines(tmp_path, clean):
    text = cut(demo(), 80)
    lines = text.split(b"\n")
    # A split call is on the line of its first half.
    starts = clean.filter(kind="syscall").select("name", "tid")
    found = events(tmp_path / "log", text).filter(kind="syscall").select("name", "tid", "line")
    assert found.drop("line").equals(starts)
    for name, line in found.select("name", "line").rows():
        assert f" {name}".encode() in lines[line - 1]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("broken", [fold, fill])
def test_breaks_between_words_are_joined_where_they_are_certain(tmp_path, clean, broken, width):
    found = events(tmp_path / "log", broken(demo(), width))
    report = tf.parse(tmp_path / "log", None)
    assert report.quality[-1] == f"looks wrapped at {width}"
    whole = found.filter(pl.col("kind") != "unparsed", pl.col("status").is_in(["complete"]))
    # Nothing is said that the log did not say.
    extra = whole.select(OWN).join(clean.select(OWN), on=OWN, how="anti", nulls_equal=True)
    assert extra.is_empty(), extra
    # Blanks within strings may be lost without a trace.
    assert whole.height > clean.height * (0.95 if broken is fold else 0.85)
    complete = clean.filter(status="complete").height
    assert (report.accounting["unparsed"] == 0) == (whole.height == complete)


def test_the_report_says_that_parts_were_not_joined(tmp_path):
    lines = [
        '7 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3\n',
        '7 write(1, "one two three four five six seven eight nine ten eleven", 56) = 56\n',
        "7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f1\n",
    ]
    found = events(tmp_path / "log", fill("".join(lines).encode(), 60))
    assert found["name"].to_list() == ["openat", None, None, "mmap"]
    report = tf.parse(tmp_path / "log", None)
    assert report.quality == ["2 lines not understood", "looks wrapped at 60"]


@CALM
@given(
    width=st.integers(60, 200),
    before=st.sampled_from(["", "> ", "    ", "app_1  | "]),
    end=st.sampled_from([b"\n", b"\r\n"]),
    block_bytes=st.sampled_from([300, 1000, 4096, 262_144]),
)
def test_prefixes_and_blocks_change_nothing(folder, clean, width, before, end, block_bytes):
    text = cut(demo(), width)
    lines = text.split(b"\n")[:-1]
    data = b"".join(before.encode() + line + end for line in lines)
    found = events(folder / "log", data, block_bytes=block_bytes)
    assert_frame_equal(found.drop("line"), clean.drop("line"))
    report = tf.parse(folder / "log", None, block_bytes=block_bytes)
    assert report.bytes == len(data) == sum(report.accounting_bytes.values())
    assert report.lines == len(lines) == sum(report.accounting.values())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "name", sorted(path.stem for path in (DATA / "golden").glob("torture-*.log"))
)
def test_odd_logs_say_nothing_new(tmp_path, name, width):
    if (name, width) == ("torture-leader-all", 60):
        pytest.skip("its columns alone are longer")
    text = (DATA / "golden" / f"{name}.log").read_bytes()
    own = ["name", "ret", "errno", "tid"]
    clean = events(tmp_path / "log", text).select(own)
    found = events(tmp_path / "log", cut(text, width))
    report = tf.parse(tmp_path / "log", None)
    if report.oddities["wrapped"]:
        whole = found.filter(pl.col("kind") == "syscall", status="complete").select(own)
        new = whole.join(clean, on=own, how="anti", nulls_equal=True)
        assert new.is_empty(), new


def test_logs_that_are_not_wrapped_are_not_joined(tmp_path):
    for text in (demo(), *((DATA / "golden").glob("*.log"))):
        data = text if isinstance(text, bytes) else text.read_bytes()
        (tmp_path / "log").write_bytes(data)
        assert tf.parse(tmp_path / "log", None).oddities["wrapped"] == 0
