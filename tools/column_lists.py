"""The lists of columns in docstrings and on pages, made from `tracefast.columns`: `make pages`.

`help(tf.files)` has to be enough to use it, so docstrings list the columns as well. A test says
when a list is stale, and compares names and types with what the functions give.
"""

import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

import polars as pl

import tracefast as tf
from tracefast.columns.column_group import ColumnGroup
from tracefast.columns.events import JOINED
from tracefast.columns.files import WRITE_COLUMNS
from tracefast.columns.tables import EVENTS, TABLES

DOCS = Path(__file__).resolve().parents[1] / "docs"
# The functions whose docstrings list the columns of a table.
FUNCTIONS: dict[str, Callable[..., pl.LazyFrame]] = {
    name: getattr(tf, "events" if name == "event_counts" else name)
    for name in TABLES
    if name not in {"darshan", "blocks_by_file", "shared_reads_by_folder"}
    and not name.endswith("_by_time")
}
_MARKED = re.compile(r"(<!-- columns of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
# The columns of a docstring: names and type in one line, the meaning indented below.
_LISTED = re.compile(r"(?:^ {8}`\w+`(?:, `\w+`)* : .+\n(?:^ {12}.+\n)+)+", re.MULTILINE)
_WIDTH = 100


def table_of(name: str, events: pl.LazyFrame, **options: object) -> pl.LazyFrame:
    """Make a table of events."""
    if name == "darshan":
        return tf.files(events, darshan=True)
    if name == "blocks_by_file":
        return tf.blocks(events, by="file")
    if name == "shared_reads_by_folder":
        return tf.shared_reads(events, by="folder")
    if name.endswith("_by_time"):
        by_time: pl.LazyFrame = getattr(tf, name.removesuffix("_by_time"))(events, every="1s")
        return by_time
    if name == "check":
        return tf.check([{"name": "any", "table": "files", "max_rows": 0}], events)
    others: dict[str, tuple[object, ...]] = {"accesses": ("file",), "diff": (events,)}
    return FUNCTIONS[name](events, *others.get(name, ()), **options)


def listed(name: str) -> tuple[ColumnGroup, ...]:
    """Give the columns of a table that lists name; a sentence mentions those of writes."""
    return tuple(group for group in TABLES[name] if group not in WRITE_COLUMNS)


def pages() -> dict[Path, str]:
    """Give the text of every page that lists columns."""
    return {
        DOCS / "tables.md": _marked(DOCS / "tables.md", {name: listed(name) for name in TABLES}),
        DOCS / "schema.md": _marked(DOCS / "schema.md", {"events": EVENTS, "joined": JOINED}),
    }


def _marked(page: Path, tables: dict[str, tuple[ColumnGroup, ...]]) -> str:
    """Fill in the tables between the marks of a page."""

    def table(found: re.Match[str]) -> str:
        rows = ["| column | type | unit | meaning |", "|---|---|---|---|"]
        for group in tables[found[2]]:
            names = ", ".join(f"`{name}`" for name in group.names)
            text = f"{group.meaning} {group.detail}".strip().replace("``", "`").replace("|", r"\|")
            rows.append(f"| {names} | {group.type} | {group.unit or ''} | {text} |")
        return found[1] + "\n" + "\n".join(rows) + "\n\n" + found[3]

    return _MARKED.sub(table, page.read_text())


def module_of(name: str) -> Path:
    """Find the module whose docstring lists the columns of a table."""
    return Path(inspect.getsourcefile(FUNCTIONS[name]))


def with_list(name: str) -> str:
    """Give the text of this module with the list of columns filled in."""
    text = module_of(name).read_text()
    start = text.index(f"\ndef {FUNCTIONS[name].__name__}(")
    return text[:start] + _LISTED.sub(lambda _: _docstring(name), text[start:], count=1)


def _docstring(name: str) -> str:
    lines: list[str] = []
    for group in listed(name):
        # The unit is given here if the name does not end in it.
        implied = all(column.endswith(f"_{group.unit}") for column in group.names)
        unit = f", in {group.unit}" if group.unit and not implied else ""
        names = ", ".join(f"`{column}`" for column in group.names)
        lines.append(f"{' ' * 8}{names} : {group.type}{unit}")
        lines += textwrap.wrap(
            group.meaning,
            _WIDTH,
            initial_indent=" " * 12,
            subsequent_indent=" " * 12,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for table_name in FUNCTIONS:
        module_of(table_name).write_text(with_list(table_name))
    for path, text in pages().items():
        path.write_text(text)
