"""How severe a finding is: by the share of the log's time, or of its bytes, that it touches."""

from typing import Final

from tracefast.analysis.insights.finding import Severity, Threshold, Weight
from tracefast.quantities import Range

_MIB: Final = 1 << 20

# In order of `Severity`: the least share, the least time, the least bytes.
SHARES: Final = (
    Threshold(
        "share of the time or of the bytes, for high",
        0.2,
        "share",
        "a fifth of the run is noticed by whoever waits for it",
    ),
    Threshold("share for medium", 0.05, "share", "what a careful benchmark still shows"),
    Threshold("share for low", 0.02, "share", "below this, noise of a run is larger"),
)
TIMES: Final = (
    Threshold("and time that it touches, for high", 1e8, "ns", "shorter delays are not felt"),
    Threshold(
        "time for medium", 1e7, "ns", "a hundredth of a second: it has to happen often to matter"
    ),
    Threshold("time for low", 1e6, "ns", "less is not worth a line"),
)
BYTES: Final = (
    Threshold(
        "and bytes that it touches, for high",
        64 * _MIB,
        "B",
        "a disk needs half a second for them; memory hides less",
    ),
    Threshold("bytes for medium", 4 * _MIB, "B", "larger than the kernel's read-ahead"),
    Threshold("bytes for low", 8192, "B", "two pages: less moves at once in any case"),
)
CALLS: Final = Threshold(
    "share of the calls that it touches, for low, in a log without times",
    0.02,
    "share",
    "the same as for time: without times nothing says which calls took longer",
)
THRESHOLDS: Final = (*SHARES, *TIMES, *BYTES, CALLS)
_SEVERITIES: Final = tuple(Severity)


def weight(
    *,
    time: Range | None = None,
    wall_ns: int = 0,
    data: int = 0,
    data_total: int = 0,
    most: Severity = Severity.HIGH,
) -> Weight | None:
    """Say how much something matters; None if it is too little to be a finding.

    Parameters
    ----------
    time
        The time that it touches. It is high only by what is surely the program's own time: the
        lower bound leaves out what the tracer may have taken.
    wall_ns
        The time of the log.
    data, data_total
        The bytes that it touches, and all that the programs of the log moved to and from files.
    most
        The largest severity that it may have.

    Examples
    --------
    >>> second = 1_000_000_000
    >>> weight(time=Range(2 * second, 3 * second), wall_ns=10 * second)
    Weight(severity=<Severity.HIGH: 'high'>, share=0.3)
    >>> weight(time=Range(0, 3 * second), wall_ns=10 * second).severity
    <Severity.MEDIUM: 'medium'>
    >>> weight(data=16_318, data_total=43_290).severity
    <Severity.LOW: 'low'>
    >>> weight(data=100, data_total=100) is None
    True
    >>> weight(time=Range(1000, 2000), wall_ns=second, data=10**9, data_total=10**9).severity
    <Severity.LOW: 'low'>
    """
    reached: list[int] = []
    shares = [0.0]
    if time is not None and wall_ns > 0:
        shares.append(min(time.high / wall_ns, 1.0))
        surely = min(time.low / wall_ns, 1.0)
        reached += [
            rank
            for rank, (share, least) in enumerate(zip(SHARES, TIMES, strict=True))
            if (surely if rank == 0 else shares[-1]) >= share.value
            and (time.low if rank == 0 else time.high) >= least.value
        ]
    if data and data_total > 0:
        # Of bytes that cost hardly any time, in a log that has times, it is no more than low.
        quick = time is not None and wall_ns > 0 and shares[-1] < SHARES[-1].value
        shares.append(min(data / data_total, 1.0))
        reached += [
            max(rank, len(SHARES) - 1 if quick else 0)
            for rank, (share, least) in enumerate(zip(SHARES, BYTES, strict=True))
            if shares[-1] >= share.value and data >= least.value
        ]
    if not reached:
        return None
    rank = max(min(reached), _SEVERITIES.index(most))
    return Weight(_SEVERITIES[rank], max(shares))


def weight_of_calls(share: float) -> Weight | None:
    """Say how much calls matter in a log without times; None if they are too few.

    Examples
    --------
    >>> weight_of_calls(0.1).severity
    <Severity.LOW: 'low'>
    """
    return Weight(Severity.LOW, share) if share >= CALLS.value else None
