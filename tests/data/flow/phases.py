"""Work in phases, with a child and a thread whose calls begin in one and end in another one.

Usage: phases.py FILE, which it reads.
"""

import os
import sys
import threading
import time

import tracefast as tf


def read(path: str) -> bytes:
    """Read a file as a whole."""
    descriptor = os.open(path, os.O_RDONLY)
    data = os.read(descriptor, 4096)
    os.close(descriptor)
    return data


def wait_for_line(ready: int, line: int) -> None:
    """Wait for what the next phase writes."""
    os.write(ready, b"r")
    os.read(line, 16)


def main(path: str) -> None:
    """Do the work of each phase."""
    tf.mark("load")
    if (child := os.fork()) == 0:
        read(path)
        with tf.phase("check"):
            os.stat(path)
        read(path)
        os._exit(0)
    os.waitpid(child, 0)
    tf.mark("train")
    ready, line = os.pipe(), os.pipe()
    waiting = threading.Thread(target=wait_for_line, args=(ready[1], line[0]))
    waiting.start()
    os.read(ready[0], 1)
    # After this time it waits for the line.
    time.sleep(0.05)
    with tf.phase("epoch"):
        read(path)
    tf.mark("test")
    os.write(line[1], b"go\n")
    waiting.join()
    os.stat(path)


main(sys.argv[1])
