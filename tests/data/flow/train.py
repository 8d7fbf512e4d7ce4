"""Download, unpack, load, train, save, load again, remove a temporary; say what was moved.

Usage: train.py prepare FOLDER, then train.py run FOLDER, which prints its account.
"""

import gzip
import http.server
import json
import os
import pickle
import subprocess
import sys
import urllib.request
from pathlib import Path

import tracefast as tf

IMAGES = 400
SIZE = 784


def account(folder: Path) -> dict:
    """Do the work; give the bytes that went each way."""
    run = folder / "run"
    run.mkdir()
    tf.mark("download")
    archive = run / "train.gz"
    with urllib.request.urlopen(f"http://127.0.0.1:{serve(folder / 'site')}/train.gz") as reply:
        body = reply.read()
    write(archive, body)
    tf.mark("unpack")
    subprocess.run(["/bin/gzip", "-d", "-k", str(archive)], check=True)
    tf.mark("load")
    images = read(run / "train")
    labels = read(folder / "labels")
    tf.mark("train")
    weights = [0.0] * SIZE
    for epoch in range(2):
        with tf.phase("epoch"):
            for at in range(IMAGES):
                step = (labels[at] - 4.5) / 1000
                row = images[at * SIZE : (at + 1) * SIZE]
                weights = [
                    weight + step * pixel for weight, pixel in zip(weights, row, strict=True)
                ]
            with open(run / "train.log", "ab", buffering=0) as log:
                log.write(b"epoch %d\n" % epoch)
    tf.mark("save")
    model = pickle.dumps(weights)
    scratch = run / "scratch.bin"
    write(scratch, model[:1000])
    new = run / "model.pkl.new"
    write(new, model)
    new.rename(run / "model.pkl")
    scratch.unlink()
    tf.mark("test")
    again = read(run / "model.pkl")
    write(run / "accuracy.txt", b"%d\n" % len(pickle.loads(again)))
    return {
        "archive": len(body),
        "images": len(images),
        "labels": len(labels),
        "model": len(model),
        "scratch": 1000,
        "log": len(b"epoch 0\n") * 2,
        "accuracy": len(b"784\n"),
    }


def prepare(folder: Path) -> None:
    """Make what the run finds: the archive on the server, and the labels."""
    (folder / "site").mkdir()
    data = bytes(at * 7 % 251 for at in range(IMAGES * SIZE))
    write(folder / "site" / "train.gz", gzip.compress(data, mtime=0))
    write(folder / "labels", bytes(at % 10 for at in range(IMAGES)))


def serve(site: Path) -> int:
    """Serve a folder once, in another process; give its port."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.chdir(site)
        server = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
        os.write(writer, str(server.server_port).encode())
        server.handle_request()
        os._exit(0)
    return int(os.read(reader, 10))


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def write(path: Path, data: bytes) -> None:
    """Write a file, all at once."""
    with open(path, "wb", buffering=0) as file:
        file.write(data)


def read(path: Path) -> bytes:
    """Read a file."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


if __name__ == "__main__":
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "prepare":
        prepare(folder)
    else:
        print(json.dumps(account(folder)))
