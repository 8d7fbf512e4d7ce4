"""The commands of a page, run as they are."""

import os
import re
import subprocess
from pathlib import Path

import pages


def run_commands(text: str, folder: Path, command: str) -> int:
    """Run the commands `tracefast …` of a page, each up to its first pipe; return how many ran.

    What a page shows below a command must be what it prints; if it shows nothing, the command
    only has to succeed.
    """
    ran = 0
    environment = os.environ | {"PATH": f"{Path(command).parent}:{os.environ['PATH']}"}
    for block in pages.blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            if not line.startswith("tracefast "):
                continue
            result = subprocess.run(
                ["bash", "-c", line.split(" | ")[0]],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert result.returncode == 0, result.stderr
            if expected.strip():
                assert result.stdout == expected
            ran += 1
    return ran
