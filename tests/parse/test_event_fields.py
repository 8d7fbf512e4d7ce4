"""Fields of events: typed, the same for every layout, and nothing lost."""

import random
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tracefast as tf
from event_table import table as event_table
from support import paths
from support.event_text import formats, render
from support.paths import DOCS
from tracefast import _core
from tracefast.analysis.fields import RECORD

DATA = paths.DATA / "events"
KNOWN = _core.known_events()


def table(event: str, *texts: str | None, kind: str = "event") -> pl.DataFrame:
    """Events that have no more than a name and a text."""
    rows = {"name": [event] * len(texts), "kind": [kind] * len(texts), "args": list(texts)}
    return pl.DataFrame(rows, schema={"name": pl.String, "kind": pl.String, "args": pl.String})


def fields(event: str, *texts: str | None, **options: object) -> pl.DataFrame:
    return tf.fields(table(event, *texts), event, **options).collect()


def letters(text: str) -> Counter[str]:
    return Counter(character for character in text if character.isalnum())


@pytest.fixture(scope="module")
def recorded() -> dict[str, pl.DataFrame]:
    """Read one run, as tracefs prints it, and with the option `fields`."""
    return {name: tf.scan(DATA / f"{name}.ftrace").collect() for name in ("default", "fields")}


def test_columns_of_the_record_come_first():
    events = tf.scan(DATA / "default.ftrace")
    frame = tf.fields(events, "sched_switch")
    assert frame.collect_schema() == pl.Schema(
        {
            **{name: events.collect_schema()[name] for name in RECORD},
            "prev_comm": pl.String,
            "prev_pid": pl.Int32,
            "prev_prio": pl.Int32,
            "prev_state": pl.String,
            "next_comm": pl.String,
            "next_pid": pl.Int32,
            "next_prio": pl.Int32,
            "rest": pl.String,
        }
    )
    done = frame.collect()
    assert done.schema == frame.collect_schema()
    assert done.height == events.filter(pl.col("name") == "sched_switch").collect().height > 0
    # The record is of the task that leaves.
    assert (done["tid"] == done["prev_pid"]).all()


def test_any_frame_of_events_will_do(tmp_path, recorded):
    log = DATA / "default.ftrace"
    tf.parse(log, tmp_path / "a.parquet")
    expected = tf.fields(tf.scan(log), "sched_wakeup").drop("source").collect()
    assert expected.height > 0
    again = tf.fields(tf.scan(tmp_path / "a.parquet"), "sched_wakeup").drop("source").collect()
    assert again.equals(expected)
    assert tf.fields(recorded["default"], "sched_wakeup").drop("source").collect().equals(expected)
    part = tf.fields(recorded["default"].lazy().filter(pl.col("cpu") == 1), "sched_wakeup")
    assert part.collect().height == (expected["cpu"] == 1).sum()
    few = recorded["default"].select("args", "name", "line")
    assert tf.fields(few, "sched_wakeup").collect_schema().names()[:2] == ["line", "event_comm"]
    streamed = tf.fields(tf.scan(log), "sched_wakeup").drop("source").collect(engine="streaming")
    assert streamed.equals(expected)
    # What comes after is not pushed down.
    head = tf.fields(tf.scan(log), "sched_wakeup").filter(pl.col("prio") == 120).head(2)
    assert head.select("event_pid").collect().height == 2


def test_known_events_are_read_whole(recorded):
    names = recorded["default"].filter(pl.col("kind") != "syscall")["name"].cast(pl.String)
    counts = {}
    for layout, events in recorded.items():
        for name in names.drop_nulls().unique():
            done = tf.fields(events, name).collect()
            assert done["rest"].null_count() == done.height, (layout, name, done["rest"])
            counts[layout] = counts.get(layout, 0) + (name in KNOWN) * done.height
    assert counts["default"] > 450
    assert counts["fields"] > 450


# Pointers are hashed in the text, and there are numbers where it has names.
HASHED = {"ptr", "hrtimer", "timer", "work", "csd", "folio", "page", "base_addr"}
NAMED = {"function", "func", "ip", "state", "flags", "mflags", "status", "mode", "clockid", "cr"}


