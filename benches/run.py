"""Measure tracefast beside ``wc -l``, and beside what one would write in polars today.

Speeds are given as ratios to ``wc -l`` of the same file, measured just before and just after each
run: on a shared machine absolute speeds of different minutes cannot be compared. Every run is a
process of its own, every log is in the page cache, the runs of a round alternate, and the median
over the rounds counts. Exits with 1 if a log is not understood, or two runs disagree about it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import make_log

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent
POLARS_BYTES = 200_000_000
"""Length of the head of the log that the polars pipeline gets: it is slow, and slower on more."""

GOALS = {"strace to Arrow": 0.10, "strace to Parquet": 0.03, "ftrace to Parquet": 0.05}
"""Least ratio to ``wc -l`` on two cores."""

GOAL_PEAK = 400_000_000
"""Most memory on two cores, whatever the length of the log."""

GOAL_MODEL = 0.85
"""Least speed of strace to Parquet by that without the model of the kernel."""

GOAL_FILES = 8.0
"""Most time of ``tracefast files`` on the Parquet of a log, by that of ``wc -l`` on the log."""

GOAL_FILES_PEAK = 1_000_000_000
"""Most memory that this takes."""

GOAL_FILES_LOG = 1.3
"""Most time of ``tracefast files`` on a log, by that of making Parquet of it."""

GOAL_GROWTH = 1.3
"""Most memory for the longest log, by that for the first. Single runs differ by a quarter,
since queues are longer when a thread has to wait; what grows with the log would be four times."""

JUDGED_BYTES = 200_000_000
"""Shorter logs are over before the time of a process's start stops to matter."""


@dataclass
class Case:
    """One thing to measure, and what was measured.

    Attributes
    ----------
    label
        What it is, for people.
    tool
        The case of ``measure.py``, or ``headers``, which is a program of its own.
    log
        The log it reads, or whose Parquet it reads.
    threads
        How many it may use.
    once
        Whether it is measured in the first round only: it shows how memory grows, not speed.
    ratios
        Time of ``wc -l`` by time of the run, one a round.
    seconds, wall
        Time of the work; of the whole process.
    peaks
        Largest resident memory.
    saved
        Whether it reads the Parquet of the log, made before.
    """

    label: str
    tool: str
    log: Path
    threads: int
    once: bool = False
    ratios: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    rows: int = 0
    saved: bool = False


