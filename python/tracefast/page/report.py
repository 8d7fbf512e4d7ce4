"""The report of a log: one page that can be attached to a ticket."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from importlib import import_module
from pathlib import Path

from tracefast._polars.given_events import Events
from tracefast.outputs import write_whole
from tracefast.page.answers import answers_to
from tracefast.page.elements import breakable, section
from tracefast.page.panels import first, tables
from tracefast.page.shell import document, text


class Page:
    """A page that loads nothing: it shows itself in a notebook."""

    def __init__(self, title: str, html: str) -> None:
        self.title = title
        self.html = html

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, which appears whole or not at all."""
        write_whole(Path(path), self.html.encode())

    def __repr__(self) -> str:
        return f"<Page {self.title!r}, {len(self.html.encode()):,} bytes>"

    def _repr_html_(self) -> str:
        # In a frame of its own: the policy of the page holds there, and its styles only there.
        return (
            f'<iframe sandbox="allow-scripts" style="width:100%;height:720px;border:0"'
            f' title="{text(self.title)}" srcdoc="{escape(self.html)}"></iframe>'
        )


def report(events: Events) -> Page:
    """Make the report of a log: findings, charts and tables in one page that loads nothing.

    Parameters
    ----------
    events
        The events of logs or of Parquet files, in their order: all of them.

    Returns
    -------
    Page
        ``write(path)`` writes it; in a notebook it shows itself.

    Raises
    ------
    ModuleNotFoundError
        altair or pygraphviz is not installed: ``pip install 'tracefast[report]'``.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    >>> import tracefast as tf
    >>> tf.report(tf.scan("demo.strace")).title
    'Report of demo.strace'
    """
    return report_of(events)


@contextmanager
def _drawing_imported() -> Iterator[None]:
    """Import what draws while events are read, which takes other threads most of the time."""
    with ThreadPoolExecutor(1, thread_name_prefix="tracefast-import") as pool:
        for name in ("altair", "pygraphviz"):
            # That one is missing is said where it draws.
            pool.submit(import_module, name)
        yield


def report_of(events: Events, inputs: Sequence[str] | None = None) -> Page:
    """Make the report; commands in it name the logs as the user did."""
    with _drawing_imported():
        answers = answers_to(events, inputs)
    with ThreadPoolExecutor(1, thread_name_prefix="tracefast-panel") as pool:
        # Graphviz lays out the picture while the other panels are made.
        flow = pool.submit(tables.flow, answers)
        # Before the charts: to read a log, polars imports pyarrow and pandas if they are installed,
        # and altair fails if it sees such a module half imported.
        accesses = tables.accesses(answers)
        panels = [
            first.run(answers),
            first.findings(answers),
            *first.activity(answers),
            flow.result(),
            *tables.files(answers, accesses),
            tables.calls(answers),
            tables.errors(answers),
            tables.starting(answers),
            tables.waits(answers),
            *tables.kernel(answers),
            tables.log(answers),
        ]
    title = f"Report of {', '.join(answers.inputs) or 'no log'}"
    items = "".join(f'<li><a href="#{each.id}">{text(each.title)}</a></li>' for each in panels)
    head = breakable(text(title))
    body = (
        f'<a class="skip" href="#run">To the report</a><header><h1>{head}</h1></header>'
        f"<nav><ul>{items}</ul></nav><main>{''.join(map(section, panels))}</main>"
    )
    return Page(title, document(title, body, charts="<figure" in body))
