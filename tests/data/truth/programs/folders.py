"""Folders that their paths do not lead to any more, or that lead some processes elsewhere.

`x` in one of them and `x` in the other are two files, though their paths have the same text. A call
on one of them says nothing about the other, to which a description appends.
"""

import os

from common import (
    APPEND,
    CLONE_NEWNS,
    LIBC,
    MS_BIND,
    MS_PRIVATE,
    MS_REC,
    RW,
    R,
    cannot,
    child,
    join,
    make,
    run,
)


def folders():
    """Make two folders, and a link to one of them; give the path of the folder around them."""
    for name, size in (("one", 50), ("two", 70)):
        os.mkdir(name)
        os.close(make(f"{name}/x", size))
    os.symlink("one", "link")
    return os.getcwd()


def replace(link, target):
    """Let a link lead elsewhere, at once."""
    os.symlink(target, link + ".new")
    os.rename(link + ".new", link)


def both(inner, outer, folder=None):
    """Append to the files of both names, and show and change the size of each in between."""
    one = os.open(inner, RW | APPEND, dir_fd=folder)
    os.write(one, bytes(3))
    os.stat(outer)
    os.write(one, bytes(3))
    os.truncate(outer, 8)
    os.write(one, bytes(3))
    other = os.open(outer, RW | APPEND)
    os.write(other, bytes(3))
    os.stat(inner, dir_fd=folder)
    os.write(other, bytes(3))
    os.write(one, bytes(3))
    os.write(other, bytes(3))


def private_mounts():
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        cannot("mounts need root")


def bind(source, target):
    if LIBC.mount(source.encode(), target.encode(), None, MS_BIND, None):
        cannot("mounts need root")


def new_root(path):
    try:
        os.chroot(path)
    except PermissionError:
        cannot("chroot needs root")


def entered_by_link():
    here = folders()
    os.chdir("link")
    replace(f"{here}/link", "two")
    both("x", f"{here}/link/x")


def link_made_again():
    here = folders()
    os.chdir("link")
    os.unlink(f"{here}/link")
    os.symlink("two", f"{here}/link")
    both("x", f"{here}/link/x")


def target_renamed():
    here = folders()
    os.chdir("link")
    os.rename(f"{here}/one", f"{here}/three")
    os.rename(f"{here}/two", f"{here}/one")
    both("x", f"{here}/link/x")


def renamed_by_another_name():
    here = folders()
    os.symlink(".", "same")
    os.chdir("one")
    os.getcwd()
    os.rename(f"{here}/same/one", f"{here}/same/three")
    os.rename(f"{here}/same/two", f"{here}/same/one")
    both("x", f"{here}/one/x")


def opened_by_link():
    folders()
    folder = os.open("link", os.O_DIRECTORY)
    replace("link", "two")
    both("x", "link/x", folder)


def entered_by_descriptor():
    here = folders()
    folder = os.open("link", os.O_DIRECTORY)
    replace("link", "two")
    os.fchdir(folder)
    both("x", f"{here}/link/x")


def entered_and_covered():
    private_mounts()
    here = folders()
    os.chdir("one")
    bind(f"{here}/two", f"{here}/one")
    both("x", f"{here}/one/x")


def opened_and_covered():
    private_mounts()
    here = folders()
    folder = os.open("one", os.O_DIRECTORY)
    bind(f"{here}/two", f"{here}/one")
    both("x", f"{here}/one/x", folder)


def mounts_of_a_child():
    here = folders()
    ready, done = os.pipe()
    into, out = os.pipe()

    def inside():
        private_mounts()
        bind(f"{here}/two", f"{here}/one")
        os.write(done, b"x")
        os.read(into, 1)
        os.stat(f"{here}/one/x")
        os.truncate(f"{here}/one/x", 8)

    pid = child(inside)
    os.read(ready, 1)
    file = os.open(f"{here}/one/x", RW | APPEND)
    os.write(file, bytes(3))
    os.write(out, b"x")
    join(pid)
    os.write(file, bytes(3))
    os.write(file, bytes(3))


def rooted(path, root, inner):
    """Append to a file while a child with another root directory uses a path with the same text."""
    file = os.open(path, RW | APPEND)
    os.write(file, bytes(3))

    def inside():
        os.chdir(root)
        new_root(".")
        os.stat(inner)
        os.truncate(inner, 8)
        os.close(os.open(inner, R))

    join(child(inside))
    os.write(file, bytes(3))
    os.write(file, bytes(3))


def link_from_the_root():
    """A link with an absolute target leads elsewhere from another root directory."""
    here = folders()
    os.makedirs("root" + here)
    os.close(make("root" + here + "/x", 7))
    os.close(make("x", 5))
    os.symlink(f"{here}/x", "root/link")
    rooted(f"{here}/root/link", f"{here}/root", "/link")


def unknown_root():
    """The log does not show where the other root directory is."""
    os.mkdir("root")
    os.close(make("root/x", 7))
    os.makedirs("/tmp/truth")
    try:
        os.close(make("/tmp/truth/x", 5))
        os.makedirs("root/tmp/truth")
        os.close(make("root/tmp/truth/x", 9))
        rooted("/tmp/truth/x", "root", "/tmp/truth/x")
    finally:
        os.unlink("/tmp/truth/x")
        os.rmdir("/tmp/truth")


run(globals())
