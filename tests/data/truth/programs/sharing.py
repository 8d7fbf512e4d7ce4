"""Tasks that share a description: what they do overlaps, or takes turns."""

import os

from common import (
    APPEND,
    NEW,
    RW,
    WORD,
    R,
    W,
    child,
    join,
    make,
    run,
    together,
    unique,
    words,
)

ROUNDS = 30


def read_words(file, rounds, size=WORD):
    for _ in range(rounds):
        os.read(file, size)


def forked_readers():
    file = words("words.bin", 3000)
    join(*[child(read_words, file, ROUNDS) for _ in range(3)])
    os.read(file, WORD)


def forked_readers_of_several_sizes():
    file = words("words.bin", 6000)
    join(*[child(read_words, file, ROUNDS, WORD * (i + 1)) for i in range(3)])
    os.read(file, WORD)


def reading_threads():
    file = words("words.bin", 3000)
    together(*[lambda: read_words(file, ROUNDS)] * 3)
    os.read(file, WORD)


def seeking_threads():
    file = words("words.bin", 3000)

    def seek(start):
        for at in range(start, start + ROUNDS):
            os.lseek(file, WORD * at, os.SEEK_SET)
            os.read(file, WORD)

    together(lambda: seek(0), lambda: seek(1000), lambda: read_words(file, ROUNDS))
    os.lseek(file, 80, os.SEEK_SET)
    os.read(file, WORD)


def write_words(file, writer):
    for number in range(ROUNDS):
        os.write(file, unique(writer, number))


def writing_threads():
    file = make("written.bin")
    together(*[lambda writer=writer: write_words(file, writer) for writer in range(3)])
    os.write(file, unique(9, 0))


def appenders():
    """Processes with a description each append to one file."""
    make("written.bin")

    def append(writer):
        write_words(os.open("written.bin", W | APPEND), writer)

    join(*[child(append, writer) for writer in range(3)])
    file = os.open("written.bin", RW | APPEND)
    os.write(file, unique(9, 0))
    os.read(file, WORD)


def shared_appender():
    file = make("written.bin", 0, W | APPEND)
    join(*[child(write_words, file, writer) for writer in range(3)])
    os.write(file, unique(9, 0))


def in_turn():
    """Parent and child take turns: nothing overlaps."""
    file = words("words.bin", 1000)
    there, here = os.pipe(), os.pipe()

    def answer():
        for _ in range(12):
            os.read(there[0], 1)
            os.read(file, 3 * WORD)
            os.write(here[1], b"x")

    pid = child(answer)
    for _ in range(12):
        os.read(file, WORD)
        os.write(there[1], b"x")
        os.read(here[0], 1)
    join(pid)
    os.read(file, WORD)


def own_descriptions():
    """Threads that share nothing."""
    words("words.bin", 1000)

    def own():
        file = os.open("words.bin", R)
        read_words(file, ROUNDS)
        os.lseek(file, 100 * WORD, os.SEEK_SET)
        read_words(file, 5)
        os.close(file)

    together(own, own, own)


def reused_numbers():
    """One thread closes and opens what others read: the numbers go round."""
    words("words.bin", 1000)
    words("words2.bin", 1000)

    def own(name):
        for _ in range(25):
            file = os.open(name, R)
            os.read(file, 2 * WORD)
            os.read(file, WORD)
            os.close(file)

    together(lambda: own("words.bin"), lambda: own("words2.bin"), lambda: own("words.bin"))


def append_flag():
    """A child sets O_APPEND on what its parent writes to: the flag is of the description."""
    import fcntl

    file = make("x", 100)
    os.write(file, bytes(10))
    join(child(fcntl.fcntl, file, fcntl.F_SETFL, APPEND))
    os.write(file, bytes(10))
    join(child(fcntl.fcntl, file, fcntl.F_SETFL, 0))
    os.write(file, bytes(10))
    os.lseek(file, 5, os.SEEK_SET)
    os.write(file, bytes(10))


def truncated_while_appending():
    file = make("x", 0, W | APPEND)

    def append():
        for _ in range(ROUNDS):
            os.write(file, bytes(10))

    def cut():
        for _ in range(ROUNDS):
            os.ftruncate(file, 0)

    together(append, cut)
    os.ftruncate(file, 7)
    os.write(file, bytes(10))


def blocked_reader():
    """A child blocks in a read of a pipe while the other reads what both have."""
    file = words("words.bin", 100)
    into, out = os.pipe()

    def wait():
        os.read(into, 1)
        os.read(file, WORD)
        os.read(file, WORD)

    pid = child(wait)
    read_words(file, 10)
    os.write(out, b"x")
    join(pid)
    read_words(file, 3)


def inherited_by_programs():
    """A shell and its commands write to one description, one after the other."""
    file = os.open("out", W | NEW, 0o644)
    os.write(file, b"start\n")
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            os.dup2(file, 1)
            os.execv("/bin/sh", ["sh", "-c", "echo one; echo two; exec echo three"])
        join(pid)
    os.write(file, b"end\n")


run(globals())
