"""Print what became of each log of `tracefast parse --out-dir`."""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

from tracefast.batch.manifest import Record
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.stderr import print_error, print_warning
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align
from tracefast.cli.text.units import count, rate
from tracefast.quantities import plural

# How many errors and warnings are printed: thousands of logs may fail for one reason.
_MAX_MESSAGES: Final = 20


def print_failures(records: Sequence[Record]) -> None:
    """Print the errors of the logs that failed."""
    failed = [record for record in records if record.status == "failed"]
    for record in failed[:_MAX_MESSAGES]:
        print_error(CommandError(record.error or record.source, record.hint))
    if len(failed) > _MAX_MESSAGES:
        print(f"… and {plural(len(failed) - _MAX_MESSAGES, 'error')} more", file=sys.stderr)


def print_batch_summary(
    records: Sequence[Record], out_dir: str, manifest: str, seconds: float, *, verbose: bool
) -> None:
    """Print the warnings of logs that were parsed now, and how many logs were done.

    Parameters
    ----------
    records
        The logs.
    out_dir, manifest
        The folders of the outputs and of the manifest.
    seconds
        How long the run took.
    verbose
        Print a line for every log.
    """
    warnings = [text for record in records if record.status == "done" for text in record.warnings]
    for text in warnings[:_MAX_MESSAGES]:
        print_warning(text)
    if len(warnings) > _MAX_MESSAGES:
        print_warning(f"… and {plural(len(warnings) - _MAX_MESSAGES, 'warning')} more")
    parsed = sum(record.bytes or 0 for record in records if record.status == "done")
    speed = ""
    if parsed:
        speed = f", {count(parsed)} bytes in {seconds:.2f} s ({rate(parsed, seconds)})"
    lines = [
        f"{printable(out_dir)}: {plural(len(records), 'log')}{speed}",
        *_table(records, verbose=verbose),
        f"  manifest: {printable(manifest)}",
    ]
    print("\n".join(lines), file=sys.stderr)


def _table(records: Sequence[Record], *, verbose: bool) -> Iterator[str]:
    rows = [["", "logs", "bytes", "lines", "events", "not understood", ""]]
    for status in ("done", "skipped", "failed"):
        of_status = [record for record in records if record.status == status]
        if of_status:
            rows.append([status, count(len(of_status)), *_counts(of_status), ""])
    if verbose:
        rows += [
            [record.status, "", *_counts([record]), printable(record.source)] for record in records
        ]
    for line in align(rows, right=range(1, 6)):
        yield f"  {line}"


def _events(record: Record) -> int | None:
    """Count the rows of what was understood: each line that was not has a row of its own."""
    return None if record.rows is None else record.rows - (record.unparsed or 0)


def _counts(records: Sequence[Record]) -> list[str]:
    """Add up the counts of all records; those of logs that failed are unknown."""
    counts = [(record.bytes, record.lines, _events(record), record.unparsed) for record in records]
    known = [numbers for numbers in counts if None not in numbers]
    if not known:
        return ["-"] * 4
    return [count(sum(number or 0 for number in column)) for column in zip(*known, strict=True)]
