"""The report of a log, opened in a browser."""

import importlib.metadata
import json
import re

import polars as pl
import polars.testing
import pytest

import tracefast as tf
import vega_bundle
from support.paths import DATA
from tracefast.analysis.files.accesses import READS
from tracefast.analysis.processes import only_mentioned
from tracefast.page.shell import chart_page
from tracefast.page.shell import vega_bundle as shipped

LOGS = {
    "strace": "demo.strace.zst",
    "ftrace": "demo.ftrace.zst",
    "cache": "page-cache/rand.ftrace.zst",
}
MOST_BYTES = 2_000_000
READ_TABLE = """(name) => {
  const table = document.getElementById(name);
  const names = [...table.tHead.rows[0].cells].map((head) => head.dataset.c);
  return [...table.tBodies[0].rows].map((row) => Object.fromEntries(
    [...row.cells].map((cell, at) => [names[at], cell.dataset.v ?? cell.textContent])));
}"""
PAYLOADS = [
    "<script>document.title='run'</script>",
    "</script><img src=x onerror=document.title='run'>",
    "'\" onmouseover=document.title='run' x='",
    "${alert(1)}",
    "datum.constructor.constructor('alert(1)')()",
    "<!--",
    "javascript:alert(1)",
    r"\33[31mred\33[0m",
    r"two\nlines",
    r"a\342\200\256b",
    "&lt;b&gt;",
    "]]>",
]
# Escapes of terminals, line feeds and marks that turn text around, as a program can name a file.
ACTIVE = ["\x1b[31mred\x1b[0m", "two\nlines", "\u202egnp.exe\u2069", "\u2066x\u200f"]
# Logs of which each fills other panels.
EVERY_PANEL = (
    "workers/train_fork.strace.zst",
    "stalls/two_locks.strace",
    "memory/steps.ftrace.zst",
    "blocks/requeued.ftrace.zst",
    "page-cache/rand.ftrace.zst",
)


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """The pages of some logs, by name."""
    folder = tmp_path_factory.mktemp("reports")
    empty = folder / "empty.strace"
    empty.write_text("")
    hostile = folder / "hostile.strace"
    hostile.write_text(hostile_log())
    logs = {name: DATA / log for name, log in LOGS.items()} | {"empty": empty, "hostile": hostile}
    events = {name: tf.scan(log) for name, log in logs.items()} | {"renamed": renamed_events()}
    made = {}
    for name, rows in events.items():
        page = tf.report(rows)
        made[name] = folder / f"{name}.html"
        page.write(made[name])
    return made


def hostile_log():
    """Names that would do something, as paths, as programs and their arguments."""
    lines, at = [], 1700000000.0
    for pid, payload in enumerate(PAYLOADS, start=100):
        quoted = payload.replace('"', '\\"')
        named = payload.replace(">", "\\76").replace("<", "\\74")
        path = f"3</tmp/{named}>"
        calls = [
            f'execve("/bin/{quoted}", ["{quoted}", "{quoted}"], 0x7f /* 2 vars */) = 0 <0.01>',
            f'openat(AT_FDCWD, "/tmp/{quoted}", O_RDONLY) = {path} <0.01>',
            f'read({path}, "", 8192) = 4096 <0.02>',
            f'openat(AT_FDCWD, "/none/{quoted}", O_RDONLY) = -1 ENOENT (No such file) <0.01>',
        ]
        for call in calls:
            at += 0.03
            lines.append(f"{pid} {at:.6f} {call}\n")
    return "".join(lines)


def renamed_events():
    """Events for every panel, whose logs, programs, paths and threads have such names, too."""

    def renamed(column):
        text = pl.col(column).cast(pl.String)
        payload = pl.lit(pl.Series(PAYLOADS + ACTIVE)).gather(text.hash(1) % len(PAYLOADS + ACTIVE))
        return pl.when(text.is_not_null()).then(pl.concat_str(text, payload)).alias(column)

    parts = []
    for payload, log in zip(PAYLOADS, EVERY_PANEL, strict=False):
        rows = tf.scan(DATA / log).with_columns(pl.col("name", "source").cast(pl.String))
        names = map(renamed, ("path", "path2", "comm"))
        parts.append(rows.with_columns(*names, source=pl.lit(payload)).collect())
    return pl.concat(parts)


