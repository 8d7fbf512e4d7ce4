"""Charts as files, and names in them that somebody chose to do harm."""

import json
import re
import sys

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.cli.commands.charts.options import PLOTS
from tracefast.plot.bounds import short_name
from tracefast.plot.charts import gantt, offsets, sizes

DEMO = DATA / "demo.strace.zst"
EVIL = [
    "</script><script>alert(1)</script>",
    '"}]},"usermeta":{"x":"',
    "datum.x\\u0027 + alert(1)",
    "a\nb\x1b[31m\u202egnp.exe",
    "{{constructor}}${alert(1)}",
]


def structure(part: object) -> object:
    """Give the keys of a specification, and the types of its values."""
    if isinstance(part, dict):
        return {name: structure(value) for name, value in part.items() if name != "datasets"}
    if isinstance(part, list):
        return [structure(value) for value in part]
    return type(part).__name__


@pytest.fixture(scope="module")
def events() -> pl.DataFrame:
    return tf.scan(DEMO).collect()


@pytest.mark.parametrize("name", EVIL)
def test_a_name_is_text_and_nothing_else(events, name):
    file = tf.files(events).collect()["file"][0]
    plain = offsets.rows(events, file)
    chart = offsets.chart
    good, bad = chart(plain, title="x").to_dict(), chart(plain, title=name).to_dict()
    del good["data"], bad["data"]
    assert structure(good) == structure(bad)
    assert bad["title"] == short_name(name, 80)
    assert "\n" not in bad["title"]

    bars = gantt.rows(events)
    other = bars.with_columns(program=pl.lit(name), label=pl.lit(short_name(name)))
    chart = gantt.chart
    specs = [chart(rows).to_dict() for rows in (bars, other)]
    for spec in specs:
        del spec["data"]
    assert structure(specs[0]) == structure(specs[1])
    assert json.loads(json.dumps(specs[1])) == specs[1]


def test_each_command_draws_its_charts(run, tmp_path):
    starts = {".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n", ".html": b"<!doctype html>"}
    suffixes = list(starts)
    parquet = tmp_path / "demo.parquet"
    tf.parse(DEMO, parquet)
    number = 0
    for command, kinds in PLOTS.items():
        for kind in kinds:
            suffix = suffixes[number % 3]
            number += 1
            output = tmp_path / f"{command}-{kind}{suffix}"
            done = run(command, parquet, "--plot", kind, "-o", output)
            assert done.returncode == 0, done.stderr
            written = output.read_bytes()
            assert written.startswith(starts[suffix])
            if suffix != ".png":
                assert not re.search(rb"(src|href)=.https?:", written)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--plot", "sizes"], "add -o FILE, with one of .svg, .png, .html"),
        (["--plot", "sizes", "-o", "x.csv"], "charts go into files"),
        (["--plot", "sizes", "-o", "x.svg", "--by", "open"], "--by: not available with --plot"),
        (
            ["--plot", "offsets", "-o", "x.svg", "--match", "nothing"],
            "no opened file has this path",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(run, arguments, message):
    done = run("files", DEMO, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_without_altair_the_extra_is_named(monkeypatch, events):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ModuleNotFoundError, match=re.escape("pip install 'tracefast[report]'")):
        tf.plot.sizes(events)


def test_histograms_hold_every_call(run, events):
    shown = run("files", DEMO, "--hist").stdout
    assert all(len(line) < 80 for line in shown.splitlines())
    reads, writes = shown.split("\n\n")
    bars = [
        re.fullmatch(r"\[(\w+), \w+\) +([0-9,]+) \|(@*) *\|", one) for one in reads.splitlines()[1:]
    ]
    counts = {one[1]: (int(one[2].replace(",", "")), len(one[3])) for one in bars}
    rows = sizes.rows(events)
    assert sum(count for count, _ in counts.values()) == rows.filter(way="read")["calls"].sum()
    fullest = max(counts.values())
    assert all(
        length == round(fullest[1] * count / fullest[0]) for count, length in counts.values()
    )
    assert writes.startswith("bytes of writes:\n")

    table = run("syscalls", DEMO, "--hist", "--match", "read*", "--format", "ndjson").stdout
    found = pl.DataFrame([json.loads(line) for line in table.splitlines()])
    called = events.filter(pl.col("name").cast(pl.String).str.starts_with("read"))
    called = called.filter(kind="syscall").drop_nulls("dur_ns")
    assert found["calls"].sum() == called.height
    assert found["total_ns"].sum() == called["dur_ns"].sum()

    forks = run("forks", DEMO, "--hist", "--format", "ndjson").stdout
    total = sum(json.loads(line)["total_ns"] for line in forks.splitlines())
    processes = tf.forks(events).filter(pl.col("kind") != "thread").collect()
    assert total == processes["call_ns"].sum()

    assert "--top: not available with --hist" in run("waits", DEMO, "--hist", "--top", 3).stderr
