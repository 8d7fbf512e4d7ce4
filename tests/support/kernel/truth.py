"""Rows held against what the traced program itself recorded of its reads.

`PYTHONPATH=tests python -m support.kernel.truth FOLDER` does so for every `NAME.truth.json`
below the folder, with and without the annotations of `-y`, prints each difference and how many
reads were known how well, and ends with exit code 1 if there is any difference.

A record has `workload`, `flags` and `ops`: `tid`, `path`, `offset`, `requested`, `returned` of each
read, those of a task in the order in which it made them. Reads of other files (the loader's, the
interpreter's) are not in it. Data in the files say where they are, so that the offsets are right
even where several tasks move one description at once.
"""

import json
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

import tracefast as tf
from support.kernel import annotations

# Its reads are touches of memory.
LEFT_OUT = {"py_mmap"}
READS = ["read", "readv", "pread64", "preadv", "preadv2"]
OPENS = ["open", "openat", "openat2", "creat"]
COLUMNS = ["name", "tid", "line", "fd", "ofd", "path", "offset", "offset_known"]
Row = dict[str, Any]


@dataclass
class Outcome:
    """What the comparison found."""

    differences: list[str] = field(default_factory=list)
    known: Counter[str] = field(default_factory=Counter)

    def share(self, *names: str) -> float:
        """Part of the reads whose offset is known so well."""
        return sum(self.known[name] for name in names) / max(1, self.known.total())


def logs_of(record: Path) -> list[Path]:
    """The log beside a record, or the files that are one log cut by task."""
    stem = record.name.removesuffix(".truth.json")
    for ending in ("log", "strace"):
        whole = record.with_name(f"{stem}.{ending}")
        if whole.exists():
            return [whole]
        pattern = re.compile(rf"{re.escape(stem)}\.{ending}\.\d+")
        cut = [path for path in record.parent.iterdir() if pattern.fullmatch(path.name)]
        if cut:
            return sorted(cut)
    raise FileNotFoundError(f"no log beside {record}")


def bare(logs: list[Path]) -> Path:
    """The name by which tracefast reads them as one log."""
    return (
        logs[0] if len(logs) == 1 and not logs[0].suffix[1:].isdigit() else logs[0].with_suffix("")
    )


