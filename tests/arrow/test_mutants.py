"""130 mutants of files of events: every table is made of them, or the error says what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tracefast as tf
from support import column_mutants, every_table
from support.every_table import OF_POLARS, unclear
from support.paths import DATA

PARTS = 10
COMMANDS = ["files", "forks", "syscalls", "processes", "events", "blocks"]


@pytest.fixture(scope="session")
def tables(tmp_path_factory):
    """Events of calls, of tasks, and of the page cache: a few hundred each."""
    folder = tmp_path_factory.mktemp("tables")
    found = []
    for name in ("image-loading/pth.strace", "spawn/spawn.strace", "page-cache/seq.ftrace.zst"):
        tf.parse(DATA / name, folder / "events.parquet")
        found.append(pq.read_table(folder / "events.parquet").slice(0, 400))
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_columns_give_a_table_or_a_clear_error(tables, tmp_path, part):
    made = 0
    for seed in range(part, 80, PARTS):
        path = tmp_path / f"odd.{'parquet' if seed // PARTS % 2 else 'arrow'}"
        done = column_mutants.odd(tables[seed % 3], path, seed)
        more, problems = unclear(path)
        assert problems == [], (seed, done)
        made += more
    assert made > 50


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_bytes_give_a_table_or_an_error(tables, tmp_path, part):
    for seed in range(part, 50, PARTS):
        path = tmp_path / "damaged.parquet"
        done = column_mutants.damaged(tables[seed % 3], path, seed)
        assert unclear(path, OF_POLARS)[1] == [], (seed, done)


# At these, too, polars ended the whole process.
SPOILED_LENGTHS = [244, 385, 675, 1044, 1510, 1657, 1701, 1881]


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_arrow_files_do_not_end_the_process(tables, tmp_path, part):
    paths = []
    for seed in [*range(100), *SPOILED_LENGTHS][part::PARTS]:
        paths.append(tmp_path / f"{seed}.arrow")
        column_mutants.damaged(tables[seed % 3], paths[-1], seed)
    tests = Path(every_table.__file__).parents[1]
    search = os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", every_table.__name__, *map(str, paths)]
    ran = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, (ran.stdout.splitlines()[-1:], ran.stderr[-1000:])
    assert ran.stdout.split() == [str(path) for path in paths]


@pytest.mark.parametrize("seed", range(24))
def test_commands_name_the_file(run, tables, tmp_path, seed):
    make = column_mutants.damaged if seed % 2 else column_mutants.odd
    make(tables[seed % 3], tmp_path / "mutant.parquet", seed)
    ran = run(COMMANDS[seed % len(COMMANDS)], "mutant.parquet")
    assert "Traceback" not in ran.stderr
    if ran.returncode != 0:
        assert ran.returncode == 2
        # What polars says of a panic comes first.
        assert "error: mutant.parquet: " in ran.stderr
        assert "\nhint: " in ran.stderr


def test_damaged_pages_are_an_error_of_the_command(run, tables, tmp_path):
    path = tmp_path / "mutant.parquet"
    pq.write_table(tables[0], path, compression="zstd")
    data = bytearray(path.read_bytes())
    # All pages, but not what the file says of them.
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    data[4:end] = bytes(end - 4)
    path.write_bytes(data)
    for command in COMMANDS[:4]:
        ran = run(command, "mutant.parquet")
        assert ran.returncode == 2
        assert "error: mutant.parquet: the file of events is incomplete or damaged: " in ran.stderr
        assert "Traceback" not in ran.stderr
        assert "\nhint: re-create it from the log" in ran.stderr
