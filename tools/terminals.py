"""What commands show on a terminal."""

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def shown(command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str]) -> str:
    """Run a command on a terminal, and give what it shows there; it must succeed."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=slave, stderr=slave, cwd=cwd, env=env) as process:
        os.close(slave)
        text = b""
        try:
            while chunk := os.read(master, 4096):
                text += chunk
        except OSError:
            pass  # The other end is closed.
        code = process.wait(timeout=60)
    os.close(master)
    assert code == 0, f"{command}\n{text.decode()}"
    return text.decode().replace("\r\n", "\n")
