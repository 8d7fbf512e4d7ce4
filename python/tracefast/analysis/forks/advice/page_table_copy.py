"""Fork copies the page tables of a large parent, for a child that throws them away at once."""

from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.advice.causes import cause_of_fork
from tracefast.analysis.forks.measures.costs import VFORK_NS
from tracefast.quantities import Range, duration, memory, percent, plural

SOON_NS: Final = 5_000_000
LEAST_SHARE: Final = 0.05
# Below this, a fork costs little more than a vfork.
LEAST_CALL_NS: Final = 400_000
LEAST_BYTES: Final = 32 << 20


def page_table_copy(case: Case) -> Advice | None:
    """Find children of fork that soon execute a program, at more than 5 % of the log's time."""
    if case.text("kind") != "fork" or case.text("image") is None or not case.count:
        return None
    anon = case.number("parent_anon_max_bytes")
    if (
        case.share("wall_share") <= LEAST_SHARE
        or case.number("call_p50_ns") < LEAST_CALL_NS
        or (case.known("parent_anon_max_bytes") and anon < LEAST_BYTES)
    ):
        return None
    if case.number("exec_gap_p50_ns") - (case.median("tracer_high_ns") or 0) > SOON_NS:
        return None
    price = case.price
    at_vfork = case.count * VFORK_NS
    saving = Range(max(price.low - at_vfork, 0), max(price.high - at_vfork, 0))
    if not saving.high:
        return None
    cause = cause_of_fork(case)
    return Advice(
        "page-table-copy",
        f"Each fork copies the page tables of a large parent, for a child that executes another"
        f" program at once: {cause.why}",
        _evidence(case, price),
        cause.remedy,
        saving,
        touched=price,
        numbers={"bytes": anon} if case.known("parent_anon_max_bytes") else {},
    )


def _evidence(case: Case, price: Range) -> str:
    parts = [f"{plural(case.count, 'fork')} took {case.time('call_p50_ns')} each (median)"]
    if case.known("parent_anon_max_bytes"):
        low, high = case.number("parent_anon_min_bytes"), case.number("parent_anon_max_bytes")
        parts[0] += f", from a parent with {memory(low, high)} of its own memory"
    base = case.median("exec_base_ns")
    if base is not None and case.number("exec_p50_ns") > 2 * base:
        parts.append(
            f"execve took {case.time('exec_p50_ns')} in the child, which tears the copy down,"
            f" against {duration(base)} without one"
        )
    slope = case.summary["slope_ns_per_mib"]
    if isinstance(slope, float) and slope > 0:
        parts.append(
            f"a fork takes {slope / 1000:.1f} µs longer for each MiB of the parent's memory"
        )
    parts.append(f"{price} in total, {percent(case.share('wall_share'))} of the log's time")
    return "; ".join(parts)
