"""Positions in logs of many kinds, held against what the kernel said at each call.

Every scenario was recorded by every recorder, and those logs are read here. Where strace is, each
scenario runs now, too: with `-f`, and with another recorder; `TRACEFAST_TRUTH=all` takes all of
them.

What is wrong, and what is less than exact, is in `known.tsv`. These tests fail where more is wrong
than it says, and where less is: then `PYTHONPATH=tests python -m truth.table --write` writes it.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from truth import known
from truth.archive import recorded
from truth.comparison import compare
from truth.recording import CannotRecordError, Recording, Studio, build, record
from truth.scenarios import (
    BY_NAME,
    LOSSES,
    ORDINARY,
    POINTS,
    RECORDERS,
    SCENARIOS,
    Scenario,
    loss,
    recorded_by,
)

KNOWN = known.read()
NONE = known.Known("", "")
PAIRS = [(scenario, recorder) for scenario in SCENARIOS for recorder in recorded_by(scenario)]


@pytest.mark.parametrize(
    ("scenario", "recorder"), PAIRS, ids=[f"{one.name}-{name}" for one, name in PAIRS]
)
def test_nothing_is_wrong(scenario: Scenario, recorder: str) -> None:
    recording = recorded(scenario.group, scenario.name, recorder)
    assert recording is not None
    outcome = compare(recording, recorder)
    before = KNOWN.get((scenario.name, recorder), NONE)
    assert outcome.unpaired == []
    assert len(outcome.wrong) <= before.wrong, outcome.wrong
    # Elsewhere a point says what the log does not show.
    if loss(scenario, recorder) == ORDINARY:
        assert outcome.less <= before.less, outcome.counts
    assert len(outcome.wrong) == before.wrong, "better than known.tsv says: write it again"
    if before.wrong:
        pytest.xfail(f"{before.wrong} rows: {POINTS[loss(scenario, recorder)]}")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    try:
        return Studio(build(tmp_path_factory.mktemp("observer")))
    except CannotRecordError as error:
        pytest.skip(str(error))


def chosen(place: int, scenario: Scenario) -> list[str]:
    """Give the recorders of this run: -f, and another for each scenario in turn."""
    if os.environ.get("TRACEFAST_TRUTH") == "all" or len(scenario.recorders) == 1:
        return list(scenario.recorders)
    first, *others = scenario.recorders
    return [first, others[place % len(others)]]


LIVE = [(one, name) for place, one in enumerate(SCENARIOS) for name in chosen(place, one)]


@pytest.mark.parametrize(
    ("scenario", "recorder"), LIVE, ids=[f"{one.name}-{name}" for one, name in LIVE]
)
def test_nothing_is_wrong_now(
    scenario: Scenario, recorder: str, studio: Studio, tmp_path: Path
) -> None:
    (work := tmp_path / "run").mkdir()
    try:
        recording = record(scenario, recorder, studio, work, tmp_path / "log.strace")
    except CannotRecordError as error:
        pytest.skip(str(error))
    outcome = compare(recording, recorder)
    assert outcome.unpaired == []
    if outcome.wrong and may_be_wrong(scenario, recorder):
        pytest.xfail(f"{len(outcome.wrong)} rows: {POINTS[loss(scenario, recorder)]}")
    assert outcome.wrong == []


@pytest.mark.parametrize("seed", range(len(RECORDERS)))
def test_nothing_is_wrong_in_mixed_programs(seed: int, studio: Studio, tmp_path: Path) -> None:
    """Programs that are drawn: with `-f`, and with another recorder."""
    scenario = Scenario(str(seed), ORDINARY, "mixed")
    for recorder in {"f", list(RECORDERS)[seed]}:
        folder = tmp_path / recorder
        (folder / "run").mkdir(parents=True)
        try:
            recording = record(scenario, recorder, studio, folder / "run", folder / "log.strace")
        except CannotRecordError as error:
            pytest.skip(str(error))
        outcome = compare(recording, recorder)
        assert (outcome.wrong, outcome.unpaired) == ([], [])
        assert sum(outcome.counts.values()) > 20


def may_be_wrong(scenario: Scenario, recorder: str) -> bool:
    """Tasks overlap otherwise in every run: what is known of one scenario holds for its like."""
    point = loss(scenario, recorder)
    points = {point, LOSSES.get(recorder, point)} - {ORDINARY}
    kept = recorder in recorded_by(scenario)
    return any(
        one.wrong and (used == recorder or not kept) and loss(BY_NAME[name], used) in points
        for (name, used), one in KNOWN.items()
    )


def changed(recording: Recording, folder: Path, line: int, column: str, value: str) -> Recording:
    """Copy the truth with another value in it."""
    lines = [text.split("\t") for text in recording.truth.read_text().splitlines()]
    lines[line][lines[0].index(column)] = value
    copy = folder / "truth.tsv"
    copy.write_text("\n".join("\t".join(parts) for parts in lines) + "\n")
    return replace(recording, truth=copy)


@pytest.mark.parametrize("recorder", ["f", "yy", "ff-untimed", "seccomp"])
def test_differences_are_seen(recorder: str, tmp_path: Path) -> None:
    recording = recorded("unusual", "holes", recorder)
    assert recording is not None
    good = compare(recording, recorder)
    assert (good.wrong, good.unpaired) == ([], [])
    assert good.counts["exact"] > 30
    last = len(recording.observed())
    moved = compare(changed(recording, tmp_path, last, "at", "12345"), recorder)
    assert len(moved.wrong) == 1
    assert "began at 12345" in moved.wrong[0]
    assert compare(changed(recording, tmp_path, last, "at", ""), recorder).counts["open"] == 1
    for column, value in [("call", "write"), ("ret", "1"), ("tid", "1"), ("fd", "99")]:
        assert compare(changed(recording, tmp_path, last, column, value), recorder).unpaired
    assert compare(changed(recording, tmp_path, last, "type", "pipe"), recorder).wrong


def test_relative_positions_have_one_base(tmp_path: Path) -> None:
    recording = recorded("older", "read-on", "attached")
    assert recording is not None
    good = compare(recording, "attached")
    assert good.counts["relative"] > 0
    assert good.wrong == []
    assert compare(changed(recording, tmp_path, 1, "at", "16"), "attached").wrong


def test_scenarios_are_many() -> None:
    assert len(SCENARIOS) >= 45
    assert {scenario.point for scenario in SCENARIOS} == {ORDINARY, *POINTS}
    assert len(RECORDERS) >= 8
    assert len(BY_NAME) == len(SCENARIOS)
