"""`tracefast processes` and its tree, as installed and as drawn."""

import csv
import io
import json
import os
import pty
import subprocess
import time

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.processes import SCHEMA, only_mentioned
from tracefast.cli.screen.matching import without_mentioned
from tracefast.cli.screen.process_tree import render_tree
from tracefast.cli.text.frame_rows import frame_of
from tracefast.cli.text.rows import rows_of

TIMES = "\N{MULTIPLICATION SIGN}"


def table_of(*processes: tuple) -> pl.DataFrame:
    """Make a table of processes: task, parent's task, program, and what else matters."""
    rows = []
    for task, parent, image, *more in processes:
        row = dict.fromkeys(SCHEMA) | {
            "source": "log",
            "task": task,
            "pid": 100 + task,
            "parent_task": parent,
            "image": image,
            "threads": 1,
            "calls": 0,
            "read_bytes": 0,
            "write_bytes": 0,
        }
        rows.append(row | (more[0] if more else {}))
    return pl.DataFrame(rows, schema=SCHEMA)


def drawn(table: pl.DataFrame, **options) -> list[str]:
    """Give the first column of a tree."""
    lines = render_tree(table, **options).splitlines()
    wide = lines[0].index("pid")
    # Ids are right-aligned: the tree is in front of them.
    return [line[:wide].rstrip(" 0123456789") for line in lines[1:]]


def test_a_row_for_each_process(run, spawn_strace):
    ran = run("processes", spawn_strace)
    assert (ran.returncode, ran.stderr) == (0, "")
    header, root, *others = ran.stdout.splitlines()
    assert header.split()[:3] == ["pid", "ppid", "kind"]
    assert root.split()[:2] == ["9530", "-"]
    assert len(others) == 6
    assert all(line.split()[1] == "9530" for line in others)


def test_json_and_csv_have_all_programs(run, spawn_strace):
    table = tf.processes(tf.scan(spawn_strace)).collect()
    rows = json.loads(run("processes", spawn_strace, "--format", "json").stdout)
    assert [row["images"] for row in rows] == table["images"].to_list()
    assert list(rows[0]) == table.columns[1:]
    text = run("processes", spawn_strace, "--format", "csv").stdout
    cells = [row["images"] for row in csv.DictReader(io.StringIO(text))]
    assert [json.loads(cell) for cell in cells] == table["images"].to_list()
    header = run("processes", spawn_strace, "--wide").stdout.splitlines()[0]
    assert "images" in header


def test_logs_parquet_and_standard_input_answer_alike(run, spawn):
    run("parse", spawn, "-o", "events.parquet")
    for options in ([], ["--tree"]):
        expected = run("processes", spawn, *options)
        assert expected.returncode == 0
        assert run("processes", "events.parquet", *options).stdout == expected.stdout
        with spawn.open("rb") as file:
            assert run("processes", "-", *options, stdin=file).stdout == expected.stdout


def test_match_sort_and_top(run, spawn_strace):
    def column(name, *options):
        out = run("processes", spawn_strace, "--format", "ndjson", *options).stdout
        return [json.loads(line)[name] for line in out.splitlines()]

    assert column("image", "--match", "true") == ["/usr/bin/true", "/bin/true"]
    assert column("image", "--match", "/usr/*e") == ["/usr/bin/true"]
    calls = column("calls", "--sort", "calls", "--top", 3)
    assert calls == sorted(column("calls"), reverse=True)[:3]


@pytest.mark.parametrize("options", [["--sort", "calls"], ["--format", "json"], ["-o", "tree.csv"]])
def test_what_a_tree_is_not(run, spawn_strace, options):
    ran = run("processes", spawn_strace, "--tree", *options)
    assert ran.returncode == 2
    assert "--tree" in ran.stderr
    assert ran.stdout == ""