def test_layouts_agree(recorded):
    compared = 0
    for name in KNOWN:
        plain, raw = (tf.fields(recorded[layout], name).collect() for layout in recorded)
        assert plain.schema == raw.schema
        if plain.height != raw.height:
            # The option `fields` does not know how to print markers.
            assert name in {"tracing_mark_write", "raw_data"}
            continue
        for column in set(plain.columns) - HASHED - NAMED - {"gfp_flags", "source"}:
            both = pl.DataFrame({"plain": plain[column], "raw": raw[column]}).drop_nulls()
            assert (both["plain"] == both["raw"]).all(), (name, column, both)
            compared += both.height
    assert compared > 4000


def test_names_that_look_like_fields(recorded):
    for events in recorded.values():
        done = tf.fields(events, "sched_prepare_exec").collect()
        hostile = done.filter(pl.col("filename").str.contains("pid=7"))
        assert hostile["filename"].str.ends_with("/x pid=7 old_pid=8").all()
        assert hostile["event_comm"].to_list() == ["a pid=7 =>b"] * hostile.height
        assert hostile.height > 0
        assert (hostile["event_pid"] == hostile["tid"]).all()
        done = tf.fields(events, "sched_process_exec").collect()
        hostile = done.filter(pl.col("filename").str.contains("pid=7"))
        assert (hostile["event_pid"] == hostile["tid"]).all()
        assert (hostile["old_pid"] == hostile["tid"]).all()


def test_fields_that_collide_give_way():
    done = fields("sched_process_hang", "comm=a b pid=7")
    assert done.rows() == [("a b", 7, None)]
    assert done.columns == ["event_comm", "event_pid", "rest"]
    done = fields("mine", "pid=1 event_pid=2 rest=3 line=4 odd")
    assert done.columns == ["event_pid", "event_event_pid", "event_rest", "event_line", "rest"]
    assert done.rows() == [(1, 2, 3, 4, "odd")]


def test_an_unknown_event():
    done = fields(
        "mine",
        "a=1 b=0x1 c=x y d=1.5 e=00000000deadbeef f=-1 big=1",
        "a=2 b=2 c= d=2 e=0000000000000001 f=3 big=18446744073709551615",
        None,
        "a=x b=-1",
        "what",
    )
    types = dict(done.schema)
    assert types == {
        "a": pl.String,
        "b": pl.String,
        "c": pl.String,
        "d": pl.Float64,
        "e": pl.UInt64,
        "f": pl.Int64,
        "big": pl.UInt64,
        "rest": pl.String,
    }
    assert done.rows()[0] == ("1", "0x1", "x y", 1.5, 0xDEADBEEF, -1, 1, None)
    assert done.rows()[1] == ("2", "2", "", 2.0, 1, 3, 2**64 - 1, None)
    assert done.rows()[2] == (None,) * 8
    assert done.rows()[4] == (None,) * 7 + ("what",)


def test_words_before_values_are_keys_if_all_texts_have_them():
    done = fields("mine", "dev 8:1 flags A caller f+0x1/0x2", "dev 8:1 flags B|C caller g")
    assert done.rows() == [("8:1", "A", "f+0x1/0x2", None), ("8:1", "B|C", "g", None)]
    done = fields("mine", "dev 8:1 flags A caller f", "dev 8:1 oh no")
    assert done["rest"].to_list() == ["flags A caller f", "oh no"]


def test_types_are_found_over_all_rows():
    texts = ["n=1"] * 200_000 + ["n=18446744073709551615"]
    done = fields("mine", *texts)
    assert done.schema["n"] == pl.UInt64
    assert done["n"][-1] == 2**64 - 1


def test_a_schema_of_ones_own():
    schema = {"status": pl.String, "n": pl.UInt64(), "x": pl.Float64, "i": pl.Int64}
    texts = ("status D n=0x10 x=1.5 i=-1 odd=1", "n=-5 status")
    done = fields("mine", *texts, schema=schema)
    assert dict(done.schema) == {**schema, "rest": pl.String}
    assert done.rows() == [("D", 16, 1.5, -1, "odd=1"), (None, None, None, None, "n=-5 status")]
    with pytest.raises(ValueError, match="n must be String, Int64, UInt64 or Float64, got Int8"):
        fields("mine", "n=1", schema={"n": pl.Int8})
    # A schema of one's own overrides what is known.
    done = fields("sched_process_hang", "comm=a pid=7", schema={"pid": pl.Int64})
    assert done.rows() == [(7, "comm=a")]


