"""One thing to measure, in its own process, with ``wc -l`` before and after."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

TABLES = ("files", "forks", "processes", "syscalls")
"""Commands whose whole process is judged."""

SUMS = ("awk", "re")
"""What adds up the calls of a log by name, and makes no columns."""

OTHERS = ("polars", "duckdb", *SUMS)
"""What one does without tracefast."""

YARDSTICKS = {
    "zstd": ("zstd", "-1", "-T1", "--quiet", "--stdout"),
    "rg": ("rg", "--count", " = "),
    "wc": ("wc", "-l"),
}
"""Programs that do one thing with each byte of a log, on one thread."""

PACKERS = {
    "gz": (["gzip", "-6", "--stdout"], ["zcat"]),
    "zst": (["zstd", "-3", "-T1", "--quiet", "--stdout"], ["zstd", "--quiet", "-dc"]),
}
"""By suffix: the program that compresses, and the one to compare unpacking with. Default levels."""


def middle(values: list) -> float:
    """Return the median."""
    return statistics.median(values)


@dataclass
class Case:
    """One thing to measure, and what was measured, a value each round.

    Attributes
    ----------
    label
        What it is, for people.
    tool
        The case of ``measure.py``, or ``headers``, which is a program of its own.
    log
        The log it reads.
    threads
        How many it may use.
    form
        What of the log it reads: itself (``""``), its Parquet (``"parquet"``), or the log
        compressed (``"gz"``, ``"zst"``).
    long
        Whether it only shows how memory grows with the log.
    compared
        Whether it belongs to the comparison with other tools.
    alone
        Whether its processor time counts, on one thread.
    old
        Whether an older build of the extension does it.
    ratios
        Time of ``wc -l`` by time of the run.
    seconds, wall
        Time of the work; of the whole process.
    processor
        Processor time of the work, of all threads.
    peaks
        Largest resident memory.
    unpacked
        Time of the program that only unpacks the log.
    """

    label: str
    tool: str
    log: Path
    threads: int
    form: str = ""
    long: bool = False
    compared: bool = False
    alone: bool = False
    old: bool = False
    ratios: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    unpacked: list[float] = field(default_factory=list)
    rows: int = 0

    @property
    def counted(self) -> list[float]:
        """Time of ``wc -l``."""
        return [ratio * time for ratio, time in zip(self.ratios, self.seconds, strict=True)]


def missing(form: str) -> str | None:
    """Return the program that a compressed log needs, if the machine does not have it."""
    packer, unpacker = PACKERS[form]
    return next((name for name, *_ in (packer, unpacker) if shutil.which(name) is None), None)


def pack(log: Path, form: str) -> Path:
    """Return the log compressed, made unless it is there."""
    path = log.with_name(f"{log.name}.{form}")
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("wb") as target:
            subprocess.run([*PACKERS[form][0], str(log)], stdout=target, check=True)
        part.replace(path)
    return path


def seconds_of(command: list[str]) -> float:
    """Return the time that a command takes when its output is thrown away."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


