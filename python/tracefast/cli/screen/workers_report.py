"""Print pools of workers: what starting them cost, how busy they were, what they read again."""

from typing import Any, Final

import polars as pl

from tracefast.analysis.workers.batches import batches_of
from tracefast.analysis.workers.shared_reads import shared_reads_of
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.matching import NOTHING_MATCHES
from tracefast.cli.system.colours import with_bold_heading
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align, room_for_last
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.shorten import cut_middle
from tracefast.quantities import duration, percent, plural, span

Row = dict[str, Any]

# Lines of each list, where there is no terminal.
_LINES: Final = 20
_PROSE_WIDTH: Final = 100
_MIN_NAME: Final = 12
# The words before the lines of a pool.
_LABEL: Final = 9
_METHODS: Final = {
    "fork": "forked by",
    "spawn": "spawned by",
    "forkserver": "forked by a server for",
    "exec": "started as programs by",
}
_SAVINGS: Final = {
    "forkserver-preload": "the method forkserver, with set_forkserver_preload for what all import,",
    "preload": "set_forkserver_preload for what all import",
}
# What a wait before the worker had its first job was for.
_STARTING: Final = "starting"
_CAUSES: Final = {
    _STARTING: "while workers started",
    "computing": "while the worker computed",
    "reading": "while the worker read files",
    "waiting": "while the worker itself waited",
    "queue": "for what workers had sent before: receiving it took the time",
}
# The columns of late messages, and what a narrow terminal does without, the first one first: the
# cause says what the worker did.
_LATE: Final = (
    *("waited", "round", "batch", "worker", "busy", "reading", "waiting", "cause"),
    *("slowest", "path"),
)
_SPARE: Final = ("waiting", "reading", "round", "busy")
_MIN_PATH: Final = 24
# A maker that waits for a fifth of its time is held up by its workers, not by its own work.
_STARVED: Final = 0.2
# Shorter waits for a message are not worth a line.
_MIN_WAIT_NS: Final = 1_000_000
# What is less than this share of what was read is not worth a list.
_MIN_AGAIN: Final = 0.01


