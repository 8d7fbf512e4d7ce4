"""io_uring: transfers that no line of the log shows."""

import ctypes
import mmap
import os
import struct

from common import APPEND, R, W, cannot, child, join, make, run, syscall, words

READ, WRITE, CLOSE, ENTER_GETEVENTS = 22, 23, 19, 1


class Ring:
    """A ring with 8 places, which is entered for each operation."""

    def __init__(self):
        form = ctypes.create_string_buffer(120)
        try:
            self.file = syscall(425, 8, form)
        except OSError as error:
            cannot(f"no io_uring: {error}")
        text = form.raw
        entries, more = struct.unpack_from("II", text)
        sq = struct.unpack_from("8I", text, 40)
        cq = struct.unpack_from("8I", text, 80)
        size = max(sq[6] + 4 * entries, cq[5] + 16 * more)
        self.ring = mmap.mmap(self.file, size, offset=0)
        self.places = mmap.mmap(self.file, 64 * entries, offset=0x10000000)
        self.sq, self.cq = sq, cq

    def run(self, operation, file, text=b"", size=0, offset=0):
        """Submit one operation, wait for it, and give its result."""
        self.memory = ctypes.create_string_buffer(text, max(size, len(text), 1))
        address = ctypes.addressof(self.memory) if operation != CLOSE else 0
        (tail,) = struct.unpack_from("I", self.ring, self.sq[1])
        (mask,) = struct.unpack_from("I", self.ring, self.sq[2])
        at = tail & mask
        entry = struct.pack(
            "<BBHiQQIIQ",
            operation,
            0,
            0,
            file,
            offset & (2**64 - 1),
            address,
            size or len(text),
            0,
            7,
        )
        self.places[64 * at : 64 * at + 64] = entry.ljust(64, b"\0")
        struct.pack_into("I", self.ring, self.sq[6] + 4 * at, at)
        struct.pack_into("I", self.ring, self.sq[1], tail + 1)
        syscall(426, self.file, 1, 1, ENTER_GETEVENTS, None, 0)
        (head,) = struct.unpack_from("I", self.ring, self.cq[0])
        (mask,) = struct.unpack_from("I", self.ring, self.cq[2])
        _, result, _ = struct.unpack_from("QiI", self.ring, self.cq[5] + 16 * (head & mask))
        struct.pack_into("I", self.ring, self.cq[0], head + 1)
        if result < 0:
            cannot(f"io_uring: {os.strerror(-result)}")
        return result


def ring_read():
    """A read at the position moves it."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    ring = Ring()
    ring.run(READ, file, size=40, offset=-1)
    os.read(file, 8)
    os.lseek(file, 80, os.SEEK_SET)
    os.read(file, 8)


def ring_read_at_offset():
    """A read with an offset does not."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    ring = Ring()
    ring.run(READ, file, size=40, offset=800)
    os.read(file, 8)


def ring_append():
    """A write makes a file longer, to which others append."""
    file = make("x", 10, W | APPEND)
    os.write(file, bytes(10))
    other = os.open("x", W)
    ring = Ring()
    ring.run(WRITE, other, text=bytes(100), offset=0)
    os.write(file, bytes(10))
    ring.run(WRITE, file, text=bytes(30), offset=-1)
    os.write(file, bytes(10))
    os.ftruncate(file, 5)
    os.write(file, bytes(10))


def ring_of_parent():
    """A child enters the ring that its parent set up, for a description of both."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    ring = Ring()
    ring.run(READ, file, size=8, offset=-1)
    join(child(os.read, file, 24))
    ring.run(READ, file, size=8, offset=-1)
    os.read(file, 8)


def ring_close():
    """A ring closes a number, and another file gets it."""
    file = words("words.bin", 1000)
    os.close(words("words2.bin", 1000))
    os.read(file, 80)
    ring = Ring()
    ring.run(CLOSE, file)
    again = os.open("words2.bin", R)
    os.read(again, 8)
    os.read(again, 8)


def ring_in_turn():
    """Ordinary reads between those of the ring."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    ring = Ring()
    for _ in range(3):
        ring.run(READ, file, size=16, offset=-1)
        os.read(file, 8)


run(globals())
