"""Print an overview of a log: one screen, and the commands that show more."""

from typing import Final

import polars as pl

from tracefast.analysis.insights.tables import OF_SYSTEM
from tracefast.analysis.overview.tables import Finding, Overview, findings
from tracefast.analysis.overview.times import Times, times_of
from tracefast.analysis.processes import only_mentioned
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.errors_table import error_lines
from tracefast.cli.screen.files.usage_lines import usage_lines
from tracefast.cli.system.colours import bold_heading, has_coloured_tables
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.rows import rows_of
from tracefast.cli.text.shorten import cut_middle
from tracefast.cli.text.table_text import render_table
from tracefast.cli.text.width import cells as text_width
from tracefast.cli.text.width import padded
from tracefast.inputs.sources import STDIN
from tracefast.quantities import plural

_FILES: Final = 5
_ERRORS: Final = 3
_FINDINGS: Final = 5
# Shorter, what a finding is about says nothing.
_MIN_OBJECT: Final = 20
# Where there is no terminal.
_WIDTH: Final = 100
_MIN_WIDTH: Final = 60
_MAIN_OF_FILES: Final = ("op", "op_bytes", "calls", "pattern", "reread_factor", "op_ns", "path")
_SPARE_OF_FILES: Final = ("calls", "op_ns", "reread_factor")
_NO_FILES: Final = ("pipe", "fifo", "socket", "char", "anon")
# What the log lacks, and how to record it.
_GAPS: Final = {
    "no-times": "no times (record with -ttt -T)",
    "no-durations": "no durations of calls (record with -T)",
    "few-durations": "durations of few calls only (record with -T)",
    "no-children": "no thread ids: other threads and children may be missing (record with -f)",
    "lost": "events were lost (record with a larger buffer)",
    "attached": "it starts in mid-run, or not all calls were traced",
    "filtered": "not all calls were traced (record without -e)",
}


def print_overview(found: Overview, request: Request) -> None:
    """Print the overview.

    Parameters
    ----------
    found
        The tables.
    request
        What was asked for: which logs, where to, how many lines of a list.
    """
    terminal = is_terminal_table(Format.TABLE, request.output)
    width = max(terminal_width(), _MIN_WIDTH) if terminal else _WIDTH
    bold = terminal and has_coloured_tables()
    text = render(found, request.inputs, width=width, top=request.top, bold=bold)
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(
    found: Overview,
    logs: list[str],
    *,
    width: int,
    top: int | None = None,
    bold: bool = False,
) -> str:
    """Write the overview.

    Parameters
    ----------
    found
        The tables.
    logs
        Names of the logs, as they were given.
    width
        The width of the screen.
    top
        Lines of each list; 0 for all, None for a few.
    bold
        Write the title of each part in bold.
    """
    # So that a command can be copied. Standard input cannot be read again.
    log = "LOG…" if len(logs) > 1 else "LOG" if logs[0] == STDIN else printable(logs[0])
    listed = findings(found)
    parts = [
        _run(found, logs, width),
        _hangs(found, listed, log, width),
        _times(found, log, width),
        _files(found, log, width, _most(top, _FILES)),
        _errors(found, log, width, _most(top, _ERRORS)),
        _findings(found, listed, log, width, _most(top, _FINDINGS)),
    ]
    texts = ("\n".join(part) + "\n" for part in parts if part)
    return "\n".join(map(bold_heading, texts) if bold else texts)


def _most(top: int | None, usual: int) -> int | None:
    return usual if top is None else top or None


def _title(text: str, command: str, log: str, width: int) -> str:
    """Write the title of a part, and at the right the command that shows more."""
    more = f"tracefast {command} {log}"
    room = width - text_width(text)
    if 2 + text_width(more) > room:
        # Half a name would be of no use.
        more = f"tracefast {command} LOG"
    return text + padded(more, max(room, text_width(more) + 2), right=True)


