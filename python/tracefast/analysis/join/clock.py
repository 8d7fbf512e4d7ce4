"""How the clock of one log is read on that of another, by the calls that both show."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.forks.measures.slopes import theil_sen

# Lengths of sequences of calls that are looked for in both logs: long ones are rarely in two
# places by chance, short ones are there in short logs, too.
_LENGTHS: Final = (8, 4, 2, 1)
# Fewer places than this are tried again with shorter sequences.
_FEW: Final = 8
# So many sequences are kept of a log, however long it is.
_MOST: Final = 1 << 17
# Neighbours of which the median is taken: half of them may be mistaken.
_WINDOW: Final = 63


class Clock(NamedTuple):
    """What the clock of strace shows, by that of ftrace."""

    offset_ns: int
    """Strace's time less ftrace's, in the middle of what both show."""
    drift_ppm: float
    """By how much strace's clock is faster, in millionths; 0 where the logs are too short."""
    table: pl.DataFrame
    """`enter`, strace's time, in order; `offset`, the difference there."""
    slope: float
    """The drift as a number."""


def anchors(strace: Iterable[pl.DataFrame], ftrace: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Find calls that must be the same: what a task called before is in one place of each log.

    Parameters
    ----------
    strace, ftrace
        The calls of both logs, in parts that may be asked for several times.

    Returns
    -------
    polars.DataFrame
        One row per pair, of very many a part: `who` and `ftid`, strace's task and ftrace's thread;
        `row` and `frow`, the rows of both; `enter`, strace's time; `offset`, strace's time less
        ftrace's; `slack`, how far it may be wrong: the time that strace's call is longer.
    """
    found = pl.DataFrame()
    for length in _LENGTHS:
        (one, by), (other, other_by) = _sequences(strace, length), _sequences(ftrace, length)
        chosen = pl.col("sequence") % max(by, other_by) == 0
        pairs = one.filter(chosen).join(other, on="sequence", suffix="_f")
        both = (pl.col("exit") - pl.col("exit_f")).alias("high")
        found = pairs.select(
            "who",
            pl.col("tid_f").alias("ftid"),
            "row",
            pl.col("row_f").alias("frow"),
            "enter",
            (pl.col("enter") - pl.col("enter_f")).alias("low"),
            both,
        )
        if found.height >= _FEW:
            break
    # The kernel is in the call while the tracer's call lasts, so the middles are together.
    if found["high"].null_count() < found.height:
        found = found.drop_nulls("high")
    low, high = pl.col("low"), pl.coalesce("high", "low")
    return found.select(
        "who",
        "ftid",
        "row",
        "frow",
        "enter",
        (low + (high - low) // 2).alias("offset"),
        ((high - low) // 2).alias("slack"),
    ).sort("enter", "row")


def _sequences(parts: Iterable[pl.DataFrame], length: int) -> tuple[pl.DataFrame, int]:
    """Give the calls whose sequence of names and results is in one place only.

    Of very many, those whose number can be divided by the second result: so they are the same
    sequences in both logs.
    """
    kept = last = pl.DataFrame()
    by = 1
    token = pl.struct("name", "ret", "errno").hash().alias("token")
    tokens = [pl.col("token").shift(n).over("who").alias(str(n)) for n in range(length)]
    for part in parts:
        calls = part.select(token, "who", "tid", "row", "enter", "exit", old=False)
        of_task = pl.concat([last, calls], how="diagonal").sort("who", "enter", "row")
        new = (
            of_task.with_columns(pl.struct(tokens).alias("all"))
            # The first calls of a task have no such past.
            .filter(~pl.col("old"), pl.col("all").struct.field(str(length - 1)).is_not_null())
            .select(
                pl.col("all").hash().alias("sequence"),
                "who",
                "tid",
                "row",
                "enter",
                "exit",
                pl.lit(1, pl.Int64).alias("n"),
            )
            .filter(pl.col("sequence") % by == 0)
        )
        last = of_task.group_by("who").tail(length - 1).with_columns(old=True)
        kept = (
            pl.concat([kept, new], how="diagonal")
            .group_by("sequence")
            .agg(pl.col("who", "tid", "row", "enter", "exit").first(), pl.col("n").sum())
        )
        while kept.height > _MOST:
            by *= 2
            kept = kept.filter(pl.col("sequence") % by == 0)
    return kept.filter(pl.col("n") == 1).drop("n"), by


def clock_of(found: pl.DataFrame) -> Clock:
    """Read the clock off anchors, of which there must be at least one.

    Examples
    --------
    >>> pairs = pl.DataFrame({"enter": [0, 10**9, 2 * 10**9], "offset": [5_000, 6_000, 7_000]})
    >>> pairs = pairs.with_columns(slack=100)
    >>> clock = clock_of(pairs)
    >>> clock.offset_ns, round(clock.drift_ppm, 6)
    (6000, 1.0)
    """
    # Times since the epoch have more digits than a floating-point number.
    first, some = int(found["enter"][0]), int(found["offset"][0])
    passed = (found["enter"] - first).cast(pl.Float64)
    apart = (found["offset"] - some).cast(pl.Float64)
    line = theil_sen(passed.to_list(), apart.to_list())
    slope = 0.0 if line is None else line.slope
    # Besides the drift each place by its neighbours, as clocks are also set and slewed.
    left = apart - passed * slope
    near = left.rolling_median(_WINDOW, min_samples=1, center=True)
    offset = ((near + passed * slope).cast(pl.Int64) + some).alias("offset")
    table = pl.DataFrame([found["enter"], offset])
    base = some + int((offset - some).median())  # type: ignore[arg-type]
    # Less than what the tracer takes in a call is not seen.
    seen = abs(slope) * float(passed.max() or 0) >= float(found["slack"].median() or 0)  # type: ignore[arg-type]
    return Clock(base, slope * 1e6 if seen else 0.0, table, slope)
