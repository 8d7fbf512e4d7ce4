"""Rules about started processes: those of `tracefast.fork_advice`, under their own names."""

from collections.abc import Callable, Iterator
from typing import Final

import polars as pl

from tracefast.analysis.forks.advice import (
    error_pipe,
    fork_per_epoch,
    many_processes,
    page_table_copy,
    path_probes,
    re_imports,
    slow_linking,
)
from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.insights.finding import Finding, Rule, Severity, Threshold, Weight
from tracefast.analysis.insights.lines import MOST
from tracefast.analysis.insights.log import Log
from tracefast.analysis.insights.probes import probes_after_exec
from tracefast.quantities import Range

_PAGE: Final = "docs/forks.md#the-advice"
# Which of the started processes a rule is about, where these are not all of a group.
_ABOUT: Final = {
    "fork-with-threads": pl.col("parent_tasks") > 1,
    "path-probes": pl.col("exec_failed") > 0,
    "re-imports": pl.col("child_modules") > 0,
}

# Rules about the time in which processes are created; the others are about the processes' own.
_IN_PARENT: Final = ("page-table-copy", "error-pipe", "fork-per-epoch")


def _finds(code: str) -> Callable[[Log], Iterator[Finding]]:
    def find(log: Log) -> Iterator[Finding]:
        for case, advice in log.fork_advice:
            if advice.code == code:
                weight = _weight(log, case, advice)
                if weight is not None:
                    yield _finding(log, case, advice, weight)

    return find


def _weight(log: Log, case: Case, advice: Advice) -> Weight | None:
    if advice.touched is None or not log.wall_ns:
        # It is a danger, and no loss of time; or the log has no times.
        return Weight(Severity.MEDIUM if advice.touched is None else Severity.LOW, 0.0)
    return log.weight(_of_log(log, case, advice.touched, advice.code))


def _of_log(log: Log, case: Case, time: Range, code: str) -> Range:
    """Give the part of the log's time: processes that run at the same time share it."""
    tax, lives = case.number("tax_ns"), case.number("lifetime_sum_ns")
    if code in _IN_PARENT:
        at_once = tax / (case.share("wall_share") * log.wall_ns or 1) if tax else 1.0
    else:
        at_once = lives / (log.wall_ns or 1)
    return Range(int(time.low / max(at_once, 1)), int(time.high / max(at_once, 1)))


def _finding(log: Log, case: Case, advice: Advice, weight: Weight) -> Finding:
    about = case.rows.filter(_ABOUT.get(advice.code, pl.lit(value=True)))
    parent, image = case.text("parent_image"), case.text("image")
    numbers: dict[str, float] = {"processes": case.count, **advice.numbers}
    if advice.touched is not None:
        numbers |= {"touched_low_ns": advice.touched.low, "touched_high_ns": advice.touched.high}
    return Finding(
        weight=weight,
        title=advice.what,
        evidence=advice.evidence,
        numbers=numbers,
        object=parent if image is None else f"{parent or '?'} \N{RIGHTWARDS ARROW} {image}",
        lines=about["line"].drop_nulls().head(MOST).to_list(),
        saving=advice.saving and _of_log(log, case, advice.saving, advice.code),
        advice=advice.remedy,
    )


