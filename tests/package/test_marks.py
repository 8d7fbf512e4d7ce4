"""`tracefast.mark` and `tracefast.phase`: cheap, and harmless to the program that calls them."""

import os
import subprocess
import sys
import time
import timeit

import pytest

import tracefast as tf
from tracefast import marks


def test_marking_imports_nothing_else():
    program = (
        "import sys; before = set(sys.modules); import tracefast as tf; tf.mark('a')\n"
        "with tf.phase('b'): pass\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.split())
    assert {"tracefast", "tracefast.marks"} <= loaded
    assert not any(name.split(".")[0] in {"polars", "typing"} for name in loaded)
    assert "tracefast._core" not in loaded


def test_a_mark_takes_about_a_microsecond():
    # Of the processor, which others may have in between.
    times = timeit.repeat(lambda: tf.mark("train"), timer=time.process_time, number=2000, repeat=20)
    # With a marker of ftrace it takes two calls more; a busy machine takes longer, too.
    assert min(times) / 2000 < 20e-6


@pytest.mark.parametrize(
    ("name", "error"), [("", ValueError), ("a\0b", ValueError), (3, TypeError), (None, TypeError)]
)
def test_names_are_checked(name, error):
    with pytest.raises(error):
        tf.mark(name)
    with pytest.raises(error), tf.phase(name):
        pass


@pytest.mark.parametrize("name", ["train", "a/b", "ümläut", "two words", '"quote"', "x" * 5000])
def test_any_other_name_is_taken(name):
    tf.mark(name)
    with tf.phase(name):
        tf.mark(name)


def test_an_error_leaves_the_block():
    with pytest.raises(KeyError), tf.phase("a"):
        raise KeyError


def test_the_marker_gets_the_same_text(tmp_path, monkeypatch):
    marker = tmp_path / "trace_marker"
    marker.touch()
    monkeypatch.setattr(marks, "_MARKERS", (str(tmp_path / "none"), str(marker)))
    monkeypatch.setattr(marks, "_marker", None)
    tf.mark("train")
    with tf.phase("load"):
        pass
    assert marker.read_text() == "/tracefast/phase/train/tracefast/begin/load/tracefast/end/load"


def test_a_descriptor_that_is_another_file_by_now_is_left_alone(tmp_path, monkeypatch):
    marker, data = tmp_path / "trace_marker", tmp_path / "data"
    marker.touch()
    monkeypatch.setattr(marks, "_MARKERS", (str(marker),))
    monkeypatch.setattr(marks, "_marker", None)
    tf.mark("a")
    descriptor = marks._marker[0]  # noqa: SLF001 - which one it is
    other = os.open(data, os.O_WRONLY | os.O_CREAT)
    os.dup2(other, descriptor)
    tf.mark("b")
    os.close(other)
    assert data.read_text() == ""
    os.close(descriptor)
    tf.mark("c")
    assert marker.read_text() == "/tracefast/phase/a"
