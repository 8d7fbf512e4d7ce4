"""A program for bcc: Python that loads C into the kernel, and prints at the end."""

from collections.abc import Sequence
from typing import Final

from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall, comment

_HEAD: Final = """\
#!/usr/bin/env python3
# Watch system calls of a process and of its children with bcc. Made by tracefast hooks.
#
#   sudo python3 FILE PID        until the process ends, or Ctrl-C
#
"""
_PROGRAM: Final = '''\
import errno
import os
import sys
import time

from bcc import BPF

PROGRAM = r"""
// bcc declares the arguments of each call, with their types.
#include <linux/syscalls.h>

struct failed {
    u32 call;
    u32 error;
};
struct bin {
    u32 call;
    u64 slot;
};

BPF_HASH(traced, u32, u8);
BPF_HASH(start, u32, u64);
BPF_HASH(calls, u32, u64);
BPF_HASH(bytes, u32, u64);
BPF_HASH(errors, struct failed, u64);
BPF_HASH(task_ns, u32, u64);
BPF_HISTOGRAM(us, struct bin);

static int follows(void)
{
    u64 id = bpf_get_current_pid_tgid();
    u32 tid = id;

    return id >> 32 == ROOT || traced.lookup(&tid) != NULL;
}

static void enter(u32 call)
{
    u32 tid = bpf_get_current_pid_tgid();
    u64 now = bpf_ktime_get_ns();

    calls.increment(call);
    start.update(&tid, &now);
}

static void leave(u32 call, long ret, int moves)
{
    u32 tid = bpf_get_current_pid_tgid();
    u64 *begun = start.lookup(&tid);
    struct failed failed = { .call = call, .error = -ret };
    struct bin bin = { .call = call };
    u64 ns;

    if (begun == NULL)
        return;
    ns = bpf_ktime_get_ns() - *begun;
    start.delete(&tid);
    bin.slot = bpf_log2l(ns / 1000);
    us.increment(bin);
    task_ns.increment(tid, ns);
    if (ret < 0)
        errors.increment(failed);
    else if (moves)
        bytes.increment(call, ret);
}

TRACEPOINT_PROBE(sched, sched_process_fork)
{
    u32 child = args->child_pid;
    u8 yes = 1;

    if (follows())
        traced.update(&child, &yes);
    return 0;
}

// A thread that starts another program gets the id of its process.
TRACEPOINT_PROBE(sched, sched_process_exec)
{
    u32 before = args->old_pid;
    u32 tid = bpf_get_current_pid_tgid();
    u8 yes = 1;

    if (traced.lookup(&before) != NULL)
        traced.update(&tid, &yes);
    return 0;
}

TRACEPOINT_PROBE(sched, sched_process_exit)
{
    u32 tid = bpf_get_current_pid_tgid();

    traced.delete(&tid);
    start.delete(&tid);
    return 0;
}
'''
# Where the program in C ends.
_NAMES: Final = '"""\nNAMES = [\n'
_TAIL: Final = '''\

if len(sys.argv) != 2 or not sys.argv[1].isdecimal():
    sys.exit(f"usage: {sys.argv[0]} PID")
root = int(sys.argv[1])
bpf = BPF(text=PROGRAM.replace("ROOT", str(root)))
print(f"watching {root}", file=sys.stderr)
try:
    while os.path.exists(f"/proc/{root}"):
        time.sleep(0.2)
except KeyboardInterrupt:
    pass


def table(name):
    """Give a map of the kernel, most first."""
    pairs = ((key, value.value) for key, value in bpf[name].items())
    return sorted(pairs, key=lambda pair: -pair[1])


moved = {key.value: value for key, value in table("bytes")}
print("call calls bytes")
for key, count in table("calls"):
    print(NAMES[key.value], count, moved.get(key.value, "-"))
print("\\ncall errno errors")
for key, count in table("errors"):
    print(NAMES[key.call], errno.errorcode.get(key.error, key.error), count)
print("\\ntask ns")
for key, ns in table("task_ns"):
    print(key.value, ns)
bpf["us"].print_log2_hist("us", "call", section_print_fn=NAMES.__getitem__)
'''


def script(calls: Sequence[WatchedCall]) -> str:
    """Write the program.

    Examples
    --------
    >>> text = script([WatchedCall("fstat", "newfstat", True, False)])
    >>> _ = compile(text, "watch.py", "exec")
    >>> "TRACEPOINT_PROBE(syscalls, sys_exit_newfstat)" in text
    True
    """
    probes = "".join(_probes(number, call) for number, call in enumerate(calls))
    names = "".join(f'    "{call.name}",\n' for call in calls)
    return f"{_HEAD}{comment(calls, '#')}{_PROGRAM}{probes}{_NAMES}{names}]\n{_TAIL}"


def _probes(number: int, call: WatchedCall) -> str:
    text = (
        f"\nTRACEPOINT_PROBE(syscalls, sys_enter_{call.tracepoint})\n"
        f"{{\n    if (follows())\n        enter({number});\n    return 0;\n}}\n"
    )
    if not call.returns:
        return text
    return text + (
        f"\nTRACEPOINT_PROBE(syscalls, sys_exit_{call.tracepoint})\n"
        f"{{\n    leave({number}, args->ret, {int(call.moves)});\n    return 0;\n}}\n"
    )
