"""Print the table of `tracefast files`, with its total and notes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tracefast.cli.command_line.request import Request
from tracefast.cli.messages.stderr import note_lines
from tracefast.cli.output.form import Format
from tracefast.cli.screen.files.total import note_on_assumed, total_and_notes
from tracefast.cli.screen.files.usage_lines import usage_lines
from tracefast.cli.screen.print_rows import print_rows
from tracefast.cli.text.rows import Rows

if TYPE_CHECKING:
    from tracefast.analysis.files.table import By

# What a table of Darshan's counters shows as text; the path last, as it may be long.
_DARSHAN: Final = (
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
_SPARE: Final = (
    *("covered_share", "ts_open", "task", "errors", "reread_factor", "op_ns"),
    *("calls", "pattern"),
    *("POSIX_OPENS", "POSIX_SEQ_WRITES", "POSIX_CONSEC_WRITES", "POSIX_WRITES"),
)
# What a row is about.
_NOUNS: "Final[dict[By | None, tuple[str, str]]]" = {
    None: ("file", "files"),
    "process": ("file of a process", "files of processes"),
    "open": ("open file", "open files"),
    "phase": ("file of a phase", "files of phases"),
}
# On a narrower terminal, patterns are shorter.
_NARROW: Final = 120


def print_files_table(
    table: Rows, request: Request, *, by: "By | None", rings: Sequence[tuple[int, int]]
) -> None:
    """Print the table; as text, with a line per file and direction, a total and notes.

    The note that puts offsets in doubt comes before the table, the others after it.

    Parameters
    ----------
    table
        What :func:`tracefast.files` gives.
    request
        What was asked for.
    by
        What a row is about.
    rings
        Calls of io_uring_enter, and the submissions that they took.
    """

    def lines(rows: Rows, width: int | None) -> Rows:
        return usage_lines(rows, request.sort, short=width is not None and width < _NARROW)

    above: list[str] = []
    below: list[str] = []
    if request.form is Format.TABLE:
        above = note_on_assumed(table)
        below = total_and_notes(table, rings)
    request.note_lines(above)
    print_rows(
        table,
        request,
        main=(),
        as_text=lines,
        spare=_SPARE,
        noun=_NOUNS[by],
        below=len(note_lines([*above, *below])),
    )
    request.note_lines(below)


def print_darshan_table(table: Rows, request: Request, *, by: "By | None") -> None:
    """Print the counters of Darshan's POSIX module."""
    print_rows(table, request, main=_DARSHAN, spare=_SPARE, noun=_NOUNS[by], below=0)