def test_the_tree_of_a_log(run, spawn_strace, tmp_path):
    ran = run("processes", spawn_strace, "--tree")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert [words[:2] for words in lines[2:]] == [
        ["├─", "/usr/bin/true"],
        ["├─", "/usr/bin/sh"],
        ["├─", "/usr/bin/python3"],
        ["├─", "/bin/true"],
        ["├─", "/usr/bin/python3"],
        ["└─", "/usr/bin/python3"],
    ]
    assert [words[3] for words in lines[2:]] == [*["vfork"] * 3, "posix_spawn", "fork", "fork"]
    assert [words[-1] for words in lines[1:]] == ["0", "0", "3", "255", "0", "7", "SIGKILL"]
    run("processes", spawn_strace, "--tree", "-o", "tree.txt")
    assert (tmp_path / "tree.txt").read_text() == ran.stdout


def test_an_output_that_is_not_unicode_is_drawn_in_ascii(run, spawn_strace):
    ran = run("processes", spawn_strace, "--tree", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert ran.stdout.isascii()
    assert "|- /usr/bin/true" in ran.stdout
    assert "`- /usr/bin/python3" in ran.stdout


def test_a_narrow_terminal_cuts_names_not_numbers(command, spawn_strace):
    parent, child = pty.openpty()
    environment = os.environ | {"COLUMNS": "80", "LINES": "40", "PYTHONIOENCODING": "utf-8"}
    arguments = [command, "processes", spawn_strace, "--tree"]
    with subprocess.Popen(arguments, stdout=child, env=environment) as process:
        os.close(child)
        out = b""
        while chunk := _read(parent):
            out += chunk
    assert process.returncode == 0
    lines = out.decode().splitlines()
    assert max(map(len, lines)) <= 80
    assert "exit 255" in lines[4]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def test_equal_children_are_one_line_with_sums_and_medians():
    often = [
        (
            n,
            0,
            "/bin/true",
            {"kind": "vfork", "exit_status": 0, "calls": 10 + n, "lifetime_ns": n * 1_000_000},
        )
        for n in range(1, 61)
    ]
    other = [(61, 0, "/bin/true", {"kind": "vfork", "exit_status": 1, "calls": 7})]
    table = table_of((0, None, "/bin/sh"), *often, *other)
    lines = render_tree(table).splitlines()
    assert len(lines) == 4
    words = lines[2].split()
    assert words[:4] == ["├─", "60", TIMES, "/bin/true"]
    assert "1.8 s (30.0 ms)" in lines[2]
    assert "2,430 (40)" in lines[2]
    assert lines[2].endswith("exit 0")
    assert lines[3].split()[:3] == ["└─", "/bin/true", "161"]
    # Each of them, if asked for.
    assert len(render_tree(table, whole=True).splitlines()) == 63


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("depth", [5, 12, 40, 200])
def test_a_deep_tree_fits_a_terminal_and_keeps_names(width, depth):
    """Give each process three equal children besides the one that goes on."""
    numbers = {"lifetime_ns": 12_345_000_000, "calls": 123_456, "read_bytes": 123 << 20}
    more = numbers | {"threads": 11, "kind": "posix_spawn", "exit_signal": "SIGKILL"}
    line = [(n, n - 1 if n else None, "/usr/bin/bash", more) for n in range(depth)]
    equal = [
        (1000 + 10 * n + i, n, "/usr/local/bin/bash", more) for n in range(depth) for i in range(3)
    ]
    lines = render_tree(table_of(*line, *equal), width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == 1 + 2 * depth
    for text in lines[1:]:
        assert "/bash" in text
        assert "SIGKILL" in text
    groups = [text for text in lines if TIMES in text]
    assert len(groups) == depth
    assert all(f"3 {TIMES} /" in text for text in groups)


def test_places_are_drawn_where_names_have_room(terminal):
    text = terminal("processes", "--tree", DATA / "demo.strace.zst", columns=60)
    assert "│  └─ /usr/bin/sort" in text
    assert "[2]" not in text


def test_the_top_of_the_tree(run, terminal, spawn_strace):
    whole = run("processes", spawn_strace, "--tree").stdout.splitlines()
    asked = ("processes", spawn_strace, "--tree", "--top", 3)
    assert [line.split() for line in run(*asked).stdout.splitlines()] == [
        line.split() for line in whole[:4]
    ]
    text = terminal(*asked)
    assert len(text.splitlines()) == 5
    assert text.endswith(f"{len(whole) - 4} more rows; --top 0 prints all\n")
    assert len(terminal(*asked, "--top", 0, lines=10).splitlines()) == len(whole)


def test_two_of_a_kind_stay_apart():
    table = table_of((0, None, "/a"), (1, 0, "/b"), (2, 0, "/b"))
    assert drawn(table) == ["/a", "├─ /b", "└─ /b"]


def test_what_equal_processes_made_is_brought_together_below_them():
    table = table_of(
        (0, None, "/make"),
        *((n, 0, "/sh") for n in range(1, 5)),
        *((10 + n, n, "/cc") for n in range(1, 5)),
        (20, 0, "/sh"),
        (21, 20, "/ld"),
    )
    assert drawn(table) == [
        "/make",
        f"├─ 4 {TIMES} /sh",
        f"│  └─ 4 {TIMES} /cc",
        "└─ /sh",
        "   └─ /ld",
    ]
    linkers = table.filter(pl.col("image") == "/ld")
    assert drawn(table, selected=linkers) == ["/make", "└─ /sh", "   └─ /ld"]
    assert drawn(table, selected=linkers.clear()) == []


def test_programs_of_unknown_name():
    table = table_of((0, None, None, {"comm": "sh"}), (1, 0, None))
    assert drawn(table) == ["(sh)", "└─ ?"]


def test_logs_have_a_tree_each():
    table = table_of((0, None, "/a"), (1, 0, "/b"), (0, None, "/c", {"source": "other"}))
    assert [line.split()[0] for line in render_tree(table).splitlines()] == [
        "process",
        "log",
        "/a",
        "└─",
        "other",
        "/c",
    ]


def test_names_cannot_move_the_cursor():
    assert "\x1b" not in render_tree(table_of((0, None, "/a\x1b[2J\n")))
    assert len(render_tree(table_of((0, None, "/a\x1b[2J\n"))).splitlines()) == 2


def test_one_long_name_does_not_widen_all_lines():
    long = "/" + "x" * 4000
    lines = render_tree(table_of((0, None, "/a"), (1, 0, long))).splitlines()
    assert long in lines[2]
    assert len(lines[1]) < 200


def test_processes_that_made_one_another_are_drawn_once():
    table = table_of((0, 1, "/a"), (1, 0, "/b"), (2, 1, "/c"), (3, 3, "/d"))
    lines = drawn(table)
    assert sorted(line[-2:] for line in lines) == ["/a", "/b", "/c", "/d"]


def test_a_long_line_of_ancestors_takes_no_long_lines_and_no_long_time():
    count = 20_000
    table = table_of(*((n, n - 1 if n else None, "/x") for n in range(count)))
    began = time.process_time()
    lines = render_tree(table).splitlines()
    assert time.process_time() - began < 20
    assert len(lines) == count + 1
    assert max(map(len, lines)) < 250
    assert f"[{count - 1}] /x" in lines[-1]


def test_tasks_that_a_log_only_mentions_are_counted(run):
    demo = DATA / "demo.ftrace.zst"
    table = tf.processes(tf.scan(demo)).collect()
    mentioned = table.filter(pl.col("calls") == 0, pl.col("ppid").is_null())
    assert mentioned.height > 1
    ran = run("processes", demo)
    assert len(ran.stdout.splitlines()) == 1 + table.height - mentioned.height
    assert f"note: {mentioned.height} other tasks of the machine" in ran.stderr
    assert len(run("processes", demo, "--wide").stdout.splitlines()) == 1 + table.height
    # Where a log shows nothing else, its tasks are listed.
    switches = DATA / "page-cache" / "rand-fields.ftrace.zst"
    assert len(run("processes", switches).stdout.splitlines()) > 1


def test_arguments_are_on_the_screen(terminal):
    text = terminal("processes", DATA / "demo.strace.zst", "--match", "tr", columns=80)
    assert text.splitlines()[1].endswith("tr -d '\\000'")


def test_mentioned_tasks_are_the_same_without_polars():
    table = tf.processes(tf.scan(DATA / "demo.ftrace.zst")).collect()
    kept, left_out = without_mentioned(rows_of(table))
    own = table.filter(~only_mentioned())
    assert 0 < left_out == table.height - own.height
    assert frame_of(kept).equals(own)
