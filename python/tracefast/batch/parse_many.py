"""`parse_many`: parse logs into one Parquet file each."""

from pathlib import Path
from typing import TYPE_CHECKING

from tracefast.batch.job import Options
from tracefast.batch.manifest import Record
from tracefast.batch.pool import Executor
from tracefast.batch.runner import Batch
from tracefast.inputs.sources import Source, Sources
from tracefast.reading import FormatIn, Machine

if TYPE_CHECKING:
    import polars as pl


def parse_many(
    logs: Sources,
    out_dir: Source,
    *,
    executor: Executor | None = None,
    resume: bool = True,
    jobs: int | None = None,
    shard: tuple[int, int] | None = None,
    format_in: FormatIn | None = None,
    machine: Machine | None = None,
    threads: int | None = None,
    row_group: int = 65_536,
    compression: str | None = None,
    model: bool = True,
    assume_complete: bool = False,
) -> "pl.DataFrame":
    """Parse many logs, each into its own Parquet file; continue where an earlier run ended.

    ``pl.scan_parquet(out_dir)`` then reads all of them, and `source` is the log of each row. A log
    that cannot be read does not stop the others.

    Parameters
    ----------
    logs
        Paths of logs and of directories, and patterns. Logs of ``strace -ff -o NAME`` are one log,
        as for :func:`parse`.
    out_dir
        Folder of the outputs; created if it is missing. The name of an output is that of its log
        with a hash of its path, so that logs of the same name in several folders do not collide.
    executor
        An executor of `concurrent.futures` or a ``dask.distributed.Client`` that runs the jobs; by
        default they run in threads of this process. Its workers need tracefast, and the same paths
        for the logs and `out_dir`.
    resume
        Skip logs that are done: those with a complete output, made from the log as it is now, with
        the same options and the same version of the schema. Logs that failed are tried again.
    jobs
        Number of logs to parse at a time, without an `executor`; by default one for every four
        cores. Each takes the memory of one :func:`parse`.
    shard
        Do a part of the work, as ``(i, n)``: every n-th log from the i-th on, with i from 1.
    format_in, machine
        As for :func:`tracefast.parse`.
    threads
        Worker threads for each log; by default the logs in progress share the cores, and with an
        `executor` each has one.
    row_group, compression, model, assume_complete
        As for :func:`parse`.

    Returns
    -------
    polars.DataFrame
        One row per log, in the order of `logs`: `source` (its absolute path), `output` (path of the
        Parquet file, null if it failed), `status` (``"done"``, ``"skipped"``, ``"failed"``),
        `rows`, `lines`, `unparsed` (lines that were not understood), `bytes` (of text), `seconds`,
        `error` and `hint` (null unless it failed).

    Raises
    ------
    OSError
        `out_dir` cannot be created, or a pattern matches nothing.
    TypeError
        An argument has the wrong type.
    ValueError
        There is no log, or an option has an invalid value.

    See Also
    --------
    parse : Several logs into one file.

    Notes
    -----
    The records of the logs are in ``OUT_DIR.manifest``, beside the outputs: one line of JSON each.
    Outputs and records are written to temporary files and renamed, so that a run may be killed at
    any moment, and several runs may use the same folder.

    Examples
    --------
    >>> import tracefast as tf
    >>> done = tf.parse_many(["demo.strace", "demo.ftrace", "missing.strace"], "events")
    >>> done.select("status", "rows").rows()
    [('done', 8), ('done', 11), ('failed', None)]
    >>> tf.parse_many(["demo.strace", "demo.ftrace"], "events")["status"].to_list()
    ['skipped', 'skipped']

    >>> import polars as pl
    >>> pl.scan_parquet("events").select(pl.len(), pl.col("source").n_unique()).collect().rows()
    [(19, 2)]
    """
    import polars as pl

    options = Options(format_in, machine, row_group, compression, model, assume_complete)
    batch = Batch(logs, out_dir, options, resume=resume, shard=shard)
    records = batch.run(executor=executor, jobs=jobs, threads=threads)
    rows = [_row(record, batch.out_dir) for record in records]
    text, number = pl.String(), pl.Int64()
    return pl.DataFrame(
        rows,
        schema={
            "source": text,
            "output": text,
            "status": pl.Enum(["done", "skipped", "failed"]),
            "rows": number,
            "lines": number,
            "unparsed": number,
            "bytes": number,
            "seconds": pl.Float64(),
            "error": text,
            "hint": text,
        },
    )


def _row(record: Record, out_dir: str) -> dict[str, object]:
    failed = record.status == "failed"
    return {
        "source": _text(record.source),
        "output": None if failed else _text(str(Path(out_dir, record.output))),
        "status": record.status,
        "rows": record.rows,
        "lines": record.lines,
        "unparsed": record.unparsed,
        "bytes": record.bytes,
        "seconds": record.seconds,
        "error": None if record.error is None else _text(record.error),
        "hint": record.hint,
    }


def _text(name: str) -> str:
    r"""Write the bytes of a name that are not UTF-8 as ``\xNN``."""
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")
