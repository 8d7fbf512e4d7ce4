"""Timelines and flame graphs, read by the schemas of their formats, against the tables."""

import gzip
import json
from collections import Counter, defaultdict
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

import tracefast as tf
from support.paths import DATA
from tracefast import _core

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Decoded:
    """A file of Perfetto, as its schema reads it; refuses what the reader of Perfetto refuses."""

    def __init__(self, path):
        trace = proto.Trace()
        trace.ParseFromString(path.read_bytes())
        self.tracks, self.events = {}, defaultdict(list)
        names, arguments, texts = {}, {}, {}
        assert trace.packet[0].HasField("clock_snapshot")
        for packet in trace.packet:
            if packet.sequence_flags & 1:
                names, arguments, texts = {}, {}, {}
            names |= {one.iid: one.name for one in packet.interned_data.event_names}
            arguments |= {one.iid: one.name for one in packet.interned_data.debug_annotation_names}
            texts |= {
                one.iid: one.str.decode()
                for one in packet.interned_data.debug_annotation_string_values
            }
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                assert track.uuid not in self.tracks
                assert not track.parent_uuid or track.parent_uuid in self.tracks
                self.tracks[track.uuid] = track
            if packet.HasField("track_event"):
                event = packet.track_event
                assert event.track_uuid in self.tracks
                name = names[event.name_iid] if event.name_iid else event.name
                details = {}
                for one in event.debug_annotations:
                    key = arguments[one.name_iid] if one.name_iid else one.name
                    details[key] = (
                        texts[one.string_value_iid]
                        if one.string_value_iid
                        else one.string_value or one.int_value
                    )
                self.events[event.track_uuid].append((packet.timestamp, event, name, details))

    def slices(self):
        """Give the slices; each ends before the next one of its track begins."""
        found = []
        for track, events in self.events.items():
            begun, last = None, -1
            for ts, event, name, details in events:
                if event.type not in {BEGIN, END}:
                    continue
                assert ts >= last
                last = ts
                assert (event.type == END) is (begun is not None)
                if event.type == END:
                    found.append((track, begun[0], ts, begun[1], begun[2]))
                    begun = None
                else:
                    begun = (ts, name, details)
            assert begun is None
        return found

    def of_type(self, kind):
        return [
            (track, *event)
            for track, events in self.events.items()
            for event in events
            if event[1].type == kind
        ]

    def check_flows(self):
        starts, ends = Counter(), Counter()
        times = {}
        for events in self.events.values():
            for ts, event, _, _ in events:
                for flow in event.flow_ids:
                    starts[flow] += 1
                    times[flow] = ts
                ends.update(event.terminating_flow_ids)
        assert starts == ends
        assert set(starts.values()) <= {1}
        for events in self.events.values():
            for ts, event, _, _ in events:
                assert all(times[flow] <= ts for flow in event.terminating_flow_ids)
        return len(starts)


@pytest.fixture(scope="module", params=["demo.strace", "demo.ftrace"])
def log(request):
    return DATA / f"{request.param}.zst"


def test_perfetto_has_all_calls_and_counters(log, tmp_path):
    events = tf.scan(log)
    done = tf.export(events, tmp_path / "run.pftrace", min_ns=10_000)
    decoded = Decoded(tmp_path / "run.pftrace")
    slices = decoded.slices()
    calls = tf.syscalls(events).collect()
    assert len(slices) == done.calls == calls["calls"].sum()
    assert Counter(name for *_, name, _ in slices) == dict(calls.select("name", "calls").rows())
    assert decoded.check_flows() == done.flows > 0
    assert len(decoded.of_type(INSTANT)) == done.instants
    ts = pl.col("ts").cast(pl.Int64)
    known = events.filter(kind="syscall").select(ts, "dur_ns", "path", "ret", "line").collect()
    by_line = {row[4]: row for row in known.rows()}
    for _, start, end, _, details in slices:
        ts, dur, path, ret, _ = by_line[details["line"]]
        assert details.get("path") == path
        assert details.get("ret") == ret
        if dur is not None and not (done.clipped or done.moved):
            assert end - start == dur
            assert start == ts
    check_bytes(events, decoded)


def check_bytes(events, decoded):
    """Compare the last values of the counters of bytes with sums over the events."""
    for counter, does in (
        ("bytes read", ("reads", "receives", "transfers")),
        ("bytes written", ("writes", "sends", "transfers")),
    ):
        names = [name for word in does for name in _core.syscalls_that(word)]
        moved = events.filter(
            pl.col("kind").cast(pl.String).is_in(["syscall", "aio"]), pl.col("name").is_in(names)
        )
        total = moved.select(pl.col("bytes").sum()).collect().item()
        last = {}
        for track, _, event, _, _ in decoded.of_type(COUNTER):
            if decoded.tracks[track].name == counter:
                assert event.counter_value > last.get(track, 0)
                last[track] = event.counter_value
        assert sum(last.values()) == total


