"""The benches run, and the logs they make are what they say: so neither can rot unseen."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
BENCHES = PROJECT / "benches"

sys.path.insert(0, str(BENCHES))

import grow  # noqa: E402 - found through the path above
import live  # noqa: E402
import make_log  # noqa: E402
import run  # noqa: E402

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


def test_grown_strace_log_tells_one_story_about_its_tasks(tmp_path):
    _, lines = grown(tmp_path, "strace")
    tasks = {line.split()[0] for line in lines}
    told = Counter()
    for line in lines:
        if born := re.search(rb"(?:clone3?|v?fork)(?:\(| resumed>).*\) = (\d+) <", line):
            told["born"] += 1
            assert born[1] in tasks
        if waited := re.search(rb" wait4\((\d+),", line):
            told["waited"] += 1
            assert waited[1] in tasks
        if signal := re.search(rb"si_pid=(\d+)", line):
            told["signal"] += 1
            assert signal[1] in tasks
    assert min(told["born"], told["waited"], told["signal"]) > COPIES * 10


@pytest.mark.parametrize("kind", ["strace", "ftrace"])
def test_grown_log_goes_on_in_time(tmp_path, kind):
    _, lines = grown(tmp_path, kind)
    form = rb"\d+ +(\d+\.\d+) " if kind == "strace" else rb".{16,}? +(\d+\.\d+): "
    times = [float(re.match(form, line)[1]) for line in lines if not line.startswith(b"#")]
    assert times == sorted(times)


def test_grown_ftrace_log_tells_one_story_about_its_tasks(tmp_path):
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


def run_bench(tmp_path, **environment):
    headers = tmp_path / "headers"
    headers.write_text(HEADERS)
    headers.chmod(0o755)
    command = [sys.executable, str(BENCHES / "run.py"), "--size", "2MB", "--source", "bundled"]
    command += ["--headers", str(headers)]
    command += ["--rounds", "1", "--threads", "1,2", "--dir", str(tmp_path)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def test_bench_runs_and_prints_every_row(tmp_path):
    done = run_bench(tmp_path)
    assert done.returncode == 0, done.stderr
    rows = Counter(line.split("|")[1].strip() for line in done.stdout.splitlines() if "|" in line)
    for label in ("strace to Arrow", "strace to Parquet", "ftrace to Parquet", "polars, one regex"):
        assert rows[label] == 2
    for label in ("strace to Parquet, no model", "files of a log", "files of its Parquet"):
        assert rows[label] == 2
    assert rows["ftrace header scanning"] == 1
    assert not list(tmp_path.glob("*.parquet"))


def measured(label, tool, **values):
    case = run.Case(label, tool, Path("log"), 2)
    for name, value in values.items():
        setattr(case, name, value)
    return case


def cases_of_tables(*, plain=0.86, files=0.79, peak=900_000_000, log=1.29):
    cases = [
        measured("strace to Parquet", "parquet", seconds=[1.0, 2.0], wall=[1.0, 2.0]),
        measured("strace to Parquet, no model", "rows", seconds=[plain, 2 * plain]),
        measured("files of a log", "files", wall=[log, 2 * log]),
        measured(
            "files of its Parquet",
            "files",
            # `wc -l` takes 0.1 s.
            seconds=[0.5, 0.5],
            ratios=[0.2, 0.2],
            wall=[files, files],
            peaks=[1, peak],
        ),
    ]
    return {case.label: case for case in cases}


def test_goals_of_tables_are_judged_round_by_round():
    lines = run.judge_tables(cases_of_tables())
    assert [line.split(":")[0] for line in lines] == ["goal reached"] * 4
    assert "0.860 x" in lines[0]
    assert "7.9 x" in lines[1]
    assert "900 MB" in lines[2]
    assert "1.29 x" in lines[3]
    for missed, change in enumerate(
        [{"plain": 0.84}, {"files": 0.81}, {"peak": 1_100_000_000}, {"log": 1.31}]
    ):
        lines = run.judge_tables(cases_of_tables(**change))
        assert [line.startswith("goal MISSED: ") for line in lines] == [
            number == missed for number in range(4)
        ]


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
    done = run_bench(tmp_path, PYTHONPATH=str(package.parent))
    assert done.returncode == 1
    assert "did not understand 1 lines" in done.stderr
    assert "7: what is this" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
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
