"""Which pages of which file a request to a block device moved."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

import polars as pl

from tracefast.analysis.files.page_cache import ADD, AHEAD, FAULT, LOOKUP

# Who writes pages of an inode says so with these, and how many were written: the first two only of
# kernel threads, the others also of fsync, and of a close of a file that was truncated.
WRITTEN: Final = "writeback_single_inode"
_OF_EXT4: Final = "ext4_writepages_result"
_OF_INODE: Final = "writeback_single_inode_start"
_WRITING: Final = (_OF_INODE, "ext4_writepages")
WRITE_BACK: Final = (*_WRITING, WRITTEN, _OF_EXT4)
# What a task asks the block layer for. Others may make the request from it, later.
QUEUED: Final = "block_bio_queue"
_OF_WRITE_BACK: Final = (*WRITE_BACK, QUEUED)
# A step of a task after which the pages it added so far belong to no later request.
CALL: Final = "call"
_ENDS: Final = frozenset((CALL, LOOKUP, FAULT, *AHEAD))
_SECTOR_BYTES: Final = 512

File = tuple[str, int]


class Step(NamedTuple):
    """A record of one task that says which pages it added, or what it requested."""

    row: int
    tid: int
    name: str
    dev: str | None
    ino: int | None
    start: int
    """First byte of the file; of a request, its first sector."""
    size: int
    """Bytes."""
    op: str | None = None
    meta: bool = False


class Moved(NamedTuple):
    """A part of a request that moved bytes of one file."""

    request: int
    """The row of the request."""
    file_dev: str | None
    ino: int | None
    start: int | None
    """First byte of the file, None where only the file is known."""
    bytes: int


SCHEMA: Final[dict[str, pl.DataType | type[pl.DataType]]] = {
    "request": pl.UInt32,
    "file_dev": pl.String,
    "ino": pl.UInt64,
    "start": pl.Int64,
    "bytes": pl.Int64,
}


def moved(steps: Iterable[Step]) -> pl.DataFrame:
    """Find the pages that requests moved.

    The kernel adds pages to its cache and then requests them, in the same task and in the same
    order (``read_pages`` in mm/readahead.c). So what a task requested belongs to the pages that it
    added just before, if there are as many bytes of both. Where they differ, as for files with
    holes, only the file is known, if it is one. From then on the log shows where the pages are on
    the device, which names the file of other requests for the same sectors, whoever makes them.
    What write-back of an inode queues is of that inode, if it is as much as write-back says that it
    has written: there may also be blocks of the file system (``jbd2_log_do_checkpoint``).
    Where a task requested nothing for pages that it was to read, a later read of just their size
    by a kernel thread is taken for theirs.

    Parameters
    ----------
    steps
        The records of one log, in order.

    Returns
    -------
    polars.DataFrame
        One row per request and file, with `SCHEMA`; the parts of a request have all its bytes.

    Examples
    --------
    >>> moved(
    ...     [
    ...         Step(0, 7, ADD, "254:0", 66, 4096, 8192),
    ...         Step(1, 7, "block_rq_issue", "254:0", None, 800, 8192, "read"),
    ...         Step(2, 9, "block_rq_issue", "254:0", None, 808, 4096, "write"),
    ...         Step(3, 9, "block_rq_issue", "254:0", None, 0, 4096, "write"),
    ...     ]
    ... ).rows()
    [(1, '254:0', 66, 4096, 8192), (2, '254:0', 66, 8192, 4096), (3, None, None, None, 4096)]
    """
    finder = _Finder()
    for step in steps:
        finder.step(step)
    finder.finish()
    return pl.DataFrame(finder.parts, schema=SCHEMA, orient="row").sort("request", "start")


@dataclass
class _Task:
    """What a task has added or written since its requests were last accounted for."""

    ahead: bool = False
    writing: bool = False
    queued: list[Step] = field(default_factory=list)
    named: int = 0
    """Bytes that write-back has queued, and whose file is known."""
    pages: list[Step] = field(default_factory=list)
    requests: list[Step] = field(default_factory=list)
    written: list[Step] = field(default_factory=list)
    writes: list[Step] = field(default_factory=list)


class _Extent(NamedTuple):
    """Consecutive sectors of a device that hold consecutive bytes of a file."""

    first: int
    end: int
    file: File
    start: int | None
    """None where only the file is known."""


class _Finder:
    def __init__(self) -> None:
        self.parts: list[Moved] = []
        self._tasks: dict[int, _Task] = {}
        # By device, sorted by the first sector.
        self._extents: dict[str, list[_Extent]] = {}
        self._unknown: list[Step] = []
        # Devices for which the log shows what tasks queue: reads are known by that.
        self._queues: set[str | None] = set()
        # Pages that were to be read, but not by a request of their task, by device and size.
        self._unread: dict[tuple[str | None, int], list[Step]] = {}

    def step(self, step: Step) -> None:
        task = self._tasks.setdefault(step.tid, _Task())
        if step.name == ADD:
            if task.requests:
                self._settle_reads(task)
            task.pages.append(step)
        elif step.name in _OF_WRITE_BACK:
            self._write_back(step, task)
        elif step.name in _ENDS:
            self._settle_reads(task)
            task.ahead = step.name in AHEAD
            if step.name == CALL:
                self._settle_writes(task)
        elif step.meta or step.op not in {"read", "write"} or not step.size:
            self._without_pages(step, task)
        elif step.op == "read" and step.dev in self._queues:
            self._unknown.append(step)
        elif step.op == "read":
            task.requests.append(step)
        else:
            task.writes.append(step)
            self._settle_equal(task)

    def _write_back(self, step: Step, task: _Task) -> None:
        if step.name in _WRITING:
            task.writing, task.queued = True, []
            task.named = 0 if step.name == _OF_INODE else task.named
        elif step.name != QUEUED:
            self._written(step, task)
        elif task.writing and step.op == "write" and not step.meta:
            task.queued.append(step)
        elif step.op == "read" and step.size:
            self._queues.add(step.dev)
            if step.meta:
                _drop_page(step, task)
            else:
                task.requests.append(step)

    def _written(self, step: Step, task: _Task) -> None:
        """Account for what write-back of an inode has written."""
        queued, task.queued, task.writing = task.queued, [], False
        named = step.size > 0 and sum(one.size for one in queued) == step.size
        if named:
            task.named += step.size
            for one in queued:
                self._learn(one, [Moved(one.row, step.dev, step.ino, None, one.size)])
        # With ext4's own events the kernel's are around them.
        if step.name == WRITTEN and step.size > task.named:
            task.written.append(step)
            self._settle_equal(task)

    def finish(self) -> None:
        for task in self._tasks.values():
            self._settle_reads(task)
            self._settle_writes(task)
        # Only now all extents are known.
        for request in self._unknown:
            self.parts += self._by_size(request) or self._by_sector(request)

    def _without_pages(self, request: Step, task: _Task) -> None:
        """Note a request for no page of a file: a flush, a discard, blocks of the file system."""
        self.parts.append(Moved(request.row, None, None, None, request.size))
        if request.op == "read" and request.dev not in self._queues:
            _drop_page(request, task)

    def _settle_reads(self, task: _Task) -> None:
        pages, requests = task.pages, task.requests
        task.pages, task.requests = [], []
        if not requests:
            if pages and task.ahead and len({(page.dev, page.ino) for page in pages}) == 1:
                size = sum(page.size for page in pages)
                whole = pages[0]._replace(size=size)
                self._unread.setdefault((whole.dev, size), []).append(whole)
            return
        if sum(page.size for page in pages) == sum(request.size for request in requests):
            # Some kernels issue the requests of a batch in the opposite order
            # (blk_flush_plug in block/blk-core.c).
            if all(one.start > next_.start for one, next_ in pairwise(requests)):
                requests = requests[::-1]
            self._pair(pages, requests)
            return
        files = {(page.dev, page.ino) for page in pages}
        for request in requests:
            if len(files) == 1:
                dev, ino = next(iter(files))
                part = Moved(request.row, dev, ino, None, request.size)
                if request.name == QUEUED:
                    self._learn(request, [part])
                else:
                    self.parts.append(part)
            elif request.name != QUEUED:
                self._unknown.append(request)

    def _settle_equal(self, task: _Task) -> None:
        """Account for writes as soon as there are as many bytes of both."""
        written, writes = task.written, task.writes
        if sum(step.size for step in written) == sum(step.size for step in writes):
            self._settle_writes(task)

    def _settle_writes(self, task: _Task) -> None:
        written, writes = task.written, task.writes
        task.written, task.writes = [], []
        if written and sum(step.size for step in written) == sum(step.size for step in writes):
            self._pair(written, writes)
        else:
            self._unknown += writes

    def _pair(self, pages: list[Step], requests: list[Step]) -> None:
        """Give the bytes of requests to as many bytes of files, both in order."""
        todo = iter(pages)
        page, used = next(todo), 0
        for request in requests:
            taken = 0
            parts: list[Moved] = []
            while taken < request.size:
                if used == page.size:
                    page, used = next(todo), 0
                size = min(request.size - taken, page.size - used)
                # What write-back says is a number of pages, not which ones.
                start = None if page.name == WRITTEN else page.start + used
                _append(parts, Moved(request.row, page.dev, page.ino, start, size))
                taken += size
                used += size
            if request.name != QUEUED:
                self.parts += parts
            self._learn(request, parts)

    def _learn(self, request: Step, parts: list[Moved]) -> None:
        """Remember where on the device the pages of a request are."""
        known = self._extents.setdefault(request.dev or "", [])
        sector = request.start
        for part in parts:
            end = sector + part.bytes // _SECTOR_BYTES
            if part.file_dev is not None and part.ino is not None:
                _replace(known, _Extent(sector, end, (part.file_dev, part.ino), part.start))
            sector = end

    def _by_size(self, request: Step) -> list[Moved]:
        """Find the pages of a read that another task issued, by its size.

        A device that has no room for a request gets it later, from a kernel thread
        (``blk_mq_run_hw_queue`` in block/blk-mq.c), in the order in which they were made.
        """
        waiting = self._unread.get((request.dev, request.size), [])
        if request.op != "read" or not waiting or waiting[0].row > request.row:
            return []
        page = waiting.pop(0)
        parts = [Moved(request.row, page.dev, page.ino, page.start, request.size)]
        self._learn(request, parts)
        return parts

    def _by_sector(self, request: Step) -> Iterator[Moved]:
        """Find the file of a request by its sectors."""
        known = self._extents.get(request.dev or "", [])
        sector, end = request.start, request.start + request.size // _SECTOR_BYTES
        place = max(bisect_right(known, sector, key=lambda extent: extent.first) - 1, 0)
        unknown = request.size
        for extent in known[place:]:
            if extent.first >= end:
                break
            first, last = max(sector, extent.first), min(end, extent.end)
            if first < last:
                dev, ino = extent.file
                start = _at(extent, first)
                size = (last - first) * _SECTOR_BYTES
                unknown -= size
                yield Moved(request.row, dev, ino, start, size)
        if unknown:
            yield Moved(request.row, None, None, None, unknown)


def _drop_page(request: Step, task: _Task) -> None:
    """Leave out the page of blocks of the file system.

    These are pages of the device itself, added before the request and after those of the file.
    """
    if task.pages and task.pages[-1].size == request.size:
        task.pages.pop()


def _append(parts: list[Moved], part: Moved) -> None:
    """Add a part, joined to the one before it where they are one range of a file."""
    last = parts[-1] if parts else None
    if last is None or (last.file_dev, last.ino) != (part.file_dev, part.ino):
        parts.append(part)
    elif part.start == (None if last.start is None else last.start + last.bytes):
        parts[-1] = last._replace(bytes=last.bytes + part.bytes)
    else:
        parts.append(part)


def _replace(known: list[_Extent], new: _Extent) -> None:
    """Put an extent where its sectors are, instead of what they held before."""
    place = bisect_right(known, new.first, key=lambda extent: extent.first)
    if place and known[place - 1].end > new.first:
        before = known[place - 1]
        if before.first <= new.first and before.end >= new.end and _continues(before, new):
            return
        place -= 1
    last = place
    left: list[_Extent] = []
    while last < len(known) and known[last].first < new.end:
        old = known[last]
        if old.first < new.first:
            left.append(old._replace(end=new.first))
        if old.end > new.end:
            left.append(_Extent(new.end, old.end, old.file, _at(old, new.end)))
        last += 1
    known[place:last] = sorted([*left, new])


def _continues(before: _Extent, new: _Extent) -> bool:
    """Say whether an extent shows all that another one shows, which is in it."""
    return before.file == new.file and new.start in {None, _at(before, new.first)}


def _at(extent: _Extent, sector: int) -> int | None:
    """Give the byte of the file that is at a sector."""
    if extent.start is None:
        return None
    return extent.start + (sector - extent.first) * _SECTOR_BYTES
