"""Readers of Parquet leave out row groups that a filter cannot match: counted by destroying them.

A row group is read if a query fails, or answers something else, once the group's bytes are
destroyed. The footer stays as it is, so this works for any reader.
"""

import shutil

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import tracefast as tf

ROWS = 500
# Each phase of the log has a task of its own, which makes one kind of call.
PHASES = ["accept4", "bind", "close", "dup", "execve", "fcntl", "getpid", "ioctl"]
START = 1_700_000_000


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """A file with a row group for each phase, each of a log of its own."""
    folder = tmp_path_factory.mktemp("pruning")
    logs = [f"{phase}.strace" for phase in range(len(PHASES))]
    for phase, (log, name) in enumerate(zip(logs, PHASES, strict=True)):
        with (folder / log).open("w") as text:
            for call in range(ROWS):
                at = START + phase + call / ROWS
                text.write(f"{100 + phase} {at:.6f} {name}({call}) = 0 <0.000001>\n")
    output = folder / "phases.parquet"
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        tf.parse(logs, output, row_group=ROWS, model=False)
    metadata = pq.read_metadata(output)
    assert [metadata.row_group(i).num_rows for i in range(len(PHASES))] == [ROWS] * len(PHASES)
    return output


def destroyed(path, group, folder):
    """Return a copy in which the pages of a row group are overwritten."""
    copy = folder / f"without-{group}.parquet"
    shutil.copyfile(path, copy)
    row_group = pq.read_metadata(path).row_group(group)
    with copy.open("r+b") as file:
        for number in range(row_group.num_columns):
            column = row_group.column(number)
            offsets = [column.data_page_offset]
            if column.has_dictionary_page:
                offsets.append(column.dictionary_page_offset)
            file.seek(min(offsets))
            file.write(b"\xff" * column.total_compressed_size)
    return copy


def groups_read(path, query, folder):
    """Return the row groups without which a query does not answer as it does."""
    answer = query(path)
    assert answer
    read = []
    for group in range(pq.read_metadata(path).num_row_groups):
        try:
            same = query(destroyed(path, group, folder)) == answer
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001 - panics of polars are no exceptions
            same = False
        if not same:
            read.append(group)
    return read


# The middle of the third phase, all of the fifth, the name of the last, and the log of the second:
# the row group that has them, and how many rows they are.
SINCE, UNTIL = ((START + 2) * 10**9 + 250_000_000, (START + 2) * 10**9 + 500_000_000)
FILTERS = {"ts": (2, 126), "tid": (4, ROWS), "name": (7, ROWS), "source": (1, ROWS)}
LOG = "1.strace"


def polars_condition(column):
    since, until = (pl.lit(time).cast(pl.Datetime("ns")) for time in (SINCE, UNTIL))
    return {
        "ts": pl.col("ts").is_between(since, until),
        "tid": pl.col("tid") == 104,
        "name": pl.col("name") == "ioctl",
        "source": pl.col("source") == LOG,
    }[column]


def by_polars(column, scan=pl.scan_parquet):
    def query(path):
        found = scan(path).filter(polars_condition(column)).select("line", "args").collect()
        return found.rows()

    return query


def by_scan(column):
    return by_polars(column, tf.scan)


def by_duckdb(column):
    conditions = {
        "ts": f"ts BETWEEN make_timestamp_ns({SINCE}) AND make_timestamp_ns({UNTIL})",
        "tid": "tid = 104",
        "name": "name = 'ioctl'",
        "source": f"source = '{LOG}'",
    }

    def query(path):
        with duckdb.connect() as connection:
            text = f"SELECT line, args FROM '{path}' WHERE {conditions[column]} ORDER BY line"
            return connection.execute(text).fetchall()

    return query


def by_pyarrow(column):
    stamp = pa.timestamp("ns")
    conditions = {
        "ts": (ds.field("ts") >= pa.scalar(SINCE, stamp))
        & (ds.field("ts") <= pa.scalar(UNTIL, stamp)),
        "tid": ds.field("tid") == 104,
        "name": ds.field("name") == "ioctl",
        "source": ds.field("source") == LOG,
    }

    def query(path):
        table = ds.dataset(path).to_table(columns=["line"], filter=conditions[column])
        return table.to_pylist()

    return query


READERS = [by_polars, by_scan, by_pyarrow, by_duckdb]


@pytest.mark.parametrize("column", FILTERS)
@pytest.mark.parametrize("reader", READERS)
def test_a_filter_reads_the_row_groups_that_it_may_match(reader, column, events, tmp_path):
    group, rows = FILTERS[column]
    query = reader(column)
    assert len(query(events)) == rows
    assert groups_read(events, query, tmp_path) == [group]


@pytest.mark.parametrize("column", ["name", "source"])
@pytest.mark.parametrize("reader", [by_polars, by_pyarrow])
def test_of_words_in_dictionaries_nothing_is_left_out(reader, column, events, tmp_path):
    """Why the file declares these as strings: without this, every row group is read."""
    words = tmp_path / "words.parquet"
    table = pq.read_table(events, columns=[column, "line", "args"])
    table = table.cast(
        pa.schema(
            {
                column: pa.dictionary(pa.uint32(), pa.string()),
                "line": pa.uint64(),
                "args": pa.string(),
            }
        )
    )
    pq.write_table(table, words, row_group_size=ROWS)
    assert groups_read(words, reader(column), tmp_path) == list(range(len(PHASES)))


def test_without_statistics_every_row_group_is_read(events, tmp_path):
    """Counting distinguishes a reader that skips from one that does not."""
    plain = tmp_path / "plain.parquet"
    pq.write_table(pq.read_table(events), plain, row_group_size=ROWS, write_statistics=False)
    assert groups_read(plain, by_duckdb("tid"), tmp_path) == list(range(len(PHASES)))
