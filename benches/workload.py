"""A mixed workload whose system calls are worth tracing.

One round does what a Python program on a server does: starts interpreters and shell pipelines,
makes processes in every way there is, reads one file from several threads in different orders,
loads a set of images in worker processes, talks over loopback TCP, uses SQLite and tar. Nothing
here needs more than Python's standard library and a POSIX userland.

The order of the calls is fixed by a seed; their interleaving is not, and a log of it should have
what real logs have: calls split by another task's line, failed look-ups, threads, short lives.

Run it under a tracer::

    strace -f -ttt -T -yy -o out.strace python3 workload.py --dir demo --rounds 1
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

MODEL = "models/resnet50/model.safetensors"
"""The one large file, which threads read in different orders."""

MODEL_BYTES = 8 << 20
"""Its size."""

IMAGES = 40
"""Number of small files that the worker processes load."""

IMAGE_FOLDER = "dataset/train/images"
"""Where they are, below the working folder."""

IMPORTS = (
    "json, csv, decimal, tarfile, zipfile, pathlib",
    "sqlite3, logging.handlers, multiprocessing.pool",
    "asyncio, concurrent.futures, ssl, uuid",
    "email.message, http.client, xml.etree.ElementTree, unittest",
)
"""What fresh interpreters import: each is a thousand look-ups, opens and reads."""

PIPELINES = (
    "ls -l dataset/train/images | sort -k5 -n | tail -n 3",
    "cat dataset/train/images/*.img | tr -d '\\000' | wc -c",
    "find . -name '*.img' | grep -v 00 | xargs ls -l | wc -l",
    "for i in 1 2 3 4; do echo line $i; done | sed s/line/row/ | sort -r",
)


def prepare(folder: Path, seed: int) -> None:
    """Make the files that the workload reads, unless they are there already.

    Parameters
    ----------
    folder
        Where the files go.
    seed
        Start value of the random contents and sizes.
    """
    rng = random.Random(seed)
    (folder / IMAGE_FOLDER).mkdir(parents=True, exist_ok=True)
    model = folder / MODEL
    model.parent.mkdir(parents=True, exist_ok=True)
    if not model.exists():
        model.write_bytes(rng.randbytes(MODEL_BYTES))
    for number in range(IMAGES):
        image = folder / IMAGE_FOLDER / f"{number:04d}.img"
        if not image.exists():
            image.write_bytes(b"IMG1" + rng.randbytes(rng.randrange(4_000, 60_000)))


def interpreters(rng: random.Random) -> None:
    """Start fresh interpreters, one after the other, that import a few modules each."""
    for modules in rng.sample(IMPORTS, 3):
        subprocess.run([sys.executable, "-c", f"import {modules}"], check=True)


def pipelines(rng: random.Random, folder: Path) -> None:
    """Run pipelines of short-lived programs under a shell."""
    for pipeline in rng.sample(PIPELINES, 2):
        subprocess.run(
            ["/bin/sh", "-c", pipeline], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )


def spawns(folder: Path) -> None:
    """Make processes by vfork, fork and posix_spawn, and one that cannot be executed."""
    subprocess.run(["/bin/true"], check=True)
    subprocess.run(["/bin/true"], check=True, preexec_fn=os.setsid)  # Makes it fork.
    pid = os.posix_spawn("/bin/true", ["true"], dict(os.environ))
    os.waitpid(pid, 0)
    with contextlib.suppress(FileNotFoundError):
        subprocess.run([str(folder / "no-such-program")], check=False)


def load_images(folder: Path, workers: int, first: int) -> None:
    """Load the images in forked workers: a probe of the header, a step back, then the rest."""
    images = sorted((folder / IMAGE_FOLDER).glob("*.img"))
    children = []
    for worker in range(workers):
        pid = os.fork()
        if pid == 0:
            for image in images[(first + worker) % workers :: workers]:
                with image.open("rb", buffering=0) as file:
                    file.read(16)
                    file.seek(0)
                    while file.read(8192):
                        pass
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


def read_model(folder: Path, seed: int, calls: int) -> None:
    """Read one file from three threads: in sequence, by pread, and by seek and read."""
    path = folder / MODEL

    def sequential() -> None:
        with path.open("rb", buffering=0) as file:
            for _ in range(calls):
                if not file.read(65_536):
                    file.seek(0)

    def positioned() -> None:
        rng = random.Random(seed)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        for _ in range(calls):
            os.pread(fd, 4096, rng.randrange(MODEL_BYTES // 4096) * 4096)
        os.close(fd)

    def seeking() -> None:
        rng = random.Random(seed + 1)
        with path.open("rb", buffering=0) as file:
            for _ in range(calls // 2):
                file.seek(rng.randrange(MODEL_BYTES))
                file.read(rng.choice((1000, 4096, 16_384)))

    threads = [threading.Thread(target=body) for body in (sequential, positioned, seeking)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def loopback(messages: int) -> None:
    """Send messages to an echo server in another thread, over TCP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def echo() -> None:
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(4096):
                    connection.sendall(data)

        thread = threading.Thread(target=echo)
        thread.start()
        with socket.create_connection(server.getsockname()) as client:
            for number in range(messages):
                client.sendall(b"message %d" % number)
                client.recv(4096)
        thread.join()


