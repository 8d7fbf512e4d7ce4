"""`tracefast files --explain PATH`: the accesses of one file."""

from typing import TYPE_CHECKING

import polars as pl

from tracefast.analysis.files.accesses import SCHEMA, calls_of, of_files
from tracefast.analysis.files.find_path import PathNotFoundError, find_path, used_paths
from tracefast.analysis.files.inode_map import with_paths
from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import run_analysis
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.screen.files.accesses import print_accesses
from tracefast.cli.screen.result_table import check_columns

if TYPE_CHECKING:
    from tracefast.analysis.files.inode_map import InodeMap


def report_accesses(request: Request, wanted: str, *, inode_map: "InodeMap | None" = None) -> int:
    """Print the accesses of one file, summarize them, and give the exit code.

    Parameters
    ----------
    request
        The options that all tables share.
    wanted
        The file: its path, the end of its path, or a pattern that matches one path.
    inode_map
        Paths of files that are known by device and inode only.

    Raises
    ------
    CommandError
        No path matches, or several do; or there is no such column to sort by.
    """
    check_columns(request, SCHEMA)
    found: dict[str, set[int]] = {}

    def analysis(events: pl.LazyFrame) -> pl.LazyFrame:
        named = events if inode_map is None else with_paths(events, inode_map)
        try:
            path, files = find_path(used_paths(named), wanted)
        except PathNotFoundError as error:
            raise CommandError(f"--explain {error.message}", error.hint) from error
        found.setdefault(path, set()).update(files)
        return calls_of(events, files)

    events, complete = run_analysis(request, analysis)
    if events is None:
        return FAILED
    rows = of_files(events, sorted(set().union(*found.values()))).collect()
    print_accesses(rows, events, ", ".join(found), request)
    return DONE if complete else FAILED
