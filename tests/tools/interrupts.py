"""Commands that are interrupted as from the keyboard, and how they take it."""

import signal
import subprocess
import time


def allowed() -> None:
    """Let a child be interrupted; for `preexec_fn`.

    A test run in the background inherits that interrupts are ignored, and passes it on.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupt(process: subprocess.Popen[bytes], most_s: float) -> tuple[int, str]:
    """Interrupt a process, which is to end soon; give its exit code, and what it says then."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        code = process.wait(timeout=30)
    finally:
        process.kill()
    took = time.monotonic() - began
    message = process.stderr.read().decode()
    assert took < most_s, message
    return code, message
