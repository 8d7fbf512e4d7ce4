"""Names of one file: an appender writes through one of them, another writer through the other."""

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
    R,
    W,
    cannot,
    child,
    join,
    make,
    run,
)


def through(first, second):
    """Append by the first name, make it longer and shorter by the second, append again.

    Where the two names are one file, each append lands at the end that the other writer made.
    """
    file = os.open(first, RW | APPEND)
    os.write(file, bytes(10))
    other = os.open(second, W)
    os.lseek(other, 100, os.SEEK_SET)
    os.write(other, bytes(30))
    os.write(file, bytes(10))
    os.ftruncate(other, 20)
    os.write(file, bytes(10))
    os.truncate(second, 40)
    os.write(file, bytes(10))
    os.pwrite(other, bytes(50), 60)
    os.write(file, bytes(10))
    os.close(os.open(second, W | os.O_TRUNC))
    os.write(file, bytes(10))
    os.lseek(file, 0, os.SEEK_SET)
    while os.read(file, 64):
        pass
    os.write(other, bytes(200))
    os.write(file, bytes(10))
    os.close(other)
    os.close(file)


def tree():
    os.mkdir("d")
    os.mkdir("d/e")
    os.close(make("x", 50))


def dot():
    tree()
    through("x", "./x")


def slashes():
    tree()
    os.close(make("d/x", 50))
    through("d/x", "d///x")


def dots():
    tree()
    through("x", "d/../x")
    through("d/e/../../x", "./d/.././x")


def absolute():
    tree()
    through("x", os.getcwd() + "/x")


def link_symbolic():
    tree()
    os.symlink("x", "link")
    through("x", "link")


def link_to_folder():
    tree()
    os.close(make("d/x", 50))
    os.symlink("d", "link")
    through("d/x", "link/x")


def link_older(gate):
    """The link was made before the log started, where the log starts late."""
    tree()
    os.symlink("x", "link")
    gate()
    through("x", "link")


def link_replaced(gate):
    """What an older link leads to is replaced and removed while it is open by the link."""
    tree()
    os.close(make("y", 200))
    os.symlink("x", "link")
    gate()
    file = os.open("link", RW | NEW | APPEND, 0o644)
    os.write(file, bytes(10))
    os.rename("y", "x")
    other = os.open("link", RW | APPEND)
    os.write(other, bytes(10))
    os.write(file, bytes(10))
    os.unlink("x")
    third = os.open("link", RW | APPEND | os.O_CREAT, 0o644)
    for one in (third, other, file):
        os.write(one, bytes(10))


def link_through_folder_replaced(gate):
    """The folder that an older link leads to is replaced."""
    tree()
    os.close(make("d/x", 50))
    os.mkdir("f")
    os.close(make("f/x", 200))
    os.symlink("d", "link")
    gate()
    file = os.open("link/x", RW | NEW | APPEND, 0o644)
    os.write(file, bytes(10))
    os.rename("d", "g")
    os.rename("f", "d")
    other = os.open("link/x", RW | APPEND)
    for one in (other, file):
        os.write(one, bytes(10))


def link_hard():
    tree()
    os.link("x", "hard")
    through("x", "hard")


def link_hard_older(gate):
    tree()
    os.link("x", "hard")
    gate()
    through("x", "hard")


def own_folder():
    tree()
    through("x", "/proc/self/cwd/x")


def folder_of_process():
    tree()
    through("x", f"/proc/{os.getpid()}/cwd/x")


def root_of_process():
    tree()
    through("x", "/proc/self/root" + os.getcwd() + "/x")


def changed_folder():
    tree()
    file = os.open("x", RW | APPEND)
    os.chdir("d")
    other = os.open("../x", W)
    os.pwrite(other, bytes(9), 300)
    os.write(file, bytes(10))
    os.chdir("e")
    through("../../x", "../../d/../x")


