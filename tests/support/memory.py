"""How much memory a script takes."""

import subprocess
import sys

import pytest

STATUS = """
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""

needs_status = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="needs /proc/self/status"
)


def peak_kb(script: str, *arguments: object) -> int:
    """Run a script in a process of its own; give its largest resident memory, in KiB."""
    command = [sys.executable, "-c", script + STATUS, *map(str, arguments)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
