"""Pipes that give part of a log and then stay open, as those of a program that is running do."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def endless(pipe: Path, data: bytes) -> Iterator[Path]:
    """Make a named pipe that gives `data` to its reader, and then nothing, but stays open."""
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    stop = threading.Event()

    def feed() -> None:
        left = data
        while left and not stop.is_set():
            try:
                left = left[os.write(writer, left[:65_536]) :]
            except BlockingIOError:
                time.sleep(0.001)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        yield pipe
    finally:
        stop.set()
        feeder.join()
        os.close(writer)
