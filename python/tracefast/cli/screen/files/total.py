"""What the files of a table sum up to, and what the log does not show of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tracefast.cli.screen.files.usage_lines import device_columns, is_stream
from tracefast.cli.text.rows import Table, rows_of
from tracefast.cli.text.units import count, duration, size
from tracefast.quantities import plural

# Types of files that have no offsets, in words: one, several.
_NOUNS: Final = {
    "pipe": ("pipe", "pipes"),
    "fifo": ("fifo", "fifos"),
    "socket": ("socket", "sockets"),
    "char": ("device", "devices"),
    # Of eventfd(2), epoll(7), signalfd(2): /proc/PID/fd has anon_inode:[…].
    "anon": ("anonymous inode", "anonymous inodes"),
}
_OPS: Final = ("read", "write")
# Of each: its name, and the columns of its calls, bytes, times, and calls at unknown offsets.
_COLUMNS: Final = tuple((op, f"{op}s", f"{op}_bytes", f"{op}_ns", f"{op}_unknown") for op in _OPS)
# Not columns: how many files have times.
_TIMED: Final = {op: f"{op}_timed" for op in _OPS}
_OF_FILE: Final = (
    *("source", "file", "path", "type", "offset_known", "opens", "opens_failed", "stats"),
    *("stats_failed", "mmaps", "mmap_bytes", "reads", "read_bytes", "read_ns", "read_unknown"),
    *("writes", "write_bytes", "write_ns", "write_unknown"),
)


class _Files:
    """Different files: a row without an identity counts as one."""

    def __init__(self) -> None:
        self._known: defaultdict[str, set[int]] = defaultdict(set)
        self._unknown = 0

    def add(self, source: str, file: int | None) -> None:
        """Count the file of a row."""
        if file is None:
            self._unknown += 1
        else:
            self._known[source].add(file)

    def __len__(self) -> int:
        """Give how many there are."""
        return sum(map(len, self._known.values())) + self._unknown


class _Total:
    """Sums over rows of the table of files."""

    def __init__(self) -> None:
        # Files without those of streams, by what is said of them; streams, by their type.
        self.files: defaultdict[str, _Files] = defaultdict(_Files)
        self.streams: defaultdict[str, set[tuple[Any, ...]]] = defaultdict(set)
        # The numbers of files, and those of streams.
        self.of_files: Counter[str] = Counter()
        self.of_streams: Counter[str] = Counter()

    def add(self, row: dict[str, Any]) -> None:
        """Add a row."""
        source, file = row["source"], row["file"]
        streaming = is_stream(row["type"])
        if streaming:
            self.streams[row["type"]].add((source, file))
        sums = self.of_streams if streaming else self.of_files
        for op, calls, moved, ns, unknown in _COLUMNS:
            if row[calls]:
                sums[calls] += row[calls]
                sums[moved] += row[moved] or 0
                sums[_TIMED[op]] += row[ns] is not None
            if row[ns]:
                sums[ns] += row[ns]
            if row[unknown] and row["offset_known"] is not None:
                sums[unknown] += row[unknown]
        if streaming:
            return
        for what in _said_of(row):
            self.files[what].add(source, file)
        if row["mmaps"]:
            sums["mmap_bytes"] += row["mmap_bytes"] or 0


def _said_of(row: dict[str, Any]) -> Iterator[str]:
    """Say what of a file is counted."""
    done = row["opens"] + row["mmaps"] + row["reads"] + row["writes"] + row["stats"]
    if done > row["stats_failed"]:
        yield "used"
        if row["path"] is None:
            yield "nameless"
    elif row["opens_failed"]:
        yield "opened"
    elif row["stats_failed"]:
        yield "looked at"
    else:
        yield "named"
    if row["mmaps"]:
        yield "mapped"
    offset = row["offset_known"]
    if offset is None:
        return
    for op, _, _, _, unknown in _COLUMNS:
        if row[unknown]:
            yield op
    if offset in ("relative", "assumed-relative"):
        yield "relative"


def note_on_assumed(table: Table) -> list[str]:
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
    assumed = _Files()
    for source, file, offset in rows_of(table).records("source", "file", "offset_known"):
        if offset in ("assumed", "assumed-relative"):
            assumed.add(source, file)
    if not len(assumed):
        return []
    note = (
        f"note: {plural(len(assumed), 'file')} whose offsets are assumed: not all calls that"
        " move positions were traced; record with -f and -o, and without -e or with the filter of"
        " docs/files.md, or insist with --assume-complete"
    )
    return [note]


def total_and_notes(table: Table, rings: Iterable[tuple[int, int]] = ()) -> list[str]:
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
    >>> total, note = total_and_notes(tf.files(tf.scan("demo.strace")).collect(), [(2, 7)])
    >>> total
    'total: 1 file (1 more only in calls such as execve, connect, unlink), 4.0 KiB in 2 reads ...'
    >>> note
    'note: io_uring: 7 submissions; the log does not show what they read or wrote'
    """
    rows = rows_of(table)
    found = _Total()
    for values in rows.records(*_OF_FILE):
        found.add(dict(zip(_OF_FILE, values, strict=True)))
    missing = [
        f"{count(len(found.files[what]))} more could not be {what}"
        for what in ("opened", "looked at")
        if len(found.files[what])
    ]
    if others := len(found.files["named"]):
        missing.append(f"{count(others)} more only in calls such as execve, connect, unlink")
    more = f" ({', '.join(missing)})" if missing else ""
    lines = [f"total: {plural(len(found.files['used']), 'file')}{more}{_moved(found.of_files)}"]
    if found.streams:
        named = [plural(len(found.streams[kind]), *_NOUNS[kind]) for kind in sorted(found.streams)]
        lines.append(f"       {', '.join(named)}{_moved(found.of_streams)}")
    if device_columns(rows):
        cold, cached, moved = (
            sum(value for value in rows.values(name) if value is not None)
            for name in ("cold_reads", "cached_reads", "disk_read_bytes")
        )
        lines.append(
            f"       {plural(cold, 'read')} served by a device ({size(moved)}), {cached:,} by the"
            " page cache alone"
        )
    return lines + [f"note: {note}" for note in _notes(found, rings)]


