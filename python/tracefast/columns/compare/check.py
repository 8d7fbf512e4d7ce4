"""The columns of `check`."""

from typing import Final

from tracefast.columns.column_group import columns

COLUMNS: Final = (
    columns("source", "String", "The log."),
    columns("rule", "String", "The name of the rule."),
    columns("table", "String", "The table that it judges."),
    columns("measured", "String", "What is limited: ``rows``, or the expression of the rule."),
    columns("value", "Float64", "Its value; null if the log cannot say, or no row counts."),
    columns(
        "limit_kind",
        "String",
        "``max`` or ``min``: whether `value` may be at most or at least `limit`.",
    ),
    columns("limit", "Float64", "The limit; of a rule with a baseline, with the tolerance added."),
    columns("baseline", "Float64", "The value of the baseline; null if the rule has none."),
    columns(
        "passed",
        "Boolean",
        "Whether the log keeps the limit; null if it cannot be judged. Where no row counts, nothing"
        " is too large.",
    ),
    columns("about", "String", "The first row that breaks the limit: its path, name, or program."),
    columns("line", "UInt64", "The line of the log which that row is about, where it has one."),
    columns("message", "String", "The numbers in words, or why it cannot be judged."),
)
