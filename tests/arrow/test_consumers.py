"""Who takes readers and batches, in which types, and what becomes of threads, signals and forks.

Each library is the newest that the test group installs.
"""

import os
import subprocess
import sys
import threading
import time
from ast import literal_eval
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.command.interrupts import stopped
from support.command.pipes import endless
from support.paths import DATA
from tracefast import _core

SCHEMA = pa.schema(tf.schema())


def as_polars(table: pa.Table) -> pl.DataFrame:
    return pl.DataFrame(table).with_columns(pl.col(pl.Categorical).cast(pl.String))


@pytest.fixture
def expected(spawn) -> pl.DataFrame:
    return pl.DataFrame(tf.read(spawn)).with_columns(pl.col(pl.Categorical).cast(pl.String))


# The libraries, with a reader and with a batch.


def test_pyarrow(spawn, expected):
    assert_frame_equal(as_polars(pa.table(tf.read(spawn))), expected)
    with pa.RecordBatchReader.from_stream(tf.read(spawn)) as reader:
        assert reader.schema.names == SCHEMA.names
        assert reader.schema.metadata[b"tracefast.schema"] == b"1"
        assert_frame_equal(as_polars(reader.read_all()), expected)
    batches = list(tf.read(spawn))
    assert_frame_equal(as_polars(pa.Table.from_batches(map(pa.record_batch, batches))), expected)
    assert pa.table(batches[0]).num_rows == len(batches[0])
    assert pa.schema(tf.read(spawn)) == pa.schema(tf.schema())


def test_polars(spawn, expected):
    words = pl.col(pl.Categorical).cast(pl.String)
    frames = [pl.DataFrame(batch) for batch in tf.read(spawn)]
    assert_frame_equal(pl.concat(frames).with_columns(words), expected)
    assert_frame_equal(
        pl.scan_arrow_c_stream(tf.read(spawn)).with_columns(words).collect(), expected
    )


def test_duckdb(spawn, expected):
    reader = tf.read(spawn)  # noqa: F841 - duckdb finds it by its name
    found = duckdb.sql("select * from reader").to_arrow_table()
    assert found.num_rows == expected.height
    assert found["path"].to_pylist() == expected["path"].to_list()
    assert found["name"].to_pylist() == expected["name"].to_list()
    assert [t and int(t) for t in found["ts"].cast(pa.int64()).to_pylist()] == (
        expected["ts"].cast(pl.Int64).to_list()
    )
    batch = next(tf.read(spawn))
    assert duckdb.sql("select count(*) from batch").fetchall() == [(len(batch),)]


def test_pandas(spawn, expected):
    frame = pd.DataFrame.from_arrow(tf.read(spawn))
    assert list(frame.columns) == expected.columns
    for text in ("path", "name", "errno"):
        known = expected[text].drop_nulls()
        assert frame[text].dropna().astype(str).tolist() == known.to_list()
        assert frame[text].isna().sum() == expected.height - known.len()
    assert frame["line"].tolist() == expected["line"].to_list()
    batch = next(tf.read(spawn))
    assert len(pd.DataFrame.from_arrow(batch)) == len(batch)


def test_nanoarrow(spawn, expected):
    nanoarrow = pytest.importorskip("nanoarrow")
    stream = nanoarrow.ArrayStream(tf.read(spawn))
    column = expected.columns.index("line")
    lines = [line for batch in stream for line in batch.child(column).to_pylist()]
    assert lines == expected["line"].to_list()
    batch = next(tf.read(spawn))
    assert len(nanoarrow.Array(batch)) == len(batch)
    assert nanoarrow.Schema(tf.schema()).field(0).name == "ts"


def test_views_point_into_the_text_of_the_log(spawn_strace):
    """The buffers of a batch are what the parser read: nothing was copied on the way."""
    reader = pa.RecordBatchReader.from_stream(tf.read(spawn_strace, columns=["args"]))
    column = reader.read_next_batch().column(0)
    assert column.type == pa.string_view()
    text = spawn_strace.read_bytes()
    buffers = [buffer for buffer in column.buffers()[2:] if buffer is not None and buffer.size]
    assert any(buffer.to_pybytes()[:1000] in text for buffer in buffers)


# A schema that a consumer may ask for.


def changed(**types: pa.DataType) -> pa.Schema:
    """Give the schema of the named columns, with other types."""
    return pa.schema({name: types.get(name, SCHEMA.field(name).type) for name in types})


TYPES = {
    "string": {"path": pa.string(), "name": pa.string(), "source": pa.string()},
    "large string": {"path": pa.large_string(), "name": pa.large_string()},
    "views": {"path": pa.string_view(), "name": pa.string_view()},
    "dictionary": {"path": pa.dictionary(pa.int32(), pa.string())},
    "other keys": {"name": pa.dictionary(pa.int32(), pa.string())},
    "microseconds": {"ts": pa.timestamp("us")},
    "wider": {"tid": pa.int64(), "line": pa.int64()},
    "narrower": {"tid": pa.int16(), "line": pa.uint32()},
}


