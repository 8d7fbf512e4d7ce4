"""What is older than the log: descriptors, positions, processes. For logs of strace -p."""

import os
import socket

from common import APPEND, RW, W, child, join, make, run, words


def appended(gate):
    """Appends move to an end that nothing in the log shows."""
    file = make("x", 100, RW | APPEND)
    other = os.open("x", W)
    os.write(file, bytes(10))
    gate()
    os.write(file, bytes(10))
    os.write(other, bytes(300))
    os.write(file, bytes(10))
    os.lseek(file, 5, os.SEEK_SET)
    os.write(file, bytes(10))
    os.read(file, 10)


def read_on(gate):
    file = words("words.bin", 1000)
    os.read(file, 800)
    gate()
    os.read(file, 8)
    os.read(file, 80)
    os.lseek(file, 0, os.SEEK_CUR)
    os.read(file, 8)


def read_and_written(gate):
    """The flags of what is older are not known: a write may append."""
    file = make("x", 100, RW | APPEND)
    os.lseek(file, 20, os.SEEK_SET)
    gate()
    os.read(file, 10)
    os.write(file, bytes(10))
    os.lseek(file, 50, os.SEEK_SET)
    os.read(file, 10)
    os.write(file, bytes(10))
    os.read(file, 10)


def copied(gate):
    """Two numbers of one description: only their use shows it."""
    file = words("words.bin", 1000)
    other = os.dup(file)
    os.read(file, 80)
    gate()
    os.read(file, 8)
    os.read(other, 24)
    os.read(file, 8)
    os.lseek(file, 400, os.SEEK_SET)
    os.read(other, 8)
    os.read(file, 8)


def of_child(gate):
    """Parent and child share what is older than the log."""
    file = words("words.bin", 1000)
    ready, done = os.pipe()
    into, out = os.pipe()

    def work():
        gate()
        os.read(file, 24)
        os.write(done, b"x")
        os.read(into, 1)
        os.read(file, 24)
        os.lseek(file, 4000, os.SEEK_SET)
        os.write(done, b"x")

    pid = child(work)
    os.read(ready, 1)
    os.read(file, 8)
    os.write(out, b"x")
    os.read(ready, 1)
    os.read(file, 8)
    join(pid)


def under_way(gate):
    """A descriptor was sent before the log started, and comes after."""
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    os.read(file, 40)
    socket.send_fds(here, [b"x"], [file])
    gate()
    _, (came,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(came, 8)
    os.read(file, 8)
    os.lseek(file, 800, os.SEEK_SET)
    os.read(came, 8)


def redirected():
    """Output and errors go into one file through one description: `program >out 2>&1`."""
    for number in range(3):
        os.write(1, bytes(10 + number))
        os.write(2, bytes(20))
    join(child(os.write, 1, bytes(5)))
    os.write(2, bytes(7))
    os.lseek(1, 0, os.SEEK_CUR)
    os.write(2, bytes(7))
    os.write(1, bytes(7))


def redirected_to_end():
    """The same with `program >>out`: what is inherited appends."""
    other = os.open("out", W)
    os.write(1, bytes(10))
    os.pwrite(other, bytes(10), 300)
    os.write(1, bytes(10))
    os.lseek(1, 0, os.SEEK_SET)
    os.write(1, bytes(10))


run(globals())
