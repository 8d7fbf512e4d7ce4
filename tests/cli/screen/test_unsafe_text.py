"""Hostile text in a log: it does not move the cursor or become a formula, and is not lost."""

import csv
import io
import json
import os
import re
import subprocess
import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracefast.cli.output.encode import encode_table
from tracefast.cli.output.form import Format
from tracefast.cli.screen.process_tree import render_tree as tree
from tracefast.cli.screen.strace_summary import render_summary as strace_table
from tracefast.cli.screen.unparsed_lines import _Csv, _Text
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.table_text import render_table

# What is invisible, or changes the direction of text.
HIDDEN = {
    *"\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2064\ufeff\u3164\U000e0041",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
}
# Letters of no shape.
FILLERS = set("\u115f\u1160\u3164\uffa0")
FORMULA = re.compile("[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")
# Few characters, most of them hostile; other tests have harmless text.
NASTY = st.sampled_from("\x00\x07\x08\t\n\v\f\r\x1b\x7f\x80\x9b\u2028=+-@'\\,\"701a /é\uff1d")
TEXT = st.text(
    st.one_of(NASTY, st.sampled_from(sorted(HIDDEN)), st.characters(exclude_categories=["Cs"]))
)

HOSTILE = rb"=cmd\33]0;t\7\342\200\256\n\r\302\233\377"
LOG = (
    rb"""
100 1700000000.000000 execve("/bin/x-HOSTILE", ["x"], 0x7ffd8d7e5a10 /* 2 vars */) = 0 <0.000100>
100 1700000000.000200 openat(AT_FDCWD, "HOSTILE", O_RDONLY) = 3 <0.000050>
100 1700000000.000300 read(3, "\0\1"..., 4096) = 4096 <0.000040>
100 1700000000.000400 close(3) = 0 <0.000010>
100 1700000000.000500 vfork( <unfinished ...>
101 1700000000.000600 execve("/bin/x-HOSTILE", ["x"], 0x7ffd8d7e5a10 /* 2 vars */) = 0 <0.000100>
101 1700000000.001500 +++ exited with 0 +++
100 1700000000.001600 <... vfork resumed>) = 101 <0.001100>
100 1700000000.001700 not a line of strace """.lstrip().replace(b"HOSTILE", HOSTILE)
    + b"\x1b[31m\xe2\x80\xae\xff\n"
)
RECORDS = (
    "bash-100 [000] ..... 10.000100: sched_process_fork: pid=100 child_comm=\x1b[31m child_pid=101",
    '\x1b[31m\u202e-101 [000] ..... 10.000500: my_probe: (vfs_read+0x0/0x2a0) na\x1b[me="=\u202e"',
)
TRACE = "# tracer: nop\n" + "".join(f"{record:>40}\n" for record in RECORDS)
COMMANDS = [
    ("files",),
    ("files", "--by", "process"),
    ("files", "--darshan"),
    ("files", "--explain", "=cmd*"),
    ("forks",),
    ("forks", "--each"),
    ("processes",),
    ("processes", "--tree"),
    ("syscalls", "--by", "process"),
    ("syscalls", "--strace-c"),
    ("events",),
]


def bad(text: str) -> set[str]:
    """Find characters that a terminal obeys, or shows nothing of."""
    return {
        character
        for character in text
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in HIDDEN
    } - {"\n"}


