"""The table of findings: its order, its lines, other sources of events, codes to choose."""

import json

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.insights.finding import Severity
from tracefast.analysis.insights.registry import RULES
from tracefast.analysis.insights.weights import weight
from tracefast.quantities import Range

LOG = DATA / "starting" / "subprocess_python37.strace.zst"
SMALL = DATA / "insights" / "small_reads.strace.zst"
SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def table():
    return tf.insights(tf.scan(LOG)).collect()


def test_parquet_a_frame_and_filtered_rows_give_the_same(tmp_path, table):
    tf.parse(LOG, tmp_path / "a.parquet")
    scanned = tf.scan(tmp_path / "a.parquet")
    for events in (scanned, scanned.collect(), scanned.filter(pl.col("line") > 0)):
        assert tf.insights(events).collect().equals(table)


def test_columns_and_rows_can_be_chosen(table):
    lazy = tf.insights(tf.scan(LOG))
    assert lazy.select("code").collect().equals(table.select("code"))
    assert lazy.head(2).collect().equals(table.head(2))
    high = pl.col("severity") == "high"
    assert lazy.filter(high).collect().equals(table.filter(high))
    assert lazy.select(pl.len()).collect().item() == table.height


def test_the_most_severe_comes_first(table):
    order = [list(Severity).index(severity) for severity in table["severity"]]
    assert order == sorted(order)


def test_each_log_has_its_own_findings():
    several = tf.insights(tf.scan([LOG, SMALL])).collect()
    for log in (LOG, SMALL):
        alone = tf.insights(tf.scan(log)).collect()
        assert several.filter(pl.col("source") == str(log)).equals(alone)


def test_codes_and_their_beginnings_are_chosen(table):
    events = tf.scan(LOG)
    chosen = tf.insights(events, select=["page-", "error-pipe"]).collect()
    assert set(chosen["code"]) == {"page-table-copy", "error-pipe"}
    assert chosen.equals(table.filter(pl.col("code").is_in(["page-table-copy", "error-pipe"])))
    rest = tf.insights(events, ignore=["page-", "error-pipe"]).collect()
    assert rest.equals(table.filter(~pl.col("code").is_in(["page-table-copy", "error-pipe"])))


def test_a_code_that_is_none_is_an_error():
    with pytest.raises(ValueError, match="no code begins with 'small-writs'"):
        tf.insights(tf.scan(LOG), select=["small-writs"])


def test_fork_advice_says_the_same_as_the_findings(table):
    advice = tf.fork_advice(tf.scan(LOG)).collect()
    both = advice.join(table, on="code")
    assert both.height == advice.height > 0
    assert both["what"].equals(both["title"], check_names=False)
    assert both["evidence"].equals(both["evidence_right"], check_names=False)


def test_numbers_survive_parquet_and_json(tmp_path, table):
    table.write_parquet(tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").equals(table)
    assert json.loads(table.write_json())[0]["numbers"][0] == {"name": "processes", "value": 100.0}


def test_events_that_lack_columns_are_refused():
    with pytest.raises(pl.exceptions.ColumnNotFoundError, match=r"tracefast\.insights needs"):
        tf.insights(tf.scan(LOG).drop("dur_ns")).collect()


def test_a_log_without_events_has_no_findings():
    empty = tf.scan(LOG).head(0)
    assert tf.insights(empty).collect().is_empty()


def test_a_saving_is_no_longer_than_the_log(table):
    span = tf.scan(LOG).select((pl.col("ts").max() - pl.col("ts").min()).cast(pl.Int64))
    assert table["saving_high_ns"].max() <= span.collect().item()


def test_every_rule_explains_itself():
    codes = [rule.code for rule in RULES]
    assert len(set(codes)) == len(codes)
    for rule in RULES:
        for text in (rule.title, rule.looks_for, rule.advice):
            assert text.endswith(".")
        assert all(threshold.why for threshold in rule.thresholds)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (2 * SECOND, 2 * SECOND, "high"),
        (SECOND, 3 * SECOND, "medium"),
        (0, SECOND // 2, "medium"),
        (0, SECOND // 5, "low"),
        (0, SECOND // 10, None),
    ],
)
def test_severity_is_by_the_share_of_the_time(low, high, expected):
    found = weight(time=Range(low, high), wall_ns=10 * SECOND)
    assert (found and found.severity) == expected


def test_a_short_log_has_nothing_severe():
    assert weight(time=Range(9_000_000, 9_000_000), wall_ns=10_000_000).severity == "low"
    assert weight(time=Range(900_000, 900_000), wall_ns=1_000_000) is None
