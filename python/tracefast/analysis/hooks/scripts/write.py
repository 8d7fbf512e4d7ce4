"""The script for a tool, by its name."""

from collections.abc import Callable, Sequence
from typing import Final

from tracefast.analysis.hooks.scripts import bcc, bpftrace, libbpf, perf, trace_cmd, tracefs
from tracefast.analysis.hooks.scripts.watched_calls import WatchedCall

WRITERS: Final[dict[str, Callable[[Sequence[WatchedCall]], str]]] = {
    "bpftrace": bpftrace.script,
    "bcc": bcc.script,
    "libbpf": libbpf.script,
    "perf": perf.script,
    "tracefs": tracefs.script,
    "trace-cmd": trace_cmd.script,
}
