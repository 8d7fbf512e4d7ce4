"""The program that is recorded: it has the terminal and gets the signals, as without a recorder."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Final

from tracefast._core import Error
from tracefast.error_hints import error_with_hint

# What Python ignores, and a program does not expect to be ignored.
_DEFAULT: Final = (signal.SIGPIPE, signal.SIGXFSZ)
# What a terminal sends to all processes in the foreground.
_OF_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT)
# Which processes may be traced: Documentation/admin-guide/LSM/Yama.rst.
_SCOPE: Final = Path("/proc/sys/kernel/yama/ptrace_scope")
_PASSED_ON: Final = (*_OF_TERMINAL, signal.SIGTERM, signal.SIGHUP)
# Stops before it becomes the program, so that this is traced from its first call.
_STOPPED: Final = 'kill -STOP $$; exec "$@"'


def program(name: str) -> str:
    """Find a program, as a shell does.

    Raises
    ------
    Error
        The program was not found, or cannot be executed.

    Examples
    --------
    >>> program("sh").endswith("/sh")
    True
    """
    found = shutil.which(name)
    if found is not None:
        return found
    if "/" in name and Path(name).exists():
        raise error_with_hint(f"{name}: cannot be executed", f"chmod +x {name}")
    raise error_with_hint(f"{name}: no such command", "check its name, and PATH")


def start(argv: Sequence[str], *, ends_with_parent: bool = False) -> int:
    """Start a program with the usual signals; give its process id.

    It inherits no descriptor that Python has opened.

    Parameters
    ----------
    argv
        The program and its arguments.
    ends_with_parent
        It is killed when this process is, where the system can do that.
    """
    words = [*(_killed_with_parent() if ends_with_parent else ()), *argv]
    return os.posix_spawn(words[0], words, os.environ, setsigmask=(), setsigdef=_DEFAULT)


def start_stopped(command: Sequence[str]) -> int:
    """Start a program that runs from ``SIGCONT`` on; give its process id."""
    pid = start([program("sh"), "-c", _STOPPED, "sh", *command])
    os.waitpid(pid, os.WUNTRACED)
    return pid


@contextmanager
def ended_on_error(pid: int) -> Iterator[None]:
    """End a program that has not run yet if the block fails; 0 for none."""
    try:
        yield
    except BaseException:
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise


def _killed_with_parent() -> list[str]:
    """Give the start of a command that ends when this process is killed, where that is known.

    Without a reader, strace would print an error for each call, between the program's own lines.
    """
    setpriv = shutil.which("setpriv")
    words = [setpriv or "", "--pdeathsig", "KILL", "--"]
    # That of busybox has no such option.
    works = setpriv and subprocess.run([*words, "true"], capture_output=True, check=False)  # noqa: S603
    return words if works and works.returncode == 0 else []


def children(parent: int) -> list[int]:
    """List the processes that a process has started, and that run."""
    return [pid for pid, of in _running() if of == parent]


def traced(by: int) -> list[int]:
    """List the processes that a process traces, and that run."""
    found = []
    for pid, _ in _running():
        with suppress(OSError):
            if tracer(pid) == by:
                found.append(pid)
    return found


def _running() -> Iterator[tuple[int, int]]:
    """Give each process that has not ended, and its parent."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError, ValueError, IndexError):
                # After the name, which is in parentheses and may hold anything: proc(5).
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                if fields[0] != b"Z":
                    yield int(entry.name), int(fields[1])


def threads(pids: Sequence[int]) -> list[int]:
    """List the threads of processes."""
    return [int(task.name) for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]


def write_all(pipe: int, data: bytes) -> None:
    """Write all bytes to a pipe, which may take them in parts."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def exit_code(status: int) -> int:
    """Give the exit code of what `os.waitpid` says, as a shell does.

    Examples
    --------
    >>> exit_code(7 << 8), exit_code(signal.SIGTERM)
    (7, 143)
    """
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


@contextmanager
def signals_held() -> Iterator[list[int]]:
    """Hold signals that ask to end until `signals_to` takes them, or to the end; give those held.

    The program may run, and somebody ask it to end, before there is a function for them. To block
    them would not do: the kernel gives them to any other thread that waits for them, signal(7).
    """
    held: list[int] = []
    with _handled(lambda number, _frame: held.append(number)):
        yield held
    for number in held:
        os.kill(os.getpid(), number)


@contextmanager
def signals_to(receive: Callable[[signal.Signals, bool], None], held: list[int]) -> Iterator[None]:
    """Pass signals that ask to end to a function, if this is the thread that gets them.

    The function also gets whether the program has got the signal from the terminal already.

    Parameters
    ----------
    receive
        The function.
    held
        Signals that have come before, which it gets first.
    """

    def handle(number: int, _frame: FrameType | None) -> None:
        receive(signal.Signals(number), number in _OF_TERMINAL and _in_foreground())

    with _handled(handle):
        while held:
            handle(held.pop(0), None)
        yield


@contextmanager
def _handled(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Give signals that ask to end to a function, in the thread that Python gives them to."""
    if current_thread() is not main_thread():
        yield
        return
    # What is ignored stays so, as below `nohup`.
    taken = [one for one in _PASSED_ON if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, handle) for one in taken}
    # The command line has blocked some, and waits for them in another thread.
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, taken)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for one, handler in before.items():
            signal.signal(one, handler)


def _in_foreground() -> bool:
    """Say whether a terminal sends its signals to this process, and so to what it started."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def tracer(pid: int) -> int:
    """Give the process that traces another one; 0 for none.

    Raises
    ------
    OSError
        There is no such process.
    """
    status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    return next((int(line.split()[1]) for line in status.splitlines() if "TracerPid" in line), 0)


def check_attachable(pid: int) -> None:
    """Refuse a process that cannot be traced, before anything is started.

    Raises
    ------
    Error
        There is no such process, or another one traces it.
    """
    try:
        other = tracer(pid)
    except OSError as error:
        raise error_with_hint(f"-p {pid}: no such process", "ps -e lists processes") from error
    if other:
        raise error_with_hint(
            f"-p {pid}: process {other} traces it already", f"end that one first: kill {other}"
        )


def goes_on(error: Exception) -> str:
    """Say that a program runs on, whose output cannot be written; the error itself comes later."""
    why = getattr(error, "strerror", None) or error
    return f"{why}: the command goes on, and is not recorded"


def not_traced(code: int) -> Error:
    """Make the error for a run of which strace has written nothing, by what forbids to trace."""
    what = f"strace has recorded nothing, and ended with exit code {code}"
    with suppress(OSError, ValueError):
        if int(_SCOPE.read_text()) > 0 and os.geteuid() != 0:
            return error_with_hint(
                f"{what}: {_SCOPE} forbids to trace other processes",
                f"run it as root, or allow it: echo 0 | sudo tee {_SCOPE}",
            )
    return error_with_hint(
        what,
        "its message is above; in a container, tracing needs --cap-add SYS_PTRACE; a process of "
        "another user needs root",
    )
