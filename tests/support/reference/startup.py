"""Dynamic linking, found by looking at all calls after an execve: a part of the slow table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from support.reference.tasks import Life, Row, end_of, is_event, less, returns, starts, took_place

LINKER = re.compile(
    "mmap2?|old_mmap|munmap|(pkey_)?mprotect|read|pread(64)?|close|brk|open|openat|[lf]?stat|"
    "[lf]?stat64|newfstatat|fstatat64|statx|access|faccessat2?|readlink|readlinkat|arch_prctl|"
    "set_(tid_address|robust_list|thread_area|tls)|rseq|prlimit64|u?getrlimit|uname|"
    "gete?[ug]id(32)?"
)


def startup(child: Life) -> Row:
    """Give the four columns; none of them where nothing was linked."""
    if child.exec is None:
        return {}
    steps = calls_after(child)
    found = Linking().end(steps)
    if found is None:
        return {}
    at, libraries = found
    return {
        "startup_ns": less(end_of(steps[at]), end_of(child.exec[1])),
        "startup_calls": at + 1,
        "startup_libraries": libraries,
        "startup_misses": sum(row["errno"] == "ENOENT" for row in steps[: at + 1]),
    }


def calls_after(child: Life) -> list[Row]:
    """Give the calls from the execve to the next one, or to the end."""
    steps = []
    for i, row in child.rows:
        if i <= child.exec[0]:
            continue
        if starts(row) or row["kind"] == "exit" or is_event(row, "sched_process_exit"):
            break
        if took_place(row) and not returns(row):
            steps.append(row)
    return steps


@dataclass
class Linking:
    """What was mapped so far."""

    libraries: int = 0
    cache: tuple[int, int] | None = None
    others: list[tuple[int, int]] = field(default_factory=list)

    def end(self, steps: list[Row]) -> tuple[int, int] | None:
        """Give the number of the last call of the linker, and the libraries until then."""
        only_linkers, last = True, None
        for at, row in enumerate(steps):
            only_linkers &= LINKER.fullmatch(row["name"]) is not None
            if row["name"] == "munmap" and self.libraries and self.unmaps(row):
                return at, self.libraries
            if only_linkers and row["name"].startswith("mmap"):
                self.map(row)
            if only_linkers and row["name"] in ("mprotect", "pkey_mprotect") and self.libraries:
                last = at, self.libraries
        return last

    def map(self, row: Row) -> None:
        if row["fd"] is None or row["fd"] < 0 or row["ret"] in (None, -1):
            return
        executable = "[^,]*, [^,]*, (?:[^,]*PROT_EXEC|(?:prot: )?[57],)"
        self.libraries += bool(re.match(executable, row["args"] or ""))
        if row["offset"] == 0 and row["requested"] is not None:
            mapping = (row["ret"], row["requested"])
            if (row["path"] or "").endswith("/ld.so.cache"):
                self.cache = mapping
            else:
                self.others.append(mapping)

    def unmaps(self, row: Row) -> bool:
        """Say whether a call unmaps all of what may be the cache."""
        # Of ftrace both numbers are hexadecimal.
        pattern = r"(0x|addr: 0x|addr: |)([0-9a-f]+), (?:len: )?(?:0x)?(\w+)"
        found = re.match(pattern, row["args"] or "")
        if not found or row["ret"] != 0:
            return False
        there = (int(found[2], 16), int(found[3], 10 if found[1] == "0x" else 16))
        return there == self.cache if self.cache else there in self.others
