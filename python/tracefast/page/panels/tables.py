"""Files, calls, errors, started processes, waits, what the kernel did, what the log lacks."""

import platform
from typing import Final, NamedTuple

import polars as pl

from tracefast import _core
from tracefast.cli.pictures import wait_graph
from tracefast.cli.pictures.flow.graph import graph_of
from tracefast.cli.pictures.flow.svg import svg
from tracefast.cli.pictures.layout import MOST_EDGES, MOST_NODES
from tracefast.cli.screen.errors_table import in_words
from tracefast.cli.screen.files.usage_lines import whole_or_pattern
from tracefast.cli.screen.flow.gaps import gap_sentences
from tracefast.page.activity import Activity
from tracefast.page.answers import Answers
from tracefast.page.charts.in_page import FOLLOW, in_page
from tracefast.page.elements import (
    Panel,
    breakable,
    bullets,
    code,
    empty,
    facts,
    sentence,
    table,
)
from tracefast.page.shell import figure, json_block, shown, text
from tracefast.plot.charts import latency, memory, offsets, sizes

_WHOLE: Final = '<p class="whole">This is of the whole log: it does not follow the chosen time.</p>'
# Charts of files, what each of them may hold, and rows of the table of files.
_OFFSETS: Final = 6
_SEGMENTS: Final = 300
_MOST_FILES: Final = 500
_WAITS: Final = (
    "verdict",
    "on",
    "object",
    "name",
    "dur_ns",
    "open_ns",
    "pid",
    "image",
    "waker_pid",
    "line",
)
# Of joined events only.
_OF_DEVICES: Final = ("cached_reads", "cold_reads", "disk_read_bytes")


def flow(answers: Answers) -> Panel:
    """Draw which data went where."""
    graph = graph_of(
        answers.table("flow"),
        answers.table("roles"),
        code=False,
        nodes=MOST_NODES,
        most_lines=MOST_EDGES,
    )
    if not graph.groups:
        return Panel(
            "flow",
            "Data flow",
            empty("The log does not show that data went anywhere.", "strace -f -ttt -T -yy"),
        )
    for group in graph.groups:
        group.names = [shown(name) for name in group.names]
    picture = f'<div class="box picture" tabindex="0">{svg(graph, "Where the data went")}</div>'
    notes = (sentence(lack, dim=True) for lack in gap_sentences(answers.found.flow_gaps))
    return Panel("flow", "Data flow", _WHOLE + "".join(notes) + picture)


class Accesses(NamedTuple):
    """How some files were read and written."""

    files: pl.DataFrame
    """`source`, `file` and `path`, those with the most bytes first."""
    runs: pl.DataFrame
    """Their accesses: see `Answers.runs`."""


def accesses(answers: Answers) -> Accesses:
    """Go through the events again for the accesses to the files with the most bytes."""
    moved = answers.used_files.filter(pl.col("read_bytes") + pl.col("write_bytes") > 0)
    top = moved.head(2 * _OFFSETS)
    return Accesses(top.select("source", "file", "path"), answers.runs(top))


def files(answers: Answers, accesses: Accesses) -> list[Panel]:
    """List files, and draw how the first ones were read."""
    used, known = answers.used_files, answers.activity
    shown_files = used.head(_MOST_FILES)
    patterns = [whole_or_pattern(file, "read") for file in shown_files.iter_rows(named=True)]
    rows = shown_files.select(
        *("source", "path", "processes", "opens", "reads", "read_bytes"),
        pl.Series("pattern", patterns, pl.String),
        *("read_reread_factor", "read_ns", "writes", "write_bytes"),
        *(name for name in _OF_DEVICES if name in used.columns),
    )
    names = {"pattern": "how read", "read_reread_factor": "re-read"}
    body = empty("The log names no file that was used.", "strace -f -ttt -T -yy")
    if rows.height:
        body = _WHOLE + table(
            "files-table",
            rows,
            most=_MOST_FILES,
            of=used.height,
            names=names,
            search="Search files",
            noun=("file", "files"),
        )
    return [
        Panel("files", "Files", body),
        Panel(
            "offsets",
            "How the top files were read",
            (known and _offsets(accesses, known))
            or empty("The log shows no offset of a read or write.", "strace -f -ttt -T -yy"),
        ),
        Panel(
            "sizes",
            "Access sizes",
            (known and _sizes(known)) or empty("Nothing was read or written.", "strace -f -ttt -T"),
        ),
    ]


