"""How files were used: a line for the reads and one for the writes of each, and the totals."""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from tracefast.cli.text.units import count, duration, size
from tracefast.quantities import plural

# Up to this share of random accesses a file is sequential, and above the second one it is random.
# Accesses that skip a little are not random.
_SEQUENTIAL: Final = 0.2
_RANDOM: Final = 0.5

# Types of files that have no offsets, and their plurals.
_STREAMS: Final = {"pipe": "pipes", "fifo": "fifos", "socket": "sockets", "char": "devices"}

# Columns that identify a row, and those that need no column of their own when sorted by.
_KEYS: Final = ("source", "phase", "pid", "ofd", "task", "ts_open")
_SHOWN: Final = {
    *_KEYS,
    *("path", "reads", "read_bytes", "read_ns", "read_errors", "read_reread_factor"),
    *("read_coverage_share", "writes", "write_bytes", "write_ns", "write_errors"),
}
# Patterns in which all of a file was read, or written, in order, if all of it was accessed.
_IN_ORDER: Final = ("in sequence", "once")


# Something succeeded.
_LOOKS: Final = pl.col("stats") - pl.col("stats_failed")
_USED: Final = pl.sum_horizontal(pl.col("opens", "mmaps", "reads", "writes"), _LOOKS) > 0


def usage_lines(
    table: pl.DataFrame, sort: str | None = None, *, short: bool = False
) -> pl.DataFrame:
    """Make one row for the reads of each file, and one for its writes.

    Files that were neither read nor written have one row that says what was done instead: map,
    open, stat, or other, such as execute.

    Parameters
    ----------
    table
        What :func:`tracefast.files` gives.
    sort
        The column that the table is sorted by, to be shown as well.
    short
        Leave out of the patterns how many processes used the file.

    Returns
    -------
    polars.DataFrame
        `op`, `op_bytes`, `calls` (those that succeeded), `errors`, `pattern`, `reread_factor`,
        `covered_share`, `op_ns`, `path`, and what identifies the row.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.files(tf.scan("demo.strace")).collect()
    >>> usage_lines(table).select("op", "op_bytes", "calls", "pattern", "covered_share").rows()
    [('read', 4096, 2, 'whole', 1.0), ('other', None, None, None, None)]
    """
    table = table.with_row_index("row")
    used = {op: pl.col(f"{op}s") + pl.col(f"{op}_errors") > 0 for op in ("read", "write")}
    rows = [
        table.filter(used[op]).with_columns(*_transfer_line(op, short=short))
        for op in ("read", "write")
    ]
    unused = table.filter(~(used["read"] | used["write"]))
    rows.append(unused.with_columns(*_other_line()))
    together = pl.concat(rows).sort("row", maintain_order=True)
    # Reads that a device served are known of joined events.
    device = [pl.when(pl.col("op") == "read").then(name).alias(name) for name in _device(table)]
    shown = {*_SHOWN, *_device(table)}
    extra = [sort] if sort is not None and sort not in shown else []
    return together.select(
        *(name for name in _KEYS if name in table.columns),
        *("op", "op_bytes", "calls", "errors", "pattern"),
        *("reread_factor", "covered_share", "op_ns"),
        *device,
        *extra,
        "path",
    )


def _device(table: pl.DataFrame) -> list[str]:
    """Name the columns about reads that a device served, where the table has them."""
    return [name for name in ("cold_reads", "disk_read_bytes") if name in table.columns]


def _transfer_line(op: str, *, short: bool) -> Iterator[pl.Expr]:
    yield pl.lit(op).alias("op")
    yield pl.col(f"{op}_bytes").alias("op_bytes")
    yield pl.col(f"{op}s").alias("calls")
    yield pl.col(f"{op}_errors").alias("errors")
    other = pl.col("writes" if op == "read" else "reads") > 0
    first = True if op == "read" else ~other
    mapped = pl.when((pl.col("mmaps") > 0) & first).then(pl.lit(" +map")).otherwise(pl.lit(""))
    pattern = whole_or_pattern(op).fill_null("-")
    processes = pl.col("processes").fill_null(0)
    many = pl.lit(not short) & (processes > 1) & (pattern != "-") & ~_is_stream()
    by = pl.when(many).then(pl.format(", by {} processes", processes)).otherwise(pl.lit(""))
    yield (pattern + by + mapped).replace("-", None).alias("pattern")
    yield pl.col(f"{op}_reread_factor").alias("reread_factor")
    yield pl.col(f"{op}_coverage_share").alias("covered_share")
    yield pl.col(f"{op}_ns").alias("op_ns")


