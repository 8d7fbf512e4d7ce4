"""Fail when a stage takes more instructions than were recorded: ``guard.py [--record]``.

Times are noisy on shared machines; the instructions of one thread on a fixed log are not. They are
counted by valgrind's callgrind for each stage of ``cargo bench -p tracefast-benches --bench
stages``, on the two logs that ship with the project. Without valgrind nothing is judged; nor is it
with another compiler or other vector instructions than were recorded, which count differently.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import make_log
import programs
from text_table import markdown

RECORDED = Path(__file__).with_name("guard.json")
STAGES = ("blocks", "structure", "grammar", "stitch", "model", "batches", "parquet")
"""Each continues where the previous one ends: the cost of a stage is the difference."""

GUARDED = ("grammar", "stitch", "model", "batches", "parquet")
"""``blocks`` is reading the file, and ``structure`` is part of the grammar's work."""

KINDS = ("strace", "ftrace")
MOST = 1.05
"""Instructions of a stage, relative to those recorded."""

LEAST = 0.001
"""What a stage takes more is judged from this part of all stages on. The compiler compiles a stage
otherwise if its neighbours change: to the shortest one this adds 5 % without a change of its own.
"""

Counts = dict[str, dict[str, int]]
"""By kind of log and stage: instructions that the stage adds."""


def conditions() -> dict[str, str]:
    """Return what the counts depend on besides the code."""
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    cpuinfo = Path("/proc/cpuinfo")
    avx2 = cpuinfo.exists() and re.search(r"\bavx2\b", cpuinfo.read_text()) is not None
    return {
        "rustc": rustc.stdout.strip(),
        "processor": platform.machine() + (", avx2" if avx2 else ""),
    }


def instructions(program: Path, stage: str, log: Path) -> int:
    """Run one stage once under callgrind; return its instructions, the program's start included."""
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    command = [*tool, str(program), stage, str(log)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if stage not in done.stdout:
        raise SystemExit(f"{program} did not run the stage {stage}: {done.stdout}")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise SystemExit(f"valgrind says no count:\n{done.stderr}")
    return int(found[1])


def count(program: Path) -> Counts:
    """Return the instructions of each guarded stage."""
    # The grammar starts with the structure pass.
    order = [stage for stage in STAGES if stage != "structure"]
    with (
        tempfile.TemporaryDirectory(prefix="guard-") as folder,
        ThreadPoolExecutor(os.cpu_count()) as pool,
    ):
        through = {}
        for kind in KINDS:
            log = Path(folder) / f"demo.{kind}"
            log.write_bytes(make_log.bundled(kind))
            through[kind] = [pool.submit(instructions, program, stage, log) for stage in order]
        taken = {kind: [each.result() for each in through[kind]] for kind in KINDS}
    return {
        kind: {
            stage: after - before
            for stage, before, after in zip(order[1:], taken[kind], taken[kind][1:], strict=False)
        }
        for kind in KINDS
    }


def judge(recorded: Counts, found: Counts) -> tuple[str, list[str]]:
    """Return a table, and the stages that take too many instructions."""
    rows, slower = [], []
    for kind in KINDS:
        least = LEAST * sum(found[kind][stage] for stage in GUARDED)
        for stage in GUARDED:
            now = found[kind][stage]
            then = recorded.get(kind, {}).get(stage)
            change = "new" if then is None else f"{100 * (now / then - 1):+.1f} %"
            rows.append((kind, stage, f"{then:,}" if then else "", f"{now:,}", change))
            if then is not None and now > max(MOST * then, then + least):
                slower.append(f"{kind}, {stage}")
    return markdown(("log", "stage", "recorded", "now", "change"), rows, left=2), slower


def in_order(found: Counts) -> str:
    """Say how much of the work is done in order, by one thread at a time."""
    lines = []
    for kind in KINDS:
        serial = found[kind]["stitch"] + found[kind]["model"]
        for sink, last in (("Arrow", "batches"), ("Parquet", "parquet")):
            through = GUARDED[: GUARDED.index(last) + 1]
            share = serial / sum(found[kind][stage] for stage in through)
            lines.append(
                f"{kind} to {sink}: {share:.0%} is done in order; while two cores share the work,"
                f" {2 * share:.0%} of the time"
            )
    return "\n".join(lines)


def compare(found: Counts, here: dict[str, str], recorded: dict) -> int:
    """Print what changed; return 1 if a stage takes too many instructions."""
    table, slower = judge(recorded["instructions"], found)
    print(table, in_order(found), sep="\n\n", end="\n\n")
    other = [name for name in here if here[name] != recorded["conditions"].get(name)]
    for name in other:
        print(f"recorded with {recorded['conditions'].get(name)}, this is {here[name]}")
    if other:
        print("guard: not judged, since these count differently; make guard RECORD=1 records again")
        return 0
    if slower:
        print(f"guard: more than {MOST - 1:.0%} above what was recorded: {'; '.join(slower)}")
        print("guard: make it faster, or say why in the commit that runs make guard RECORD=1")
        return 1
    print("guard: no stage takes more than was recorded")
    return 0


def main() -> int:
    """Count, and compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--record", action="store_true", help="keep the counts as the new measure")
    parser.add_argument("--program", type=Path, help="runs the stages (built by cargo)")
    options = parser.parse_args()
    missing = [name for name in ("valgrind", "rustc") if shutil.which(name) is None]
    if missing:
        print(f"guard: skipped, {missing[0]} is not installed: nothing counts instructions")
        return 0
    program = options.program or programs.stage()
    if program is None:
        print("guard: skipped, cargo is not installed")
        return 0
    found, here = count(program), conditions()
    if options.record:
        content = {"conditions": here, "instructions": found}
        RECORDED.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(judge({}, found)[0], f"kept in {RECORDED.name}", sep="\n")
        return 0
    return compare(found, here, json.loads(RECORDED.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