def _offsets(accesses: Accesses, known: Activity) -> str:
    """Draw how the files with the most bytes were read, where offsets are known."""
    several = accesses.files["source"].n_unique() > 1
    drawn: list[str] = []
    for source, file, path in accesses.files.iter_rows():
        part = accesses.runs.filter(pl.col("source") == source, pl.col("file") == file)
        if part.is_empty() or len(drawn) == _OFFSETS:
            continue
        rows = offsets.segments_of_runs(part, most=_SEGMENTS, origin=0)
        chart = offsets.chart(rows)
        small = in_page(chart, height=130, span_s=known.span_s, attribute=FOLLOW, legend=not drawn)
        name = f"{source}: {path}" if several else path
        title, picture = breakable(text(name, 60)), figure(small, path, attributes=FOLLOW)
        drawn.append(f"<div><h3>{title}</h3>{picture}</div>")
    return f'<div class="grid">{"".join(drawn)}</div>' if drawn else ""


def _sizes(known: Activity) -> str:
    rows = sizes.rows_of_counts(known.sizes)
    return figure(in_page(sizes.chart(rows)), "Sizes of reads and writes") if rows.height else ""


def calls(answers: Answers) -> Panel:
    """List system calls, and draw how long they took."""
    rows = (
        answers.table("syscalls")
        .sort("total_ns", "calls", descending=True, nulls_last=True)
        .select(
            "source",
            "name",
            "calls",
            "errors",
            "total_ns",
            "wait_ns",
            "p50_ns",
            "p99_ns",
            "max_ns",
            "bytes",
        )
    )
    if rows.is_empty():
        return Panel(
            "calls", "System calls", empty("The log has no system calls.", "strace -f -ttt -T")
        )
    if answers.kernel_times.height:
        rows = rows.join(answers.kernel_times, on=["source", "name"], how="left")
    body, known = "", answers.activity
    if known is not None:
        curves = latency.rows_of_counts(known.durations)
        drawn = latency.chart(curves, cumulative=True)
        body = figure(in_page(drawn, height=220), "Latencies") if curves.height else ""
        several = rows["source"].n_unique() > 1
        top = rows["name"].unique(maintain_order=True).head(12).to_list()
        key = pl.format("{}\n{}", "source", "name") if several else pl.col("name")
        over = (
            known.called.filter(pl.col("name").is_in(top))
            .group_by(key=key, bin=pl.col("step").cast(pl.Int64))
            .agg(pl.col("calls", "ns").sum())
            .sort("key", "bin")
        )
        columns = {name: over[name].to_list() for name in over.columns}
        step = known.step_ns / 1e9
        body += json_block({"step": step, "columns": columns}, 'id="calls-over-time"')
    listed = table("calls-table", rows, most=100, search="Search calls", noun=("call", "calls"))
    return Panel("calls", "System calls", body + listed)


def errors(answers: Answers) -> Panel:
    """List what failed."""
    rows = answers.table("errors")
    if rows.is_empty():
        return Panel("errors", "Errors and searches", empty("No call failed."))
    kept = rows.head(50)
    what = pl.Series("what", [in_words(row, 150) for row in kept.rows(named=True)], pl.String)
    program = pl.col("image").str.split("/").list.last().alias("program")
    kept = kept.select(
        "source", "errno", "name", what, program, "search", "count", "total_ns", "first_line"
    )
    return Panel(
        "errors",
        "Errors and searches",
        _WHOLE + table("errors-table", kept, most=50, search="Search errors"),
    )


def starting(answers: Answers) -> Panel:
    """List what starting processes cost, by phase, and workers."""
    asked = answers.found.asked
    body = ""
    if asked is not None and not asked.forks.summary.is_empty():
        rows = asked.forks.summary.select(
            "source",
            "parent_image",
            "kind",
            "image",
            "count",
            "call_sum_ns",
            "exec_gap_sum_ns",
            "exec_sum_ns",
            "startup_sum_ns",
            "tax_ns",
            "wall_share",
            pl.when(pl.col("advice") != "").then(pl.col("advice")),
        ).sort("tax_ns", descending=True, nulls_last=True)
        body += table("starting-table", rows, most=50)
        said = {
            each.code: f"{each.code}: {each.what} {each.remedy}"
            for one in asked.forks.advice
            for each in one
        }
        body += bullets(said.values()) if said else ""
    if answers.pools.height:
        body += f"<h3>Workers</h3>{table('pools-table', answers.pools, most=20)}"
    if answers.batches.height:
        rows = answers.batches.sort("wait_ns", descending=True, nulls_last=True).select(
            "source",
            "pool",
            "round",
            "batch",
            "wait_ns",
            "bytes",
            "worker_pid",
            "worker_busy_ns",
            "slowest_path",
            "cause",
        )
        body += (
            f"<h3>Batches that were waited for longest</h3>{table('batches-table', rows, most=20)}"
        )
    return Panel(
        "starting",
        "Starting processes",
        _WHOLE + body
        if body
        else empty("The log does not show the start of any process.", "strace -f -ttt -T"),
    )


