"""What is to be recorded, and what all recorders do."""

import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tracefast import _core
from tracefast.recording import child
from tracefast.recording.options import Only

if TYPE_CHECKING:
    from tracefast.analysis.join.report import JoinReport

Say = Callable[[str], None]


@dataclass(frozen=True)
class Target:
    """What is to be recorded.

    Attributes
    ----------
    command
        The program and its arguments; empty to attach.
    pids
        Processes to attach to.
    only
        Which calls are wanted; None for all. For strace alone.
    keep_log
        A file that gets the text of the tracer, too; with both tracers strace's, and the kernel's
        has the suffix ``.ftrace``.
    say
        Called with what happens while the program runs.
    """

    command: Sequence[str] = ()
    pids: Sequence[int] = ()
    only: Only | None = None
    keep_log: str | None = None
    say: Say = lambda _: None


class Recorder(ABC):
    """A run of a program that is recorded.

    Raises
    ------
    Error
        The tracer is missing, or so is what it is to trace.
    OSError
        The log that is to be kept cannot be written.

    Attributes
    ----------
    joined
        Of both tracers, after :meth:`parse`: how well the logs match.
    """

    joined: "JoinReport | None" = None

    @abstractmethod
    def receive(self, number: signal.Signals, sent: bool) -> None:
        """Pass a signal on.

        Parameters
        ----------
        number
            The signal.
        sent
            The terminal has sent it to the program, too.

        Raises
        ------
        KeyboardInterrupt
            The recording has ended, and this is the second signal since then: nothing is written.
        """

    @abstractmethod
    def parse(
        self, output: str, *, name: str, clobber: bool, progress: _core.Progress
    ) -> tuple[_core.Report, int]:
        """Turn what the tracer writes into events until it ends.

        Returns
        -------
        Report, int
            What was read, and the exit code of the program.

        Raises
        ------
        Error
            strace has written nothing.
        OSError
            The output cannot be written. The program goes on, and is not traced.
        """


class KeptLog:
    """The text of a tracer in a file, as long as there is room for it: events matter more.

    Parameters
    ----------
    path
        The file; None to keep nothing.
    say
        Called when the disk is full.

    Raises
    ------
    OSError
        The file cannot be written at all.
    """

    def __init__(self, path: str | None, say: Say) -> None:
        self._path, self._say = path, say
        self._file = None if path is None else Path(path).open("wb", buffering=0)  # noqa: SIM115

    def write(self, text: bytes) -> None:
        """Add text."""
        if self._file is None:
            return
        try:
            child.write_all(self._file.fileno(), text)
        except OSError as error:
            self._say(f"{self._path}: {error.strerror}: the text ends there, the events do not")
            self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
