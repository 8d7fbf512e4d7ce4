"""How files were used, in a line or two each: what `tracefast files` shows as text."""

from collections.abc import Iterable, Iterator
from typing import Final

import polars as pl

from tracefast.cli.text import units

# At most this share of accesses may be random for a file to be sequential; with more than that one
# it is random. Accesses that skip a little are not random.
_SEQUENTIAL: Final = 0.2
_RANDOM: Final = 0.5

# Types of files in which nothing has a place, and how these are called in the plural.
_STREAMS: Final = {"pipe": "pipes", "fifo": "fifos", "socket": "sockets", "char": "devices"}

# Columns of a row that stand before what it says, and those by which it may be sorted as they are.
_PARTS: Final = ("source", "pid", "ofd", "task", "ts_open")
_SHOWN: Final = {
    *_PARTS,
    *("path", "reads", "read_bytes", "read_ns", "read_errors", "read_reread_factor"),
    *("read_coverage_share", "writes", "write_bytes", "write_ns", "write_errors"),
}
_WORDS: Final = {"sequential": "seq", "random": "rand"}


# Something was done with the file.
_DONE: Final = pl.sum_horizontal(pl.col("opens", "stats", "mmaps", "reads", "writes")) > 0


def verdict(table: pl.DataFrame, sort: str | None = None, *, short: bool = False) -> pl.DataFrame:
    """Say what was done with each file: one row for its reads, one for its writes.

    Files of which nothing was read or written have one row, for what was done with them instead:
    they were mapped, opened, looked at, or something other, such as executed.

    Parameters
    ----------
    table
        What :func:`tracefast.files` gives.
    sort
        The column that the table is sorted by, to be shown, too.
    short
        Use short words.

    Returns
    -------
    polars.DataFrame
        `op`, `op_bytes`, `calls` (those that succeeded), `errors`, `how`, `reread_factor`,
        `covered_share`, `op_ns`, `path`, and what tells the rows apart.

    Examples
    --------
    >>> import tracefast as tf
    >>> table = tf.files(tf.scan("demo.strace")).collect()
    >>> verdict(table).select("op", "op_bytes", "calls", "how", "covered_share").rows()
    [('read', 4096, 2, 'once', 1.0), ('other', None, None, None, None)]
    """
    table = table.with_row_index("row")
    used = {way: pl.col(f"{way}s") + pl.col(f"{way}_errors") > 0 for way in ("read", "write")}
    rows = [table.filter(used[way]).with_columns(*_used(way)) for way in ("read", "write")]
    rows.append(table.filter(~(used["read"] | used["write"])).with_columns(*_idle()))
    together = pl.concat(rows).sort("row", maintain_order=True)
    if short:
        together = together.with_columns(
            pl.col("how").str.replace_many(list(_WORDS), list(_WORDS.values()))
        )
    extra = [sort] if sort is not None and sort not in _SHOWN else []
    return together.select(
        *(name for name in _PARTS if name in table.columns),
        *("op", "op_bytes", "calls", "errors", "how", "reread_factor", "covered_share", "op_ns"),
        *extra,
        "path",
    )


def _used(way: str) -> Iterator[pl.Expr]:
    yield pl.lit(way).alias("op")
    yield pl.col(f"{way}_bytes").alias("op_bytes")
    yield pl.col(f"{way}s").alias("calls")
    yield pl.col(f"{way}_errors").alias("errors")
    other = pl.col("writes" if way == "read" else "reads") > 0
    first = True if way == "read" else ~other
    mapped = pl.when((pl.col("mmaps") > 0) & first).then(pl.lit(" +map")).otherwise(pl.lit(""))
    yield (how(way).fill_null("-") + mapped).replace("-", None).alias("how")
    yield pl.col(f"{way}_reread_factor").alias("reread_factor")
    yield pl.col(f"{way}_coverage_share").alias("covered_share")
    yield pl.col(f"{way}_ns").alias("op_ns")


def _idle() -> Iterator[pl.Expr]:
    opens, failed = pl.col("opens"), pl.col("opens_failed")
    mapped, opened, looked = pl.col("mmaps") > 0, opens + failed > 0, pl.col("stats") > 0

    def which(of_map: pl.Expr, of_open: pl.Expr, of_stat: pl.Expr) -> pl.Expr:
        return pl.when(mapped).then(of_map).when(opened).then(of_open).when(looked).then(of_stat)

    yield which(pl.lit("map"), pl.lit("open"), pl.lit("stat")).fill_null("other").alias("op")
    yield pl.when(mapped).then("mmap_bytes").alias("op_bytes")
    yield which(pl.col("mmaps"), opens, pl.col("stats")).alias("calls")
    yield pl.when(opened & ~mapped).then(failed).otherwise(0).cast(pl.UInt32).alias("errors")
    yield pl.lit(None, pl.String).alias("how")
    yield pl.lit(None, pl.Float64).alias("reread_factor")
    yield pl.lit(None, pl.Float64).alias("covered_share")
    yield pl.lit(None, pl.Int64).alias("op_ns")