def test_calls_in_flight_add_up_to_the_slices(log, tmp_path):
    tf.export(tf.scan(log), tmp_path / "run.pftrace")
    decoded = Decoded(tmp_path / "run.pftrace")
    values = [
        (ts, event.double_counter_value)
        for track, ts, event, _, _ in decoded.of_type(COUNTER)
        if decoded.tracks[track].name == "calls in flight"
    ]
    area = sum(value * (after - ts) for (ts, value), (after, _) in pairwise(values))
    total = sum(end - start for _, start, end, _, _ in decoded.slices())
    assert values[-1][1] == pytest.approx(0, abs=1e-6)
    assert area == pytest.approx(total, rel=1e-6)


def test_tracks_have_the_names_of_processes(tmp_path):
    events = tf.scan(DATA / "demo.strace.zst")
    tf.export(events, tmp_path / "run.pftrace")
    tracks = Decoded(tmp_path / "run.pftrace").tracks.values()
    found = {one.process.pid: one.process.process_name for one in tracks if one.HasField("process")}
    known = tf.processes(events).select("pid", "image").collect().rows()
    assert found == {pid: image.rpartition("/")[2] for pid, image in known}
    threads = {one.thread.tid for one in tracks if one.HasField("thread")}
    assert threads == set(events.select("tid").collect()["tid"].drop_nulls())


def test_memory_ends_as_the_table_does(tmp_path):
    events = tf.scan(DATA / "demo.strace.zst")
    tf.export(events, tmp_path / "run.pftrace")
    decoded = Decoded(tmp_path / "run.pftrace")
    last, most = {}, {}
    for track, _, event, _, _ in decoded.of_type(COUNTER):
        one = decoded.tracks[track]
        if one.name == "anonymous memory":
            pid = decoded.tracks[one.parent_uuid].process.pid
            last[pid] = event.counter_value
            most[pid] = max(most.get(pid, 0), event.counter_value)
    table = (
        tf.memory(events)
        .group_by("pid")
        .agg(pl.last("anon_bytes").alias("last"), pl.max("anon_bytes").alias("most"))
        .collect()
    )
    assert last == dict(table.select("pid", "last").rows())
    assert all(most[pid] <= value for pid, value in table.select("pid", "most").rows())


def test_open_descriptors(tmp_path):
    log = tmp_path / "run.strace"
    log.write_text(
        '7  1700000001.000000 execve("/bin/x", ["x"], 0x1 /* 0 vars */) = 0 <0.1>\n'
        '7  1700000002.000000 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.1>\n'
        '7  1700000003.000000 openat(AT_FDCWD, "/b", O_RDONLY|O_CLOEXEC) = 4 <0.1>\n'
        "7  1700000004.000000 fork() = 8 <0.1>\n"
        '8  1700000005.000000 execve("/bin/y", ["y"], 0x1 /* 0 vars */) = 0 <0.1>\n'
        "8  1700000006.000000 dup2(3, 9) = 9 <0.1>\n"
        "7  1700000007.000000 close(3) = 0 <0.1>\n"
        "8  1700000008.000000 +++ exited with 0 +++\n"
    )
    tf.export(tf.scan(log), tmp_path / "run.pftrace")
    decoded = Decoded(tmp_path / "run.pftrace")
    values = defaultdict(list)
    for track, _, event, _, _ in decoded.of_type(COUNTER):
        one = decoded.tracks[track]
        if one.name == "open descriptors":
            values[decoded.tracks[one.parent_uuid].process.pid].append(event.counter_value)
    assert values == {7: [1, 2, 1], 8: [1, 2, 0]}


def test_chrome_says_the_same(log, tmp_path):
    events = tf.scan(log)
    done = tf.export(events, tmp_path / "run.json.gz")
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    by_phase = defaultdict(list)
    for event in document["traceEvents"]:
        by_phase[event["ph"]].append(event)
    assert len(by_phase["X"]) == done.calls == tf.syscalls(events).collect()["calls"].sum()
    assert sorted(one["id"] for one in by_phase["s"]) == sorted(one["id"] for one in by_phase["f"])
    assert len(by_phase["s"]) == done.flows
    ends = {}
    for one in by_phase["X"]:
        track, start = (one["pid"], one["tid"]), round(one["ts"] * 1000)
        assert start >= ends.get(track, 0)
        ends[track] = start + round(one["dur"] * 1000)


