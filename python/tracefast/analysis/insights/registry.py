"""All rules, in the order of the documentation."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.insights import memory, processes, recording, training, waits
from tracefast.analysis.insights.files import names, page_cache, parts, reading, repeats, writing
from tracefast.analysis.insights.finding import Rule

GROUPS: Final[dict[str, tuple[Rule, ...]]] = {
    "Files": (
        reading.SMALL_READS,
        reading.RANDOM_READS,
        reading.SEEK_THEN_READ,
        repeats.RE_READS,
        repeats.READ_BY_MANY,
        repeats.HEADER_THEN_ALL,
        repeats.END_OF_FILE_PROBES,
        parts.TAIL_FIRST_ARCHIVE,
        parts.READ_LITTLE_OF_MUCH,
        parts.COPY_BY_HAND,
        writing.SMALL_WRITES,
        writing.SYNC_PER_WRITE,
        writing.UNALIGNED_DIRECT,
        writing.WRITTEN_NEVER_READ,
        names.OPEN_CLOSE_CHURN,
        names.FAILED_OPENS,
        names.REPEATED_STATS,
        names.DIRECTORY_SCANS,
        names.METADATA_BOUND,
        page_cache.PAGE_CACHE_MISSES,
        page_cache.READAHEAD_WASTED,
    ),
    "Processes": processes.RULES,
    "Waits": (
        waits.DEADLOCK,
        waits.LOCK_AT_FORK,
        waits.CONTENDED_FUTEX,
        waits.BUSY_POLLING,
        training.ONE_SLOW_WORKER,
        training.STARVED_TRAINER,
        training.SERIAL_IO,
    ),
    "Memory": (memory.COPY_ON_WRITE_GROWTH,),
    "The log itself": (
        recording.NO_DURATIONS,
        recording.NO_CHILDREN,
        recording.NO_NAMES,
        recording.LOST_EVENTS,
        recording.TRACER_DOMINATES,
        recording.WRONG_CLOCK,
    ),
}
RULES: Final[tuple[Rule, ...]] = tuple(rule for rules in GROUPS.values() for rule in rules)


def rule_of(code: str) -> Rule | None:
    """Give the rule that has this code, or None.

    Examples
    --------
    >>> rule_of("small-reads").title
    'Files are read in order, in parts smaller than a page.'
    """
    return next((rule for rule in RULES if rule.code == code), None)


def chosen_rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[Rule]:
    """Choose rules by their codes, or the beginnings of these.

    Parameters
    ----------
    select
        Only these; empty for all.
    ignore
        Without these.

    Raises
    ------
    ValueError
        No code begins like one of these.

    Examples
    --------
    >>> [rule.code for rule in chosen_rules(["re-"], ["re-i"])]
    ['re-reads']
    >>> chosen_rules(["small-read", "typo"])
    Traceback (most recent call last):
    ...
    ValueError: no code begins with 'typo'
    """
    for wanted in (*select, *ignore):
        if not any(rule.code.startswith(wanted) for rule in RULES):
            raise ValueError(f"no code begins with {wanted!r}")
    return [
        rule
        for rule in RULES
        if (not select or rule.code.startswith(tuple(select)))
        and not rule.code.startswith(tuple(ignore))
    ]
