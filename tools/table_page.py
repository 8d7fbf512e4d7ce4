"""The page on tables, made from what the docstrings say of each column: `make pages`.

Docstrings are where columns are described, as `help(tf.files)` must be enough to use it. The page
has the same as tables between two marks; a test holds both against what the functions give.
"""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl

import tracefast as tf
from tracefast.cli.columns import table_columns
from tracefast.scanning import event_schema

PAGE = Path(__file__).resolve().parents[1] / "docs" / "tables.md"
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
_MARKED = re.compile(r"(<!-- columns of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def described(function: Callable[..., object]) -> dict[str, str]:
    """Give the type of every column that a docstring describes, writes included."""
    return {name: words.type for name, words in table_columns.described(function).items()}


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
        for names, kind, meaning in table_columns.entries(by_name[found[2]]):
            text = meaning.replace("``", "`").replace("|", r"\|")
            rows.append(f"| {', '.join(f'`{name}`' for name in names)} | {kind} | {text} |")
        return found[1] + "\n" + "\n".join(rows) + "\n\n" + found[3]

    return _MARKED.sub(table, page)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text()))
