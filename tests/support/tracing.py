"""Traces with the kernel, of which one test at a time takes some."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone() -> Iterator[None]:
    """Wait until no other test has tracefs mounted, and keep others from it.

    Tests run side by side, but there is one folder of instances; and what records takes tracefs
    where it is mounted, even if another test is about to unmount it.
    """
    with Path(tempfile.gettempdir(), "tracefast-tests-instances.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
