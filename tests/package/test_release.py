"""Files that only a release uses (workflows, metadata) agree with the rest of the project."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

from support.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


JOBS = {
    f"{path.stem}-{name}": job
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text())["jobs"].items()
}


def toml(name: str) -> dict:
    return tomllib.loads((ROOT / name).read_text())


def versions(folder: Path) -> set[tuple[str, str]]:
    """Give the crates that Cargo.lock names, and their versions."""
    packages = tomllib.loads((folder / "Cargo.lock").read_text())["package"]
    return {(package["name"], package["version"]) for package in packages}


def test_there_are_workflows():
    assert [path.stem for path in WORKFLOWS] == ["ci", "release"]
    assert len(JOBS) >= 7


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_is_allowed_unless_a_job_asks_for_it(path):
    assert yaml.safe_load(path.read_text())["permissions"] == {}


@pytest.mark.parametrize("job", list(JOBS.values()), ids=list(JOBS))
def test_a_job_has_an_end_and_no_more_rights_than_it_needs(job):
    assert job["timeout-minutes"] <= 60
    rights = job["permissions"]
    if "environment" not in job:
        assert rights in ({}, {"contents": "read"})
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_what_jobs_run_is_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    runs = [step["run"] for job in JOBS.values() for step in job["steps"] if "run" in step]
    made = [run.split()[1] for run in runs if run.startswith("make ")]
    assert {"test", "lint", "dist"} <= set(made) <= targets
    scripts = [run.split()[0] for run in runs if run.startswith("tests/")]
    assert scripts
    assert all((ROOT / script).stat().st_mode & 0o111 for script in scripts)


def test_every_version_that_is_promised_is_tested():
    project = toml("pyproject.toml")["project"]
    promised = [
        name.rpartition(" ")[2]
        for name in project["classifiers"]
        if re.search(r"Python :: 3\.\d+$", name)
    ]
    ci = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    assert ci["test"]["strategy"]["matrix"]["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"
    oldest = toml("Cargo.toml")["workspace"]["package"]["rust-version"]
    assert oldest in {step.get("with", {}).get("toolchain") for step in ci["oldest-rust"]["steps"]}
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text()
        assert f"Python {promised[0]} or newer" in text
        assert re.search(rf"\b{re.escape(oldest)} or newer", text)


def test_wheels_are_for_one_abi_and_no_one_processor():
    pyo3 = toml("Cargo.toml")["workspace"]["dependencies"]["pyo3"]["features"]
    assert pyo3 == ["abi3-py311"]
    assert not list(ROOT.glob(".cargo/config*"))
    built = [ROOT / "Makefile", *WORKFLOWS, *ROOT.glob("rust/*/Cargo.toml"), ROOT / "Cargo.toml"]
    for path in built:
        assert not re.search(r"target-cpu|-march|RUSTFLAGS", path.read_text()), path


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_files_that_are_named_are_there(page):
    text = (ROOT / page).read_text()
    named = re.findall(r"`([\w./-]+/[\w./*-]*)`", text) + re.findall(r"\]\(([^)#:]+)\)", text)
    assert len(named) >= 3
    core = ROOT / "rust" / "tracefast-core" / "src"
    base = [ROOT, ROOT / "rust", ROOT / "python" / "tracefast", core, core / "ftrace"]
    for name in named:
        if "NAME" not in name and name != "dist":
            assert any(list(folder.glob(name)) for folder in base), name


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text()
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", head) for head in heads[1:])
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds


def test_pip_takes_the_source_distribution(tmp_path):
    # It has not all crates of the workspace, but the versions of all in Cargo.lock.
    maturin = Path(sys.executable).with_name("maturin")
    subprocess.run([maturin, "sdist", "--out", tmp_path], cwd=ROOT, check=True)
    (made,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(made) as packed:
        packed.extractall(tmp_path, filter="data")
    # What pip asks before it builds: https://peps.python.org/pep-0517/.
    described, unpacked = tmp_path / "described", made.with_name(made.name.removesuffix(".tar.gz"))
    asked = ["pep517", "write-dist-info", "--metadata-directory", described]
    subprocess.run([maturin, *asked, "--interpreter", sys.executable], cwd=unpacked, check=True)
    (metadata,) = described.glob("*/METADATA")
    assert "Name: tracefast" in metadata.read_text()
    assert versions(unpacked) <= versions(ROOT)
