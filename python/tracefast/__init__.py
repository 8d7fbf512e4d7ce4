"""Parse strace and ftrace logs into Arrow at disk speed, and answer questions about them.

A log is parsed once, without loss, into one fixed schema; everything else is a polars query.

`parse`, `read`, `scan`
    Read logs into a file, a stream of Arrow batches, or a LazyFrame of events; `schema` gives the
    columns.
`files`, `accesses`, `covered_bytes`
    Which files were used and how; the accesses to one file; how much of it they cover.
`forks`, `fork_summary`, `fork_advice`, `processes`, `memory`
    Which processes were started, what that cost, and what to change; how each process ended; how
    much memory it had.
`syscalls`, `errors`, `events`, `fields`, `hooks`
    Which calls took the time; which failed; which events there are; the typed fields of one event;
    where the kernel lets one watch each call.
`insights`
    What is worth a change, in the program or in how it was recorded: finding, evidence, advice.
`waits`, `stuck`, `wait_graph`
    Who waited for whom, and how long; who can never go on, and what proves it.
`workers`, `pools`, `batches`, `shared_reads`
    Which processes work for others, what starting them cost; what each of their results was waited
    for; what several of them read, each for itself.
`flow`, `roles`, `phases`
    Which data went where; what each file was for; the parts of the run that the program named.
`diff`, `check`
    What differs between runs, and how sure that is; which logs break which limits.
`report`
    All of this as one page, which loads nothing and shows itself in a notebook.
`export`
    A timeline or a flame graph for other tools: Perfetto, Chrome, flamegraph.pl, speedscope.
`mark`, `phase`
    Name parts of a run, in the program that is traced.
`plot`
    Charts of these: `tf.plot.offsets`, `timeline`, `sizes`, `latency` and others.
`page_cache`, `blocks`
    What the page cache and block devices did, from ftrace.

Each takes events and returns a LazyFrame; ``help(tracefast.files)`` describes its columns.

>>> import tracefast as tf
>>> report = tf.parse("demo.strace", "demo.parquet")
>>> report.lines == sum(report.accounting.values())
True
>>> events = tf.scan("demo.parquet")  # or tf.scan("demo.strace")
>>> tf.files(events).select("path", "reads", "read_bytes").head(1).collect().rows()
[('/srv/demo/data.bin', 2, 4096)]

Importing this module takes a millisecond: the rest is imported by what needs it first.
"""

import importlib

from tracefast.marks import mark, phase

# As `typing.TYPE_CHECKING`, without the time that importing `typing` takes.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from tracefast import plot
    from tracefast._core import (
        Batch,
        Error,
        Progress,
        Reader,
        Report,
        Schema,
        __version__,
        schema,
    )
    from tracefast.analysis.blocks import blocks
    from tracefast.analysis.compare.check import check
    from tracefast.analysis.compare.diff import diff
    from tracefast.analysis.errors.table import errors
    from tracefast.analysis.events import events
    from tracefast.analysis.fields import fields
    from tracefast.analysis.files.accesses import accesses
    from tracefast.analysis.files.covered_bytes import covered_bytes
    from tracefast.analysis.files.page_cache import page_cache
    from tracefast.analysis.files.table import files
    from tracefast.analysis.flow.edges import flow
    from tracefast.analysis.flow.phases import phases
    from tracefast.analysis.flow.roles import roles
    from tracefast.analysis.forks.summary import fork_advice, fork_summary
    from tracefast.analysis.forks.table import forks
    from tracefast.analysis.hooks.table import hooks
    from tracefast.analysis.insights.table import insights
    from tracefast.analysis.join.report import JoinReport
    from tracefast.analysis.join.table import join
    from tracefast.analysis.memory import memory
    from tracefast.analysis.processes import processes
    from tracefast.analysis.syscalls import syscalls
    from tracefast.analysis.waits.pairs import wait_graph
    from tracefast.analysis.waits.table import stuck, waits
    from tracefast.analysis.workers.batches import batches
    from tracefast.analysis.workers.pools import pools
    from tracefast.analysis.workers.shared_reads import shared_reads
    from tracefast.analysis.workers.table import workers
    from tracefast.batch.parse_many import parse_many
    from tracefast.exporting import Exported, export
    from tracefast.page.report import report
    from tracefast.reading import parse, read
    from tracefast.recording.run import record
    from tracefast.scanning.scan import scan

