"""The position that rows say an open file description has, moment by moment.

It is put together from columns only: a transfer that uses the position leaves it after its last
byte (`offset` + `bytes`), a seek leaves it at its result, an open at 0. Which transfers use it is
shown by the call's arguments: `NULL` for the offset, or -1. So it is the model's answer where the
model had to know one, and None where it says that it does not know.
"""

import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from support.kernel import annotations

OPENS = {"open", "openat", "openat2", "creat", "memfd_create"}
AT_POSITION = {"read", "readv", "write", "writev"}
COPIES = {"dup", "dup2", "dup3", "fcntl"}
KNOWN = {None, "exact", "relative"}
PERHAPS = {"preadv2", "pwritev2"}
FDINFO = re.compile(r"/proc/(?:self|\d+)/fdinfo/(\d+)")
POS = re.compile(r"pos:\\t(\d+)")
Row = dict[str, Any]


def arguments(row: Row) -> list[str]:
    """The arguments of a call, without annotations, strings and what is inside of brackets."""
    plain = annotations.strip(row["args"].encode()).decode()
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', plain)
    while (inner := re.sub(r"\[[^][]*\]|\{[^{}]*\}", "#", plain)) != plain:
        plain = inner
    return plain.split(", ")


def moved(row: Row) -> Iterator[tuple[int | None, int | None, str | None]]:
    """Give description, first byte and class of each side of a transfer that uses the position."""
    name, args = row["name"], arguments(row) if row["args"] else []
    source = row["ofd"], row["offset"], row["access"]
    destination = row["ofd2"], row["offset2"], row["access2"]
    if name in AT_POSITION or (name in PERHAPS and args[3] == "-1"):
        yield source
    elif name == "sendfile":
        yield destination
        if args[2] == "NULL":
            yield source
    elif name in {"splice", "copy_file_range"}:
        if args[1] == "NULL":
            yield source
        if args[3] == "NULL":
            yield destination


class Positions:
    """Positions of descriptions, and what descriptors of a process mean."""

    def __init__(self) -> None:
        self.of: dict[int, int | None] = {}
        # Descriptions that appended at an end that the log does not show.
        self.lost: set[int] = set()
        self.description: dict[tuple[int, int], int] = {}

    def held(self, pid: int, fd: int) -> int | None:
        """Give the position of a descriptor, as the last row of the process that named it."""
        return self.of.get(self.description.get((pid, fd), -1))

    def is_lost(self, pid: int, fd: int) -> bool:
        """Whether the model says that it does not know the end that the description is at."""
        return self.held(pid, fd) is None and self.description.get((pid, fd)) in self.lost

    def take(self, row: Row) -> str | None:
        """Go on by one row; give what contradicts the rows before."""
        if row["status"] == "injected" or row["ret"] is None or row["ret"] < 0:
            return None
        self.name(row)
        if row["name"] in OPENS:
            self.of[row["ofd"]] = 0
        elif row["name"] in {"lseek", "_llseek"}:
            self.of[row["ofd"]] = row["ret"]
        else:
            return self.move(row)
        return None

    def name(self, row: Row) -> None:
        """Take what the row says that descriptors mean."""
        # A copy is of the description that it was made from.
        second = row["ofd"] if row["name"] in COPIES else row["ofd2"]
        for fd, ofd in ((row["fd"], row["ofd"]), (row["fd2"], second)):
            if fd is not None and ofd is not None:
                self.description[row["pid"], fd] = ofd
        if row["name"] == "close":
            self.description.pop((row["pid"], row["fd"]), None)

    def move(self, row: Row) -> str | None:
        problem = None
        for ofd, offset, access in moved(row):
            # Pipes have no offset, whatever is known of the other side.
            if ofd is None or (offset is None and row["offset_known"] in KNOWN):
                continue
            reads = row["name"].startswith(("read", "preadv"))
            if reads and offset is not None and self.of.get(ofd) not in {None, offset}:
                problem = f"began at {offset}, position was {self.of[ofd]} ({access})"
            if row["bytes"]:
                if row["offset_known"] == "unknown" and not reads:
                    self.lost.add(ofd)
                self.of[ofd] = None if offset is None else offset + row["bytes"]
        return problem


def held_and_told(rows: pl.DataFrame) -> tuple[list[str], int]:
    """Compare at each moment at which the program asked; say how often that was.

    What a description is at that appended at an unknown end, the model does not say.
    """
    positions = Positions()
    differences = []
    asked = 0
    folders = set()  # Their positions are cookies.
    for row in rows.iter_rows(named=True):
        asks = FDINFO.fullmatch(row["path"] or "") if row["name"] == "read" else None
        if asks and row["bytes"] and (shown := POS.search(row["args"])):
            fd, pos = int(asks[1]), int(shown[1])
            if positions.is_lost(row["pid"], fd):
                continue
            asked += 1
            held = positions.held(row["pid"], fd)
            if held != pos and (row["pid"], fd) not in folders:
                differences.append(f"line {row['line']}: {fd} is at {pos}, held {held}")
        elif row["name"] == "getdents64":
            folders.add((row["pid"], row["fd"]))
        elif problem := positions.take(row):
            differences.append(f"line {row['line']}, {row['name']}: {problem}")
    return differences, asked