class Bench:
    """The runs of one invocation.

    Attributes
    ----------
    folder
        Where the Parquet files go, each removed again.
    headers
        Program that finds the lines and the columns of a log, and no more.
    old
        The extension of an older build.
    complaints
        What was found wrong with the results.
    """

    def __init__(self, folder: Path, headers: Path | None, old: Path | None = None) -> None:
        self.folder = folder
        self.headers = headers
        self.old = old
        self.complaints: list[str] = []
        self.lines: dict[Path, int] = {}
        self.rows: dict[tuple[Path, str], int] = {}
        self.saved: dict[Path, Path] = {}
        self.examples: set[str] = set()

    def count_lines(self, log: Path) -> float:
        """Return the seconds that ``wc -l`` takes."""
        start = time.perf_counter()
        done = subprocess.run(["wc", "-l", str(log)], capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
        self.lines[log] = int(done.stdout.split()[0])
        return seconds

    def prepare(self, case: Case) -> None:
        """Make what a case reads, if it is not the log, and bring it into the page cache."""
        if case.log not in self.lines:
            self.count_lines(case.log)
        if case.form in PACKERS:
            pack(case.log, case.form).read_bytes()
        elif case.form == "parquet" and case.log not in self.saved:
            self.saved[case.log] = self.folder / f"{case.log.stem}.parquet"
            command = [sys.executable, str(HERE / "measure.py"), "parquet", str(case.log)]
            command += ["--threads", "2", "--output", str(self.saved[case.log])]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def clean(self) -> None:
        """Remove the Parquet that `prepare` made."""
        for path in self.saved.values():
            path.unlink(missing_ok=True)

    def source(self, case: Case) -> Path:
        """Return what a case reads."""
        if case.form == "parquet":
            return self.saved[case.log]
        return pack(case.log, case.form) if case.form else case.log

    def measure(self, case: Case) -> None:
        """Run a case once, with ``wc -l`` before and after, and check its counts."""
        output = self.folder / "measured.parquet"
        source = self.source(case)
        command = [sys.executable, str(HERE / "measure.py"), case.tool, str(source)]
        command += ["--threads", str(case.threads), "--output", str(output)]
        command += ["--extension", str(self.old)] if case.old else []
        environment = {**os.environ, "POLARS_MAX_THREADS": str(case.threads)}
        if case.tool == "headers":
            command = [str(self.headers)]
            names = {"TRACEFAST_BENCH_LOG": str(case.log), "TRACEFAST_BENCH_STAGE": "headers"}
            environment = {**os.environ, **names}
        unpack = [*PACKERS[case.form][1], str(source)] if case.form in PACKERS else None
        before = self.count_lines(case.log)
        unpacked = [seconds_of(unpack)] if unpack else []
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        wall = time.perf_counter() - start
        output.unlink(missing_ok=True)
        unpacked += [seconds_of(unpack)] if unpack else []
        after = self.count_lines(case.log)
        if done.returncode != 0:
            raise SystemExit(f"{case.label}, {case.threads} threads, failed:\n{done.stderr}")
        result = json.loads(done.stdout)
        case.ratios.append((before + after) / 2 / result["seconds"])
        case.seconds.append(result["seconds"])
        case.wall.append(wall)
        case.processor += [result["processor"]] if "processor" in result else []
        case.peaks.append(result["peak"])
        case.unpacked += [sum(unpacked) / 2] if unpack else []
        case.rows = result["rows"]
        self.check(case, result)

    def check(self, case: Case, result: dict) -> None:
        """Note what is wrong with the counts of a run."""
        lines = self.lines[case.log]
        if case.tool in YARDSTICKS:
            return
        wrong = []
        if case.tool not in TABLES and result["lines"] != lines:
            wrong.append(f"read {result['lines']} of {lines} lines")
        if case.tool not in {*OTHERS, *TABLES, "headers"}:
            if result["accounted"] != lines:
                wrong.append(f"accounted for {result['accounted']} of {lines} lines")
            if result["unparsed"]:
                wrong.append(f"did not understand {result['unparsed']} lines")
                self.examples.update(f"{line}: {text}" for _, line, text in result["examples"])
        # The model adds rows; without a parser each line is a row.
        if case.tool not in {"polars", "duckdb", "headers", "rows"}:
            kind = case.tool if case.tool in TABLES else "sums" if case.tool in SUMS else "events"
            rows = self.rows.setdefault((case.log, kind), result["rows"])
            if result["rows"] != rows:
                wrong.append(f"gave {result['rows']} rows where another run gave {rows}")
        for text in wrong:
            complaint = f"{case.label}, {case.threads} threads, {case.log.name}: {text}"
            if complaint not in self.complaints:
                self.complaints.append(complaint)
