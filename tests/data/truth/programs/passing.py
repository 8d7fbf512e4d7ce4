"""Descriptors that get from one process into another."""

import array
import ctypes
import os
import socket
import struct

from common import (
    CLONE_FILES,
    CLONE_NEWNS,
    LIBC,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    SIGCHLD,
    R,
    W,
    cannot,
    child,
    join,
    make,
    run,
    syscall,
    words,
)

SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8
SECCOMP_RET_USER_NOTIF = 0x7FC00000
SECCOMP_ADDFD_FLAG_SEND = 2
SO_PEEK_OFF = 42


def sent():
    """A child receives a descriptor, and both read."""
    here, there = socket.socketpair()

    def receive():
        _, (came,), _, _ = socket.recv_fds(there, 1, 1)
        os.read(came, 24)
        os.write(there.fileno(), b"y")

    pid = child(receive)
    file = words("words.bin", 1000)
    os.read(file, 8)
    socket.send_fds(here, [b"x"], [file])
    os.read(here.fileno(), 1)
    os.read(file, 8)
    join(pid)


def sent_and_closed():
    """What is under way keeps its position when the sender closes it."""
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    other = words("words2.bin", 1000)
    os.read(file, 40)
    os.read(other, 80)
    socket.send_fds(here, [b"x"], [file])
    socket.send_fds(here, [b"x"], [other])
    os.close(file)
    _, (first,), _, _ = socket.recv_fds(there, 1, 1)
    _, (second,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(first, 8)
    os.read(second, 8)
    os.read(other, 8)


def peeked():
    """MSG_PEEK makes a descriptor and leaves it in the queue."""
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    other = words("words2.bin", 1000)
    os.read(file, 40)
    os.read(other, 80)
    socket.send_fds(here, [b"x"], [file])
    socket.send_fds(here, [b"x"], [other])
    _, data, _, _ = there.recvmsg(1, socket.CMSG_LEN(4), socket.MSG_PEEK)
    (first,) = array.array("i", data[0][2])
    os.read(first, 8)
    _, (second,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(second, 8)
    _, (third,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(third, 8)
    os.read(file, 8)


def peeked_later():
    """With SO_PEEK_OFF, MSG_PEEK shows the message at an offset."""
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    other = words("words2.bin", 1000)
    os.read(file, 40)
    os.read(other, 80)
    there.setsockopt(socket.SOL_SOCKET, SO_PEEK_OFF, 1)
    socket.send_fds(here, [b"x"], [file])
    socket.send_fds(here, [b"x"], [other])
    _, data, _, _ = there.recvmsg(1, socket.CMSG_LEN(4), socket.MSG_PEEK)
    (first,) = array.array("i", data[0][2])
    os.read(first, 8)
    os.read(other, 8)
    _, (second,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(second, 8)
    os.read(file, 8)


def lost():
    """A datagram is gone if its data cannot be copied."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    file = words("words.bin", 1000)
    other = words("words2.bin", 1000)
    os.read(file, 40)
    os.read(other, 80)
    socket.send_fds(here, [b"x"], [file])
    socket.send_fds(here, [b"x"], [other])
    nowhere = ctypes.create_string_buffer(struct.pack("QQ", 8, 1))
    form = struct.pack("QQQQQQQ", 0, 0, ctypes.addressof(nowhere), 1, 0, 0, 0)
    assert LIBC.recvmsg(there.fileno(), ctypes.create_string_buffer(form), 0) == -1
    _, (second,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(second, 8)
    os.read(other, 8)
    os.read(file, 8)


def sent_by_datagram():
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    file = words("words.bin", 1000)
    os.read(file, 40)
    socket.send_fds(here, [b"x"], [file, file])
    _, came, _, _ = socket.recv_fds(there, 1, 2)
    os.read(came[0], 8)
    os.read(came[1], 8)
    os.read(file, 8)


def cut_off():
    """What does not fit into the receiver's buffer is dropped."""
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    other = words("words2.bin", 1000)
    os.read(file, 40)
    os.read(other, 80)
    socket.send_fds(here, [b"x"], [file, other])
    _, data, _, _ = there.recvmsg(1, socket.CMSG_LEN(4))
    came = array.array("i", data[0][2])
    socket.send_fds(here, [b"x"], [other])
    _, (last,), _, _ = socket.recv_fds(there, 1, 1)
    os.read(came[0], 8)
    os.read(last, 8)
    os.read(file, 8)


def taken():
    """pidfd_getfd takes a descriptor out of another process."""
    file = words("words.bin", 1000)
    into, out = os.pipe()
    ready, done = os.pipe()

    def hold():
        own = os.open("words2.bin", R)
        os.read(own, 80)
        os.read(file, 16)
        os.write(done, struct.pack("i", own))
        os.read(into, 1)
        os.read(own, 8)

    os.close(words("words2.bin", 1000))
    pid = child(hold)
    (number,) = struct.unpack("i", os.read(ready, 4))
    try:
        mine = syscall(438, os.pidfd_open(pid), number, 0)
    except OSError:
        cannot("no pidfd_getfd")
    os.read(mine, 8)
    os.read(file, 8)
    os.write(out, b"x")
    join(pid)
    os.read(mine, 8)


def supervised(number, asks, answer):
    """Start a child whose calls with this number are for a supervisor: all others are allowed."""
    code = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, number),
        (6, 0, 0, SECCOMP_RET_USER_NOTIF),
        (6, 0, 0, 0x7FFF0000),
    ]
    text = b"".join(struct.pack("HBBI", *one) for one in code)
    program = ctypes.create_string_buffer(text)
    head = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    here, there = socket.socketpair()
    file = words("words.bin", 1000)
    os.read(file, 40)

    def child_asks():
        if LIBC.prctl(38, 1, 0, 0, 0):
            cannot("no seccomp")
        try:
            listener = syscall(
                317,
                SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_NEW_LISTENER,
                ctypes.create_string_buffer(head),
            )
        except OSError:
            cannot("no listener of seccomp")
        socket.send_fds(there, [b"x"], [listener])
        os.close(listener)
        os.close(file)
        other = os.open("words2.bin", R)
        os.read(other, 16)
        came = asks()
        os.read(came, 16)
        os.read(other, 8)

    os.close(words("words2.bin", 1000))
    pid = child(child_asks)
    _, (listener,), _, _ = socket.recv_fds(here, 1, 1)
    notice = ctypes.create_string_buffer(80)
    if LIBC.ioctl(listener, ctypes.c_ulong(0xC0502100), notice):
        cannot("no notices of seccomp")
    answer(listener, struct.unpack_from("Q", notice)[0], file)
    join(pid)
    os.read(file, 8)


def given(listener, notice, file, flags=0):
    """Put a descriptor into the process that waits."""
    form = ctypes.create_string_buffer(struct.pack("QIIII", notice, flags, file, 0, 0))
    return LIBC.ioctl(listener, ctypes.c_ulong(0x40182103), form)


def injected():
    """A supervisor of seccomp puts a descriptor into the process that asks for something."""

    def answer(listener, notice, file):
        came = given(listener, notice, file)
        form = ctypes.create_string_buffer(struct.pack("QqiI", notice, came, 0, 0))
        LIBC.ioctl(listener, ctypes.c_ulong(0xC0182101), form)

    supervised(111, os.getpgrp, answer)


def answered():
    """What the supervisor puts there is what an open returns."""

    def answer(listener, notice, file):
        if given(listener, notice, file, SECCOMP_ADDFD_FLAG_SEND) < 0:
            cannot("no SECCOMP_ADDFD_FLAG_SEND")

    supervised(2, lambda: syscall(2, b"words2.bin", 0), answer)


def clone_by_number():
    """clone3 itself, without the library: a child with a table of its own."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    form = ctypes.create_string_buffer(struct.pack("QQQQQQQQ", 0, 0, 0, 0, SIGCHLD, 0, 0, 0))
    pid = syscall(435, form, 64)
    if pid == 0:
        os.read(file, 24)
        os.close(file)
        os._exit(0)
    join(pid)
    os.read(file, 8)


def clone_with_files():
    """clone3 with CLONE_FILES: one table for both."""
    file = words("words.bin", 1000)
    os.close(words("words2.bin", 1000))
    os.read(file, 8)
    form = ctypes.create_string_buffer(
        struct.pack("QQQQQQQQ", CLONE_FILES, 0, 0, 0, SIGCHLD, 0, 0, 0)
    )
    pid = syscall(435, form, 64)
    if pid == 0:
        os.read(file, 24)
        os.close(file)
        again = os.open("words2.bin", R)
        os.read(again, 80)
        os._exit(0)
    join(pid)
    os.read(file, 8)


def executed():
    """A program that is started by vfork reads on where its parent was."""
    file = words("words.bin", 1000)
    os.read(file, 16)
    actions = [(os.POSIX_SPAWN_DUP2, file, 0)]
    pid = os.posix_spawn(
        "/bin/dd",
        ["dd", "bs=24", "count=1", "of=/dev/null", "status=none"],
        {},
        file_actions=actions,
    )
    join(pid)
    os.read(file, 8)


def other_namespace():
    """setns moves the task to another view of the file system: names mean other files."""
    os.mkdir("d")
    os.mkdir("e")
    os.close(make("d/x", 20))
    os.close(make("e/x", 90))
    ready, done = os.pipe()
    into, out = os.pipe()

    def inside():
        if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
            cannot("mounts need root")
        if LIBC.mount(b"e", b"d", None, MS_BIND, None):
            cannot("mounts need root")
        os.write(done, b"x")
        os.read(into, 1)

    pid = child(inside)
    here = os.getcwd()
    file = os.open(f"{here}/d/x", W | os.O_APPEND)
    os.write(file, bytes(10))
    os.read(ready, 1)
    space = os.open(f"/proc/{pid}/ns/mnt", R)
    if LIBC.setns(space, CLONE_NEWNS):
        cannot("setns needs root")
    other = os.open(f"{here}/d/x", W | os.O_APPEND)
    os.write(other, bytes(10))
    os.write(file, bytes(10))
    os.write(out, b"x")
    join(pid)


run(globals())
