"""Ctrl-C while a table is made, or many logs are parsed: in a child, by a real signal."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

import tracefast as tf
from support.command import pipes
from support.command.interrupts import stopped
from support.logs import write_long
from support.paths import DATA

CHILD = """
import signal, sys
# A test run in the background inherits that interrupts are ignored, and passes it on.
signal.signal(signal.SIGINT, signal.default_int_handler)
import polars as pl
import tracefast as tf

how, short, *names = sys.argv[1:]
{before}
print("begun", flush=True)
{work}
print("done")
"""
TABLE = CHILD.format(
    before="""
from tracefast.inputs import sources
from tracefast.scanning import sources as scanned
# The same log many times.
scanned.files_sharing_names = lambda *_: frozenset()
sources.identity = lambda name: name
tables = {
    "files": lambda events: tf.files(events),
    "files, streamed": lambda events: tf.files(events),
    "files of some": lambda events: tf.files(events.filter(pl.col("args").str.contains("x.y"))),
    "darshan": lambda events: tf.files(events, darshan=True),
    "syscalls": lambda events: tf.syscalls(events),
    "processes": lambda events: tf.processes(events),
    "forks": lambda events: tf.forks(events),
    "fork_summary": lambda events: tf.fork_summary(events),
    "events": lambda events: tf.events(events),
    "covered_bytes": lambda events: tf.covered_bytes(events, by="path"),
}

def make(names):
    events = tf.scan(names)
    tables[how](events).collect(engine="streaming" if "streamed" in how else "auto")

# Imports what is imported at first use: an interrupt in the middle of an import may be lost.
make(short)
""",
    work="make(names)",
)
SHORT = DATA / "spawn" / "spawn.strace"
TABLES = [
    "files",
    "files, streamed",
    "files of some",
    "darshan",
    "syscalls",
    "processes",
    "forks",
    "fork_summary",
    "events",
    "covered_bytes",
]
# Of a processor, until the end of the process, before which polars may print much; uninterrupted,
# the tables of a pipe never come, and those of the Parquet files take several times as long.
SOON_S = 5.0


def interrupted(script: str, *arguments: object) -> float:
    """Stop a child in mid-work; give the seconds of a processor that it took until it had ended."""
    out, _, used = stopped(script, *arguments, after_s=0.5)
    assert out == ""
    return used


@pytest.fixture
def endless(spawn_strace, tmp_path) -> Iterator[Path]:
    """Give a pipe that has some megabytes of a log, and then nothing, but never ends."""
    data = (spawn_strace.read_bytes() * 20)[: 3 << 20]
    with pipes.endless(tmp_path / "pipe", data) as pipe:
        yield pipe


@pytest.mark.parametrize("table", TABLES)
def test_ctrl_c_stops_the_table_of_a_log(table, endless):
    assert interrupted(TABLE, table, SHORT, endless) < SOON_S


@pytest.fixture(scope="module")
def long_parquet(tmp_path_factory) -> list[Path]:
    """Write the events of a log of 60 MB, under four hundred names."""
    folder = tmp_path_factory.mktemp("long")
    log = write_long(folder / "long.strace", 60_000_000)
    tf.parse(log, folder / "long.parquet")
    names = [folder / f"{number}.parquet" for number in range(400)]
    for name in names:
        name.hardlink_to(folder / "long.parquet")
    return names


@pytest.mark.parametrize("table", ["files", "syscalls", "forks", "files of some"])
def test_ctrl_c_stops_the_table_of_parquet(table, long_parquet):
    assert interrupted(TABLE, table, SHORT, *long_parquet) < SOON_S


MANY = CHILD.format(before="", work='tf.parse_many(names, "events", jobs=2)')


def test_ctrl_c_stops_parse_many_in_the_middle_of_a_log(spawn_strace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = spawn_strace.read_bytes()
    # Two gigabytes of text: of what repeats itself, xz makes very little.
    part = lzma.compress(lines * (10_000_000 // len(lines)), preset=1)
    Path("long.strace.xz").write_bytes(part * 200)
    assert interrupted(MANY, "", "", "long.strace.xz") < SOON_S
    # It was stopped, and neither came to its end nor left anything.
    assert list(Path("events").iterdir()) == []
    assert [file for file in Path("events.manifest").rglob("*") if file.is_file()] == []
