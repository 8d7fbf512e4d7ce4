"""Write findings as rows for programs, with a row for each log that cannot be judged."""

import polars as pl

from tracefast.cli.command_line.request import Request
from tracefast.cli.output.annotations.cases import Unjudged
from tracefast.cli.output.write import write_table
from tracefast.cli.text.frame_rows import FrameRows, frame_of


def write_rows(
    findings: pl.DataFrame, request: Request, unjudged: Unjudged, *, several: bool
) -> None:
    """Write the rows of findings, and then those of logs of which nobody can say anything.

    Parameters
    ----------
    findings
        The findings.
    request
        What was asked for: the order, how many findings, the form.
    unjudged
        The logs that cannot be judged; their rows have a title, and no code.
    several
        More than one log was named.
    """
    rows = FrameRows(findings)
    found = frame_of(rows if request.sort is None else rows.sorted_by(request.sort))
    reasons = [{"source": log, "title": reason} for log, reason in unjudged.reasons()]
    others = pl.DataFrame(reasons, schema={"source": pl.String, "title": pl.String})
    top = found.head(request.top) if request.top else found
    table = pl.concat([top, others], how="diagonal")
    if not several:
        table = table.drop("source")
    write_table(table, request.form, request.output, table.columns, clobber=request.clobber)
