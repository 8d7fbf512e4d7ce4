"""`tracefast insights` as installed: the screen, the choice of findings, reports, the exit code."""

import csv
import json
import re

import pytest
from junitparser import JUnitXml
from sarif_pydantic import Sarif

from support.paths import DATA
from tracefast.analysis.insights.registry import RULES
from tracefast.cli.screen.insights.explained_rule import explained

LOG = DATA / "starting" / "subprocess_python37.strace.zst"
QUIET = DATA / "forks" / "vfork.strace.zst"
SMALL = DATA / "insights" / "small_reads.strace.zst"


@pytest.fixture
def insights(run):
    """Run the command; give what it prints, of an error what it says."""

    def call(*words, code=0):
        ran = run("insights", *words)
        assert ran.returncode == code, ran.stderr
        return ran.stderr if code == 2 else ran.stdout

    return call


def test_the_summary_comes_first_and_each_finding_says_all(insights):
    summary, _, *rest = insights(LOG).splitlines()
    assert summary == f"3 findings by {len(RULES)} rules: 3 high."
    assert rest[0].startswith("high    page-table-copy: Each fork copies the page tables")
    text = " ".join(" ".join(rest).split())
    for part in ("Seen: 100 forks took ", "lines 5012, 5079", "Saves: 5.", "Do: Use Python 3.10"):
        assert part in text
    assert "See docs/forks.md#the-advice" in text


@pytest.mark.parametrize("width", [80, 160])
def test_lines_fit_the_terminal(terminal, width):
    shown = terminal("insights", LOG, columns=width)
    lines = shown.splitlines()
    assert lines[0].startswith("3 findings by ")
    assert max(map(len, lines)) <= min(width, 120)


def test_nothing_is_said_of_a_log_in_which_nothing_was_found(insights):
    assert insights(QUIET) == f"Nothing was found by {len(RULES)} rules.\n"


def test_of_several_logs_each_finding_names_its_log(insights):
    text = " ".join(insights(LOG, SMALL).split())
    assert " in 2 logs: 3 high, " in text
    assert re.search(f"lines 16, 17, [0-9, ]+ of {SMALL}", text)


def test_findings_are_chosen(insights):
    def codes(*options):
        rows = json.loads(insights(LOG, "--format", "json", *options))
        return [row["code"] for row in rows]

    assert codes("--select", "page-,error-pipe") == ["page-table-copy", "error-pipe"]
    assert codes("--select", "page-", "--select", "error-") == ["page-table-copy", "error-pipe"]
    assert codes("--ignore", "page-,error-pipe") == ["many-processes"]
    assert codes("--top", "1") == ["page-table-copy"]
    assert codes("--match", "*echo") == codes()
    assert codes("--match", "*.pth") == []
    assert codes("--where", "saving_high_ns > 1000000000") == ["page-table-copy"]
    low = json.loads(insights(SMALL, "--format", "json", "--min", "high"))
    assert low == []


def test_a_phase_and_a_time_window_are_parts_of_the_log(run):
    early = run("insights", LOG, "--to", "0.1")
    assert "Nothing was found" in early.stdout
    assert not early.stderr
    train = DATA / "flow" / "train.strace.zst"
    assert not run("insights", train, "--phase", "train").stderr
    late = run("insights", LOG, "--from", "1h")
    assert late.stderr == "warning: no events between --from and --to\n"


def test_unknown_codes_are_errors_with_a_hint(insights):
    assert "no code begins with 'smal-reads'" in insights(LOG, "--select", "smal-reads", code=2)
    error = insights("--explain", "smal-reads", code=2)
    assert "--explain smal-reads: there is no such rule" in error
    assert "did you mean 'small-reads'" in error


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_is_explained(rule):
    text = " ".join(explained(rule).split())
    assert text.startswith(f"{rule.code}: {rule.title} {rule.looks_for}")
    for threshold in rule.thresholds:
        assert f"({threshold.why})" in text
    assert text.endswith(f"What to do: {rule.advice} See {rule.where}")


def test_a_rule_is_explained_without_a_log(insights):
    assert insights("--explain", RULES[0].code) == explained(RULES[0])


@pytest.mark.parametrize(
    ("log", "severity", "code"),
    [
        (LOG, "high", 1),
        (LOG, "low", 1),
        (SMALL, "high", 0),
        (SMALL, "low", 1),
        (QUIET, "low", 0),
    ],
)
def test_fail_on_gives_exit_code_1(insights, log, severity, code):
    insights(log, "--fail-on", severity, code=code)


def test_of_a_log_without_an_event_nobody_can_say_that_nothing_is_found(insights, tmp_path):
    empty = tmp_path / "empty.strace"
    empty.touch()
    insights(empty)
    assert "the log is empty" in insights(empty, "--fail-on", "high", code=2)
    insights(LOG, empty, "--fail-on", "high", code=1)
    insights(QUIET, empty, "--fail-on", "high", code=2)


