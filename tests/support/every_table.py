"""Every table of a file of events, and whether an error says what is wrong with the file.

As a program, it makes every table of the files that it is given: damage may end the process.
"""

import sys

import polars as pl

import tracefast as tf
from support.paths import DATA
from tracefast.analysis.syscalls import strace_counts

PTH = "data/unet_carvana_scale0.5_epoch2.pth"
TABLES = {
    "scan": lambda events: events,
    "files": tf.files,
    "files by open": lambda events: tf.files(events, by="open"),
    "files by phase": lambda events: tf.files(events, by="phase"),
    "files by process": lambda events: tf.files(events, by="process"),
    "darshan": lambda events: tf.files(events, darshan=True),
    "accesses": lambda events: tf.accesses(events, PTH),
    "covered_bytes": lambda events: tf.covered_bytes(events, by="path"),
    "syscalls": tf.syscalls,
    "syscalls by phase": lambda events: tf.syscalls(events, by="phase"),
    "syscalls by process": lambda events: tf.syscalls(events, by="process"),
    "errors": tf.errors,
    "strace_counts": strace_counts,
    "processes": tf.processes,
    "memory": tf.memory,
    "forks": tf.forks,
    "fork_summary": lambda events: tf.fork_summary(events, threads=True),
    "fork_advice": tf.fork_advice,
    # To read the long list of this kernel takes longer than all that mutants change.
    "hooks": lambda events: tf.hooks(events, DATA / "hooks/linux-4.4"),
    "insights": tf.insights,
    "events": tf.events,
    "fields": lambda events: tf.fields(events, "block_rq_issue"),
    "page_cache": tf.page_cache,
    "blocks": tf.blocks,
    "waits": tf.waits,
    "stuck": tf.stuck,
    "wait_graph": tf.wait_graph,
    "flow": tf.flow,
    "flow by image": lambda events: tf.flow(events, by="image"),
    "flow by phase": lambda events: tf.flow(events, by="phase"),
    "roles": tf.roles,
    "phases": tf.phases,
    "workers": tf.workers,
    "pools": tf.pools,
    "shared_reads": tf.shared_reads,
    "diff": lambda events: tf.diff(events, events),
    "check": lambda events: tf.check([{"name": "a", "table": "files", "max_rows": 0}], events),
}

# polars reads the data, and says what is wrong with it; at some it panics.
OF_POLARS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def is_clear(error: Exception, path) -> bool:
    """Say whether it is an error of tracefast which says what is wrong with which file or table."""
    if isinstance(error, tf.Error):
        return str(error).startswith(f"{path}: ") and bool(error.hint)
    columns = (pl.exceptions.ColumnNotFoundError, pl.exceptions.SchemaError)
    return isinstance(error, columns) and str(error).startswith("tracefast")


def unclear(path, may_fail=()):
    """Make every table of a file; give how many there are, and the errors that are not clear."""
    try:
        events = tf.scan(path)
    except tf.Error as error:
        return 0, [] if is_clear(error, path) else [repr(error)]
    made, problems = 0, []
    for name, table in TABLES.items():
        try:
            made += table(events).collect().width > 0
        except may_fail:
            continue
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            if not is_clear(error, path):
                problems.append(f"{name}: {error!r}")
    return made, problems


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, flush=True)
        made, problems = unclear(name, OF_POLARS)
        if problems:
            sys.exit(f"{problems}")
