"""Name the parts of a run, so that its log shows them: in the program that is traced.

A mark looks up a path that does not exist, which strace shows, and writes the same text to the
kernel's trace_marker where the program may, which ftrace shows. It takes about a microsecond, and
does nothing else. This module imports nothing but what Python itself has loaded.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

# Where tracefs is mounted: Documentation/trace/ftrace.rst.
_MARKERS = ("/sys/kernel/tracing/trace_marker", "/sys/kernel/debug/tracing/trace_marker")
# The descriptor of trace_marker, and which file it is; empty if the program may not write there.
# None before the first mark.
_marker: "tuple[int, int, int] | tuple[()] | None" = None


def mark(name: str) -> None:
    """Begin the phase `name` of this process, and end the one that the last mark began.

    Its children are in the same phase, unless they mark their own.

    Parameters
    ----------
    name
        The name, as `tracefast.phases` will show it.

    Raises
    ------
    TypeError
        The name is not text.
    ValueError
        It is empty, or has a null byte in it.

    Examples
    --------
    >>> import tracefast as tf
    >>> tf.mark("load")
    >>> tf.mark("train")
    """
    _look("phase", name)


class phase:  # noqa: N801 - it is called like a function
    """A phase within another one: from the start of a ``with`` block to its end.

    In a loop, each block is a phase of its own.

    Parameters
    ----------
    name
        The name, as `tracefast.phases` will show it.

    Raises
    ------
    TypeError
        The name is not text.
    ValueError
        It is empty, or has a null byte in it.

    Examples
    --------
    >>> import tracefast as tf
    >>> with tf.phase("epoch"):
    ...     with tf.phase("load"):
    ...         pass
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        _look("begin", self.name)

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        traceback: "TracebackType | None",
    ) -> None:
        _look("end", self.name)


def _look(verb: str, name: str) -> None:
    global _marker  # noqa: PLW0603 - it is opened once
    if not isinstance(name, str):
        raise TypeError(f"the name of a phase must be text, got {name!r}")
    if not name:
        raise ValueError("the name of a phase must not be empty")
    path = f"/tracefast/{verb}/{name}"
    os.access(path, os.F_OK)
    if _marker is None:
        _marker = _open_marker()
    if _marker:
        descriptor, device, inode = _marker
        try:
            # A program that closes all its descriptors may have another file there by now.
            found = os.fstat(descriptor)
            if (found.st_dev, found.st_ino) == (device, inode):
                os.write(descriptor, path.encode(errors="surrogateescape"))
        except OSError:
            # The kernel does not trace at the moment.
            return


def _open_marker() -> "tuple[int, int, int] | tuple[()]":
    for path in _MARKERS:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        except OSError:
            continue
        found = os.fstat(descriptor)
        return descriptor, found.st_dev, found.st_ino
    return ()
