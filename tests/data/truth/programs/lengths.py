"""Lengths that follow from what was done, though nothing shows them."""

import ctypes
import os
import struct

from common import APPEND, LIBC, NEW, RW, R, W, cannot, make, run, syscall, words

KEEP, PUNCH, COLLAPSE, ZERO, INSERT = 1, 2, 8, 16, 32


def allocate(file, mode, offset, size):
    LIBC.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
    if LIBC.fallocate(file, mode, offset, size):
        cannot(f"fallocate: {os.strerror(ctypes.get_errno())}")


def appender(size=0):
    return make("x", size, RW | APPEND)


def allocated():
    """fallocate makes a file longer."""
    file = appender(10)
    os.write(file, bytes(10))
    allocate(file, 0, 0, 1000)
    os.write(file, bytes(10))
    allocate(file, 0, 100, 50)
    os.write(file, bytes(10))


def allocated_beyond():
    """With FALLOC_FL_KEEP_SIZE it does not."""
    file = appender(10)
    os.write(file, bytes(10))
    allocate(file, KEEP, 0, 1000)
    os.write(file, bytes(10))
    allocate(file, KEEP | PUNCH, 0, 10)
    os.write(file, bytes(10))


def zeroed():
    file = appender(10)
    os.write(file, bytes(10))
    allocate(file, ZERO, 0, 500)
    os.write(file, bytes(10))
    allocate(file, ZERO | KEEP, 0, 5000)
    os.write(file, bytes(10))


def collapsed():
    file = appender(5 * 4096)
    os.write(file, bytes(10))
    allocate(file, COLLAPSE, 4096, 4096)
    os.write(file, bytes(10))


def inserted():
    file = appender(5 * 4096)
    os.write(file, bytes(10))
    allocate(file, INSERT, 4096, 8192)
    os.write(file, bytes(10))


def emptied():
    """O_TRUNC empties a file that others have open."""
    file = appender(100)
    os.write(file, bytes(10))
    other = os.open("x", W | os.O_TRUNC)
    os.write(file, bytes(10))
    os.write(other, bytes(40))
    os.write(file, bytes(10))


def written_before():
    """What was written and closed is as long as that."""
    file = os.open("x", W | NEW, 0o644)
    os.write(file, bytes(70))
    os.close(file)
    file = os.open("x", W | APPEND)
    os.write(file, bytes(10))
    os.close(file)
    file = os.open("x", RW)
    os.lseek(file, 0, os.SEEK_END)
    os.write(file, bytes(10))
    file = os.open("x", W | APPEND)
    os.write(file, bytes(10))


def truncated():
    file = appender(100)
    os.write(file, bytes(10))
    os.truncate("x", 50)
    os.write(file, bytes(10))
    os.ftruncate(file, 500)
    os.write(file, bytes(10))
    os.lseek(file, 0, os.SEEK_SET)
    os.read(file, 4096)
    os.ftruncate(file, 5)
    os.read(file, 10)
    os.write(file, bytes(10))


def shown():
    """fstat shows a length, others write in the meantime."""
    file = appender(100)
    other = os.open("x", W)
    os.fstat(file)
    os.write(file, bytes(10))
    os.pwrite(other, bytes(10), 300)
    os.write(file, bytes(10))
    os.stat("x")
    os.write(file, bytes(10))


def end_of_file():
    """A read that meets the end, and a seek to it."""
    file = appender(100)
    other = os.open("x", R)
    while os.read(other, 64):
        pass
    os.write(file, bytes(10))
    os.lseek(other, -5, os.SEEK_END)
    os.read(other, 3)
    os.write(file, bytes(10))


def sent_nothing():
    """sendfile at the end of its source moves nothing."""
    file = words("words.bin", 10)
    out = make("out")
    os.sendfile(out, file, None, 1000)
    os.sendfile(out, file, None, 1000)
    os.write(out, bytes(8))
    os.copy_file_range(file, out, 100)
    os.write(out, bytes(8))


def submitted():
    """Asynchronous transfers with offsets, whose data are 0."""
    file = words("words.bin", 1000)
    out = make("x")
    room = ctypes.c_long(0)
    syscall(206, 8, ctypes.byref(room))

    def submit(*parts):
        forms = []
        for code, number, data, at, tag in parts:
            memory = ctypes.create_string_buffer(data)
            forms.append(
                (
                    memory,
                    ctypes.create_string_buffer(
                        struct.pack(
                            "QIIHhIQQqQII",
                            tag,
                            0,
                            0,
                            code,
                            0,
                            number,
                            ctypes.addressof(memory),
                            len(memory),
                            at,
                            0,
                            0,
                            0,
                        )
                    ),
                )
            )
        table = (ctypes.c_void_p * len(forms))(*[ctypes.addressof(form) for _, form in forms])
        syscall(209, room, len(forms), table)
        events = ctypes.create_string_buffer(32 * len(forms))
        syscall(208, room, len(forms), len(forms), events, None)

    os.read(file, 8)
    submit((0, file, 80, 160, 0))
    submit((0, file, 80, 240, 0), (1, out, 40, 400, 0))
    submit((0, file, 80, 240, 1), (0, file, 16, 800, 2))
    os.read(file, 8)
    os.write(out, bytes(8))
    end = os.open("x", W | APPEND)
    os.write(end, bytes(8))


def equal_burst():
    """Threads read pieces of equal length: which is whose is open, the set is known."""
    import threading

    file = words("words.bin", 3000)

    def read():
        for _ in range(40):
            os.read(file, 64)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.read(file, 8)


run(globals())
