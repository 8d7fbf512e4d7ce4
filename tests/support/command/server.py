"""A server that starts the installed command: ``server.py FD``, where FD is one end of a socket.

Each run is a process of its own, forked from here. Most of its time would go into importing polars
and typer, which has happened here. What belongs to tracefast is imported by each run, as usual, and
a run ends as any program of Python does.
"""

import json
import os
import socket
import sys
import warnings

# polars starts threads when it is imported: they clean up, and hold no lock while nothing runs. Its
# pool of workers starts with the first query, in the run.
import polars as pl  # noqa: F401
import rich.progress  # noqa: F401
import typer  # noqa: F401

MOST = 1 << 16
STREAMS = 3


def next_run(line: socket.socket) -> tuple[dict[str, object], list[int]]:
    """Wait until somebody asks for a run; return in the process that is to become it."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, MOST, STREAMS)
        if not message:
            sys.exit()
        while not message.endswith(b"\n"):
            message += line.recv(MOST)
        # Python 3.12 warns of threads that may hold locks.
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            pid = os.fork()
        if pid == 0:
            line.close()
            return json.loads(message), descriptors
        for descriptor in descriptors:
            os.close(descriptor)
        line.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        line.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def become(run: dict[str, object], descriptors: list[int]) -> None:
    """Take the streams, the folder, the environment and the arguments of a run."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    # As Python opens them when it starts.
    sys.stdin = sys.__stdin__ = os.fdopen(0)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", 1 if os.isatty(1) else -1)
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, errors="backslashreplace")
    os.chdir(run["cwd"])
    os.environ.clear()
    os.environ.update(run["environment"])
    sys.argv = run["command"]


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as line:
        become(*next_run(line))
    from tracefast.cli import main

    sys.exit(main())
