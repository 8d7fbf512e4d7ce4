"""`parse_many`: logs into one Parquet file each."""

from pathlib import Path
from typing import TYPE_CHECKING

from tracefast.batch.job import Options
from tracefast.batch.manifest import Record
from tracefast.batch.pool import Executor
from tracefast.batch.runner import Work
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
) -> "pl.DataFrame":
    """Parse many logs, each into a Parquet file of its own, and go on where an earlier run ended.

    ``pl.scan_parquet(out_dir)`` then reads all of them; `source` tells the logs apart. A log that
    cannot be read stops none of the others.

    Parameters
    ----------
    logs
        Paths of logs and of directories, and patterns. Logs of ``strace -ff -o NAME`` are one log,
        as for :func:`parse`.
    out_dir
        Folder of the outputs; made if it is missing. The name of an output is that of its log with
        a hash of its path, so that logs of equal names in several folders do not meet.
    executor
        Who does the work: threads of this process by default, or any executor of
        `concurrent.futures`, or a ``dask.distributed.Client``. Its workers need tracefast, and the
        same paths for the logs and `out_dir`.
    resume
        Leave out logs that are done: those with an output that is whole, made of the log as it is
        now, with the same options and by the same version of the schema. What failed is done anew.
    jobs
        How many logs at a time, without an `executor`; one for each four cores by default. Each
        takes the memory of one :func:`parse`.
    shard
        Do a part of the work, as ``(i, n)``: every n-th log, from the i-th on; i counts from 1.
    format_in, machine
        As for :func:`tracefast.parse`.
    threads
        Worker threads for each log; by default the cores are shared by the logs under way, and with
        an `executor` it is one.
    row_group, compression, model
        As for :func:`parse`.

    Returns
    -------
    polars.DataFrame
        One row a log, in the order of `logs`: `source` (its absolute path), `output` (path of the
        Parquet file, null if it failed), `status` (``"done"``, ``"skipped"``, ``"failed"``),
        `rows`, `lines`, `unparsed` (lines that were not understood), `bytes` (of text), `seconds`,
        `error` and `hint` (null unless it failed).

    Raises
    ------
    OSError
        `out_dir` cannot be made; or a pattern matches nothing.
    TypeError
        An argument is of another type than is wanted.
    ValueError
        There is no log, or an option has no such value.

    See Also
    --------
    parse : Several logs into one file.

    Notes
    -----
    What is known of the logs lies beside the outputs, in ``OUT_DIR.manifest``: a line of JSON for
    each. Outputs and records are put in their places by renaming, so that a run may be killed at
    any moment, and several may work on one folder.

    Examples
    --------
    >>> import tracefast as tf
    >>> done = tf.parse_many(["demo.strace", "demo.ftrace", "missing.strace"], "events")
    >>> done.select("status", "rows").rows()
    [('done', 8), ('done', 9), ('failed', None)]
    >>> tf.parse_many(["demo.strace", "demo.ftrace"], "events")["status"].to_list()
    ['skipped', 'skipped']

    >>> import polars as pl
    >>> pl.scan_parquet("events").select(pl.len(), pl.col("source").n_unique()).collect().rows()
    [(17, 2)]
    """
    import polars as pl

    options = Options(format_in, machine, row_group, compression, model)
    work = Work(logs, out_dir, options, resume=resume, shard=shard)
    records = work.run(executor=executor, jobs=jobs, threads=threads)
    rows = [_row(record, work.out_dir) for record in records]
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
