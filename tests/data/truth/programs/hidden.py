"""Calls that move positions and that a filter leaves out."""

import fcntl
import os
import socket

from common import (
    APPEND,
    CLONE_FILES,
    CLONE_VFORK,
    CLONE_VM,
    LIBC,
    RW,
    SIGCHLD,
    R,
    W,
    child,
    join,
    make,
    run,
    words,
)


def seeks():
    file = words("words.bin", 1000)
    for at in (800, 80, 400, 0):
        os.lseek(file, at, os.SEEK_SET)
        os.read(file, 16)
        os.read(file, 8)
    os.lseek(file, -24, os.SEEK_END)
    os.read(file, 64)
    os.read(file, 64)


def copied_numbers():
    """Descriptors made by dup share a position."""
    file = words("words.bin", 1000)
    os.read(file, 16)
    second = os.dup(file)
    os.read(second, 16)
    os.read(file, 16)
    third = fcntl.fcntl(file, fcntl.F_DUPFD, 50)
    os.read(third, 24)
    os.dup2(second, 60)
    os.read(60, 24)
    os.close(file)
    os.read(60, 8)
    file = os.open("words.bin", R)
    os.read(file, 8)
    os.read(second, 8)


def replaced_number():
    """A number that dup2 gives to another description."""
    first = words("words.bin", 1000)
    second = words("words2.bin", 1000)
    os.read(first, 160)
    os.read(second, 16)
    os.dup2(first, second)
    os.read(second, 16)
    os.read(first, 16)


def forked():
    """Parent and child, one after the other, read what they share."""
    file = words("words.bin", 1000)
    for size in (8, 24):
        os.read(file, size)
        join(child(os.read, file, 3 * size))
        os.read(file, size)


def forked_and_reopened():
    """The child closes and opens: its table is another than its parent's."""
    file = words("words.bin", 1000)
    os.read(file, 8)

    def own():
        os.close(file)
        again = os.open("words.bin", R)
        os.read(again, 16)

    join(child(own))
    os.read(file, 8)


def written_by_other_calls():
    """pwrite, writev, ftruncate and sendfile move the end at which the appender writes."""
    file = make("x", 10, W | APPEND)
    other = os.open("x", RW)
    os.write(file, bytes(10))
    os.pwrite(other, bytes(10), 100)
    os.write(file, bytes(10))
    os.ftruncate(other, 50)
    os.write(file, bytes(10))
    os.writev(other, [bytes(80)])
    os.write(file, bytes(10))
    source = words("words.bin", 100)
    os.sendfile(other, source, 0, 160)
    os.write(file, bytes(10))
    os.read(source, 8)
    os.read(other, 8)


def positioned_by_other_calls():
    """Vectors, sendfile, splice and copy_file_range move positions, as read and write do."""
    file = words("words.bin", 1000)
    out = make("x")
    os.read(file, 8)
    os.readv(file, [bytearray(24), bytearray(8)])
    os.read(file, 8)
    os.sendfile(out, file, None, 80)
    os.read(file, 8)
    os.write(out, bytes(8))
    into, end = os.pipe()
    os.splice(file, end, 16)
    os.splice(into, out, 16)
    os.read(file, 8)
    os.write(out, bytes(8))
    os.copy_file_range(file, out, 24)
    os.read(file, 8)
    os.write(out, bytes(8))


def flag_of_description():
    file = make("x", 100)
    os.write(file, bytes(10))
    fcntl.fcntl(file, fcntl.F_SETFL, APPEND)
    os.write(file, bytes(10))
    fcntl.fcntl(file, fcntl.F_SETFL, 0)
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, bytes(10))


def changed_folders():
    """The same relative name in two folders is two files."""
    os.mkdir("d")
    os.close(make("x", 10))
    os.close(make("d/x", 70))
    file = os.open("x", W | APPEND)
    os.write(file, bytes(10))
    os.chdir("d")
    other = os.open("x", W | APPEND)
    os.write(other, bytes(10))
    os.write(file, bytes(10))
    os.close(os.open("x", W | os.O_TRUNC))
    os.write(other, bytes(10))
    os.write(file, bytes(10))


def renamed_away():
    """Names that rename and unlink give to other files."""
    file = make("x", 10, W | APPEND)
    os.write(file, bytes(10))
    os.rename("x", "y")
    other = make("x", 200, W | APPEND)
    os.write(other, bytes(10))
    os.write(file, bytes(10))
    os.unlink("x")
    third = os.open("x", W | os.O_CREAT | APPEND, 0o644)
    os.write(third, bytes(10))
    os.write(other, bytes(10))


def written_through_memory():
    """A mapping changes data, not positions or lengths."""
    import mmap

    file = make("x", 4096)
    os.read(file, 10)
    with mmap.mmap(file, 4096) as memory:
        memory[0:5] = b"hello"
    os.read(file, 10)
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, bytes(10))


def received():
    """A descriptor that comes through a socket shares its position with the one that was sent."""
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    os.read(file, 40)
    socket.send_fds(here, [b"x"], [file])
    _, (came,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(came, 16)
    os.read(file, 8)


def closed_by_range():
    words("words.bin", 1000)
    file = os.open("words.bin", R)
    os.read(file, 16)
    os.closerange(3, 30)
    file = os.open("words.bin", R)
    os.read(file, 24)
    os.read(file, 8)


def closed_on_exec():
    """What execve closes has its number used again."""
    kept = words("words.bin", 1000)
    lost = words("words2.bin", 1000)
    os.set_inheritable(kept, True)
    os.read(kept, 16)
    os.read(lost, 80)
    text = f"dd bs=8 count=2 <&{kept} 2>/dev/null | cat >/dev/null; read a <x; cat x >y"
    os.close(make("x", 5))
    join(child(os.execv, "/bin/sh", ["sh", "-c", text]))
    os.read(kept, 8)


def shared_table():
    """A task made with CLONE_FILES opens and closes for the other."""
    import ctypes

    file = words("words.bin", 1000)
    os.read(file, 8)
    stack = ctypes.create_string_buffer(1 << 16)
    form = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

    def inside(_):
        os.read(file, 24)
        os.close(file)
        again = os.open("words2.bin", R)
        os.read(again, 16)
        return 0

    os.close(words("words2.bin", 1000))
    top = ctypes.c_void_p(ctypes.addressof(stack) + len(stack) - 64)
    pid = LIBC.clone(form(inside), top, CLONE_FILES | CLONE_VM | CLONE_VFORK | SIGCHLD, None)
    os.waitpid(pid, 0)
    os.read(file, 8)
    file = os.open("words.bin", R)
    os.read(file, 8)


def own_table():
    """A thread that leaves the common table."""
    import threading

    file = words("words.bin", 1000)
    os.close(words("words2.bin", 1000))
    os.read(file, 8)

    def leave():
        LIBC.unshare(CLONE_FILES)
        os.read(file, 16)
        os.close(file)
        again = os.open("words2.bin", R)
        os.read(again, 80)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    os.read(file, 8)
    again = os.open("words2.bin", R)
    os.read(again, 8)


run(globals())
