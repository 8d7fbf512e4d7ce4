"""Record with the kernel's tracefs: trace_pipe is read while the program runs."""

import os
import select
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

from tracefast import _core
from tracefast.error_hints import error_with_hint
from tracefast.recording import child
from tracefast.recording.events import write_events
from tracefast.recording.recorder import KeptLog, Recorder, Say, Target
from tracefast.recording.trace_pipe import TracePipes
from tracefast.recording.tracefs import Instances

_PATIENCE_S: Final = 0.1


class KernelTrace:
    """What the kernel traces of some tasks and their children, until it is ended.

    Parameters
    ----------
    say
        Called with what happens meanwhile.
    keep_log
        A file that gets the text, too.

    Attributes
    ----------
    ended
        To be set when there is nothing more to trace.
    recorded
        Names of the events that are recorded.

    Raises
    ------
    Error
        There is no tracefs.
    OSError
        The text that is to be kept cannot be written.
    """

    def __init__(self, say: Say, keep_log: str | None = None) -> None:
        self._say = say
        self.ended = Event()
        self._instances = Instances()
        with self.closed_on_error():
            self._log = KeptLog(keep_log, say)
        self.recorded = frozenset(self._instances.recorded)
        self._read, self._write = os.pipe()
        for event, shows in self._instances.missing.items():
            say(f"this kernel has no event {event}, which shows {shows}")
        if len(self._instances.folders) == 1:
            say(
                "this kernel cannot leave tasks out (Linux 5.7): requests to devices that other "
                "tasks complete or make for the program are not recorded"
            )

    def start(self, tasks: Sequence[int]) -> None:
        """Start to trace."""
        self._instances.start(tasks)

    def write_events(
        self, output: str, *, name: str, clobber: bool, progress: _core.Progress
    ) -> _core.Report:
        """Turn the trace into events until the end.

        Raises
        ------
        OSError
            The output cannot be written.
        """
        copier = Thread(target=self._copy, name="tracefast-kernel", daemon=True)
        copier.start()
        try:
            return write_events(
                self._read, output, "ftrace", name=name, clobber=clobber, progress=progress
            )
        except Exception as error:
            if not self.ended.is_set():
                self._say(child.goes_on(error))
            raise
        finally:
            os.close(self._read)
            self.ended.wait()
            copier.join()

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Leave nothing behind if the block fails."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave nothing behind."""
        self._instances.close()

    def _copy(self) -> None:
        """Copy the trace to the parser; it has no end of its own."""
        pipes = TracePipes(self._instances.folders)
        lost = 0
        try:
            while True:
                ending = self.ended.is_set()
                if ending:
                    self._instances.stop()
                lost = max(lost, self._instances.lost())
                select.select(pipes.descriptors, [], [], 0 if ending else _PATIENCE_S)
                for text in pipes.read():
                    self._log.write(text)
                    child.write_all(self._write, text)
                if ending:
                    break
        except BrokenPipeError:
            pass  # Said by the one that reads.
        finally:
            pipes.close()
            os.close(self._write)
            self._log.close()
        if lost:
            self._say(f"{lost} records were lost: the trace came faster than it could be read")


class KernelRun(Recorder):
    """A run of a program that the kernel traces, or of processes and their future children.

    Parameters
    ----------
    target
        What is to be recorded.
    """

    def __init__(self, target: Target) -> None:
        command, self._pids = target.command, target.pids
        if command:
            child.program(command[0])
        for pid in self._pids:
            if not Path(f"/proc/{pid}").exists():
                raise error_with_hint(f"-p {pid}: no such process", "ps -e lists processes")
        self._code = self._asked = 0
        self._trace = KernelTrace(target.say, target.keep_log)
        with self._trace.closed_on_error():
            self._command = child.start_stopped(command) if command else 0

    def receive(self, number: signal.Signals, sent: bool) -> None:
        """Pass a signal on to the program; without one, end the recording."""
        if self._trace.ended.is_set() or not self._command:
            self._asked += 1
            self._trace.ended.set()
            if self._asked > 1:
                raise KeyboardInterrupt
        elif not sent:
            with suppress(ProcessLookupError):
                os.kill(self._command, number)

    def parse(
        self, output: str, *, name: str, clobber: bool, progress: _core.Progress
    ) -> tuple[_core.Report, int]:
        """Turn the trace into events until the program ends."""
        try:
            with child.ended_on_error(self._command):
                self._trace.start([self._command] if self._command else child.threads(self._pids))
            Thread(target=self._wait, name="tracefast-command", daemon=True).start()
            if self._command:
                os.kill(self._command, signal.SIGCONT)
            report = self._trace.write_events(
                output, name=f"{name}.ftrace", clobber=clobber, progress=progress
            )
        finally:
            self._trace.close()
        return report, self._code

    def _wait(self) -> None:
        """Wait for the end of the program, or of all processes that are traced."""
        if self._command:
            self._code = child.exit_code(os.waitpid(self._command, 0)[1])
        while not self._command and any(Path(f"/proc/{pid}").exists() for pid in self._pids):
            if self._trace.ended.wait(_PATIENCE_S):
                break
        self._trace.ended.set()
