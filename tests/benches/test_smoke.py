"""The benches run, and the logs that they make are as described."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

import polars as pl
import pytest

import cases
import comparison
import goals
import grow
import live
import make_log
import measure
import tracefast as tf
from support.paths import BENCHES
from timing import processor
from tracefast import _core

COPIES = 3


def grown(tmp_path, kind):
    """Return the bundled log, and the same grown to three copies, as lists of lines."""
    base = make_log.bundled(kind)
    head = sum(len(line) for line in base.splitlines(keepends=True) if line.startswith(b"#"))
    size = head + COPIES * (len(base) - head)
    target = tmp_path / "grown.log"
    # Longer pids make copies longer: a little is cut off the end of the last one.
    grow.grow(base, kind, size, target)
    text = target.read_bytes()
    assert size - 2000 < len(text) <= size
    assert text.startswith(base)
    return base.splitlines(), text.splitlines()


def test_grown_strace_log_has_other_tasks_in_each_copy_and_all_of_them_end(tmp_path):
    base, lines = grown(tmp_path, "strace")
    tasks = len({line.split()[0] for line in base})
    live_now, ended, most = set(), set(), []
    for number, line in enumerate(lines):
        pid = line.split()[0]
        assert pid not in ended
        live_now.add(pid)
        if b" +++ exited" in line or b" +++ killed" in line:
            live_now.remove(pid)
            ended.add(pid)
        if (number + 1) % len(base) == 0:
            most.append(len(live_now))
    assert len(live_now | ended) == COPIES * tasks
    assert most[0] == most[1] == 0


def test_grown_strace_log_is_consistent_about_its_tasks(tmp_path):
    _, lines = grown(tmp_path, "strace")
    tasks = {line.split()[0] for line in lines}
    found = Counter()
    for line in lines:
        if born := re.search(rb"(?:clone3?|v?fork)(?:\(| resumed>).*\) = (\d+) <", line):
            found["born"] += 1
            assert born[1] in tasks
        if waited := re.search(rb" wait4\((\d+),", line):
            found["waited"] += 1
            assert waited[1] in tasks
        if signal := re.search(rb"si_pid=(\d+)", line):
            found["signal"] += 1
            assert signal[1] in tasks
    assert min(found["born"], found["waited"], found["signal"]) > COPIES * 10


@pytest.mark.parametrize("kind", ["strace", "ftrace"])
def test_grown_log_goes_on_in_time(tmp_path, kind):
    _, lines = grown(tmp_path, kind)
    form = rb"\d+ +(\d+\.\d+) " if kind == "strace" else rb".{16,}? +(\d+\.\d+): "
    times = [float(re.match(form, line)[1]) for line in lines if not line.startswith(b"#")]
    assert times == sorted(times)


def test_grown_ftrace_log_is_consistent_about_its_tasks(tmp_path):
    base, lines = grown(tmp_path, "ftrace")
    born = [found[1] for line in lines if (found := re.search(rb"child_pid=(\d+)", line))]
    once = [found[1] for line in base if (found := re.search(rb"child_pid=(\d+)", line))]
    assert len(born) == len(set(born)) == COPIES * len(once)
    results = {
        b"%d" % int(found[1], 16)
        for line in lines
        if (found := re.search(rb"sys_(?:clone3?|v?fork) -> 0x([1-9a-f][0-9a-f]*)$", line))
        and not line.endswith(b"ffff")
    }
    assert results <= set(born)
    assert len(results) > COPIES * 10
    heads = sum(line.startswith(b"# tracer") for line in lines)
    assert heads == 1


@pytest.mark.parametrize("kind", ["strace", "ftrace"])
def test_only_whole_lines_of_the_right_layout_are_grown(tmp_path, kind):
    target = tmp_path / "grown.log"
    with pytest.raises(grow.LogError):
        grow.grow(b'openat(AT_FDCWD, "x", O_RDONLY) = 3\n', kind, 1000, target)
    with pytest.raises(grow.LogError):
        grow.grow(b"", kind, 1000, target)
    size = 100_000
    grow.grow(make_log.bundled(kind), kind, size, target)
    text = target.read_bytes()
    assert size - 2000 < len(text) <= size
    assert text.endswith(b"\n")


def test_pids_start_again_as_those_of_the_kernel_do(tmp_path):
    last = grow.PID_MAX - 1
    base = b"%d 1.000000 exit(0) = ?\n%d 1.000001 +++ exited with 0 +++\n" % (last, last)
    target = tmp_path / "grown.log"
    grow.grow(base, "strace", 2 * len(base), target)
    second = target.read_bytes()[len(base) :]
    assert second.startswith(b"300   2.000000 exit(0) = ?\n")


def test_sizes_are_read_and_shown():
    assert make_log.parse_size("1GB") == 10**9
    assert make_log.parse_size("1.5 g") == 1_500_000_000
    assert make_log.parse_size("20mb") == 20_000_000
    assert make_log.show_size(make_log.parse_size("200MB")) == "200MB"
    assert make_log.show_size(999_999_921) == "1GB"
    assert make_log.show_size(33_000) == "33KB"
    with pytest.raises(argparse.ArgumentTypeError, match="not a size"):
        make_log.parse_size("much")


# What `cargo bench` would build, which takes minutes.
HEADERS = f"""#!{sys.executable}
import json, os
with open(os.environ["TRACEFAST_BENCH_LOG"], "rb") as log:
    lines = sum(1 for _ in log)