def test_events_that_are_not_there():
    assert fields("mine").columns == ["rest"]
    done = tf.fields(table("other", "a=1"), "sched_switch").collect()
    assert done.height == 0
    assert done.columns[0] == "prev_comm"


def test_hostile_text_does_not_make_columns_without_end():
    done = fields("mine", " ".join(f"k{i}=1" for i in range(10_000)))
    assert done.width == 129
    assert done["rest"].str.len_chars().item() > 50_000


def test_system_calls_are_rows_of_their_own(spawn_ftrace):
    events = tf.scan(spawn_ftrace)
    for name in ("sys_enter_openat", "sys_exit_openat", "openat"):
        with pytest.raises(ValueError, match=r"filter by pl.col\('name'\) == 'openat'"):
            tf.fields(events, name)
    # A probe may have the name of a call.
    both = pl.concat([table("openat", "fd: 3", kind="syscall"), table("openat", "a=1")])
    assert tf.fields(both, "openat").collect().rows() == [(1, None)]


def test_markers(recorded):
    done = tf.fields(recorded["default"], "tracing_mark_write").collect()
    columns = ("phase", "event_pid", "name", "cookie", "value", "text", "rest")
    assert done.select(columns).rows() == [
        (None, None, None, None, None, "plain", None),
        ("B", 12, "a|b", None, None, None, None),
        ("E", 12, None, None, None, None, None),
        ("C", 12, "count", None, -4, None, None),
        ("S", 12, "async", 7, None, None, None),
    ]


def test_functions():
    texts = ("<-ksys_read", "+0x4/0x10 <-g+0x1/0x2", "(a=1) <-g depth=2")
    done = tf.fields(table("vfs_read", *texts, kind="function"), "vfs_read").collect()
    assert done.select("caller", "offset", "size", "args", "depth", "rest").rows() == [
        ("ksys_read", None, None, None, None, None),
        ("g+0x1/0x2", 4, 16, None, None, None),
        ("g", None, None, "a=1", 2, None),
    ]


@pytest.mark.parametrize(
    "log", sorted((DATA.parent / "golden").glob("ftrace-function*.log")), ids=lambda log: log.stem
)
def test_functions_are_read_whole(log):
    events = tf.scan(log).filter(pl.col("kind") == "function", pl.col("name").is_not_null())
    names = events.collect()["name"].cast(pl.String).unique()
    assert not names.is_empty()
    for name in names:
        done = tf.fields(events, name, kind="function").collect()
        assert done.height == events.filter(pl.col("name") == name).collect().height
        left = done["rest"].drop_nulls()
        assert left.str.starts_with("(repeats: ").all(), (name, left)


def test_functions_with_the_name_of_an_event():
    texts = table("kfree", "call_site=f+0x1/0x2 ptr=00000000deadbeef")
    both = pl.concat([texts, table("kfree", "(object=0xff) <-g", kind="function")])
    assert tf.fields(both, "kfree").collect().rows() == [("f+0x1/0x2", 0xDEADBEEF, None)]
    assert tf.fields(both, "kfree", kind="function").collect()["caller"].to_list() == ["g"]
    # Of a name that no known event has, too.
    both = pl.concat([table("mine", "a=1"), table("mine", "<-g", kind="function")])
    assert tf.fields(both, "mine").collect().rows() == [(1, None)]
    assert tf.fields(both[1:], "mine").collect()["caller"].to_list() == ["g"]
    assert tf.fields(both[1:], "mine", kind="event").collect().shape == (0, 1)


def test_the_documented_events_are_those_that_are_known():
    # `python tools/event_table.py` prints the table as it is to be.
    text = (DOCS / "events.md").read_text()
    assert text.endswith("\n\n" + event_table())


