"""Print who waits for whom: who hangs and why, the longest waits, and who waited for whom."""

from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from tracefast.analysis.waits.pairs import pairs
from tracefast.analysis.waits.table import STUCK, stuck_rows
from tracefast.analysis.waits.timers import OWN_TIMER
from tracefast.cli.command_line.request import Request
from tracefast.cli.output.form import Format
from tracefast.cli.output.terminal import is_terminal_table, screen_rows, terminal_width
from tracefast.cli.output.write import write_bytes
from tracefast.cli.screen.matching import NOTHING_MATCHES
from tracefast.cli.system.colours import with_bold_heading
from tracefast.cli.text import units
from tracefast.cli.text.escaping import printable
from tracefast.cli.text.layout import align
from tracefast.cli.text.paragraph import wrap
from tracefast.cli.text.shorten import cut_middle
from tracefast.quantities import plural

Row = dict[str, Any]

# Lines of each list, where there is no terminal.
_LINES: Final = 20
_MOST_STUCK: Final = 40
_MIN_WIDTH: Final = 40
# Times of logs that count from the start of the machine are in this year.
_UPTIME: Final = 1970
# Of a log without times: a signal or death took the task out of it.
_DIED: Final = (pl.col("end") == "signal") & pl.col("dur_ns").is_null()
# The branch to those who wait for the one above, and the room for what is said of it.
_BRANCH: Final = "\N{BOX DRAWINGS LIGHT UP AND RIGHT}\N{BOX DRAWINGS LIGHT HORIZONTAL} "
_INDENT: Final = " " * 12
_PROSE_WIDTH: Final = 100
_PROOFS: Final = {
    "private-futex": "All threads of the process wait, and only they could wake it",
    "cycle": "Those who could wake it wait for it",
    "own-pipe": "Only the process itself holds the other end",
    "no-writer": "Nobody else could end the wait",
    "lost-child": "The process that would have ended the wait died",
    "held-lock": "Who holds the lock never lets it go",
}
_BECAUSE: Final = {
    "private-futex": "forked while thread {tid} of {pid} ran: the child has the locks of that"
    " thread, and not the thread",
    "dead-thread": "its thread {tid}, which used that lock, ended",
    "cycle": "{tid} began to wait, and closed the circle",
    "own-pipe": "from here the process holds the other end itself",
    "no-writer": "from here nobody else holds it",
    "lost-child": "{pid} died",
    "held-lock": "{tid} locked it",
}
_ADVICE: Final = {
    "private-futex": "start workers before threads, or use forkserver or spawn",
    "dead-thread": "give a lock back before the thread that has it ends",
    "threads": "take locks in the same order in all threads",
    "cycle": "take locks in one order; read what a process writes before waiting for its end",
    "own-pipe": "close the ends of pipes that a process does not use, after each fork",
    "no-writer": "check who was meant to write, and that it still has the descriptor",
    "lost-child": "find out why it died, and wait for its end as well as for its data",
    "held-lock": "let the lock go before the file is locked again through another descriptor",
}
_LIKELY: Final = (
    "A likely-deadlock is not proved: the log ends within 0.1 s, or does not show where all tasks"
    " come from, or whether the wait has a limit"
)
_GAPS: Final = {
    "no-times": "The log has no times, and cannot say how long a wait took: record with -ttt -T",
    "no-durations": "The log has no durations, so waits that ended are not in it: record with -T",
    "no-children": "The log has no thread ids: other threads and children are not in it, so nothing"
    " is called a deadlock. Record with -f",
    "lost": "The tracer lost events, so nothing is called a deadlock: record with a larger buffer",
    "attached": "The log starts in mid-run, or not all calls were traced. It does not show who"
    " holds older pipes, so nothing is called a deadlock: start it under strace, without -e",
    "filtered": "Not all calls were traced, so nothing is called a deadlock: record without -e",
}


