"""What a join found."""

from typing import NamedTuple

from tracefast.quantities import plural


class JoinReport(NamedTuple):
    """How well two logs match."""

    calls: int
    """System calls of strace's log."""
    matched: int
    """Those of them that ftrace's log has as well."""
    tasks: int
    """Threads of strace's log that made calls."""
    matched_tasks: int
    """Those of them that ftrace's log has as well."""
    only_ftrace: int
    """Calls of these threads that only ftrace's log has."""
    offset_ns: int
    """Strace's clock less ftrace's, in nanoseconds."""
    drift_ppm: float
    """By how much strace's clock is faster than ftrace's, in millionths."""
    residual_p50_ns: int
    """How far the middles of the two calls of a pair are apart, median."""
    residual_max_ns: int
    """The same, largest: the tracer was held up at one end of the call."""
    missing: tuple[str, ...]
    """Columns that are null everywhere, because ftrace's log lacks their events."""
    lost: int
    """Notes in ftrace's log that records were lost: calls around them have nulls."""

    def lines(self) -> list[str]:
        """Give the report in words.

        Examples
        --------
        >>> JoinReport(9, 8, 2, 1, 3, 1_500_000_000, 2.0, 4_000, 90_000, ("disk_ns",), 0).lines()[0]
        '8 of 9 calls matched, in 1 of 2 threads; 3 calls only in the log of ftrace'
        """
        only = plural(self.only_ftrace, "call")
        threads = f"{self.matched_tasks:,} of {plural(self.tasks, 'thread')}"
        clocks = f"offset {self.offset_ns / 1e9:.6f} s, drift {self.drift_ppm:.1f} ppm"
        apart = f"{self.residual_p50_ns / 1e3:,.1f} µs (median)"
        most = f"{self.residual_max_ns / 1e3:,.1f} µs"
        matched = f"{self.matched:,} of {plural(self.calls, 'call')} matched, in {threads}"
        lines = [
            f"{matched}; {only} only in the log of ftrace",
            f"clocks: {clocks}; middles of calls apart by {apart}, at most {most}",
        ]
        if self.missing:
            lines.append(f"no events for {', '.join(self.missing)}: these are null")
        if self.lost:
            lines.append(f"records were lost in {plural(self.lost, 'place')}")
        return lines
