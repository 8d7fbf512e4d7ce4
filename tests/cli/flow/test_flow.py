"""`tracefast flow`: what it prints and draws, whatever names are."""

import html.parser
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

import tracefast as tf
from support.logs import lines_of
from support.paths import DATA
from tracefast.cli.pictures.flow.graph import graph_of
from tracefast.cli.pictures.layout import can_layout

TRAIN = DATA / "flow" / "train.strace.zst"
SUFFIXES = ["svg", "html", "dot", "mmd"]
needs_layout = pytest.mark.skipif(not can_layout(), reason="pygraphviz is not installed")
HOSTILE = [
    'quote"; n0 -> evil; "',
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "a]]>&amp;b",
    "back\\slash\\",
    "`tick` #quot; %% --> n1",
]


def escaped(name):
    return name.replace("\\", "\\\\").replace('"', '\\"')


def hostile_log(folder):
    """Write a log of files with names that are code in some language."""
    names = [*(escaped(name) for name in HOSTILE), r"line\nfeed", r"\33[31mred\33[0m", r"\303\244"]
    calls = []
    for name in names:
        calls += [
            f'openat(AT_FDCWD, "/w/{name}.d/in", O_RDONLY) = 3',
            'read(3, "abc", 4096) = 3',
            "close(3) = 0",
        ]
    log = folder / "hostile.strace"
    log.write_text(lines_of(calls))
    return log


@pytest.fixture
def tracefast(run):
    """Run the command; give what it printed."""

    def call(*words, code=0):
        ran = run(*words)
        assert ran.returncode == code, ran.stderr
        return ran

    return call


@pytest.fixture(scope="module", params=SUFFIXES)
def drawn(request, tmp_path_factory):
    """Give a picture of hostile names in one of the forms, and its suffix."""
    suffix = request.param
    if suffix in {"svg", "html"} and not can_layout():
        pytest.skip("pygraphviz is not installed")
    folder = tmp_path_factory.mktemp("hostile")
    picture = folder / f"flow.{suffix}"
    command = [sys.executable, "-m", "tracefast", "flow", hostile_log(folder), "-o", picture]
    subprocess.run(command, check=True, capture_output=True)
    return suffix, picture.read_text()


def test_names_are_no_code(drawn):
    suffix, text = drawn
    assert "\x1b" not in text
    if suffix == "svg":
        tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(text).iter()}
        assert tags <= {"svg", "title", "rect", "g", "path", "text", "polygon"}
    elif suffix == "html":
        found = []

        class Tags(html.parser.HTMLParser):
            def handle_starttag(self, tag, attrs):
                found.append((tag, dict(attrs)))

        Tags().feed(text)
        tags = {tag for tag, _ in found}
        assert not tags & {"script", "img", "link", "iframe", "object"}
        assert not any(name.startswith("on") for _, attrs in found for name in attrs)
        assert "default-src 'none'" in text
        assert not any(name in {"src", "href", "style"} for _, attrs in found for name in attrs)
    elif suffix == "dot":
        # Outside of texts in quotes, only nodes and lines of ours.
        rest = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
        assert "evil" not in rest
        assert set(re.findall(r"[a-z]\w* ->|-> \w+", rest)) <= {
            *(f"n{at} ->" for at in range(60)),
            *(f"-> n{at}" for at in range(60)),
        }
    else:
        lines = [line for line in text.splitlines()[1:] if not line.startswith("  class")]
        for line in lines:
            assert re.fullmatch(r"  n\d+(\[|\(\[|) ?.*", line)
            # Each line has the quotes that we wrote, and no others.
            assert line.count('"') in {0, 2}
            inner = re.search(r'"(.*)"', line)
            assert inner is None or not set(inner[1]) & set('<>"`&')


def test_every_name_is_there(drawn):
    _, text = drawn
    assert "alert(1)" in text
    assert "ä.d" in text


@needs_layout
def test_a_picture_shows_inputs_left_and_results_right(tracefast, tmp_path):
    tracefast("flow", TRAIN, "-o", tmp_path / "flow.svg")
    root = ET.fromstring((tmp_path / "flow.svg").read_text())
    places = {}
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        places.setdefault(text.text, float(text.get("x")))
    assert places["labels"] < places["accuracy.txt"]
    assert {"input", "intermediate", "result", "scratch", "log", "process"} <= set(places)


