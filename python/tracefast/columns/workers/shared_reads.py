"""The columns of `shared_reads`, by file and by folder."""

from typing import Final

from tracefast.columns.column_group import columns

_POOL: Final = (
    columns("source", "String", "The log."),
    columns("pool", "UInt32", "Number of the pool, as in `tracefast.workers`."),
)
_WORKERS: Final = columns("workers", "UInt32", "Workers of the pool, in all rounds.")
_BYTES: Final = (
    columns(
        "read_bytes",
        "Int64",
        "The sum of the distinct bytes that each worker read.",
    ),
    columns(
        "read_shared_bytes",
        "Int64",
        "`read_bytes` minus the distinct bytes that all of them read together: what one that reads"
        " for all would save.",
    ),
)

COLUMNS: Final = (
    *_POOL,
    columns("file", "UInt64", "Identity of the file, as in `tracefast.files`."),
    columns("path", "String", "Its name; null where the log does not show it."),
    _WORKERS,
    columns("readers", "UInt32", "Those of them that read the file."),
    *_BYTES,
)

BY_FOLDER: Final = (
    *_POOL,
    columns("folder", "String", "The folder; null for files without a name."),
    columns("files", "UInt32", "Files in it of which several workers read the same bytes."),
    _WORKERS,
    columns("readers", "UInt32", "The most workers that read one of these files."),
    *_BYTES,
)
