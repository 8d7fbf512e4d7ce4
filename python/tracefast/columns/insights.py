"""The columns of `insights`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("code", "String", "Name of the rule, such as ``small-reads``."),
    columns(
        "severity",
        "String",
        "``high``, ``medium`` or ``low``, by the share of the log's time, or of the bytes moved to"
        " and from files, that it touches. Time that the tracer may have taken makes nothing"
        " ``high``.",
    ),
    columns("title", "String", "What was found."),
    columns("evidence", "String", "What in the log shows it, in one sentence with numbers."),
    columns(
        "numbers",
        "List(Struct)",
        "The numbers of this sentence: `name` and `value`. Times are in ns, sizes in bytes.",
    ),
    columns("object", "String", "The path, process or program that it is about, of several one."),
    columns(
        "lines", "List(UInt64)", "Lines of the log that show it: the first ones, at most five."
    ),
    columns(
        "saving_low_ns saving_high_ns",
        "Int64",
        "Part of the log's time that the advice would save, at least and at most. The lower bound"
        " leaves out what the tracer may have taken. Null if nobody can say.",
    ),
    columns("advice", "String", "What to do."),
    columns("page", "String", "The page of the documentation that explains it, and its section."),
)
