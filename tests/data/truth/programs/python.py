"""What programs in Python do: processes, logs, buffers, databases."""

import os

from common import run


def workers():
    """A pool of processes that read pieces of one file."""
    import multiprocessing

    with open("x", "wb") as file:
        file.write(os.urandom(50000))
    with multiprocessing.get_context("fork").Pool(3) as pool:
        pool.map(piece, range(12))


def piece(number):
    with open("x", "rb") as file:
        file.seek(1000 * number)
        data = file.read(500)
    with open("log", "a") as log:
        log.write(f"{number} {sum(data)}\n")


def subprocesses():
    """Children whose output goes into a file, and whose input comes from one."""
    import subprocess

    with open("out", "wb") as out:
        out.write(b"start\n")
        out.flush()
        subprocess.run(["echo", "one"], stdout=out, check=True)
        subprocess.run("echo two; echo three", shell=True, stdout=out, check=True)
        out.write(b"end\n")
    with open("out", "rb") as into:
        into.readline()
        subprocess.run(["cat"], stdin=into, stdout=subprocess.DEVNULL, check=True)


def logs():
    """Several handlers append to one file."""
    import logging

    for name in ("a", "b"):
        handler = logging.FileHandler("log")
        logging.getLogger(name).addHandler(handler)
    for number in range(5):
        logging.getLogger("a").warning("first %d", number)
        logging.getLogger("b").warning("second %d", number)


def buffers():
    """Reads and writes through buffers, forwards and backwards."""
    with open("x", "wb+") as file:
        file.writelines(b"%7d\n" % number for number in range(3000))
        file.seek(80)
        file.read(16)
        file.write(b"changed\n")
        file.seek(-80, os.SEEK_END)
        file.read()
        file.truncate(20000)
        file.seek(0)
        for _ in file:
            pass
    with open("x") as file:
        file.readline()
        file.tell()
        file.seek(0, os.SEEK_END)
    with open("x", "a+") as file:
        file.write("more\n")
        file.seek(0)
        file.read()


def databases():
    import dbm.dumb

    with dbm.dumb.open("db", "c") as table:
        for number in range(20):
            table[str(number)] = bytes(number)
        for number in range(0, 20, 3):
            table[str(number)] = b"x" * 700
        for key in table:
            table[key]


def temporary():
    import shutil
    import tempfile
    import zipfile

    with tempfile.TemporaryFile(dir=".") as file:
        file.write(bytes(5000))
        file.seek(100)
        file.read(50)
        with open("copy", "wb") as copy:
            shutil.copyfileobj(file, copy)
    with zipfile.ZipFile("z.zip", "w") as archive:
        archive.write("copy")
        archive.writestr("text", "text" * 100)
    with zipfile.ZipFile("z.zip", "a") as archive:
        archive.writestr("more", "text" * 100)
        archive.read("copy")
    shutil.copyfile("z.zip", "y.zip")


def mapped():
    import mmap

    with open("x", "wb+") as file:
        file.truncate(1 << 16)
        with mmap.mmap(file.fileno(), 1 << 16) as memory:
            memory[100:105] = b"hello"
            memory.flush()
            file.read(200)
            memory.resize(1 << 17)
        file.seek(0, os.SEEK_END)
        file.write(b"end")


run(globals())
