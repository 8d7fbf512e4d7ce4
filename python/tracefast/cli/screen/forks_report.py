"""Print what starting processes costs: how often, where the time went, why, what to change."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from tracefast.analysis.conditions import evaluate_condition
from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.measures.costs import busy
from tracefast.analysis.forks.summary import Report
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.fork_phases import Phase, phases
from tracefast.cli.screen.matching import NOTHING_MATCHES
from tracefast.cli.system.colours import with_bold_heading
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align, room_for_last
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.shorten import cut_distinct, cut_middle, without_common_folders
from tracefast.quantities import Range, duration, memory, percent_span, plural

# The width of prose where there is no terminal.
_PROSE_WIDTH: Final = 100
# Groups that take less of the time have a line in the list, but no table of their phases.
_MIN_SHARE_OF_TABLE: Final = 0.05
_MAX_TABLES: Final = 3
_MAX_EXAMPLES: Final = 3
# The smallest width of the last column, and the width below which names lose their folders.
_MIN_NAMES: Final = 12
_WHOLE_PATHS: Final = 40
_MIN_NOTE: Final = 20
# Below this width of the last column, the rate is left out.
_MIN_WIDTH_WITH_RATE: Final = 20
# Workers that take so many times longer than the call to load their modules are worth a sentence;
# calls count as at least so long.
_MIN_READY: Final = 10
_MIN_CALL_NS: Final = 5_000_000
# A rate of fewer processes says nothing.
_MIN_COUNT_OF_RATE: Final = 10
# The width of the names of logs on a terminal.
_MAX_LOG: Final = 16


def print_forks_report(report: Report, request: Request, *, chosen: bool = False) -> None:
    """Print the report.

    Parameters
    ----------
    report
        What was found.
    request
        What was asked for: condition, order and number of lines of the list.
    chosen
        The report is about a part of the processes that were started.
    """
    terminal = is_terminal_table(Format.TABLE, request.output)
    top = request.top
    if top is None:
        # Leave room for what is below the list.
        top = screen_rows(0) // 2 if terminal else 0
    width = terminal_width() if terminal else None
    wanted = select_groups(report, request)
    text = render_report(wanted, width=width, top=top)
    if not wanted.cases and (report.cases or chosen):
        text = NOTHING_MATCHES
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def select_groups(report: Report, request: Request) -> Report:
    """Filter and sort the groups.

    Parameters
    ----------
    report
        What was found.
    request
        What was asked for: a condition, a column to sort by. The default is the cost without the
        tracer's share, as the list shows it, most expensive first.
    """
    kept = report.summary.with_row_index("row")
    if request.where is not None:
        kept = kept.filter(evaluate_condition(report.summary, request.where))
    if request.sort is not None:
        keys = kept[request.sort]
        kept = kept[keys.arg_sort(descending=keys.dtype.is_numeric(), nulls_last=True)]
    order = kept["row"].to_list()
    if request.sort is None:
        order.sort(key=lambda row: _price_key(report.cases[row]))
    return Report(
        report.summary[order], [report.cases[i] for i in order], [report.advice[i] for i in order]
    )


def _price_key(case: Case) -> tuple[bool, int, int]:
    """Sort by the cost without the tracer's share, as the list shows it."""
    return (not case.known("tax_ns"), -case.price.high, -case.price.low)


def render_report(report: Report, *, width: int | None = None, top: int = 0) -> str:
    """Lay the summary and the advice out as text.

    Parameters
    ----------
    report
        What was found.
    width
        Columns of the terminal; None for lines that are not cut.
    top
        The largest number of lines of the list; 0 for all.

    Returns
    -------
    str
        Ends with a line feed.
    """
    cases = report.cases
    if not cases:
        return "The log does not show the start of any process.\n"
    prose = min(width or _PROSE_WIDTH, _PROSE_WIDTH)
    shown = cases[:top] if top else cases
    parts = [_headline(cases, prose), _list(shown, len(cases) - len(shown), width)]
    expensive = [case for case in shown if case.share("wall_share") >= _MIN_SHARE_OF_TABLE]
    parts += [_details(case, width) for case in expensive[:_MAX_TABLES]]
    parts += _advice(report, prose)
    return "\n".join(parts)


