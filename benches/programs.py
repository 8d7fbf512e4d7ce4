"""Programs of the Rust crates that measure what Python cannot reach: built by cargo on demand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def bench(name: str) -> Path | None:
    """Build a bench; None without cargo.

    Raises
    ------
    subprocess.CalledProcessError
        If it does not compile.
    """
    return _built(name, "bench", "-p", "tracefast-benches", "--bench", name, "--no-run")


def stage() -> Path | None:
    """Build the program that takes a log as far as a stage; None without cargo.

    With the profile and the features of the extension, all crates below it are as an installation
    of the extension has left them.

    Raises
    ------
    subprocess.CalledProcessError
        If it does not compile.
    """
    extension = ("-p", "tracefast-py", "--features", "tracefast-py/extension-module")
    which = ("-p", "tracefast-benches", *extension, "--bin", "stage")
    return _built("stage", "build", "--release", *which)


def _built(name: str, *arguments: str) -> Path | None:
    command = ["cargo", *arguments, "--locked", "--message-format=json"]
    try:
        done = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, check=True)
    except FileNotFoundError:
        print(f"cargo is not installed: {name} is left out", file=sys.stderr)
        return None
    # Other programs of the crate are built, too, and come in any order.
    said = (json.loads(line) for line in done.stdout.splitlines())
    built = (line for line in said if line.get("executable") and line["target"]["name"] == name)
    return Path(next(built)["executable"])