@pytest.mark.parametrize("types", TYPES.values(), ids=TYPES.keys())
def test_a_requested_schema_is_honoured(types, spawn_strace):
    wanted = changed(**types)
    plain = pa.table(tf.read(spawn_strace, columns=list(types)))
    reader = tf.read(spawn_strace, columns=list(types))
    found = pa.RecordBatchReader.from_stream(reader, wanted).read_all()
    assert found.schema.equals(wanted)
    for name in types:
        same = plain[name].cast(wanted.field(name).type) if name == "ts" else plain[name]
        assert found[name].to_pylist() == same.to_pylist()
    batch = next(tf.read(spawn_strace, columns=list(types)))
    assert pa.record_batch(batch, schema=wanted).schema.types == wanted.types
    capsule = batch.__arrow_c_stream__(wanted.__arrow_c_schema__())
    assert pa.RecordBatchReader._import_from_c_capsule(capsule).schema.types == wanted.types  # noqa: SLF001


REFUSED = {
    "other columns": pa.schema({"path": pa.string()}),
    "other order": pa.schema({"path": pa.string_view(), "ts": SCHEMA.field("ts").type}),
    "other data": pa.schema({"ts": SCHEMA.field("ts").type, "path": pa.int64()}),
    "text of times": pa.schema({"ts": pa.string(), "path": pa.string()}),
    # Times of day are in no zone, and a log of another clock has none either.
    "zone": pa.schema({"ts": pa.timestamp("ns", "UTC"), "path": pa.string()}),
}


@pytest.mark.parametrize("wanted", REFUSED.values(), ids=REFUSED.keys())
def test_a_schema_of_other_data_is_refused(wanted, spawn_strace):
    with tf.read(spawn_strace, columns=["ts", "path"]) as reader:
        with pytest.raises(ValueError, match=r"requested schema|cannot be"):
            reader.__arrow_c_stream__(wanted.__arrow_c_schema__())
        # The stream was not handed out: it still can be.
        assert pa.table(reader).num_rows > 0
    with pytest.raises(ValueError, match=r"requested schema|cannot be"):
        next(tf.read(spawn_strace, columns=["ts", "path"])).__arrow_c_array__(
            wanted.__arrow_c_schema__()
        )


def test_a_number_that_does_not_fit_is_an_error(spawn_strace):
    reader = tf.read(spawn_strace, columns=["line"])
    stream = pa.RecordBatchReader.from_stream(reader, pa.schema({"line": pa.int8()}))
    with pytest.raises(pa.ArrowException, match="Int8"):
        stream.read_all()


def test_what_is_no_schema_is_refused(spawn_strace):
    with tf.read(spawn_strace) as reader, pytest.raises((TypeError, ValueError)):
        reader.__arrow_c_stream__(object())


# Threads and files.


def threads() -> int:
    return len(os.listdir("/proc/self/task"))  # noqa: PTH208


def open_files(log: Path) -> int:
    found = 0
    for file in Path("/proc/self/fd").iterdir():
        try:
            found += file.readlink() == log
        except OSError:
            continue  # The listing's own.
    return found


def settled(count, wanted: int) -> bool:
    """Wait until a count is as low as wanted, for a minute at most; say whether it is."""
    end = time.monotonic() + 60
    while count() > wanted and time.monotonic() < end:
        time.sleep(0.01)
    return count() <= wanted


def half_iterated(log):
    next(tf.read(log, threads=2))


def half_read_by_pyarrow(log):
    pa.RecordBatchReader.from_stream(tf.read(log, threads=2)).read_next_batch()


def half_scanned(log):
    assert tf.scan(log, threads=2).filter(pl.col("fd") == 3).head(3).collect().height == 3


def left_alone(log):
    tf.read(log, threads=2)


def closed(log):
    reader = tf.read(log, threads=2)
    next(reader)
    reader.close()


@pytest.mark.parametrize(
    "use", [half_iterated, half_read_by_pyarrow, half_scanned, left_alone, closed]
)
def test_a_reader_dropped_half_way_closes_files_and_threads(use, long_log):
    use(long_log)  # What polars and pyarrow keep for good is there now.
    before = threads()
    for _ in range(3):
        use(long_log)
    assert settled(lambda: open_files(long_log), 0)
    # polars' own threads come and go; ten readers would have left thirty.
    assert settled(threads, before + 2), (before, threads())