def waits(answers: Answers) -> Panel:
    """Say who hangs, and which waits were longest."""
    rows = answers.own(answers.table("waits")).filter(pl.col("on") != "timer")
    if rows.is_empty():
        return Panel(
            "waits",
            "Hangs and long waits",
            empty("No wait took a millisecond.", "strace -f -ttt -T -yy"),
        )
    body = ""
    if answers.stuck.height:
        hung = answers.stuck.select("source", *_WAITS, "proof", "because_line")
        body += f"<h3>Who can never go on, or may not</h3>{table('stuck-table', hung, most=30)}"
    longest = rows.sort("dur_ns", descending=True, nulls_last=True).select("source", *_WAITS)
    body += f"<h3>Longest waits</h3>{table('waits-table', longest, most=30)}"
    known = answers.pairs.filter(pl.col("waker_pid").is_not_null())
    if known.height:
        body += f"<h3>Who waited for whom</h3>{table('pairs-table', known, most=30)}"
        picture = wait_graph.draw(known.head(30), answers.stuck, ".svg").decode()
        if "<path" in picture:
            body += f'<div class="box picture" tabindex="0">{picture}</div>'
    return Panel("waits", "Hangs and long waits", _WHOLE + body)


def kernel(answers: Answers) -> list[Panel]:
    """Show the page cache, disks, memory and time off the CPU: of ftrace only."""
    if not answers.is_ftrace:
        return []
    parts = []
    for name, title, rows, events in (
        ("page-cache-table", "Page cache", answers.page_cache, "filemap"),
        ("blocks-table", "Disks", answers.blocks, "block"),
    ):
        shown_rows = (
            table(name, rows, most=50)
            if rows is not None and rows.height
            else empty("The log has none of these events.", f"trace-cmd record -e {events}")
        )
        parts.append(f"<h3>{title}</h3>{shown_rows}")
    drawn = empty("The log has none of these events.", "trace-cmd record -e kmem:rss_stat")
    if answers.memory is not None and answers.activity is not None:
        rows = memory.rows_of_table(answers.memory.lazy(), origin=0)
        span = answers.activity.span_s
        chart = in_page(memory.chart(rows), height=180, span_s=span, attribute=FOLLOW)
        drawn = figure(chart, "Memory", attributes=FOLLOW)
    off = (
        answers.own(answers.table("waits"))
        .group_by("source", "image", "on")
        .agg(
            pl.len().alias("waits"),
            pl.col("dur_ns").sum().alias("total_ns"),
            pl.col("dur_ns").max().alias("max_ns"),
            pl.col("run_delay_ns").sum(),
        )
        .sort("total_ns", descending=True)
    )
    parts.append(f"<h3>Memory over time</h3>{drawn}<h3>Off the CPU</h3>")
    parts.append(
        table("off-cpu-table", off, most=30)
        if off.height
        else empty(
            "The log has no time off the CPU.", "trace-cmd record -e sched_switch -e sched_waking"
        )
    )
    return [Panel("kernel", "Kernel: page cache, disks, memory, off the CPU", "".join(parts))]


def log(answers: Answers) -> Panel:
    """Say what the log cannot tell, and how to repeat the report."""
    versions = [
        ("tracefast", _core.__version__),
        ("polars", pl.__version__),
        ("Python", platform.python_version()),
    ]
    again = answers.command("report", "-o", "report.html")
    body = bullets(answers.lacks) if answers.lacks else sentence("Nothing is known to be missing.")
    return Panel(
        "log",
        "What the log cannot tell",
        f"{body}{facts(versions)}<p>Repeat: {code(again)}</p>",
    )
