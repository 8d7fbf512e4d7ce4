"""What starting processes costs, on one screen: what, how often, where the time went, and why."""

import textwrap
from collections.abc import Sequence
from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case, Range
from tracefast.analysis.forks.measures.costs import busy
from tracefast.analysis.forks.summary import Report
from tracefast.cli.command_line.options import Format
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.write import deliver, on_terminal, screenful, terminal_width
from tracefast.cli.screen.condition import truth
from tracefast.cli.screen.forks.phases import Phase, phases
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.log_names import cut_apart, without_common_folders
from tracefast.quantities import duration, memory, percent_span, plural

# Where prose ends if there is no terminal to say so.
_PROSE: Final = 100
# Processes whose start takes less of the time have their line, but no table of their own.
_DEAR: Final = 0.05
_MOST_TABLES: Final = 3
_MOST_EXAMPLES: Final = 3
_GAP: Final = "  "
# What is left for the last column at least, and where names do without their folders.
_MIN_TEXT: Final = 12
_WHOLE_PATHS: Final = 40
_MIN_NOTE: Final = 20
# Where there is less for who started what, how often a second is not told.
_MIN_WHO: Final = 20
# Fewer happen at some speed by chance.
_MANY: Final = 10
# What the name of a log takes of a line of a terminal.
_MAX_LOG: Final = 16


def show(report: Report, request: Request) -> None:
    """Print the screen.

    Parameters
    ----------
    report
        What was found.
    request
        What was asked for: which lines the list has, how many, by which column of the summary it
        is sorted, if not by the cost that it shows.
    """
    terminal = on_terminal(Format.TABLE, request.output)
    top = request.top
    if top is None:
        # Below the list there is more to read.
        top = screenful(0) // 2 if terminal else 0
    width = terminal_width() if terminal else None
    wanted = arranged(report, request)
    text = screen(wanted, width=width, top=top)
    if report.cases and not wanted.cases:
        text = "Nothing that was started fulfils --where.\n"
    deliver(text.encode(), request.output, clobber=request.clobber)


def arranged(report: Report, request: Request) -> Report:
    """Keep the groups that are wanted, in the order that is.

    Parameters
    ----------
    report
        What was found.
    request
        What was asked for: a condition, a column to sort by; without one it is the cost without
        the tracer's share, which is what the list shows.
    """
    kept = report.summary.with_row_index("row")
    if request.where is not None:
        kept = kept.filter(truth(report.summary, request.where))
    if request.sort is not None:
        keys = kept[request.sort]
        kept = kept[keys.arg_sort(descending=keys.dtype.is_numeric(), nulls_last=True)]
    order = kept["row"].to_list()
    if request.sort is None:
        order.sort(key=lambda row: _by_price(report.cases[row]))
    return Report(
        report.summary[order], [report.cases[i] for i in order], [report.advice[i] for i in order]
    )


def _by_price(case: Case) -> tuple[bool, int, int]:
    """Give what the list is sorted by: the cost without the tracer's share, as it stands there."""
    return (not case.known("tax_ns"), -case.price.high, -case.price.low)


def screen(report: Report, *, width: int | None = None, top: int = 0) -> str:
    """Lay the summary and the advice out as text.

    Parameters
    ----------
    report
        What was found.
    width
        Columns of the terminal; None for lines that are not cut.
    top
        How many lines the list has at most; 0 for all.

    Returns
    -------
    str
        Ends with a line feed.
    """
    cases = report.cases
    if not cases:
        return "The log shows no process that was started.\n"
    prose = min(width or _PROSE, _PROSE)
    shown = cases[:top] if top else cases
    parts = [_headline(cases, prose), _list(shown, len(cases) - len(shown), width)]
    dear = [case for case in shown if case.share("wall_share") >= _DEAR]
    parts += [_details(case, width) for case in dear[:_MOST_TABLES]]
    parts += _advice(report, prose)
    return "\n".join(parts)


def _headline(cases: Sequence[Case], prose: int) -> str:
    """Say in a few sentences what it is all about."""
    walls = {case.text("source"): case.number("wall_ns") for case in cases}
    failed = sum(case.number("failed") for case in cases)
    started = plural(
        sum(case.count for case in cases), "process was started", "processes were started"
    )
    price = Range(sum(case.price.low for case in cases), sum(case.price.high for case in cases))
    spans = int(busy(cases[0].table, ["source"])["covered"].sum())
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
    if not wall:
        text += " The log does not say when, or to the second only: record with strace -ttt."
    untold = sum(_untold(case) for case in cases)
    if untold:
        text += (
            f" How long it took is not known of {plural(untold, 'process', 'processes')}: record"
            " with strace -ttt -T."
        )
    if any(case.traced for case in cases):
        text += (
            " strace slows down what it traces: single numbers are as logged, ranges leave out what"
            " may be its own share."
        )
    return textwrap.fill(text, prose) + "\n"


def _untold(case: Case) -> int:
    """Count the processes of which the log does not say how long the call took that made them.

    A clock that ticks in seconds says as little.
    """
    if case.known("tax_ns") and not case.number("tax_ns"):
        return case.count
    return int(case.rows["call_ns"].null_count())


