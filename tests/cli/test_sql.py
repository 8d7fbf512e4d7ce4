"""`tracefast sql`, with polars and with DuckDB."""

import csv
import io
import json
import os
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from tracefast.cli.sql.tables import ANALYSES

BOTH = pytest.mark.parametrize("engine", ["polars", "duckdb"])


def rows(ran):
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@BOTH
def test_questions_about_events(run, spawn_strace, engine):
    def ask(query, *logs):
        return rows(run("sql", query, *logs, "--engine", engine, "--format", "ndjson"))

    events = tf.scan(spawn_strace).collect()
    query = "SELECT name, count(*) AS n FROM events GROUP BY name ORDER BY n DESC, name"
    expected = events.group_by("name").agg(pl.len().alias("n"))
    found = ask(query, spawn_strace)
    assert sorted((row["name"], row["n"]) for row in found) == sorted(expected.rows())
    assert [row["n"] for row in found] == sorted((row["n"] for row in found), reverse=True)
    # Words of closed lists are text like any other.
    found = ask(
        "SELECT DISTINCT upper(name) AS n FROM events WHERE name LIKE 'open%'", spawn_strace
    )
    assert found == [{"n": "OPENAT"}]
    run("parse", spawn_strace, "-o", "events.parquet")
    for source in (spawn_strace, "events.parquet"):
        # A log that is named twice is read once.
        assert ask("SELECT count(*) AS n FROM events", source, source) == [{"n": len(events)}]
    ran = run(
        *("sql", "SELECT count(*) AS n FROM events", "-", "--engine", engine, "--format", "ndjson"),
        input=spawn_strace.read_text(),
    )
    assert rows(ran) == [{"n": len(events)}]


@pytest.mark.parametrize(
    ("engine", "log"), [("polars", "spawn_strace"), ("duckdb", "spawn_ftrace")]
)
@pytest.mark.parametrize("name", list(ANALYSES))
def test_the_answers_of_the_other_commands_are_tables(run, request, tmp_path, engine, log, name):
    spawn = request.getfixturevalue(log)
    ran = run("sql", f"SELECT * FROM {name}", spawn, "--engine", engine, "-o", "a.parquet")
    assert ran.returncode == 0, ran.stderr
    analysis = getattr(tf, name, partial(tf.files, by="process"))
    expected = analysis(tf.scan(spawn)).collect()
    words = pl.col(pl.Categorical, pl.Enum).cast(pl.String)
    found = pl.read_parquet(tmp_path / "a.parquet").with_columns(words)
    assert_frame_equal(found, expected.with_columns(words), check_dtypes=engine == "polars")


@BOTH
def test_joins_and_windows(run, spawn_strace, engine):
    query = "SELECT count(*) AS n FROM events e JOIN files f ON e.file = f.file WHERE f.reads > 0"
    asked = ("sql", query, spawn_strace, "--engine", engine, "--format", "ndjson")
    whole, part = rows(run(*asked)), rows(run(*asked, "--from", "0.05"))
    assert whole[0]["n"] > part[0]["n"] > 0


@BOTH
def test_rows_are_counted_without_any_column(run, spawn_strace, engine):
    def count(query):
        return rows(run("sql", query, spawn_strace, "--engine", engine, "--format", "ndjson"))

    events = tf.scan(spawn_strace)
    files, forks = tf.files(events).collect().height, tf.forks(events).collect().height
    found = count("SELECT count(*) AS n FROM files CROSS JOIN forks")
    assert found == [{"n": files * forks}]
    assert count("SELECT count(*) AS n FROM files WHERE 1 = 1") == [{"n": files}]


@BOTH
def test_names_and_values_of_an_answer_are_those_of_the_question(
    run, terminal, spawn_strace, engine
):
    query = "SELECT 735801000 AS max_ns, 5000 AS lo, 0.5 AS miss_share, 0 AS errors FROM events"
    asked = ("sql", query, spawn_strace, "--engine", engine, "--top", 1)
    for text in (run(*asked).stdout, terminal(*asked)):
        header, row, *_ = text.splitlines()
        assert header.split() == ["max_ns", "lo", "miss_share", "errors"]
        assert row.split()[:2] == ["735801000", "5000"]
        assert float(row.split()[2]) == 0.5
        assert row.split()[3] == "0"


@BOTH
def test_every_form(run, spawn_strace, tmp_path, engine):
    query = "SELECT path, read_bytes FROM files WHERE reads > 0 ORDER BY read_bytes DESC, path"
    asked = ("sql", query, spawn_strace, "--engine", engine)
    table = run(*asked).stdout.splitlines()
    assert table[0].split("  ")[0] == "path"
    text = list(csv.DictReader(io.StringIO(run(*asked, "--format", "csv").stdout)))
    assert [row["read_bytes"] for row in text] == [
        str(row["read_bytes"]) for row in json.loads(run(*asked, "--format", "json").stdout)
    ]
    assert len(table) == len(text) + 1
    assert len(run(*asked, "--top", 2).stdout.splitlines()) == 3
    assert run(*asked, "-o", "a.csv").returncode == 0
    assert run(*asked, "-o", "a.csv", "--no-clobber").returncode == 2
    assert list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text()))) == text


