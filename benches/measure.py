"""Measure one way of reading one log, in a process of its own; prints one line of JSON.

``seconds`` is the wall time of the work itself, without starting Python and importing, and
``processor`` the processor time that all threads and programs spend on it. ``peak`` is the largest
resident memory of this process, everything included.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from cases import TABLES, YARDSTICKS

STRACE_REGEX = (
    r"^(?:\[pid +)?(?<tid>\d+)\]? +(?<ts>\d+\.\d+) "
    r"(?:<\.\.\. )?(?<name>\w+)(?:\(| resumed>)(?<args>.*?)"
    r"(?:\) += (?<ret>0x[0-9a-f]+|-?\d+|\?)(?: ?(?<errno>E[A-Z]+))?(?<rest>.*?))?"
    r"(?:<(?<dur>\d+\.\d+)>)?$"
)
"""What one writes for a log of ``strace -f -ttt -T`` without a parser."""

STRACE_END_REGEX = (
    rb"\d+ +\d+\.\d+ (?:<\.\.\. )?(\w+)(?:\(| resumed>).*\) += "
    rb"(?:-1 (E[A-Z0-9]+)|-?\d|\?).* <(\d+\.\d+)>$"
)
"""The same for a line with the end of a call, with only the groups that sums by name need."""

AWK = r"""
{ lines++ }
$NF ~ /^<[0-9]+\.[0-9]+>$/ {
    name = $3
    if (name == "<...") name = $4
    else sub(/\(.*/, "", name)
    calls[name]++
    seconds[name] += substr($NF, 2, length($NF) - 2)
    if (match($0, / = -1 E[A-Z0-9]+ /)) errors[name]++
}
END {
    for (name in calls) printf "%s %d %d %.6f\n", name, calls[name], errors[name], seconds[name]
    print "lines", lines
}
"""
"""What one writes for ``strace -c`` of a log: calls, errors and times by name."""


def peak_bytes() -> int:
    """Return the peak of this process's resident memory.

    Not ``getrusage``: its figure is inherited from the process that started this one.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmHWM in /proc/self/status")


def processor_seconds() -> float:
    """Return the processor time of this process and of the programs that it ran."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Clock:
    """Times what is done after it is made."""

    def __init__(self) -> None:
        self.processor = processor_seconds()
        self.wall = time.perf_counter()

    def stop(self) -> dict[str, float]:
        """Return what a measurement says of time."""
        seconds = time.perf_counter() - self.wall
        return {"seconds": seconds, "processor": processor_seconds() - self.processor}


def load_extension(path: str) -> None:
    """Have ``tracefast._core`` be the extension of another build."""
    import tracefast

    # The package is that of this build: the extension finds it, and it finds the extension.
    spec = importlib.util.spec_from_file_location("tracefast._core", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["tracefast._core"] = module
    tracefast.__dict__["_core"] = module
    spec.loader.exec_module(module)


def run_arrow(log: str, threads: int, _output: str) -> dict[str, object]:
    """Drain the stream of record batches without keeping them."""
    from tracefast._core import Reader

    clock = Clock()
    rows = 0
    with Reader([log], threads=threads) as reader:
        for batch in reader:
            rows += batch.num_rows
        report = reader.report
    times = clock.stop()
    return {**times, "rows": rows, **facts(report)}


def run_parquet(log: str, threads: int, output: str) -> dict[str, object]:
    """Parse into a Parquet file."""
    return parsed(log, output, threads=threads)


def run_rows(log: str, threads: int, output: str) -> dict[str, object]:
    """Parse into a Parquet file without the model of the kernel."""
    return parsed(log, output, threads=threads, model=False)


def parsed(log: str, output: str, **options) -> dict[str, object]:
    """Time the parser."""
    from tracefast._core import parse

    clock = Clock()
    report = parse([log], output, **options)
    times = clock.stop()
    return {**times, "rows": report.rows, **facts(report)}


def run_table(name: str, source: str, threads: int, output: str) -> dict[str, object]:
    """Run a command such as ``tracefast files`` on a log or its Parquet, its table into a file.

    The commands have no option for threads, but take no more than they may run on.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    sys.argv = ["tracefast", name, source]
    stdout = os.dup(1)
    with Path(output).open("wb") as table:
        os.dup2(table.fileno(), 1)
    clock = Clock()
    from tracefast.cli import main as command

    try:
        command()
    except SystemExit as done:
        if done.code:
            raise
    sys.stdout.flush()
    times = clock.stop()
    os.dup2(stdout, 1)
    with Path(output).open("rb") as table:
        rows = sum(1 for _ in table) - 1
    return {**times, "rows": rows}


def facts(report) -> dict[str, object]:
    """Return what every run over the same log must agree on."""
    return {
        "lines": report.lines,
        "accounted": sum(report.accounting.values()),
        "unparsed": report.accounting["unparsed"],
        "examples": [list(example) for example in report.unparsed],
    }


def run_polars(log: str, _threads: int, output: str) -> dict[str, object]:
    """Split each line with one regular expression in polars and sink the columns to Parquet."""
    import polars as pl

    clock = Clock()
    line = pl.col("line")
    (
        pl.scan_csv(
            log,
            separator="\x01",  # Occurs nowhere, so a line is one field.
            quote_char=None,
            has_header=False,
            schema={"line": pl.String},
            encoding="utf8-lossy",
        )
        .select(line.str.extract_groups(STRACE_REGEX))
        .unnest("line")
        .sink_parquet(output, compression="zstd", compression_level=1)
    )
    times = clock.stop()
    count = pl.scan_parquet(output).select(pl.len(), pl.col("name").is_null().sum()).collect()
    rows, missed = count.row(0)
    return {**times, "rows": rows, "lines": rows, "missed": missed}


def run_duckdb(log: str, threads: int, output: str) -> dict[str, object]:
    """Do the same in duckdb, with ``regexp_extract`` into as many columns."""
    import duckdb

    names = re.findall(r"\?<(\w+)>", STRACE_REGEX)
    pattern = re.sub(r"\?<\w+>", "", STRACE_REGEX).replace("'", "''")
    groups = ", ".join(f"'{name}'" for name in names)
    clock = Clock()
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {threads}")
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(
            f"""
            COPY (
                SELECT unnest(regexp_extract(line, '{pattern}', [{groups}]))
                FROM read_csv(
                    '{log}', columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '',
                    escape = '', header = false, auto_detect = false, new_line = '\\n',
                    encoding = 'utf-8', max_line_size = 16000000
                )
            ) TO '{output}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)
            """
        )
        times = clock.stop()
        found = connection.execute(
            f"SELECT count(*), count(*) FILTER (name = '') FROM '{output}'"
        ).fetchone()
    rows, missed = found or (0, 0)
    return {**times, "rows": rows, "lines": rows, "missed": missed}


def run_re(log: str, _threads: int, output: str) -> dict[str, object]:
    """Add up calls, errors and times by name with Python's ``re``, and print them as a table."""
    match = re.compile(STRACE_END_REGEX).match
    sums: dict[bytes, list[float]] = {}
    lines = 0
    clock = Clock()
    with Path(log).open("rb") as text:
        for line in text:
            lines += 1
            if found := match(line):
                name, errno, seconds = found.groups()
                entry = sums.setdefault(name, [0, 0, 0.0])
                entry[0] += 1
                entry[1] += errno is not None
                entry[2] += float(seconds)
    with Path(output).open("wb") as table:
        for name, (calls, errors, seconds) in sorted(sums.items()):
            table.write(b"%b %d %d %f\n" % (name, calls, errors, seconds))
    times = clock.stop()
    return {**times, "rows": sum(int(entry[0]) for entry in sums.values()), "lines": lines}


def run_awk(log: str, _threads: int, output: str) -> dict[str, object]:
    """Do the same in awk: what ``strace -c`` counts, from a log."""
    clock = Clock()
    with Path(output).open("wb") as table:
        subprocess.run(["awk", AWK, log], stdout=table, check=True, env={"LC_ALL": "C"})
    times = clock.stop()
    sums = [line.split() for line in Path(output).read_text(encoding="ascii").splitlines()]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    rows = sum(int(calls) for name, calls, *_ in sums if name != "lines")
    lines = sum(int(number) for name, number, *_ in sums if name == "lines")
    return {**times, "rows": rows, "lines": lines, "peak": peak}


def run_program(name: str, log: str, _threads: int, _output: str) -> dict[str, object]:
    """Run a program that does one thing with each byte."""
    clock = Clock()
    done = subprocess.run([*YARDSTICKS[name], log], stdout=subprocess.DEVNULL, check=False)
    times = clock.stop()
    # rg says with 1 that it found nothing.
    if done.returncode > (name == "rg"):
        raise SystemExit(f"{name} failed: {done.returncode}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {**times, "rows": 0, "peak": peak}


CASES = {
    "arrow": run_arrow,
    "parquet": run_parquet,
    "rows": run_rows,
    **{name: partial(run_table, name) for name in TABLES},
    "polars": run_polars,
    "duckdb": run_duckdb,
    "re": run_re,
    "awk": run_awk,
    **{name: partial(run_program, name) for name in YARDSTICKS},
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("log")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", default="", help="where the Parquet file goes")
    parser.add_argument("--extension", help="of another build, in place of the one installed")
    options = parser.parse_args()
    if options.extension:
        load_extension(options.extension)
    result = CASES[options.case](options.log, options.threads, options.output)
    print(json.dumps({"peak": peak_bytes(), **result}))


if __name__ == "__main__":
    main()
