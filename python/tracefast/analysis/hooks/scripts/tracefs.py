"""A script of the shell that records with tracefs alone: a log that tracefast reads."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall, comment, events

# Births, names and ends of tasks, which say whose calls they are.
TASK_EVENTS: Final = (
    "task:task_newtask",
    "task:task_rename",
    "sched:sched_process_fork",
    "sched:sched_process_exec",
    "sched:sched_process_exit",
)
_HEAD: Final = """\
#!/bin/sh
# Record system calls of a program and of its children with tracefs. Made by tracefast hooks.
#
#   sudo sh FILE LOG COMMAND [ARGUMENT]...    a program, from its start
#   sudo sh FILE LOG -p PID                   a process that runs already, until it ends or Ctrl-C
#
# Then: tracefast syscalls LOG
#
"""
_BODY: Final = """\
# It has a buffer of its own, so other tracing goes on, and nothing remains afterwards.
set -eu

if [ $# -lt 2 ]; then
	echo "usage: sh $0 LOG COMMAND [ARGUMENT]..., or: sh $0 LOG -p PID" >&2
	exit 2
fi
log=$1
shift

tracefs=
for folder in ${TRACEFS:-} /sys/kernel/tracing /sys/kernel/debug/tracing; do
	if [ -e "$folder/available_events" ]; then
		tracefs=$folder
		break
	fi
done
if [ -z "$tracefs" ]; then
	echo "tracefs is not mounted: mount -t tracefs nodev /sys/kernel/tracing" >&2
	exit 1
fi

instance=$tracefs/instances/tracefast-$$
mkdir "$instance"
finish() {
	echo 0 > "$instance/tracing_on"
	echo 0 > "$instance/events/enable"
	rmdir "$instance"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo 0 > "$instance/tracing_on"
echo "${BUFFER_KB:-16384}" > "$instance/buffer_size_kb"   # for each processor
echo tai > "$instance/trace_clock"
echo 1 > "$instance/options/record-tgid"
echo 1 > "$instance/options/event-fork"
while IFS=: read -r system event; do
	echo 1 > "$instance/events/$system/$event/enable"
done <<'END'
"""
_TAIL: Final = """\
END

if [ "$1" = -p ]; then
	# Its threads, too.
	for task in /proc/"$2"/task/*; do
		echo "${task##*/}" >> "$instance/set_event_pid"
	done
	trap : INT
	echo 1 > "$instance/tracing_on"
	echo "recording; Ctrl-C ends it" >&2
	while [ -e "/proc/$2" ] && sleep 0.2; do :; done
else
	# The shell is traced, then it becomes the program.
	sh -c 'echo $$ > "$0/set_event_pid"; echo 1 > "$0/tracing_on"; exec "$@"' "$instance" "$@" ||
		echo "the command ended with $?" >&2
fi
echo 0 > "$instance/tracing_on"
cat "$instance/trace" > "$log"
# Anything but 0 is missing at the start of the log: set BUFFER_KB to more.
grep -h overrun "$instance"/per_cpu/cpu*/stats | grep -v ': 0$' >&2 || :
"""


def script(calls: Sequence[WatchedCall]) -> str:
    """Write the script.

    Examples
    --------
    >>> text = script([WatchedCall("exit_group", "exit_group", False, False)])
    >>> "syscalls:sys_enter_exit_group" in text, "sys_exit_exit_group" in text
    (True, False)
    """
    lines = "".join(f"{event}\n" for event in (*events(calls), *TASK_EVENTS))
    return _HEAD + comment(calls, "#") + _BODY + lines + _TAIL
