"""The work on one log, which any process that can access its files may do."""

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tracefast import _core
from tracefast.batch.manifest import Manifest, Record, Stamp, check_of
from tracefast.batch.plan import Log, files_of
from tracefast.error_hints import hint_of
from tracefast.inputs.sources import Sources
from tracefast.reading import FormatIn, Machine, parse


@dataclass(frozen=True, slots=True)
class Options:
    """The options of :func:`tracefast.parse` that its output depends on."""

    format_in: FormatIn | None = None
    machine: Machine | None = None
    row_group: int = 65_536
    compression: str | None = None
    model: bool = True
    assume_complete: bool = False

    def keywords(self) -> dict[str, object]:
        """Give the options as keyword arguments."""
        return {name: getattr(self, name) for name in self.__slots__}

    def parse(
        self,
        logs: Sources,
        output: Path | None,
        *,
        threads: int | None = None,
        progress: _core.Progress | None = None,
    ) -> _core.Report:
        """Parse logs with these options."""
        return parse(
            logs,
            output,
            format_in=self.format_in,
            machine=self.machine,
            row_group=self.row_group,
            compression=self.compression,
            model=self.model,
            assume_complete=self.assume_complete,
            threads=threads,
            progress=progress,
        )


@dataclass(frozen=True, slots=True)
class Job:
    """One log to parse into one file. It can be pickled, and holds only names."""

    log: Log
    out_dir: str
    manifest: Manifest
    options: Options
    threads: int | None
    resume: bool

    @property
    def output(self) -> Path:
        """Path of the output."""
        return Path(self.out_dir, self.log.name + ".parquet")


def run(job: Job, progress: _core.Progress | None = None) -> Record:
    """Run a job, unless it is done, and write its record to the manifest.

    Parameters
    ----------
    job
        The job.
    progress
        Counters to poll, and to cancel the job.

    Returns
    -------
    Record
        The result, also if the job failed.
    """
    try:
        # Before the first byte is read, so that later writes to the log count as a change.
        stamp = Stamp.from_files(files_of(job.log.inputs))
        if job.resume and (known := _done(job, stamp)) is not None:
            return replace(known, status="skipped")
        return _parse(job, stamp, progress)
    except (_core.Error, OSError, MemoryError, UnicodeError) as error:
        return fail(job, error)


def fail(job: Job, error: BaseException) -> Record:
    """Record that a job failed, and why."""
    what, hint = _described(job, error)
    record = replace(_blank(job), status="failed", error=what, hint=hint)
    try:
        job.manifest.write(job.log.name, record)
    except OSError:
        # Without a record the next run tries the log again.
        return record
    return record


def _done(job: Job, stamp: Stamp) -> Record | None:
    """Give the record of a job if it is done."""
    known = job.manifest.read(job.log.name)
    wanted = replace(_blank(job), stamp=stamp)
    if known is None or not all(
        getattr(known, name) == getattr(wanted, name)
        for name in ("source", "status", "output", "stamp", "options", "schema")
    ):
        return None
    try:
        whole = job.output.stat().st_size == known.output_bytes
        return known if whole and check_of(job.output) == known.output_check else None
    except OSError:
        return None


def _parse(job: Job, stamp: Stamp, progress: _core.Progress | None) -> Record:
    start = time.perf_counter()
    partial = job.manifest.partial(".parquet")
    try:
        report = job.options.parse(job.log.inputs, partial, threads=job.threads, progress=progress)
        record = replace(
            _blank(job),
            stamp=stamp,
            output_bytes=partial.stat().st_size,
            output_check=check_of(partial),
            rows=report.rows,
            lines=report.lines,
            unparsed=report.accounting["unparsed"],
            losses=report.losses,
            bytes=report.bytes,
            seconds=round(time.perf_counter() - start, 6),
            warnings=report.warnings,
        )
        partial.replace(job.output)
    except OSError as error:
        raise _about_output(job, error, partial) from error
    finally:
        partial.unlink(missing_ok=True)
    # The record comes last: without it the next run does the same work again.
    job.manifest.write(job.log.name, record)
    return record


def _blank(job: Job) -> Record:
    """Make the record of a job that has not started."""
    return Record(
        source=job.log.source,
        status="done",
        output=job.output.name,
        stamp=None,
        options=job.options.keywords(),
        version=_core.__version__,
        schema=_core.SCHEMA_VERSION,
    )


def _about_output(job: Job, error: OSError, partial: Path) -> OSError:
    """Name the output instead of the temporary file, with a hint if its folder is not there."""
    if error.filename is None or os.fspath(error.filename) != os.fspath(partial):
        return error
    about = OSError(error.errno, error.strerror, os.fspath(job.output))
    about.__dict__["hint"] = getattr(error, "hint", None)
    if not Path(job.manifest.folder).is_dir():
        about.__dict__["hint"] = "out_dir must be on a file system that all workers share"
    return about


def _described(job: Job, error: BaseException) -> tuple[str, str | None]:
    """Describe an error: the file, what is wrong, and what to do."""
    hint = hint_of(error)
    if isinstance(error, OSError) and error.errno is not None:
        name = job.log.source if error.filename is None else os.fsdecode(error.filename)
        return f"{name}: {error.strerror}", hint
    if isinstance(error, _core.Error | OSError):
        return str(error), hint
    if isinstance(error, UnicodeError):
        return f"{job.log.source}: the name is not UTF-8", "rename the file"
    kind = type(error).__name__
    return f"{job.log.source}: {kind}: {error}".removesuffix(": "), hint