def print_workers_report(
    pools: pl.DataFrame,
    workers: pl.DataFrame,
    kept: pl.DataFrame,
    request: Request,
    *,
    chosen: bool = False,
) -> None:
    """Print the report.

    Parameters
    ----------
    pools
        The pools.
    workers
        All workers, with their details.
    kept
        The workers to list.
    request
        What was asked for: where to, how many lines.
    chosen
        There are others, which are not wanted.
    """
    terminal = is_terminal_table(Format.TABLE, request.output)
    width = terminal_width() if terminal else None
    most = request.top
    if most is None:
        most = max(screen_rows(0) // 4, 6) if terminal else _LINES
    top = most or workers.height
    text = render(pools, workers, kept, width=width, top=top, chosen=chosen)
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(
    pools: pl.DataFrame,
    workers: pl.DataFrame,
    kept: pl.DataFrame,
    *,
    width: int | None,
    top: int,
    chosen: bool = False,
) -> str:
    """Write the report; at most `top` lines for each list.

    Parameters
    ----------
    pools, workers, kept, chosen
        As for `print_workers_report`.
    width
        The width of the terminal; None for no limit.
    top
        Lines of each list.
    """
    several = pools["source"].n_unique() > 1
    parts = []
    for pool in pools.head(top).rows(named=True):
        of_pool = pl.col("source").eq_missing(pool["source"]) & (pl.col("pool") == pool["pool"])
        listed = kept.filter(of_pool)
        if not listed.is_empty():
            parts += _pool(pool, workers.filter(of_pool), listed, width, top, several=several)
    if not parts:
        return NOTHING_MATCHES if chosen else "No workers.\n"
    if pools.height > top:
        parts.append([f"{pools.height - top:,} more pools; --top 0 prints all"])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _pool(
    pool: Row,
    workers: pl.DataFrame,
    listed: pl.DataFrame,
    width: int | None,
    top: int,
    *,
    several: bool,
) -> list[list[str]]:
    """Write what is known of a pool, what it read again, and its workers."""
    prose = width or _PROSE_WIDTH
    batches = batches_of(workers.lazy()).collect()
    lines = [
        *wrap(_head(pool, workers, several=several), prose),
        *_labelled("starting", _starting(pool, workers), prose),
        *_labelled("time", _time(pool, workers), prose),
        *_labelled("reading", _reading(pool, workers), prose),
        *_labelled("memory", _memory(workers), prose),
        *_labelled("batches", _waiting(batches, workers), prose),
    ]
    late = _late(batches, width, top)
    parts = [lines, late, _folders(pool, workers, width, top), _workers(listed, width, top)]
    return [part for part in parts if part]


def _labelled(label: str, text: str | None, width: int) -> list[str]:
    if text is None:
        return []
    indent = " " * (_LABEL + 1)
    return wrap(text, width, first=label.ljust(_LABEL) + " ", rest=indent)


def _head(pool: Row, workers: pl.DataFrame, *, several: bool) -> str:
    """Say how many workers there are, and who started them how."""
    rounds = pool["rounds"]
    many = plural(pool["workers"], "worker")
    if rounds > 1:
        sizes = workers.group_by("round").len()["len"].unique()
        equal = len(sizes) == 1
        each = f"{plural(sizes[0], 'worker')} in each of {rounds} rounds"
        many = each if equal else f"{many} in {rounds} rounds"
    maker = "somebody" if pool["parent_pid"] is None else f"process {pool['parent_pid']}"
    image = "" if pool["image"] is None else f": {printable(pool['image'])}"
    log = f"{printable(pool['source'])}: " if several and pool["source"] is not None else ""
    return f"{log}{many}, {_METHODS[pool['method']]} {maker}{image}"


def _starting(pool: Row, workers: pl.DataFrame) -> str | None:
    """Say what starting the workers cost up to their first job, and what would save it."""
    if pool["start_p50_ns"] is None:
        return None
    calls, modules = workers["start_calls"].median(), workers["modules"].median()
    size = workers["module_bytes"].median()
    text = f"{duration(pool['start_p50_ns'])} each (median) up to the first job"
    text += f", {duration(pool['start_sum_ns'])} together: {plural(_whole(calls), 'call')} each"
    if modules:
        text += f", {plural(_whole(modules), 'module')} and libraries of"
        text += f" {units.size(_whole(size))}"
    if pool["saving_method"] is not None:
        saved = span(pool["saving_low_ns"], pool["saving_high_ns"])
        text += f". {_sentence(_SAVINGS[pool['saving_method']])} would save {saved} of it"
    return text


def _sentence(text: str) -> str:
    # Names of functions keep their case.
    return text if "_" in text.split(" ", maxsplit=1)[0] else text[0].upper() + text[1:]


def _whole(number: object) -> int:
    return round(number) if isinstance(number, int | float) else 0


def _time(pool: Row, workers: pl.DataFrame) -> str | None:
    """Say what the workers did with their time."""
    if pool["busy_share"] is None:
        return None
    known = workers.select(pl.sum("busy_ns", "wait_ns")).row(0)
    busy, waits = percent(pool["busy_share"]), percent(pool["wait_share"])
    text = f"{busy} busy, {waits} waiting for others"
    if pool["start_sum_ns"] is not None and sum(known):
        started = min(pool["start_sum_ns"] / sum(known), 1.0)
        text += f"; {percent(started)} was before the first job"
    if pool["imbalance"] is not None and workers.height > pool["rounds"]:
        text += f"; the busiest was busy {units.factor(pool['imbalance'])} as long as the median"
    return text


def _reading(pool: Row, workers: pl.DataFrame) -> str | None:
    """Say how much they read, and how much of it again."""
    if not pool["read_bytes"]:
        return None
    text = f"{units.size(pool['read_bytes'])} from files"
    if pool["read_shared_bytes"]:
        text += f", {units.size(pool['read_shared_bytes'])} of it again, after another one"
    shared = _whole(workers["shm_bytes"].sum())
    if shared:
        text += f"; {units.size(shared)} through shared memory"
    return text


def _memory(workers: pl.DataFrame) -> str | None:
    """Say what the workers started with and how much they grew: once, and with each round."""
    known = workers.drop_nulls("anon_growth_bytes")
    if known.is_empty():
        return None
    start, growth = (_whole(known[f"anon_{name}_bytes"].median()) for name in ("start", "growth"))
    counted = "resident" if known["memory_from"][0] == "rss_stat" else "mapped"
    if start:
        text = f"each starts with {units.size(start)} (median, {counted})"
        text += f", grows by {units.size(growth)}" if growth else " and does not grow"
    else:
        text = f"each grows to {units.size(growth)} (median, {counted})"
    ready = pl.col("anon_ready_bytes") - pl.col("anon_start_bytes")
    once = known.select(ready.clip(0).median()).item()
    if once is not None and growth:
        text += f", {units.size(min(_whole(once), growth))} of it before its first job"
    text += _again(known)
    rounds = known.group_by("round").agg(pl.median("anon_start_bytes").alias("start")).sort("round")
    if rounds.height > 1:
        more = _whole((rounds["start"][-1] - rounds["start"][0]) / (rounds.height - 1))
        text += f"; each round starts with {units.size(more)} more" if more > 0 else ""
        text += f"{' and' if more > 0 else '; each round'} grows again" if growth else ""
    if known["cow_faults"].null_count() == 0:
        text += f"; they copied up to {known['cow_faults'].sum():,} pages of their maker"
    return text


def _again(known: pl.DataFrame) -> str:
    """Say what workers grow by once, and what again and again."""
    for what in ("phase", "job"):
        grown = known.drop_nulls(["anon_once_bytes", f"anon_per_{what}_bytes"])
        if not grown.is_empty():
            once, again = (
                units.size(_whole(grown[f"anon_{name}_bytes"].median()))
                for name in ("once", f"per_{what}")
            )
            if again == units.size(0):
                return f", then nothing with each {what}"
            return f"; {once} of it once, and {again} with each {what}"
    return ""


def _waiting(batches: pl.DataFrame, workers: pl.DataFrame) -> str | None:
    """Say how long the maker waited for the results of its workers, and for what."""
    asked = pl.col("ts") - pl.duration(nanoseconds="wait_ns")
    times = batches.group_by("round").agg((pl.max("ts") - asked.min()).alias("time"))
    whole = int(times["time"].dt.total_nanoseconds().sum())
    waited = int(batches["wait_ns"].sum())
    if not whole:
        return None
    share = min(waited / whole, 1.0)
    # A thread that does nothing else always waits.
    of_thread = pl.col("maker_tid") != pl.lit(workers["parent_pid"][0], pl.Int32)
    by_thread = 2 * batches.select(of_thread.sum()).item() > batches.height
    text = f"{'a thread of ' if by_thread else ''}their maker waited {duration(waited)}"
    text += f" of {duration(whole)} ({percent(share)}) for {plural(batches.height, 'message')}"
    causes = _causes(batches.with_columns(asked.alias("asked")), workers)
    if share < _STARVED or causes.is_empty():
        return f"{text}{'' if share >= _STARVED or by_thread else ', so it does not starve'}"
    cause, ns = causes.row(0)
    part = "most of it" if 2 * ns > waited else "the largest part"
    part += f" ({percent(ns / waited)}) {_CAUSES[cause]}"
    if by_thread:
        return f"{text}, {part}; tracefast waits shows whether the others wait for that thread"
    return f"{text}: it starves, {part}"


def _causes(batches: pl.DataFrame, workers: pl.DataFrame) -> pl.DataFrame:
    """Give what the maker waited for, and how long, the longest first."""
    ready = workers.select("round", "ts_ready", worker_pid="pid").unique(["round", "worker_pid"])
    started = (pl.col("ts_ready") - pl.col("asked")).dt.total_nanoseconds().fill_null(0)
    parts = batches.join(ready, on=["round", "worker_pid"], how="left").with_columns(
        started.clip(0, pl.col("wait_ns")).alias("started_ns")
    )
    worked = parts.select("cause", ns=pl.col("wait_ns") - pl.col("started_ns"))
    starting = parts.select(pl.lit(_STARTING).alias("cause"), ns="started_ns")
    every = pl.concat([worked, starting]).drop_nulls().group_by("cause").agg(pl.sum("ns"))
    return every.filter(pl.col("ns") > 0).sort("ns", "cause", descending=[True, False])


def _late(batches: pl.DataFrame, width: int | None, top: int) -> list[str]:
    """Write the messages that the maker waited for longest, and what their workers did."""
    late = batches.filter(pl.col("wait_ns") >= _MIN_WAIT_NS)
    if late.is_empty():
        return []
    cells = [list(_LATE)]

    def time(number: int | None) -> str:
        return "-" if number is None else units.duration(number)

    cells += [
        [
            time(row["wait_ns"]),
            str(row["round"]),
            str(row["batch"]),
            "-" if row["worker_pid"] is None else str(row["worker_pid"]),
            time(row["worker_busy_ns"]),
            time(row["worker_read_ns"]),
            time(row["worker_wait_ns"]),
            row["cause"] or "-",
            time(row["slowest_ns"]),
            printable(row["slowest_path"] or "-"),
        ]
        for row in late.sort("wait_ns", descending=True).head(top).rows(named=True)
    ]
    if width is not None:
        for spare in _SPARE:
            if room_for_last(cells, width) < _MIN_PATH:
                at = cells[0].index(spare)
                cells = [[*line[:at], *line[at + 1 :]] for line in cells]
        room = max(room_for_last(cells, width), _MIN_NAME)
        cells = [[*line[:-1], cut_middle(line[-1], room)] for line in cells]
    right = [at for at, name in enumerate(cells[0]) if name not in {"cause", "path"}]
    return [*with_bold_heading(align(cells, right=right), width), *_more(late.height, top)]


def _folders(pool: Row, workers: pl.DataFrame, width: int | None, top: int) -> list[str]:
    """Write where the files are that were read again."""
    least = _MIN_AGAIN * (pool["read_shared_bytes"] or 0)
    shared = shared_reads_of(workers.lazy(), by="folder").drop_nulls("folder")
    columns = ["folder", "files", "readers", "read_shared_bytes"]
    folders = shared.filter(pl.col("read_shared_bytes") > least).select(columns).collect()
    if folders.is_empty():
        return []
    cells = [["again", "files", "readers", "folder"]]
    cells += [
        [units.size(again), f"{files:,}", f"{readers:,}", printable(folder)]
        for folder, files, readers, again in folders.head(top).rows()
    ]
    room = None if width is None else max(room_for_last(cells, width), _MIN_NAME)
    cut = cells if room is None else [[*row[:-1], cut_middle(row[-1], room)] for row in cells]
    return [*with_bold_heading(align(cut, right=[0, 1, 2]), width), *_more(folders.height, top)]


def _workers(rows: pl.DataFrame, width: int | None, top: int) -> list[str]:
    """Write a line for each worker."""
    cells = [["round", "pid", "start", "jobs", "busy", "waited", "read", "again", "ended"]]

    def time(number: int | None) -> str:
        return "-" if number is None else units.duration(number)

    for row in rows.head(top).rows(named=True):
        ended = "-" if row["exit_status"] is None else str(row["exit_status"])
        cells.append(
            [
                str(row["round"]),
                "-" if row["pid"] is None else str(row["pid"]),
                time(row["start_ns"]),
                "-" if row["jobs"] is None else f"{row['jobs']:,}",
                time(row["busy_ns"]),
                time(row["wait_ns"]),
                units.size(row["read_bytes"]),
                units.size(row["read_shared_bytes"]),
                row["exit_signal"] or ended,
            ]
        )
    return [*with_bold_heading(align(cells, right=range(8)), width), *_more(rows.height, top)]


def _more(rows: int, top: int) -> list[str]:
    return [f"{rows - top:,} more; --top 0 prints all"] if rows > top else []
