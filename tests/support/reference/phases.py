"""The phase of each row, found slowly and plainly: all marks of a process, one after the other."""

from __future__ import annotations

from collections import defaultdict

Row = dict[str, object]


class Phases:
    """The phases of the rows of logs, which come in the order in which they became complete."""

    def __init__(self, rows: list[Row]) -> None:
        self.leaders = {}
        for row in rows:
            if row["task"] is not None and row["tid"] == row["pid"]:
                self.leaders.setdefault((row["source"], row["pid"]), row["task"])
        self.marks = defaultdict(list)
        self.births = {}
        for index, row in enumerate(rows):
            process = self.process(row)
            text = row["path"] if is_mark(row) else row["args"] if row["kind"] == "marker" else None
            if (text or "").startswith("/tracefast/"):
                self.marks[process].append((row["ts"], *text.strip().split("/", 3)[2:]))
            if row["kind"] == "exit" and row["task"] == process[1] and row["name"] != "superseded":
                self.marks[process].append((row["ts"], "exit", None))
            if row["child"] is not None:
                child = (row["source"], row["child"])
                self.births.setdefault(child, (process, row["ts"], index))

    def process(self, row: Row) -> tuple:
        """Name the process of a row by its first task."""
        return (row["source"], self.leaders.get((row["source"], row["pid"]), row["task"]))

    def of_row(self, index: int, row: Row) -> str | None:
        """Give the phase in which a row began; marks themselves are in none."""
        return None if is_mark(row) else self.at(self.process(row), row["ts"], index)

    def at(self, process: tuple, ts: int, index: int) -> str | None:
        """Give the phase of a process at a time."""
        open_ = []
        for when, verb, name in sorted(self.marks[process], key=lambda mark: mark[0]):
            if when > ts:
                break
            if verb == "phase" and open_ and open_[-1][0] == "phase":
                open_.pop()
            if verb in ("phase", "begin"):
                open_.append((verb, name))
            elif verb == "exit":
                open_ = []
            else:
                found = [at for at, (_, other) in enumerate(open_) if other == name]
                open_ = open_[: found[-1]] if found else open_
        if open_:
            return open_[-1][1]
        if process not in self.births:
            return None
        maker, when, row = self.births[process]
        # Until the call that made it returns, a process is where this call began.
        return self.at(maker, when, row) if row > index else self.at(maker, ts, index)


def is_mark(row: Row) -> bool:
    """Say whether a row is a call that marks a phase."""
    words = (row["path"] or "").split("/", 3)
    return (
        row["kind"] == "syscall"
        and row["name"] in ("access", "faccessat", "faccessat2")
        and words[:2] == ["", "tracefast"]
        and words[2] in ("phase", "begin", "end")
    )


def with_phases(rows: list[Row]) -> list[Row]:
    """Give each row its phase."""
    phases = Phases(rows)
    return [row | {"phase": phases.of_row(index, row)} for index, row in enumerate(rows)]
