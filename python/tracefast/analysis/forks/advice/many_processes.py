"""A process for each small piece of work."""

from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import Range, plural

LEAST: Final = 100
# Longer ones are not small pieces of work.
SMALL_NS: Final = 1_000_000_000


def many_processes(case: Case) -> Advice | None:
    """Find at least a hundred short processes of one program, started by one program."""
    image = case.text("image")
    if image is None or case.count < LEAST:
        return None
    if case.known("lifetime_p50_ns") and case.number("lifetime_p50_ns") > SMALL_NS:
        return None
    name = image.rpartition("/")[2]
    parts = [f"{plural(case.count, 'process', 'processes')} of {image}"]
    rate = case.summary["rate_per_s"]
    if isinstance(rate, float):
        parts.append(f"{rate:,.1f} per second, at most {case.number('in_flight_max')} at once")
    if case.known("lifetime_p50_ns"):
        parts.append(f"each lived for {case.time('lifetime_p50_ns')} (median)")
    begun = _until_begun(case)
    if begun is not None and begun.high:
        parts.append(f"{begun.per(case.count)} of this passed before its own code ran")
    return Advice(
        "many-processes",
        f"A process of {name} is started for each small piece of work.",
        ", ".join(parts),
        f"Give one process many pieces of work (several files per {name}, or a lasting pool), or"
        " use a library within the process, if there is one.",
        touched=begun or case.price,
    )


def _until_begun(case: Case) -> Range | None:
    """Give the time from the child's start until it has executed and linked its program."""
    if not case.known("exec_gap_sum_ns") or not case.known("exec_sum_ns"):
        return None
    execs = case.less_tracer(case.number("exec_gap_sum_ns") + case.number("exec_sum_ns"))
    linking = case.linking
    return Range(execs.low + linking.low, execs.high + linking.high)
