"""Show how each scenario does with each recorder.

`PYTHONPATH=tests python -m truth.table [--live] [--details] [--write] [NAME]...`

A NAME is a scenario, a group or a recorder. Without `--live` the recorded logs are read; with it
the scenarios run now. `--write` writes known.tsv, which the tests hold results against.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from truth.archive import recorded
from truth.comparison import COUNTS, Outcome, compare
from truth.known import FILE, Known
from truth.recording import CannotRecordError, Studio, build, record
from truth.scenarios import RECORDERS, SCENARIOS, Scenario


def outcomes(names: list[str], *, live: bool) -> Iterator[tuple[Scenario, str, Outcome | str]]:
    """Compare what was recorded, or what is recorded now."""
    wanted = set(names) - set(RECORDERS)
    recorders = set(names) & set(RECORDERS) or set(RECORDERS)
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(build(Path(folder))) if live else None
        for scenario in SCENARIOS:
            if wanted and not wanted & {scenario.name, scenario.group}:
                continue
            for recorder in scenario.recorders:
                if recorder in recorders:
                    yield scenario, recorder, outcome(scenario, recorder, studio)


def outcome(scenario: Scenario, recorder: str, studio: Studio | None) -> Outcome | str:
    if studio is None:
        recording = recorded(scenario.group, scenario.name, recorder)
        return "not recorded" if recording is None else compare(recording, recorder)
    with tempfile.TemporaryDirectory() as scratch:
        (work := Path(scratch) / "run").mkdir()
        try:
            made = record(scenario, recorder, studio, work, Path(scratch) / "log.strace")
        except CannotRecordError as error:
            return str(error)
        return compare(made, recorder)


def main() -> int:
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    names = [word for word in sys.argv[1:] if not word.startswith("-")]
    print(f"  {'':32} {'':10}", *[f"{name[:9]:>9}" for name in COUNTS])
    known, failed = [], False
    for scenario, recorder, found in outcomes(names, live="--live" in options):
        head = f"{scenario.point} {scenario.name:32} {recorder:10}"
        if isinstance(found, str):
            print(head, found)
            continue
        print(head, *[f"{found.counts[name] or '.':>9}" for name in COUNTS])
        failed |= bool(found.wrong or found.unpaired)
        known.append(Known(scenario.name, recorder, found.less, len(found.wrong)))
        for line in [*found.unpaired, *(found.wrong if "--details" in options else [])]:
            print("     ", line)
    if "--write" in options:
        lines = ["\t".join(map(str, one)) for one in known if one.less or one.wrong]
        FILE.write_text("\n".join(["\t".join(Known._fields), *lines]) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
