"""Timelines and flame graphs, read by the schemas of their formats, against the tables."""

import gzip
import json
import re
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


def counted_descriptors(log, folder):
    """Give times and values of the counter by process."""
    tf.export(tf.scan(log), folder / "run.pftrace")
    decoded = Decoded(folder / "run.pftrace")
    values = defaultdict(list)
    for track, ts, event, _, _ in decoded.of_type(COUNTER):
        one = decoded.tracks[track]
        if one.name == "open descriptors":
            pid = decoded.tracks[one.parent_uuid].process.pid
            values[pid].append((ts, event.counter_value))
    return values


def open_descriptors(folder, *calls):
    """Give the values of the counter by process, of a log with a call each second."""
    log = folder / "run.strace"
    log.write_text(
        "".join(
            f"{call.replace(' ', f'  17000000{at:02}.000000 ', 1)}\n"
            for at, call in enumerate(calls, 10)
        )
    )
    counted = counted_descriptors(log, folder)
    return {pid: [value for _, value in values] for pid, values in counted.items()}


def test_descriptors_are_as_many_as_the_kernel_shows(tmp_path):
    # The program writes how many names /proc/self/fd has.
    log = DATA / "kernel-model" / "descriptors.strace"
    counted = counted_descriptors(log, tmp_path)
    number = pl.col("args").str.extract(r'^2, "descriptors (\d+)').cast(pl.Int64)
    written = tf.scan(log).filter(name="write").select(pl.col("ts").cast(pl.Int64), "pid", number)
    rows = written.drop_nulls().collect().rows()
    assert len({pid for _, pid, _ in rows}) == 3
    shown = [[value for at, value in counted[pid] if at <= ts][-1] for ts, pid, _ in rows]
    assert shown == [number for _, _, number in rows]


def test_open_descriptors(tmp_path):
    assert open_descriptors(
        tmp_path,
        '7 execve("/bin/x", ["x"], 0x1 /* 0 vars */) = 0 <0.1>',
        '7 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.1>',
        '7 openat(AT_FDCWD, "/b", O_RDONLY|O_CLOEXEC) = 4 <0.1>',
        "7 fork() = 8 <0.1>",
        '8 execve("/bin/y", ["y"], 0x1 /* 0 vars */) = 0 <0.1>',
        "8 dup2(3, 9) = 9 <0.1>",
        "7 close(3) = 0 <0.1>",
        "8 +++ exited with 0 +++",
    ) == {7: [1, 2, 1], 8: [2, 1, 2, 0]}


def test_descriptors_that_processes_share(tmp_path):
    assert open_descriptors(
        tmp_path,
        '7 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.1>',
        "7 clone(child_stack=NULL, flags=CLONE_FILES|SIGCHLD) = 8 <0.1>",
        '8 openat(AT_FDCWD, "/b", O_RDONLY) = 4 <0.1>',
        "7 unshare(CLONE_FILES) = 0 <0.1>",
        "7 close(3) = 0 <0.1>",
        "8 close_range(3, 3, CLOSE_RANGE_UNSHARE) = 0 <0.1>",
        '8 execve("/bin/x", ["x"], 0x1 /* 0 vars */) = 0 <0.1>',
        "7 +++ exited with 0 +++",
    ) == {7: [1, 2, 1, 0], 8: [1, 2, 1]}


def test_descriptors_of_threads(tmp_path):
    thread = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM"
    assert open_descriptors(
        tmp_path,
        '7 openat(AT_FDCWD, "/a", O_RDONLY) = 3 <0.1>',
        f"7 clone(child_stack=0x7f, flags={thread}) = 8 <0.1>",
        '8 openat(AT_FDCWD, "/b", O_RDONLY|O_CLOEXEC) = 4 <0.1>',
        # A table of its own does not count for the process, whose leader has the other one.
        "8 unshare(CLONE_FILES) = 0 <0.1>",
        "8 close(3) = 0 <0.1>",
        "8 +++ exited with 0 +++",
        # Its row is only written when the child has started its program.
        "7 vfork( <unfinished ...>",
        '9 execve("/bin/x", ["x"], 0x1 /* 0 vars */) = 0 <0.1>',
        "7 <... vfork resumed>) = 9 <0.1>",
        "7 close(4) = 0 <0.1>",
        '9 openat(AT_FDCWD, "/c", O_RDONLY) = 4 <0.1>',
    ) == {7: [1, 2, 1], 9: [1, 2]}


