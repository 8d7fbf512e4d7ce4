"""Calls that behave otherwise than their relatives."""

import fcntl
import os

from common import APPEND, RW, R, W, cannot, make, run, words

RWF_APPEND, RWF_NOAPPEND = 0x10, 0x20


def put(file, size, offset, flags):
    try:
        os.pwritev(file, [bytes(size)], offset, flags)
    except OSError as error:
        cannot(f"pwritev2: {error}")


def append_once():
    """RWF_APPEND writes at the end, whatever the offset says."""
    file = make("x", 100)
    os.write(file, bytes(10))
    put(file, 7, 0, RWF_APPEND)
    os.write(file, bytes(10))
    other = os.open("x", W | APPEND)
    put(file, 7, 3, RWF_APPEND)
    os.write(other, bytes(10))
    os.lseek(file, 0, os.SEEK_SET)
    os.read(file, 4096)
    os.read(file, 1)


def append_once_at_position():
    """With an offset of -1 it moves the position."""
    file = make("x", 100)
    os.write(file, bytes(10))
    put(file, 7, -1, RWF_APPEND)
    os.write(file, bytes(10))


def not_append():
    """RWF_NOAPPEND writes where the offset says, though the description appends."""
    file = make("x", 100, RW | APPEND)
    os.write(file, bytes(10))
    put(file, 7, 3, RWF_NOAPPEND)
    os.write(file, bytes(10))
    put(file, 7, 200, RWF_NOAPPEND)
    os.write(file, bytes(10))
    put(file, 7, -1, RWF_NOAPPEND)
    os.write(file, bytes(10))


def appending_pwrite():
    """pwrite appends where the description does, and leaves the position."""
    file = make("x", 100, RW | APPEND)
    os.pwrite(file, bytes(10), 3)
    os.read(file, 8)
    os.write(file, bytes(10))
    os.pwrite(file, bytes(10), 500)
    os.read(file, 8)


def at_position():
    """preadv2 and pwritev2 with -1 are readv and writev."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    try:
        os.preadv(file, [bytearray(24)], -1)
    except OSError as error:
        cannot(f"preadv2: {error}")
    os.read(file, 8)
    os.preadv(file, [bytearray(24)], 800)
    os.read(file, 8)
    put(file, 8, -1, 0)
    os.write(file, bytes(8))


def cloned_file():
    """FICLONE gives a file the data and the length of another."""
    source = words("words.bin", 1000)
    file = make("x", 10, RW | APPEND)
    os.write(file, bytes(10))
    try:
        fcntl.ioctl(file, 0x40049409, source)
    except OSError:
        cannot("this file system does not share data")
    os.write(file, bytes(10))


def tee_and_splice():
    file = words("words.bin", 1000)
    out = make("x")
    into, end = os.pipe()
    os.splice(file, end, 64)
    os.read(file, 8)
    os.splice(into, out, 32, None, 100)
    os.splice(into, out, 32)
    os.write(out, bytes(8))
    os.splice(file, end, 64, 400)
    os.read(file, 8)
    os.read(into, 64)


def sendfile_at_offset():
    file = words("words.bin", 1000)
    out = make("x")
    os.read(file, 8)
    os.sendfile(out, file, 800, 80)
    os.read(file, 8)
    os.write(out, bytes(8))
    os.sendfile(out, file, None, 80)
    os.read(file, 8)
    os.write(out, bytes(8))


def copied_range():
    file = words("words.bin", 1000)
    out = make("x")
    os.read(file, 8)
    os.copy_file_range(file, out, 80, 400, 40)
    os.read(file, 8)
    os.write(out, bytes(8))
    os.copy_file_range(file, out, 80)
    os.read(file, 8)
    os.write(out, bytes(8))
    os.copy_file_range(file, file, 80, 0, 9000)
    os.read(file, 8)


def holes():
    """SEEK_DATA and SEEK_HOLE move the position."""
    file = make("x")
    os.ftruncate(file, 1 << 20)
    os.pwrite(file, bytes(4096), 1 << 16)
    os.lseek(file, 0, os.SEEK_DATA)
    os.read(file, 10)
    os.lseek(file, 1 << 16, os.SEEK_HOLE)
    os.read(file, 10)
    try:
        os.lseek(file, 1 << 19, os.SEEK_DATA)
    except OSError:
        pass
    os.read(file, 10)


def opened_by_number():
    """A name in /proc/self/fd makes a new description."""
    file = words("words.bin", 1000)
    os.read(file, 80)
    again = os.open(f"/proc/self/fd/{file}", R)
    os.read(again, 8)
    os.read(file, 8)


def short_transfers():
    """Limits and pages that are missing make transfers short."""
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    file = make("x")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 200))
    os.write(file, bytes(60))
    os.write(file, bytes(60))
    try:
        os.write(file, bytes(60))
    except OSError:
        pass
    os.lseek(file, 90, os.SEEK_SET)
    os.read(file, 64)
    os.read(file, 64)


def listed():
    """Entries of a directory, and a position in them."""
    file = words("words.bin", 1000)
    os.read(file, 8)
    os.listdir(".")
    os.read(file, 8)


run(globals())
