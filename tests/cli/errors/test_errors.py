"""`tracefast errors`, as installed."""

import json

import tracefast as tf
from support.paths import DATA

GCC = DATA / "flow" / "gcc.strace.zst"
PATH = DATA / "errors" / "path.strace.zst"


def test_a_line_for_each_row(run):
    ran = run("errors", PATH)
    assert (ran.returncode, ran.stderr) == (0, "")
    header, *lines = ran.stdout.splitlines()
    assert header.split() == [
        *("count", "total", "ms", "failed", "share", "errno", "call", "program", "what")
    ]
    assert [line.split()[0] for line in lines] == ["13", "4", "1", "1", "1", "1"][: len(lines)]
    assert "2 commands in 3 folders: /usr/local/bin, /usr/bin, /bin" in ran.stdout


def test_json_has_all_columns(run):
    table = tf.errors(tf.scan(PATH)).collect()
    rows = json.loads(run("errors", PATH, "--format", "json").stdout)
    assert len(rows) == table.height
    assert rows[1]["folders"] == ["/usr/local/bin", "/usr/bin", "/bin"]
    assert rows[1]["search"] == "PATH"


def test_rows_are_chosen_and_sorted(run):
    only = run("errors", GCC, "--match", "ENOTTY", "--format", "ndjson").stdout.splitlines()
    assert {json.loads(row)["errno"] for row in only} == {"ENOTTY"}
    where = run("errors", GCC, "--where", "search = 'locale'", "--sort", "total_ns", "--top", "1")
    assert len(where.stdout.splitlines()) == 2
    wide = run("errors", GCC, "--wide", "--sort", "share", "--top", "1").stdout
    assert "100.00%" in wide
    refused = run("errors", GCC, "--sort", "counts")
    assert refused.returncode == 2
    assert "did you mean 'count'" in refused.stderr


def test_several_logs_and_a_window(run):
    both = run("errors", GCC, PATH, "--format", "ndjson").stdout.splitlines()
    assert {json.loads(row)["source"] for row in both} == {str(GCC), str(PATH)}
    part = run("errors", GCC, "--to", "0.01", "--format", "ndjson").stdout.splitlines()
    counts = [json.loads(row)["count"] for row in part]
    assert 0 < sum(counts) < 287


def test_a_screen_of_80_columns_has_one_line_for_a_search(terminal):
    shown = terminal("errors", GCC, columns=80, lines=24).splitlines()
    assert all(len(line) <= 80 for line in shown)
    assert any("2 commands in 5 folders" in line for line in shown)
    assert shown[-2].startswith("287 calls failed, 1.8 ms: 184 ENOENT")


def test_a_wide_screen_has_folders_too(terminal):
    shown = terminal("errors", GCC, columns=160, lines=24)
    assert "2 commands in 4 folders: /usr/lib/gcc" in shown
    assert "failed share" in shown


def test_errors_in_sql(run):
    query = "SELECT sum(count) AS n FROM errors"
    assert json.loads(run("sql", query, GCC, "--format", "json").stdout) == [{"n": 287}]


def test_a_log_without_errors(run, tmp_path):
    log = tmp_path / "good.strace"
    log.write_text("100 1700000000.000100 getpid() = 100 <0.000010>\n")
    ran = run("errors", log)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_searches_are_described_as_what_they_are(run, tmp_path):
    absent = "= -1 ENOENT (No such file or directory) <0.000010>"
    calls = [
        *(f'openat(AT_FDCWD, "{of}/pyvenv.cfg", O_RDONLY)' for of in ("/usr/bin", "/usr")),
        *(f'access("{of}/.git", F_OK)' for of in ("/srv/a", "/srv", "")),
        *(f'stat("/usr/{of}", 0x1)' for of in ("pyvenv.cfg", "pybuilddir.txt")),
    ]
    log = tmp_path / "python.strace"
    log.write_text("".join(f"7 1700000000.0 {call} {absent}\n" for call in calls))
    text = run("errors", log).stdout
    assert "pyvenv.cfg in 2 folders: /usr/bin, /usr" in text
    assert ".git in 3 folders: /srv/a, /srv, /" in text
    assert "files of Python itself in /usr" in text
    assert "module" not in text