@pytest.mark.parametrize("name", [*LOGS, "empty", "hostile", "renamed"])
def test_a_page_says_nothing_loads_nothing_and_draws_all(reports, open_page, name):
    path = reports[name]
    page = open_page(path)
    assert page.said == []
    assert page.asked == [path.as_uri()]
    drawn = "[...document.querySelectorAll('figure.chart')].every(one => one.querySelector('svg'))"
    assert page.evaluate(drawn)
    panels = page.evaluate("[...document.querySelectorAll('section')].map(one => one.innerText)")
    assert all(len(text.splitlines()) > 1 for text in panels)
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert path.stat().st_size < MOST_BYTES


def test_tasks_that_a_log_only_mentions_are_counted(reports, open_page):
    table = tf.processes(tf.scan(DATA / LOGS["ftrace"])).collect()
    others = table.filter(only_mentioned())
    page = open_page(reports["ftrace"])
    assert others.height
    assert f"{others.height:,}, of which the log shows no calls" in page.inner_text("#run")
    assert f"{table.height - others.height:,}\n" in page.inner_text("#run")
    drawn = page.query_selector("#lifetimes figure script").text_content()
    marks = next(iter(json.loads(drawn)["datasets"].values()))["mark"]
    assert marks.count("process") == table.height - others.height
    assert all(row["image"] != "-" for row in page.evaluate(READ_TABLE, "waits-table"))


def test_a_page_does_not_contradict_itself_about_what_the_log_lacks(reports):
    text = {name: path.read_text() for name, path in reports.items()}
    assert "Nothing is known to be missing." in text["strace"]
    # The share of the finding is that of the table of files.
    assert "start elsewhere than the one before ended (59 %)" in text["strace"]
    assert "<td>random 59 %</td>" in text["strace"]
    assert text["ftrace"].count("do not show which file they are about") == 2
    assert "nothing that is known" not in text["ftrace"]
    assert "The log has no times" not in text["empty"]
    assert "It has no events." in text["empty"]


def test_names_of_a_log_do_nothing(reports, open_page):
    page = open_page(reports["hostile"])
    assert page.title().startswith("Report of")
    first = "#files-table td:first-child"
    cells = [one.text_content() for one in page.query_selector_all(first)]
    assert f"/tmp/{PAYLOADS[1]}" in cells
    assert r"/tmp/two\nlines" in cells
    assert (
        page.evaluate(
            "document.querySelectorAll('main img, main iframe, main a[href^=javascript]').length"
        )
        == 0
    )
    # Tooltips are made when the pointer is over a mark.
    for mark in page.query_selector_all("figure.chart .mark-rect path")[:20]:
        mark.hover(force=True)
    assert page.said == []
    assert page.title().startswith("Report of")
    text = reports["hostile"].read_text()
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_names_do_nothing_in_any_panel(reports, open_page):
    page = open_page(reports["renamed"])
    for mark in page.query_selector_all("figure.chart .role-mark path")[::7][:80]:
        mark.hover(force=True)
    assert page.said == []
    assert page.asked == [reports["renamed"].as_uri()]
    assert page.title().startswith("Report of")
    tables = [one.get_attribute("id") for one in page.query_selector_all("main table[id]")]
    assert {"pools", "batches", "stuck", "pairs", "page-cache", "blocks", "off-cpu"} <= {
        name.removesuffix("-table") for name in tables
    }
    # The log has no paths for the numbers of inodes in the table of the page cache.
    for name in set(tables) - {"page-cache-table"}:
        text = page.query_selector(f"#{name}").text_content()
        # Long names are cut.
        assert any(payload[:17] in text for payload in PAYLOADS), name
    for picture in page.query_selector_all(".picture svg"):
        assert any(payload[:8] in picture.text_content() for payload in PAYLOADS)
    text = reports["renamed"].read_text()
    assert not any(mark in text for mark in ("\x1b", "\u202e", "\u2066"))


@pytest.mark.parametrize(
    "draw", [tf.plot.batches, tf.plot.forks, tf.plot.memory], ids=["batches", "forks", "memory"]
)
def test_names_do_nothing_in_a_chart_of_its_own(open_page, tmp_path, draw):
    path = tmp_path / "chart.html"
    path.write_text(chart_page(draw(renamed_events()).to_dict(), PAYLOADS[0]))
    page = open_page(path)
    assert page.query_selector("figure svg") is not None
    for mark in page.query_selector_all("figure .role-mark path")[:20]:
        mark.hover(force=True)
    assert page.said == []
    assert page.asked == [path.as_uri()]
    assert page.title() == PAYLOADS[0]


