"""What to do about an error: hints in terms of the command line.

The library's errors say what is wrong in terms of the library. They know no options of commands.
"""

import errno
from typing import Final

from tracefast.error_hints import HINTS_BY_ERRNO, hint_of

# Where the command line says more than the library, or something else; `hint_of` has the rest.
_INPUT_HINTS: Final[dict[int, str]] = {
    errno.ENOENT: HINTS_BY_ERRNO[errno.ENOENT] + "; patterns and - (standard input) are accepted",
    errno.EEXIST: "to replace it, leave out --no-clobber",
    errno.ENOSPC: HINTS_BY_ERRNO[errno.ENOSPC] + ", or write elsewhere with -o",
    errno.EROFS: "write elsewhere with -o",
}
_OUTPUT_HINTS: Final[dict[int, str]] = _INPUT_HINTS | {
    errno.ENOENT: "create the folder first",
    errno.ENOTDIR: "create the folder first",
    errno.EACCES: "write elsewhere with -o, or change the permissions of the folder",
    errno.EISDIR: "give the name of a file, not of a folder",
}
# What a log without marks needs, where phases are asked for.
NO_PHASE: Final = "no phase: a program marks one by tracefast.mark(NAME), see docs/data-flow.md"
# What a log without durations of calls needs.
RECORD_DURATIONS: Final = "record with strace -T, or both sys_enter and sys_exit with ftrace"
# By `tracefast.Error.kind`. The library's own hint is for those who call it from Python.
_KIND_HINTS: Final[dict[str, str]] = {
    "not_a_log": "to read it anyway, give --format-in strace or --format-in ftrace",
    "columns": "only logs are parsed; other commands, such as tracefast files, read it as it is",
    "damaged_columns": "re-create it from the log: tracefast parse LOG -o FILE.parquet",
}


def command_hint(error: Exception, *, output: bool = False) -> str | None:
    """Give the hint of the command line for an error, or else that of the library.

    Parameters
    ----------
    error
        What was raised.
    output
        Whether an error of the operating system is about the output, not about an input.

    Examples
    --------
    >>> command_hint(OSError(errno.ENOENT, "No such file or directory"), output=True)
    'create the folder first'
    >>> from tracefast import Error
    >>> error = Error("app.parquet: not whole")
    >>> error.hint, error.kind = "write it again from the log", "damaged_columns"
    >>> command_hint(error)
    're-create it from the log: tracefast parse LOG -o FILE.parquet'
    """
    if isinstance(error, OSError) and error.errno is not None:
        hints = _OUTPUT_HINTS if output else _INPUT_HINTS
        return hints.get(error.errno) or hint_of(error)
    return _KIND_HINTS.get(str(getattr(error, "kind", "")), hint_of(error))
