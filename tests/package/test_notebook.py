"""What objects show in a notebook: only what they know already, and nothing of it is markup."""

from html.parser import HTMLParser

import tracefast as tf
from support.paths import DATA
from tracefast import _core


class Cells(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        assert {name for name, _ in attrs} <= {"style"}
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def cells(shown) -> list[str]:
    found = Cells(shown._repr_html_())
    assert found.tags == {"div", "strong", "table", "tbody", "tr", "th", "td"}
    return found.texts


def test_a_report_says_what_was_read_and_how_good_it_is(tmp_path):
    report = tf.parse(DATA / "demo.strace.zst", tmp_path / "demo.parquet")
    shown = cells(report)
    assert shown[shown.index("rows") + 1] == f"{report.rows:,}"
    assert shown[shown.index("quality") + 1] == ", ".join(report.quality)
    assert shown[shown.index("rows of kind syscall") + 1] == f"{report.kinds['syscall']:,}"


def test_a_reader_reads_nothing_to_show_itself(tmp_path):
    log = tmp_path / "<script>alert('1')\x1b[31m\u202e&"
    log.write_text("5 close(3) = 0\n")
    with tf.read(log) as reader:
        shown = cells(reader)
        named = str(log).replace("\x1b", r"\u{1b}").replace("\u202e", r"\u{202e}")
        assert shown[shown.index("log") + 1] == named
        assert shown[shown.index("quality") + 1] == "known when all is read"
        (batch,) = reader
        shown = cells(reader)
        assert shown[shown.index("state") + 1] == "at its end"
        assert shown[shown.index("rows") + 1] == "1"
    assert cells(batch)[0] == f"Batch of 1 rows, {len(tf.schema())} columns"
    shown = cells(reader.schema)
    assert shown[shown.index("ret") + 1] == "int64"


HOSTILE = "<script>alert('1')\x1b[31m\n\u202e&"


def test_a_scan_reads_nothing_to_show_itself(tmp_path, monkeypatch):
    log = tmp_path / HOSTILE
    log.write_text("5 1700000000.0 close(3) = 0\n" * 3)
    parsed = tmp_path / "of it.parquet"
    report = tf.parse(log, parsed)
    part = tf.scan(log, from_="1970-01-02")
    named = str(log).translate({0x1B: r"\u{1b}", 0x0A: r"\u{a}", 0x202E: r"\u{202e}"})
    for opened in ("Reader", "parse"):
        monkeypatch.delattr(_core, opened)
    monkeypatch.setattr("polars.LazyFrame.collect", None)
    shown = cells(tf.scan(log))
    assert shown[shown.index(named) + 1] == "log; quality: known when all is read"
    shown = cells(tf.scan(parsed))
    assert shown[shown.index(str(parsed)) + 1] == f"3 rows; quality: {', '.join(report.quality)}"
    assert "from_=1970-01-02" in cells(part)
    # What polars shows of a query is its plan, with the names of logs as they are.
    plan = part.select("name")._repr_html_()
    assert "<script" not in plan
    assert "\u202e" not in plan


def test_a_page_shows_what_it_has(monkeypatch):
    page = tf.report(tf.scan(DATA / "demo.strace.zst").head(50))
    monkeypatch.setattr("polars.LazyFrame.collect", None)
    assert page._repr_html_().startswith("<iframe sandbox=")