def test_numbers_are_those_of_the_tables(reports, open_page):
    page = open_page(reports["strace"])
    events = tf.scan(DATA / LOGS["strace"])
    read = READ_TABLE
    tables = {"calls-table": tf.syscalls, "files-table": tf.files, "errors-table": tf.errors}
    for name, make in tables.items():
        rows = page.evaluate(read, name)
        table = make(events).collect()
        numbers = [one for one in rows[0] if one in table.columns and table[one].dtype.is_numeric()]
        keys = [one for one in ("name", "path", "errno") if one in rows[0] and one in table.columns]
        assert rows, name
        assert numbers, name
        known = {
            tuple(str(value) if index < len(keys) else value for index, value in enumerate(row))
            for row in table.select(*keys, *numbers).iter_rows()
        }
        for row in rows:
            values = (float(row[one]) if row[one] else None for one in numbers)
            assert (*(row[one] for one in keys), *values) in known, row
    calls = tf.syscalls(events).collect()
    assert f"{calls['calls'].sum():,}, {calls['errors'].sum():,} failed" in page.inner_text("#run")
    found = tf.insights(events).collect()["code"].to_list()
    assert (
        page.evaluate("[...document.querySelectorAll('.findings li')].map(one => one.dataset.code)")
        == found[:10]
    )
    targets = (
        "[...document.querySelectorAll('main a[href^=\"#\"], nav a')].map(one => one.hash.slice(1))"
    )
    assert all(page.query_selector(f"[id='{target}']") for target in page.evaluate(targets))


def test_tables_and_the_chosen_time_follow_the_keyboard_and_the_pointer(reports, open_page):
    page = open_page(reports["strace"])
    head = page.query_selector("#calls-table th[data-c=calls]")
    head.query_selector("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    lines = "[...document.querySelectorAll('#calls-table tbody tr')]"
    column = f"{lines}.map(row => Number(row.cells[1].dataset.v))"
    values = page.evaluate(column)
    assert values == sorted(values, reverse=True)
    page.fill("input[data-table=calls-table]", "futex")
    assert page.evaluate(f"{lines}.filter(row => !row.hidden).length") == 1
    chart = page.query_selector("figure[data-brush] svg")
    chart.scroll_into_view_if_needed()
    box = page.query_selector("figure[data-brush] svg .background").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 8, box["y"] + 20, steps=5)
    page.mouse.up()
    page.wait_for_selector("body[data-window]", state="attached")
    row = page.query_selector("#calls-table tbody tr:not([hidden])")
    cells = row.query_selector_all("td")
    # Nearly all of the time was chosen.
    assert float(cells[-2].get_attribute("data-v")) == pytest.approx(
        float(cells[1].get_attribute("data-v")), rel=0.05
    )
    assert page.is_visible("#errors .whole")


TOOLTIP = """(() => {
  const tooltip = Object.assign(document.createElement("div"), { className: "vg-tooltip" });
  tooltip.id = "vg-tooltip-element";
  document.body.append(tooltip);
  return getComputedStyle(tooltip).backgroundColor;
})()"""


def test_dark_and_print_have_their_own_colours(reports, open_page):
    of = "getComputedStyle(document.querySelector('.mark-text text')).fill"
    colours = f"[getComputedStyle(document.body).backgroundColor, {of}]"
    light = open_page(reports["strace"])
    dark = open_page(reports["strace"], scheme="dark")
    assert light.evaluate(colours) != dark.evaluate(colours)
    assert light.evaluate(TOOLTIP) != dark.evaluate(TOOLTIP)
    dark.emulate_media(media="print", color_scheme="dark")
    assert dark.evaluate(colours)[0] == "rgb(255, 255, 255)"
    assert dark.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert light.pdf().startswith(b"%PDF")


def test_a_page_of_one_chart_is_a_whole_page(open_page, tmp_path):
    rows = [{"a": at, "b": at * at} for at in range(5)]
    encoding = {
        "x": {"field": "a", "type": "quantitative"},
        "y": {"field": "b", "type": "quantitative"},
    }
    path = tmp_path / "one.html"
    path.write_text(
        chart_page({"data": {"values": rows}, "mark": "line", "encoding": encoding}, "One")
    )
    page = open_page(path)
    assert page.said == []
    assert page.query_selector("figure svg") is not None


