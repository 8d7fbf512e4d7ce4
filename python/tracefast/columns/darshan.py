"""The counters of Darshan's module POSIX, which `files` gives with ``darshan=True``."""

from typing import Final

from tracefast.columns.column_group import columns

_SIZES: Final = (
    *("0_100", "100_1K", "1K_10K", "10K_100K", "100K_1M"),
    *("1M_4M", "4M_10M", "10M_100M", "100M_1G", "1G_PLUS"),
)


def _sized(pattern: str) -> str:
    return " ".join(pattern.format(size) for size in _SIZES)


def _ranked(pattern: str) -> str:
    return " ".join(pattern.format(rank) for rank in range(1, 5))


COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("path", "String", "The path."),
    columns(
        "POSIX_OPENS POSIX_DUPS POSIX_READS POSIX_WRITES POSIX_SEEKS POSIX_STATS POSIX_MMAPS"
        " POSIX_FSYNCS POSIX_FDSYNCS",
        "Int64",
        "Number of calls.",
    ),
    columns(
        "POSIX_RENAME_SOURCES POSIX_RENAME_TARGETS",
        "Int64",
        "How often the file was renamed, and how often another one was renamed to its path.",
    ),
    columns("POSIX_BYTES_READ POSIX_BYTES_WRITTEN", "Int64", "Bytes moved.", unit="bytes"),
    columns(
        "POSIX_MAX_BYTE_READ POSIX_MAX_BYTE_WRITTEN",
        "Int64",
        "Position of the last byte read or written.",
        unit="bytes",
    ),
    columns(
        "POSIX_CONSEC_READS POSIX_CONSEC_WRITES",
        "Int64",
        "Accesses that start right after the last byte of the previous one.",
    ),
    columns(
        "POSIX_SEQ_READS POSIX_SEQ_WRITES",
        "Int64",
        "Accesses that start anywhere after the last byte of the previous one.",
    ),
    columns(
        "POSIX_RW_SWITCHES",
        "Int64",
        "How often a read followed a write, or a write followed a read.",
    ),
    columns(
        "POSIX_MAX_READ_TIME_SIZE POSIX_MAX_WRITE_TIME_SIZE",
        "Int64",
        "Bytes moved by the slowest read and write.",
        unit="bytes",
    ),
    columns(
        f"{_sized('POSIX_SIZE_READ_{}')} {_sized('POSIX_SIZE_WRITE_{}')}",
        "Int64",
        "Accesses that moved this many bytes.",
    ),
    columns(
        _ranked("POSIX_STRIDE{}_STRIDE"),
        "Int64",
        "The four most common distances that an access skipped.",
        unit="bytes",
    ),
    columns(_ranked("POSIX_STRIDE{}_COUNT"), "Int64", "How often each of these occurs."),
    columns(
        _ranked("POSIX_ACCESS{}_ACCESS"),
        "Int64",
        "The four most common sizes of accesses.",
        unit="bytes",
    ),
    columns(_ranked("POSIX_ACCESS{}_COUNT"), "Int64", "How often each of these occurs."),
    columns(
        " ".join(
            f"POSIX_F_{call}_{edge}_TIMESTAMP"
            for edge in ("START", "END")
            for call in ("OPEN", "READ", "WRITE", "CLOSE")
        ),
        "Float64",
        "When the first call of each kind started and the last one ended, counted from the"
        " first event of the log; 0 if there was no such call, null if the log has no times.",
        unit="s",
    ),
    columns(
        "POSIX_F_READ_TIME POSIX_F_WRITE_TIME POSIX_F_META_TIME",
        "Float64",
        "Time in reads, in writes, and in the other calls; where calls overlap, counted once.",
        unit="s",
    ),
    columns(
        "POSIX_F_MAX_READ_TIME POSIX_F_MAX_WRITE_TIME",
        "Float64",
        "Duration of the slowest read and write.",
        unit="s",
    ),
)