print(json.dumps({{"seconds": 0.01, "rows": lines, "lines": lines, "peak": 1000000}}))
"""


DETOURS = f"""#!{sys.executable}
import sys
for name in sys.argv[1:]:
    with open(name, "rb") as log:
        lines = sum(1 for _ in log)
    print(f'{{{{"lines": {{lines}}, "detours": {{lines // 4}}}}}}')
"""


def program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def run_bench(tmp_path, *options, **environment):
    command = [sys.executable, str(BENCHES / "run.py"), "--source", "bundled"]
    command += ["--headers", program(tmp_path / "headers", HEADERS)]
    command += ["--detours", program(tmp_path / "detours", DETOURS)]
    command += ["--rounds", "1", "--threads", "1,2", "--dir", str(tmp_path), *options]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def rows_of(text):
    """Return how often each first cell of a table occurs."""
    return Counter(line.split("|")[1].strip() for line in text.splitlines() if "|" in line)


def test_bench_runs_and_prints_every_row(tmp_path):
    done = run_bench(tmp_path, "--size", "2MB", "--old", _core.__file__)
    assert done.returncode == 0, done.stderr
    table, alone, cold, found, compared, asked, starting, off = done.stdout.split("\n## ")
    rows = rows_of(table)
    for kind in ("strace", "ftrace"):
        assert rows[f"{kind} to Arrow"] == rows[f"{kind} to Parquet"] == 2
    assert rows["strace to Parquet, no model"] == rows["files of a log"] == 2
    for name in ("files", "forks", "processes", "syscalls"):
        assert rows[f"{name} of Parquet"] == 1
    assert rows["ftrace header scanning"] == 1
    packed = [form for form in ("gz", "zst") if cases.missing(form) is None]
    for form in packed:
        assert rows[f"strace.{form} to Parquet"] == 1
        assert (tmp_path / f"strace-bundled-2MB.log.{form}").stat().st_size < 1_000_000
    times = rows_of(alone)
    here = {tool: shown for tool, shown in processor.LABELS.items() if not processor.missing(tool)}
    assert times.keys() >= {*goals.ONE_THREAD, *here.values()}
    assert times["zstd -1"] == times["wc -l"] == 2
    assert "x the old build" in alone
    assert rows_of(cold)["to Parquet, 2 threads"] == 1 or "nothing is measured cold" in cold
    goals_shown = rows_of(found)
    for label in goals.SPEED:
        assert goals_shown[label] == goals_shown[f"second core, {label}"] == 1
    assert goals_shown["peak memory"] == goals_shown["strace to Parquet, model on"] == 1
    assert goals_shown["`tracefast --help`"] == 1
    assert "too short to judge" in found
    assert rows_of(compared).keys() >= {"`wc -l`", *comparison.LABELS.values()}
    assert rows_of(asked)["`head(10)`"] == 1
    assert rows_of(starting)["`python -c pass`"] == 1
    assert rows_of(off)["demo.strace.zst"] == 1
    assert re.search(r"\| strace-bundled-2MB.log +\| +[\d,]+ \| +[\d,]+ \| +2[45]\.\d\d \|", off)
    assert not list(tmp_path.glob("*.parquet"))


def test_a_longer_log_shows_only_how_memory_grows(tmp_path):
    done = run_bench(tmp_path, "--only", "memory", "--sizes", "1MB,3MB")
    assert done.returncode == 0, done.stderr
    assert rows_of(done.stdout)["strace to Parquet"] == 3  # One is the goal.
    assert rows_of(done.stdout)["memory, a log 3 times as long"] == 1
    assert "Comparison" not in done.stdout
    assert run_bench(tmp_path, "--only", "nothing").returncode == 2


def test_all_ways_to_add_up_calls_by_name_agree(tmp_path):
    log = make_log.make_log("strace", 1_000_000, tmp_path, source="bundled", seconds=1)
    sums = {
        tool: measure.CASES[tool](str(log), 1, str(tmp_path / tool))["rows"]
        for tool in cases.SUMS
        if tool != "awk" or shutil.which("awk")
    }
    counted = run_counts(log)
    assert set(sums.values()) == {counted}
    made = [(tmp_path / tool).read_text().split("\n") for tool in sums]
    names = [{line.split()[0]: line.split()[1:3] for line in lines if line} for lines in made]
    for table in names:
        table.pop("lines", None)
    assert names[0] == names[-1]


def run_counts(log):
    """Return how many calls of a log returned and have a duration, as tracefast finds them."""
    ends = pl.col("name").cast(pl.String).is_in(["exit", "exit_group"])
    return (
        tf.scan(log)
        .filter(pl.col("kind") == "syscall", pl.col("dur_ns").is_not_null(), ~ends)
        .select(pl.len())
        .collect()
        .item()
    )


FAKE = """
class Facts:
    pass