def how(way: str) -> pl.Expr:
    """Say in a word, and a share, in which order a file was read or written.

    ``sequential``, ``random``, or ``mixed`` by the share of accesses that neither go on where the
    one before ended nor skip but a little; ``once`` where no access had one before it; the type
    where nothing has a place, as in pipes; ``unknown`` where the log does not tell most places;
    ``end`` where there was nothing to read. Null where every call failed.

    Examples
    --------
    >>> row = {"type": "regular", "reads": 10, "read_random_share": 8 / 9, "read_first": 1}
    >>> row |= {"read_consecutive": 1, "read_forward": 1, "read_backward": 7}
    >>> row |= {"read_unknown": 0, "read_eof": 0}
    >>> pl.DataFrame([row]).select(how("read")).item()
    'random 88 %'
    """
    first, unknown = pl.col(f"{way}_first"), pl.col(f"{way}_unknown")
    moves = pl.sum_horizontal(
        pl.col(f"{way}_{name}") for name in ("consecutive", "forward", "backward")
    )
    random = pl.col(f"{way}_random_share")

    def word(text: str, part: pl.Expr, rest: str = "") -> pl.Expr:
        # Cut, not rounded, as only all of them are 100 %; but not what a float is short of.
        return pl.format(f"{text} {{}} %{rest}", (part * 100 + 1e-9).floor().cast(pl.Int64))

    return (
        pl.when(pl.col("type").is_in(list(_STREAMS)))
        .then(pl.col("type"))
        .when(unknown > first + moves)
        .then(pl.lit("unknown"))
        .when(random.is_null() & (first > 0))
        .then(pl.lit("once"))
        .when(random.is_null() & (pl.col(f"{way}s") > 0))
        .then(pl.lit("end" if way == "read" else None, pl.String))
        .when(random <= _SEQUENTIAL)
        .then(word("sequential", 1 - random))
        .when(random > _RANDOM)
        .then(word("random", random))
        .when(random.is_not_null())
        .then(word("mixed", random, " random"))
        .alias("how")
    )


def foot(table: pl.DataFrame, rings: Iterable[tuple[int, int]] = ()) -> list[str]:
    """Sum a table of files up, and name what the log cannot tell of it.

    Parameters
    ----------
    table
        All rows that were asked for, also those that are not shown.
    rings
        Calls of io_uring_enter, and the submissions that they took.

    Returns
    -------
    list of str
        Lines for below the table; the first one is the total.

    Examples
    --------
    >>> import tracefast as tf
    >>> foot(tf.files(tf.scan("demo.strace")).collect(), [(2, 7)])
    ['total: 1 file, 4.0 KiB in 2 reads (60.0 µs)',
     'note: io_uring: 7 submissions; what they read and wrote is not in a log']
    """
    stream = pl.col("type").is_in(list(_STREAMS)).fill_null(value=False)
    plain, streams = table.filter(~stream), table.filter(stream)
    failed = pl.col("opens_failed") > 0
    found, missing = _files(plain.filter(_DONE)), _files(plain.filter(~_DONE, failed))
    looked = f" ({units.count(missing)} more could not be opened)" if missing else ""
    lines = [f"total: {_number(found, 'file')}{looked}{_moved(plain)}"]
    if not streams.is_empty():
        kinds = streams.group_by("type", maintain_order=True).agg(pl.struct("source", "file"))
        named = [
            _number(len(set(map(repr, files))), kind, _STREAMS[kind])
            for kind, files in sorted(kinds.rows())
        ]
        lines.append(f"       {', '.join(named)}{_moved(streams)}")
    return lines + [f"note: {note}" for note in _notes(plain, rings)]


def _notes(table: pl.DataFrame, rings: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Name what a log cannot tell."""
    for way in ("read", "write"):
        lost = table.filter(pl.col("offset_known").is_not_null(), pl.col(f"{way}_unknown") > 0)
        if not lost.is_empty():
            yield (
                f"{_number(_sum(lost[f'{way}_unknown']), way)} of {_number(_files(lost), 'file')},"
                " whose offset the log cannot tell: in no class, and in no sum of ranges"
            )
    relative = table.filter(pl.col("offset_known") == "relative")
    if not relative.is_empty():
        yield (
            f"{_number(_files(relative), 'file')} whose offsets count from the first access: open"
            " before the log began, and nothing proved where they stood"
        )
    nameless = table.filter(pl.col("path").is_null(), _DONE)
    if not nameless.is_empty():
        yield (
            f"{_number(_files(nameless), 'file')} without a name in the log: --by open tells them"
            " apart, docs/files.md says how names get into a log"
        )
    mapped = table.filter(pl.col("mmaps") > 0)
    if not mapped.is_empty():
        size = units.size(_sum(mapped["mmap_bytes"]))
        yield (
            f"mmap: {_number(_files(mapped), 'file')} mapped, {size}; reads through mappings are"
            " not in a log"
        )
    calls, submitted = (sum(counts) for counts in zip((0, 0), *rings, strict=True))
    if calls:
        yield (
            f"io_uring: {_number(submitted, 'submission')}; what they read and wrote is not in a"
            " log"
        )


def _moved(table: pl.DataFrame) -> str:
    """Sum up what was read and written."""
    text = ""
    for way in ("read", "write"):
        calls = _sum(table[f"{way}s"])
        if calls:
            text += f", {units.size(_sum(table[f'{way}_bytes']))} in {_number(calls, way)}"
            if table.filter(pl.col(f"{way}s") > 0)[f"{way}_ns"].count():
                text += f" ({units.duration(_sum(table[f'{way}_ns']))})"
    return text


def _files(table: pl.DataFrame) -> int:
    """Count files; a row without an identity is one."""
    known = table.drop_nulls("file")
    return int(known.select("source", "file").n_unique()) + table["file"].null_count()


def _sum(values: pl.Series) -> int:
    return int(values.sum())


def _number(count: int, one: str, many: str | None = None) -> str:
    return f"{units.count(count)} {one if count == 1 else many or f'{one}s'}"
