"""Keep the rows of a frame of polars for which a condition is true."""

from tracefast.analysis.conditions import evaluate_condition
from tracefast.cli.text.frame_rows import FrameRows, frame_of
from tracefast.cli.text.rows import Rows


def rows_where(rows: Rows, condition: str) -> Rows:
    """Keep the rows of a frame for which an SQL condition is true."""
    frame = frame_of(rows)
    return FrameRows(frame.filter(evaluate_condition(frame, condition)))
