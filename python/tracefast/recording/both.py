"""Record with strace and the kernel's tracefs at the same time, and join what both show."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from tracefast import _core
from tracefast.outputs import move_to, temporary_folder
from tracefast.recording import child
from tracefast.recording.kernel import KernelTrace
from tracefast.recording.recorder import Recorder, Target
from tracefast.recording.strace import STILL_RUNS, StraceRun, find_strace

_PATIENCE_S: Final = 0.01


class BothRun(Recorder):
    """A run of a program that strace and the kernel trace.

    Parameters
    ----------
    target
        What is to be recorded.
    """

    def __init__(self, target: Target) -> None:
        find_strace()
        command, pids, log = target.command, target.pids, target.keep_log
        if command:
            child.program(command[0])
        for pid in pids:
            child.check_attachable(pid)
        self._say = target.say
        kernel_log = None if log is None else str(Path(log).with_suffix(".ftrace"))
        self._trace = KernelTrace(target.say, kernel_log)
        with self._trace.closed_on_error():
            self._command = child.start_stopped(command) if command else 0
            attached = [self._command] if command else list(pids)
            with child.ended_on_error(self._command):
                attach = replace(target, command=(), pids=attached)
                self._strace = StraceRun(attach, stopped=self._command)
                self._tasks = child.threads(attached)

    def receive(self, number: signal.Signals, sent: bool) -> None:
        """Pass a signal on, as for a run of strace."""
        self._strace.receive(number, sent)

    def parse(
        self, output: str, *, name: str, clobber: bool, progress: _core.Progress
    ) -> tuple[_core.Report, int]:
        """Turn both logs into events until strace ends, and join them."""
        try:
            with temporary_folder(output) as folder, ThreadPoolExecutor(1) as kernel:
                strace, ftrace = folder / "strace.parquet", folder / "ftrace.parquet"
                try:
                    with child.ended_on_error(self._command):
                        self._trace.start(self._tasks)
                    written = kernel.submit(
                        self._trace.write_events,
                        str(ftrace), name=name, clobber=True, progress=_core.Progress(),
                    )  # fmt: skip
                    self._continue()
                    report, _ = self._strace.parse(
                        str(strace), name=name, clobber=True, progress=progress
                    )
                finally:
                    self._trace.ended.set()
                written.result()
                self._join(strace, ftrace, output, clobber=clobber)
        except OSError as error:
            # Not the files that nobody sees.
            error.filename = output
            raise
        finally:
            self._trace.close()
        return report, self._code()

    def _continue(self) -> None:
        """Let the program run as soon as strace is there; end it if strace never is."""
        traced = bool(self._command)
        while traced and not child.tracer(self._command):
            traced = not self._strace.gone.wait(_PATIENCE_S)
        if self._command:
            os.kill(self._command, signal.SIGCONT if traced else signal.SIGKILL)

    def _join(self, strace: Path, ftrace: Path, output: str, *, clobber: bool) -> None:
        """Join the logs; if they do not match, keep what strace has shown."""
        from tracefast.analysis.join.write import write_joined

        try:
            self.joined = write_joined(
                str(strace), str(ftrace), output, clobber=clobber, recorded=self._trace.recorded
            )
        except _core.Error as error:
            self._say(f"{error}: the output has strace's events only")
            move_to(strace, Path(output), clobber=clobber)

    def _code(self) -> int:
        """Give the exit code of the program, which may still run if it was asked to end."""
        if not self._command:
            return 0
        pid, status = os.waitpid(self._command, os.WNOHANG)
        return child.exit_code(status) if pid else STILL_RUNS