class Bench:
    """The runs of one invocation.

    Attributes
    ----------
    folder
        Where the Parquet files go, each removed again.
    headers
        Program that finds the lines and the columns of a log, and no more.
    complaints
        What was found wrong with the results.
    """

    def __init__(self, folder: Path, headers: Path | None) -> None:
        self.folder = folder
        self.headers = headers
        self.complaints: list[str] = []
        self.lines: dict[Path, int] = {}
        self.rows: dict[tuple[Path, bool], int] = {}
        self.saved: dict[Path, Path] = {}
        self.examples: set[str] = set()

    def count_lines(self, log: Path) -> float:
        """Return the seconds that ``wc -l`` takes."""
        start = time.perf_counter()
        done = subprocess.run(["wc", "-l", str(log)], capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
        self.lines[log] = int(done.stdout.split()[0])
        return seconds

    def prepare(self, log: Path) -> None:
        """Make Parquet of a log, for the cases that read it."""
        self.saved[log] = self.folder / f"{log.stem}.parquet"
        command = [sys.executable, str(HERE / "measure.py"), "parquet", str(log)]
        command += ["--threads", "2", "--output", str(self.saved[log])]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def clean(self) -> None:
        """Remove what `prepare` made."""
        for path in self.saved.values():
            path.unlink(missing_ok=True)

    def measure(self, case: Case) -> None:
        """Run a case once, with ``wc -l`` before and after, and check its counts."""
        before = self.count_lines(case.log)
        output = self.folder / "measured.parquet"
        source = self.saved[case.log] if case.saved else case.log
        command = [sys.executable, str(HERE / "measure.py"), case.tool, str(source)]
        command += ["--threads", str(case.threads), "--output", str(output)]
        environment = {**os.environ, "POLARS_MAX_THREADS": str(case.threads)}
        if case.tool == "headers":
            command = [str(self.headers)]
            environment = {**os.environ, "TRACEFAST_BENCH_LOG": str(case.log)}
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        wall = time.perf_counter() - start
        output.unlink(missing_ok=True)
        after = self.count_lines(case.log)
        if done.returncode != 0:
            raise SystemExit(f"{case.label}, {case.threads} threads, failed:\n{done.stderr}")
        result = json.loads(done.stdout)
        case.ratios.append((before + after) / 2 / result["seconds"])
        case.seconds.append(result["seconds"])
        case.wall.append(wall)
        case.peaks.append(result["peak"])
        case.rows = result["rows"]
        self.check(case, result)

    def check(self, case: Case, result: dict) -> None:
        """Note what is wrong with the counts of a run."""
        lines = self.lines[case.log]
        wrong = []
        table = case.tool == "files"
        if not table and result["lines"] != lines:
            wrong.append(f"read {result['lines']} of {lines} lines")
        if case.tool not in {"polars", "headers", "files"}:
            if result["accounted"] != lines:
                wrong.append(f"accounted for {result['accounted']} of {lines} lines")
            if result["unparsed"]:
                wrong.append(f"did not understand {result['unparsed']} lines")
                self.examples.update(f"{line}: {text}" for _, line, text in result["examples"])
        # The model adds rows of its own.
        if case.tool not in {"polars", "headers", "rows"}:
            rows = self.rows.setdefault((case.log, table), result["rows"])
            if result["rows"] != rows:
                wrong.append(f"gave {result['rows']} rows where another run gave {rows}")
        for text in wrong:
            complaint = f"{case.label}, {case.threads} threads, {case.log.name}: {text}"
            if complaint not in self.complaints:
                self.complaints.append(complaint)


def build_headers() -> Path | None:
    """Build the program that finds lines and columns only; None without cargo."""
    command = ["cargo", "bench", "--locked", "-p", "tracefast-core", "--bench", "headers"]
    command += ["--no-run", "--message-format=json"]
    try:
        done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    except FileNotFoundError:
        print("cargo is not installed: headers are not measured alone", file=sys.stderr)
        return None
    built = (json.loads(line).get("executable") for line in done.stdout.splitlines())
    return next(Path(path) for path in built if path)


def machine() -> dict[str, str]:
    """Describe the machine and the software."""
    model = "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        found = re.search(r"^model name\s*: (.*)$", cpuinfo.read_text(), re.MULTILINE)
        model = found[1].strip() if found else model
    flags = cpuinfo.read_text() if cpuinfo.exists() else ""
    vectors = [name for name in ("avx2", "avx512bw") if re.search(rf"\b{name}\b", flags)]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    names = ("tracefast", "polars", "pyarrow")
    installed = {found.metadata["Name"]: found.version for found in metadata.distributions()}
    versions = ", ".join(f"{name} {installed.get(name, '?')}" for name in names)
    return {
        "processor": f"{model} ({', '.join(vectors) or 'no AVX2'})",
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "software": f"Python {platform.python_version()}, {versions}",
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
    }


def plan(folder: Path, sizes: list[int], headers: Path | None, options) -> list[Case]:
    """Make the logs and list what is to be measured.

    Everything is measured on logs of the first size; the others only show how memory grows.
    """

    def log(kind: str, size: int) -> Path:
        return make_log.make_log(kind, size, folder, source=options.source, seconds=options.seconds)

    cases = []
    threads = options.threads
    for index, size in enumerate(sizes):
        strace, ftrace = log("strace", size), log("ftrace", size)
        for count in threads if index == 0 else threads[-1:]:
            cases += [
                Case("strace to Arrow", "arrow", strace, count, index > 0),
                Case("strace to Parquet", "parquet", strace, count, index > 0),
                Case("ftrace to Parquet", "parquet", ftrace, count, index > 0),
            ]
            if index == 0 and count == threads[0] and headers is not None:
                cases.append(Case("ftrace header scanning", "headers", ftrace, 1))
            if index == 0:
                cases += [
                    Case("strace to Parquet, no model", "rows", strace, count),
                    Case("files of a log", "files", strace, count),
                    Case("files of its Parquet", "files", strace, count, saved=True),
                ]
                head = log("strace", min(size, POLARS_BYTES))
                cases.append(Case("polars, one regex", "polars", head, count))
    return cases


def middle(values: list) -> float:
    """Return the median."""
    return statistics.median(values)


def table(cases: list[Case]) -> str:
    """Return the results as a Markdown table."""
    head = (
        "",
        "log",
        "threads",
        "MB/s",
        "x `wc -l`",
        "lowest, highest",
        "whole process",
        "peak MB",
    )
    rows = [head, tuple("---" if i < 2 else "---:" for i in range(len(head)))]
    for case in cases:
        size = case.log.stat().st_size
        share = middle(case.seconds) / middle(case.wall)
        rows.append(
            (
                case.label,
                make_log.show_size(size),
                str(case.threads),
                f"{size / middle(case.seconds) / 1e6:,.0f}",
                f"{middle(case.ratios):.3f}",
                f"{min(case.ratios):.3f}, {max(case.ratios):.3f}",
                f"{middle(case.ratios) * share:.3f}",
                f"{max(case.peaks) / 1e6:,.0f}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = []
    for number, row in enumerate(rows):
        fill = "-" if number == 1 else " "
        cells = [
            cell.ljust(width, fill) if column < 2 else cell.rjust(width, fill)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def judge(cases: list[Case]) -> str:
    """Return one line per goal: whether it was reached with the most threads measured."""
    if cases[0].log.stat().st_size < JUDGED_BYTES:
        return f"logs below {make_log.show_size(JUDGED_BYTES)} are too short to judge speed by"
    lines = []
    most = max(case.threads for case in cases)
    own = [case for case in cases if case.tool not in {"polars", "files"}]
    for case in own:
        if case.threads == most and not case.once and case.label in GOALS:
            goal = GOALS[case.label]
            ratio = middle(case.ratios)
            reached = "reached" if ratio >= goal else "MISSED"
            lines.append(f"goal {reached}: {case.label} {ratio:.3f}, at least {goal}")
    peak = max(max(case.peaks) for case in own)
    reached = "reached" if peak <= GOAL_PEAK else "MISSED"
    lines.append(f"goal {reached}: peak {peak / 1e6:.0f} MB, at most {GOAL_PEAK / 1e6:.0f} MB")
    lines += judge_tables({case.label: case for case in cases if case.threads == most})
    for long in (case for case in own if case.once):
        short = next(case for case in own if (case.label, case.threads) == (long.label, most))
        growth = max(long.peaks) / max(short.peaks)
        reached = "reached" if growth <= GOAL_GROWTH else "MISSED"
        length = long.log.stat().st_size / short.log.stat().st_size
        lines.append(
            f"goal {reached}: {long.label}, memory x {growth:.2f} for a log x {length:.1f},"
            f" at most x {GOAL_GROWTH}"
        )
    return "\n".join(lines)


def judge_tables(cases: dict[str, Case]) -> list[str]:
    """Return one line per goal of the model and of the table of files: each by its round."""
    parse, plain = cases["strace to Parquet"], cases["strace to Parquet, no model"]
    of_log, of_saved = cases["files of a log"], cases["files of its Parquet"]

    def by(over: list[float], under: list[float]) -> float:
        return middle([a / b for a, b in zip(over, under, strict=True)])

    model = by(plain.seconds, parse.seconds)
    counted = [ratio * time for ratio, time in zip(of_saved.ratios, of_saved.seconds, strict=True)]
    files = by(of_saved.wall, counted)
    peak = max(of_saved.peaks)
    log = by(of_log.wall, parse.wall)
    return [
        verdict(
            model >= GOAL_MODEL,
            f"strace to Parquet {model:.3f} x the speed without the model, at least {GOAL_MODEL}",
        ),
        verdict(
            files <= GOAL_FILES,
            f"files of its Parquet, whole process {files:.1f} x the time of `wc -l` of the log, "
            f"at most {GOAL_FILES:.0f}",
        ),
        verdict(
            peak <= GOAL_FILES_PEAK,
            f"files of its Parquet, peak {peak / 1e6:.0f} MB, "
            f"at most {GOAL_FILES_PEAK / 1e6:.0f} MB",
        ),
        verdict(
            log <= GOAL_FILES_LOG,
            f"files of a log {log:.2f} x the time of making Parquet of it, "
            f"at most {GOAL_FILES_LOG}",
        ),
    ]


def verdict(reached: bool, text: str) -> str:
    """Return the line about a goal."""
    return f"goal {'reached' if reached else 'MISSED'}: {text}"


def report(cases: list[Case], bench: Bench, rounds: int) -> str:
    """Return the whole result as Markdown."""
    facts = [f"{name}: {value}" for name, value in machine().items()]
    for log in sorted({case.log for case in cases}):
        size = log.stat().st_size
        facts.append(f"{log.name}: {size:,} bytes, {bench.lines[log]:,} lines")
    facts.append(f"rounds: {rounds}, medians; `wc -l` before and after every run")
    return "\n".join([*(f"- {fact}" for fact in facts), "", table(cases)])


def record(text: str, cases: list[Case]) -> Path:
    """Keep the result, with every single measurement, beside earlier ones."""
    facts = machine()
    name = re.sub(r"[^a-z0-9]+", "-", facts["processor"].lower().split("(")[0]).strip("-")
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{facts['date']}-{name}-{facts['cores']}-cores.md"
    path.write_text(f"# make bench, {facts['date']}\n\n{text}\n", encoding="utf-8")
    samples = [
        {
            "label": case.label,
            "log": case.log.name,
            "bytes": case.log.stat().st_size,
            "threads": case.threads,
            "rows": case.rows,
            "ratios": case.ratios,
            "seconds": case.seconds,
            "wall": case.wall,
            "peaks": case.peaks,
        }
        for case in cases
    ]
    content = {"machine": facts, "cases": samples}
    path.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path


def size_list(text: str) -> list[int]:
    """Return sizes from text such as ``1GB,4GB``; a bare number is gigabytes."""
    parts = [part.strip() for part in text.split(",")]
    return [make_log.parse_size(part + "GB" if part.isdigit() else part) for part in parts]


def count_list(text: str) -> list[int]:
    """Return rising thread counts from text such as ``1,2``."""
    return sorted({int(part) for part in text.split(",")})


def main() -> int:
    """Run the comparison, print it, and say whether anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--size", "--sizes", dest="sizes", type=size_list, default="1GB", metavar="SIZE,…",
        help="sizes of the logs (1GB); later ones are measured once, for memory",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="rounds of measurements (5)")
    parser.add_argument("--threads", type=count_list, default="1,2", help="thread counts (1,2)")
    parser.add_argument("--record", action="store_true", help="keep the result in benches/results")
    parser.add_argument(
        "--headers", type=Path, metavar="PROGRAM",
        help="finds lines and columns only (built by cargo)",
    )  # fmt: skip
    make_log.add_options(parser)
    options = parser.parse_args()

    folder = options.dir.resolve()
    headers = options.headers or build_headers()
    bench = Bench(folder, headers)
    cases = plan(folder, options.sizes, headers, options)
    for log in {case.log for case in cases}:
        bench.count_lines(log)  # Brings it into the page cache.
    for log in {case.log for case in cases if case.saved}:
        bench.prepare(log)
    for number in range(options.rounds):
        for case in cases:
            if number == 0 or not case.once:
                bench.measure(case)
                print(
                    f"round {number + 1}: {case.label}, {case.log.name}, {case.threads} threads:"
                    f" {case.seconds[-1]:.2f} s, {case.ratios[-1]:.3f} x wc -l",
                    file=sys.stderr,
                )
    bench.clean()
    text = report(cases, bench, options.rounds)
    print(text, judge(cases), sep="\n\n")
    if options.record:
        print(f"\nkept as {record(text, cases)}")
    for complaint in bench.complaints:
        print(f"error: {complaint}", file=sys.stderr)
    for example in sorted(bench.examples):
        print(f"  {example}", file=sys.stderr)
    return 1 if bench.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
