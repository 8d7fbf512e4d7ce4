"""Commands that are interrupted as from the keyboard, and how they take it."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


def allowed() -> None:
    """Let a child be interrupted; for `preexec_fn`.

    A test run in the background inherits that interrupts are ignored, and passes it on.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


PROMPT_S = 60
"""A process that ends within this time did not wait for its input, however busy the machine is."""


# A process that has used no processor for so long waits for its input.
_QUIET_S = 1.5


def wait_until_quiet(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process waits: nothing else shows that from outside."""
    used, since = None, time.monotonic()
    while process.poll() is None and time.monotonic() - since < _QUIET_S:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        # utime and stime; one that still waits for a processor is R.
        now = (fields[11:13], fields[0] == "R")
        if now != used or now[1]:
            used, since = now, time.monotonic()
        time.sleep(0.02)


def interrupt(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Interrupt a process, check that it ends soon, and return its exit code and messages."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(timeout=120)
    finally:
        process.kill()
    took = time.monotonic() - began
    message = process.stderr.read().decode()
    assert took < PROMPT_S, message
    return code, message


def stopped(script: str, *arguments: object, after_s: float) -> tuple[str, float, float]:
    """Stop a child that runs a script of Python in mid-work, which has said that it has begun.

    What the work needs is best imported before that: an interrupt that comes in the middle of an
    import may be lost.

    Returns
    -------
    tuple of str, float and float
        What it printed then; when the signal was sent, by ``time.monotonic``, which all processes
        share; and for how many seconds of a processor the child went on until it had ended, which
        does not depend on what else runs on the machine.
    """
    before = _processor_s()
    with subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=allowed,  # noqa: PLW1509 - in time
    ) as child:
        assert child.stdout.readline() == "begun\n"
        time.sleep(after_s)
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        used = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        try:
            out, errors = child.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGABRT)  # It says where it is.
            pytest.fail(f"not stopped; {child.communicate()}")
    assert "KeyboardInterrupt" in errors, errors
    assert child.returncode != 0
    return out, sent, _processor_s() - before - used


def _processor_s() -> float:
    """Give the time of all children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
