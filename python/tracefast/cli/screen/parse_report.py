"""The report of `tracefast parse`, in words."""

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from tracefast import Report
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.units import count, rate
from tracefast.inputs.sources import STDIN

# Logs with lines that were not understood, named unless all are asked for.
_LOGS_SHOWN: Final = 10
# What is odd but no loss: one of it, several, in the order in which it is told.
_ODDITIES: Final = {
    "time_steps_back": ("time steps back on {} line", "time steps back on {} lines"),
    "relayouts": ("{} line has other columns", "{} lines have other columns"),
    "foreign": ("{} line holds output of the program", "{} lines hold output of the program"),
    "shared_lines": ("{} record shares another's line", "{} records share another's line"),
}


def print_report(
    report: Report, output: str | None, *, explained: bool = False, verbose: bool = False
) -> None:
    """Print on standard error what was read and what was not understood.

    Parameters
    ----------
    report
        The counts.
    output
        The output; None if there is none.
    explained
        The lines that were not understood have been printed already.
    verbose
        Add bytes by use, and one line for every log.
    """
    what = f"{_many(report.rows, 'event')} from {_many(report.lines, 'line')}"
    size = f"{count(report.bytes)} bytes in {report.seconds:.2f} s"
    lines = [
        f"{_title(report, output)}: {what}, {size} ({rate(report.bytes, report.seconds)})",
        f"  format         {report.format}, clock: {report.clock}{_machine(report)}",
        f"  events         {_parts(report.kinds)}",
        f"  lines          {_parts(report.accounting)}",
    ]
    if verbose:
        lines.append(f"  bytes          {_parts(report.accounting_bytes)}")
    if words := odd(report.oddities):
        lines.append(f"  to note        {words}")
    lines.append(f"  not understood {_lost(report.accounting, report.accounting_bytes)}")
    if not explained:
        lines += _examples(report)
    lines += _every_log(report) if verbose else _logs_with_losses(report)
    lines += [f"warning: {printable(text)}" for text in report.warnings]
    print("\n".join(lines), file=sys.stderr)


def _title(report: Report, output: str | None) -> str:
    """Name the output; without one, the log, or how many there are."""
    if output is not None:
        return "standard output" if output == STDIN else printable(output)
    logs = report.sources
    if len(logs) != 1:
        return _many(len(logs), "log")
    name = logs[0]["source"]
    return "standard input" if name == STDIN else printable(name)


def _machine(report: Report) -> str:
    """Name the machines by which numbers of calls became names."""
    found = sorted({log["machine"] for log in report.sources if log["machine"] is not None})
    return f", calls numbered as on: {', '.join(found)}" if found else ""


def _examples(report: Report) -> Iterator[str]:
    """Show the first lines that were not understood."""
    for source, line, text in report.unparsed:
        yield f"    {printable(source)}:{line}: {printable(text)}"
    if report.unparsed:
        yield "    --explain prints each of them with what was expected"


def _many(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def _parts(counts: Mapping[str, int]) -> str:
    """Name what there is, in the order in which the parser names it."""
    present = [f"{name} {count(number)}" for name, number in counts.items() if number]
    return ", ".join(present) or "none"


def odd(oddities: Mapping[str, int]) -> str:
    """Put into words what is odd but no loss; nothing if nothing is.

    Examples
    --------
    >>> odd({"time_steps_back": 1200, "relayouts": 1, "foreign": 0})
    'time steps back on 1,200 lines, 1 line has other columns'
    """
    found = [
        several.format(count(number)) if number > 1 else one.format(number)
        for name, (one, several) in _ODDITIES.items()
        if (number := oddities.get(name, 0))
    ]
    return ", ".join(found)


def _lost(lines: Mapping[str, int], size: Mapping[str, int]) -> str:
    """Say how much was not understood."""
    number = lines["unparsed"]
    if not number:
        return "0"
    share = f"{count(number)} of {_many(sum(lines.values()), 'line')}"
    return f"{share}, {count(size['unparsed'])} bytes"


def _logs_with_losses(report: Report) -> Iterator[str]:
    """Say in which logs lines were not understood, those with most of them first."""
    logs = report.sources
    lossy = [log for log in logs if log["accounting"]["unparsed"]]
    if len(logs) == 1 or not lossy:
        return
    lossy.sort(key=lambda log: -log["accounting"]["unparsed"])
    yield f"    in {count(len(lossy))} of {_many(len(logs), 'log')}:"
    for log in lossy[:_LOGS_SHOWN]:
        lost = _lost(log["accounting"], log["accounting_bytes"])
        first = log["unparsed"][0]["line"]
        yield f"      {printable(log['source'])}: {lost}, the first is line {first}"
    if len(lossy) > _LOGS_SHOWN:
        yield f"      and {count(len(lossy) - _LOGS_SHOWN)} more; --verbose names every log"


def _every_log(report: Report) -> Iterator[str]:
    """Lay the logs out as a table: the name last, as it may be long."""
    heads = ["lines", "bytes", "events", "not understood"]
    rows = [
        [
            *map(count, (log["lines"], log["bytes"], log["rows"], log["accounting"]["unparsed"])),
            f"{log['format']}, {log['clock']}" if log["bytes"] else "empty",
            ": ".join(filter(None, (printable(log["source"]), odd(log["oddities"])))),
        ]
        for log in report.sources
    ]
    table = [[*heads, "format, clock", "log"], *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        numbers = [cell.rjust(wide) for cell, wide in zip(row[:4], widths, strict=False)]
        yield "  ".join(["  ", *numbers, row[4].ljust(widths[4]), row[5]])
