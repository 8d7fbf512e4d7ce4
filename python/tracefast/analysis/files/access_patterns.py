"""Patterns in the accesses to one file, each with its evidence and an explanation."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from tracefast import _core
from tracefast.analysis.files.accesses import READ, WRITE

# A jump forward by at most this is near: the read-ahead of most kernels covers it.
NEAR: Final = 128 << 10
# Fewer accesses than this are not a pattern.
FEW: Final = 8
# Reads of at most this size look for something in a header.
SMALL: Final = 16 << 10

# What Pillow reads through CPython's buffered reader, and the blocks that this rounds to.
_CHUNK: Final = 65536
_BLOCKS: Final = (4096, 8192)

_DATA: Final = [*_core.syscalls_that("reads"), *_core.syscalls_that("writes")]
_MAPS: Final = _core.syscalls_that("maps")

_SIGNATURE: Final = {
    "stat": pl.col("name").is_in(_core.syscalls_that("stats")),
    "terminal": (pl.col("name") == "ioctl")
    & (pl.col("errno") == "ENOTTY")
    & pl.col("args").str.contains("TCGETS|0x5401"),
    "position": (pl.col("name") == "lseek") & pl.col("args").str.contains("SEEK_CUR|whence: 1"),
}


@dataclass(frozen=True)
class AccessPattern:
    """A pattern in the accesses to a file.

    Attributes
    ----------
    code
        A name that does not change: ``eof-probe``, ``rewind``, ``header-probe``, ``tail-first``,
        ``stride``, ``random``, ``in-order``, ``whole``, ``again``, ``mmap``, ``unknown``.
    count
        Number of its calls.
    bytes
        Bytes that these moved, asked for, or mapped, as the text says.
    ns
        Time in these calls; None if the log has no times.
    text
        What the pattern is, and why it matters.
    """

    code: str
    count: int
    bytes: int
    ns: int | None
    text: str


def access_patterns(events: pl.DataFrame, rows: pl.DataFrame) -> list[AccessPattern]:
    """Find the patterns in the accesses to a file.

    Parameters
    ----------
    events
        All events of the file.
    rows
        Its accesses, as :func:`tracefast.accesses` gives them.

    Returns
    -------
    list of AccessPattern
        The patterns that were recognized.

    Examples
    --------
    >>> import tracefast as tf
    >>> events = tf.scan("demo.strace")
    >>> rows = tf.accesses(events, "/srv/demo/data.bin").collect()
    >>> [(found.code, found.count) for found in access_patterns(events.collect(), rows)]
    [('in-order', 1), ('eof-probe', 1)]
    """
    events = events.with_columns(pl.col("name", "args", "errno", "status").cast(pl.String))
    return [
        *_order(rows),
        *_tail_first(rows, _size(events, rows)),
        *_header_probes(rows),
        *_rewinds(rows),
        *_eof_probes(events, rows),
        *_whole(rows, _size(events, rows)),
        *_again(rows),
        *_mmaps(events),
        *_unknown(rows),
    ]


def _order(rows: pl.DataFrame) -> Iterator[AccessPattern]:
    """Find the order in which the file was read and written."""
    for way, verb in ((READ, "read"), (WRITE, "write")):
        mine = rows.filter(pl.col("way") == way)
        moves = mine.filter(pl.col("access").is_in(["consecutive", "forward", "backward"]))
        forward = moves.filter(pl.col("access") == "forward")
        jumps = moves.filter(pl.col("access") != "consecutive")
        strides = forward["gap"].drop_nulls().value_counts(sort=True)
        if forward.height >= FEW and strides["count"][0] * 2 >= forward.height:
            gap, count = strides.row(0)
            yield _pattern(
                "stride",
                forward.filter(pl.col("gap") == gap),
                f"{count:,} of {forward.height:,} forward jumps skip {gap:,} bytes: one part of"
                f" each record is {verb}, and the others are skipped",
            )
            continue
        far = jumps.filter(
            (pl.col("access") != "forward") | (pl.col("gap") > NEAR).fill_null(value=True)
        )
        if moves.height >= FEW and far.height * 2 > moves.height:
            yield _pattern(
                "random",
                far,
                f"{far.height:,} of {moves.height:,} {verb}s do not start where the previous one"
                f" ended, or within {NEAR:,} bytes after it",
            )
        elif jumps.is_empty() and not mine.filter(pl.col("access") == "first").is_empty():
            moved = mine.filter(pl.col("bytes") > 0)
            how = "in one call" if moved.height == 1 else "each call where the previous one ended"
            yield _pattern("in-order", moved, f"{verb} from the start, {how}")


def _tail_first(rows: pl.DataFrame, size: int | None) -> Iterator[AccessPattern]:
    """Find open files whose end is among the first reads, before their middle is read."""
    if size is None:
        return
    middle = size // 2
    end = pl.col("offset") + pl.col("bytes")
    tails: list[pl.DataFrame] = []
    reads = _moved(rows, READ).drop_nulls("offset")
    for _, opened in reads.group_by("source", "ofd", maintain_order=True):
        # A later read of the end is only one of many.
        early = opened.head(FEW)
        tail = early.filter(end == size, pl.col("offset") > middle).head(1)
        between = early.filter(pl.col("offset") <= middle, end > middle)
        if not tail.is_empty() and between.filter(pl.col("n") < tail["n"][0]).is_empty():
            tails.append(tail)
    if tails:
        found = pl.concat(tails)
        yield _pattern(
            "tail-first",
            found,
            f"the end of the file, from {found['offset'][0]:,} on, was read before its middle:"
            " archives such as zip (.pth, .npz, .jar) keep their directory there",
        )


def _header_probes(rows: pl.DataFrame) -> Iterator[AccessPattern]:
    """Find small reads from the start, after which the program goes back to the start."""
    probes: list[pl.DataFrame] = []
    for _, reads in _moved(rows, READ).group_by("source", "ofd", maintain_order=True):
        if reads["offset"][0] != 0 or reads["ofd"][0] is None:
            continue
        again = reads.filter(pl.col("n") > reads["n"][0], pl.col("offset") == 0).head(1)
        if again.is_empty():
            continue
        before = reads.filter(pl.col("n") < again["n"][0])
        orderly = (before["access"][1:] == "consecutive").all()
        if before.height > 1 and orderly and (before["bytes"] <= SMALL).all():
            probes.append(before)
    if probes:
        yield _pattern(
            "header-probe",
            pl.concat(probes),
            "small reads from the start, until enough of the header was seen; then the program goes"
            " back to the start, and reads the same bytes again",
        )


def _rewinds(rows: pl.DataFrame) -> Iterator[AccessPattern]:
    again = rows.filter(
        pl.col("way") == READ, pl.col("access") == "backward", pl.col("offset") == 0
    )
    if not again.is_empty():
        yield _pattern(
            "rewind", again, "back to the start of the file, whose header is read once more"
        )


def _eof_probes(events: pl.DataFrame, rows: pl.DataFrame) -> Iterator[AccessPattern]:
    """Find reads that returned 0 at the end of the file, and whether CPython made them."""
    probes: list[pl.DataFrame] = []
    predicted: list[pl.DataFrame] = []
    for (source, ofd), reads in _runs(rows).group_by("source", "ofd", maintain_order=True):
        # From a pipe or a socket, 0 means that the other side has closed it.
        ends = reads.filter(pl.col("access") == "eof", pl.col("offset_known").is_not_null())
        if ends.is_empty():
            continue
        probes.append(ends)
        same = events.filter(
            pl.col("source").cast(pl.String).eq_missing(pl.lit(source, pl.String)),
            pl.col("ofd") == ofd,
        )
        if not _is_buffered(same):
            continue
        left = _CHUNK - pl.col("run") % _CHUNK
        asked = pl.any_horizontal(
            left // block * block == pl.col("requested") for block in _blocks(same)
        )
        predicted.append(ends.filter(pl.col("run") > 0, asked))
    if not probes:
        return
    found = pl.concat(probes)
    named = pl.concat(predicted) if predicted else found.clear()
    text = "reads that returned 0 at the end of the file: a short read does not show that it is the"
    text += " end, so the program asks once more"
    if not named.is_empty():
        who = "They are" if named.height == found.height else f"{named.height:,} of them are"
        text += (
            f". {who} by CPython's buffered reader: it got fewer than the {_CHUNK:,} bytes"
            " that the program wanted, and asks for the rest, rounded down to whole blocks, until"
            " nothing comes. No data moves, but each call takes time. To avoid them, read the file"
            " in one go, or only up to its size"
        )
    yield AccessPattern(
        "eof-probe", found.height, _sum(found, "requested") or 0, _sum(found, "dur_ns"), text
    )


def _whole(rows: pl.DataFrame, size: int | None) -> Iterator[AccessPattern]:
    """Find out whether several processes each read the whole file."""
    if not size:
        return
    reads = _moved(rows, READ).drop_nulls("offset")
    processes = reads.group_by("source", "pid", maintain_order=True)
    whole = [process for _, process in processes if _union(process) >= size]
    if len(whole) > 1:
        all_of_them = pl.concat(whole)
        yield _pattern(
            "whole",
            all_of_them,
            f"{len(whole):,} processes each read all of its {size:,} bytes",
        )


def _again(rows: pl.DataFrame) -> Iterator[AccessPattern]:
    """Find processes that read the same bytes at least twice."""
    repeated: list[pl.DataFrame] = []
    unique = 0
    reads = _moved(rows, READ).drop_nulls("offset")
    for _, process in reads.group_by("source", "pid", maintain_order=True):
        union = _union(process)
        if (_sum(process, "bytes") or 0) >= 2 * union > 0:
            repeated.append(process)
            unique += union
    if repeated:
        found = pl.concat(repeated)
        times = (_sum(found, "bytes") or 0) / unique
        opens = found.select(pl.struct("source", "ofd").n_unique()).item()
        yield _pattern(
            "again",
            found,
            f"{unique:,} different bytes, each read {times:.1f} times on average by the same"
            f" process, through {opens:,} open file{'s' if opens > 1 else ''}",
        )


def _mmaps(events: pl.DataFrame) -> Iterator[AccessPattern]:
    maps = events.filter(
        pl.col("name").is_in(_MAPS),
        pl.col("errno").is_null(),
        pl.col("status").ne_missing("injected"),
    )
    if not maps.is_empty():
        yield AccessPattern(
            "mmap",
            maps.height,
            _sum(maps, "requested") or 0,
            _sum(maps, "dur_ns"),
            "bytes mapped: system calls do not show which of them were used. Trace the events of"
            " filemap, and use tracefast files --page-cache",
        )


def _unknown(rows: pl.DataFrame) -> Iterator[AccessPattern]:
    unknown = rows.filter(pl.col("offset_known").is_in(["ambiguous", "unknown"]))
    if not unknown.is_empty():
        yield _pattern(
            "unknown",
            unknown,
            "accesses whose position is not in the log: several tasks shared the open file at"
            " that moment, or calls that moved it were not traced",
        )


def _runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Add to each read the number of bytes read before it without a jump."""
    stream = ("source", "ofd")
    jump = pl.col("access").is_in(["first", "forward", "backward"]).fill_null(value=True)
    return (
        rows.filter(pl.col("way") == READ)
        .with_columns(jump.cum_sum().over(stream).alias("chain"))
        .with_columns(
            (pl.col("bytes").fill_null(0).cum_sum() - pl.col("bytes").fill_null(0))
            .over(*stream, "chain")
            .alias("run")
        )
    )


