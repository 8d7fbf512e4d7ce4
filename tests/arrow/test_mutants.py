"""300 mutants of files of events: every table is made of them, or the error says what is wrong."""

import polars as pl
import pyarrow.parquet as pq
import pytest

import tracefast as tf
from support import column_mutants
from support.paths import DATA
from tracefast.analysis.syscalls import strace_counts

PTH = "data/unet_carvana_scale0.5_epoch2.pth"
TABLES = {
    "scan": lambda events: events,
    "files": tf.files,
    "files by open": lambda events: tf.files(events, by="open"),
    "files by process": lambda events: tf.files(events, by="process"),
    "darshan": lambda events: tf.files(events, darshan=True),
    "accesses": lambda events: tf.accesses(events, PTH),
    "covered_bytes": lambda events: tf.covered_bytes(events, by="path"),
    "syscalls": tf.syscalls,
    "syscalls by process": lambda events: tf.syscalls(events, by="process"),
    "strace_counts": strace_counts,
    "processes": tf.processes,
    "forks": tf.forks,
    "fork_summary": lambda events: tf.fork_summary(events, threads=True),
    "fork_advice": tf.fork_advice,
    "events": tf.events,
    "fields": lambda events: tf.fields(events, "block_rq_issue"),
    "page_cache": tf.page_cache,
    "blocks": tf.blocks,
}
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


def is_clear(error: Exception, path) -> bool:
    """Say whether it is an error of tracefast which says what is wrong with which file or table."""
    if isinstance(error, tf.Error):
        return str(error).startswith(f"{path}: ") and bool(error.hint)
    columns = (pl.exceptions.ColumnNotFoundError, pl.exceptions.SchemaError)
    return isinstance(error, columns) and str(error).startswith("tracefast")


def unclear(path, may_fail=()):
    """Make every table of a file; give how many there are, and the errors that are not clear."""
    try:
        events = tf.scan(path)
    except tf.Error as error:
        return 0, [] if is_clear(error, path) else [repr(error)]
    made, problems = 0, []
    for name, table in TABLES.items():
        try:
            made += table(events).collect().width > 0
        except may_fail:
            continue
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            if not is_clear(error, path):
                problems.append(f"{name}: {error!r}")
    return made, problems


@pytest.mark.parametrize("part", range(PARTS))
def test_odd_columns_give_a_table_or_a_clear_error(tables, tmp_path, part):
    made = 0
    for seed in range(part, 200, PARTS):
        path = tmp_path / f"odd.{'parquet' if seed // PARTS % 2 else 'arrow'}"
        done = column_mutants.odd(tables[seed % 3], path, seed)
        more, problems = unclear(path)
        assert problems == [], (seed, done)
        made += more
    assert made > 50


# polars reads the pages, and says what is wrong with them; at some it panics.
OF_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_bytes_give_a_table_or_an_error(tables, tmp_path, part):
    for seed in range(part, 100, PARTS):
        path = tmp_path / "damaged.parquet"
        done = column_mutants.damaged(tables[seed % 3], path, seed)
        assert unclear(path, OF_POLARS)[1] == [], (seed, done)


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
