"""Rules: what they judge, and what is said of those that are not valid."""

import math
import tomllib

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.compare.first_rules import first_rules
from tracefast.analysis.compare.rules import CHECKED, read_rules, table_function

BUILDS = DATA / "builds"
OLD, NEW = (BUILDS / f"{name}-1.strace.zst" for name in ("old", "new"))
FAILED_OPENS = {"name": "failed-opens", "table": "files", "value": "sum(opens_failed)"}


def judge(rule, *logs):
    return tf.check([rule], tf.scan(list(logs or [OLD]))).collect()


def one(rule, *logs):
    return judge(rule, *logs).row(0, named=True)


@pytest.fixture
def failed_opens():
    return int(tf.files(tf.scan(OLD)).select(pl.col("opens_failed").sum()).collect().item())


def test_an_expression_has_a_largest_and_a_smallest_value(failed_opens):
    for limit, passed in ((failed_opens, True), (failed_opens - 1, False)):
        row = one(FAILED_OPENS | {"max": limit})
        assert (row["value"], row["limit"], row["passed"]) == (failed_opens, limit, passed)
    for limit, passed in ((failed_opens, True), (failed_opens + 1, False)):
        assert one(FAILED_OPENS | {"min": limit})["passed"] is passed
    both = judge(FAILED_OPENS | {"min": 0, "max": 1})
    assert both.select("limit_kind", "passed").rows() == [("max", False), ("min", True)]


def test_rows_are_counted():
    rule = {"name": "a", "table": "files", "where": "path LIKE '%/legacy/%' AND opens_failed > 0"}
    row = one(rule | {"max_rows": 12})
    assert (row["value"], row["passed"], row["about"]) == (13, False, "/srv/build/legacy/part1.h")
    assert row["message"] == "13 rows, limit 12"
    assert one(rule | {"max_rows": 13})["passed"] is True
    assert one(rule | {"max_rows": 0}, NEW)["passed"] is True


def test_of_a_value_for_each_row_the_worst_counts():
    row = one({"name": "a", "table": "syscalls", "value": "calls", "max": 10})
    table = tf.syscalls(tf.scan(OLD)).sort("calls").collect()
    assert (row["value"], row["about"]) == (table["calls"][-1], table["name"][-1])


def test_each_log_is_judged_for_itself():
    rule = FAILED_OPENS | {"max": 12}
    found = judge(rule | {"where": "path LIKE '%/legacy/%'"}, OLD, NEW)
    assert found.select("source", "value", "passed", "message").rows() == [
        (str(NEW), None, True, "sum(opens_failed): no such row"),
        (str(OLD), 13, False, "sum(opens_failed) is 13, limit 12"),
    ]


def test_a_log_without_a_row_is_judged():
    row = one({"name": "a", "table": "phases", "max_rows": 0})
    assert (row["value"], row["passed"]) == (0, True)


def test_what_a_log_cannot_say_is_not_judged(tmp_path):
    untimed = tmp_path / "untimed.strace"
    untimed.write_text("1 1700000000.000000 getpid() = 1\n")
    rule = {"name": "a", "table": "syscalls"}
    slow = one(rule | {"where": "max_ns > 1000000", "max_rows": 0}, untimed)
    assert (slow["value"], slow["passed"]) == (None, None)
    assert one(rule | {"value": "sum(calls)", "max": 5}, untimed)["passed"] is True


def test_where_no_row_counts_nothing_is_too_large_and_nothing_large_enough():
    rule = {"name": "a", "table": "syscalls", "where": "name = 'none'", "value": "max(calls)"}
    assert one(rule | {"max": 5})["passed"] is True
    assert one(rule | {"min": 5})["passed"] is None
    assert one(rule | {"value": "count(*)", "min": 1})["passed"] is False


@pytest.mark.parametrize(
    ("tolerance", "passed"), [("10 %", False), ("50%", True), (12, False), (13, True)]
)
def test_a_baseline_gives_the_limit(tolerance, passed):
    new = int(tf.files(tf.scan(NEW)).select(pl.col("opens_failed").sum()).collect().item())
    row = one(FAILED_OPENS | {"baseline": str(NEW), "tolerance": tolerance})
    room = new * float(tolerance.rstrip(" %")) / 100 if isinstance(tolerance, str) else tolerance
    assert (row["baseline"], row["value"]) == (new, new + 13)
    assert row["limit"] == pytest.approx(new + room)
    assert row["passed"] is (room >= 13) is passed
    assert "baseline" in row["message"]


def test_names_of_baselines_are_relative_to_the_file_of_rules(tmp_path):
    (tmp_path / "base.strace.zst").write_bytes(OLD.read_bytes())
    file = tmp_path / "rules.toml"
    file.write_text(
        '[[rule]]\nname = "a"\ntable = "files"\nbaseline = "base.strace.zst"\n'
        '[[rule]]\nname = "b"\ntable = "files"\nvalue = "sum(opens)"\nmin = "baseline"\n'
        'baseline = "base.strace.zst"\n'
    )
    found = tf.check(file, tf.scan(OLD)).collect()
    assert found["passed"].to_list() == [True, True]
    assert (found["value"] == found["limit"]).all()