SLOW = """
import sys, time
text = open(sys.argv[2], "rb").read()
with open(sys.argv[1], "wb", buffering=0) as pipe:
    pipe.write(text * 20)  # more than what shows that it is a log
    for i in range(10):
        time.sleep(0.1)
        pipe.write(text[:1000] if i % 2 else text)
"""
READS = {
    "iterate": lambda log: list(tf.read(log)),
    "parse": lambda log: tf.parse(log, None),
    "polars": lambda log: pl.DataFrame(tf.read(log)),
    "pyarrow": lambda log: pa.table(tf.read(log)),
    "scan": lambda log: tf.scan(log).select("path").collect(),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_other_threads_run_while_a_log_is_read(read, spawn_strace, tmp_path):
    """A thread of Python counts meanwhile: if a reader kept Python to itself, it could not count.

    The log comes through a pipe and takes a second, whatever the machine.
    """

    def longest_gap(pipe: Path) -> float:
        os.mkfifo(pipe)
        ticks: list[float] = []
        stop = threading.Event()

        def count() -> None:
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        other = threading.Thread(target=count)
        with subprocess.Popen([sys.executable, "-c", SLOW, str(pipe), str(spawn_strace)]):
            other.start()
            try:
                read(pipe)
            finally:
                stop.set()
            other.join()
        assert ticks[-1] - ticks[0] > 1
        return max(after - before for before, after in pairwise(ticks))

    # On a busy machine it may wait for a processor, too: one good run is enough.
    assert any(longest_gap(tmp_path / f"pipe{number}") < 0.5 for number in range(5))


def test_readers_in_many_threads_are_apart(spawn_strace):
    found: list[int] = []

    def read() -> None:
        found.append(pl.DataFrame(tf.read(spawn_strace)).height)

    several = [threading.Thread(target=read) for _ in range(8)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert found == [pl.DataFrame(tf.read(spawn_strace)).height] * 8


def test_one_reader_in_many_threads_gives_each_batch_once(long_log):
    reader = tf.read(long_log, columns=["line"])
    rows: list[int] = []

    def read() -> None:
        rows.extend(len(batch) for batch in reader)

    several = [threading.Thread(target=read) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert sum(rows) == reader.report.rows


# Signals, in a child: it says when it starts and what stopped it.

CHILD = """
import atexit, os, signal, sys, time
import polars as pl, pyarrow as pa
import tracefast as tf

seen = []
late = set()

def interrupt(*_):
    if not seen:
        late.update(sys.modules.keys() - loaded)
    seen.append(time.monotonic())
    raise KeyboardInterrupt

def say():
    os.write(1, repr((min(seen, default=time.monotonic()), sorted(late))).encode())

# Where a library made an error of the signal, the interrupt follows as soon as Python runs.
atexit.register(say)
how, log, short = sys.argv[1:]
if how != "scan":  # polars looks for signals by a handler of its own, which this one would replace
    signal.signal(signal.SIGINT, interrupt)
ways = {
    "iterate": lambda log: list(tf.read(log)),
    "parse": lambda log: tf.parse(log, None),
    "polars": lambda log: pl.DataFrame(tf.read(log)),
    "pyarrow": lambda log: pa.table(tf.read(log)),
    "scan": lambda log: tf.scan(log).group_by("args", "line").len().collect(),
}
# Imports what is imported at first use, such as pandas by pyarrow. An interrupt in the middle of an
# import may be lost: modules by Cython ignore all exceptions where they register their types.
ways[how](short)
loaded = set(sys.modules)
print("begun", flush=True)
while True:  # a log that is read too fast is read again
    ways[how](log)
"""
SHORT = DATA / "spawn" / "spawn.strace"
WAYS = ["iterate", "parse", "polars", "pyarrow", "scan"]
# A twentieth of a second passes until a signal is seen; then there may be other work to do.
SOON_S = 0.1
BUSY_OTHERS_S = 0.3
SCAN_S = 5.0  # until the end of the process, before which polars may print much


def interrupted(how: str, log: Path) -> float:
    """Stop a child by SIGINT in mid-work; give the seconds until it saw that."""
    said, sent, _ = stopped(CHILD, how, log, SHORT, after_s=0.3)
    seen, late = literal_eval(said)
    assert late == []  # Else the interrupt could have come in an import, and be lost.
    return seen - sent


def stops(how: str, once: Callable[[], float]) -> bool:
    """Say whether the best of a few is soon: the machine may be busy with other things."""
    enough, allowed = (SCAN_S, SCAN_S) if how == "scan" else (SOON_S, BUSY_OTHERS_S)
    best = once()
    for _ in range(9):
        if best < enough:
            break
        best = min(best, once())
    return best < allowed


@pytest.mark.parametrize("how", WAYS)
def test_ctrl_c_stops_a_long_log(how, long_log):
    assert stops(how, lambda: interrupted(how, long_log))


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("begun", [False, True], ids=["nothing came", "nothing more comes"])
def test_ctrl_c_stops_a_pipe_that_never_ends(how, begun, spawn_strace, tmp_path):
    data = (spawn_strace.read_bytes() * 10)[: 2 << 20] if begun else b""

    def once() -> float:
        with endless(tmp_path / "pipe", data) as pipe:
            took = interrupted(how, pipe)
            pipe.unlink()
            return took

    assert stops(how, once)


EARLY = """
import sys
import polars as pl
import tracefast as tf

# Without pushdown the source still reads when polars has its rows.
every = pl.QueryOptFlags(predicate_pushdown=False, projection_pushdown=False, slice_pushdown=False)
print(tf.scan(sys.argv[1]).head(10).collect(optimizations=every).height)
"""


def test_python_may_exit_as_soon_as_polars_has_its_rows(spawn_strace, tmp_path):
    """Threads of polars that were still in Python then aborted one process in six."""
    log = tmp_path / "some.strace"
    log.write_bytes((spawn_strace.read_bytes() * 10)[: 2 << 20])

    def run(_: int) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-c", EARLY, log], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout, done.stderr

    with ThreadPoolExecutor(4) as together:
        assert list(together.map(run, range(20))) == [(0, "10\n", "")] * 20


UNDER_WAY = """
import sys
import tracefast as tf

batches = tf.scan(sys.argv[1]).select("line").collect_batches()
print(len(next(batches)))
"""


def test_python_may_exit_while_a_query_waits_for_a_pipe(spawn_strace, tmp_path):
    """Of a query within an interrupted one nobody else is left to end it."""
    with endless(tmp_path / "pipe", (spawn_strace.read_bytes() * 20)[: 3 << 20]) as pipe:
        done = subprocess.run(
            [sys.executable, "-c", UNDER_WAY, pipe],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0


def test_the_wait_for_a_signal_is_short(tmp_path):
    """What bounds it, measured without the end of a process: the pause of a reader that waits."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    os.write(writer, b"7 close(3) = 0\n" * 2000)
    threading.Timer(1.0, os.close, [writer]).start()
    reader = _core.Reader([str(pipe)])
    pauses = []
    ended = False
    while not ended:
        begin = time.monotonic()
        ended, _ = reader.poll()
        pauses.append(time.monotonic() - begin)
    # Who waited for the end would wait for a second; on a busy machine a pause takes longer, too.
    assert sorted(pauses)[len(pauses) // 2] < 0.25


# Forks.

FORK = """
import multiprocessing, os, sys
import tracefast as tf
log = sys.argv[1]
rows = tf.parse(log, None).rows
reader = tf.read(log)
first = len(next(reader))
pid = os.fork()
if pid == 0:
    code = 1
    try:
        assert tf.parse(log, None).rows == rows
        try:
            list(reader)
        except ValueError as error:
            assert "each process" in str(error), error
            del reader
            assert sum(map(len, tf.read(log))) == rows
            code = 0
    finally:
        os._exit(code)
assert os.waitpid(pid, 0)[1] == 0
assert first + sum(map(len, reader)) == rows

def count(log):
    return tf.parse(log, None).rows

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(count, [log] * 4) == [rows] * 4
    print("well")
"""


def test_a_forked_process_parses(long_log):
    run = subprocess.run(
        [sys.executable, "-c", FORK, str(long_log)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.stdout, run.returncode) == ("well\n", 0), run.stderr


FORK_OF_POLARS = """
import os, sys
import tracefast as tf
log, before, after = sys.argv[1:]
ways = {
    "nothing": lambda: None,
    "parse": lambda: tf.parse(log, None),
    "read": lambda: sum(map(len, tf.read(log))),
    "parse_many": lambda: tf.parse_many(log, "out", resume=False),
    "scan": lambda: tf.scan(log).select("ts").collect(),
    "files": lambda: tf.files(tf.scan(log)).collect(),
    "files of before": lambda: tf.files(events).collect(),
}
events = tf.scan(log)
ways[before]()
pid = os.fork()
if pid == 0:
    import signal
    signal.alarm(20)
    try:
        ways[after]()
        os.write(1, b"well")
    except RuntimeError as error:
        os.write(1, str(error).encode())
    finally:
        os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
ways[before]()
"""


@pytest.mark.parametrize("before", ["nothing", "parse_many", "scan", "files"])
@pytest.mark.parametrize(
    "after", ["parse", "read", "parse_many", "scan", "files", "files of before"]
)
def test_what_works_in_a_fork(before, after, spawn_strace, tmp_path):
    """polars' threads do not exist in a fork: a call that would hang raises an error instead."""
    run = subprocess.run(
        [sys.executable, "-c", FORK_OF_POLARS, str(spawn_strace), before, after],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    if before in {"scan", "files"} and after in {"scan", "files", "files of before"}:
        assert "start it with 'spawn' or 'forkserver'" in run.stdout
    else:
        assert run.stdout == "well"