def test_sarif_is_valid_and_has_the_findings(insights, tmp_path):
    insights(LOG, "-o", tmp_path / "out.sarif")
    text = (tmp_path / "out.sarif").read_text()
    assert text == insights(LOG, "--format", "sarif")
    run = Sarif.model_validate_json(text).runs[0]
    assert [each.id for each in run.tool.driver.rules] == [rule.code for rule in RULES]
    assert run.results[0].rule_id == "page-table-copy"
    first = run.results[0]
    assert first.level == "error"
    place = first.locations[0].physical_location
    assert place.artifact_location.uri == LOG.as_uri()
    assert place.region.start_line == 5012


def test_junit_has_a_test_for_each_rule_of_each_log(insights, tmp_path):
    (tmp_path / "out.xml").write_text(insights(LOG, QUIET, "--format", "junit"))
    suites = {suite.name: suite for suite in JUnitXml.fromfile(str(tmp_path / "out.xml"))}
    assert set(suites) == {str(LOG), str(QUIET)}
    assert [suite.tests for suite in suites.values()] == [len(RULES)] * 2
    assert (suites[str(LOG)].failures, suites[str(QUIET)].failures) == (3, 0)


def test_github_has_an_annotation_for_each_finding(insights):
    lines = insights(LOG, "--format", "github").splitlines()
    assert len(lines) == 3
    file = re.escape(str(LOG))
    pattern = rf"::error file={file},line=5012,title=page-table-copy::{file}: Each fork "
    assert re.match(pattern, lines[0])


def test_documents_name_logs_that_cannot_be_judged(run, tmp_path):
    (broken := tmp_path / "broken").write_bytes(b"\x7fELF" + bytes(1000))
    (empty := tmp_path / "empty").write_text("")

    def document(form):
        ran = run("insights", SMALL, broken, empty, "--format", form)
        assert ran.returncode == 2
        return ran.stdout

    text = document("sarif")
    assert Sarif.model_validate_json(text).runs[0].invocations[0].execution_successful is False
    told = json.loads(text)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [each["message"]["text"] for each in told] == [
        "the log cannot be read",
        "the log has no event",
    ]
    (tmp_path / "out.xml").write_text(document("junit"))
    errors = {suite.name: suite.errors for suite in JUnitXml.fromfile(str(tmp_path / "out.xml"))}
    assert errors == {str(SMALL): 0, str(broken): len(RULES), str(empty): len(RULES)}
    assert f"title=tracefast::{broken}: the log cannot be read" in document("github")


@pytest.mark.parametrize("form", ["json", "ndjson", "csv"])
def test_rows_name_logs_that_cannot_be_judged(run, tmp_path, form):
    (broken := tmp_path / "broken").write_bytes(b"\x7fELF" + bytes(1000))
    (empty := tmp_path / "empty").write_text("")

    def rows(*words):
        ran = run("insights", *words, "--format", form)
        assert ran.returncode == 2
        if form == "csv":
            read = csv.DictReader(ran.stdout.splitlines())
            return [{name: value or None for name, value in row.items()} for row in read]
        lines = ran.stdout.splitlines()
        return [json.loads(line) for line in lines] if form == "ndjson" else json.loads(ran.stdout)

    unread, nothing = "the log cannot be read", "the log has no event"
    both = [(str(broken), None, unread), (str(empty), None, nothing)]
    for options in ([], ["--top", "1"], ["--sort", "code"], ["--where", "severity = 'medium'"]):
        known = rows(SMALL, broken, empty, *options)
        assert [(row["source"], row["code"], row["title"]) for row in known[1:]] == both
        assert known[0]["code"] == "small-reads"
    assert [row["title"] for row in rows(broken)] == [unread]


@pytest.mark.parametrize("options", [["--format", "csv"], [], ["--wide"], ["--sort", "code"]])
def test_of_several_logs_the_log_is_named_even_if_only_one_has_findings(insights, options):
    assert str(SMALL) in insights(SMALL, QUIET, *options)
    assert str(SMALL) not in insights(SMALL, *options)


@pytest.mark.parametrize("form", ["table", "json", "sarif", "junit", "github"])
def test_the_output_does_not_replace_the_log(insights, tmp_path, form):
    (log := tmp_path / "small.strace.zst").write_bytes(SMALL.read_bytes())
    error = insights(log, "--format", form, "-o", log, code=2)
    assert "the output would replace an input" in error
    assert log.read_bytes() == SMALL.read_bytes()


def test_of_several_logs_the_most_severe_findings_come_first(run, insights, tmp_path):
    (last := tmp_path / "z.strace.zst").write_bytes(LOG.read_bytes())
    assert insights(SMALL, last, "--top", "1").splitlines()[2].startswith("high ")
    screen = run(SMALL, last).stdout
    assert screen.index("page-table-copy") < screen.index("small-reads")


def test_tables_have_all_columns(insights):
    rows = list(csv.DictReader(insights(LOG, "--format", "csv").splitlines()))
    assert [row["code"] for row in rows] == ["page-table-copy", "many-processes", "error-pipe"]
    assert rows[0]["page"] == "docs/forks.md#the-advice"
    assert "5012" in rows[0]["lines"]


def test_a_report_of_another_tool_is_no_format_of_other_tables(run):
    ran = run("files", LOG, "--format", "sarif")
    assert ran.returncode == 2
