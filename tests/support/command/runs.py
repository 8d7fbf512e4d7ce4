"""Run the installed command, often: see `server.py`."""

import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from support.command import server

STDIN = 0


class Runs:
    """A server that starts the command, and asks it to."""

    def __init__(self) -> None:
        self._started_with = _at_start()
        self._line, other = socket.socketpair()
        self._answers = self._line.makefile()
        with other:
            self._server = subprocess.Popen(
                [sys.executable, "-P", server.__file__, str(other.fileno())],
                pass_fds=[other.fileno()],
            )

    @property
    def fit(self) -> bool:
        """Whether a new process of Python would start as the server has started."""
        return _at_start() == self._started_with

    def run(
        self, command: Sequence[str], cwd: Path, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as `subprocess.run` does, and give what it wrote."""
        run = {"command": command, "cwd": str(cwd), "environment": dict(os.environ)}
        out, err = os.pipe(), os.pipe()
        try:
            streams = [STDIN, out[1], err[1]]
            asked = f"{json.dumps(run)}\n".encode()
            sent = socket.send_fds(self._line, [asked], streams)
            self._line.sendall(asked[sent:])
        finally:
            os.close(out[1])
            os.close(err[1])
        pid = int(self._answers.readline())
        try:
            written = _read([out[0], err[0]], timeout)
        except TimeoutError:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(command), timeout) from None
        finally:
            code = int(self._answers.readline())
        texts = (io.TextIOWrapper(io.BytesIO(data)).read() for data in written)
        return subprocess.CompletedProcess(list(command), code, *texts)

    def close(self) -> None:
        """End the server."""
        self._answers.close()
        self._line.close()
        self._server.wait()


def _at_start() -> dict[str, str]:
    """Give the variables that are read when Python starts, or polars is imported."""
    return {
        name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "POLARS"))
    }


def _read(descriptors: Sequence[int], timeout: float) -> list[bytes]:
    """Read pipes to their ends.

    Raises
    ------
    TimeoutError
        Somebody still has one of them open.
    """
    end = time.monotonic() + timeout
    read = {descriptor: bytearray() for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select(max(end - time.monotonic(), 0)):
                piece = os.read(key.fd, 1 << 16)
                read[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
                    os.close(key.fd)
            if selector.get_map() and time.monotonic() > end:
                raise TimeoutError
    return [bytes(data) for data in read.values()]