def folder_by_descriptor():
    tree()
    file = os.open("x", RW | APPEND)
    folder = os.open("d", os.O_DIRECTORY)
    above = os.open("..", os.O_DIRECTORY, dir_fd=folder)
    other = os.open("x", W, dir_fd=above)
    os.pwrite(other, bytes(9), 300)
    os.write(file, bytes(10))
    os.fchdir(folder)
    through("../x", "e/../../x")


def opened_again():
    tree()
    file = os.open("x", RW | APPEND)
    other = os.open(f"/proc/self/fd/{file}", W)
    os.pwrite(other, bytes(9), 300)
    os.write(file, bytes(10))
    through("x", f"/dev/fd/{file}")


def renamed():
    tree()
    file = os.open("x", RW | APPEND)
    os.rename("x", "y")
    other = os.open("y", W)
    os.pwrite(other, bytes(9), 300)
    os.write(file, bytes(10))
    os.close(make("x", 5))
    through("x", "x")
    os.write(file, bytes(10))


def renamed_folder():
    tree()
    os.close(make("d/x", 50))
    file = os.open("d/x", RW | APPEND)
    os.rename("d", "f")
    other = os.open("f/x", W)
    os.pwrite(other, bytes(9), 300)
    os.write(file, bytes(10))


def removed():
    """A file that was made again under its name is another one."""
    tree()
    file = os.open("x", RW | APPEND)
    os.write(file, bytes(10))
    os.unlink("x")
    other = os.open("x", W | NEW, 0o644)
    os.write(other, bytes(500))
    os.write(file, bytes(10))


def exchanged():
    tree()
    os.close(make("y", 7))
    file = os.open("x", RW | APPEND)
    other = os.open("y", RW | APPEND)
    if LIBC.renameat2(-100, b"x", -100, b"y", 2):
        cannot("RENAME_EXCHANGE")
    third = os.open("y", W)
    os.pwrite(third, bytes(9), 300)
    os.write(file, bytes(10))
    os.write(other, bytes(10))


def bind_mount():
    tree()
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        cannot("mounts need root")
    os.close(make("d/x", 50))
    os.mkdir("bound")
    if LIBC.mount(b"d", b"bound", None, MS_BIND, None):
        cannot("mounts need root")
    through("d/x", "bound/x")


def new_root():
    tree()
    file = os.open("d/x", RW | NEW | APPEND, 0o644)

    def inside():
        try:
            os.chroot("d")
        except PermissionError:
            cannot("chroot needs root")
        other = os.open("/x", W)
        os.pwrite(other, bytes(9), 300)

    join(child(inside))
    os.write(file, bytes(10))


def case():
    """Two names that are two files."""
    os.close(make("x", 10))
    os.close(make("X", 20))
    through("x", "X")


def unnamed():
    """A file without a name gets one."""
    file = os.open(".", RW | os.O_TMPFILE, 0o644)
    os.write(file, bytes(10))
    # With a folder, Python calls linkat(2) with AT_SYMLINK_FOLLOW.
    folder = os.open(".", os.O_DIRECTORY)
    os.link(f"/proc/self/fd/{file}", "named", src_dir_fd=folder)
    through("named", f"/proc/self/fd/{file}")
    os.write(file, bytes(10))


def unnamed_twins():
    """Two files without a name, which show the same one, are opened by their numbers."""
    one, two = os.memfd_create("m"), os.memfd_create("m")
    os.write(one, bytes(20))
    first = os.open(f"/proc/self/fd/{one}", RW | APPEND)
    second = os.open(f"/proc/{os.getpid()}/fd/{two}", RW | APPEND)
    os.fstat(first)
    os.write(first, bytes(10))
    os.write(second, bytes(10))
    os.write(first, bytes(10))
    removed = make("x", 10)
    os.unlink("x")
    made = make("x", 50)
    third = os.open(f"/proc/self/fd/{removed}", W | APPEND)
    os.fstat(made)
    os.write(third, bytes(10))
    os.write(made, bytes(60))
    os.write(third, bytes(10))


def same_name():
    """One name, several descriptions."""
    tree()
    through("x", "x")
    file = os.open("x", R)
    os.read(file, 4096)
    os.read(file, 1)


run(globals())
