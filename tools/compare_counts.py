"""Compare tracefast's rows with strace's own counts and with programs' own records, by hand.

`PYTHONPATH=tests python tools/compare_counts.py FOLDER` goes through every log below the folder:

* a log with a table inside (`-C`), or with `NAME.summary.txt` beside it: calls and errors per
  system call must be equal, in the rows and in what `tracefast syscalls --strace-c` counts; where
  the log has `-T` and the table was made with `-w`, the seconds, too;
* a log with `NAME.truth.json` beside it, recorded with `-y`: reads that returned data and their
  bytes must be equal per path. The record has `flags`, `workload` and `per_file`, which maps a path
  to `reads` and `bytes`.

It prints each difference, and ends with exit code 1 if there is any.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import polars as pl

from support import strace_tables

try:
    from tracefast import _core
except ImportError:
    import _core

# Their reads are touches of memory; their files change names while open.
LEFT_OUT = {"py_mmap", "tr_relative"}
READS = ["read", "readv", "pread64", "preadv", "preadv2"]


def rows_of(sources: list[Path]) -> pl.DataFrame:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.arrow"
        _core.parse([str(source) for source in sources], str(out), sink="arrow")
        return pl.read_ipc(out)


def of_table(expected: strace_tables.Counts, rows: pl.DataFrame) -> list[str]:
    calls = rows.filter(pl.col("kind") == "syscall").select("name", "status", "errno")
    found = strace_tables.differences(expected, calls.iter_rows())
    counted = counts_of(rows).select("name", "calls", "errors").iter_rows()
    return found + strace_tables.counted_differently(expected, counted)


def counts_of(rows: pl.DataFrame) -> pl.DataFrame:
    fold = _core.StraceCounts()
    fold.push(rows)
    return pl.DataFrame(fold.finish())


def of_seconds(log: Path, rows: pl.DataFrame) -> list[str]:
    expected = strace_tables.seconds(log.read_bytes())
    counted = counts_of(rows).select("name", "total_ns").iter_rows()
    return strace_tables.timed_differently(expected, counted)


def per_path(rows: pl.DataFrame) -> dict[str, tuple[int, int]]:
    reads = rows.filter(pl.col("name").cast(pl.String).is_in(READS), pl.col("bytes") > 0)
    table = reads.group_by("path").agg(pl.len(), pl.col("bytes").sum())
    return {path: (n, size) for path, n, size in table.iter_rows()}


def of_record(expected: dict[str, tuple[int, int]], rows: pl.DataFrame) -> list[str]:
    found = per_path(rows)
    return [
        f"{path}: the program read {expected[path]}, rows {found.get(path)}"
        for path in sorted(expected)
        if expected[path] != found.get(path)
    ]


def sources_of(stem: Path) -> list[Path]:
    single = stem.with_name(stem.name + ".log")
    if single.exists():
        return [single]
    pattern = re.compile(re.escape(stem.name) + r"(\.log)?\.\d+")
    return sorted(path for path in stem.parent.iterdir() if pattern.fullmatch(path.name))


class Differences:
    """What differs, printed at once and counted."""

    def __init__(self) -> None:
        self.checked = self.failed = 0

    def report(self, what: str, found: list[str]) -> None:
        self.checked += 1
        if found:
            self.failed += 1
            print(what, *found, sep="\n  ")


def tables_in_logs(folder: Path, differences: Differences) -> None:
    for log in sorted(folder.rglob("*.log")):
        expected = strace_tables.of_log(log)
        if expected is None:
            continue
        try:
            rows = rows_of([log])
        except ValueError as error:
            differences.report(f"{log}: table", [str(error)])
            continue
        # A log of `-c` alone holds only its table.
        if rows.filter(pl.col("kind") == "syscall").is_empty():
            continue
        differences.report(f"{log}: table", of_table(expected, rows))
        if {"-w", "-T"} <= set(log.parent.name.split("_")):
            differences.report(f"{log}: seconds", of_seconds(log, rows))


def main() -> int:
    folder = Path(sys.argv[1])
    differences = Differences()
    tables_in_logs(folder, differences)
    for summary in sorted(folder.rglob("*.summary.txt")):
        stem = summary.with_name(summary.name.removesuffix(".summary.txt"))
        expected = strace_tables.total(strace_tables.tables(summary.read_bytes()))
        differences.report(f"{summary}", of_table(expected, rows_of(sources_of(stem))))
    for record in sorted(folder.rglob("*.truth.json")):
        truth = json.loads(record.read_text())
        if "-y" not in truth["flags"] or truth["workload"] in LEFT_OUT:
            continue
        stem = record.with_name(record.name.removesuffix(".truth.json"))
        expected = {
            path: (file["reads"], file["bytes"]) for path, file in truth["per_file"].items()
        }
        differences.report(f"{record}", of_record(expected, rows_of(sources_of(stem))))
    print(f"{differences.checked} compared, {differences.failed} differ")
    return int(differences.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
