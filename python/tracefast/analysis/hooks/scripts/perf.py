"""A script of the shell that records with perf, and sums up what it recorded with awk."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall, comment, events

_HEAD: Final = """\
#!/bin/sh
# Watch system calls of a program and of its children with perf. Made by tracefast hooks.
#
#   sudo sh FILE COMMAND [ARGUMENT]...    a program, from its start
#   sudo sh FILE -p PID                   a process that runs already, until Ctrl-C
#
"""
_BODY: Final = """\
# Prints calls, errors by number, bytes, times by call and by task. perf.data stays for
# perf script and perf report.
set -eu

if [ $# -lt 1 ]; then
	echo "usage: sh $0 COMMAND [ARGUMENT]..., or: sh $0 -p PID" >&2
	exit 2
fi
[ "$1" = -p ] || set -- -- "$@"
trap : INT
perf record -q -o perf.data \\
"""
_REPORT: Final = """\
	"$@" || echo "perf record ended with $?" >&2
perf script -i perf.data -F tid,time,event,trace | LC_ALL=C awk -v names='"""
# perf prints results of calls as hexadecimal numbers of 64 bits. mawk and busybox cannot read
# these, and awk's numbers have 53 bits.
_AWK: Final = """\
' '
function value(text,    at, sum) {
	if (text !~ /^0x/)
		return text + 0
	if (length(text) == 18 && text ~ /^0xf/) {
		# Negative, and no errno is above 4095.
		return value("0x" substr(text, 16)) - 4096
	}
	for (at = 3; at <= length(text); at++)
		sum = 16 * sum + index("0123456789abcdef", substr(text, at, 1)) - 1
	return sum
}
BEGIN {
	count = split(names, list, " ")
	for (at = 1; at <= count; at++) {
		split(list[at], part, "=")
		name[part[1]] = part[2]
		order[at] = part[2]
		if (part[3])
			moves[part[2]] = 1
	}
}
{
	tid = $1
	time = $2 + 0
	split($3, part, ":")
	event = part[2]
}
event ~ /^sys_enter_/ {
	call = name[substr(event, 11)]
	calls[call]++
	start[tid] = time
	running[tid] = call
}
event ~ /^sys_exit_/ {
	call = name[substr(event, 10)]
	if (running[tid] != call)
		next
	delete running[tid]
	us = (time - start[tid]) * 1000000
	total[call] += us
	task[tid] += us
	for (bin = 0; us >= 2 ^ bin; bin++)
		;
	times[call, bin]++
	if (bin > last[call])
		last[call] = bin
	result = value($4)
	if (result < 0)
		errors[call, -result]++
	else if (moves[call])
		bytes[call] += result
}
END {
	print "call calls total_us bytes"
	for (at = 1; at <= count; at++) {
		call = order[at]
		if (calls[call]) {
			moved = call in bytes ? bytes[call] : "-"
			printf "%s %d %.0f %s\\n", call, calls[call], total[call], moved
		}
	}
	print "\\ncall errno errors"
	for (key in errors) {
		split(key, part, SUBSEP)
		print part[1], part[2], errors[key]
	}
	print "\\ncall below_us calls"
	for (at = 1; at <= count; at++) {
		call = order[at]
		for (bin = 0; bin <= last[call]; bin++)
			if (times[call, bin])
				print call, 2 ^ bin, times[call, bin]
	}
	print "\\ntask us"
	for (tid in task)
		printf "%s %.0f\\n", tid, task[tid]
}
'
"""


def script(calls: Sequence[WatchedCall]) -> str:
    """Write the script.

    Examples
    --------
    >>> "-e syscalls:sys_exit_read" in script([WatchedCall("read", "read", True, True)])
    True
    """
    lines = "".join(f"\t-e {event} \\\n" for event in events(calls))
    names = " ".join(f"{call.tracepoint}={call.name}={int(call.moves)}" for call in calls)
    return _HEAD + comment(calls, "#") + _BODY + lines + _REPORT + names + _AWK