def _other_line() -> Iterator[pl.Expr]:
    opens, failed = pl.col("opens"), pl.col("opens_failed")
    mapped = pl.col("mmaps") + pl.col("mmaps_failed") > 0
    opened, looked = opens + failed > 0, pl.col("stats") > 0

    def which(of_map: pl.Expr, of_open: pl.Expr, of_stat: pl.Expr) -> pl.Expr:
        return pl.when(mapped).then(of_map).when(opened).then(of_open).when(looked).then(of_stat)

    yield which(pl.lit("map"), pl.lit("open"), pl.lit("stat")).fill_null("other").alias("op")
    yield pl.when(mapped).then("mmap_bytes").alias("op_bytes")
    yield which(pl.col("mmaps"), opens, _LOOKS).alias("calls")
    # Null for other calls, which are in no column.
    yield which(pl.col("mmaps_failed"), failed, pl.col("stats_failed")).alias("errors")
    yield pl.lit(None, pl.String).alias("pattern")
    yield pl.lit(None, pl.Float64).alias("reread_factor")
    yield pl.lit(None, pl.Float64).alias("covered_share")
    yield pl.lit(None, pl.Int64).alias("op_ns")


def whole_or_pattern(op: str) -> pl.Expr:
    """Name the order in which a file was accessed: ``whole`` if all of it was, in order."""
    pattern = access_pattern(op)
    whole = pattern.is_in(_IN_ORDER) & (pl.col(f"{op}_coverage_share") == 1)
    return pl.when(whole).then(pl.lit("whole")).otherwise(pattern)


def access_pattern(op: str) -> pl.Expr:
    """Name the order in which a file was read or written, with a percentage.

    ``in sequence``, ``random``, or ``partly random`` by the share of accesses that neither continue
    where the one before ended nor skip only a little; ``once`` where no access follows another; the
    type of a file without offsets, such as a pipe; ``unknown`` where the log does not show most
    offsets; ``end`` where there was nothing to read. Null where every call failed.

    Examples
    --------
    >>> row = {"type": "regular", "reads": 10, "read_random_share": 8 / 9, "read_first": 1}
    >>> row |= {"read_consecutive": 1, "read_forward": 1, "read_backward": 7}
    >>> row |= {"read_unknown": 0, "read_eof": 0}
    >>> pl.DataFrame([row]).select(access_pattern("read")).item()
    'random 88 %'
    """
    first, unknown = pl.col(f"{op}_first"), pl.col(f"{op}_unknown")
    moves = pl.sum_horizontal(
        pl.col(f"{op}_{name}") for name in ("consecutive", "forward", "backward")
    )
    random = pl.col(f"{op}_random_share")

    def word(text: str, part: pl.Expr) -> pl.Expr:
        # Rounded down, as only all of them are 100 %, but not below what a float falls short of.
        return pl.format(f"{text} {{}} %", (part * 100 + 1e-9).floor().cast(pl.Int64))

    return (
        pl.when(_is_stream())
        .then(pl.col("type"))
        .when(unknown > first + moves)
        .then(pl.lit("unknown"))
        .when(random.is_null() & (first > 0))
        .then(pl.lit("once"))
        .when(random.is_null() & (pl.col(f"{op}s") > 0))
        .then(pl.lit("end" if op == "read" else None, pl.String))
        .when(random == 0)
        .then(pl.lit("in sequence"))
        .when(random <= _SEQUENTIAL)
        .then(word("in sequence", 1 - random))
        .when(random > _RANDOM)
        .then(word("random", random))
        .when(random.is_not_null())
        .then(word("partly random", random))
        .alias("pattern")
    )


def _is_stream() -> pl.Expr:
    return pl.col("type").is_in(list(_STREAMS)).fill_null(value=False)


def note_on_assumed(table: pl.DataFrame) -> list[str]:
    """Note that offsets are not certain, as the log lacks calls: a line for above the table.

    Parameters
    ----------
    table
        All rows that were asked for, including those that are not shown.

    Returns
    -------
    list of str
        The note, if it applies.
    """
    assumed = table.filter(pl.col("offset_known").is_in(["assumed", "assumed-relative"]))
    if assumed.is_empty():
        return []
    note = (
        f"note: {plural(_files(assumed), 'file')} whose offsets are assumed: not all calls that"
        " move positions were traced; record with -f, and without -e or with the filter of"
        " docs/files.md, or insist with --assume-complete"
    )
    return [note]


