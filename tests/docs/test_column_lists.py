"""Columns are described as they are: the table of columns, docstrings, pages and code agree."""

import re

import polars as pl
import pyarrow as pa
import pytest

import column_lists
import tracefast as tf
from tracefast import _core
from tracefast._polars.event_schema import event_schema
from tracefast.analysis.waits import table as waits_table
from tracefast.analysis.workers import batches as workers_batches
from tracefast.analysis.workers import pools as workers_pools
from tracefast.analysis.workers import shared_reads as workers_shared_reads
from tracefast.analysis.workers import table as workers_table
from tracefast.columns import files, waits
from tracefast.columns.events import JOINED
from tracefast.columns.forks import forks
from tracefast.columns.tables import EVENTS, TABLES, described, names_of

# The fields of a struct, which its description names.
_FIELDS = re.compile(r"Struct\(\{.*?\}\)")
# What some options add.
EXTRA = {
    "files": [{"by": "phase"}, {"by": "process"}, {"by": "open"}],
    "syscalls": [{"by": "phase"}, {"by": "process"}],
}
# What the extension declares itself.
DECLARED = {
    "files": [
        _core.Files().schema,
        _core.Files(by="phase").schema,
        _core.Files(by="process").schema,
        _core.Files(by="open").schema,
    ],
    "darshan": [_core.Darshan().schema],
    "forks": [_core.Forks().schema],
    "processes": [_core.Processes().schema],
    "memory": [_core.Memory().schema],
    "syscalls": [
        _core.Syscalls().schema,
        _core.Syscalls(by="phase").schema,
        _core.Syscalls(by="process").schema,
    ],
    "waits": [waits_table.SCHEMA],
    "workers": [workers_table.SCHEMA],
    "pools": [workers_pools.SCHEMA],
    "batches": [workers_batches.SCHEMA],
    "shared_reads": [workers_shared_reads.SCHEMA],
    "shared_reads_by_folder": [workers_shared_reads.BY_FOLDER],
}


# What tables have besides if the events are joined.
OF_JOINED = {
    "files": files.JOINED,
    "forks": forks.JOINED,
    "waits": waits.JOINED,
    "stuck": waits.JOINED,
}


def given(name, *, joined=False, **options):
    """Give the type of every column that a function gives."""
    more = dict.fromkeys(names_of(JOINED), pl.Int64) if joined else {}
    events = pl.LazyFrame(schema=event_schema() | more)
    return written(column_lists.table_of(name, events, **options).collect_schema())


def written(schema):
    return {
        name: "Datetime" if dtype == pl.Datetime("ns") else _FIELDS.sub("Struct", str(dtype))
        for name, dtype in schema.items()
    }


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_the_columns_that_are_described(name):
    types = {column: entry.type for column, entry in described(TABLES[name]).items()}
    plain = given(name)
    assert [column for column in types if column in plain] == list(plain)
    found = dict(plain)
    for options in [*EXTRA.get(name, []), {"joined": True}]:
        more = given(name, **options)
        assert [column for column in types if column in more] == list(more)
        found |= more
    assert types == found


@pytest.mark.parametrize("name", DECLARED)
def test_the_extension_declares_the_types_that_are_described(name):
    joined = names_of(OF_JOINED.get(name, ()))
    columns = described(TABLES[name]).items()
    types = {column: entry.type for column, entry in columns if column not in joined}
    declared = {}
    for schema in DECLARED[name]:
        declared |= written(pl.Schema(schema))
    assert declared == types


def test_the_extension_declares_the_events_that_are_described():
    types = {column: entry.type for column, entry in described(EVENTS).items()}
    declared = {
        field.name: "dictionary" if pa.types.is_dictionary(field.type) else str(field.type)
        for field in pa.schema(tf.schema())
    }
    assert list(declared.items()) == list(types.items())


@pytest.mark.parametrize("name", ["events", *TABLES])
def test_descriptions_are_whole(name):
    groups = EVENTS if name == "events" else TABLES[name]
    assert len(names_of(groups)) == len(set(names_of(groups)))
    for group in groups:
        assert group.meaning.endswith("."), group
        assert not group.detail or group.detail.endswith("."), group
        assert group.meaning.count("`") % 2 == 0
        for column in group.names:
            for unit in ("ns", "bytes"):
                assert not column.endswith(f"_{unit}") or group.unit == unit


@pytest.mark.parametrize("name", column_lists.FUNCTIONS)
def test_docstrings_list_the_columns(name):
    assert column_lists.with_list(name) == column_lists.module_of(name).read_text(), (
        "run: make pages"
    )
    text = column_lists.FUNCTIONS[name].__doc__
    listed = re.findall(r"^ {8}(`\w+`(?:, `\w+`)*) : ", text, re.MULTILINE)
    assert re.findall(r"\w+", " ".join(listed)) == names_of(column_lists.listed(name))


def test_pages_list_the_columns():
    for path, text in column_lists.pages().items():
        assert text == path.read_text(), "run: make pages"
    page = (column_lists.DOCS / "tables.md").read_text()
    assert set(re.findall(r"<!-- columns of (\w+) -->", page)) == set(TABLES)
    assert "<!-- columns of events -->" in (column_lists.DOCS / "schema.md").read_text()


def test_every_table_that_is_public_is_described():
    # `join` gives events.
    without = {"covered_bytes", "fields", "join", "scan"}
    tables = {
        name
        for name in tf.__all__
        if callable(getattr(tf, name)) and "LazyFrame" in (getattr(tf, name).__doc__ or "")
    }
    assert tables - without == {each.__name__ for each in column_lists.FUNCTIONS.values()}
