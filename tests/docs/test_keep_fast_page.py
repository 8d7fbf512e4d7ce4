"""The rules, the failing check and the workflow of the page about continuous integration."""

import re
import shlex
import shutil
import subprocess

import pytest
import yaml

from support.paths import DATA, DOCS, ROOT

PAGE = (DOCS / "keep-fast.md").read_text()
BUILDS = DATA / "builds"


def block(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return text


def test_the_rules_are_those_that_are_run():
    assert block("toml") == (BUILDS / "rules.toml").read_text()


def test_the_failure_is_what_is_printed(run):
    rules, log = "tests/data/builds/rules.toml", "tests/data/builds/old-1.strace.zst"
    ran = run("check", rules, log, cwd=ROOT)
    assert (ran.returncode, ran.stdout) == (1, block("text"))


@pytest.fixture
def workflow():
    return yaml.safe_load(block("yaml"))


def test_the_workflow_has_what_github_needs(workflow):
    # YAML 1.1 reads the key `on` as true.
    assert workflow[True] == "pull_request"
    (job,) = workflow["jobs"].values()
    assert job["runs-on"].startswith("ubuntu-")
    for step in job["steps"]:
        assert {"uses", "run"} & set(step)
        assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "actions/x@v1"))


def test_the_commands_of_the_workflow_run(run, workflow, tmp_path):
    (job,) = workflow["jobs"].values()
    runs = [shlex.split(step["run"]) for step in job["steps"] if "run" in step]
    (record,) = (words for words in runs if words[0] == "strace")
    assert record[record.index("-o") + 1] == "app.strace"
    log = tmp_path / "app.strace"
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    subprocess.run(["zstd", "-dqo", log, BUILDS / "new-2.strace.zst"], check=True)
    for name in ("rules.toml", "new-1.strace.zst"):
        shutil.copy(BUILDS / name, tmp_path)
    checks = [words[1:] for words in runs if words[0] == "tracefast"]
    assert len(checks) == 2
    for words in checks:
        assert run(*words).returncode == 0
    assert (tmp_path / "results.xml").read_text().startswith("<?xml")
