"""Print the report of `tracefast parse`."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tracefast import Report
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align
from tracefast.cli.text.units import count, rate
from tracefast.inputs.sources import STDIN
from tracefast.quantities import plural

# How many logs with lines that were not understood are named without --verbose.
_MAX_LOGS: Final = 10
# What is odd but loses nothing: singular and plural, in the order in which they are printed.
_ODDITIES: Final = {
    "time_steps_back": ("time steps back on {} line", "time steps back on {} lines"),
    "relayouts": ("{} line has other columns", "{} lines have other columns"),
    "foreign": ("{} line holds output of the program", "{} lines hold output of the program"),
    "notes": ("{} result has a note behind it", "{} results have notes behind them"),
    "prefixes": (
        "pasted: a prefix removed from {} line",
        "pasted: prefixes removed from {} lines",
    ),
    "wrapped": (
        "{} line joined to the one before",
        "{} lines joined to the ones before",
    ),
    "shared_lines": ("{} record shares another's line", "{} records share another's line"),
    "impossible_durations": ("{} duration is impossible", "{} durations are impossible"),
    "impossible_cpu_times": (
        "{} child has an impossible processor time",
        "{} children have impossible processor times",
    ),
}


def print_report(
    report: Report, output: str | None, *, explained: bool = False, verbose: bool = False
) -> None:
    """Print what was read, and what was not understood, on standard error.

    Parameters
    ----------
    report
        The counts.
    output
        The output; None if nothing is written.
    explained
        The lines that were not understood are printed already.
    verbose
        Add bytes by use, and one line for every log.
    """
    events = report.rows - report.kinds.get("unparsed", 0)
    what = f"{plural(events, 'event')} from {plural(report.lines, 'line')}"
    size = f"{count(report.bytes)} bytes in {report.seconds:.2f} s"
    lines = [
        f"{_title(report, output)}: {what}, {size} ({rate(report.bytes, report.seconds)})",
        f"  format         {report.format}, clock: {report.clock}{_machine(report)}",
        f"  events         {_list_counts(_understood(report.kinds))}",
        f"  lines          {_list_counts(report.accounting)}",
        f"  quality        {', '.join(report.quality)}",
    ]
    if verbose:
        lines.append(f"  bytes          {_list_counts(report.accounting_bytes)}")
    if words := describe_oddities(report.oddities):
        lines.append(f"  unusual        {words}")
    lines.append(f"  not understood {_unparsed_share(report.accounting, report.accounting_bytes)}")
    if not explained:
        lines += _examples(report)
    lines += _every_log(report) if verbose else _logs_with_losses(report)
    lines += [f"warning: {printable(text)}" for text in report.warnings]
    print("\n".join(lines), file=sys.stderr)


def _title(report: Report, output: str | None) -> str:
    """Name the output; without one, the log, or the number of logs."""
    if output is not None:
        return "standard output" if output == STDIN else printable(output)
    logs = report.sources
    if len(logs) != 1:
        return plural(len(logs), "log")
    name = logs[0]["source"]
    return "standard input" if name == STDIN else printable(name)


def _machine(report: Report) -> str:
    """Name the machines whose system call numbers were used."""
    found = sorted({log["machine"] for log in report.sources if log["machine"] is not None})
    return f", system call numbers of: {', '.join(found)}" if found else ""


def _examples(report: Report) -> Iterator[str]:
    """Show the first lines that were not understood."""
    for source, line, text in report.unparsed:
        yield f"    {printable(source)}:{line}: {printable(text)}"
    if report.unparsed:
        yield "    --explain prints all of them, with what was expected"


def _understood(kinds: Mapping[str, int]) -> dict[str, int]:
    """Leave out the lines that are no events."""
    return {kind: number for kind, number in kinds.items() if kind != "unparsed"}


def _list_counts(counts: Mapping[str, int]) -> str:
    """List the counts that are not zero, in the order of the parser."""
    present = [f"{name} {count(number)}" for name, number in counts.items() if number]
    return ", ".join(present) or "none"


def describe_oddities(oddities: Mapping[str, int]) -> str:
    """Describe what is odd but loses nothing; empty if nothing is.

    Examples
    --------
    >>> describe_oddities({"time_steps_back": 1200, "relayouts": 1, "foreign": 0})
    'time steps back on 1,200 lines, 1 line has other columns'
    """
    found = [
        several.format(count(number)) if number > 1 else one.format(number)
        for name, (one, several) in _ODDITIES.items()
        if (number := oddities.get(name, 0))
    ]
    return ", ".join(found)


def _unparsed_share(lines: Mapping[str, int], size: Mapping[str, int]) -> str:
    """Write how much was not understood."""
    number = lines["unparsed"]
    if not number:
        return "0"
    share = f"{count(number)} of {plural(sum(lines.values()), 'line')}"
    return f"{share}, {count(size['unparsed'])} bytes"


def _logs_with_losses(report: Report) -> Iterator[str]:
    """List the logs with lines that were not understood, those with the most first."""
    logs = report.sources
    lossy = [log for log in logs if log["accounting"]["unparsed"]]
    if len(logs) == 1 or not lossy:
        return
    lossy.sort(key=lambda log: -log["accounting"]["unparsed"])
    yield f"    in {count(len(lossy))} of {plural(len(logs), 'log')}:"
    for log in lossy[:_MAX_LOGS]:
        lost = _unparsed_share(log["accounting"], log["accounting_bytes"])
        first = log["unparsed"][0]["line"]
        yield f"      {printable(log['source'])}: {lost}, the first is line {first}"
    if len(lossy) > _MAX_LOGS:
        yield f"      and {count(len(lossy) - _MAX_LOGS)} more; --verbose names every log"


def _events(log: Mapping[str, Any]) -> int:
    """Count what was understood."""
    events: int = log["rows"] - log["kinds"].get("unparsed", 0)
    return events


def _every_log(report: Report) -> Iterator[str]:
    """Lay out the logs as a table: the name last, as it may be long."""
    heads = ["lines", "bytes", "events", "not understood"]
    rows = [
        [
            *map(count, (log["lines"], log["bytes"], _events(log), log["accounting"]["unparsed"])),
            f"{log['format']}, {log['clock']}" if log["bytes"] else "empty",
            ": ".join(filter(None, (printable(log["source"]), describe_oddities(log["oddities"])))),
        ]
        for log in report.sources
    ]
    table = [[*heads, "format, clock", "log"], *rows]
    for line in align(table, right=range(4)):
        yield f"    {line}"
