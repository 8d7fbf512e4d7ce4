"""Write joined events as Parquet, with the version of their schema."""

import json
from collections.abc import Collection
from pathlib import Path

from tracefast import _core
from tracefast.analysis.join.report import JoinReport
from tracefast.analysis.join.table import join_in
from tracefast.error_hints import error_with_hint
from tracefast.inputs.contents import sniff
from tracefast.inputs.event_files import JOINED_SCHEMA
from tracefast.inputs.sources import is_url
from tracefast.outputs import exists, move_to, refuse_own_input, sink_of, temporary_folder
from tracefast.reading import Machine, parse
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
    try:
        with temporary_folder(output) as folder:
            logs = (
                _parsed(log, folder / name, machine)
                for log, name in ((strace, "events.strace"), (ftrace, "events.ftrace"))
            )
            events, report = join_in(folder, *map(scan, logs), recorded=recorded)
            metadata = {
                "tracefast.schema": JOINED_SCHEMA,
                "tracefast.version": _core.__version__,
                "tracefast.join": json.dumps(report._asdict()),
            }
            whole = folder / "joined.parquet"
            events.sink_parquet(whole, compression="zstd", compression_level=1, metadata=metadata)
            move_to(whole, target, clobber=clobber)
    except OSError as error:
        if error.filename in {strace, ftrace}:
            raise
        # Not the files that nobody sees.
        raise OSError(error.errno, error.strerror, output) from error
    return report


def _parsed(log: str, place: Path, machine: Machine | None) -> str:
    """Turn a log into Parquet, which is faster to read several times; give the file of events."""
    if is_url(log) or sniff(log) != "log":
        return log
    parse(log, place, sink="parquet", machine=machine)
    return str(place)
