"""`tracefast schema` and `tracefast version`."""

import json
import platform
import re
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pytest

import column_lists
import tracefast as tf
from support.paths import DOCS
from tracefast.columns.tables import EVENTS, TABLES, names_of


def test_the_schema_has_all_columns_as_the_docs_have_them(run):
    table = json.loads(run("schema", "--format", "json").stdout)
    arrow = pa.schema(tf.schema())
    assert [row["column"] for row in table] == arrow.names == names_of(EVENTS)
    for row, field in zip(table, arrow, strict=True):
        kind = str(field.type)
        assert row["type"] == ("dictionary" if kind.startswith("dictionary<") else kind)
        line = f"| `{row['column']}` | {row['type']} |"
        assert line in (DOCS / "schema.md").read_text()
        assert row["meaning"]
    ends = {name.rpartition("_")[2] for name in arrow.names}
    assert {"ns", "bytes"} < ends
    for row in table:
        if row["column"].endswith(("_ns", "_bytes")):
            assert row["unit"] == row["column"].rpartition("_")[2]


@pytest.mark.parametrize("name", list(TABLES))
def test_the_schema_of_a_table_is_what_its_function_gives(run, spawn_strace, name):
    found = json.loads(run("schema", name, "--format", "json").stdout)
    given = column_lists.table_of(name, tf.scan(spawn_strace)).collect_schema()
    types = {row["column"]: row["type"] for row in found}
    assert {name: types[name].partition("(")[0] for name in given} == {
        name: str(dtype).partition("(")[0] for name, dtype in given.items()
    }
    assert all(row["meaning"] for row in found)
    page = (DOCS / "tables.md").read_text()
    for row in found:
        meaning = row["meaning"].rpartition("`: ")[2].replace("|", "\\|")
        assert meaning in page or row["column"].startswith("write")


def test_what_columns_mean_goes_on_below_on_a_terminal(terminal):
    text = terminal("schema", "forks", columns=80)
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"^call_ns +Int64 +ns +Time in the call", text, re.MULTILINE)
    assert re.search(r"^ {30,}\w", text, re.MULTILINE)
    assert terminal("schema", "events", columns=200) == terminal("schema", columns=200)


def test_a_column_of_a_table_leads_to_it(run):
    ran = run("schema", "read_bytes")
    tables = "files, files_by_time, processes, workers, pools, shared_reads, shared_reads_by_folder"
    assert ran.stderr.endswith(f"hint: a column of {tables}: tracefast schema files\n")
    assert "hint: tracefast schema lists all of them; tables are: files, " in (
        run("schema", "xyzzy").stderr
    )


def test_one_column_of_the_schema(run, tmp_path):
    assert len(run("schema", "cpu").stdout.splitlines()) == 2
    ran = run("schema", "of_set")
    assert ran.returncode == 2
    assert "hint: did you mean 'offset'" in ran.stderr
    assert run("schema", "-o", "columns.csv").returncode == 0
    assert (tmp_path / "columns.csv").read_text().startswith("column,type,unit,meaning\n")


def test_versions(run):
    found = json.loads(run("version", "--format", "json").stdout)
    assert found["tracefast"] == tf.__version__
    assert found["schema"] == "1"
    assert found["python"] == platform.python_version()
    assert found["polars"] == pl.__version__
    assert found["pyarrow"] == pa.__version__
    assert found["platform"] == platform.platform()
    text = run("version").stdout.splitlines()
    assert text[0].split() == ["tracefast", tf.__version__]
    assert [line.split()[0] for line in text] == list(found)


def test_versions_are_given_without_importing_their_packages():
    code = """import sys
from tracefast.cli.commands.version import versions
versions()
print(*sys.modules)"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"polars", "pyarrow", "duckdb", "rich"} & set(ran.stdout.split())
