"""Record with the kernel's tracefs: trace_pipe is read while the program runs."""

import os
import select
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Final

from tracefast import _core
from tracefast.error_hints import error_with_hint
from tracefast.outputs import sink_of
from tracefast.record import child
from tracefast.record.strace import Say
from tracefast.record.tracefs import Instance

_CHUNK: Final = 1 << 16
_PATIENCE_S: Final = 0.1
# Stops before it becomes the program, so that this is traced from its first call.
_STOPPED: Final = 'kill -STOP $$; exec "$@"'


class KernelRun:
    """A run of a program that the kernel traces.

    Parameters
    ----------
    command
        The program and its arguments; empty to trace what runs.
    pids
        Processes to trace, with their future children.
    say
        Called with what happens while the program runs.

    Raises
    ------
    Error
        There is no tracefs, or no such program or process.
    """

    def __init__(
        self, command: Sequence[str], pids: Sequence[int] = (), *, say: Say = lambda _: None
    ) -> None:
        if command:
            child.program(command[0])
        for pid in pids:
            if not Path(f"/proc/{pid}").exists():
                raise error_with_hint(f"-p {pid}: no such process", "ps -e lists processes")
        self._say, self._pids = say, list(pids)
        self._ended, self._instance = Event(), Instance()
        self._code = self._asked = 0
        self._read, self._write = os.pipe()
        for event in self._instance.missing:
            say(f"this kernel has no event {event}: what tables show by it is null")
        self._command = 0
        if command:
            self._command = child.start([child.program("sh"), "-c", _STOPPED, "sh", *command])
            os.waitpid(self._command, os.WUNTRACED)

    def receive(self, number: signal.Signals, sent: bool) -> None:
        """Pass a signal on to the program; without one, end the recording.

        Raises
        ------
        KeyboardInterrupt
            The recording has ended, and this is the second signal since then.
        """
        if self._ended.is_set() or not self._command:
            self._asked += 1
            self._ended.set()
            if self._asked > 1:
                raise KeyboardInterrupt
        elif not sent:
            with suppress(ProcessLookupError):
                os.kill(self._command, number)

    def parse(
        self, output: str, *, name: str, clobber: bool, progress: _core.Progress
    ) -> tuple[_core.Report, int]:
        """Turn the trace into events until the program ends; give the report, and the exit code.

        Raises
        ------
        OSError
            The output cannot be written. The program goes on, and is not traced.
        """
        try:
            tasks = [self._command] if self._command else _threads(self._pids)
            self._instance.write("set_event_pid", " ".join(map(str, tasks)))
            self._instance.write("tracing_on", "1")
            copier = Thread(target=self._copy, name="tracefast-kernel", daemon=True)
            copier.start()
            Thread(target=self._wait, name="tracefast-command", daemon=True).start()
            if self._command:
                os.kill(self._command, signal.SIGCONT)
            try:
                report = _core.parse(
                    [f"/proc/self/fd/{self._read}"],
                    output,
                    sink=sink_of(output) or "parquet",
                    format_in="ftrace",
                    clobber=clobber,
                    progress=progress,
                    name=name,
                )
            except Exception as error:
                if not self._ended.is_set():
                    self._say(f"{error}: the command goes on, and is not recorded")
                raise
            finally:
                os.close(self._read)
                self._ended.wait()
                copier.join()
        finally:
            self._instance.close()
        return report, self._code

    def _wait(self) -> None:
        """Wait for the end of the program, or of all processes that are traced."""
        if self._command:
            self._code = child.exit_code(os.waitpid(self._command, 0)[1])
        while not self._command and any(Path(f"/proc/{pid}").exists() for pid in self._pids):
            if self._ended.wait(_PATIENCE_S):
                break
        self._ended.set()

    def _copy(self) -> None:
        """Copy the trace to the parser; it has no end of its own."""
        trace = os.open(self._instance.folder / "trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
        lost = 0
        try:
            while True:
                ending = self._ended.is_set()
                if ending:
                    self._instance.write("tracing_on", "0")
                lost = max(lost, self._instance.lost())
                select.select([trace], [], [], 0 if ending else _PATIENCE_S)
                while text := _some(trace):
                    _write_all(self._write, text)
                if ending:
                    break
        except BrokenPipeError:
            pass  # Said by the one that reads.
        finally:
            os.close(trace)
            os.close(self._write)
        if lost:
            self._say(f"{lost} records were lost: the trace came faster than it could be read")


def _some(trace: int) -> bytes:
    with suppress(BlockingIOError):
        return os.read(trace, _CHUNK)
    return b""


def _write_all(pipe: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _threads(pids: Sequence[int]) -> list[int]:
    """List the threads of processes: each has to be named."""
    return [int(task.name) for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]
