"""`tf.join`: strace's calls with what the kernel did in them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import live
import tracefast as tf
from tracefast.analysis.files.page_cache import ADD, AHEAD
from tracefast.analysis.join import matching, rows, windows
from tracefast.analysis.join.kernel import kernel_events
from tracefast.analysis.join.table import NAMES
from tracefast.analysis.join.write import write_joined
from tracefast.analysis.requests.files import QUEUED, WRITTEN, Step, moved

DATA = Path(__file__).parents[2] / "data" / "join"
STRACE, FTRACE = DATA / "reads.strace.zst", DATA / "reads.ftrace.zst"
REQUEST = "block_rq_issue"

sys.path.insert(0, str(DATA))
import record_pair  # noqa: E402
from joined_reads import check_reads  # noqa: E402


def joined(strace: Path, ftrace: Path) -> tuple[pl.DataFrame, tf.JoinReport]:
    """Join two logs, and give the report."""
    reports: list[tf.JoinReport] = []
    events = tf.join(tf.scan(strace), tf.scan(ftrace), report=reports.append).collect()
    return events, reports[0]


def test_recorded_pair() -> None:
    """Of a recorded program every call is matched, and each number is what ftrace shows."""
    events, report = joined(STRACE, FTRACE)
    places = json.loads((DATA / "reads.json").read_text())
    check_reads(events, FTRACE, places)
    assert (report.matched, report.calls) == (741, 741)
    assert (report.tasks, report.matched_tasks, report.missing) == (5, 5, ())
    # No other program read from the device, so its events are all of this file.
    requests = tf.fields(tf.scan(FTRACE), REQUEST).filter(pl.col("rwbs").str.starts_with("R"))
    total = requests.select(pl.col("bytes").sum()).collect().item()
    read = events.filter(pl.col("name").is_in(["read", "pread64"]))
    assert read["disk_bytes"].sum() == total
    # Times in the kernel are those between ftrace's own records.
    pread = pl.col("name") == "pread64"
    own = tf.scan(FTRACE).filter(pl.col("kind") == "syscall", pread).collect()
    assert sorted(events.filter(pread)["kernel_ns"]) == sorted(own["dur_ns"])


def test_every_command_reads_joined_events(tmp_path: Path) -> None:
    """A file of joined events is scanned beside one without the columns, which are null there."""
    both, plain = tmp_path / "both.parquet", tmp_path / "plain.parquet"
    write_joined(str(STRACE), str(FTRACE), str(both))
    tf.parse(STRACE, plain)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["both.parquet", "plain.parquet"]
    events = tf.scan([plain, both])
    assert events.collect_schema().names()[-len(NAMES) :] == list(NAMES)
    counts = events.select(pl.len(), pl.col("kernel_ns").count()).collect().row(0)
    # All calls but the five of exit_group, which never return.
    assert counts == (2 * 749, 736)
    # The columns of a log are the same in both.
    old = tf.scan(plain).collect()
    assert tf.scan(both).select(old.columns).collect().equals(old)
    files = tf.files(tf.scan(both)).filter(pl.col("path").str.ends_with("reads.bin")).collect()
    row = files.select("reads", "cached_reads", "cold_reads", "disk_read_bytes").row(0)
    assert row == (44, 24, 20, 1_753_088)
    assert "cold_reads" not in tf.files(tf.scan(plain)).collect_schema()
    # Cold reads in order found pages, but a device moved them for it.
    each = tf.files(tf.scan(both), by="process").filter(pl.col("path").str.ends_with("reads.bin"))
    assert sorted(each.collect()["cold_reads"]) == [0, 0, 0, 0, 20]


def command(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    line = [sys.executable, "-m", "tracefast", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_command(tmp_path: Path) -> None:
    """The command says how well the logs match; logs of other runs are refused without a file."""
    output = tmp_path / "both.parquet"
    done = command("join", STRACE, FTRACE, "-o", output)
    assert done.returncode == 0
    assert done.stderr.startswith("741 of 741 calls matched, in 5 of 5 threads; 5 calls only in")
    none = command("blocks", output, "--by", "file")
    assert "joined events show what devices moved for calls: tracefast files" in none.stderr
    output.unlink()
    other = DATA.parent / "demo.strace.zst"
    refused = command("join", other, FTRACE, "-o", output)
    assert refused.returncode == 2
    assert "the logs do not match: " in refused.stderr
    assert "give the logs of one run" in refused.stderr
    lacking = command("join", STRACE, DATA.parent / "page-cache/rand.ftrace.zst", "-o", output)
    assert lacking.returncode == 2
    assert "has no system calls" in lacking.stderr
    assert not list(tmp_path.iterdir())
    blocks = command("blocks", FTRACE, "--by", "file", "--strace", STRACE, "--format", "csv")
    assert "/srv/reads/in/order/reads.bin,15,1753088,15," in blocks.stdout


def test_recorded_now(tmp_path: Path) -> None:
    """The same, recorded by this test."""
    try:
        places = record_pair.record(tmp_path)
    except live.UnavailableError as error:
        pytest.skip(str(error))
    ftrace = tmp_path / "reads.ftrace"
    lost = tf.scan(ftrace).filter(pl.col("kind") == "lost").collect().height
    issued = tf.fields(tf.scan(ftrace), REQUEST).collect().height
    if lost or issued < len(places):
        pytest.skip("the kernel lost records, or the file system has no block device")
    events, report = joined(tmp_path / "reads.strace", ftrace)
    assert report.matched == report.calls
    assert report.matched_tasks == 5
    check_reads(events, ftrace, places)


NAMES_OF_CALLS = ("read", "write", "lseek", "close", "openat")


@given(
    offset=st.integers(10**6, 10**12),
    drift=st.integers(-200, 200),
    calls=st.lists(
        st.tuples(st.sampled_from(NAMES_OF_CALLS), st.integers(0, 99)), min_size=30, max_size=60
    ),
    lost=st.integers(0, 10),
    pid=st.integers(2, 5),
)
@settings(max_examples=10, deadline=None)
def test_made_up_clocks(
    offset: int, drift: int, calls: list[tuple[str, int]], lost: int, pid: int
) -> None:
    """Any offset and drift is found, in another namespace, with calls that only one log has."""
    made, kernel = [], []
    # Long enough that the drift is more than what the tracer takes.
    step = 10**8
    for n, (name, ret) in enumerate(
        [*calls, *((name, 100 + n) for n, (name, _) in enumerate(calls))]
    ):
        enter = 10**9 + n * step
        kernel.append((name, ret, enter, 5_000, 1000 + pid))
        seen = enter + offset + enter * drift // 10**6
        made.append((name, ret, seen - 20_000, 50_000, pid))
    kept = kernel[lost:]
    found: list[tf.JoinReport] = []
    strace, ftrace = frame(made), frame(kept, cpu=0)
    result = tf.join(strace, ftrace, report=found.append).collect()
    report = found[0]
    assert report.matched == len(kept)
    assert report.drift_ppm == pytest.approx(drift, abs=4)
    assert result["kernel_ns"].drop_nulls().to_list() == [5_000] * len(kept)
    assert result["kernel_ns"][:lost].null_count() == lost
    assert result["tracer_ns"].drop_nulls().to_list() == [45_000] * len(kept)
    assert set(report.missing) == set(NAMES) - {"kernel_ns", "tracer_ns"}


def frame(calls: list[tuple[str, int, int, int, int]], cpu: int | None = None) -> pl.DataFrame:
    """Make events of calls: name, result, time, duration, thread; those of ftrace have a CPU."""
    schema = tf.scan(STRACE).collect_schema()
    made = pl.DataFrame(
        calls, schema=["name", "ret", "ts", "dur_ns", "tid"], orient="row"
    ).with_columns(
        pl.from_epoch("ts", time_unit="ns"),
        pl.col("tid").cast(pl.Int32),
        pl.col("tid").cast(pl.Int32).alias("pid"),
        pl.lit(0, pl.UInt32).alias("task"),
        pl.lit(cpu, pl.UInt16).alias("cpu"),
        pl.lit("syscall").cast(schema["kind"]).alias("kind"),
        pl.lit("complete").cast(schema["status"]).alias("status"),
        pl.lit("made", pl.String).alias("source"),
        pl.int_range(1, pl.len() + 1, dtype=pl.UInt64).alias("line"),
    )
    return made.select(
        pl.col(name) if name in made.columns else pl.lit(None).cast(dtype).alias(name)
        for name, dtype in schema.items()
    )


def test_clocks_that_differ_for_a_moment() -> None:
    """Calls keep their order where a processor's clock is off by more than calls take."""
    names = [("read", n // 4 % 7 if n % 20 else n) for n in range(300)]
    strace = [(*one, 10**9 + n * 200_000, 40_000, 7) for n, one in enumerate(names)]
    kernel = [
        (*one, 5 * 10**8 + n * 200_000 + 20_000 + 150_000 * (n % 50 > 40), 5_000, 7)
        for n, one in enumerate(names)
    ]
    found: list[tf.JoinReport] = []
    result = tf.join(frame(strace), frame(kernel, cpu=0), report=found.append).collect()
    assert (found[0].matched, found[0].only_ftrace) == (300, 0)
    assert result["kernel_ns"].to_list() == [5_000] * 300


def test_rules_ask_joined_events() -> None:
    """Reads that miss the page cache are found by path; times are those of the kernel."""
    events, _ = joined(STRACE, FTRACE)
    reads = events.filter(pl.col("name") == "pread64", pl.col("missed_pages") > 0)
    last = events["line"].max()
    ten_s, spaced = 10_000, pl.int_range(pl.len()) * 200
    again = [
        reads.with_columns(
            (pl.col("ts") + pl.duration(milliseconds=n * ten_s + spaced)).cast(pl.Datetime("ns")),
            pl.col("line") + n * last,
            pl.col("bytes") * 4096,
            pl.lit(10**8, pl.Int64).alias("dur_ns"),
            pl.lit(10**7, pl.Int64).alias("kernel_ns"),
        )
        for n in range(1, 7)
    ]
    many = pl.concat([events, *again])
    found = {row["code"]: row for row in tf.insights(many).collect().iter_rows(named=True)}
    misses = found["page-cache-misses"]
    assert misses["object"].endswith("reads.bin")
    assert "84 of 116 lookups" in misses["evidence"]
    # Twelve times six reads of 10 ms, not of 100, and those of the program.
    assert "in 722 ms" in found["random-reads"]["evidence"]
    assert "page-cache-misses" not in tf.insights(many.drop(NAMES)).collect()["code"]


def test_same_program_twice_is_refused() -> None:
    """Two runs of one program make the same calls, but not at the same times."""
    times = [n * 10**7 + n * n % 97 * 10**5 for n in range(200)]
    other = [n * 10**7 + n * n * n % 89 * 10**5 for n in range(200)]
    one = [("read", n % 9, 10**9 + at, 50_000, 7) for n, at in enumerate(times)]
    two = [("read", n % 9, 10**9 + at, 5_000, 7) for n, at in enumerate(other)]
    with pytest.raises(tf.Error, match="do not match"):
        tf.join(frame(one), frame(two, cpu=0))
    # The other way round they are refused as well.
    with pytest.raises(tf.Error, match="the first log must be of strace"):
        tf.join(tf.scan(FTRACE), tf.scan(STRACE))


def test_one_task_only_in_one() -> None:
    """Tasks that one log lacks have nulls, the others are matched."""
    events = tf.scan(STRACE).collect()
    tids = events["tid"].unique().sort()
    kernel = tf.scan(FTRACE).filter(pl.col("tid") != tids[1])
    found: list[tf.JoinReport] = []
    result = tf.join(events.filter(pl.col("tid") != tids[2]), kernel, report=found.append).collect()
    report = found[0]
    assert (report.tasks, report.matched_tasks) == (4, 3)
    assert result.filter(pl.col("tid") == tids[1])["kernel_ns"].null_count() == (
        events.filter(pl.col("tid") == tids[1]).height
    )
    assert (
        report.matched
        == events.filter(~pl.col("tid").is_in([tids[1], tids[2]]), kind="syscall").height
    )


def test_files_of_requests() -> None:
    """Requests are those of the pages before them; write-back is named by inode, or by sector."""
    ahead = AHEAD[0]
    steps = [
        # A hole: fewer bytes are requested than were added, so only the file is known.
        Step(0, 7, ahead, "8:1", 66, 0, 0),
        Step(1, 7, ADD, "8:1", 66, 0, 16_384),
        Step(2, 7, REQUEST, "8:0", None, 100, 4096, "read"),
        # Two requests in the opposite order.
        Step(3, 7, ahead, "8:1", 66, 0, 0),
        Step(4, 7, ADD, "8:1", 66, 65_536, 12_288),
        Step(5, 7, REQUEST, "8:0", None, 508, 8192, "read"),
        Step(6, 7, REQUEST, "8:0", None, 500, 4096, "read"),
        # Write-back by a kernel thread: of an inode, of the sectors above, of nobody known.
        Step(7, 9, WRITTEN, "8:1", 77, 0, 8192),
        Step(8, 9, REQUEST, "8:0", None, 900, 8192, "write"),
        Step(9, 9, REQUEST, "8:0", None, 508, 4096, "write"),
        Step(10, 9, REQUEST, "8:0", None, 7000, 4096, "write"),
        # Of the file system itself.
        Step(11, 9, REQUEST, "8:0", None, 508, 4096, "write", meta=True),
    ]
    assert moved(steps).rows() == [
        (2, "8:1", 66, None, 4096),
        (5, "8:1", 66, 69_632, 8192),
        (6, "8:1", 66, 65_536, 4096),
        (8, "8:1", 77, None, 8192),
        (9, "8:1", 66, 69_632, 4096),
        (10, None, None, None, 4096),
        (11, None, None, None, 4096),
    ]


def test_files_of_what_write_back_queues() -> None:
    """Whoever makes the requests; unless more was queued than the inode had pages to write."""
    begin, ext4 = "writeback_single_inode_start", ("ext4_writepages", "ext4_writepages_result")
    steps = [
        Step(0, 7, begin, "8:0", 66, 0, 0),
        Step(1, 7, QUEUED, "8:0", None, 800, 8192, "write"),
        Step(2, 7, QUEUED, "8:0", None, 300, 4096, "write", meta=True),
        Step(3, 7, QUEUED, "8:0", None, 900, 4096, "write"),
        Step(4, 7, WRITTEN, "8:0", 66, 0, 12_288),
        # A block of the file system was queued, too: nothing says which one it is.
        Step(5, 7, begin, "8:0", 77, 0, 0),
        Step(6, 7, QUEUED, "8:0", None, 1600, 4096, "write"),
        Step(7, 7, QUEUED, "8:0", None, 1700, 4096, "write"),
        Step(8, 7, WRITTEN, "8:0", 77, 0, 4096),
        # Within fsync only ext4 says so itself; outside, nobody.
        Step(9, 9, ext4[0], "8:0", 88, 0, 0),
        Step(10, 9, QUEUED, "8:0", None, 2000, 4096, "write"),
        Step(11, 9, ext4[1], "8:0", 88, 0, 4096),
        Step(12, 9, QUEUED, "8:0", None, 2100, 4096, "write"),
        # Two queued parts in one request, by another thread.
        Step(13, 3, REQUEST, "8:0", None, 800, 8192, "write"),
        Step(14, 3, REQUEST, "8:0", None, 900, 8192, "write"),
        Step(15, 3, REQUEST, "8:0", None, 1600, 4096, "write"),
        Step(16, 3, REQUEST, "8:0", None, 2000, 4096, "write"),
        Step(17, 3, REQUEST, "8:0", None, 2100, 4096, "write"),
    ]
    assert moved(steps).rows() == [
        (13, "8:0", 66, None, 8192),
        (14, "8:0", 66, None, 4096),
        (14, None, None, None, 4096),
        (15, None, None, None, 4096),
        (16, "8:0", 88, None, 4096),
        (17, None, None, None, 4096),
    ]


def test_blocks_by_file_is_all_of_blocks() -> None:
    """By file and in total, the bytes of each operation are the same."""
    for log in (FTRACE, *sorted((DATA.parent / "page-cache").glob("*.ftrace.zst"))):
        events = tf.scan(log)
        whole = tf.blocks(events).group_by("op").agg(pl.col("bytes").sum()).sort("op").collect()
        parts = tf.blocks(events, by="file").group_by("op").agg(pl.col("bytes").sum())
        assert parts.sort("op").collect().equals(whole), log.name
    assert kernel_events(tf.scan(FTRACE), 4096, "a test").collect().height > 100


def test_parts_of_any_size_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls, pages and requests that go over the ends of parts are counted as in one part."""
    whole, report = joined(STRACE, FTRACE)
    monkeypatch.setattr(rows, "PART", 100)
    monkeypatch.setattr(matching, "PART", 100)
    monkeypatch.setattr(windows, "_ROWS", 900)
    parts, same = joined(STRACE, FTRACE)
    assert parts.equals(whole)
    assert same == report


PEAK = """
import resource, sys
import tracefast as tf
from tracefast.analysis.join import matching, rows
from tracefast.analysis.join.write import write_joined

rows.PART = matching.PART = 1 << 14
for strace, ftrace in zip(sys.argv[1::2], sys.argv[2::2]):
    write_joined(strace, ftrace, "joined.parquet")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_memory_does_not_grow_with_the_logs(tmp_path: Path) -> None:
    """Ten times the calls take hardly more memory; frames of all calls would take 1.5 kB each."""
    files = []
    for number in (10_000, 110_000):
        calls = [
            (NAMES_OF_CALLS[n % 5], n % 97 if n % 20 else n, 10**9 + n * 10**5, 7)
            for n in range(number)
        ]
        strace = [(name, ret, at - 2_000, 50_000, tid) for name, ret, at, tid in calls]
        kernel = [(name, ret, at, 5_000, tid) for name, ret, at, tid in calls]
        for name, made in (("strace", frame(strace)), ("ftrace", frame(kernel, cpu=0))):
            files.append(str(tmp_path / f"{number}.{name}.parquet"))
            made.write_parquet(files[-1])
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    few, many = map(int, done.stdout.split())
    assert many - few < 100_000 * 600


def test_a_discard_in_a_read_is_nothing_that_the_read_moved(tmp_path: Path) -> None:
    """The kernel discards freed blocks in a call of any task."""
    with pa.input_stream(FTRACE, compression="zstd") as file:
        text = file.read().decode()
    line = next(line for line in text.splitlines() if REQUEST in line and " RA " in line)
    discard = re.sub(r" RA \d+ \(\) \d+ \+ \d+ ", " DS 4096 () 185617648 + 8 ", line)
    assert discard != line
    (tmp_path / "log").write_text(text.replace(line, f"{line}\n{discard}", 1))
    columns = ["disk_requests", "disk_bytes", "disk_ns"]
    expected, found = (joined(STRACE, log)[0].select(columns) for log in (FTRACE, tmp_path / "log"))
    assert expected["disk_bytes"].sum() > 0
    assert found.equals(expected)