def _run(found: Overview, logs: list[str], width: int) -> list[str]:
    """Say what ran, for how long, and what the log lacks."""
    tasks, processes = found.table("tasks"), found.table("processes")
    # ftrace names all whom the scheduler runs.
    traced = processes.filter(pl.col("calls") > 0)
    processes = processes if traced.is_empty() else traced
    events = int(tasks["events"].sum())
    name = printable(logs[0]) if len(logs) == 1 else plural(len(logs), "log")
    title = f"{cut_middle(name, width // 2)}: {plural(events, 'event')}"
    span = tasks.select((pl.col("last").max() - pl.col("first").min()).dt.total_nanoseconds())
    if tasks["source"].n_unique() == 1 and (ns := span.item()) is not None:
        title += f" in {units.duration(ns)}"
    lines = [title]
    lines += _ran(processes, width)
    lacks = [_GAPS[gap] for gap in found.gaps if gap in _GAPS]
    if unparsed := int(tasks["unparsed"].sum()):
        lacks.append(f"{plural(unparsed, 'line')} not understood (parse --explain)")
    lacks += found.quality
    if lacks:
        lines += wrap(f"The log: {'; '.join(lacks)}", width)
    return lines


def _ran(processes: pl.DataFrame, width: int) -> list[str]:
    """Say what ran: the first program, and how many others."""
    mentioned = processes.filter(only_mentioned()).height
    processes = processes.filter(~only_mentioned())
    image = processes["image"].drop_nulls()
    if image.is_empty():
        # Where the log shows no start of a program, what the kernel calls the busiest one.
        image = processes.sort("calls", descending=True, maintain_order=True)["comm"].drop_nulls()
    if image.is_empty():
        return []
    started = processes.filter(pl.col("argv").is_not_null())
    what = image[0] if started.is_empty() else " ".join(started["argv"][0])
    others = processes.height - 1
    threads = int(processes["threads"].sum()) - processes.height
    more = [
        *([plural(others, "more process", "more processes")] if others else []),
        *([plural(threads, "thread")] if threads > 0 else []),
    ]
    end = f", and {' and '.join(more)}" if more else ""
    end += f"; {plural(mentioned, 'other task')} of the machine" if mentioned else ""
    end += _ended(started.head(1))
    return [f"{cut_middle(printable(what), width - len(end))}{end}"]


def _ended(process: pl.DataFrame) -> str:
    """Say how a program ended, if it did not end well."""
    for signal, status in process.select("exit_signal", "exit_status").iter_rows():
        if signal is not None:
            return f"; killed by {signal}"
        if status:
            return f"; exit status {status}"
    return ""


def _times(found: Overview, log: str, width: int) -> list[str]:
    """Say where the time went."""
    times = times_of(found)
    if times is None:
        return []
    title = f"Time of {plural(times.tasks, 'task')}, added up: {units.duration(times.total_ns)}"
    rows = [
        [units.duration(ns), units.share(ns / times.total_ns), what]
        for ns, what in sorted(_parts(times, filtered="filtered" in found.gaps), reverse=True)
        if ns
    ]
    return [
        _title(title, "syscalls", log, width),
        *(cut_middle(f"  {line}", width) for line in align(rows, right=[0, 1])),
    ]


def _parts(times: Times, *, filtered: bool) -> list[tuple[int, str]]:
    outside = ["computing"]
    if filtered:
        outside.append("calls that were not traced")
    if times.tracer_ns:
        outside.append(f"strace itself (at most {units.duration(times.tracer_ns)})")
    return [
        (times.waiting_ns, "waiting for others"),
        (times.files_ns, "reading and writing files"),
        (times.starting_ns, "starting processes and programs"),
        (times.other_ns, "other calls"),
        (times.outside_ns, _listed(outside)),
    ]


def _listed(things: list[str]) -> str:
    """Write what time outside of calls is.

    Examples
    --------
    >>> _listed(["computing"]), _listed(["computing", "strace"])
    ('computing (outside of calls)', 'computing, and strace')
    """
    *before, last = things
    return f"{', '.join(before)}, and {last}" if before else f"{last} (outside of calls)"


