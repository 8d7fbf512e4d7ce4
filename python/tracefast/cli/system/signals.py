"""Signals that ask a command to stop."""

import os
import signal
from typing import Final

# Sent by batch systems, `timeout`, `docker stop` and `kill`; and by a terminal that closes.
_TERMINATING: Final = (signal.SIGTERM, signal.SIGHUP)
_SIGNAL_BASE: Final = 128

_received: list[int] = []


def turn_termination_into_interrupt() -> None:
    """Handle signals that ask to terminate as SIGINT is handled.

    Polars and the parser react to that one at any moment, and remove what is half-written.
    """
    import threading

    # What the parent process ignores stays ignored (`nohup`).
    handled = [one for one in _TERMINATING if signal.getsignal(one) is signal.SIG_DFL]
    if handled:
        signal.pthread_sigmask(signal.SIG_BLOCK, handled)
        threading.Thread(target=_wait, args=(handled,), daemon=True).start()


def _wait(handled: list[signal.Signals]) -> None:
    while True:
        number = signal.sigwait(handled)
        if _received:
            os._exit(_SIGNAL_BASE + number)  # The second request.
        _received.append(number)
        os.kill(os.getpid(), signal.SIGINT)


def ignore_interrupts() -> None:
    """Ignore SIGINT from now on: the work is done or given up, and its exit code is known.

    Without this, one that comes while the interpreter shuts down would end the process by that
    signal, or with a traceback. Polars may deliver the same signal twice.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def exit_code_of_interrupt() -> int:
    """Give the exit code of an interrupted command, as a shell does: 128 plus the signal.

    Examples
    --------
    >>> exit_code_of_interrupt()
    130
    """
    return _SIGNAL_BASE + (_received[0] if _received else signal.SIGINT)