@pytest.mark.parametrize("weight", ["time", "calls", "bytes"])
def test_flame_graphs_add_up_to_the_table(log, tmp_path, weight):
    events = tf.scan(log)
    table = (
        tf.syscalls(events)
        .select(time=pl.sum("total_ns"), calls=pl.sum("calls"), bytes=pl.sum("bytes"))
        .collect()
        .row(0, named=True)
    )
    tf.export(events, tmp_path / "run.folded", weight=weight)
    lines = (tmp_path / "run.folded").read_text().splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == table[weight]
    tf.export(events, tmp_path / "run.speedscope.json", weight=weight)
    document = json.loads((tmp_path / "run.speedscope.json").read_text())
    frames = document["shared"]["frames"]
    total = 0
    for profile in document["profiles"]:
        assert profile["type"] == "sampled"
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= at < len(frames) for stack in profile["samples"] for at in stack)
        assert profile["endValue"] == sum(profile["weights"])
        total += profile["endValue"]
    assert total == table[weight]


def test_stacks_of_strace_are_frames(tmp_path):
    log = tmp_path / "run.strace"
    log.write_text(
        "1.0 getpid() = 7 <0.000005>\n"
        " > /usr/lib/libc.so.6(getpid+0x17) [0x101ab7]\n"
        " > /srv/a;b(std::get<0>(int)+0x1f) [0x2f]\n"
    )
    tf.export(tf.scan(log), tmp_path / "run.folded")
    assert (tmp_path / "run.folded").read_text() == "process;std::get<0>(int);getpid;getpid 5000\n"


HOSTILE = '</script>"\\;\x1b[31m\u202e\n'


def test_hostile_names_stay_text(tmp_path):
    events = tf.scan(DATA / "demo.strace.zst").with_columns(
        path=pl.lit(HOSTILE), comm=pl.lit(HOSTILE)
    )
    for name in ("run.json.gz", "run.speedscope.json", "run.folded", "run.pftrace"):
        tf.export(events, tmp_path / name)
    text = gzip.decompress((tmp_path / "run.json.gz").read_bytes()).decode()
    assert "</script" not in text
    assert json.loads(text)["traceEvents"][-1]
    assert any(
        one.get("args", {}).get("path") == HOSTILE for one in json.loads(text)["traceEvents"]
    )
    speedscope = json.loads((tmp_path / "run.speedscope.json").read_text())
    assert {"name": HOSTILE} in speedscope["shared"]["frames"]
    for line in (tmp_path / "run.folded").read_text().splitlines():
        assert line.rpartition(" ")[2].isdigit()
        assert "\x1b" not in line
    assert {one[4].get("path") for one in Decoded(tmp_path / "run.pftrace").slices()} == {HOSTILE}


CALL = st.tuples(
    st.integers(0, 3),
    st.integers(0, 40_000),
    st.none() | st.integers(-5, 20_000),
    st.sampled_from(["complete", "unfinished", "killed"]),
)


@settings(max_examples=60, deadline=None)
@given(calls=st.lists(CALL, max_size=60), model=st.booleans())
def test_slices_never_cross(tmp_path_factory, calls, model):
    folder = tmp_path_factory.mktemp("crossing")
    rows = tf.scan(DATA / "demo.strace.zst").filter(name="read").head(len(calls)).collect()
    tasks, times, durations, states = zip(*calls, strict=True) if calls else ((), (), (), ())
    events = rows.with_columns(
        pl.Series("task", tasks if model else [None] * len(calls), pl.UInt32),
        pl.Series("tid", tasks, pl.Int32),
        pl.Series("pid", tasks, pl.Int32),
        pl.Series("ts", times, pl.Int64).cast(pl.Datetime("ns")),
        pl.Series("dur_ns", durations, pl.Int64),
        pl.Series("status", states, pl.String),
    )
    done = tf.export(events, folder / "run.pftrace")
    assert len(Decoded(folder / "run.pftrace").slices()) == done.calls == len(calls)


def test_errors(tmp_path):
    log = tmp_path / "run.strace"
    log.write_text('1 read(0, "", 1) = 0\n')
    events = tf.scan(log)
    with pytest.raises(tf.Error, match="no times"):
        tf.export(events, tmp_path / "run.pftrace")
    assert tf.export(events, tmp_path / "run.folded", weight="calls").calls == 1
    with pytest.raises(ValueError, match="does not say which format"):
        tf.export(events, tmp_path / "run.txt")
    with pytest.raises(FileExistsError):
        tf.export(events, tmp_path / "run.folded", clobber=False)
    with pytest.raises(FileNotFoundError):
        tf.export(events, tmp_path / "no" / "run.folded")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.folded", "run.strace"]


def test_an_empty_log_is_an_empty_timeline(tmp_path):
    events = tf.scan(DATA / "demo.strace.zst").filter(pl.lit(value=False))
    for name in ("run.pftrace", "run.json.gz", "run.folded", "run.speedscope.json"):
        assert tf.export(events, tmp_path / name).calls == 0
    assert Decoded(tmp_path / "run.pftrace").slices() == []
    assert json.loads((tmp_path / "run.speedscope.json").read_text())["profiles"] == []
