"""Tables that are shown while their log comes: from a slow writer, and a file that grows."""

import codecs
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from tracefast._polars.arriving import ArrivingEvents
from tracefast._polars.event_schema import event_schema

LINE = '10 {:.6f} read(3</data/a>, "x", 4096) = 4096 <0.000010>\n'


def lines(first: int, last: int) -> bytes:
    return "".join(LINE.format(1.7e9 + number) for number in range(first, last)).encode()


class Screen:
    """A command on a terminal of its own, and what it shows there."""

    def __init__(self, command: str, *arguments: object, stdin: int, cwd: Path) -> None:
        mine, other = pty.openpty()
        self.fd, self.text = mine, ""
        # A character may come in two pieces.
        self.decode = codecs.getincrementaldecoder("utf-8")().decode
        self.process = subprocess.Popen(
            [command, *map(str, arguments)],
            stdin=stdin, stdout=other, stderr=other, cwd=cwd, start_new_session=True,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
        )  # fmt: skip
        os.close(other)

    def calls(self) -> list[int]:
        """Give the numbers of reads on the screens so far."""
        while select.select([self.fd], [], [], 0.05)[0]:
            try:
                self.text += self.decode(os.read(self.fd, 65536))
            except OSError:
                break
        return [int(found) for found in re.findall(r" in ([0-9]+) reads", self.text)]

    def wait_for(self, calls: int) -> None:
        end = time.monotonic() + 120
        while calls not in self.calls():
            assert time.monotonic() < end, self.text


def test_a_pipe_is_shown_as_it_comes_until_an_interrupt(command, tmp_path):
    read, write = os.pipe()
    screen = Screen(command, "files", "-", "--refresh", "0.3s", stdin=read, cwd=tmp_path)
    os.write(write, lines(0, 11))
    screen.wait_for(10)  # The last line may go on.
    os.write(write, lines(11, 31))
    screen.wait_for(30)
    screen.process.send_signal(signal.SIGINT)
    assert screen.process.wait(timeout=120) == 0
    assert screen.calls()[-1] == 31
    os.close(write)


def test_a_log_is_followed(command, tmp_path):
    log = tmp_path / "growing.strace"
    log.write_bytes(lines(0, 5))
    screen = Screen(command, "syscalls", log, "--follow", "--refresh", "0.3s",
                    stdin=subprocess.DEVNULL, cwd=tmp_path)  # fmt: skip
    end = time.monotonic() + 120
    while "read" not in screen.text:
        assert time.monotonic() < end, screen.text
        screen.calls()
    with log.open("ab") as file:
        file.write(lines(5, 905))
    while not re.search(r"\b90[45]\b", screen.text):
        assert time.monotonic() < end, screen.text
        screen.calls()
    screen.process.send_signal(signal.SIGINT)
    assert screen.process.wait(timeout=120) == 0
    screen.calls()
    assert re.search(r"\b905\b", screen.text)


def test_two_logs_cannot_be_followed(run, tmp_path):
    (tmp_path / "a").write_bytes(lines(0, 2))
    made = run("files", "--follow", "a", "a")
    assert (made.returncode, "follows one log" in made.stderr) == (2, True)


def test_tables_are_the_same_as_of_the_whole_log(spawn_strace):
    for make in (tf.files, tf.syscalls, tf.processes):
        events = ArrivingEvents(event_schema())
        table = make(events.frame)
        reader = tf._core.Reader([str(spawn_strace)], columns=events.columns)  # noqa: SLF001
        heights = []
        for batch in reader:
            events.push(batch)
            heights.append(table.collect().height)
        events.finish()
        assert table.collect().equals(make(tf.scan(spawn_strace)).collect())
        assert heights[-1] > 0
    with pytest.raises(RuntimeError, match="one fold"):
        make(events.frame)
    with pytest.raises(RuntimeError, match="at the end only"):
        tf.waits(ArrivingEvents(event_schema()).frame).select(pl.len()).collect()
