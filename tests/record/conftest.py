"""What recordings need: tracefs, and a disk that is full."""

import os
import shutil
import subprocess

import pytest

import live


@pytest.fixture
def instances():
    """Give the folder of tracefs's instances, which no other test uses meanwhile."""
    if os.geteuid() != 0 or shutil.which("mount") is None or shutil.which("strace") is None:
        pytest.skip("tracefs needs root and the mount command")
    try:
        with live.tracing_instance() as instance:
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
