"""A script of the shell that records with trace-cmd: a log that tracefast reads."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.hooks.scripts.tracefs import TASK_EVENTS
from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall, comment, events

_HEAD: Final = """\
#!/bin/sh
# Record system calls of a program and of its children with trace-cmd. Made by tracefast hooks.
#
#   sudo sh FILE LOG COMMAND [ARGUMENT]...    a program, from its start
#   sudo sh FILE LOG -p PID                   a process that runs already, until Ctrl-C
#
# Then: tracefast syscalls LOG
#
"""
_BODY: Final = """\
set -eu

if [ $# -lt 2 ]; then
	echo "usage: sh $0 LOG COMMAND [ARGUMENT]..., or: sh $0 LOG -p PID" >&2
	exit 2
fi
log=$1
shift

# -c: children too; -F: only this command; -P: only this process.
if [ "$1" = -p ]; then
	set -- -P "$2"
else
	set -- -F "$@"
fi
trap 'rm -f "$log.dat" "$log.dat".cpu*' EXIT
trap : INT
trace-cmd record -q -o "$log.dat" -C tai -c \\
"""
_TAIL: Final = """\
	"$@" >&2
trace-cmd report -t -i "$log.dat" > "$log"
"""


def script(calls: Sequence[WatchedCall]) -> str:
    """Write the script.

    Examples
    --------
    >>> "-e syscalls:sys_enter_read" in script([WatchedCall("read", "read", True, True)])
    True
    """
    lines = "".join(f"\t-e {event} \\\n" for event in (*events(calls), *TASK_EVENTS))
    return _HEAD + comment(calls, "#") + _BODY + lines + _TAIL