def read_back(cell: str) -> str:
    """Undo what keeps spreadsheets from taking text for formulas."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell.lstrip("'")) else cell


def test_controls_are_written_as_strace_writes_them():
    assert printable("\x1b[0m\x1b7\t\n\r\v\f\x00") == r"\33[0m\0337\t\n\r\v\f\0"
    assert printable("\u202e\u2066\u200e\u061c\x9b\U000e0041") == (
        r"\u202e\u2066\u200e\u061c\u009b\U000e0041"
    )
    assert printable("/srv/é ü/日本語/\\33") == "/srv/é ü/日本語/\\33"
    assert printable(os.fsdecode(b"a\xff\x1b")) == r"a\xff\33"


@given(st.text(st.characters(categories=["L", "N", "P", "S"]).filter(lambda c: c not in FILLERS)))
def test_what_can_be_seen_is_not_changed(text):
    assert printable(text) == text


@given(st.text())
def test_nothing_else_is_left(text):
    assert not bad(printable(text))


@given(
    st.lists(st.tuples(TEXT, TEXT, st.lists(TEXT, max_size=2)), min_size=1, max_size=5),
    TEXT,
    st.one_of(st.none(), st.integers(1, 200)),
)
def test_a_table_holds_no_controls_but_its_line_ends(rows, header, width):
    names = [f"a{header}", "dir", "images"]
    table = pl.DataFrame(
        {name: [row[i] for row in rows] for i, name in enumerate(names)},
        schema={names[0]: pl.String, "dir": pl.Categorical, "images": pl.List(pl.String)},
    )
    text = render_table(table, table.columns, width)
    assert not bad(text)
    assert text.count("\n") == len(rows) + 1


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_neither_do_trees_summaries_and_explanations(texts):
    columns = {"source": "log", "task": 0, "parent_task": None, "pid": 1, "kind": None}
    columns |= {"comm": None, "threads": 1, "calls": 1, "lifetime_ns": 1}
    columns |= {"read_bytes": 1, "write_bytes": 1, "exit_signal": None, "exit_status": 0}
    rows = [columns | {"task": i, "image": text or "x"} for i, text in enumerate(texts)]
    for shown in (tree(pl.DataFrame(rows)), tree(pl.DataFrame(rows), width=60, plain=True)):
        assert not bad(shown)
        assert shown.count("\n") <= len(rows) + 1
    counts = {"name": texts, "calls": 1, "errors": 0, "total_ns": 1}
    assert not bad(strace_table(pl.DataFrame(counts)))
    lines = [(text, 1, text, text) for text in texts]
    assert not bad(_Text().lines(lines))
    assert not bad(_Csv().lines(lines))


@given(st.lists(st.tuples(TEXT, st.integers(-9, 9), st.floats(-1, 1)), min_size=1, max_size=5))
def test_csv_holds_neither_controls_nor_formulas(rows):
    table = pl.DataFrame(rows, schema=["path", "n", "x"], orient="row")
    text = encode_table(table, Format.CSV).decode()
    assert not bad(text)
    back = list(csv.DictReader(io.StringIO(text)))
    assert len(back) == len(rows)
    for row, (path, n, x) in zip(back, rows, strict=True):
        assert not FORMULA.match(row["path"])
        assert read_back(row["path"]) == printable(path)
        assert (int(row["n"]), float(row["x"])) == (n, x)


@given(st.lists(TEXT, min_size=1, max_size=5))
def test_json_keeps_what_it_does_not_show(texts):
    table = pl.DataFrame({"path": texts})
    for form in (Format.JSON, Format.NDJSON):
        text = encode_table(table, form).decode()
        assert not bad(text)
        rows = json.loads(text) if form is Format.JSON else map(json.loads, text.splitlines())
        assert [row["path"] for row in rows] == texts


def test_parquet_keeps_it_all(tmp_path):
    texts = ["=1+1", "\x1b[31m\n\u202e", ""]
    (tmp_path / "out").write_bytes(encode_table(pl.DataFrame({"path": texts}), Format.PARQUET))
    assert pl.read_parquet(tmp_path / "out")["path"].to_list() == texts


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_hostile_log(run, command, tmp_path):
    (tmp_path / "evil.strace").write_bytes(LOG)
    for form in ("table", "csv", "json", "ndjson"):
        if command[-1] == "--tree" and form != "table":
            continue
        ran = run(*command, "evil.strace", "--format", form, text=False)
        assert ran.returncode == 0, ran.stderr
        assert not bad(ran.stdout.decode())
        assert not bad(ran.stderr.decode())
        assert b"cmd" in ran.stdout or command[-1] in {"--strace-c", "events", "=cmd*"}
        if form == "csv":
            for row in csv.reader(io.StringIO(ran.stdout.decode())):
                for cell in row:
                    assert not FORMULA.match(cell) or re.fullmatch(r"-[0-9.]+", cell)


def test_json_has_the_path_as_it_was(run, tmp_path):
    (tmp_path / "evil.strace").write_bytes(LOG)
    lines = run("files", "evil.strace", "--format", "ndjson").stdout.splitlines()
    paths = {json.loads(line)["path"] for line in lines}
    assert "=cmd\x1b]0;t\x07\u202e\n\r\x9b\\xff" in paths


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_hostile_trace(run, form, tmp_path):
    (tmp_path / "trace").write_text(TRACE)
    for command in (("events",), ("events", "--event", "my_probe"), ("processes",), ("forks",)):
        ran = run(*command, "trace", "--format", form, "--wide", text=False)
        assert ran.returncode == 0, ran.stderr
        assert not bad(ran.stdout.decode())
        assert not bad(ran.stderr.decode())


def test_reports_and_explanations_of_hostile_lines(run, tmp_path):
    (tmp_path / "evil\x1b[31m\u202e.strace").write_bytes(LOG)
    ran = run("parse", "evil\x1b[31m\u202e.strace", "-o", "\x1b[31m.parquet", "-v", text=False)
    assert ran.returncode == 0
    assert not bad(ran.stderr.decode())
    assert rb"\33[31m.parquet: 7 events from 9 lines" in ran.stderr
    for form in ("text", "csv", "json", "ndjson"):
        ran = run("parse", "evil\x1b[31m\u202e.strace", "--explain", "--format", form, text=False)
        assert ran.returncode == 0
        assert b"not a line of strace" in ran.stdout
        assert not bad(ran.stdout.decode())
        assert not bad(ran.stderr.decode())


@pytest.mark.parametrize(
    "arguments",
    [
        ("files", "\x1b[31mmissing"),
        ("files", "log", "-o", "\x1b[31m/missing/file"),
        ("files", "log", "--sort", "\x1b[31m"),
        ("files", "log", "--near", "\x1b[31m"),
        ("files", "log", "--explain", "\x1b[31m"),
        ("events", "log", "--event", "\x1b[31m"),
        ("files", "log", "--where", "path = \x1b[31m"),
        ("files", "log", "--from", "\x1b[31m"),
        ("files", "log", "--format", "\x1b[31m"),
        ("files", "log", "--top", "\x1b[31m"),
        ("files", "log", "--\x1b[31m"),
        ("sql", 'SELECT * FROM "\x1b[31m"', "log"),
        ("sql", 'SELECT "\x1b[31m" FROM events', "log"),
        ("sql", 'SELECT "\x1b[31m" FROM events', "log", "--engine", "duckdb"),
        ("schema", "\x1b[31m"),
        ("\x1b[31m",),
        ("parse", "log", "-o", "a\x1b[31m"),
        ("parse", "log", "-o", "a.parquet", "--sink", "\x1b[31m"),
    ],
)
def test_messages_about_hostile_names(run, arguments, tmp_path):
    (tmp_path / "log").write_bytes(LOG)
    ran = run(*arguments)
    assert ran.returncode in {0, 2}
    assert not bad(ran.stderr)
    # Libraries write such characters in their own ways; of a number typer says only that it is one.
    assert "[31m" in ran.stderr or "--top" in arguments


def test_names_that_are_no_text(command, tmp_path):
    name = b"log\xff\x1b[31m"
    (tmp_path / os.fsdecode(name)).write_bytes(LOG)

    def run(*arguments):
        return subprocess.run(
            [command.encode(), *arguments], cwd=tmp_path, capture_output=True, check=False
        )

    for arguments in (
        [b"files", name],
        [b"parse", name, b"-o", b"a.parquet"],
        [b"files", b"missing\xff\x1b[31m"],
    ):
        ran = run(*arguments)
        assert ran.returncode == 2
        assert rb"\xff\33[31m: " in ran.stderr
        assert ran.stderr.count(b"\n") == 2
        assert not bad(ran.stderr.decode())
    # An output is a file like any other.
    (tmp_path / "log").write_bytes(LOG)
    assert run(b"files", b"log", b"-o", b"a\xff.csv").returncode == 0
    assert (tmp_path / os.fsdecode(b"a\xff.csv")).exists()
    ran = run(b"parse", b"log", b"-o", b"a\xff.parquet")
    assert ran.returncode in {0, 2}
    assert b"Traceback" not in ran.stderr
