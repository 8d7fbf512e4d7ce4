"""The table of `tracefast files`: asked for, filtered, summed up."""

import sys
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tracefast.analysis.files.inode_map import with_paths
from tracefast.analysis.files.table import NEAR, By, Scope, columns, files_and_rings
from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import answer
from tracefast.cli.messages.errors import DONE, FAILED
from tracefast.cli.output.write import on_terminal, terminal_width
from tracefast.cli.screen.files.usage_lines import foot, verdict
from tracefast.cli.screen.result_table import check_columns, chosen, finish

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap

# What a table of Darshan's counters shows as text; the path last, as it may be long.
_DARSHAN = (
    "POSIX_OPENS",
    "POSIX_READS",
    "POSIX_SEQ_READS",
    "POSIX_CONSEC_READS",
    "POSIX_BYTES_READ",
    "POSIX_WRITES",
    "POSIX_SEQ_WRITES",
    "POSIX_CONSEC_WRITES",
    "POSIX_BYTES_WRITTEN",
    "path",
)
# What narrow terminals do without, the first one first.
_SPARE = (
    *("covered_share", "ts_open", "task", "errors", "reread_factor", "op_ns"),
    *("calls", "how"),
    *("POSIX_OPENS", "POSIX_SEQ_WRITES", "POSIX_CONSEC_WRITES", "POSIX_WRITES"),
)
# What a row is about.
_NOUNS: Final[dict[By | None, tuple[str, str]]] = {
    None: ("file", "files"),
    "process": ("file of a process", "files of processes"),
    "open": ("open file", "open files"),
}
# On a terminal of fewer columns, words are short.
_NARROW = 100
_INDENT = " " * len("total: ")


@dataclass(frozen=True)
class Choice:
    """Which rows there are, and how they are made.

    Attributes
    ----------
    scope, by, darshan
        As for :func:`tracefast.files`.
    near
        As there; None for the default.
    match
        A pattern for paths.
    type
        The only type of files that is wanted.
    """

    scope: Scope = "stream"
    by: By | None = None
    near: int | None = None
    darshan: bool = False
    match: str | None = None
    type: str | None = None


def show(
    request: Request,
    choice: Choice,
    *,
    inode_map: "InodeMap | None" = None,
) -> int:
    """Print the table of files; below it, as text, what it amounts to and what is not in it.

    Parameters
    ----------
    request
        What all tables are asked for.
    choice
        Which rows there are.
    inode_map
        Paths of files by device and inode.

    Returns
    -------
    int
        The exit code.

    Raises
    ------
    CommandError
        There is no column to sort by.
    """
    check_columns(request, columns(choice.by, darshan=choice.darshan))
    rings: list[tuple[int, int]] = []

    def question(events: pl.LazyFrame) -> pl.LazyFrame:
        if choice.darshan and inode_map is not None:
            events = with_paths(events, inode_map)
        table = files_and_rings(
            events,
            scope=choice.scope,
            by=choice.by,
            near=NEAR if choice.near is None else choice.near,
            darshan=choice.darshan,
            rings=lambda calls, submitted: rings.append((calls, submitted)),
        )
        return table if choice.darshan or inode_map is None else with_paths(table, inode_map)

    table, complete = answer(request, question)
    if table is None:
        return FAILED
    moved = ("POSIX_BYTES_READ", "POSIX_BYTES_WRITTEN")
    if not choice.darshan:
        moved = ("read_bytes", "write_bytes")
    # Inputs that were asked one by one are in order each, not together.
    order = pl.sum_horizontal(pl.col(name).fill_null(0) for name in moved)
    table = table.sort(order, descending=True, maintain_order=True)
    table = chosen(table, request, choice.match, "path")
    if choice.type is not None:
        table = table.filter(pl.col("type") == choice.type)

    def words(rows: pl.DataFrame, width: int | None) -> pl.DataFrame:
        return verdict(rows, request.sort, short=width is not None and width < _NARROW)

    below: list[str] = []
    if request.form is Format.TABLE and not choice.darshan:
        terminal = on_terminal(request.form, request.output)
        width = terminal_width() if terminal else sys.maxsize
        for line in foot(table, rings):
            below += textwrap.wrap(line, width, subsequent_indent=_INDENT)
    finish(
        table,
        request,
        main=_DARSHAN,
        words=None if choice.darshan else words,
        spare=_SPARE,
        # Of a file there may be two lines.
        noun=_NOUNS[choice.by],
        below=len(below),
    )
    for line in below:
        request.note(line)
    return DONE if complete else FAILED
