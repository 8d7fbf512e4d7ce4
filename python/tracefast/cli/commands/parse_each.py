"""`tracefast parse --out-dir`: many logs, a file each, and what became of them."""

import errno
import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, cast

from tracefast import Error
from tracefast.batch.job import Options
from tracefast.batch.manifest import Record
from tracefast.batch.pool import Watch
from tracefast.batch.runner import Work
from tracefast.cli.messages.errors import DONE, FAILED, NOT_UNDERSTOOD, CommandError, explain, warn
from tracefast.cli.messages.progress import shown
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.units import count, rate
from tracefast.inputs.sources import STDIN

if TYPE_CHECKING:
    from tracefast._core import Progress

# Of each kind, as thousands of logs may fail for one reason.
_SHOWN: Final = 20


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
    """Parse each log into a file of its own; give the exit code.

    Parameters
    ----------
    logs
        Paths and patterns.
    out_dir
        Folder of the outputs.
    options
        How to parse.
    jobs, threads, resume
        As for :func:`tracefast.parse_many`.
    shard
        The part to do, as ``I/N``.
    strict
        Let lines that were not understood be told by the exit code.
    quiet
        Print nothing but errors.
    verbose
        Print a line for every log.
    """
    if STDIN in logs:
        raise CommandError(
            "standard input is no log of a batch", "parse it alone: tracefast parse - -o FILE"
        )
    work = _work(logs, out_dir, options, resume=resume, shard=shard)
    watch = Watch(work.jobs(threads))
    begin = time.perf_counter()
    # It has the counters of one log.
    with shown(cast("Progress", watch), disabled=quiet):
        records = work.run(jobs=jobs, threads=threads, watch=watch)
    seconds = time.perf_counter() - begin
    failed = [record for record in records if record.status == "failed"]
    for record in failed[:_SHOWN]:
        explain(CommandError(record.error or record.source, record.hint))
    if len(failed) > _SHOWN:
        print(f"… and {_many(len(failed) - _SHOWN, 'error')} more", file=sys.stderr)
    if not quiet:
        _warn(records)
        print("\n".join(_summary(records, work, seconds, verbose=verbose)), file=sys.stderr)
    if failed:
        return FAILED
    lost = any(record.unparsed for record in records)
    return NOT_UNDERSTOOD if strict and lost else DONE


def _work(
    logs: Sequence[str], out_dir: str, options: Options, *, resume: bool, shard: str | None
) -> Work:
    try:
        return Work(logs, out_dir, options, resume=resume, shard=_part(shard))
    except OSError as error:
        place = os.path.abspath(out_dir)  # noqa: PTH100 - as the batch names it
        if error.filename is None or not os.fsdecode(error.filename).startswith(place):
            raise
        hint = "give --out-dir a folder that you can write to, in a folder that you can write to"
        if error.errno == errno.EXDEV:
            hint = "give --out-dir a folder in it"
        raise CommandError(f"{error.filename}: {error.strerror}", hint) from error
    except Error:
        raise
    except ValueError as error:
        # The options of a batch: the command line has not seen through them.
        raise CommandError(str(error)) from error


def _part(shard: str | None) -> tuple[int, int] | None:
    """Read which part of the logs to do."""
    if shard is None:
        return None
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", shard, re.ASCII)
    part = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part[0] <= part[1]:
        raise CommandError(
            f"--shard {shard}: no such part", "give I/N, such as 1/8, 2/8 … 8/8 for eight parts"
        )
    return part


def _warn(records: Iterable[Record]) -> None:
    """Print what is odd about logs that were parsed now."""
    words = [text for record in records if record.status == "done" for text in record.warnings]
    for text in words[:_SHOWN]:
        warn(text)
    if len(words) > _SHOWN:
        warn(f"… and {_many(len(words) - _SHOWN, 'warning')} more")


def _summary(
    records: Sequence[Record], work: Work, seconds: float, *, verbose: bool
) -> Iterable[str]:
    """Say how many logs became what, and how fast."""
    now = sum(record.bytes or 0 for record in records if record.status == "done")
    speed = f", {count(now)} bytes in {seconds:.2f} s ({rate(now, seconds)})" if now else ""
    yield f"{printable(work.out_dir)}: {_many(len(records), 'log')}{speed}"
    heads = ["", "logs", "bytes", "lines", "events", "not understood", ""]
    rows = [
        [status, count(len(those)), *_counts(those), ""]
        for status in ("done", "skipped", "failed")
        if (those := [record for record in records if record.status == status])
    ]
    if verbose:
        rows += [
            [record.status, "", *_counts([record]), printable(record.source)] for record in records
        ]
    yield from _aligned([heads, *rows])
    yield f"  manifest: {printable(work.manifest.folder)}"


def _counts(records: Sequence[Record]) -> list[str]:
    """Add up; a log that failed has no counts."""
    facts = [(record.bytes, record.lines, record.rows, record.unparsed) for record in records]
    known = [fact for fact in facts if None not in fact]
    if not known:
        return ["-"] * 4
    return [count(sum(number or 0 for number in column)) for column in zip(*known, strict=True)]


def _aligned(table: Sequence[Sequence[str]]) -> Iterable[str]:
    """Lay out rows: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for first, *numbers, last in table:
        cells = [cell.rjust(wide) for cell, wide in zip(numbers, widths[1:-1], strict=True)]
        yield "  ".join(["", first.ljust(widths[0]), *cells, last]).rstrip()


def _many(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"
