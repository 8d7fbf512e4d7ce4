"""`tracefast files`: one row per file, per process or phase and file, or per open."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tracefast import _core
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.one_input import show_one_input
from tracefast.cli.screen.files.table import print_darshan_table, print_files_table
from tracefast.cli.screen.matching import filtered_rows, note_without_phases
from tracefast.cli.text.rows import Rows, where

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap
    from tracefast.analysis.files.table import By, Scope


@dataclass(frozen=True)
class FilesOptions:
    """Which rows the table has, and how accesses are classified.

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

    scope: "Scope" = "stream"
    by: "By | None" = None
    near: int | None = None
    darshan: bool = False
    match: str | None = None
    type: str | None = None


def report_files(
    request: Request, options: FilesOptions, *, inode_map: "InodeMap | None" = None
) -> int:
    """Print the table of files and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    options
        Which rows there are.
    inode_map
        Paths of files by device and inode.

    Raises
    ------
    CommandError
        There is no such column to sort by.
    """
    if not options.darshan and inode_map is None:
        new = partial(_core.Files, by=options.by, scope=options.scope)
        fold = new() if options.near is None else new(near=options.near)
        rings: list[tuple[int, int]] = []
        code = show_one_input(
            request,
            fold,
            lambda rows: _print(rows, request, options, rings),
            look=lambda fold: rings.append(fold.rings),
        )
        if code is not None:
            return code
    return _report_frame(request, options, inode_map)


def _report_frame(request: Request, options: FilesOptions, inode_map: "InodeMap | None") -> int:
    """Print the table that polars makes."""
    import polars as pl

    from tracefast.analysis.files.device_reads import SCHEMA as DEVICE
    from tracefast.analysis.files.inode_map import with_paths
    from tracefast.analysis.files.table import NEAR, columns, files_and_rings
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.inputs.live import run_or_watch
    from tracefast.cli.screen.result_table import check_columns
    from tracefast.cli.text.frame_rows import FrameRows

    darshan = options.darshan
    # Only when the events are read it is known whether they were joined.
    own = columns(options.by, darshan=darshan)
    check_columns(
        request, own if darshan or options.by == "phase" else pl.Schema({**own, **DEVICE})
    )
    rings: list[tuple[int, int]] = []

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        if darshan and inode_map is not None:
            events = with_paths(events, inode_map)
        table = files_and_rings(
            events,
            scope=options.scope,
            by=options.by,
            near=NEAR if options.near is None else options.near,
            darshan=darshan,
            rings=lambda calls, submitted: rings.append((calls, submitted)),
        )
        return table if darshan or inode_map is None else with_paths(table, inode_map)

    def show(table: pl.DataFrame) -> None:
        _print(FrameRows(table), request, options, rings[-1:])

    run = run_analysis if darshan or inode_map is not None else partial(run_or_watch, show=show)
    table, complete = run(request, analysis, by_phase=options.by == "phase")
    if table is None:
        return FAILED
    check_columns(request, table.schema)
    show(table)
    return DONE if complete else FAILED


def _print(
    rows: Rows, request: Request, options: FilesOptions, rings: list[tuple[int, int]]
) -> None:
    """Print the table of files, those with the most bytes first."""
    if options.by == "phase":
        note_without_phases(rows, request)
    moved = ("read_bytes", "write_bytes")
    if options.darshan:
        moved = ("POSIX_BYTES_READ", "POSIX_BYTES_WRITTEN")
    # Each log is in order, but not all together.
    rows = rows.ordered([-(read or 0) - (written or 0) for read, written in rows.records(*moved)])
    rows = filtered_rows(rows, request, options.match, "path")
    if options.type is not None:
        rows = rows.take(where(kind == options.type for kind in rows.values("type")))
    if options.darshan:
        print_darshan_table(rows, request, by=options.by)
    else:
        print_files_table(rows, request, by=options.by, rings=rings)