def with_positions(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `position`: the offset, shifted by what a later row proved of the description.

    Relative offsets have none if nothing proves them.
    """
    proofs = rows.filter(kind="notice", name="offset-base")
    bases = proofs.group_by("source", "ofd").agg(pl.col("offset").first().alias("base"))
    shifted = rows.join(bases, on=["source", "ofd"], how="left", maintain_order="left")
    position = (
        pl.when(offset_known="exact")
        .then("offset")
        .when(offset_known="relative")
        .then(pl.col("offset") + pl.col("base"))
    )
    return shifted.with_columns(position=position)


def read_rows(log: Path, *, assume_complete: bool = False) -> pl.DataFrame:
    """Rows of a log with names as text."""
    names = ["kind", "name", "status", "offset_known", "access", "access2", "file_type", "source"]
    return pl.DataFrame(tf.read(log, assume_complete=assume_complete)).with_columns(
        pl.col(names).cast(pl.String)
    )


def aliases_of(rows: pl.DataFrame, logs: list[Path]) -> dict[str, str]:
    """Names that only annotations resolve: how a file was named, to what was opened."""
    texts = {log.suffix[1:] if len(logs) > 1 else "": log.read_bytes().split(b"\n") for log in logs}
    found = {}
    for row in rows.filter(pl.col("name").is_in(OPENS), pl.col("ret") >= 0).iter_rows(named=True):
        lines = texts[str(row["tid"]) if "" not in texts else ""]
        pieces = annotations.parts(lines[row["line"] - 1])
        name = re.search(rb'"((?:[^"\\]|\\.)*)"', b"".join(piece for piece, _ in pieces))
        result = [note for piece, note in pieces if note and re.search(rb"= \d+$", piece)]
        if name and result:
            folder = next((note for piece, note in pieces if piece.count(b'"') == 0), b"")
            whole = os.path.normpath(Path(folder.decode(), name[1].decode()))
            # Where the folder is not known, the name stays as it is.
            found[whole] = found[os.path.normpath(name[1].decode())] = result[0].decode()
    return found


@dataclass
class Comparison:
    """One log and one record."""

    rows: pl.DataFrame
    operations: list[Row]
    aliases: dict[str, str] = field(default_factory=dict)
    # Without annotations nothing names what is older than the log: descriptors, the first folder.
    named: bool = True
    outcome: Outcome = field(default_factory=Outcome)
    bases: dict[int, int] = field(default_factory=dict)
    opened: frozenset[int] = frozenset()
    tasks: dict[int, set[int]] = field(default_factory=dict)

    def run(self) -> Outcome:
        rows = with_positions(self.rows)
        opens = rows.filter(pl.col("name").is_in(OPENS), pl.col("ret") >= 0)
        self.opened = frozenset(opens["ofd"].drop_nulls())
        moves = rows.filter(pl.col("name").is_in([*READS, "lseek"]), pl.col("ofd").is_not_null())
        self.tasks = {ofd: set(group["tid"]) for (ofd,), group in moves.group_by("ofd")}
        reads = rows.filter(pl.col("name").is_in(READS), pl.col("bytes") > 0)
        found = {tid: group.sort("line") for (tid,), group in reads.group_by("tid")}
        expected = defaultdict(list)
        for operation in self.operations:
            if operation["returned"] > 0:
                expected[operation["tid"]].append(operation)
        for tid, operations in expected.items():
            self.task(
                tid, operations, list(found[tid].iter_rows(named=True)) if tid in found else []
            )
        return self.outcome

    def task(self, tid: int, operations: list[Row], rows: list[Row]) -> None:
        """Find the row of each operation: those of a task have the same order in both."""
        paths = {operation["path"] for operation in operations}
        at = 0
        for row in rows:
            operation = operations[at] if at < len(operations) else None
            if operation is not None and self.is_of(row, operation):
                at += 1
                self.offset(row, operation)
            elif row["path"] is not None and self.real(row["path"]) in paths:
                self.outcome.differences.append(
                    f"line {row['line']} of {tid}: no read of the program's: {brief(row)}; "
                    f"next is {operation}"
                )
                return
        if at < len(operations):
            self.outcome.differences.append(f"{tid}: no row for {operations[at]}")

    def real(self, path: str) -> str:
        whole = os.path.normpath(path)
        return self.aliases.get(whole, whole)

    def is_of(self, row: Row, operation: Row) -> bool:
        sizes = operation["requested"], operation["returned"]
        if (row["requested"], row["bytes"]) != sizes:
            return False
        if row["path"] is None:
            return not self.named and row["ofd"] not in self.opened
        path = self.real(row["path"])
        if path.startswith("/"):
            return path == operation["path"]
        return not self.named and operation["path"].endswith(f"/{path}")

    def offset(self, row: Row, operation: Row) -> None:
        how, offset = row["offset_known"], operation["offset"]
        ofd = row["ofd"]
        right = True
        if how == "exact":
            right = row["offset"] == offset
        elif how == "relative":
            base = offset - row["offset"]
            right = row["position"] in (None, offset) and self.bases.setdefault(ofd, base) == base
            how += "" if row["position"] is None else " and proved"
        elif how == "ambiguous":
            # What a single task does has an order.
            right = row["offset"] is None and len(self.tasks[ofd]) > 1
        else:
            right = how == "unknown" and row["offset"] is None
        self.outcome.known[how or "null"] += 1
        if not right:
            self.outcome.differences.append(f"{brief(row)}: the program read {operation}")


def brief(row: Row) -> str:
    return ", ".join(f"{name}={row[name]}" for name in COLUMNS if name in row)


def annotated(record: Path) -> Outcome:
    """Compare a log, as it is, with the program's record."""
    operations = json.loads(record.read_text())["ops"]
    rows = read_rows(bare(logs_of(record)))
    return Comparison(rows, operations, named=has_annotations(record)).run()


def stripped(record: Path, folder: Path) -> Outcome:
    """Compare the log without its annotations; `folder` is for copies."""
    logs = logs_of(record)
    aliases = aliases_of(read_rows(bare(logs)), logs)
    copies = [folder / log.name for log in logs]
    for log, copy in zip(logs, copies, strict=True):
        copy.write_bytes(annotations.strip(log.read_bytes()))
    operations = json.loads(record.read_text())["ops"]
    return Comparison(read_rows(bare(copies)), operations, aliases, named=False).run()


def records(folder: Path) -> list[Path]:
    """All records of reads below a folder."""
    found = sorted(folder.rglob("*.truth.json"))
    return [path for path in found if json.loads(path.read_text())["workload"] not in LEFT_OUT]


def has_annotations(record: Path) -> bool:
    return "-y" in json.loads(record.read_text())["flags"]


def main() -> int:
    failed = 0
    for record in records(Path(sys.argv[1])):
        with tempfile.TemporaryDirectory() as scratch:
            outcomes = [("as it is", annotated(record))]
            if has_annotations(record):
                outcomes.append(("without annotations", stripped(record, Path(scratch))))
            for how, outcome in outcomes:
                print(
                    f"{record}, {how}: {dict(outcome.known)}", *outcome.differences[:5], sep="\n  "
                )
                failed += bool(outcome.differences)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
