"""The columns of `fork_advice`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns(
        "source parent_image kind image",
        "String",
        "The row of `tracefast.fork_summary` that the advice is about.",
    ),
    columns("code", "String", "Name of the advice, such as ``page-table-copy``."),
    columns("what", "String", "What was found."),
    columns("evidence", "String", "What in the log shows it, with numbers."),
    columns("remedy", "String", "What to do."),
    columns(
        "saving_low_ns saving_high_ns",
        "Int64",
        "Time that it would save, at least and at most; null if the advice is not about time,"
        " or the saving is not known. The lower bound leaves out what the tracer itself may"
        " have taken.",
    ),
)
