"""The page on tables, made from what the docstrings say of each column: `python table_page.py`.

Docstrings are where columns are described, as `help(tf.files)` must be enough to use it. The page
has the same as tables between two marks; a test holds both against what the functions give.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

import tracefast as tf
from tracefast.scanning import event_schema

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
FUNCTIONS = (
    tf.files,
    tf.accesses,
    tf.page_cache,
    tf.blocks,
    tf.forks,
    tf.fork_summary,
    tf.fork_advice,
    tf.processes,
    tf.syscalls,
    tf.events,
)
_COLUMNS = re.compile(r"^ {8}(`\w+`(?:, `\w+`)*) : (\S+)$")
_MARKED = re.compile(r"(<!-- columns of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


class Entry(NamedTuple):
    """Columns of one type that are described together."""

    names: list[str]
    type: str
    meaning: str


def entries(function: Callable[..., object]) -> Iterator[Entry]:
    """Give the columns that a docstring describes, in order."""
    names: list[str] = []
    kind, meaning = "", []
    returns = re.split(r"\n    Returns\n    -+\n", function.__doc__ or "")[1]
    returns = re.split(r"\n    \w+\n    -+\n", returns)[0]
    for line in [*returns.splitlines(), "end"]:
        begin = _COLUMNS.match(line)
        if names and (begin or (line and not line.startswith(" " * 12))):
            yield Entry(names, kind, " ".join(meaning))
            names = []
        if begin:
            names, kind, meaning = re.findall(r"\w+", begin[1]), begin[2], []
        elif names and line:
            meaning.append(line.strip())


def described(function: Callable[..., object]) -> dict[str, str]:
    """Give the type of every column that a docstring describes, writes included."""
    types = {name: entry.type for entry in entries(function) for name in entry.names}
    if function is tf.files:
        reads = {name: kind for name, kind in types.items() if name.startswith("read")}
        types |= {"write" + name.removeprefix("read"): kind for name, kind in reads.items()}
        del types["write_eof"]
    return types


def given(function: Callable[..., pl.LazyFrame], **options: object) -> dict[str, str]:
    """Give the type of every column that a function gives."""
    events = pl.LazyFrame(schema=event_schema())
    arguments = ("file",) if function is tf.accesses else ()
    schema = function(events, *arguments, **options).collect_schema()
    return {
        name: "Datetime" if dtype == pl.Datetime("ns") else str(dtype)
        for name, dtype in schema.items()
    }


def made(page: str) -> str:
    """Give the page with its tables made anew."""
    by_name = {function.__name__: function for function in FUNCTIONS}

    def table(found: re.Match[str]) -> str:
        rows = ["| column | type | meaning |", "|---|---|---|"]
        for names, kind, meaning in entries(by_name[found[2]]):
            text = meaning.replace("``", "`").replace("|", r"\|")
            rows.append(f"| {', '.join(f'`{name}`' for name in names)} | {kind} | {text} |")
        return found[1] + "\n" + "\n".join(rows) + "\n\n" + found[3]

    return _MARKED.sub(table, page)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text()))