VALID = {"name": "a", "table": "files", "max_rows": 1}


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"name": None}, "rules: rule 1: name: missing", "give it a name"),
        ({"table": None}, "rule 'a': table: missing", "one of: files"),
        ({"table": "file"}, "table file: no such table", "did you mean 'files'"),
        ({"maxrows": 1}, "maxrows: no such key", "did you mean 'max_rows'"),
        ({"max_rows": None}, "rule 'a': no limit", "add max_rows"),
        ({"max_rows": "1"}, "max_rows: not a number", "give a number"),
        ({"max_rows": True}, "max_rows: not a number", "give a number"),
        ({"max_rows": -1}, "max_rows: not a number of rows", "whole number of at least 0"),
        ({"max_rows": 1.5}, "max_rows: not a number of rows", "whole number of at least 0"),
        ({"value": "sum(reads)", "max_rows": None, "max": math.nan}, "max: no limit", "finite"),
        ({"value": "sum(reads)", "max_rows": None, "min": -math.inf}, "min: no limit", "finite"),
        ({"max": 3}, "max: there is no value", "sum(calls)"),
        ({"value": "sum(reads)"}, "max_rows: there is a value", "leave out"),
        ({"value": "path", "max_rows": None, "max": 1}, "String, not a number", "sum(COLUMN)"),
        ({"where": "pth = 1"}, "where pth = 1: no such column: pth", "did you mean 'path'"),
        ({"where": "reads +"}, "where reads +: ", "SQL condition"),
        ({"where": 3}, "where: not text", "quotes"),
        ({"tolerance": "1 %"}, "tolerance: there is no baseline", "add one"),
        ({"baseline": "b", "tolerance": "x"}, "tolerance x: not a tolerance", '"10 %"'),
        ({"baseline": "b", "tolerance": "inf %"}, "tolerance inf %: not a tolerance", '"10 %"'),
        ({"baseline": "b", "tolerance": math.inf}, "tolerance inf: not a tolerance", '"10 %"'),
    ],
)
def test_what_is_wrong_with_a_rule_is_said(change, message, hint):
    rule = {key: value for key, value in (VALID | change).items() if value is not None}
    with pytest.raises(tf.Error) as caught:
        tf.check([rule], tf.scan(OLD))
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_files_that_are_no_rules_are_named(tmp_path):
    file = tmp_path / "rules.toml"
    for text, message in (
        ("[[rule", "not TOML"),
        ("", "no rule"),
        ("rules = 1", "rules: no such key"),
        ("rule = 1", "not a list of tables"),
        ('[[rule]]\nname = "a"\ntable = "files"\nmax_rows = 1\n' * 2, "a second rule"),
    ):
        file.write_text(text)
        with pytest.raises(tf.Error, match=message) as caught:
            read_rules(file)
        assert str(caught.value).startswith(f"{file}: ")


def test_baselines_that_cannot_be_read_are_named():
    with pytest.raises(tf.Error, match=r"rule 'a': baseline: none\.strace: No such file"):
        tf.check([VALID | {"baseline": "none.strace"}], tf.scan(OLD))


@given(st.dictionaries(st.sampled_from([*VALID, "value", "max", "where"]), st.text() | st.floats()))
@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_no_rule_does_harm(change):
    try:
        tf.check([VALID | change], tf.scan(OLD))
    except tf.Error as error:
        assert error.hint  # noqa: PT017 - other rules are valid


@pytest.mark.parametrize("name", CHECKED)
def test_every_table_can_be_judged(name):
    row = one({"name": "a", "table": name, "max_rows": 10**9})
    assert row["value"] == table_function(name)(tf.scan(OLD)).collect().height
    assert row["passed"] is True


def test_a_log_keeps_the_rules_that_it_gave():
    text = first_rules(tf.scan([OLD, NEW]))
    rules = tomllib.loads(text)
    assert len(rules["rule"]) > 5
    found = tf.check(rules, tf.scan([OLD, NEW])).collect()
    assert found["passed"].all()
    assert all(math.isfinite(rule.get("max", 0)) for rule in rules["rule"])


def test_the_first_rules_of_a_log_that_hangs_say_which_one_they_lack(tmp_path):
    log = tmp_path / "hangs.strace"
    log.write_text(
        '10 1700000000.0 execve("/bin/a", ["a"], 0x7f /* 9 vars */) = 0 <0.1>\n'
        "10 1700000001.0 pipe2([3, 4], O_CLOEXEC) = 0 <0.1>\n"
        "10 1700000002.0 read(3, \n"
    )
    text = first_rules(tf.scan(log))
    assert "stuck" not in {rule["table"] for rule in tomllib.loads(text)["rule"]}
    assert "# Left out: nobody-hangs (table stuck), as the log shows somebody who hangs" in text
