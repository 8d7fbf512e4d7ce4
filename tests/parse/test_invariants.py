"""What holds for every input: same bytes out, every line accounted for, no crash."""

import re
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import tracefast as tf

CALM = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
BLOCKS = st.sampled_from([64, 300, 1000, 4096, 65_536, 262_144])
THREADS = st.integers(1, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("invariants")


def lines_of(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


@pytest.mark.parametrize("sink", ["parquet", "arrow"])
@CALM
@given(block_bytes=BLOCKS, threads=THREADS)
def test_the_same_bytes_for_any_threads_and_blocks(folder, spawn, sink, block_bytes, threads):
    reference = folder / f"{spawn.name}.{sink}"
    if not reference.exists():
        tf.parse(spawn, reference, sink=sink, row_group=500)
    output = folder / f"{spawn.name}.again.{sink}"
    report = tf.parse(
        spawn, output, sink=sink, row_group=500, threads=threads, block_bytes=block_bytes
    )
    assert output.read_bytes() == reference.read_bytes()
    assert sum(report.accounting.values()) == report.lines == lines_of(spawn.read_bytes())


@CALM
@given(block_bytes=BLOCKS, threads=THREADS)
def test_the_stream_is_the_file(spawn, block_bytes, threads):
    expected = pl.DataFrame(tf.read(spawn, threads=1))
    frame = pl.DataFrame(tf.read(spawn, threads=threads, block_bytes=block_bytes))
    assert_frame_equal(frame, expected)


def check(folder: Path, data: bytes, format_in: str | None, block_bytes: int, threads: int) -> None:
    """Parse any bytes: either rows that account for every line, or a refusal; never a crash."""
    path = folder / "any.log"
    path.write_bytes(data)
    try:
        reader = tf.read(path, format_in=format_in, threads=threads, block_bytes=block_bytes)
        table = pa.table(reader)
    except (tf.Error, pa.ArrowException, OSError):
        # No line of it was recognised, or it begins as something compressed does.
        packed = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")
        assert format_in is None or data.startswith(packed)
        return
    table.validate(full=True)
    report = reader.report
    assert report.rows == table.num_rows
    assert report.lines == lines_of(data)
    assert sum(report.accounting.values()) == report.lines
    assert sum(report.accounting_bytes.values()) == report.bytes == len(data)
    assert sum(report.kinds.values()) == report.rows
    # Two, where lines of strace follow lines of ftrace.
    assert 1 <= len(report.sources) <= 2
    for key in ("lines", "bytes", "rows", "kinds", "accounting", "accounting_bytes", "oddities"):
        assert added(log[key] for log in report.sources) == getattr(report, key)
    kinds = table.column("kind").to_pylist()
    assert kinds.count("unparsed") == report.accounting["unparsed"]
    check_explanation(path, table, format_in, block_bytes, threads)


def added(parts):
    """Add numbers, or numbers by name."""
    parts = list(parts)
    if len(parts) == 1 or isinstance(parts[0], int):
        return sum(parts) if isinstance(parts[0], int) else parts[0]
    return {name: sum(part.get(name, 0) for part in parts) for part in parts for name in part}


def check_explanation(path: Path, table: pa.Table, format_in, block_bytes, threads) -> None:
    """Every line that was not understood, or whose result is lost, is explained, in order."""
    explained = []
    tf.parse(
        path,
        None,
        explain=explained.extend,
        format_in=format_in,
        block_bytes=block_bytes,
        threads=threads,
    )
    rows = pl.DataFrame(table.select(["kind", "status", "name", "line", "args"]))
    cut = pl.col("status").cast(pl.String).eq_missing("truncated")
    call = pl.format("{}({}", pl.col("name").cast(pl.String), "args")
    lost = rows.filter((pl.col("kind") == "unparsed") | cut)
    lost = lost.select("line", pl.when(cut).then(call).otherwise("args"))
    # Notes come last; nothing is lost by them.
    found = [(line, text) for _, line, text, why in explained if "behind the result" not in why]
    assert found == lost.rows()
    assert all(expected for *_, expected in explained)


@CALM
@given(
    data=st.binary(max_size=3000),
    format_in=st.sampled_from(["strace", "ftrace", None]),
    block_bytes=BLOCKS,
    threads=THREADS,
)
def test_random_bytes(folder, data, format_in, block_bytes, threads):
    check(folder, data, format_in, block_bytes, threads)


PIECES = [
    b" <unfinished ...>",
    b"<... read resumed>",
    b") = ",
    b" = -1 ENOENT (No such file or directory)",
    b"+++ exited with 0 +++",
    b"--- SIGCHLD {",
    b"\0",
    b"\r",
    b"\n",
    b"\xff\xfe",
    b'"',
    b"[pid  ",
    b"</",
    b">",
    b"99999999999999999999",
    b"-",
    b" -> 0x",
    b"sys_read(fd: ",
    b"[000] ..... ",
    b"# tracer: nop",
]


@st.composite
def mutated(draw, text: bytes) -> bytes:
    """Take real lines, and cut, repeat, drop and spoil them."""
    lines = text.splitlines(keepends=True)
    start = draw(st.integers(0, len(lines) - 1))
    chosen = lines[start : start + draw(st.integers(1, 60))]
    for _ in range(draw(st.integers(0, 12))):
        at = draw(st.integers(0, len(chosen) - 1))
        line = chosen[at]
        cut = draw(st.integers(0, len(line)))
        chosen[at] = draw(
            st.sampled_from(
                [
                    line[:cut],
                    line[cut:],
                    line + line,
                    b"",
                    line[:cut] + draw(st.sampled_from(PIECES)) + line[cut:],
                    re.sub(rb"\d", b"9", line),
                ]
            )
        )
    return b"".join(chosen)


@st.composite
def coloured(draw, text: bytes) -> bytes:
    """Colour some words of some lines, as `strace --color` does those of all."""
    start = b"\x1b[%dm" % draw(st.integers(30, 107))
    every = draw(st.integers(1, 4))
    return b"".join(
        re.sub(rb"\w+|[(),=]", lambda word: start + word[0] + b"\x1b[0m", line)
        if at % every == 0
        else line
        for at, line in enumerate(text.splitlines(keepends=True))
    )


LINES = [
    b'read(3, "x"..., 10) = 10',
    b"read(3,  <unfinished ...>",
    b'<... read resumed>"x", 10) = 1',
    b"close(3) = 0",
    b"clone(child_stack=NULL, flags=SIGCHLD) = 101",
    b"fork( <unfinished ...>",
    b"<... fork resumed>) = 102",
    b"set_tid_address(0x7f) = 100",
    b"exit_group(0) = ?",
    b"+++ exited with 0 +++",
    b"+++ killed by SIGKILL +++",
    b"--- stopped by SIGSTOP ---",
    b"strace: Process 101 attached",
    b"strace: Process 101 detached",
    b"Process 100 detached",
    b"read(3,  <detached ...>",
    b"hello",
]


@st.composite
def half_numbered(draw) -> bytes:
    """Draw lines of which some have a pid, as strace prints them on a terminal."""
    form = draw(st.sampled_from([b"[pid   %d] ", b"%d "]))
    time = draw(st.sampled_from([b"", b"1795175299.690276 ", b"10:00:00 "]))
    pids = st.sampled_from([None, None, 100, 101, 102])
    drawn = draw(st.lists(st.tuples(pids, st.sampled_from(LINES)), min_size=2, max_size=40))
    return b"".join(
        (b"" if pid is None else form % pid) + time + line + b"\n" for pid, line in drawn
    )


@settings(CALM, max_examples=150)
@given(data=st.data(), block_bytes=BLOCKS, threads=THREADS)
def test_coloured_and_half_numbered_lines(folder, data, block_bytes, threads):
    text = data.draw(half_numbered())
    if data.draw(st.booleans()):
        text = data.draw(coloured(text))
    check(folder, text, "strace", block_bytes, threads)


@settings(CALM, max_examples=150)
@given(data=st.data(), block_bytes=st.sampled_from([64, 150, 300]))
def test_tasks_of_half_numbered_lines_do_not_depend_on_blocks(folder, data, block_bytes):
    text = data.draw(half_numbered())
    if data.draw(st.booleans()):
        text = data.draw(coloured(text))
    path = folder / "half.log"
    path.write_bytes(text)
    expected = pl.DataFrame(tf.read(path, format_in="strace", threads=1))
    frame = pl.DataFrame(tf.read(path, format_in="strace", threads=2, block_bytes=block_bytes))
    assert_frame_equal(frame, expected)


@settings(CALM, max_examples=150)
@given(data=st.data(), block_bytes=BLOCKS, threads=THREADS, forced=st.booleans())
def test_real_lines_spoiled(folder, spawn, data, block_bytes, threads, forced):
    format_in = spawn.suffix.removeprefix(".") if forced else None
    check(folder, data.draw(mutated(spawn.read_bytes())), format_in, block_bytes, threads)


@CALM
@given(data=st.data(), block_bytes=BLOCKS)
def test_spoiled_lines_do_not_depend_on_blocks(folder, spawn, data, block_bytes):
    path = folder / "spoiled.log"
    path.write_bytes(data.draw(mutated(spawn.read_bytes())))
    format_in = spawn.suffix.removeprefix(".")
    expected = pl.DataFrame(tf.read(path, format_in=format_in, threads=1))
    frame = pl.DataFrame(tf.read(path, format_in=format_in, threads=2, block_bytes=block_bytes))
    assert_frame_equal(frame, expected)