def _is_buffered(events: pl.DataFrame) -> bool:
    """Say whether a file was opened by CPython's `open`."""
    data = pl.col("name").is_in(_DATA)
    before = events.filter(data.cum_max().not_())
    return all(not before.filter(sign).is_empty() for sign in _SIGNATURE.values())


def _blocks(events: pl.DataFrame) -> tuple[int, ...]:
    """Give the size of the reader's buffer: what the file system recommends, if the log has it."""
    printed = events.filter(_SIGNATURE["stat"])["args"].str.extract(r"st_blksize=(\d+)", 1)
    sizes = printed.drop_nulls().cast(pl.Int64, strict=False).drop_nulls().unique()
    return tuple(size for size in sizes if size > 0) or _BLOCKS


def _size(events: pl.DataFrame, rows: pl.DataFrame) -> int | None:
    """Give the largest size that the log proves."""
    sizes = [events["size"].max()]
    if not rows.filter(pl.col("access") == "eof").is_empty():
        sizes.append(rows.select((pl.col("offset") + pl.col("bytes")).max()).item())
    return max((size for size in sizes if isinstance(size, int)), default=None)


def _union(rows: pl.DataFrame) -> int:
    """Count the distinct bytes that ranges cover."""
    ranges = rows.select("offset", (pl.col("offset") + pl.col("bytes")).alias("end")).sort("offset")
    reached = pl.col("end").cum_max().shift(1)
    start = pl.max_horizontal("offset", reached)
    fresh = ranges.select((pl.col("end") - start).clip(lower_bound=0).sum()).item()
    return int(fresh or 0)


def _moved(rows: pl.DataFrame, way: str) -> pl.DataFrame:
    return rows.filter(pl.col("way") == way, pl.col("bytes") > 0)


def _pattern(code: str, rows: pl.DataFrame, text: str) -> AccessPattern:
    return AccessPattern(code, rows.height, _sum(rows, "bytes") or 0, _sum(rows, "dur_ns"), text)


def _sum(rows: pl.DataFrame, column: str) -> int | None:
    """Sum up a column; None where it has no value."""
    if rows[column].null_count() == rows.height:
        return None
    return int(rows[column].sum())