def _files(found: Overview, log: str, width: int, most: int | None) -> list[str]:
    """List the files of which most was read and written."""
    all_files = found.table("files") if found.asked is None else found.asked.files
    used = all_files.filter(
        ~pl.col("type").is_in(_NO_FILES).fill_null(value=False)
        & (pl.col("read_bytes") + pl.col("write_bytes") > 0)
    )
    if used.is_empty():
        return []
    table = used.filter(pl.col("path").is_not_null())
    what = plural(table.height, "file")
    if table.is_empty():
        # How many there are, only their identities say.
        table, what = used, "Files without names"
    read, written = (int(table[f"{op}_bytes"].sum()) for op in ("read", "write"))
    title = f"{what}: {units.size(read)} read, {units.size(written)} written"
    table = table.filter(pl.col("path").is_not_null() | pl.col("file").is_not_null())
    if table.is_empty():
        return [_title(title, "files", log, width)]
    if "role" in table.columns:
        # What each program has opened to start comes last.
        of_system = pl.col("role").is_in(OF_SYSTEM).fill_null(value=False)
        table = table.sort(of_system, maintain_order=True).drop("role", "removed")
    rows = usage_lines(_named_shortly(table.slice(0, most)), short=True)
    rows = rows.head(len(rows) if most is None else most)
    main = ("source", *_MAIN_OF_FILES) if _several(found) else _MAIN_OF_FILES
    text = render_table(rows, main, width - 2, _SPARE_OF_FILES)
    return [_title(title, "files", log, width), *(f"  {line}" for line in text.splitlines())]


def _errors(found: Overview, log: str, width: int, most: int | None) -> list[str]:
    """List what failed most often."""
    table = found.table("errors")
    if table.is_empty():
        return []
    failed = int(table["count"].sum())
    calls = int(found.table("syscalls")["calls"].sum())
    title = f"{plural(failed, 'call')} failed, {units.share(failed / calls)}"
    table = _named_shortly(table.slice(0, most))
    table = table if _several(found) else table.drop("source")
    rows = error_lines(rows_of(table), width - 2)
    text = render_table(rows, rows.names, width - 2)
    return [_title(title, "errors", log, width), *(f"  {line}" for line in text.splitlines())]


def _several(found: Overview) -> bool:
    """Whether there are several logs: lines of lists have to say of which they are."""
    return found.table("tasks")["source"].n_unique() > 1


def _named_shortly(table: pl.DataFrame) -> pl.DataFrame:
    """Leave the folders out of the names of logs."""
    return table.with_columns(pl.col("source").cast(pl.String).str.split("/").list.last())


def _hangs(found: Overview, listed: list[Finding], log: str, width: int) -> list[str]:
    """Say first what never goes on: nothing else matters then."""
    stuck = [one for one in listed if one.hangs]
    if not stuck:
        return []
    several = _several(found)
    lines = (line for one in stuck for line in _finding(one, width, several=several))
    return [_title("It hangs", "waits", log, width), *lines]


def _findings(
    found: Overview, listed: list[Finding], log: str, width: int, most: int | None
) -> list[str]:
    """List what is worth a change."""
    if found.table("tasks").is_empty():
        return []
    others = [one for one in listed if not one.hangs]
    title = "Worth a change"
    if found.asked is None:
        title += ": by some of the rules"
    elif not others:
        # They take long to import, unless they were asked.
        from tracefast.analysis.insights.registry import RULES

        nothing = "nothing else" if listed else "nothing"
        title += f": {nothing}, by {len(RULES)} rules"
    several = _several(found)
    lines = (line for one in others[:most] for line in _finding(one, width, several=several))
    return [_title(title, "insights", log, width), *lines]


def _finding(one: Finding, width: int, *, several: bool) -> list[str]:
    """Say what was found, of several logs in which, and if there is room, what it is about."""
    log = f"{printable(one.source.rpartition('/')[2])}: " if several and one.source else ""
    text = f"{log}{one.code}: {printable(one.title)}"
    if one.object is not None:
        # Two spaces before the text, and the brackets.
        room = width - text_width(text) - 5
        about = printable(one.object)
        if room >= min(text_width(about), _MIN_OBJECT):
            text = f"{text.removesuffix('.')} ({cut_middle(about, room)})."
    return wrap(text, width, first="  ", rest="    ")
