"""What the tests of readers and scans share."""

from pathlib import Path

import pytest

from support.logs import write_long


@pytest.fixture(scope="session")
def long_log(tmp_path_factory) -> Path:
    """Write a log of 50 MB, the same lines again and again."""
    return write_long(tmp_path_factory.mktemp("long") / "long.strace", 50_000_000)