def test_what_execve_closes(tmp_path):
    assert open_descriptors(
        tmp_path,
        '7 openat(AT_FDCWD, "/tmp/O_CLOEXEC", O_RDONLY) = 3 <0.1>',
        '7 openat(AT_FDCWD, "/a", 0x80000) = 4 <0.1>',
        "7 fcntl(3, F_DUPFD_CLOEXEC, 5) = 5 <0.1>",
        "7 pidfd_open(1, 0) = 6 <0.1>",
        "7 pipe2([7, 8], 0) = 0 <0.1>",
        "7 fcntl(7, F_SETFD, FD_CLOEXEC) = 0 <0.1>",
        "7 dup(4) = 9 <0.1>",
        "7 ioctl(9, FIOCLEX) = 0 <0.1>",
        "7 ioctl(9, FIONCLEX) = 0 <0.1>",
        "7 dup3(3, 10, O_CLOEXEC) = 10 <0.1>",
        "7 dup2(10, 10) = 10 <0.1>",
        "7 close_range(8, 8, CLOSE_RANGE_CLOEXEC) = 0 <0.1>",
        "7 close(50) = -1 EBADF (Bad file descriptor) <0.1>",
        '7 openat(AT_FDCWD, "/b", O_RDONLY) = 11 (INJECTED) <0.1>',
        '7 execve("/bin/x", ["x"], 0x1 /* 0 vars */) = 0 <0.1>',
        "7 close_range(3, 4294967295, 0) = 0 <0.1>",
    ) == {7: [1, 2, 3, 4, 6, 7, 8, 2, 0]}


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


HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "datum['a'] + 1); alert(1",
    "\"\\'};:\\u0022",
    "\x1b[31m\x9b31m\x07",
    "a\nb\r\u2028c",
    "\u202egnp.exe\u2069\u200f",
)
# What a terminal or a reader of lines takes for more than text.
ACTIVE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def hostile():
    """Events of two logs in which all that a program may choose is hostile."""
    events = tf.scan(DATA / "demo.strace.zst").head(4_000).collect()
    other = events.with_columns(source=pl.lit(HOSTILE[0]))
    turned = [
        pl.Series(column, [HOSTILE[(row + at) % len(HOSTILE)] for row in range(4_000)])
        for at, column in enumerate(("path", "path2", "comm", "errno"))
    ]
    unknown = pl.when(pl.col("name") == "mprotect").then(pl.lit(HOSTILE[1])).otherwise("name")
    signal = pl.when(pl.col("kind") == "signal").then(pl.lit(HOSTILE[3])).otherwise("args")
    frames = "".join(f" > /lib/x({name}+0x1) [0x1]\n" for name in HOSTILE if "\n" not in name)
    return pl.concat(
        frame.with_columns(
            *turned, name=unknown.cast(pl.String), args=signal, extra=pl.lit(frames)
        ).select(events.columns)
        for frame in (events, other)
    )


def test_hostile_names_are_text_in_timelines(hostile, tmp_path):
    calls = hostile.filter(pl.col("kind").cast(pl.String) == "syscall")
    known = Counter(calls.select("path", "path2", "name").rows())
    done = tf.export(hostile, tmp_path / "run.pftrace")
    decoded = Decoded(tmp_path / "run.pftrace")
    shown = decoded.slices()
    assert done.calls == len(shown) == calls.height
    assert Counter((d.get("path"), d.get("path2"), name) for *_, name, d in shown) == known
    decoded.check_flows()
    names = {one.process.process_name for one in decoded.tracks.values()}
    assert any("alert(1" in name for name in names)

    tf.export(hostile, tmp_path / "run.json.gz")
    text = gzip.decompress((tmp_path / "run.json.gz").read_bytes()).decode()
    assert "<" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)
    events = [one for one in json.loads(text)["traceEvents"] if one["ph"] == "X"]
    args = [(one["args"].get("path"), one["args"].get("path2"), one["name"]) for one in events]
    assert Counter(args) == known


@pytest.mark.parametrize("weight", ["time", "calls", "bytes"])
def test_hostile_names_are_text_in_flame_graphs(hostile, tmp_path, weight):
    table = tf.syscalls(hostile).select(
        time=pl.sum("total_ns"), calls=pl.sum("calls"), bytes=pl.sum("bytes")
    )
    total = table.collect().row(0, named=True)[weight]
    tf.export(hostile, tmp_path / "run.folded", weight=weight)
    text = (tmp_path / "run.folded").read_bytes().decode()
    assert not ACTIVE.search(text.replace("\n", ""))
    lines = text.removesuffix("\n").split("\n")
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == total
    # The program, the stack, the call, the path.
    assert {line.count(";") for line in lines} == {len(HOSTILE) + 1}

    tf.export(hostile, tmp_path / "run.speedscope.json", weight=weight)
    text = (tmp_path / "run.speedscope.json").read_text()
    assert "<" not in text
    document = json.loads(text)
    assert set(HOSTILE) <= {frame["name"] for frame in document["shared"]["frames"]}
    assert sum(sum(profile["weights"]) for profile in document["profiles"]) == total


def test_files_with_hostile_names_are_written_and_named_as_text(run, tmp_path):
    output = tmp_path / "<img src=x>\x1b[31m\u202e\n'\".folded"
    for code in (0, 2):
        done = run("export", DATA / "demo.strace.zst", "-o", output, "--no-clobber")
        assert done.returncode == code
        assert not ACTIVE.search(done.stderr.replace("\n", ""))
    assert output.read_text().endswith("\n")
    assert r"<img src=x>\33[31m\u202e\n'" in done.stderr


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
