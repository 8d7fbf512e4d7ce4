"""Measure tracefast, ``wc -l``, and what one would write without tracefast.

Speeds are given as ratios to ``wc -l`` of the same file, measured just before and just after each
run: on a shared machine absolute speeds of different minutes cannot be compared. Every run is a
process of its own, every log is in the page cache but for those measured cold, and the runs of a
round alternate. The median over the rounds counts; of processor time the lowest. Exits with 1 if a
log is not understood, or two runs disagree about it; a goal that is missed is only said to be.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import re
import sys
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import comparison
import detours
import goals
import lazy
import make_log
import picture
import programs
from cases import PACKERS, TABLES, Bench, Case, middle, missing
from startup import Startup
from text_table import markdown
from timing import cold, processor

HERE = Path(__file__).resolve().parent

GROUPS = (
    "parse", "packed", "tables", "scan", "comparison", "processor", "cold", "startup", "detours",
    "memory",
)  # fmt: skip
"""What can be measured. ``memory`` is part of ``parse``, and can also be measured alone."""


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
    names = ("tracefast", "polars", "pyarrow", "duckdb")
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


def plan(folder: Path, headers: Path | None, options: argparse.Namespace) -> list[Case]:
    """Make the logs and list what to measure.

    Everything is measured on logs of the first size; the others only show how memory grows.
    """

    def log(kind: str, size: int) -> Path:
        return make_log.make_log(kind, size, folder, source=options.source, seconds=options.seconds)

    wanted, threads = options.only, options.threads
    size, *longer = options.sizes
    cases: list[Case] = []
    for count in threads:
        if "parse" in wanted:
            cases += parsing(log("strace", size), log("ftrace", size), count)
            if count == threads[0] and headers is not None:
                cases.append(Case("ftrace header scanning", "headers", log("ftrace", size), 1))
        elif count == threads[-1] and wanted & {"memory", "packed", "tables"}:
            # What the others are compared with.
            cases.append(Case("strace to Parquet", "parquet", log("strace", size), count))
        if "tables" in wanted:
            cases += tables(log("strace", size), count, saved=count == threads[-1])
    if "packed" in wanted:
        cases += packed(log("strace", size), threads[-1])
    if "processor" in wanted:
        logs = {kind: log(kind, min(size, processor.BYTES)) for kind in ("strace", "ftrace")}
        cases += processor.plan(logs, old=options.old is not None)
    if "comparison" in wanted:
        cases += comparison.plan(log("strace", min(size, comparison.BYTES)), threads[-1])
    cases += [
        Case("strace to Parquet", "parquet", log("strace", more), threads[-1], long=True)
        for more in longer
    ]
    return cases


def parsing(strace: Path, ftrace: Path, threads: int) -> list[Case]:
    """List the ways from logs to columns."""
    return [
        Case("strace to Arrow", "arrow", strace, threads),
        Case("strace to Parquet", "parquet", strace, threads),
        Case("ftrace to Arrow", "arrow", ftrace, threads),
        Case("ftrace to Parquet", "parquet", ftrace, threads),
    ]


def tables(strace: Path, threads: int, *, saved: bool) -> list[Case]:
    """List the model's cost, and tables of a log and of its Parquet."""
    names = TABLES if saved else ()
    return [
        Case("strace to Parquet, no model", "rows", strace, threads),
        Case("files of a log", "files", strace, threads),
        *(Case(goals.of_parquet(name), name, strace, threads, "parquet") for name in names),
    ]


def packed(strace: Path, threads: int) -> list[Case]:
    """List the compressed forms of a log that the machine can make."""
    cases = []
    for form in PACKERS:
        if (name := missing(form)) is not None:
            print(f"{name} is not installed: .{form} is left out", file=sys.stderr)
        else:
            cases.append(Case(f"strace.{form} to Parquet", "parquet", strace, threads, form))
    return cases


def table(cases: list[Case]) -> str:
    """Return the measurements as a Markdown table."""
    head = ("", "log", "threads", "MB/s", "x `wc -l`", "lowest, highest", "process", "peak MB")
    rows = []
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
    return markdown(head, rows, left=2)


