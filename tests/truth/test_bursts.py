"""What calls that overlapped covered together, held against where the kernel says they began."""

from itertools import pairwise
from typing import Any

import pytest

from support.kernel import truth as rows_of
from truth.archive import recorded
from truth.comparison import Outcome, pairs
from truth.scenarios import BY_NAME, RECORDERS, SCENARIOS, Scenario

Row = dict[str, Any]
# In others, the observer does not see all transfers, or the log has no order.
WITH_ORDER = ["f", "y", "yy", "seccomp"]


def checked(scenario: Scenario, recorder: str) -> int:
    """Check all bursts of a recorded log, and count their calls."""
    recording = recorded(scenario.group, scenario.name, recorder)
    if recording is None:
        return 0
    rows = rows_of.read_rows(recording.log)
    observed = [one for one in recording.observed() if one["at"] != ""]
    names = {one["call"] for one in recording.observed()}
    places = {
        (row["source"], row["tid"], row["line"]): int(call["at"])
        for call, row in pairs(rows, names, recording.observed(), Outcome())
        if call in observed
    }
    overlapping: dict[int, list[Row]] = {}
    count = 0
    for row in rows.iter_rows(named=True):
        if row["name"] == "offset-burst":
            calls = overlapping[row["ofd"]][-row["ret"] :]
            assert len(calls) == row["ret"]
            starts = [places[call["source"], call["tid"], call["line"]] for call in calls]
            spans = sorted(
                (start, start + call["bytes"]) for start, call in zip(starts, calls, strict=True)
            )
            shift = spans[0][0] - row["offset"] if "relative" in row["offset_known"] else 0
            assert (spans[0][0], spans[-1][1]) == (row["offset"] + shift, row["offset2"] + shift)
            assert all(before[1] == after[0] for before, after in pairwise(spans))
            count += row["ret"]
        elif row["offset_known"] == "ambiguous" and (row["bytes"] or 0) > 0:
            overlapping.setdefault(row["ofd"], []).append(row)
    return count


@pytest.mark.parametrize("recorder", RECORDERS)
def test_pieces_of_equal_length(recorder: str) -> None:
    """Of threads that read one file piece by piece, each piece is known, but not whose it is."""
    count = checked(BY_NAME["equal-burst"], recorder)
    if recorder in WITH_ORDER:
        assert count > 50


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
def test_bursts_of_every_scenario(scenario: Scenario) -> None:
    for recorder in WITH_ORDER:
        if recorder in scenario.recorders:
            checked(scenario, recorder)
