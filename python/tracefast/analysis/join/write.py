"""Write joined events as Parquet, with the version of their schema."""

import json
import os
from collections.abc import Collection
from pathlib import Path

from tracefast import _core
from tracefast.analysis.join.report import JoinReport
from tracefast.analysis.join.table import join
from tracefast.error_hints import error_with_hint
from tracefast.inputs.event_files import JOINED_SCHEMA
from tracefast.outputs import exists, refuse_own_input, sink_of
from tracefast.reading import Machine
from tracefast.scanning.scan import scan


def write_joined(
    strace: str,
    ftrace: str,
    output: str,
    *,
    clobber: bool = True,
    machine: Machine | None = None,
    recorded: Collection[str] = (),
) -> JoinReport:
    """Join two logs of one run into a Parquet file, which appears whole or not at all.

    Parameters
    ----------
    strace, ftrace
        Logs, or Parquet made from them.
    output
        The file.
    clobber
        Replace a file that exists.
    machine
        As for :func:`tracefast.parse`.
    recorded
        As for :func:`tracefast.join`.

    Raises
    ------
    OSError
        A file cannot be read or written, or exists.
    Error
        The logs are not of one run.
    """
    if sink_of(output) != "parquet" or output == "-":
        raise error_with_hint(f"{output}: joined events are Parquet", "name it FILE.parquet")
    refuse_own_input((strace, ftrace), output)
    target = Path(output)
    if not clobber and target.exists():
        raise exists(output)
    reports: list[JoinReport] = []
    events = join(
        scan(strace, machine=machine),
        scan(ftrace, machine=machine),
        recorded=recorded,
        report=reports.append,
    )
    report = reports[0]
    metadata = {
        "tracefast.schema": JOINED_SCHEMA,
        "tracefast.version": _core.__version__,
        "tracefast.join": json.dumps(report._asdict()),
    }
    partial = target.parent / f".tracefast-{os.urandom(8).hex()}.tmp"
    try:
        # polars does not name the file of an error.
        partial.touch(exist_ok=False)
        events.sink_parquet(partial, compression="zstd", compression_level=1, metadata=metadata)
        partial.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, output) from error
    finally:
        partial.unlink(missing_ok=True)
    return report