def database(folder: Path, rows: int) -> None:
    """Insert into and read from an SQLite file, one transaction in ten rows."""
    path = folder / "store.sqlite"
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as connection:
        connection.execute("create table image (name text, size integer)")
        for row in range(rows):
            connection.execute("insert into image values (?, ?)", (f"{row:04d}.img", row * 100))
            if row % 10 == 9:
                connection.commit()
        connection.execute("select sum(size) from image").fetchone()
    connection.close()


def archive(folder: Path) -> None:
    """Pack the images with tar and gzip, list the archive, and copy a file by sendfile."""
    subprocess.run(["tar", "-czf", "images.tar.gz", IMAGE_FOLDER], check=True, cwd=folder)
    subprocess.run(
        ["tar", "-tzf", "images.tar.gz"], check=True, cwd=folder, stdout=subprocess.DEVNULL
    )
    with (folder / MODEL).open("rb") as source, (folder / "copy.bin").open("wb") as target:
        os.sendfile(target.fileno(), source.fileno(), 0, 1 << 20)
    (folder / "copy.bin").rename(folder / "copy2.bin")
    (folder / "copy2.bin").unlink()


def run_round(folder: Path, number: int, calls: int) -> None:
    """Run one round of everything, in an order that depends on its number only.

    Parameters
    ----------
    folder
        Folder made by :func:`prepare`.
    number
        Number of the round, from 0.
    calls
        Reads of each of the three reading threads: sets how much of the log is data access.
    """
    rng = random.Random(number)
    parts = [
        lambda: interpreters(rng),
        lambda: pipelines(rng, folder),
        lambda: spawns(folder),
        lambda: load_images(folder, 2, number),
        lambda: read_model(folder, number, calls),
        lambda: loopback(calls // 4),
        lambda: database(folder, 30),
        lambda: archive(folder),
    ]
    rng.shuffle(parts)
    for part in parts:
        part()


def main() -> None:
    """Run rounds until one of the limits is reached."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--dir", type=Path, required=True, help="folder for the files it uses")
    parser.add_argument("--rounds", type=int, default=1 << 30, help="stop after this many rounds")
    parser.add_argument("--seconds", type=float, default=120.0, help="start no round after this")
    parser.add_argument("--calls", type=int, default=100, help="reads of each thread in a round")
    parser.add_argument("--jobs", type=int, default=1, help="rounds that run side by side")
    parser.add_argument("--log", type=Path, help="the log being written of this run")
    parser.add_argument("--bytes", type=int, default=1 << 62, help="stop when --log is this long")
    options = parser.parse_args()

    # Each job works in a folder of its own; side by side they split each other's calls in the log.
    job = 0
    while job + 1 < options.jobs and os.fork() == 0:
        job += 1
    folder = options.dir / f"job{job}" if options.jobs > 1 else options.dir
    prepare(folder, seed=job)
    end = time.monotonic() + options.seconds
    for number in range(options.rounds):
        run_round(folder, number * options.jobs + job, options.calls)
        length = options.log.stat().st_size if options.log and options.log.exists() else 0
        if time.monotonic() > end or length >= options.bytes:
            break
    if job + 1 < options.jobs:
        os.wait()


if __name__ == "__main__":
    main()