def table_of_goals(verdicts: list[goals.Verdict]) -> str:
    """Return the measured values next to their goals."""
    rows = [
        (found.what, found.measured, found.goal, "reached" if found.reached else "MISSED")
        for found in verdicts
    ]
    return markdown(("goal", "measured", "wanted", ""), rows, left=4)


@dataclass
class Others:
    """What is measured besides cases, where it is wanted."""

    queries: lazy.Lazy | None
    startup: Startup | None
    cold: cold.Cold | None

    def measure(self) -> None:
        """Measure everything once."""
        for part in (self.queries, self.startup, self.cold):
            if part is not None:
                part.measure()


def report(cases: list[Case], bench: Bench, others: Others, rounds: int) -> str:
    """Return the whole result as Markdown."""
    facts = [f"{name}: {value}" for name, value in machine().items()]
    for log in sorted({case.log for case in cases}):
        size = log.stat().st_size
        facts.append(f"{log.name}: {size:,} bytes, {bench.lines[log]:,} lines")
    facts.append(f"rounds: {rounds}, medians; `wc -l` before and after every run")
    parts = ["\n".join(f"- {fact}" for fact in facts)]
    own = [case for case in cases if not case.compared and not case.alone]
    alone = [case for case in cases if case.alone]
    if own:
        parts.append(table(own))
    if alone:
        parts.append("## Processor time\n\n" + processor.table(alone, bench.lines))
    if others.cold is not None:
        parts.append(f"## Cold, {others.cold.log.name}\n\n{others.cold.report()}")
    verdicts = goals.judge(own, others.startup, alone)
    if verdicts:
        parts.append("## Goals\n\n" + table_of_goals(verdicts))
        if goals.too_short([*own, *alone]):
            least = make_log.show_size(goals.JUDGED_BYTES)
            parts.append(f"The logs are shorter than {least}: too short to judge speed by.")
    compared = [case for case in cases if case.compared]
    if compared:
        parts.append(f"## Comparison, {compared[0].log.name}\n\n{comparison.table(compared)}")
    if others.queries is not None:
        name = others.queries.log.name
        found = markdown(lazy.HEAD, others.queries.table(), left=1)
        parts.append(f"## Lazy queries, {name}\n\n{found}")
    if others.startup is not None:
        head = ("", "ms", "beyond `python -c pass`", "least")
        parts.append("## Starting\n\n" + markdown(head, others.startup.table(), left=1))
    return "\n\n".join(parts)


def off_the_fast_path(made: list[Path], program: Path | None) -> str:
    """Return a section about the logs made here and those that ship; nothing without cargo."""
    program = program or programs.bench("detours")
    if program is None:
        return ""
    logs = [*made, *detours.logs_in(detours.DATA)]
    places = [log.parent for log in made]
    found = detours.table(logs, detours.count(program, logs), places)
    return f"\n\n## Lines off the fast path\n\n{found}"


