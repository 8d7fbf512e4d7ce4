"""Programs of the Rust crates that measure what Python cannot reach: built by cargo on demand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def build(package: str, name: str) -> Path | None:
    """Build a bench of a crate; None without cargo.

    Raises
    ------
    subprocess.CalledProcessError
        If it does not compile.
    """
    command = ["cargo", "bench", "--locked", "-p", package, "--bench", name]
    command += ["--no-run", "--message-format=json"]
    try:
        done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    except FileNotFoundError:
        print(f"cargo is not installed: {name} is left out", file=sys.stderr)
        return None
    built = (json.loads(line).get("executable") for line in done.stdout.splitlines())
    return next(Path(path) for path in built if path)