def _notes(found: _Total, rings: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Note what the log does not show."""
    files, sums = found.files, found.of_files
    for op, _, _, _, unknown in _COLUMNS:
        if len(files[op]):
            yield (
                f"{plural(sums[unknown], op)} of {plural(len(files[op]), 'file')},"
                " whose offset the log does not show: in no access class, and not in covered"
            )
    if len(files["relative"]):
        yield (
            f"{plural(len(files['relative']), 'file')} whose offsets count from the first access:"
            " open before the log started, at an unknown position"
        )
    if len(files["nameless"]):
        yield (
            f"{plural(len(files['nameless']), 'file')} without a name in the log: --by open"
            " separates them, docs/files.md says how to record names"
        )
    if len(files["mapped"]):
        yield (
            f"mmap: {plural(len(files['mapped']), 'file')} mapped, {size(sums['mmap_bytes'])}; the"
            " log does not show reads through mappings"
        )
    calls, submitted = (sum(counts) for counts in zip((0, 0), *rings, strict=True))
    if calls:
        yield (
            f"io_uring: {plural(submitted, 'submission')}; the log does not show what they read or"
            " wrote"
        )


def _moved(sums: Counter[str]) -> str:
    """Sum up what was read and written."""
    text = ""
    for op, calls, moved, ns, _ in _COLUMNS:
        if sums[calls]:
            text += f", {size(sums[moved])} in {plural(sums[calls], op)}"
            if sums[_TIMED[op]]:
                text += f" ({duration(sums[ns])})"
    return text
