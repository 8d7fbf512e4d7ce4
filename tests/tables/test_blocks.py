"""`tf.blocks` and `tracefast blocks`: requests to block devices, from events of ftrace."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.blocks import SCHEMA

PAGE_CACHE = DATA / "page-cache"


@pytest.fixture
def table(tmp_path):
    """Ask about a log of records, each ``(name, payload)``, ten microseconds apart.

    A record may be a whole line instead.
    """

    def ask(*records):
        lines = ["# tracer: nop"]
        for n, record in enumerate(records):
            if isinstance(record, str):
                lines.append(record)
                continue
            name, text, *cpu = record
            lines.append(
                f"  app-7   [{cpu[0] if cpu else 0:03}] .....  1.{n * 10:06}: {name}: {text}"
            )
        path = tmp_path / "made.ftrace"
        path.write_text("\n".join(lines) + "\n")
        return tf.blocks(tf.scan(path)).collect()

    return ask


def issue(sector, sectors=8, rwbs="R", task="app", cpu=0, dev="8,16"):
    text = f"{dev} {rwbs} {sectors * 512} () {sector} + {sectors} be,0,4 [{task}]"
    return ("block_rq_issue", text, cpu)


def complete(sector, sectors=8, rwbs="R", cpu=0, dev="8,16"):
    return ("block_rq_complete", f"{dev} {rwbs} () {sector} + {sectors} be,0,4 [0]", cpu)


def requeue(sector, sectors=8, rwbs="R", dev="8,16"):
    return ("block_rq_requeue", f"{dev} {rwbs} () {sector} + {sectors} be,0,4 [0]")


def recorded(name):
    table = tf.blocks(tf.scan(PAGE_CACHE / f"{name}.ftrace.zst")).collect()
    return {row["op"]: row for row in table.rows(named=True)}


def test_a_file_read_in_order():
    row = recorded("seq")["read"]
    assert (row["dev"], row["requests"], row["bytes"]) == ("7:0", 30, 32 << 20)
    assert (row["sequential_share_1"], row["sequential_share_4"]) == (1.0, 1.0)
    assert (row["readahead_share"], row["task_top"]) == (1.0, "reader")
    assert (row["size_median"], row["size_max"]) == (1280 << 10, 1280 << 10)


def test_a_file_read_at_random():
    row = recorded("rand")["read"]
    assert (row["requests"], row["completed"], row["bytes"]) == (389, 389, 389 * 4096)
    assert (row["sequential_share_1"], row["sequential_share_4"]) == (0.0, 0.0)
    assert (row["size_median"], row["size_max"], row["in_flight_max"]) == (4096, 4096, 1)


def test_pages_fetched_by_faults_are_no_read_ahead():
    assert recorded("mmaprand")["read"]["readahead_share"] == 0.0


def test_files_read_in_turns_are_sequential_only_with_several_streams():
    rows = recorded("streams")
    read = rows["read"]
    assert (read["requests"], read["completed"]) == (64, 64)
    assert read["sequential_share_1"] == 0.0
    # The first request of all is not counted; those that start the other three streams are.
    assert read["sequential_share_4"] == 60 / 63
    assert rows["write"]["bytes"] == (1 << 20) + 28672 + 4096 + 4096 + 8192 + 8192 + 4096
    assert rows["write"]["in_flight_max"] == 4


def test_flushes_have_no_place_but_latencies():
    row = recorded("streams")["flush"]
    assert (row["requests"], row["completed"], row["bytes"]) == (4, 4, 0)
    assert (row["sequential_share_1"], row["sequential_share_4"]) == (None, None)
    assert row["latency_max_ns"] == 17_000


def test_latencies_are_exact_by_nearest_rank(table):
    records = []
    for n in range(4):
        records += [issue(n * 100), *[issue(9000 + n, dev="8,0")] * n, complete(n * 100)]
    row = table(*records).filter(pl.col("dev") == "8:16").row(0, named=True)
    latencies = [row[f"latency_{which}_ns"] for which in ("p50", "p99", "max")]
    assert latencies == [20_000, 40_000, 40_000]
    assert (row["completed"], row["requests"]) == (4, 4)


# What /proc/diskstats counted while the log was recorded.
DISKSTATS = (564, 1_284_768 * 512)


@pytest.mark.parametrize("requeues", ["traced", "not traced"])
def test_requests_are_those_of_diskstats(requeues):
    events = tf.scan(DATA / "blocks" / "requeued.ftrace.zst")
    if requeues == "not traced":
        events = events.filter(pl.col("name") != "block_rq_requeue")
    read = tf.blocks(events).filter(pl.col("op") == "read").collect().row(0, named=True)
    assert (read["requests"], read["bytes"]) == DISKSTATS


def test_a_requeued_request_counts_once_from_its_first_issue(table):
    row = table(issue(0), requeue(0), issue(0), complete(0)).row(0, named=True)
    assert (row["requests"], row["bytes"], row["completed"]) == (1, 4096, 1)
    assert (row["latency_max_ns"], row["task_top"]) == (30_000, "app")
    often = table(issue(0), *[requeue(0), issue(0)] * 3, complete(0)).row(0, named=True)
    assert (often["requests"], often["latency_max_ns"]) == (1, 70_000)
    # It was never issued: the driver was not asked.
    row = table(requeue(0), issue(0), complete(0)).row(0, named=True)
    assert (row["requests"], row["latency_max_ns"]) == (1, 10_000)


def test_what_is_left_of_a_request_that_was_requeued_is_no_other_request(table):
    records = [issue(0, 24), complete(0, 8), requeue(8, 16), issue(8, 16), complete(8, 16)]
    row = table(*records).row(0, named=True)
    assert (row["requests"], row["bytes"], row["latency_max_ns"]) == (1, 24 * 512, 40_000)


def test_the_same_sectors_may_be_requested_twice_at_a_time(table):
    # As two programs that read a file with O_DIRECT do.
    twice = [issue(0), issue(0), requeue(0), complete(0), issue(0), complete(0)]
    assert table(*twice)["requests"].to_list() == [2]
    assert table(issue(0), issue(0), complete(0), complete(0))["requests"].to_list() == [2]
    assert table(issue(0), complete(0), issue(0), complete(0))["requests"].to_list() == [2]


def test_requeues_that_are_not_traced_are_recognised_where_completions_are(table):
    row = table(issue(0), issue(0), complete(0)).row(0, named=True)
    assert (row["requests"], row["completed"], row["latency_max_ns"]) == (1, 1, 20_000)
    row = table(issue(0), issue(0), complete(0), issue(0), complete(0)).row(0, named=True)
    assert (row["requests"], row["completed"], row["latency_max_ns"]) == (2, 2, 20_000)
    # Most completions are missing: those of the first may be, too.
    others = [issue(1000 + n * 8) for n in range(20)]
    row = table(issue(0), issue(0), complete(0), *others).row(0, named=True)
    assert (row["requests"], row["completed"]) == (22, 1)


def test_a_requeue_of_the_tracer(table):
    lines = ["D   R 0 + 8 [app]", "R   R 0 + 8 [0]", "D   R 0 + 8 [kworker]", "C   R 0 + 8 [0]"]
    times = [f"  app-7  [000] d..1.  1.00000{n}: 8,16   {line}" for n, line in enumerate(lines)]
    row = table("# tracer: blk", *times).row(0, named=True)
    assert (row["requests"], row["completed"], row["latency_max_ns"]) == (1, 1, 3_000)


def test_a_completion_without_its_request_gives_no_latency(table):
    row = table(complete(0), issue(100), complete(200), issue(0)).row(0, named=True)
    assert (row["requests"], row["completed"], row["latency_max_ns"]) == (2, 0, None)


def test_a_request_issued_again_drops_the_older(table):
    row = table(issue(0), issue(0), complete(0), complete(0)).row(0, named=True)
    assert (row["requests"], row["completed"], row["latency_max_ns"]) == (2, 1, 10_000)
    # The second was longer, so the completion of another request that was lost is not the first's.
    row = table(issue(0, 8), issue(0, 16), complete(0, 8)).row(0, named=True)
    assert row["completed"] == 0


def test_a_request_completed_in_parts_is_done_with_the_last(table):
    row = table(issue(0, 24), complete(0, 8), complete(8, 16)).row(0, named=True)
    assert (row["completed"], row["latency_max_ns"]) == (1, 20_000)
    assert table(issue(0, 24), complete(0, 8)).row(0, named=True)["completed"] == 0


def test_a_completion_of_more_than_was_asked_is_another_request(table):
    assert table(issue(8, 8), complete(0, 16)).row(0, named=True)["completed"] == 0


def test_losses_may_overlap(table):
    # The loss on processor 1 was noted last, but may have begun first.
    lost = ["CPU:2 [LOST 1 EVENTS]", "CPU:1 [LOST 1 EVENTS]"]
    records = [issue(900, cpu=1), issue(0), complete(0), issue(500, cpu=2), *lost]
    assert table(*records)["completed"].to_list() == [0]


def test_devices_and_operations_do_not_complete_each_other(table):
    rows = table(issue(0), complete(0, dev="8,0"), complete(0, rwbs="WS")).rows(named=True)
    assert [(row["dev"], row["completed"]) for row in rows] == [("8:16", 0)]


def test_what_was_open_while_records_were_lost_has_no_latency(table):
    lost = "CPU:1 [LOST 3 EVENTS]"
    during = [issue(0), issue(8, cpu=1), lost, complete(8, cpu=1), complete(0)]
    assert table(*during)["completed"].to_list() == [0]
    around = [issue(0), complete(0), issue(8, cpu=1), complete(8), lost, issue(16), complete(16)]
    # The second ended after the last record of processor 1, where the loss may have begun.
    row = table(*around).row(0, named=True)
    assert (row["requests"], row["completed"]) == (3, 2)


def test_without_completions_nothing_is_known_of_them(table):
    row = table(issue(0)).row(0, named=True)
    assert (row["requests"], row["completed"], row["in_flight_max"]) == (1, None, None)


def test_requests_in_flight(table):
    records = [issue(0), issue(100), issue(200), complete(100), issue(300), complete(0)]
    # The one at 200 never completes: it is not known to be open.
    row = table(*records, complete(300)).row(0, named=True)
    assert (row["completed"], row["in_flight_max"]) == (3, 2)


def test_kinds_of_requests(table):
    kinds = {
        **dict.fromkeys(["R", "RA", "RSM"], "read"),
        **dict.fromkeys(["W", "WS", "WFS", "FWFSM", "FWS"], "write"),
        **dict.fromkeys(["D", "DE", "DS"], "discard"),
        **dict.fromkeys(["FF", "F"], "flush"),
        "ZA": "zone",
        "N": "none",
    }
    for rwbs, op in kinds.items():
        row = table(issue(0, rwbs=rwbs)).row(0, named=True)
        assert row["op"] == op, rwbs
        assert row["readahead_share"] == (1.0 if rwbs == "RA" else 0.0), rwbs


def test_streams_end_with_the_one_not_used_for_longest(table):
    # Five streams in turns: each is forgotten before it goes on.
    turns = [issue(n * 1000 + i * 8) for i in range(3) for n in range(5)]
    assert table(*turns)["sequential_share_4"].to_list() == [0.0]
    # A stream that is used stays: the fifth takes the place of the second.
    kept = [issue(s) for s in (0, 1000, 2000, 3000, 8, 4000, 16, 2008, 1008)]
    row = table(*kept).row(0, named=True)
    assert (row["sequential_share_1"], row["sequential_share_4"]) == (0.0, 3 / 8)


def test_the_commonest_task_by_the_name_it_had(table):
    # The record's own name, app, is the one that the kernel knew last.
    tasks = ["kworker/1:1H", "dd", "dd", "a b] [c"]
    row = table(*(issue(0, task=task) for task in tasks)).row(0, named=True)
    assert row["task_top"] == "dd"
    assert table(issue(0, task="b"), issue(0, task="a"))["task_top"].to_list() == ["a"]


def test_sizes_of_old_kernels_are_those_of_the_sectors(table):
    row = table(("block_rq_issue", "8,16 R 0 () 2048 + 16 [dd]")).row(0, named=True)
    assert (row["bytes"], row["size_max"]) == (8192, 8192)
    # A command has no sectors, but bytes.
    row = table(("block_rq_issue", "8,16 N 36 (12 00 00 00 24 00) 0 + 0 [dd]")).row(0, named=True)
    assert (row["op"], row["bytes"]) == ("none", 36)


def test_the_tracer_of_the_block_layer_gives_the_same(tmp_path):
    log = tmp_path / "blk.ftrace"
    log.write_text(
        "# tracer: blk\n#\n"
        "  app-7  [000] d..1.  1.000000: 8,16   Q  RA 800 + 16 [app]\n"
        "  app-7  [000] d..1.  1.000010: 8,16   D  RA 800 + 16 [app]\n"
        "  app-7  [000] d..1.  1.000020: 8,16   D   R 816 + 8 [app]\n"
        "  app-7  [000] d..1.  1.000110: 8,16   C  RA 800 + 16 [0]\n"
    )
    (row,) = tf.blocks(tf.scan(log)).collect().rows(named=True)
    assert (row["requests"], row["bytes"], row["completed"]) == (2, 12288, 1)
    assert (row["latency_max_ns"], row["sequential_share_1"]) == (100_000, 1.0)
    assert (row["readahead_share"], row["task_top"]) == (0.5, "app")


@pytest.mark.parametrize("name", ["blk", "blk-classic", "blk-latency"])
def test_recordings_of_the_tracer(name):
    rows = tf.blocks(tf.scan(DATA / "ftrace" / f"{name}.ftrace")).collect().rows(named=True)
    assert [(row["op"], row["requests"], row["bytes"]) for row in rows] == [
        ("write", 5, 20480),
        ("read", 1, 4096),
    ]
    assert rows[0]["completed"] is None


def test_events_and_tracer_are_not_counted_twice(table):
    both = table(issue(0), "  app-7  [000] d..1.  1.000001: 8,16   D   R 0 + 8 [app]")
    assert both["requests"].to_list() == [1]


def test_nothing_is_read_before_the_table_is_collected(unreadable):
    asked = tf.blocks(unreadable)
    assert asked.collect_schema() == pl.Schema(SCHEMA)
    with pytest.raises(Exception, match="read too early"):
        asked.collect()


def test_several_logs_and_parts_of_events():
    logs = [PAGE_CACHE / f"{name}.ftrace.zst" for name in ("seq", "rand")]
    events = tf.scan(logs)
    both = tf.blocks(events).collect()
    assert both["source"].n_unique() == 2
    needed = events.select("source", "ts", "cpu", "comm", "kind", "name", "args")
    assert_frame_equal(tf.blocks(needed).collect(engine="streaming"), both)
    parts = [part.lazy() for part in needed.collect().iter_slices(11)]
    assert_frame_equal(tf.blocks(pl.concat(parts)).collect(), both)
    for log in logs:
        alone = tf.blocks(tf.scan(log)).collect()
        assert_frame_equal(both.filter(pl.col("source") == str(log)), alone)


def test_the_command(run):
    ran = run("blocks", PAGE_CACHE / "streams.ftrace.zst")
    assert (ran.returncode, ran.stderr) == (0, "")
    header, read, *_ = ran.stdout.splitlines()
    assert header.split()[:4] == ["dev", "op", "requests", "bytes"]
    assert read.split()[:6] == ["7:0", "read", "64", "4,194,304", "0.00%", "95.24%"]
    ran = run("blocks", PAGE_CACHE / "streams.ftrace.zst", "--format", "ndjson", "--match", "7:*")
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [row["op"] for row in rows] == ["read", "write", "flush"]
    assert list(rows[0]) == list(SCHEMA)[1:]


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_the_screen_says_of_how_many_requests_it_speaks(terminal, tmp_path, columns):
    # As set_event_pid leaves it: what completed while another task ran is not in the log.
    lines = ["# tracer: nop"]
    for n in range(40):
        lines.append(f"  app-7 [000] ..... 1.{n:03}001: {': '.join(issue(n * 8)[:2])}")
        if n % 4 == 0:
            lines.append(f"  app-7 [000] ..... 1.{n:03}002: {': '.join(complete(n * 8)[:2])}")
    log = tmp_path / "made.ftrace"
    log.write_text("\n".join(lines) + "\n")
    shown = terminal("blocks", log, columns=columns)
    said = " ".join(shown.split())
    assert "10 of 40 reads" in said
    assert "set_event_pid" in said
    assert max(map(len, shown.splitlines())) <= columns
    log.write_text("\n".join(line for line in lines if "complete" not in line) + "\n")
    said = " ".join(terminal("blocks", log, columns=columns).split())
    assert "trace block_rq_complete" in said


def test_the_command_says_what_is_missing(run, pth):
    ran = run("blocks", pth)
    assert ran.returncode == 0
    assert "no requests to block devices: trace the events block_rq_issue" in ran.stderr


def test_numbers_that_are_none_do_no_harm(table):
    huge = 2**64 - 1
    records = [issue(huge, 2**32 - 1), complete(huge, 2**32 - 1), issue(2**63 - 1), complete(2**63)]
    records += [issue(0, rwbs="?"), issue(0, rwbs=""), ("block_rq_issue", "")]
    assert table(*records)["completed"].sum() == 0