def test_every_format_of_a_kernel():
    """Text made up by the formats of 1,603 events: known ones are read whole, nothing is lost."""
    chance = random.Random(1)
    whole = 0
    for name, text in formats().items():
        known = name in KNOWN
        # Small numbers are truths as well.
        texts = [render(text, chance, small=known) for _ in range(5)]
        done = fields(name, *texts)
        if known and not name.startswith("page_fault") and not name.endswith(("msr", "pmc")):
            assert done["rest"].null_count() == 5, (name, texts[0], done["rest"][0])
        if not known:
            none = fields(name, *texts, schema={})
            for line, left in zip(texts, none["rest"], strict=True):
                assert letters(left or "") == letters(line), line
            whole += done["rest"].null_count() == 5
    assert whole > 800


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.text(st.sampled_from(list("ab_=: ,;.-+0123456789xf()[]{}\"'<>|\n\té")), max_size=60),
        min_size=1,
        max_size=4,
    )
)
def test_any_text_is_read_and_nothing_lost(texts):
    done = fields("mine", *texts)
    assert done.height == len(texts)
    for text, row in zip(texts, done.iter_rows(named=True), strict=True):
        left = letters(row.pop("rest") or "")
        # Text of a column is in the line, and what no column has is left.
        for column, value in row.items():
            if isinstance(value, str):
                assert value in text
                left += letters(value)
            if value is not None:
                left += letters(column.removeprefix("event_"))
        numbers = {key for key, value in row.items() if isinstance(value, int | float)}
        if not numbers:
            assert not letters(text) - left, (text, row)


@pytest.mark.parametrize("event", ["sched_switch", "block_rq_issue", "ext4_request_blocks"])
def test_a_known_event_takes_any_text(event):
    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.text(max_size=80), max_size=3))
    def check(texts: list[str]) -> None:
        assert fields(event, *texts).height == len(texts)

    check()


def test_the_command_prints_fields(tmp_path, run):
    log = str(DATA / "default.ftrace")
    ran = run("events", "--event", "sched_process_fork", "--format", "csv", log)
    assert ran.returncode == 0
    header, first, *_ = ran.stdout.splitlines()
    assert header == (
        "ts,task,pid,tid,comm,cpu,line,parent_comm,parent_pid,child_comm,child_pid,rest"
    )
    assert ",a pid=7 =>b," in first
    ran = run("events", "--event", "sched_process_fork", "--format", "table", log)
    assert ran.stdout.splitlines()[0].split()[:4] == ["ts", "cpu", "tid", "comm"]
    assert "rest" not in ran.stdout.splitlines()[0]
    ran = run("events", "--event", "sys_enter_openat", "--format", "csv", log)
    assert ran.returncode == 2
    assert "error: --event sys_enter_openat: a system call" in ran.stderr
    ran = run("events", "--event", "sched_switch", "--match", "a", log)
    assert ran.returncode == 2
    assert "error: --match and --event: both choose events" in ran.stderr
    ran = run("events", "--event", "sched_switch", "--sort", "colour", log)
    assert ran.returncode == 2
    assert "error: --sort colour: no such column" in ran.stderr
    ran = run("events", "--event", "sched_switch", "--sort", "prev_pid", "--top", "1", log)
    assert len(ran.stdout.splitlines()) == 2
    ran = run("events", "--event", "nothing", "--format", "csv", log)
    assert ran.returncode == 0
    assert "warning: no event nothing" in ran.stderr
    # If one input fails, the others are still read, whatever their keys.
    (tmp_path / "a.ftrace").write_text("  a-1 [000] ..... 1.000000: mine: a=1\n" * 20)
    (tmp_path / "b.ftrace").write_text("  a-1 [000] ..... 1.000000: mine: b=x\n" * 20)
    (tmp_path / "c.log").write_text("nothing of the kind\n" * 20)
    ran = run(
        "events",
        "--event",
        "mine",
        "--format",
        "csv",
        *(str(tmp_path / name) for name in ("a.ftrace", "b.ftrace", "c.log")),
    )
    assert ran.returncode == 2
    assert len(ran.stdout.splitlines()) == 41
