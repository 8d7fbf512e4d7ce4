"""Show how each scenario does with each recorder, run now.

`PYTHONPATH=tests python -m truth.table [--details] [SCENARIO | RECORDER | GROUP]...`
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from truth.comparison import Outcome, compare
from truth.recording import RECORDERS, CannotRecordError, build, record
from truth.scenarios import SCENARIOS


def main() -> int:
    chosen = [word for word in sys.argv[1:] if not word.startswith("-")]
    recorders = [name for name in chosen if name in RECORDERS] or list(RECORDERS)
    wanted = set(chosen) - set(RECORDERS)
    details = "--details" in sys.argv
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        for scenario in SCENARIOS:
            if wanted and not wanted & {scenario.name, scenario.group}:
                continue
            for recorder in scenario.recorders or recorders:
                if recorder not in recorders:
                    continue
                with tempfile.TemporaryDirectory() as scratch:
                    (work := Path(scratch) / "run").mkdir()
                    log = Path(scratch) / "log.strace"
                    try:
                        made = record(scenario, recorder, library, work, log, "/usr/bin/python3")
                    except CannotRecordError as error:
                        print(f"{scenario.point} {scenario.name:32} {recorder:10} skipped: {error}")
                        continue
                    outcome = compare(made, recorder)
                    wrong += len(outcome.wrong)
                    print(f"{scenario.point} {scenario.name:32} {recorder:10} {shown(outcome)}")
                    lines = outcome.unpaired + (outcome.wrong if details else [])
                    for line in lines[:8]:
                        print("     ", line)
    return int(wrong > 0)


def shown(outcome: Outcome) -> str:
    names = ["exact", "relative", "ambiguous", "unknown", "none", "open", "wrong"]
    counts = [f"{outcome.counts[name] or '.':>5}" for name in names]
    return " ".join(counts) + (f" unpaired {len(outcome.unpaired)}" if outcome.unpaired else "")


if __name__ == "__main__":
    sys.exit(main())
