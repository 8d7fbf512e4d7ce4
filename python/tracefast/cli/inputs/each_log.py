"""Run an analysis on each log for itself: in memory that does not grow with their number."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from tracefast import Error
from tracefast.cli.command_line.request import Request
from tracefast.cli.inputs.event_sources import Analysis, run_analysis
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.messages.stderr import print_error
from tracefast.inputs.sources import expand, without_repeats


def analyse_each(
    request: Request, inputs: Sequence[str], analysis: Analysis, schema: pl.Schema
) -> tuple[pl.DataFrame, list[str]]:
    """Run an analysis on each log; errors of single logs are printed on standard error.

    Parameters
    ----------
    request
        The options for reading them.
    inputs
        Logs, Parquet files, patterns, directories, ``-``.
    analysis
        Makes the result out of the events of a log.
    schema
        The columns of the result.

    Returns
    -------
    tuple of polars.DataFrame and list of str
        The results, and the inputs that could not be read.
    """
    results, unread, names = [schema.to_frame()], [], []
    for given in inputs:
        try:
            names += expand(given)
        except (CommandError, Error, OSError) as error:
            print_error(error)
            unread.append(given)
    for name in without_repeats(names):
        rows, complete = run_analysis(replace(request, inputs=[name]), analysis)
        if rows is not None:
            results.append(rows)
        if rows is None or not complete:
            unread.append(name)
    return pl.concat(results), unread