def _headline(cases: Sequence[Case], prose: int) -> str:
    """Sum it up in a few sentences."""
    walls = {case.text("source"): case.number("wall_ns") for case in cases}
    failed = sum(case.number("failed") for case in cases)
    started = _started(cases)
    price = Range(sum(case.price.low for case in cases), sum(case.price.high for case in cases))
    rows = pl.concat([case.rows for case in cases])
    spans = int(busy(rows, ["source"])["covered"].sum())
    wall = sum(walls.values())
    text = f"{started} in {duration(wall)}" if wall else started
    text += f" of {len(walls)} logs." if len(walls) > 1 else "."
    if failed:
        text += f" {plural(failed, 'call')} failed."
    tax = sum(case.number("tax_ns") for case in cases)
    if price.high:
        text += f" Starting them took {price}"
        if wall and tax:
            share = min(spans / wall, 1.0)
            low, high = share * price.low / tax, share * price.high / tax
            text += f", {percent_span(low, high)} of the time"
        text += "."
    text += _until_work(cases)
    if not wall:
        text += " The log has no times, or only whole seconds: record with strace -ttt."
    untimed = sum(_untimed(case) for case in cases)
    if untimed:
        text += (
            f" The duration is unknown for {plural(untimed, 'process', 'processes')}: record"
            " with strace -ttt -T."
        )
    if any(case.traced for case in cases):
        text += (
            " strace slows down what it traces: single numbers are as logged, ranges exclude what"
            " may be strace's own share."
        )
    return "\n".join([*wrap(text, prose), ""])


def _started(cases: Sequence[Case]) -> str:
    """Count the processes that were started, and the threads."""
    threads = sum(case.count for case in cases if case.text("kind") == "thread")
    processes = sum(case.count for case in cases) - threads
    if not threads:
        return plural(processes, "process was started", "processes were started")
    if not processes:
        return plural(threads, "thread was started", "threads were started")
    return (
        f"{plural(processes, 'process', 'processes')} and {plural(threads, 'thread')} were started"
    )


def _until_work(cases: Sequence[Case]) -> str:
    """Say how long workers take up to their first job, if that is far more than the call."""
    times: list[int] = []
    methods: set[str] = set()
    for case in cases:
        workers = case.workers.drop_nulls("child_ready_ns")
        call = max(_median(workers["call_ns"].drop_nulls().to_list()), _MIN_CALL_NS)
        ready = workers["child_ready_ns"].to_list()
        if _median(ready) > _MIN_READY * call:
            times += ready
            methods |= set(workers["worker_method"].to_list())
    if not times:
        return ""
    how = ", ".join(sorted(methods))
    each = " each (median)" if len(times) > 1 else ""
    total = f", {duration(sum(times))} in total" if len(times) > 1 else ""
    return (
        f" Until they waited for their first job, {plural(len(times), 'worker')} (start method"
        f" {how}) took {duration(_median(times))}{each}{total}."
    )


