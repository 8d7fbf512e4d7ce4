"""Programs that do not hang: their logs, cut anywhere, prove nothing."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracefast as tf
from support.paths import DATA
from tables.waits.test_hangs import HANGS

STALLS = DATA / "stalls"
# Nothing is proved of these.
SHORT = sorted(
    path
    for path in STALLS.glob("*.strace")
    if "deadlock" not in {verdict for _, verdict, *_ in HANGS.get(path.stem, [])}
)
LONG = sorted(
    path
    for folder in (
        "",
        "forks",
        "spawn",
        "tasks",
        "processes",
        "starting",
        "calls",
        "truth",
        "workers",
    )
    for path in (DATA / folder).glob("*")
    if path.is_file() and ".strace" in path.name and "lockfork" not in path.name
)


def text_of(path):
    with pa.input_stream(str(path), compression="detect") as stream:
        return stream.read()


def verdicts(text, path):
    path.write_bytes(text)
    return tf.waits(tf.scan(path)).collect()["verdict"]


@pytest.mark.parametrize("path", SHORT, ids=lambda path: path.stem)
def test_each_cut_of_a_short_log(path, tmp_path):
    lines = path.read_bytes().splitlines(keepends=True)
    # Those that stand still may be stuck for all that a log from before shows.
    wrong = (
        {"deadlock", "stalled"}
        if path.stem in HANGS
        else {"deadlock", "stalled", "likely-deadlock"}
    )
    for n in range(1, len(lines) + 1):
        found = verdicts(b"".join(lines[:n]), tmp_path / "log")
        assert not wrong & set(found), n


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(path=st.sampled_from(LONG), first=st.just(0) | st.floats(0, 1), share=st.floats(0, 1))
def test_any_cut_of_a_long_log(tmp_path_factory, path, first, share):
    lines = text_of(path).splitlines(keepends=True)
    start = min(int(first * len(lines)), len(lines) - 1)
    part = b"".join(lines[start : max(int(share * len(lines)), start + 1)])
    try:
        found = verdicts(part, tmp_path_factory.mktemp("cut") / "log")
    except tf.Error:
        # What is left has no line by which strace is known.
        found = []
    assert not {"deadlock", "stalled", "likely-deadlock"} & set(found)


# The end of vfork is a line that strace may write late.
STARTED = """\
7 1795650001.000000 execve("./a", ["a"], 0x7ffc /* 0 vars */) = 0 <0.000100>
7 1795650001.000200 brk(NULL) = 0x1000 <0.000001>
7 1795650001.000300 set_tid_address(0x7ff0) = 7 <0.000001>
7 1795650001.000400 clone(flags=CLONE_VM|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD, \
parent_tid=[8], tls=0x7fd0, child_tidptr=0x7fc0) = 8 <0.000020>
8 1795650001.000500 futex(0x5250, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>
7 1795650001.000600 vfork( <unfinished ...>
9 1795650001.000700 execve("/bin/true", ["true"], 0x7ffc /* 0 vars */) = 0 <0.000100>
9 1795650001.300000 brk(NULL) = 0x1000 <0.000001>
"""


def test_a_thread_is_not_the_child_that_vfork_waits_for(tmp_path):
    assert verdicts(STARTED.encode(), tmp_path / "log").to_list() == ["waiting", "waiting"]