_THRESHOLDS: Final[dict[str, tuple[Threshold, ...]]] = {
    "page-table-copy": (
        Threshold(
            "time from fork to execve, median, at most",
            page_table_copy.SOON_NS,
            "ns",
            "a child that does more first may need the copy",
        ),
        Threshold(
            "share of the log's time in starting them",
            page_table_copy.LEAST_SHARE,
            "share",
            "as for medium",
        ),
        Threshold(
            "time of a fork, median",
            page_table_copy.LEAST_CALL_NS,
            "ns",
            "below, it costs little more than a vfork",
        ),
        Threshold(
            "memory of the parent, where the log shows it",
            page_table_copy.LEAST_BYTES,
            "B",
            "below, its page tables are small",
        ),
    ),
    "error-pipe": (
        Threshold(
            "time of a wait, mean, without the tracer's share",
            error_pipe.LEAST_NS,
            "ns",
            "an execve takes about as long",
        ),
        Threshold(
            "share of the log's time in these waits",
            error_pipe.LEAST_SHARE,
            "share",
            "less is not worth a change",
        ),
    ),
    "many-processes": (
        Threshold("processes", many_processes.LEAST, "", "fewer are the steps of a script"),
        Threshold(
            "lifetime of a process, median, at most",
            many_processes.SMALL_NS,
            "ns",
            "of a longer one, the start is a small part",
        ),
    ),
    "fork-per-epoch": (
        Threshold(
            "rounds",
            fork_per_epoch.LEAST_ROUNDS,
            "",
            "two may be two steps of a program, or a loop whose children happen to overlap",
        ),
        Threshold(
            "rounds in a program of PyTorch",
            fork_per_epoch.LEAST_EPOCHS,
            "",
            "one is the start; its DataLoader forks again in each epoch",
        ),
        Threshold(
            "workers of a round, all alive together",
            fork_per_epoch.LEAST_WORKERS,
            "",
            "one after the other may be commands",
        ),
    ),
    "re-imports": (
        Threshold(
            "modules that a worker opens",
            re_imports.LEAST_MODULES,
            "",
            "fewer are those of multiprocessing itself",
        ),
        Threshold("such workers", re_imports.LEAST_WORKERS, "", "one has to import them"),
    ),
    "path-probes": (
        Threshold(
            "failed calls of execve of a process, median",
            path_probes.LEAST_EACH,
            "",
            "one may be the first folder of PATH",
        ),
        Threshold("failed calls of execve", path_probes.LEAST, "", "fewer take no time"),
    ),
    "slow-linking": (
        Threshold(
            "time of linking for each start, without the tracer's share",
            slow_linking.SLOW_NS,
            "ns",
            "a program with few libraries takes a tenth of it",
        ),
        Threshold(
            "share of the log's time, of slow starts",
            slow_linking.SLOW_SHARE,
            "share",
            "as for medium",
        ),
        Threshold(
            "slow starts",
            slow_linking.LEAST_SLOW,
            "",
            "what happens once cannot be done less often",
        ),
        Threshold(
            "or files that a start does not find, median",
            slow_linking.MANY_MISSES,
            "",
            "a usual search path has few",
        ),
        Threshold("starts with such a search", slow_linking.LEAST, "", "fewer take no time"),
        Threshold(
            "share of the log's time, of such starts",
            slow_linking.SEARCH_SHARE,
            "share",
            "as for low",
        ),
    ),
}


def _path_probes(log: Log) -> Iterator[Finding]:
    yield from _finds("path-probes")(log)
    yield from probes_after_exec(log)


def _rule(
    code: str,
    title: str,
    looks_for: str,
    advice: str,
    find: Callable[[Log], Iterator[Finding]] | None = None,
) -> Rule:
    return Rule(
        code=code,
        title=title,
        looks_for=looks_for,
        advice=advice,
        find=find or _finds(code),
        thresholds=_THRESHOLDS.get(code, ()),
        tables=frozenset({"forks"}),
        page=_PAGE,
    )


RULES: Final = (
    _rule(
        "page-table-copy",
        "Each fork copies the page tables of a large parent, for a child that executes another"
        " program at once.",
        "Children of fork that soon execute a program, from a parent with much memory. The kernel"
        " copies the page tables for fork, and the child's execve tears them down; vfork and"
        " posix_spawn do neither.",
        "Start programs by posix_spawn or vfork (Python 3.10 and newer do, without preexec_fn=), or"
        " from a small process that was started early.",
    ),
    _rule(
        "error-pipe",
        "The parent waits until the child has executed its program.",
        "Parents that wait long in a read of a close-on-exec pipe after fork. The wait overlaps"
        " with what the child does until its execve.",
        "Shorten what it waits for: after vfork or posix_spawn the parent does not wait there.",
    ),
    _rule(
        "many-processes",
        "A process is started for each small piece of work.",
        "Many processes of one program, started by one program, that live for a short time. Until"
        " its own code runs, each is created, executed, linked.",
        "Give one process many pieces of work, or use a library within the process.",
    ),
    _rule(
        "fork-per-epoch",
        "New workers are forked for each round of work.",
        "A process of Python that forks workers, and as many again when all have ended. Those of a"
        " round are alive together, and start sooner after each other than the next round does:"
        " children of a loop that overlap by chance are no rounds.",
        "Keep the workers: persistent_workers=True of PyTorch's DataLoader.",
    ),
    _rule(
        "re-imports",
        "Each worker imports the same modules again before it can start work.",
        "Workers of Python, started in one way, that each open many compiled modules (.pyc).",
        "Use multiprocessing's forkserver with set_forkserver_preload, or import before the fork.",
    ),
    _rule(
        "fork-with-threads",
        "A process with several threads is forked.",
        "Forks of a process that has other threads, whose children execute no program. What another"
        " thread has locked at that moment stays locked in the child. It is medium, since it is a"
        " danger and no loss of time; lock-at-fork is what comes of it.",
        "Fork before threads are started, or use forkserver or spawn.",
    ),
    _rule(
        "path-probes",
        "A program is looked for in folders that do not hold it.",
        "Children that fail in several calls of execve before the one that succeeds, and programs"
        " that do so to run another one in their place, as env does.",
        "Give the whole path, or put its folder first in PATH.",
        _path_probes,
    ),
    _rule(
        "slow-linking",
        "A program spends a long time finding and loading its libraries.",
        "Programs with a long time of dynamic linking at each start, or that look for many"
        " libraries that do not exist.",
        "Link to fewer libraries, shorten the run path, or start it less often.",
    ),
)
