"""Print how well two logs of one run match."""

import sys
import textwrap

from tracefast.analysis.join.report import JoinReport
from tracefast.cli.output.terminal import terminal_width


def print_join_report(report: JoinReport) -> None:
    """Print the report on standard error: on a terminal, lines that fit."""
    width = terminal_width() if sys.stderr.isatty() else None
    for line in report.lines():
        wrapped = [line] if width is None else textwrap.wrap(line, width, subsequent_indent="  ")
        print(*wrapped, sep="\n", file=sys.stderr)
