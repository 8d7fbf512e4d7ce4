"""Names of one file, where calls show its device and inode number (`strace -v`)."""

import os

from common import (
    APPEND,
    CLONE_NEWNS,
    LIBC,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    NEW,
    RW,
    cannot,
    child,
    join,
    make,
    run,
)


def shown(name, flags=RW):
    file = os.open(name, flags)
    os.fstat(file)
    return file


def through(first, second):
    """Append by the first name, change the file by the second."""
    file, other = shown(first, RW | APPEND), shown(second)
    os.write(file, bytes(10))
    os.lseek(other, 100, os.SEEK_SET)
    os.write(other, bytes(30))
    os.write(file, bytes(10))
    os.ftruncate(other, 20)
    os.write(file, bytes(10))
    os.pwrite(other, bytes(50), 60)
    os.write(file, bytes(10))
    third = shown(second, RW | APPEND)
    os.write(third, bytes(10))
    os.write(file, bytes(10))
    os.truncate(second, 40)
    os.stat(second)
    os.write(third, bytes(10))
    os.close(other)
    os.write(file, bytes(10))
    os.close(third)
    os.lseek(file, 0, os.SEEK_SET)
    while os.read(file, 64):
        pass
    os.write(file, bytes(10))
    os.close(file)


def numbered_hard_link():
    os.close(make("x", 50))
    os.link("x", "hard")
    through("x", "hard")
    through("hard", "x")


def numbered_symbolic_link():
    os.close(make("x", 50))
    os.symlink("x", "link")
    through("link", "x")


def numbered_bind_mount():
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        cannot("mounts need root")
    os.mkdir("d")
    os.close(make("d/x", 50))
    os.mkdir("bound")
    if LIBC.mount(b"d", b"bound", None, MS_BIND, None):
        cannot("mounts need root")
    through("d/x", "bound/x")


def numbered_two_files():
    """Names that could be those of one file."""
    os.close(make("x", 50))
    os.close(make("y", 50))
    through("x", "y")


def numbered_of_child():
    """A child appends by the other name."""
    os.close(make("x", 50))
    os.link("x", "hard")
    file = shown("x", RW | APPEND)
    os.write(file, bytes(10))

    def inside():
        other = shown("hard", RW | APPEND)
        os.write(other, bytes(10))

    join(child(inside))
    os.fstat(file)
    os.write(file, bytes(10))


def numbered_again():
    """A new file gets the number of one that is gone, as a rule."""
    for _ in range(8):
        old = shown("x", RW | NEW | APPEND)
        os.write(old, bytes(10))
        os.unlink("x")
        os.close(old)
        other = shown("y", RW | NEW | APPEND)
        file = shown("x", RW | NEW | APPEND)
        os.write(other, bytes(20))
        os.write(file, bytes(30))
        os.write(other, bytes(20))
        os.close(other)
        os.rename("y", "x")
        os.write(file, bytes(30))
        os.close(file)


run(globals())
