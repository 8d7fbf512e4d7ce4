"""Record with strace: its log goes through a pipe into events, and is in no file."""

import fcntl
import os
import select
import signal
import termios
import time
from array import array
from contextlib import suppress
from threading import Event, Thread
from typing import Final

from tracefast import _core
from tracefast.error_hints import error_with_hint
from tracefast.recording import child
from tracefast.recording.events import write_events
from tracefast.recording.options import strace_options, strace_version
from tracefast.recording.recorder import KeptLog, Recorder, Target

# Bytes of the pipe: what strace may write ahead.
_PIPE: Final = 1 << 20
# So many bytes are worth to be woken for; of fewer, wait for more.
_FEW: Final = 1 << 14
_TOGETHER_S: Final = 0.003
_PATIENCE_S: Final = 0.2
# In so many seconds strace has let go of the processes to which it was attached.
_LETS_GO_S: Final = 5
# The exit code where a signal ended the recording, but not the command.
STILL_RUNS: Final = 128 + signal.SIGINT


def find_strace() -> str:
    """Find strace.

    Raises
    ------
    Error
        It is missing.
    """
    try:
        return child.program("strace")
    except _core.Error as error:
        raise error_with_hint(
            "strace: not found", "install it: apt install strace, dnf install strace"
        ) from error


class StraceRun(Recorder):
    """A run of strace.

    Parameters
    ----------
    target
        What is to be recorded.
    stopped
        The process to attach to that is a program of this process's own, and has not run yet; 0 for
        none.

    Attributes
    ----------
    gone
        Set when strace has ended.
    """

    def __init__(self, target: Target, *, stopped: int = 0) -> None:
        strace = find_strace()
        command, pids = target.command, target.pids
        if command:
            child.program(command[0])
        for pid in pids:
            child.check_attachable(pid)
        options = strace_options(strace_version(strace), target.only)
        options += [word for pid in pids for word in ("-p", str(pid))]
        options += ["-I3"] if stopped else []  # What the terminal sends is for the program.
        log = KeptLog(target.keep_log, target.say)
        self._say, self._stopped = target.say, stopped
        self._attached = bool(pids) and not stopped
        self._asked = self._late = self._code = 0
        self._asked_at = 0.0
        self._begun = Event()
        self._cut = False
        self.gone = Event()
        self._read, write = os.pipe()
        _enlarge(write)
        # strace opens the pipe of this process: the program inherits no descriptor of it.
        output = f"/proc/{os.getpid()}/fd/{write}"
        program = ["--", *command] if command else []
        words = [strace, *options, "-o", output, *program]
        self._pid = child.start(words, ends_with_parent=True)
        Thread(target=self._wait, args=(write,), name="tracefast-strace", daemon=True).start()
        self._read = _copied(self._read, log)

    def _wait(self, write: int) -> None:
        """Wait for strace, and then end the log."""
        process = os.pidfd_open(self._pid)
        said = False
        while not select.select([process], [], [], _PATIENCE_S)[0]:
            if self._attached and self._asked and time.monotonic() - self._asked_at > _LETS_GO_S:
                # It waits for a process in vfork(2) to stop, which cannot do so before its child
                # goes on: and strace has stopped that.
                self._kill()
            if said or self._attached or not self._begun.is_set():
                continue
            # On a busy machine strace itself runs for a while after all that it traced.
            if not self._programs() and child.traced(self._pid):
                said = True
                self._say(
                    "the command has ended; what it started still runs, and is recorded: Ctrl-C "
                    "ends the recording"
                )
        os.close(process)
        self._code = child.exit_code(os.waitpid(self._pid, 0)[1])
        self.gone.set()
        os.close(write)

    def _programs(self) -> list[int]:
        """List the program that strace runs, if it has not ended."""
        if not self._stopped:
            return child.children(self._pid)
        return [pid for pid in child.children(os.getpid()) if pid == self._stopped]

    def receive(self, number: signal.Signals, sent: bool) -> None:
        """Pass a signal on to the program, or to strace where it is attached."""
        if self.gone.is_set():
            # The first one may have been meant for the program.
            self._late += 1
            if self._late > 1:
                raise KeyboardInterrupt
            return
        self._asked += 1
        self._asked_at = time.monotonic()
        targets = [self._pid] if self._attached else self._programs()
        insists = self._asked > 1 and number not in {signal.SIGINT, signal.SIGQUIT}
        if not targets or insists:
            # strace itself takes no signal while it runs a command.
            self._kill()
            return
        if not sent:
            for pid in targets:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def _kill(self) -> None:
        """End strace. What it traced goes on: ptrace(2), "Death under ptrace"."""
        self._cut = True
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def parse(
        self, output: str, *, name: str, clobber: bool, progress: _core.Progress
    ) -> tuple[_core.Report, int]:
        """Turn the log into events until strace ends."""
        try:
            self._await_text()
            report = write_events(
                self._read,
                output,
                "strace",
                name=f"{name}.strace",
                clobber=clobber,
                progress=progress,
            )
        except Exception as error:
            if not self.gone.is_set():
                self._say(child.goes_on(error))
            raise
        finally:
            os.close(self._read)
            self.gone.wait()
        if self._cut and not self._attached:
            return report, _code_in(output)
        return report, self._code

    def _await_text(self) -> None:
        """Wait for the first text; without any, nothing is written."""
        select.select([self._read], [], [])
        # At the end of the log, a pipe is readable, too.
        if _is_empty(self._read):
            self.gone.wait()
            raise child.not_traced(self._code)
        self._begun.set()


def _code_in(output: str) -> int:
    """Give the exit code of the command by its last event: strace was ended, and says nothing."""
    import polars as pl

    from tracefast.scanning.scan import scan

    events = scan(output)
    # The first call is the execve of the command.
    first = events.select("tid").head(1).collect()["tid"].item()
    ends = events.filter(pl.col("kind") == "exit", pl.col("tid") == first)
    last = ends.select("ret").collect()["ret"].drop_nulls().tail(1).to_list()
    return int(last[0]) if last else STILL_RUNS


def _is_empty(pipe: int) -> bool:
    waiting = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return waiting[0] == 0


def _copied(pipe: int, log: KeptLog) -> int:
    """Copy what comes from strace, to a file as well; give a pipe with the same in larger pieces.

    strace writes line by line. Who waits in a read is woken for each (pipe_write in fs/pipe.c),
    and takes the processor from the program; so let some come together.
    """
    read, write = os.pipe()
    _enlarge(write)

    def copy() -> None:
        while chunk := os.read(pipe, _PIPE):
            log.write(chunk)
            # Without a reader, strace would print an error for each line: read on.
            with suppress(BrokenPipeError):
                child.write_all(write, chunk)
            if len(chunk) < _FEW:
                time.sleep(_TOGETHER_S)
        log.close()
        os.close(write)
        os.close(pipe)

    Thread(target=copy, name="tracefast-copy", daemon=True).start()
    return read


def _enlarge(pipe: int) -> None:
    with suppress(OSError):  # It is only faster.
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)
