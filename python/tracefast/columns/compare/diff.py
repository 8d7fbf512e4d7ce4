"""The columns of `diff`."""

from typing import Final, Literal, get_args

from tracefast.columns.column_group import columns

# The tables that are compared; `tracefast.analysis.compare.tables` has how.
Table = Literal["totals", "files", "syscalls", "forks", "processes", "waits", "errors", "insights"]
TABLES: Final[tuple[Table, ...]] = get_args(Table)

COLUMNS: Final = (
    columns(
        "table",
        "String",
        f"The table that the difference is in: {', '.join(f'``{name}``' for name in TABLES)}.",
    ),
    columns(
        "key",
        "String",
        "What the row is about: the path of a file, the name of a call, the program of a process;"
        " of ``totals`` the table that is summed up, or ``run`` for the log itself; of ``forks``"
        " the parent's program, the kind and the program of the child; of ``waits``"
        " the program, the call, and what it waited on; of ``errors`` the error, the call, the"
        " pattern of the path and the program; of ``insights`` the code and what it is about. A"
        " name that not every run has is written as the pattern of those that are like it.",
    ),
    columns(
        "measure",
        "String",
        "The column of that table that is compared, summed up; ``count`` is the number of its"
        " rows, ``wall_ns`` the time from the first event to the end of the last call.",
    ),
    columns("unit", "String", "``ns``, ``bytes``, or null for numbers of things."),
    columns(
        "before after",
        "Float64",
        "The value before and after, of several runs the median. 0 if the run has no such thing.",
    ),
    columns("change", "Float64", "`after` - `before`."),
    columns("ratio", "Float64", "`after` / `before`; null if that is 0."),
    columns(
        "only_in",
        "String",
        "``before`` or ``after`` if no run of the other side has the `key`; null if both have.",
    ),
    columns("before_runs after_runs", "UInt32", "Runs in which the value is known."),
    columns(
        "before_spread after_spread",
        "Float64",
        "Largest value of the runs less the smallest; null for a single run.",
    ),
    columns(
        "p",
        "Float64",
        "Of the two-sided Mann-Whitney test, exact up to twenty runs on a side: how often chance"
        " alone would give such a difference in this row. Null with fewer than four runs on a"
        " side.",
    ),
    columns(
        "sure",
        "Boolean",
        "Whether `p` is at most 0.05 after Holm's correction for the number of comparisons; null"
        " with fewer than four runs on a side, as nobody can tell then. Times and what is counted"
        " are corrected apart, and the totals apart from the other tables; rows that put the runs"
        " into the same order are one comparison.",
    ),
)
