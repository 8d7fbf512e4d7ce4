"""Print how well two logs of one run match."""

import sys

from tracefast.analysis.join.report import JoinReport
from tracefast.cli.messages.stderr import note_lines


def print_join_report(report: JoinReport) -> None:
    """Print the report on standard error."""
    for line in note_lines(report.lines()):
        print(line, file=sys.stderr)
