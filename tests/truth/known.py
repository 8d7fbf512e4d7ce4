"""What is known to be wrong or less than exact in the recorded logs."""

from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).with_name("known.tsv")


class Known(NamedTuple):
    """Rows of a recorded log that are less than exact, or wrong."""

    scenario: str
    recorder: str
    less: int = 0
    wrong: int = 0


def read() -> dict[tuple[str, str], Known]:
    """Read the table; what it does not name has neither."""
    if not FILE.exists():
        return {}
    lines = [line.split("\t") for line in FILE.read_text().splitlines()[1:]]
    found = [Known(name, recorder, int(less), int(wrong)) for name, recorder, less, wrong in lines]
    return {(one.scenario, one.recorder): one for one in found}
