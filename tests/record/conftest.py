"""What recordings need: tracefs, and a disk that is full."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import live


@pytest.fixture
def instances():
    """Give the folder of tracefs's instances, which no other test uses meanwhile."""
    if os.geteuid() != 0 or shutil.which("mount") is None or shutil.which("strace") is None:
        pytest.skip("tracefs needs root and the mount command")
    # Tests run side by side, and there is one folder of instances.
    lock = Path(tempfile.gettempdir(), "tracefast-tests-instances.lock")
    try:
        with lock.open("w") as file, live.tracing_instance() as instance:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield instance.parent
    except live.UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def full_disk(tmp_path):
    """Give a folder with room for 64 KiB."""
    folder = tmp_path / "full"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system needs root and mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
