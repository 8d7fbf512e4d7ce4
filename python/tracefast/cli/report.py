"""The report of `tracefast parse`, in words."""

import sys

from tracefast import Report
from tracefast.cli.units import count, printable, rate


def print_report(report: Report, output: str) -> None:
    """Print on standard error what was read and what was not understood."""
    name = "standard output" if output == "-" else output
    speed = rate(report.bytes, report.seconds)
    what = f"{_many(report.rows, 'event')} from {_many(report.lines, 'line')}"
    lines = [
        f"{name}: {what}, {count(report.bytes)} bytes in {report.seconds:.2f} s ({speed})",
        f"  format         {report.format}, clock: {report.clock}",
        f"  events         {_parts(report.kinds)}",
        f"  lines          {_parts(report.accounting)}",
        f"  not understood {count(report.accounting['unparsed'])}",
    ]
    lines += [f"    {source}:{line}: {printable(text)}" for source, line, text in report.unparsed]
    lines += [f"warning: {printable(text)}" for text in report.warnings]
    print("\n".join(lines), file=sys.stderr)


def _many(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def _parts(counts: dict[str, int]) -> str:
    """Name what there is, in the order in which the parser names it."""
    present = [f"{name} {count(number)}" for name, number in counts.items() if number]
    return ", ".join(present) or "none"