def test_a_long_name_does_not_make_the_page_longer(tmp_path):
    log = tmp_path / "long.strace"
    lines = [
        f"1 {1700000000 + at / 100:.6f} openat(AT_FDCWD, "
        f'"/{"d" * 200}/{at:04}{"&" * 3700}", O_RDONLY) = 3 <0.001>\n'
        f'1 {1700000000 + at / 100:.6f} read(3, "", 10) = 10 <0.001>\n'
        f"1 {1700000000 + at / 100:.6f} close(3) = 0 <0.001>\n"
        for at in range(600)
    ]
    log.write_text("".join(lines))
    assert len(tf.report(tf.scan(log)).html.encode()) < MOST_BYTES


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    page = tf.report(tf.scan(DATA / LOGS["cache"]))
    shown = page._repr_html_()
    assert re.fullmatch(r'<iframe sandbox="allow-scripts" [^<>]*></iframe>\n?', shown)
    assert "bytes" in repr(page)


def test_the_script_of_charts_is_what_vl_convert_makes():
    notice = (vega_bundle.ASSETS / "NOTICE").read_text()
    script = shipped()
    assert f"SHA-256: {vega_bundle.described(script)['SHA-256']}\n" in notice
    made_by = re.search(r"vl-convert-python: (\S+)", notice)[1]
    if importlib.metadata.version("vl-convert-python") != made_by:
        pytest.skip(f"the script was made by vl-convert-python {made_by}")
    assert script == vega_bundle.bundle()


def test_blocks_of_json_hold_any_text():
    from tracefast.page.shell import json_block

    for payload in PAYLOADS:
        block = json_block({"x": payload}, "")
        inner = block.partition(">")[2].removesuffix("</script>")
        assert "<" not in inner
        assert json.loads(inner) == {"x": payload}


def test_activity_adds_up_to_the_table_of_calls():
    from tracefast.page.answers import answers_to

    answers = answers_to(tf.scan(DATA / LOGS["strace"]))
    calls = answers.table("syscalls")
    for counted in (answers.activity.done, answers.activity.called):
        assert counted["calls"].sum() == calls["calls"].sum()
        assert counted["ns"].sum() == calls["total_ns"].sum()
    moved = answers.activity.done.select(pl.col("read", "written").sum()).row(0)
    files = answers.table("files")
    assert moved == (files["read_bytes"].sum(), files["write_bytes"].sum())
    sizes, durations = answers.activity.sizes, answers.activity.durations
    assert sizes.filter(pl.col("name").is_in(READS))["bytes"].sum() == moved[0]
    assert durations["total_ns"].sum() == calls["total_ns"].sum()


def test_activity_is_the_same_for_rows_that_polars_gives():
    from tracefast.analysis.overview.tables import overview
    from tracefast.page.activity import activity_of

    logs = [DATA / LOGS["strace"], DATA / LOGS["ftrace"]]
    events = tf.scan(logs)
    found = overview(events, insights=False)
    direct = activity_of(events, found)
    for rows in (events.filter(pl.lit(True)), events.collect()):
        counted = activity_of(rows, found)
        for name in ("done", "called", "starting", "durations", "sizes", "members"):
            one, other = getattr(direct, name), getattr(counted, name)
            pl.testing.assert_frame_equal(one, other, check_row_order=False)


# The last call of the last one ends long after it began: the footer does not say when.
LAST_CALLS = {
    "exit": "7 1700000003.000000 +++ exited with 0 +++\n",
    "short": '7 1700000003.000000 read(0, "", 1) = 0 <0.002000>\n',
    "long": '7 1700000003.000000 read(0, "", 1) = 0 <9.000000>\n',
}


@pytest.mark.parametrize("last", LAST_CALLS)
def test_activity_of_parquet_is_that_of_its_log(tmp_path, monkeypatch, last):
    from tracefast.page import activity
    from tracefast.page.answers import answers_to

    log, path = tmp_path / "a.strace", tmp_path / "a.parquet"
    calls = "".join(f'7 1700000000.{at:06} read(3, "x", 4) = 1 <0.0001>\n' for at in range(500))
    log.write_text(calls + LAST_CALLS[last])
    tf.parse(log, path)
    passes = []
    one_more = activity.fold_together

    def counting(*arguments, **options):
        passes.append(arguments)
        return one_more(*arguments, **options)

    monkeypatch.setattr(activity, "fold_together", counting)
    of_log, of_parquet = (answers_to(tf.scan(name)).activity for name in (log, path))
    assert len(passes) == 1 + (last == "long")
    assert of_log.step_ns == of_parquet.step_ns
    for name in ("starts", "done", "called", "starting", "durations", "sizes", "members"):
        one, other = getattr(of_log, name), getattr(of_parquet, name)
        pl.testing.assert_frame_equal(one, other, check_row_order=False)


