"""Processes in a pid namespace: they are called otherwise inside than outside."""

import ctypes
import os
import struct

from common import (
    APPEND,
    CLONE_NEWPID,
    LIBC,
    SIGCHLD,
    W,
    cannot,
    child,
    join,
    make,
    run,
    syscall,
    words,
)


def separate():
    if LIBC.unshare(CLONE_NEWPID):
        cannot("pid namespaces need root")


def first_child():
    """The first child is 1 inside; it shares a description with its parent."""
    file = words("words.bin", 1000)
    separate()
    os.read(file, 8)
    join(child(os.read, file, 24))
    os.read(file, 8)


def several_children():
    """Children and theirs, all inside: fork returns numbers that the log does not show."""
    file = words("words.bin", 1000)
    separate()
    os.read(file, 8)

    def outer():
        os.read(file, 16)
        for size in (24, 40):
            join(child(os.read, file, size))
            os.read(file, 8)

    join(child(outer))
    os.read(file, 8)


def children_at_once():
    """Several children at once: which is which, only the log's order shows."""
    files = [words(f"words{i}.bin", 1000) for i in range(3)]
    separate()

    def init():
        def work(file, size):
            os.read(file, size)
            os.read(file, size)

        pids = [child(work, file, 8 * (i + 1)) for i, file in enumerate(files)]
        join(*pids)
        for file in files:
            os.read(file, 8)

    join(child(init))
    for file in files:
        os.read(file, 8)


def parents_at_once():
    """Several tasks make children at once, and each has a file of its own."""
    separate()

    def work(file, size):
        os.read(file, size)
        os.read(file, 8)

    def parent(number):
        file = words(f"words{number}.bin", 1000)
        pids = []
        for size in (16, 24, 40):
            os.read(file, 8)
            pids.append(child(work, file, size))
            os.read(file, 8)
        join(*pids)
        os.read(file, 8)

    join(child(lambda: join(*[child(parent, number) for number in range(4)])))


def appended_inside():
    file = make("x", 0, W | APPEND)
    separate()
    os.write(file, bytes(10))

    def inside():
        os.write(file, bytes(20))
        own = os.open("x", W | APPEND)
        join(child(os.write, own, bytes(30)))
        os.write(own, bytes(5))

    join(child(inside))
    os.write(file, bytes(10))


def by_clone3():
    file = words("words.bin", 1000)
    os.read(file, 8)
    form = ctypes.create_string_buffer(
        struct.pack("QQQQQQQQ", CLONE_NEWPID, 0, 0, 0, SIGCHLD, 0, 0, 0)
    )
    try:
        pid = syscall(435, form, 64)
    except OSError:
        cannot("pid namespaces need root")
    if pid == 0:
        os.read(file, 24)
        join(child(os.read, file, 16))
        os._exit(0)
    join(pid)
    os.read(file, 8)


def threads_inside():
    import threading

    file = words("words.bin", 1000)
    separate()

    def inside():
        for size in (8, 16, 24):
            thread = threading.Thread(target=os.read, args=(file, size))
            thread.start()
            thread.join()
        join(child(os.read, file, 40))
        os.read(file, 8)

    join(child(inside))
    os.read(file, 8)


def programs_inside():
    """A shell inside, with commands that read on."""
    file = words("words.bin", 1000)
    separate()

    def inside():
        os.dup2(file, 0)
        os.execv("/bin/sh", ["sh", "-c", "head -c 24 >x; dd bs=8 count=2 of=x status=none; :"])

    os.read(file, 8)
    join(child(inside))
    os.read(file, 8)


def nested():
    file = words("words.bin", 1000)
    separate()

    def outer():
        separate()

        def inner():
            os.read(file, 16)
            join(child(os.read, file, 24))

        join(child(inner))
        os.read(file, 8)

    join(child(outer))
    os.read(file, 8)


run(globals())