def _list(cases: Sequence[Case], hidden: int, width: int | None) -> str:
    """Give a line for each group."""
    lines = [["times", "how", "per s", "at once", "cost", "of time", "who started what"]]
    for case in cases:
        rate = case.summary["rate_per_s"]
        lines.append(
            [
                f"{case.count:,}",
                case.text("kind") or "?",
                f"{rate:,.1f}" if isinstance(rate, float) and case.count >= _MANY else "-",
                f"{case.number('in_flight_max'):,}" if case.known("in_flight_max") else "-",
                _short(str(case.price)) if case.number("tax_ns") else "-",
                _short(percent_span(*case.price_share)) if case.share("wall_share") else "-",
                _who(case),
            ]
        )
    if len({case.text("source") for case in cases}) > 1:
        logs = [printable(case.text("source") or "-") for case in cases]
        if width is not None:
            logs = cut_apart(without_common_folders(logs), _MAX_LOG)
        logs = ["log", *logs]
        lines = [[*line[:-1], log, line[-1]] for line, log in zip(lines, logs, strict=True)]
    right: Sequence[int] = (0, 2, 3, 4, 5)
    if width is not None and _room(lines, width) < _WHOLE_PATHS:
        for line, case in zip(lines[1:], cases, strict=True):
            line[-1] = _who(case, short=True)
        # How many at once, most can do without.
        lines, right = [[*line[:3], *line[4:]] for line in lines], (0, 2, 3, 4)
        if _room(lines, width) < _MIN_WHO:
            lines, right = [[*line[:2], *line[3:]] for line in lines], (0, 2, 3)
    text = _aligned(lines, right=right, width=width)
    return text + (f"{plural(hidden, 'more row')}; --top 0 prints all\n" if hidden else "")


def _short(text: str) -> str:
    """Write a range as a table does.

    Examples
    --------
    >>> _short("9.60 to 46.7 ms"), _short("at most 3 %")
    ('9.60-46.7 ms', '≤ 3 %')
    """
    return text.replace(" to ", "-").replace("at most ", "≤ ")


def _details(case: Case, width: int | None) -> str:
    """Give the phases of one group as a table; notes go on where the terminal ends."""
    prose = min(width or _PROSE, _PROSE)
    head = f"{_who(case)}: {plural(case.count, _kind(case))}"
    if case.known("parent_anon_max_bytes"):
        low, high = case.number("parent_anon_min_bytes"), case.number("parent_anon_max_bytes")
        head += f" by a parent with {memory(low, high)} of its own memory"
    lines = [list(phase) for phase in phases(case)]
    heads = list(Phase("", "median", "95 %", "sum", "of time", ""))
    lines = [heads, *lines]
    if width is not None:
        room = max(_room(lines, width), _MIN_NOTE)
        lines = [
            [*(line[:-1] if i == 0 else [""] * (len(line) - 1)), note]
            for line in lines
            for i, note in enumerate(textwrap.wrap(line[-1], room) or [""])
        ]
    text = textwrap.fill(head, prose) + "\n" + _aligned(lines, right=(1, 2, 3, 4))
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
    """Say what to change, rule by rule; the same advice about several groups once."""
    found: dict[str, list[tuple[Case, Advice]]] = {}
    for case, said in zip(report.cases, report.advice, strict=True):
        for each in said:
            found.setdefault(each.code, []).append((case, each))
    if not found:
        return []
    return ["What to change\n", *(_piece(code, said, prose) for code, said in found.items())]


def _piece(code: str, said: list[tuple[Case, Advice]], prose: int) -> str:
    """Say what one rule found: what is the same for several groups, once."""
    savings = [each.saving for _, each in said if each.saving is not None]
    total = Range(sum(s.low for s in savings), sum(s.high for s in savings))
    text = f"{code}" + (f": saves {total}" if total.high else "") + "\n"
    words: dict[tuple[str, str], list[tuple[Case, Advice]]] = {}
    for case, each in said:
        words.setdefault((each.what, each.remedy), []).append((case, each))
    for (what, remedy), about in words.items():
        text += _filled(what, prose)
        for case, each in about[:_MOST_EXAMPLES]:
            who = f"{_who(case, short=True)}: " if len(said) > 1 else ""
            text += _filled(f"Seen: {who}{each.evidence}.", prose)
        if len(about) > _MOST_EXAMPLES:
            text += _filled(f"… and {len(about) - _MOST_EXAMPLES:,} more", prose)
        text += _filled(f"Do: {remedy}", prose)
    return text


def _filled(text: str, prose: int) -> str:
    lines = textwrap.fill(
        printable(text),
        prose,
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines + "\n"


def _aligned(lines: list[list[str]], right: Sequence[int], width: int | None = None) -> str:
    """Align columns; the last is cut in its middle where the terminal ends."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    if width is not None:
        widths[-1] = max(min(widths[-1], _room(lines, width)), _MIN_TEXT)
    text = ""
    for line in lines:
        cells = [*line[:-1], _cut(line[-1], widths[-1])]
        text += (
            _GAP.join(
                cell.rjust(wide) if i in right else cell.ljust(wide)
                for i, (cell, wide) in enumerate(zip(cells, widths, strict=True))
            ).rstrip()
            + "\n"
        )
    return text


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


def _room(lines: list[list[str]], width: int) -> int:
    """Say how much of a line is left for the last column."""
    others = range(len(lines[0]) - 1)
    return width - sum(max(len(line[i]) for line in lines) + len(_GAP) for i in others)