def test_only_the_footer_of_one_log_says_when_steps_begin(tmp_path):
    from tracefast import _core
    from tracefast.page.activity import expected_steps

    names = []
    for name, kind in (("one", "strace"), ("two", "ftrace")):
        names.append(tmp_path / f"{name}.parquet")
        tf.parse(DATA / LOGS[kind], names[-1])
    first, last = _core.times(str(names[0]))
    times = pl.read_parquet(names[0])["ts"].cast(pl.Int64)
    assert (first, last) == (times.min(), times.max())
    one = tf.scan(names[0])
    assert list(expected_steps(one).starts.values()) == [first]
    for other in (tf.scan(names), one.head(10), tf.scan(DATA / LOGS["strace"]), one.collect()):
        assert expected_steps(other) is None
    untimed = tmp_path / "untimed.strace"
    untimed.write_text('read(3, "", 9) = 0\n')
    tf.parse(untimed, names[1])
    assert _core.times(str(names[1])) is None
    assert expected_steps(tf.scan(names[1])) is None


@pytest.mark.parametrize("times", [(2**40, 1), (-(2**63), 2**63 - 1), (0, 0)])
def test_a_footer_that_lies_about_times_changes_no_chart(tmp_path, monkeypatch, times):
    from tracefast import _core
    from tracefast.page.answers import answers_to

    path = tmp_path / "a.parquet"
    tf.parse(DATA / LOGS["strace"], path)
    right = answers_to(tf.scan(path)).activity
    monkeypatch.setattr(_core, "times", lambda _: times)
    found = answers_to(tf.scan(path)).activity
    assert found.step_ns == right.step_ns
    pl.testing.assert_frame_equal(found.done, right.done)


def test_several_logs_are_told_apart(open_page, tmp_path):
    logs = []
    for at, name in enumerate(("first", "second")):
        log = tmp_path / f"{name}.strace"
        # A day lies between the logs: each counts from its own start.
        start = 1700000000 + 86_400 * at
        log.write_text(
            f'7 {start}.000000 execve("/bin/{name}", ["{name}"], 0x7f /* 1 var */) = 0 <0.001>\n'
            f'7 {start}.100000 openat(AT_FDCWD, "/data/same.bin", O_RDONLY) = 3 <0.001>\n'
            f'7 {start}.200000 read(3, "", 4096) = {4096 >> at} <0.100>\n'
            f'7 {start}.400000 read(3, "", 4096) = 0 <0.001>\n'
            f'7 {start}.500000 openat(AT_FDCWD, "/none", O_RDONLY) = -1 ENOENT (No file) <0.001>\n'
            f"7 {start}.600000 exit_group(0) = ?\n"
        )
        logs.append(log)
    path = tmp_path / "both.html"
    tf.report(tf.scan(logs)).write(path)
    page = open_page(path)
    assert page.said == []
    names = [str(log) for log in logs]
    assert all(name in page.inner_text("#run") for name in names)
    for table in ("files-table", "calls-table", "errors-table"):
        rows = page.evaluate(READ_TABLE, table)
        assert {row["source"].rpartition("/")[2] for row in rows} == {
            "first.strace",
            "second.strace",
        }
    read = {
        row["source"].rpartition("/")[2]: row["read_bytes"]
        for row in page.evaluate(READ_TABLE, "files-table")
    }
    assert read == {"first.strace": "4096", "second.strace": "2048"}
    # One chart for each file of each log, one bar for each process.
    assert len(page.query_selector_all("#offsets figure svg")) == 2
    bars = json.loads(page.query_selector("#lifetimes figure script").text_content())
    (columns,) = bars["datasets"].values()
    assert len(columns["label"]) == len(set(columns["label"])) == 2
    assert columns["start_s"] == [0, 0]
    assert max(columns["end_s"]) < 1
