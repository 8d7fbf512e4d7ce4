"""What the system hands to a command: its three streams, and signals that ask it to end."""

import os
import signal
import sys
from typing import Final

# Sent by batch systems, `timeout`, `docker stop` and `kill`; and by a terminal that goes away.
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
_FIRST: Final = 128

_received: list[int] = []


def hear_endings() -> None:
    """Hear signals that ask to end as an interrupt is heard.

    Polars and the parser know that one at any moment, and what is half-written is taken away.
    """
    import threading

    # What whoever started it wants to be ignored (`nohup`) stays so.
    heard = [one for one in _ENDING if signal.getsignal(one) is signal.SIG_DFL]
    if heard:
        signal.pthread_sigmask(signal.SIG_BLOCK, heard)
        threading.Thread(target=_listen, args=(heard,), daemon=True).start()


def _listen(heard: list[signal.Signals]) -> None:
    while True:
        number = signal.sigwait(heard)
        if _received:
            os._exit(_FIRST + number)  # Asked for a second time.
        _received.append(number)
        os.kill(os.getpid(), signal.SIGINT)


def exit_code_of_interrupt() -> int:
    """Give the exit code of an interrupted command, as a shell gives it: 128 and the signal.

    Examples
    --------
    >>> exit_code_of_interrupt()
    130
    """
    return _FIRST + (_received[0] if _received else signal.SIGINT)


def fill_streams() -> None:
    """Put something in the place of closed streams: reading or writing it is an error.

    Else the next file that is opened would be taken for one of them.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