@pytest.mark.parametrize(
    ("engine", "query", "words"),
    [
        ("polars", "SELECT * FROM file", ["no such table: file", "did you mean 'files'"]),
        ("polars", "SELECT nam FROM events", ["no such column: nam", "did you mean 'name'"]),
        ("polars", "SELECT xyzzy FROM events", ["hint: tracefast schema events lists all"]),
        ("polars", "SELECT xyzzy FROM files", ["hint: tracefast schema files lists all"]),
        ("polars", "SELECT time FROM files", ["the heading 'time' is read_ns or write_ns"]),
        ("polars", "SELEC", ["SQL: ", "an SQL statement", "hint: "]),
        ("polars", "", ["SQL: "]),
        ("duckdb", "SELECT * FROM file", ["SQL: ", "Table with name file", "did you mean 'files'"]),
        ("duckdb", "SELECT nam FROM events", ["SQL: ", '"nam" not found', '"name"']),
        ("duckdb", "SELEC", ["SQL: Parser Error"]),
        ("polar", "SELECT 1", ["polar"]),
        ("polars", "DROP TABLE events", ["error: SQL: DROP: only SELECT is supported", "hint: "]),
        ("duckdb", "DROP TABLE events", ["error: SQL: DROP: only SELECT is supported", "hint: "]),
        ("polars", "/* why */ -- not\n create table a as select 1", ["CREATE: only SELECT"]),
        ("duckdb", "/* why */ -- not\n create table a as select 1", ["CREATE: only SELECT"]),
        ("polars", "DELETE FROM events", ["DELETE: only SELECT is supported"]),
        ("polars", "TRUNCATE TABLE events", ["TRUNCATE: only SELECT is supported"]),
        ("duckdb", "COPY events TO 'a.csv'", ["COPY: only SELECT is supported", "-o FILE"]),
        ("duckdb", "SET threads = 1", ["SET: only SELECT is supported"]),
        ("duckdb", "DROP VIEW events; SELECT 1", ["DROP: only SELECT is supported"]),
        ("duckdb", "SELECT 1; DROP VIEW events", ["DROP: only SELECT is supported"]),
        ("duckdb", "WITH a AS (SELECT 1) INSERT INTO events FROM a", ["only SELECT is"]),
        ("duckdb", "PRAGMA threads = 1", ["only SELECT is supported"]),
        ("duckdb", "", ["the query is empty"]),
        ("polars", "DESCRIBE files", ["SQL: ", "hint: tracefast schema TABLE lists columns"]),
    ],
)
def test_statements_that_are_not_queries_are_explained(run, spawn_strace, engine, query, words):
    ran = run("sql", query, spawn_strace, "--engine", engine)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Traceback" not in ran.stderr
    for word in words:
        assert word in ran.stderr


@BOTH
def test_tables_can_be_listed(run, spawn_strace, engine):
    ran = run("sql", "SHOW TABLES", spawn_strace, "--engine", engine, "--format", "ndjson")
    assert sorted(row["name"] for row in rows(ran)) == sorted(["events", *ANALYSES])


def test_duckdb_describes_tables_and_prepares_for_a_question(run, spawn_strace):
    def ask(query):
        return rows(run("sql", query, spawn_strace, *["--engine", "duckdb", "--format", "ndjson"]))

    columns = tf.forks(tf.scan(spawn_strace)).collect_schema().names()
    assert [row["column_name"] for row in ask("DESCRIBE forks")] == columns
    query = "SELECT column_name FROM information_schema.columns WHERE table_name = 'forks'"
    assert [row["column_name"] for row in ask(query)] == columns
    assert ask("SET threads = 1; CREATE TEMP TABLE a AS SELECT 7 AS n; FROM a") == [{"n": 7}]
    assert len(ask("PIVOT (SELECT kind FROM events) ON kind USING count(*)")) == 1
    assert ask("EXPLAIN SELECT 1")


@pytest.mark.parametrize("log", ["app.strace", "missing.strace"])
def test_the_question_comes_first(run, spawn_strace, tmp_path, log):
    (tmp_path / "app.strace").write_bytes(spawn_strace.read_bytes())
    ran = run("sql", log, "SELECT 1")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        f"error: {log}: not a SQL query\n"
        f'hint: the query comes first: tracefast sql "SELECT 1" {log}\n'
    )
    ran = run("sql", "app.strace", "missing.strace")
    assert 'first: tracefast sql "SELECT …" app.strace' in ran.stderr
    # A name is a name, whatever it looks like.
    (tmp_path / "from here").write_bytes(spawn_strace.read_bytes())
    assert run("sql", "SELECT 1 AS a", "from here").returncode == 0


def test_a_log_that_fails_makes_the_whole_query_fail(run, spawn_strace, tmp_path):
    (tmp_path / "program").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 100)
    ran = run("sql", "SELECT count(*) FROM events", spawn_strace, "program")
    # A count for each log would not be the count of all.
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("error: program:1: ")


def test_duckdb_need_not_be_there(run, spawn_strace, tmp_path):
    (tmp_path / "duckdb.py").write_text("raise ImportError")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path}
    query = "SELECT count(*) AS n FROM events"
    ran = run("sql", query, spawn_strace, "--engine", "duckdb", env=environment)
    assert ran.returncode == 2
    assert ran.stderr == (
        "error: --engine duckdb: duckdb is not installed\nhint: pip install 'tracefast[duckdb]'\n"
    )
    assert run("sql", query, spawn_strace, env=environment).returncode == 0