def _median(values: list[int]) -> int:
    return sorted(values)[(len(values) - 1) // 2] if values else 0


def _untimed(case: Case) -> int:
    """Count the processes for which the log does not show how long the creating call took.

    Times in whole seconds do not show it either.
    """
    if case.known("tax_ns") and not case.number("tax_ns"):
        return case.count
    return int(case.rows["call_ns"].null_count())


def _list(cases: Sequence[Case], hidden: int, width: int | None) -> str:
    """Write a line for each group."""
    lines = [["count", "kind", "per s", "max parallel", "cost", "% time", "parent → program"]]
    for case in cases:
        rate = case.summary["rate_per_s"]
        lines.append(
            [
                f"{case.count:,}",
                case.text("kind") or "?",
                f"{rate:,.1f}"
                if isinstance(rate, float) and case.count >= _MIN_COUNT_OF_RATE
                else "-",
                f"{case.number('in_flight_max'):,}" if case.known("in_flight_max") else "-",
                _short(str(case.price)) if case.number("tax_ns") else "-",
                _short(percent_span(*case.price_share)).removesuffix(" %")
                if case.share("wall_share")
                else "-",
                _who(case),
            ]
        )
    if len({case.text("source") for case in cases}) > 1:
        logs = [printable(case.text("source") or "-") for case in cases]
        if width is not None:
            logs = cut_distinct(without_common_folders(logs), _MAX_LOG)
        logs = ["log", *logs]
        lines = [[*line[:-1], log, line[-1]] for line, log in zip(lines, logs, strict=True)]
    right: Sequence[int] = (0, 2, 3, 4, 5)
    if width is not None and room_for_last(lines, width) < _WHOLE_PATHS:
        for line, case in zip(lines[1:], cases, strict=True):
            line[-1] = _who(case, short=True)
        # The least important column.
        lines, right = [[*line[:3], *line[4:]] for line in lines], (0, 2, 3, 4)
        if room_for_last(lines, width) < _MIN_WIDTH_WITH_RATE:
            lines, right = [[*line[:2], *line[3:]] for line in lines], (0, 2, 3)
    if width is not None:
        room = max(room_for_last(lines, width), _MIN_NAMES)
        lines = [[*line[:-1], _cut_pair(line[-1], room)] for line in lines]
    text = "\n".join([*with_bold_heading(align(lines, right=right), width), ""])
    return text + (f"{plural(hidden, 'more row')}; --top 0 prints all\n" if hidden else "")


def _cut_pair(text: str, limit: int) -> str:
    """Cut both programs of ``parent → program``, so that the arrow stays.

    Examples
    --------
    >>> _cut_pair("python3 → (no program found)", 22)
    'python3 → (no…m found)'
    """
    if len(text) <= limit:
        return text
    parent, arrow, program = text.partition(" → ")
    room = limit - len(arrow)
    parent_room = max(room - len(program), min(len(parent), room // 2))
    return cut_middle(parent, parent_room) + arrow + cut_middle(program, room - parent_room)


def _percent(case: Case) -> str:
    if not case.share("wall_share"):
        return "-"
    return _short(percent_span(*case.price_share)).removesuffix(" %")


def _short(text: str) -> str:
    """Write a range as short as a table needs it.

    Examples
    --------
    >>> _short("9.60 to 46.7 ms"), _short("at most 3 %")
    ('9.60-46.7 ms', '≤ 3 %')
    """
    return text.replace(" to ", "-").replace("at most ", "≤ ")


def _details(case: Case, width: int | None) -> str:
    """Write the phases of one group as a table; notes are wrapped at the width of the terminal."""
    prose = min(width or _PROSE_WIDTH, _PROSE_WIDTH)
    head = f"{_who(case)}: {plural(case.count, _kind(case))}"
    if case.known("parent_anon_max_bytes"):
        low, high = case.number("parent_anon_min_bytes"), case.number("parent_anon_max_bytes")
        head += f" by a parent with {memory(low, high)} of its own memory"
    lines = [list(phase) for phase in phases(case)]
    heads = list(Phase("phase", "median", "p95", "total", "% time", ""))
    lines = [heads, *lines]
    if width is not None:
        room = max(room_for_last(lines, width), _MIN_NOTE)
        lines = [
            [*(line[:-1] if i == 0 else [""] * (len(line) - 1)), note]
            for line in lines
            for i, note in enumerate(wrap(line[-1], room) or [""])
        ]
    text = "\n".join([*wrap(head, prose), ""]) + "\n".join(
        [*with_bold_heading(align(lines, right=(1, 2, 3, 4)), width), ""]
    )
    if case.traced:
        share = Range(case.number("tracer_low_ns"), case.number("tracer_high_ns"))
        text += f"strace's own share of call, gap and execve: {share}\n"
    return text


def _kind(case: Case) -> str:
    kind = case.text("kind")
    return kind if kind in {"fork", "vfork", "thread"} else "start"


def _who(case: Case, *, short: bool = False) -> str:
    parent = case.text("parent_image") or "(unknown program)"
    image = case.text("image")
    if image is None:
        if case.text("kind") == "thread":
            image = "(a thread)"
        else:
            image = "(no program found)" if case.sum("exec_failed") else "(itself)"
    if short:
        parent, image = (text.rpartition("/")[2] for text in (parent, image))
    return printable(f"{parent} → {image}")


def _advice(report: Report, prose: int) -> list[str]:
    """Write what to change, rule by rule; advice about several groups only once."""
    found: dict[str, list[tuple[Case, Advice]]] = {}
    for case, said in zip(report.cases, report.advice, strict=True):
        for each in said:
            found.setdefault(each.code, []).append((case, each))
    if not found:
        return []
    return ["What to change\n", *(_piece(code, said, prose) for code, said in found.items())]


def _piece(code: str, said: list[tuple[Case, Advice]], prose: int) -> str:
    """Write what one rule found: what is the same for several groups, once."""
    savings = [each.saving for _, each in said if each.saving is not None]
    total = Range(sum(s.low for s in savings), sum(s.high for s in savings))
    text = f"{code}" + (f": saves {total}" if total.high else "") + "\n"
    words: dict[tuple[str, str], list[tuple[Case, Advice]]] = {}
    for case, each in said:
        words.setdefault((each.what, each.remedy), []).append((case, each))
    for (what, remedy), about in words.items():
        text += _fill(what, prose)
        for case, each in about[:_MAX_EXAMPLES]:
            who = _who(case, short=True) if len(said) > 1 else ""
            log = case.log
            if who and log is not None:
                who += f" in {log}"
            text += _fill(f"Seen: {who}{': ' if who else ''}{each.evidence}.", prose)
        if len(about) > _MAX_EXAMPLES:
            text += _fill(f"… and {len(about) - _MAX_EXAMPLES:,} more", prose)
        text += _fill(f"Do: {remedy}", prose)
    return text


def _fill(text: str, prose: int) -> str:
    return "\n".join([*wrap(printable(text), prose, first="  ", rest="  "), ""])
