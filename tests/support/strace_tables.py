"""The tables of calls and errors that strace prints itself (`-c`, `-C`), read by their rules.

The one under the head says which columns of the page belong to which column of the table, so that
blank counts of errors and any choice of columns (`-U`) are understood.
"""

import re
from collections.abc import Iterable
from pathlib import Path

# Calls and errors; errors are unknown where the table has no such column.
Counts = dict[str, tuple[int, int | None]]

# strace colours its messages and tables only where it colours the trace.
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
NUMBER = re.compile(r"syscall_(0x[0-9a-f]+|\d+)")
RULE = re.compile(rb"-{4,}(?: -{4,})*")
# strace counts a call when it returns. These never do.
ENDLESS = frozenset({"exit", "exit_group"})
# Nor does strace see the end of calls with these states: the task died in them, or was let go.
NO_END = frozenset({"unfinished", "killed", "detached", "superseded", "truncated"})


def spans(head: bytes, rule: bytes) -> dict[str, slice]:
    """Columns of the page, by name; the last is open to the right."""
    ends = [match.end() for match in re.finditer(rb"-+", rule)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    ends[-1] = max(len(head), ends[-1]) + 1000
    return {
        head[start:end].strip().decode(): slice(start, end)
        for start, end in zip(starts, ends, strict=True)
    }


def parsed(text: bytes) -> list[list[dict[str, bytes]]]:
    """The lines of each table in the text, as cells by the heads of their columns; no totals."""
    found: list[list[dict[str, bytes]]] = []
    lines = [COLOUR.sub(b"", line) for line in text.split(b"\n")]
    at = 0
    while at + 1 < len(lines):
        head, rule = lines[at], lines[at + 1]
        at += 1
        if not RULE.fullmatch(rule) or not re.search(rb"\bsyscall\b", head):
            continue
        columns = spans(head, rule)
        at += 1
        table = []
        while at < len(lines) and not RULE.fullmatch(lines[at]):
            table.append({name: lines[at][where].strip() for name, where in columns.items()})
            at += 1
        # The second rule, and the total below it.
        at += 1
        found.append(table)
    return found


def tables(text: bytes) -> list[Counts]:
    """Calls and errors per system call, of each table in the text; without the totals.

    Tables that do not count calls are left out.
    """
    found: list[Counts] = []
    for table in parsed(text):
        if any("calls" not in cells for cells in table):
            continue
        counts: Counts = {}
        for cells in table:
            errors = int(cells["errors"] or b"0") if "errors" in cells else None
            counts[cells["syscall"].decode()] = (int(cells["calls"]), errors)
        found.append(counts)
    return found


def seconds(text: bytes) -> dict[str, tuple[int, float]]:
    """Calls and seconds per system call, of the first table in the text."""
    return {
        cells["syscall"].decode(): (int(cells["calls"]), float(cells["seconds"]))
        for cells in parsed(text)[0]
    }


def total(found: list[Counts]) -> Counts:
    """The sum of several tables: of the personalities of one trace."""
    calls: Counts = {}
    for table in found:
        for name, (n, errors) in table.items():
            before, failed = calls.get(name, (0, 0))
            known = failed is not None and errors is not None
            calls[name] = (before + n, failed + errors if known else None)
    return calls


def of_log(log: Path) -> Counts | None:
    """The sum of the tables in a log; `None` where it has none that counts calls."""
    found = tables(log.read_bytes())
    return total(found) if found else None


def differences(expected: Counts, rows: Iterable[tuple[str, str, str | None]]) -> list[str]:
    """Compare a table with rows of calls: name, status and error of each.

    Calls by number are in the tables of late versions only, so they need not be there.
    """
    found: dict[str, list[int]] = {}
    for name, status, errno in rows:
        if name not in ENDLESS and status not in NO_END:
            count = found.setdefault(name, [0, 0])
            count[0] += 1
            count[1] += errno is not None
    out = []
    for name in sorted(expected.keys() | found.keys()):
        calls, errors = expected.get(name, (0, 0))
        n, failed = found.get(name, [0, 0])
        by_number = name not in expected and NUMBER.fullmatch(name) is not None
        if not by_number and (n != calls or (errors is not None and failed != errors)):
            out.append(f"{name}: strace counts {calls} ({errors} errors), rows {n} ({failed})")
    return out


def counted_differently(expected: Counts, counted: Iterable[tuple[str, int, int]]) -> list[str]:
    """Compare a table with what was counted as strace counts: name, calls and errors of each."""
    found = {name: (calls, errors) for name, calls, errors in counted}
    out = []
    for name in sorted(expected.keys() | found.keys()):
        calls, errors = expected.get(name, (0, 0))
        n, failed = found.get(name, (0, 0))
        by_number = name not in expected and NUMBER.fullmatch(name) is not None
        if not by_number and (n != calls or (errors is not None and failed != errors)):
            out.append(f"{name}: strace counts {calls} ({errors} errors), we {n} ({failed})")
    return out


def timed_differently(
    expected: dict[str, tuple[int, float]], counted: Iterable[tuple[str, int]]
) -> list[str]:
    """Compare the seconds of a table of `-w` with nanoseconds summed up from `-T`.

    strace sums up nanoseconds and prints microseconds, in the lines cut off, in the table rounded.
    """
    found = dict(counted)
    out = []
    for name, (calls, wanted) in expected.items():
        missing = wanted - found.get(name, 0) / 1e9
        if not -0.6e-6 < missing < (calls + 0.6) * 1e-6:
            out.append(f"{name}: strace says {wanted} s, {missing * 1e6:.1f} us are missing")
    return out