def total_and_notes(table: pl.DataFrame, rings: Iterable[tuple[int, int]] = ()) -> list[str]:
    """Sum up a table of files, and note what the log does not show.

    Parameters
    ----------
    table
        All rows that were asked for, including those that are not shown.
    rings
        Calls of io_uring_enter, and the submissions that they took.

    Returns
    -------
    list of str
        Lines for below the table; the first one is the total.

    Examples
    --------
    >>> import tracefast as tf
    >>> total_and_notes(tf.files(tf.scan("demo.strace")).collect(), [(2, 7)])
    ['total: 1 file, 4.0 KiB in 2 reads (60.0 µs)',
     'note: io_uring: 7 submissions; the log does not show what they read or wrote']
    """
    plain, streams = table.filter(~_is_stream()), table.filter(_is_stream())
    unopened = pl.col("opens_failed") > 0
    unseen = ~unopened & (pl.col("stats_failed") > 0)
    missing = [
        f"{count(_files(rows))} more could not be {what}"
        for what, which in (("opened", unopened), ("looked at", unseen))
        if not (rows := plain.filter(~_USED, which)).is_empty()
    ]
    more = f" ({', '.join(missing)})" if missing else ""
    lines = [f"total: {plural(_files(plain.filter(_USED)), 'file')}{more}{_moved(plain)}"]
    if not streams.is_empty():
        kinds = streams.group_by("type", maintain_order=True).agg(pl.struct("source", "file"))
        named = [
            plural(len(set(map(repr, files))), kind, _STREAMS[kind])
            for kind, files in sorted(kinds.rows())
        ]
        lines.append(f"       {', '.join(named)}{_moved(streams)}")
    if _device(table):
        cold, cached, moved = table.select(
            pl.col("cold_reads", "cached_reads", "disk_read_bytes").sum()
        ).row(0)
        lines.append(
            f"       {plural(cold, 'read')} served by a device ({size(moved)}), {cached:,} by the"
            " page cache alone"
        )
    return lines + [f"note: {note}" for note in _notes(plain, rings)]


def _notes(table: pl.DataFrame, rings: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Note what the log does not show."""
    for op in ("read", "write"):
        lost = table.filter(pl.col("offset_known").is_not_null(), pl.col(f"{op}_unknown") > 0)
        if not lost.is_empty():
            yield (
                f"{plural(_sum(lost[f'{op}_unknown']), op)} of {plural(_files(lost), 'file')},"
                " whose offset the log does not show: in no access class, and not in covered"
            )
    relative = table.filter(pl.col("offset_known").is_in(["relative", "assumed-relative"]))
    if not relative.is_empty():
        yield (
            f"{plural(_files(relative), 'file')} whose offsets count from the first access:"
            " open before the log started, at an unknown position"
        )
    nameless = table.filter(pl.col("path").is_null(), _USED)
    if not nameless.is_empty():
        yield (
            f"{plural(_files(nameless), 'file')} without a name in the log: --by open separates"
            " them, docs/files.md says how to record names"
        )
    mapped = table.filter(pl.col("mmaps") > 0)
    if not mapped.is_empty():
        mapped_size = size(_sum(mapped["mmap_bytes"]))
        yield (
            f"mmap: {plural(_files(mapped), 'file')} mapped, {mapped_size}; the log does not show"
            " reads through mappings"
        )
    calls, submitted = (sum(counts) for counts in zip((0, 0), *rings, strict=True))
    if calls:
        yield (
            f"io_uring: {plural(submitted, 'submission')}; the log does not show what they read or"
            " wrote"
        )


def _moved(table: pl.DataFrame) -> str:
    """Sum up what was read and written."""
    text = ""
    for op in ("read", "write"):
        calls = _sum(table[f"{op}s"])
        if calls:
            text += f", {size(_sum(table[f'{op}_bytes']))} in {plural(calls, op)}"
            if table.filter(pl.col(f"{op}s") > 0)[f"{op}_ns"].count():
                text += f" ({duration(_sum(table[f'{op}_ns']))})"
    return text


def _files(table: pl.DataFrame) -> int:
    """Count files; a row without an identity counts as one."""
    known = table.drop_nulls("file")
    return int(known.select("source", "file").n_unique()) + table["file"].null_count()


def _sum(values: pl.Series) -> int:
    return int(values.sum())
