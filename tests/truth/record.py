"""Record the logs in tests/data/truth/positions again, with strace and a C compiler.

`PYTHONPATH=tests python -m truth.record [--missing] [GROUP]...`, then `python -m truth.table
--write`. `--missing` keeps the logs that are there, and records the others.
Best as root on x86-64: what a machine cannot run is left out.
"""

import ctypes
import shutil
import sys
import tempfile
from pathlib import Path

from truth import archive
from truth.recording import PROGRAMS, CannotRecordError, Studio, build, record
from truth.scenarios import SCENARIOS, recorded_by

FOLDER = Path("/srv/truth")  # Its name is in the logs.


def main() -> None:
    """Record all groups, or those named."""
    groups = dict.fromkeys(scenario.group for scenario in SCENARIOS)
    # Addresses that are the same in every run compress better.
    ctypes.CDLL(None).personality(0x0040000)  # ADDR_NO_RANDOMIZE
    FOLDER.mkdir(parents=True)
    try:
        shutil.copytree(PROGRAMS, FOLDER / "programs")
        studio = Studio(build(FOLDER), FOLDER / "programs", "/usr/bin/python3")
        for group in [word for word in sys.argv[1:] if word in groups] or groups:
            with tempfile.TemporaryDirectory() as made:
                if "--missing" in sys.argv[1:]:
                    shutil.copytree(archive.unpacked(group).name, made, dirs_exist_ok=True)
                record_group(group, studio, Path(made))
                archive.pack(group, Path(made))
    finally:
        shutil.rmtree(FOLDER)


def record_group(group: str, studio: Studio, made: Path) -> None:
    work = FOLDER / "run"
    for scenario in (one for one in SCENARIOS if one.group == group):
        for recorder in recorded_by(scenario):
            log = made / scenario.name / recorder / "log.strace"
            if log.parent.exists():
                continue
            log.parent.mkdir(parents=True)
            work.mkdir()
            try:
                record(scenario, recorder, studio, work, log)
            except CannotRecordError as error:
                print(f"{scenario.name}, {recorder}: {error}")
                shutil.rmtree(log.parent)
            finally:
                shutil.rmtree(work)


if __name__ == "__main__":
    main()
