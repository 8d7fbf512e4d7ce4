"""A batch: it is checked before it starts, and run."""

import errno
import os
from pathlib import Path

from tracefast.arguments import integer, path_text
from tracefast.batch.job import Job, Options
from tracefast.batch.manifest import Manifest, Record
from tracefast.batch.plan import logs_of, part_of
from tracefast.batch.pool import Executor, handed_out, local
from tracefast.batch.threads import BatchProgress, shares
from tracefast.inputs.sources import Source, Sources


class Batch:
    """A batch of logs to parse.

    Parameters
    ----------
    logs, out_dir, resume, shard
        As for :func:`tracefast.parse_many`.
    options
        How to parse.

    Raises
    ------
    OSError
        A pattern matches nothing, or a folder cannot be made.
    TypeError
        An option is of another type than is wanted.
    ValueError
        There is no log, or an option has no such value.

    Examples
    --------
    >>> batch = Batch("demo.strace", "events", Options())
    >>> [record.rows for record in batch.run()]
    [8]
    """

    def __init__(
        self,
        logs: Sources,
        out_dir: Source,
        options: Options,
        *,
        resume: bool = True,
        shard: tuple[int, int] | None = None,
    ) -> None:
        if not os.fspath(out_dir):
            raise ValueError("out_dir must not be empty")
        # Parsing an empty log raises errors about the options once, before any job does.
        options.parse([os.devnull], None)
        self.logs = part_of(logs_of(logs, options.format_in), shard)
        self.out_dir = os.path.abspath(path_text("out_dir", out_dir))  # noqa: PTH100 - links stay
        self.options = options
        self.resume = resume
        self.manifest = Manifest.beside(self.out_dir)
        Path(self.out_dir).mkdir(parents=True, exist_ok=True)
        self.manifest.prepare()
        self._check_folders()

    def run(
        self,
        *,
        executor: Executor | None = None,
        jobs: int | None = None,
        threads: int | None = None,
        progress: BatchProgress | None = None,
    ) -> list[Record]:
        """Run all jobs, and return their records in the order of the logs.

        Parameters
        ----------
        executor, jobs, threads
            As for :func:`tracefast.parse_many`.
        progress
            Counters to poll from another thread.

        Raises
        ------
        TypeError
            The executor is not one.
        ValueError
            `jobs` or `threads` is less than one, or `jobs` is given with an executor.
        """
        for name, value in (("jobs", jobs), ("threads", threads)):
            if value is not None:
                integer(name, value, low=1)
        if executor is not None:
            if jobs is not None:
                raise ValueError(
                    "jobs and executor exclude each other: an executor has its own workers"
                )
            todo = self.jobs(threads or 1)
            return handed_out(todo, executor, progress or self.counters())
        workers, threads = shares(len(self.logs), jobs, threads)
        todo = self.jobs(threads)
        return local(todo, workers, progress or self.counters())

    def counters(self) -> BatchProgress:
        """Make counters for a run."""
        return BatchProgress([log.inputs for log in self.logs])

    def jobs(self, threads: int | None) -> list[Job]:
        """Make the jobs."""
        return [
            Job(log, self.out_dir, self.manifest, self.options, threads, self.resume)
            for log in self.logs
        ]

    def _check_folders(self) -> None:
        """Check the folders once, because every job would fail with the same error."""
        for folder in (self.out_dir, self.manifest.folder):
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
        # Files cannot be renamed between file systems: one of the folders is a mount point.
        if Path(self.manifest.folder).stat().st_dev != Path(self.out_dir).stat().st_dev:
            text = f"Not on the file system of its manifest, {self.manifest.folder}"
            raise OSError(errno.EXDEV, text, self.out_dir)
