"""`tracefast.record`: run a program, and turn what it does into events."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from tracefast import _core
from tracefast.analysis.join.report import JoinReport
from tracefast.arguments import check_choice, path_text
from tracefast.inputs.sources import Source
from tracefast.outputs import exists, sink_of
from tracefast.recording import child
from tracefast.recording.both import BothRun
from tracefast.recording.kernel import KernelRun
from tracefast.recording.options import Only
from tracefast.recording.recorder import Recorder, Say, Target
from tracefast.recording.strace import StraceRun


@dataclass(frozen=True)
class Recording:
    """What was recorded.

    Attributes
    ----------
    output
        The file of events.
    report
        What was read, as of `tracefast.parse`.
    exit_code
        That of the command; 128 and the number of the signal that ended it.
    joined
        Of a run with ``both=True``: how well the logs match; None where they did not.
    """

    output: str
    report: _core.Report
    exit_code: int
    joined: JoinReport | None = None


def record(
    command: Sequence[str],
    output: Source,
    *,
    pids: Sequence[int] = (),
    only: Only | None = None,
    kernel: bool = False,
    both: bool = False,
    keep_log: Source | None = None,
    clobber: bool = True,
    progress: _core.Progress | None = None,
    say: Say = lambda _: None,
) -> Recording:
    """Run a program below strace, with the options that the tables need, straight into events.

    The program has the terminal, the input and the outputs of this process. Signals that ask this
    process to end go to the program, if this is the main thread. The log is in no file.

    Parameters
    ----------
    command
        The program and its arguments; empty to attach to processes that run.
    output
        The file to write: ``.parquet``, or ``.arrow``, ``.feather``, ``.ipc``. It appears when the
        program has ended, whole or not at all.
    pids
        Processes to attach to, and their threads and future children.
    only
        Record only what ``"files"``, ``"processes"`` or ``"waits"`` need: other calls are not
        slowed down (strace 5.3).
    kernel
        Record with the kernel's tracefs instead of strace: it slows calls down far less, and shows
        the page cache, devices and the scheduler. It needs root, and ends with the program.
    both
        Record with strace and with the kernel, and join what both show, as
        :func:`tracefast.join` does. The output is Parquet; it needs root.
    keep_log
        A file for the text of the tracer, too. With `both` it is for strace's, and the kernel's is
        beside it, with the suffix ``.ftrace``.
    clobber
        Replace an output that exists.
    progress
        Counters to poll from another thread.
    say
        Called with a text about what happens while the program runs.

    Returns
    -------
    Recording
        The report, and the exit code of the program.

    Raises
    ------
    Error
        strace or the program is missing, or strace could not trace it; ``hint`` says what to do.
    OSError
        The output cannot be written.
    ValueError
        The suffix of `output` is not known; there is neither a command nor a process, or both.

    Examples
    --------
    >>> import tracefast as tf
    >>> recording = tf.record(["cat", "/etc/hostname"], "cat.parquet")  # doctest: +SKIP
    >>> recording.exit_code  # doctest: +SKIP
    0
    >>> tf.files(tf.scan("cat.parquet")).select("path", "read_bytes")  # doctest: +SKIP
    """
    check_choice("only", only, get_args(Only))
    file = path_text("output", output)
    if sink_of(file) is None or file == "-":
        raise ValueError(f"{file}: unknown suffix; use .parquet, .arrow, .feather or .ipc")
    if bool(command) == bool(pids):
        raise ValueError("record needs a command, or processes to attach to, and not both")
    _check_output(file, clobber=clobber)
    log = None if keep_log is None else path_text("keep_log", keep_log)
    if (kernel and both) or ((kernel or both) and only):
        raise ValueError("kernel, both and only exclude each other")
    if both and log is not None and Path(log).suffix == ".ftrace":
        raise ValueError(f"{log}: this is the name of the kernel's text; use .strace")
    if both and sink_of(file) != "parquet":
        raise ValueError(f"{file}: joined events are Parquet; name it FILE.parquet")
    counters = _core.Progress() if progress is None else progress
    target = Target(command, pids, only, log, say)
    recorder = KernelRun if kernel else BothRun if both else StraceRun
    with child.signals_held() as held:
        run: Recorder = recorder(target)
        with child.signals_to(run.receive, held):
            report, code = run.parse(file, name=Path(file).stem, clobber=clobber, progress=counters)
    return Recording(file, report, 0 if pids else code, run.joined)


def _check_output(output: str, *, clobber: bool) -> None:
    """Refuse an output that cannot be written, before the program runs."""
    path = Path(output)
    if path.exists() and not clobber:
        raise exists(output)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), output)
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), output)
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), output)