def record(text: str, cases: list[Case], others: Others) -> Path:
    """Save the result, with all measurements, next to earlier ones."""
    facts = machine()
    name = re.sub(r"[^a-z0-9]+", "-", facts["processor"].lower().split("(")[0]).strip("-")
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{facts['date']}-{name}-{facts['cores']}-cores.md"
    path.write_text(f"# make bench, {facts['date']}\n\n{text}\n", encoding="utf-8")
    samples = [
        {**asdict(case), "log": case.log.name, "bytes": case.log.stat().st_size} for case in cases
    ]
    content = {
        "machine": facts,
        "versions": comparison.versions(),
        "cases": samples,
        "startup": others.startup.seconds if others.startup else {},
        "cold": others.cold.seconds if others.cold else {},
    }
    path.with_suffix(".json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if any(case.compared for case in cases):
        picture.write(path.with_suffix(".json"))
    return path


def size_list(text: str) -> list[int]:
    """Return sizes from text such as ``1GB,4GB``; a bare number is gigabytes."""
    parts = [part.strip() for part in text.split(",")]
    return [make_log.parse_size(part + "GB" if part.isdigit() else part) for part in parts]


def count_list(text: str) -> list[int]:
    """Return rising thread counts from text such as ``1,2``."""
    return sorted({int(part) for part in text.split(",")})


def group_set(text: str) -> set[str]:
    """Return names of `GROUPS` from text such as ``parse,tables``."""
    names = {part.strip() for part in text.split(",")}
    if unknown := names - set(GROUPS):
        raise argparse.ArgumentTypeError(
            f"{', '.join(sorted(unknown))}: choose among {', '.join(GROUPS)}"
        )
    return names


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--size", "--sizes", dest="sizes", type=size_list, default="1GB", metavar="SIZE,…",
        help="sizes of the logs (1GB); later ones show only how memory grows",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="rounds of measurements (5)")
    parser.add_argument("--threads", type=count_list, default="1,2", help="thread counts (1,2)")
    parser.add_argument(
        "--only", type=group_set, default=",".join(GROUPS), metavar="GROUP,…",
        help=f"what to measure, of {', '.join(GROUPS)} (all)",
    )  # fmt: skip
    parser.add_argument("--record", action="store_true", help="keep the result in benches/results")
    parser.add_argument(
        "--headers", type=Path, metavar="PROGRAM",
        help="finds lines and columns only (built by cargo)",
    )  # fmt: skip
    parser.add_argument(
        "--detours", type=Path, metavar="PROGRAM",
        help="counts lines off the fast path (built by cargo)",
    )  # fmt: skip
    parser.add_argument(
        "--old", type=Path, metavar="EXTENSION",
        help="the extension of another build, whose processor time is measured in turn",
    )  # fmt: skip
    make_log.add_options(parser)
    return parser.parse_args()


def run_round(number: int, bench: Bench, cases: list[Case], others: Others) -> None:
    """Measure everything once, every second time in the other order."""
    for case in cases if number % 2 == 0 else reversed(cases):
        bench.measure(case)
        print(
            f"round {number + 1}: {case.label}{', old build' * case.old}, {case.log.name},"
            f" {case.threads} threads: {case.seconds[-1]:.2f} s, {case.ratios[-1]:.3f} x wc -l",
            file=sys.stderr,
        )
    others.measure()


def plan_others(folder: Path, options: argparse.Namespace) -> Others:
    """Return what else is wanted, of a log of the first size."""
    wanted, size = options.only, options.sizes[0]
    if not wanted & {"scan", "cold"}:
        return Others(None, Startup() if "startup" in wanted else None, None)
    log = make_log.make_log("strace", size, folder, source=options.source, seconds=options.seconds)
    return Others(
        lazy.Lazy(log) if "scan" in wanted else None,
        Startup() if "startup" in wanted else None,
        cold.Cold(log, options.threads[-1]) if "cold" in wanted else None,
    )


def main() -> int:
    """Run the comparison, print it, and say whether anything was wrong."""
    options = arguments()
    folder = options.dir.resolve()
    headers = None
    if "parse" in options.only:
        headers = options.headers or programs.bench("headers")
    bench = Bench(folder, headers, options.old)
    cases = plan(folder, headers, options)
    others = plan_others(folder, options)
    for case in cases:
        bench.prepare(case)
    counted = ""
    if "detours" in options.only:
        # First, because what it builds may fail, and rounds take long.
        counted = off_the_fast_path(sorted({case.log for case in cases}), options.detours)
    for number in range(options.rounds):
        run_round(number, bench, cases, others)
    bench.clean()
    text = report(cases, bench, others, options.rounds) + counted
    print(text)
    if options.record:
        print(f"\nkept as {record(text, cases, others)}")
    for complaint in bench.complaints:
        print(f"error: {complaint}", file=sys.stderr)
    for example in sorted(bench.examples):
        print(f"  {example}", file=sys.stderr)
    return 1 if bench.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
