"""`tracefast parse --out-dir`: parse each log into a file of its own."""

import errno
import os
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from tracefast import Error
from tracefast.batch.job import Options
from tracefast.batch.runner import Batch
from tracefast.cli.command_line.exit_codes import DONE, FAILED, NOT_UNDERSTOOD
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.progress import progress_bar
from tracefast.cli.screen.batch_summary import print_batch_summary, print_failures
from tracefast.inputs.sources import STDIN

if TYPE_CHECKING:
    from tracefast._core import Progress


def parse_each(
    logs: Sequence[str],
    out_dir: str,
    options: Options,
    *,
    jobs: int | None,
    threads: int | None,
    shard: str | None,
    resume: bool,
    strict: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Parse each log into a file of its own, and give the exit code.

    Parameters
    ----------
    logs
        Paths and patterns.
    out_dir
        Folder of the outputs.
    options
        Options of the parser.
    jobs, threads, resume
        As for :func:`tracefast.parse_many`.
    shard
        The part of the logs to parse, as ``I/N``.
    strict
        Whether lines that were not understood change the exit code.
    quiet
        Print nothing but errors.
    verbose
        Print a line for every log.
    """
    if STDIN in logs:
        raise CommandError(
            "standard input cannot be part of a batch",
            "parse it on its own: tracefast parse - -o FILE",
        )
    work = _work(logs, out_dir, options, resume=resume, shard=shard)
    watch = work.counters()
    start = time.perf_counter()
    # A BatchProgress has the counters of a Progress.
    with progress_bar(cast("Progress", watch), disabled=quiet):
        records = work.run(jobs=jobs, threads=threads, progress=watch)
    seconds = time.perf_counter() - start
    print_failures(records)
    if not quiet:
        folder = str(work.manifest.folder)
        print_batch_summary(records, work.out_dir, folder, seconds, verbose=verbose)
    if any(record.status == "failed" for record in records):
        return FAILED
    lossy = any(record.losses or record.unparsed for record in records)
    return NOT_UNDERSTOOD if strict and lossy else DONE


def _work(
    logs: Sequence[str], out_dir: str, options: Options, *, resume: bool, shard: str | None
) -> Batch:
    try:
        return Batch(logs, out_dir, options, resume=resume, shard=_parse_shard(shard))
    except OSError as error:
        place = os.path.abspath(out_dir)  # noqa: PTH100 - as the batch names it
        if error.filename is None or not os.fsdecode(error.filename).startswith(place):
            raise
        hint = "give --out-dir a folder in a place where you can write"
        if error.errno == errno.EXDEV:
            hint = "give --out-dir a folder in it"
        raise CommandError(f"{error.filename}: {error.strerror}", hint) from error
    except Error:
        raise
    except ValueError as error:
        # The command line has not checked the options of a batch.
        raise CommandError(str(error)) from error


def _parse_shard(shard: str | None) -> tuple[int, int] | None:
    """Parse which part of the logs to parse."""
    if shard is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", shard, re.ASCII)
    part = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part[0] <= part[1]:
        raise CommandError(
            f"--shard {shard}: not a valid part",
            "give I/N: 1/8, 2/8 … 8/8 for eight parts",
        )
    return part