def parse(sources, output, *, threads, model=True):
    facts = Facts()
    facts.rows = facts.lines = sum(1 for _ in open(sources[0], "rb"))
    facts.accounting = {"events": facts.lines - 1, "unparsed": 1}
    facts.unparsed = [(sources[0], 7, "what is this")]
    return facts

class Reader:
    def __init__(self, sources, *, threads):
        self.report = parse(sources, "", threads=threads)
        self.num_rows = self.report.rows

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __iter__(self):
        yield self
"""


def test_bench_fails_when_a_log_is_not_understood(tmp_path):
    package = tmp_path / "fake" / "tracefast"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "_core.py").write_text(FAKE)
    (package / "cli.py").write_text("def main():\n    print('path', 'file', sep='\\n')\n")
    options = ("--only", "parse,tables", "--size", "2MB")
    done = run_bench(tmp_path, *options, PYTHONPATH=str(package.parent))
    assert done.returncode == 1
    assert "did not understand 1 lines" in done.stderr
    assert "7: what is this" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_tracefs_of_its_own_is_left_even_if_another_program_uses_it():
    """A program that found tracefs there has a file of it open; the folder is gone all the same."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("tracefs needs root and the mount command")
    try:
        with live.tracing_instance() as instance:
            mount = instance.parents[1]
            events = (mount / "available_events").open()
    except live.UnavailableError as reason:
        pytest.skip(str(reason))
    with events:
        assert not mount.exists()


def test_live_recording_has_the_layout_that_can_be_grown(tmp_path):
    log = tmp_path / "live.log"
    try:
        live.record_strace(log, tmp_path / "work", rounds=1)
    except live.UnavailableError as reason:
        pytest.skip(str(reason))
    grow.strace_template(log.read_bytes().splitlines(keepends=True))
    text = log.read_text(errors="replace")
    assert text.count(" +++ exited with ") == len({line.split()[0] for line in text.splitlines()})
    for call in ("vfork(", "clone3(", "pread64(", "sendto(", "model.safetensors>"):
        assert call in text
