"""Measure one way of reading one log, in a process of its own; prints one line of JSON.

``seconds`` is the wall time of the work itself, without starting Python and importing. ``peak`` is
the largest resident memory of this process, everything included.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

STRACE_REGEX = (
    r"^(?:\[pid +)?(?<tid>\d+)\]? +(?<ts>\d+\.\d+) "
    r"(?:<\.\.\. )?(?<name>\w+)(?:\(| resumed>)(?<args>.*?)"
    r"(?:\) += (?<ret>0x[0-9a-f]+|-?\d+|\?)(?: ?(?<errno>E[A-Z]+))?(?<rest>.*?))?"
    r"(?:<(?<dur>\d+\.\d+)>)?$"
)
"""What one writes for a log of ``strace -f -ttt -T`` when there is no parser at hand."""


def peak_bytes() -> int:
    """Return the peak of this process's resident memory.

    Not ``getrusage``: its figure is inherited from the process that started this one.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no VmHWM in /proc/self/status")


def run_arrow(log: str, threads: int, _output: str) -> dict[str, object]:
    """Drain the stream of record batches without keeping them."""
    from tracefast._core import Reader

    start = time.perf_counter()
    rows = 0
    with Reader([log], threads=threads) as reader:
        for batch in reader:
            rows += batch.num_rows
        report = reader.report
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rows": rows, **facts(report)}


def run_parquet(log: str, threads: int, output: str) -> dict[str, object]:
    """Parse into a Parquet file."""
    return parsed(log, output, threads=threads)


def run_rows(log: str, threads: int, output: str) -> dict[str, object]:
    """Parse into a Parquet file without the model of the kernel."""
    return parsed(log, output, threads=threads, model=False)


def parsed(log: str, output: str, **options) -> dict[str, object]:
    """Time the parser."""
    from tracefast._core import parse

    start = time.perf_counter()
    report = parse([log], output, **options)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rows": report.rows, **facts(report)}


def run_files(source: str, threads: int, output: str) -> dict[str, object]:
    """Run the command ``tracefast files`` on a log or its Parquet, the table going to a file.

    The command has no option for threads, but takes no more than it may run on.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    sys.argv = ["tracefast", "files", source]
    stdout = os.dup(1)
    with Path(output).open("wb") as table:
        os.dup2(table.fileno(), 1)
    start = time.perf_counter()
    from tracefast.cli import main as command

    try:
        command()
    except SystemExit as done:
        if done.code:
            raise
    sys.stdout.flush()
    seconds = time.perf_counter() - start
    os.dup2(stdout, 1)
    with Path(output).open("rb") as table:
        rows = sum(1 for _ in table) - 1
    return {"seconds": seconds, "rows": rows}


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

    start = time.perf_counter()
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
    seconds = time.perf_counter() - start
    count = pl.scan_parquet(output).select(pl.len(), pl.col("name").is_null().sum()).collect()
    rows, missed = count.row(0)
    return {"seconds": seconds, "rows": rows, "lines": rows, "missed": missed}


CASES = {
    "arrow": run_arrow,
    "parquet": run_parquet,
    "rows": run_rows,
    "files": run_files,
    "polars": run_polars,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("log")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--output", default="", help="where the Parquet file goes")
    options = parser.parse_args()
    result = CASES[options.case](options.log, options.threads, options.output)
    print(json.dumps({**result, "peak": peak_bytes()}))


if __name__ == "__main__":
    main()