@needs_layout
def test_nodes_say_which_of_several_logs_they_are_in(tracefast, tmp_path):
    names = ["one.strace", "two.strace"]
    for name in names:
        calls = ['openat(AT_FDCWD, "/w/in", O_RDONLY) = 3', 'read(3, "abc", 99) = 3']
        (tmp_path / name).write_text(lines_of(calls))
    for suffix in SUFFIXES:
        picture = tmp_path / f"flow.{suffix}"
        tracefast("flow", *names, "-o", picture)
        # The same file and a process of the same id, in each of them.
        assert all(picture.read_text().count(name) >= 2 for name in names), suffix
    tracefast("flow", names[1], "-o", tmp_path / "one.dot")
    assert names[1] not in (tmp_path / "one.dot").read_text()
    printed = tracefast("flow", *names).stdout
    assert [line.split()[-1] for line in printed.splitlines()[3:5]] == names


def test_few_nodes_have_lines_between_them():
    # There are more programs than nodes.
    roles = []
    edges = tf.flow(tf.scan(DATA / "demo.strace.zst"), roles=roles.append).collect()
    graph = graph_of(edges, *roles, code=False, nodes=5, most_lines=10)
    assert 2 <= len(graph.groups) <= 5
    assert {end for line in graph.lines for end in (line.source, line.target)} == set(
        range(len(graph.groups))
    )
    assert graph.notes[-1].startswith("Left out: ")


@needs_layout
def test_many_files_are_one_node(tracefast, tmp_path):
    calls = []
    for at in range(1300):
        name = f"/w/images/{at:04}.jpg"
        calls += [
            f'openat(AT_FDCWD, "{name}", O_RDONLY) = 3',
            'read(3, "abc", 4096) = 1024',
            "close(3) = 0",
        ]
    log = tmp_path / "many.strace"
    log.write_text(lines_of(calls))
    tracefast("flow", log, "-o", tmp_path / "flow.svg")
    text = (tmp_path / "flow.svg").read_text()
    assert "images/*.jpg" in text
    assert "1,300 files" in text
    assert "1.3 MiB" in text


def test_without_the_library_there_is_a_hint(tracefast, tmp_path, monkeypatch):
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'pygraphviz' else find(name, *rest)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    done = tracefast("flow", TRAIN, "-o", tmp_path / "flow.svg", code=2)
    assert "tracefast[report]" in done.stderr
    tracefast("flow", TRAIN, "-o", tmp_path / "flow.dot")


def test_the_report_names_results(tracefast):
    out = tracefast("flow", TRAIN).stdout
    assert out.startswith("2 inputs, 3 intermediate files, 1 result, 1 log, 1 scratch file\n")
    assert re.search(r"^306 KiB +write +gzip \d+ +→ +/srv/train/data/run/train$", out, re.MULTILINE)
    assert re.search(r"^/srv/train/data/run/accuracy.txt +python3 \d+ +-$", out, re.MULTILINE)


def test_rows_and_options(tracefast):
    out = tracefast("flow", TRAIN, "--match", "model.pkl", "--format", "ndjson").stdout
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["how"] for row in rows] == ["create", "write", "rename", "read"]
    out = tracefast("flow", TRAIN, "--type", "socket", "--format", "ndjson").stdout
    assert {json.loads(line)["how"] for line in out.splitlines()} == {"socket"}
    out = tracefast("flow", TRAIN, "--by", "phase", "--format", "ndjson").stdout
    kinds = {json.loads(line)["src_kind"] for line in out.splitlines()}
    assert "phase" in kinds
    assert "process" not in kinds


def test_a_phase_is_a_window(tracefast):
    out = tracefast("files", TRAIN, "--phase", "load", "--format", "ndjson").stdout
    paths = {json.loads(line)["path"] for line in out.splitlines()}
    assert paths == {"/srv/train/data/run/train", "/srv/train/data/labels"}
    out = tracefast("syscalls", TRAIN, "--phase", "epoch", "--format", "ndjson").stdout
    calls = {row["name"]: row["calls"] for row in map(json.loads, out.splitlines())}
    assert calls["write"] == 2
    assert "access" not in calls
    done = tracefast("files", TRAIN, "--phase", "lod", code=2)
    assert "--phase lod: no such phase" in done.stderr
    assert "did you mean 'load'?" in done.stderr


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        (['read(3, "abc", 10) = 3', 'write(4, "abc", 3) = 3'], "strace -yy"),
        (["clone(child_stack=NULL, flags=SIGCHLD) = 7", 'read(3</a>, "a", 10) = 1'], "strace -f"),
    ],
)
def test_it_says_what_the_log_lacks(tracefast, tmp_path, calls, words):
    log = tmp_path / "poor.strace"
    log.write_text(lines_of(calls))
    assert words in tracefast("flow", log).stdout
    assert words in tracefast("flow", log, "--roles").stderr


def test_options_that_exclude_each_other(tracefast, tmp_path):
    assert "two tables" in tracefast("flow", TRAIN, "--roles", "--phases", code=2).stderr
    done = tracefast("flow", TRAIN, "--roles", "-o", tmp_path / "a.svg", code=2)
    assert "a picture shows the edges" in done.stderr
