"""A script for bpftrace: counts, errors, bytes and times in the kernel, printed at the end."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall, comment

# For bpftrace from 0.17 on: before 0.19 `args.x` is an error, and from 0.24 on the keys of a map
# have to be of one type (its CHANGELOG), so ids are cast.
_HEAD: Final = """\
#!/usr/bin/env bpftrace
// Watch system calls of a process and of its children. Made by tracefast hooks.
//
//   sudo bpftrace FILE PID        a process that runs already; Ctrl-C prints what was found
//
// From its start: stop the program before it starts, and let it go when the script watches.
//
//   sh -c 'kill -STOP $$; exec ./app' &
//   sudo bpftrace FILE $! & sleep 5; kill -CONT %1; wait
//
"""
_BODY: Final = """\
// @calls, @errors (by number: errno -l lists them), @bytes, @us (how long, in microseconds), and
// @ns_by_task. Calls are counted when they start; one that never ends has no time.

BEGIN
{
	if ($1 == 0) {
		printf("give the id of a process\\n");
		exit();
	}
	@traced[(uint64)$1] = 1;
	printf("watching %d\\n", $1);
}

// Children are traced from birth, threads too.
tracepoint:sched:sched_process_fork
/@traced[(uint64)tid] || pid == $1/
{
	@traced[(uint64)args->child_pid] = 1;
}

// A thread that starts another program gets the id of its process.
tracepoint:sched:sched_process_exec
/@traced[(uint64)args->old_pid]/
{
	@traced[(uint64)tid] = 1;
}

tracepoint:sched:sched_process_exit
/@traced[(uint64)tid]/
{
	delete(@traced[(uint64)tid]);
	delete(@start[(uint64)tid]);
	if (tid == $1) {
		exit();
	}
}

END
{
	clear(@traced);
	clear(@start);
}
"""


def script(calls: Sequence[WatchedCall]) -> str:
    """Write the script.

    Examples
    --------
    >>> text = script([WatchedCall("fstat", "newfstat", True, False)])
    >>> "tracepoint:syscalls:sys_enter_newfstat" in text, '@calls["fstat"] = count();' in text
    (True, True)
    """
    return _HEAD + comment(calls, "//") + _BODY + "".join(map(_probes, calls))


def _probes(call: WatchedCall) -> str:
    lines = [
        "",
        f"tracepoint:{call.enter}",
        "/@traced[(uint64)tid] || pid == $1/",
        "{",
        f'\t@calls["{call.name}"] = count();',
    ]
    if not call.returns:
        return "\n".join([*lines, "}", ""])
    lines += [
        "\t@start[(uint64)tid] = nsecs;",
        "}",
        "",
        f"tracepoint:{call.exit}",
        "/@start[(uint64)tid]/",
        "{",
        "\t$ns = nsecs - @start[(uint64)tid];",
        "\tdelete(@start[(uint64)tid]);",
        f'\t@us["{call.name}"] = hist($ns / 1000);',
        "\t@ns_by_task[comm, tid] = sum($ns);",
        "\tif (args->ret < 0) {",
        f'\t\t@errors["{call.name}", -args->ret] = count();',
    ]
    if call.moves:
        lines += ["\t} else {", f'\t\t@bytes["{call.name}"] = sum(args->ret);']
    return "\n".join([*lines, "\t}", "}", ""])