def print_waits_report(
    rows: pl.DataFrame, request: Request, *, gaps: list[str], chosen: bool = False
) -> None:
    """Print the report.

    Parameters
    ----------
    rows
        The waits, with their details.
    request
        What was asked for: where to, how many lines.
    gaps
        What the logs lack.
    chosen
        There are others, which are not wanted.
    """
    terminal = is_terminal_table(Format.TABLE, request.output)
    width = terminal_width() if terminal else None
    most = request.top
    if most is None:
        most = max(screen_rows(0) // 4, 5) if terminal else _LINES
    top = most or rows.height
    text = render(rows, gaps=gaps, width=width, top=top, chosen=chosen)
    write_bytes(text.encode(), request.output, clobber=request.clobber)


def render(
    rows: pl.DataFrame, *, gaps: list[str], width: int | None, top: int, chosen: bool = False
) -> str:
    """Write the report; at most `top` lines for each list.

    Parameters
    ----------
    rows
        The waits, with their details.
    gaps
        What the logs lack.
    width
        The width of the terminal; None for no limit.
    top
        Lines of each list.
    chosen
        As for `print_waits_report`.
    """
    lines = [line for gap in gaps for line in wrap(_GAPS[gap], width or _PROSE_WIDTH)]
    parts = [lines] if lines else []
    parts += [_stuck(stuck_rows(rows.lazy()).collect(), width), _open(rows, top, width)]
    parts += [_longest(rows, top, width), _pairs(rows, top, width)]
    parts = [part for part in parts if part]
    if not parts:
        return NOTHING_MATCHES if chosen else "No such wait.\n"
    text = "\n\n".join("\n".join(_fit(line, width) for line in part) for part in parts)
    return text + "\n"


def _fit(line: str, width: int | None) -> str:
    return line if width is None else cut_middle(line, max(width, _MIN_WIDTH))


def _program(row: Row, image: str = "image") -> str:
    path = row[image]
    return "?" if path is None else printable(path.rpartition("/")[2])


def _what(row: Row) -> str:
    name = row["name"] or "off the CPU"
    what = row["object"] or (row["on"] if row["on"] != "other" else None)
    if what is None or what.startswith(f"{name} "):
        return printable(what or name)
    return f"{name} {printable(what)}"


def _time(ts: object) -> str:
    if not isinstance(ts, datetime):
        return "?"
    if ts.year == _UPTIME:
        # The log counts from the start of the machine.
        return f"{ts.replace(tzinfo=UTC).timestamp():.1f}"
    return f"{ts:%H:%M:%S}.{ts.microsecond // 100_000}"


def _stuck(rows: pl.DataFrame, width: int | None) -> list[str]:
    """Write who hangs: the roots, and below each of them those who wait for it."""
    if rows.is_empty():
        return []
    prose = width or _PROSE_WIDTH
    lines = [*wrap(_head(rows), prose), ""]
    shown = rows.head(_MOST_STUCK).rows(named=True)
    cells = []
    for row in shown:
        stalled = row["verdict"] == "stalled"
        verdict = (_BRANCH if stalled else "") + row["verdict"]
        for_whom = f"waits for {row['root_pid']}" if stalled else ""
        who = row["tid"] if row["tid"] is not None else row["pid"]
        program = _program(row) if who is None else f"{_program(row)} {who}"
        cells.append([verdict, program, _what(row), for_whom])
    several = rows["source"].n_unique() > 1
    for row, line in zip(shown, align(cells), strict=True):
        lines.append(line)
        if row["proof"] is not None:
            why = " ".join(
                filter(None, [f"{_PROOFS[row['proof']]}.", _because(row, several=several)])
            )
            lines += wrap(why, prose, first=_INDENT, rest=_INDENT)
    if rows.height > len(shown):
        lines.append(f"{rows.height - len(shown):,} more; --stuck prints all")
    if "likely-deadlock" in rows["verdict"]:
        lines += wrap(_LIKELY, prose)
    causes = {_cause(row) for row in rows.rows(named=True)}
    proofs = [proof for proof in _ADVICE if proof in causes]
    said = [f"What to do: {_ADVICE[proof]}" for proof in proofs]
    advice = [line for text in said for line in wrap(text, prose)]
    return [*lines, *advice, "See docs/hangs.md"] if advice else lines


def _head(rows: pl.DataFrame) -> str:
    """Say how many hang, and since when."""
    never = rows.filter(pl.col("verdict") != "stalled").height
    follow = rows.height - never
    longest = rows["open_ns"].max()
    since = _time(rows["ts"].min())
    head = f"STUCK since {since}"
    if isinstance(longest, int):
        head += f", at least {units.duration(longest)}"
    proved = rows.filter(pl.col("verdict") == "deadlock").height
    if proved:
        head += f": {plural(proved, 'task')} can never go on"
    if never > proved:
        head += f"{',' if proved else ':'} {plural(never - proved, 'task')} may never go on"
    if follow:
        head += f", {plural(follow, 'waits', 'wait')} for {'it' if never == 1 else 'them'}"
    return head


def _cause(row: Row) -> str:
    """Say what a deadlock came of: its proof; of locks of threads, what the log shows of them."""
    if row["proof"] != "private-futex":
        return str(row["proof"])
    if row["because_line"] is None:
        return "threads"
    return "dead-thread" if row["because_pid"] == row["pid"] else "private-futex"


def _because(row: Row, *, several: bool) -> str | None:
    """Write the line that explains why a wait can never end; of which log, if there are several."""
    line, tid, pid = row["because_line"], row["because_tid"], row["because_pid"]
    if line is None:
        return None
    proof = _cause(row)
    log = f" of {printable(row['source'].rpartition('/')[2])}" if several else ""
    return f"Line {line}{log}: {_BECAUSE[proof].format(tid=tid, pid=pid)}."


def _ends(row: Row) -> str:
    """Say what ends a wait of which nothing else is known."""
    if row["timeout_ns"] is not None:
        return f"its timeout of {units.duration(row['timeout_ns'])} ends it"
    return "the log does not show what could end it"


def _enders(row: Row) -> str:
    """Say who could end a wait."""
    could, timer = row["could_wake"], row.get(OWN_TIMER)
    if timer is not None:
        return f"its own timer{f' of {units.duration(timer)}' if timer else ''}"
    return "somebody outside of the log" if could is None else plural(len(could), "task")


def _open(rows: pl.DataFrame, top: int, width: int | None) -> list[str]:
    """Write the waits without an end of which nobody can say that they hang."""
    waiting = pl.col("verdict") == "waiting"
    rest = rows.filter(
        ((pl.col("end") == "open") | waiting | _DIED)
        & ~pl.col("verdict").is_in(STUCK).fill_null(value=False)
    ).sort("open_ns", descending=True, nulls_last=True)
    if rest.is_empty():
        return []
    cells = [["at least", "tid", "program", "waits in", ""]]
    for row in rest.head(top).rows(named=True):
        length = "-" if row["open_ns"] is None else units.duration(row["open_ns"])
        who = row["verdict"] or _ends(row)
        if row["verdict"] == "waiting":
            who = f"{_enders(row)} could end it"
        cells.append([length, str(row["tid"] or "-"), _program(row), _what(row), who])
    title = f"{plural(rest.height, 'wait')} without an end of their own"
    title = title if rest.height > 1 else "1 wait without an end of its own"
    return [
        title,
        "",
        *with_bold_heading(align(cells, right=[0, 1]), width),
        *_more(rest.height, top),
    ]


def _longest(rows: pl.DataFrame, top: int, width: int | None) -> list[str]:
    """Write the longest waits that ended, and who ended them."""
    ended = rows.filter(
        pl.col("dur_ns").is_not_null()
        & (pl.col("on") != "timer")
        & ~pl.col("verdict").is_in([*STUCK, "waiting"]).fill_null(value=False)
    )
    if ended.is_empty():
        return []
    cells = [["waited", "tid", "program", "in", "ended by"]]
    for row in ended.sort("dur_ns", descending=True).head(top).rows(named=True):
        by = row["end"] if row["end"] != "woken" else "-"
        if row["waker_pid"] is not None:
            sure = "" if row["waker_known"] == "exact" else "probably "
            by = f"{sure}{row['waker_pid']} (line {row['waker_line']})"
        cells.append(
            [units.duration(row["dur_ns"]), str(row["tid"] or "-"), _program(row), _what(row), by]
        )
    sleeps = rows.filter(pl.col("dur_ns").is_not_null() & (pl.col("on") == "timer")).height
    title = f"{plural(ended.height, 'wait')} that ended"
    if sleeps:
        title += f", and {plural(sleeps, 'sleep')}"
    return [
        title,
        "",
        *with_bold_heading(align(cells, right=[0, 1]), width),
        *_more(ended.height, top),
    ]


def _pairs(rows: pl.DataFrame, top: int, width: int | None) -> list[str]:
    """Write which process waited for which."""
    known = pairs(rows.lazy()).collect().filter(pl.col("waker_pid").is_not_null())
    keys = ["waiter_pid", "waiter_image", "waker_pid", "waker_image", "on"]
    both = (
        known.group_by(keys)
        .agg(pl.col("count").sum(), pl.col("total_ns").sum(), pl.col("max_ns").max())
        .sort("total_ns", *keys, descending=[True, *[False] * len(keys)])
    )
    if both.is_empty():
        return []
    cells = [["total", "max", "waits", "who", "for", "on"]]
    cells += [
        [
            units.duration(row["total_ns"]),
            units.duration(row["max_ns"]),
            f"{row['count']:,}",
            f"{_program(row, 'waiter_image')} {row['waiter_pid']}",
            f"{_program(row, 'waker_image')} {row['waker_pid']}",
            row["on"],
        ]
        for row in both.head(top).rows(named=True)
    ]
    return [
        "Who waited for whom",
        "",
        *with_bold_heading(align(cells, right=[0, 1, 2]), width),
        *_more(both.height, top),
    ]


def _more(rows: int, top: int) -> list[str]:
    return [f"{rows - top:,} more; --top 0 prints all"] if rows > top else []