__all__ = [
    "Batch",
    "Error",
    "Exported",
    "JoinReport",
    "Progress",
    "Reader",
    "Report",
    "Schema",
    "__version__",
    "accesses",
    "batches",
    "blocks",
    "check",
    "covered_bytes",
    "diff",
    "errors",
    "events",
    "export",
    "fields",
    "files",
    "flow",
    "fork_advice",
    "fork_summary",
    "forks",
    "hooks",
    "insights",
    "join",
    "mark",
    "memory",
    "page_cache",
    "parse",
    "parse_many",
    "phase",
    "phases",
    "plot",
    "pools",
    "processes",
    "read",
    "record",
    "report",
    "roles",
    "scan",
    "schema",
    "shared_reads",
    "stuck",
    "syscalls",
    "wait_graph",
    "waits",
    "workers",
]

# What is imported when it is first used, and its module: programs that only mark phases need not
# wait for it.
_LAZY = {
    "Batch": "tracefast._core",
    "Error": "tracefast._core",
    "JoinReport": "tracefast.analysis.join.report",
    "Exported": "tracefast.exporting",
    "Progress": "tracefast._core",
    "Reader": "tracefast._core",
    "Report": "tracefast._core",
    "Schema": "tracefast._core",
    "__version__": "tracefast._core",
    "accesses": "tracefast.analysis.files.accesses",
    "batches": "tracefast.analysis.workers.batches",
    "blocks": "tracefast.analysis.blocks",
    "check": "tracefast.analysis.compare.check",
    "covered_bytes": "tracefast.analysis.files.covered_bytes",
    "diff": "tracefast.analysis.compare.diff",
    "errors": "tracefast.analysis.errors.table",
    "events": "tracefast.analysis.events",
    "export": "tracefast.exporting",
    "fields": "tracefast.analysis.fields",
    "files": "tracefast.analysis.files.table",
    "flow": "tracefast.analysis.flow.edges",
    "fork_advice": "tracefast.analysis.forks.summary",
    "fork_summary": "tracefast.analysis.forks.summary",
    "forks": "tracefast.analysis.forks.table",
    "hooks": "tracefast.analysis.hooks.table",
    "insights": "tracefast.analysis.insights.table",
    "join": "tracefast.analysis.join.table",
    "memory": "tracefast.analysis.memory",
    "page_cache": "tracefast.analysis.files.page_cache",
    "parse": "tracefast.reading",
    "parse_many": "tracefast.batch.parse_many",
    "phases": "tracefast.analysis.flow.phases",
    "pools": "tracefast.analysis.workers.pools",
    "shared_reads": "tracefast.analysis.workers.shared_reads",
    "processes": "tracefast.analysis.processes",
    "read": "tracefast.reading",
    "record": "tracefast.recording.run",
    "report": "tracefast.page.report",
    "roles": "tracefast.analysis.flow.roles",
    "scan": "tracefast.scanning.scan",
    "schema": "tracefast._core",
    "stuck": "tracefast.analysis.waits.table",
    "syscalls": "tracefast.analysis.syscalls",
    "wait_graph": "tracefast.analysis.waits.pairs",
    "waits": "tracefast.analysis.waits.table",
    "workers": "tracefast.analysis.workers.table",
}


def __getattr__(name: str) -> object:
    if name == "plot":
        # A package sets the attribute itself once it is imported.
        return importlib.import_module("tracefast.plot")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
