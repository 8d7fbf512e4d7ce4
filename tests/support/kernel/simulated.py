"""A small kernel that is right by construction, traced by a small strace.

Tasks open, read, seek, copy descriptors, fork and execute by a list of numbers; calls of different
tasks overlap. The machine knows what each call did (`Call.offset`, `Call.description`), prints what
strace would have printed (`lines`, or `separate` as `-ff` does), and knows which calls overlapped.

Within a call things happen when the kernel does them: a descriptor is looked up, and one is closed,
when the call begins; transfers and seeks happen at some moment in between; descriptors appear when
the call ends. Where the order of two effects on one table of descriptors would be a matter of luck
(a fork while another thread closes), the machine does not let it happen: no log could show it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

READ_ONLY, WRITE_ONLY, BOTH_WAYS = "O_RDONLY", "O_WRONLY", "O_RDWR"
FORK = "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD"
THREAD = (
    "child_stack=0x7f2, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|"
    "CLONE_SYSVSEM|CLONE_SETTLS|CLONE_PARENT_SETTID|CLONE_CHILD_CLEARTID"
)
FILES = "child_stack=0x7f2, flags=CLONE_FILES|SIGCHLD"
# While one of these is under way, no other task changes the table.
FREEZES = {"clone", "vfork", "execve"}
FIRST = 1000  # `-ff` logs are known by numbers above 300.


@dataclass(eq=False)
class Inode:
    path: str
    size: int


@dataclass(eq=False)
class Description:
    inode: Inode
    mode: str
    append: bool = False
    position: int = 0
    moves: list[Call] = field(default_factory=list)


@dataclass(eq=False)
class Table:
    slots: dict[int, tuple[Description, bool]] = field(default_factory=dict)
    busy: int = 0  # Calls under way that change it.
    forking: bool = False

    def free(self, least: int = 3) -> int:
        fd = least
        while fd in self.slots:
            fd += 1
        return fd


@dataclass(eq=False)
class Task:
    tid: int
    group: int
    table: Table
    call: Call | None = None
    held: Call | None = None  # The vfork that waits for this task.
    quiet: Call | None = None  # This task says nothing before that call ends.
    started: bool = False  # Its program has just been started.


@dataclass(eq=False)
class Call:
    task: Task
    name: str
    head: str
    description: Description | None = None
    kind: str = ""  # read, write, seek: what moves a position
    given: int | None = None
    requested: int = 0
    effect: Callable[[], None] | None = None
    last: Callable[[], None] | None = None
    table: bool = False  # It changes the table.
    fd: int | None = None  # The number that it is on.
    numbers: Table | None = None  # The table of that number.
    shared: bool = False  # Other tasks use the table, too.
    made: int | None = None  # The number that refers to `description` after it.
    replaced: set[Description] = field(default_factory=set)  # What `made` referred to before.
    at_once: bool = False  # Nothing happens meanwhile.
    tail: str = ""
    ret: int | None = 0
    error: str = ""
    offset: int | None = None
    size: int | None = None  # Of the file, when the call's moment had come.
    appends: bool = False
    first_open: bool = False  # No other description of the file was open.
    done: bool = False
    line: int = 0
    begun: int = 0
    ended: int = 0
    began_at: int = 0
    clock_began: int = 0

    @property
    def moves(self) -> bool:
        """Whether it moved the description's position."""
        at_position = self.given is None and self.kind != ""
        return at_position and not self.error and (self.kind == "seek" or bool(self.ret))

    def races(self, other: Call) -> bool:
        """Whether it may be on what `other` made: entries come before lookups."""
        same = self.numbers is other.numbers and self.fd == other.made is not None
        return same and self.task is not other.task and self.overlaps(other)

    def loses_number(self, other: Call) -> bool:
        """Whether `other` closes the number that it is on, as another one may make it then."""
        closes = other.name in {"close", "close_range"} and other.numbers is self.numbers
        return closes and other is not self and self.begun < other.begun < self.ended

    def may_make(self, number_of: Call) -> bool:
        """Whether it may have made the number that the other call is on, when that ends."""
        plain = self.kind == "" or (self.kind == "read" and self.given is not None)
        same = self.numbers is number_of.numbers and self.task is not number_of.task
        return plain and same and self.begun < number_of.ended < (self.ended or math.inf)

    def overlaps(self, other: Call) -> bool:
        """Whether they overlap; one that never ended does not end before the other."""
        return self.begun < (other.ended or math.inf) and other.begun < (self.ended or math.inf)


class Machine:
    """Runs on numbers until there are none left, then lets everything end."""

    def __init__(self, numbers: list[int], reuse: bool = True) -> None:
        self.reuse = reuse
        self.numbers = iter(numbers)
        self.names = [Inode("/srv/a", 5000), Inode("/srv/b", 300), Inode("/srv/c", 1 << 20)]
        self.tasks = [Task(FIRST, FIRST, Table())]
        self.everyone = list(self.tasks)
        self.next_tid = FIRST + 1
        self.dead: list[int] = []
        self.calls: list[Call] = []
        self.lines: list[str] = []
        # As `-ff` cuts it: lines of each task, and the calls that they are.
        self.separate: dict[int, list[tuple[str, Call | None]]] = {FIRST: []}
        self.half: Call | None = None
        self.events = 0
        self.clock = 1_700_000_000_000_000
        # What sendfile writes to has no position. Each program's loader closes what it has read: a
        # log without any close may be one of which closes are left out.
        for first in (
            "socketpair(AF_UNIX, SOCK_STREAM, 0, [0, 1]) = 0 <0.000001>",
            "close(9) = 0 <0.000001>",
        ):
            self.lines.append(self.leader(self.tasks[0]) + first)
            self.separate[FIRST].append((f"{self.clock / 1e6:.6f} {first}", None))
        self.run()

    # -- choices

    def pick(self, many: int) -> int:
        return next(self.numbers) % many

    def run(self) -> None:
        try:
            while self.tasks:
                self.step()
        except StopIteration:
            pass
        while pending := [
            task.call for task in self.tasks if task.call and self.may_end(task.call)
        ]:
            self.finish(pending[0])
        self.cut()
        for call in [task.call for task in self.tasks if task.call]:
            stamp = f"{call.clock_began / 1e6:.6f}"
            half = f"{stamp} {call.name}({call.head} <unfinished ...>"
            self.separate[call.task.tid].append((half, call))

    def step(self) -> None:
        able = [task for task in self.tasks if task.call or not task.quiet]
        able = [task for task in able if not task.call or self.may_end(task.call)]
        if not able:
            raise StopIteration
        task = able[self.pick(len(able))]
        if task.call is None:
            self.begin(self.choose(task))
            # Most calls end before another task does anything.
            call = task.call
            if call and self.may_end(call) and (call.at_once or self.pick(3)):
                self.finish(call)
        elif not task.call.done and self.pick(2):
            self.happen(task.call)
        else:
            self.finish(task.call)

    def may_end(self, call: Call) -> bool:
        child = next((task for task in self.tasks if task.held is call), None)
        if child is not None:
            return False
        return not (call.table and call.task.table.forking and call.name not in FREEZES)

    # -- what strace prints

    def leader(self, task: Task) -> str:
        return f"{task.tid:<5} {self.clock / 1e6:.6f} "

    def cut(self) -> None:
        if self.half:
            self.lines[-1] += " <unfinished ...>"
            self.half = None

    def tick(self, least: int = 1) -> None:
        self.clock += least + self.events * 7919 % 23

    def begin(self, call: Call | None) -> None:
        if call is None:
            return
        self.cut()
        self.tick()
        self.events += 1
        call.begun = self.events
        call.numbers = call.task.table
        call.shared = sum(task.table is call.numbers for task in self.tasks) > 1
        call.clock_began = self.clock
        self.lines.append(f"{self.leader(call.task)}{call.name}({call.head}")
        call.line = len(self.lines)
        self.half = call
        self.calls.append(call)
        call.task.call = call
        call.task.table.busy += call.table
        # strace decodes the arguments, and only then lets the task go.
        self.tick(5)
        call.began_at = self.clock

    def happen(self, call: Call) -> None:
        if not call.done:
            call.done = True
            if call.effect:
                call.effect()
            if call.description:
                call.size = call.description.inode.size

    def finish(self, call: Call) -> None:
        self.happen(call)
        if not self.may_end(call):
            return
        task = call.task
        before = task.table
        if call.last:
            call.last()
        self.tick()
        self.events += 1
        call.ended = self.events
        result = f") = {'?' if call.ret is None else call.ret}"
        result += f" {call.error}" if call.error else ""
        spent = self.clock - call.began_at
        spent_text = "" if call.ret is None else f" <{spent / 1e6:.6f}>"
        if self.half is call:
            self.lines[-1] += f"{call.tail}{result}{spent_text}"
        else:
            self.cut()
            resumed = f"<... {call.name} resumed>{call.tail}{result}"
            self.lines.append(f"{self.leader(task)}{resumed}{spent_text}")
        self.half = None
        stamp = f"{call.clock_began / 1e6:.6f}"
        text = f"{stamp} {call.name}({call.head}{call.tail}{result}{spent_text}"
        self.separate[task.tid].append((text, call))
        task.call = None
        task.table.busy -= call.table
        if call.name in FREEZES:
            before.forking = False
            for other in self.tasks:
                if other.quiet is call:
                    other.quiet = None
        if call.ret is None:
            self.gone(task)

    def gone(self, task: Task) -> None:
        self.tick()
        self.lines.append(f"{self.leader(task)}+++ exited with 0 +++")
        self.separate[task.tid].append((f"{self.clock / 1e6:.6f} +++ exited with 0 +++", None))
        self.tasks.remove(task)
        self.dead.append(task.tid)
        task.held = None

    # -- what programs do

    def choose(self, task: Task) -> Call | None:
        if task.started:
            # No program does without memory.
            task.started = False
            return Call(task, "brk", "NULL", ret=0x5000, at_once=True)
        table = task.table
        changes = not table.forking
        fds = sorted(table.slots)
        what: list[Callable[[Task], Call | None]] = [self.bad]
        if fds:
            what += [
                self.read,
                self.read,
                self.read,
                self.write,
                self.seek,
                self.pread,
                self.pwrite,
            ]
            what += [self.preadv2, self.sendfile, self.truncate, self.set_append]
        if changes:
            what += [self.open, self.open]
            what += (
                [self.dup, self.dup2, self.fcntl_dup, self.close, self.close_range] if fds else []
            )
        if len(self.tasks) < 6 and not table.busy and not table.forking:
            what += [self.fork, self.thread, self.share, self.vfork]
        if changes and not table.busy:
            what += [self.execute, self.exit]
        return what[self.pick(len(what))](task)

    def fd(self, task: Task) -> int:
        fds = sorted(task.table.slots)
        return fds[self.pick(len(fds))]

    def bad(self, task: Task) -> Call:
        return self.failing(Call(task, "read", "99, ", tail="0x7f5, 10"), "EBADF")

    @staticmethod
    def failing(call: Call, errno: str) -> Call:
        call.ret = -1
        texts = {"EBADF": "Bad file descriptor", "EINVAL": "Invalid argument"}
        call.error = f"{errno} ({texts[errno]})"
        return call

    def open(self, task: Task) -> Call:
        inode = self.names[self.pick(len(self.names))]
        mode = [BOTH_WAYS, READ_ONLY, BOTH_WAYS, BOTH_WAYS, WRITE_ONLY][self.pick(5)]
        flags = self.pick(12)
        append = flags % 4 == 1 and mode != READ_ONLY
        cloexec = flags % 3 == 1
        cuts = flags == 11 and mode != READ_ONLY
        text = mode + "|O_APPEND" * append + "|O_TRUNC" * cuts + "|O_CLOEXEC" * cloexec
        call = Call(task, "openat", f'AT_FDCWD, "{inode.path}", {text}', table=True)

        def last() -> None:
            call.ret = task.table.free()
            call.description = Description(inode, mode, append)
            slots = [slot for other in self.tasks for slot in other.table.slots.values()]
            call.first_open = not any(held.inode is inode for held, _ in slots)
            task.table.slots[call.ret] = call.description, cloexec
            call.made = call.ret
            if cuts:
                inode.size = 0

        call.last = last
        return call

    def transfer(self, call: Call) -> Call:
        """Let a call move bytes in one direction, at its moment."""
        description = call.description
        assert description is not None
        if call.kind == "write" and description.mode == READ_ONLY:
            return self.failing(call, "EBADF")
        if call.kind == "read" and description.mode == WRITE_ONLY:
            call.tail = call.tail.replace('"x"...', "0x7f5")
            return self.failing(call, "EBADF")

        def effect() -> None:
            inode = description.inode
            at = description.position if call.given is None else call.given
            if call.kind == "write":
                call.appends = description.append
                at = inode.size if description.append else at
                call.ret = call.requested
                inode.size = max(inode.size, at + call.ret)
            else:
                call.ret = max(0, min(call.requested, inode.size - at))
            call.offset = at
            if call.given is None:
                description.position = at + call.ret

        call.effect = effect
        return call

    def sized(self, task: Task, name: str, kind: str) -> Call:
        fd = self.fd(task)
        call = Call(task, name, f"{fd}, ", task.table.slots[fd][0], kind, fd=fd)
        call.requested = 1 + self.pick(400)
        return call

    def read(self, task: Task) -> Call:
        call = self.sized(task, "read", "read")
        call.tail = f'"x"..., {call.requested}'
        return self.transfer(call)

    def write(self, task: Task) -> Call:
        call = self.sized(task, "write", "write")
        call.head += f'"x"..., {call.requested}'
        return self.transfer(call)

    def pread(self, task: Task) -> Call:
        call = self.sized(task, "pread64", "read")
        call.given = self.pick(6000)
        call.tail = f'"x"..., {call.requested}, {call.given}'
        return self.transfer(call)

    def pwrite(self, task: Task) -> Call:
        call = self.sized(task, "pwrite64", "write")
        call.given = self.pick(6000)
        call.head += f'"x"..., {call.requested}, {call.given}'
        return self.transfer(call)

    def preadv2(self, task: Task) -> Call:
        call = self.sized(task, "preadv2", "read")
        call.tail = f'[{{iov_base="x"..., iov_len={call.requested}}}], 1, -1, 0'
        return self.transfer(call)

    def sendfile(self, task: Task) -> Call | None:
        """Write to a descriptor that is not of a file: one side is enough here."""
        call = self.sized(task, "sendfile", "read")
        call.head = f"1, {call.head}"
        if self.pick(2):
            call.given = self.pick(6000)
            call = self.transfer(call)
            call.head += f"[{call.given}]"
            inner = call.effect

            def effect() -> None:
                if inner:
                    inner()
                call.tail = f" => [{(call.given or 0) + (call.ret or 0)}], {call.requested}"

            call.effect = effect
            call.tail = f", {call.requested}"
            return call
        call.head += f"NULL, {call.requested}"
        return self.transfer(call)

    def seek(self, task: Task) -> Call:
        fd = self.fd(task)
        whence = ["SEEK_SET", "SEEK_CUR", "SEEK_END"][self.pick(3)]
        by = self.pick(700) - 100 * (whence != "SEEK_SET")
        description = task.table.slots[fd][0]
        call = Call(task, "lseek", f"{fd}, {by}, {whence}", description, "seek", fd=fd)

        def effect() -> None:
            bases = {"SEEK_SET": 0, "SEEK_CUR": description.position}
            to = bases.get(whence, description.inode.size) + by
            if to < 0:
                self.failing(call, "EINVAL")
            else:
                call.ret = description.position = to

        call.effect = effect
        return call

    def truncate(self, task: Task) -> Call:
        fd = self.fd(task)
        description = task.table.slots[fd][0]
        size = self.pick(6000)
        call = Call(task, "ftruncate", f"{fd}, {size}", description, fd=fd)
        if description.mode == READ_ONLY:
            return self.failing(call, "EINVAL")

        def effect() -> None:
            description.inode.size = size

        call.effect = effect
        return call

    def set_append(self, task: Task) -> Call | None:
        fd = self.fd(task)
        description = task.table.slots[fd][0]
        if any(other.call and other.call.description is description for other in self.tasks):
            return None
        append = bool(self.pick(2))
        flags = "O_RDONLY" + "|O_APPEND" * append
        call = Call(task, "fcntl", f"{fd}, F_SETFL, {flags}", description, at_once=True, fd=fd)

        def effect() -> None:
            description.append = append

        call.effect = effect
        return call

    def copy(
        self, task: Task, name: str, head: str, source: int, least: int, cloexec: bool
    ) -> Call:
        description = task.table.slots[source][0]
        call = Call(task, name, head, description, table=True, fd=source)

        def last() -> None:
            call.ret = call.made = task.table.free(least)
            task.table.slots[call.ret] = description, cloexec

        call.last = last
        return call

    def dup(self, task: Task) -> Call:
        fd = self.fd(task)
        return self.copy(task, "dup", f"{fd}", fd, 3, cloexec=False)

    def fcntl_dup(self, task: Task) -> Call:
        fd, cloexec = self.fd(task), bool(self.pick(2))
        name = "F_DUPFD_CLOEXEC" if cloexec else "F_DUPFD"
        return self.copy(task, "fcntl", f"{fd}, {name}, 6", fd, 6, cloexec)

    def dup2(self, task: Task) -> Call:
        fd, to, third = self.fd(task), 3 + self.pick(6), self.pick(3)
        flags = ["", ", 0", ", O_CLOEXEC"][third]
        call = Call(task, "dup3" if flags else "dup2", f"{fd}, {to}{flags}", table=True, fd=fd)
        call.description = task.table.slots[fd][0]
        if fd == to and flags:
            return self.failing(call, "EINVAL")
        call.ret = to
        description = call.description

        def note_replaced() -> None:
            call.replaced |= {slot[0] for number, slot in task.table.slots.items() if number == to}

        if fd != to:
            note_replaced()

        def last() -> None:
            if fd != to:
                note_replaced()
                call.made = to
                task.table.slots[to] = description, third == 2

        call.last = last
        return call

    def close(self, task: Task) -> Call:
        fd = self.fd(task)
        description, _ = task.table.slots.pop(fd)
        return Call(task, "close", f"{fd}", description, table=True)

    def close_range(self, task: Task) -> Call:
        least, marks = 4 + self.pick(4), self.pick(2)
        text = "CLOSE_RANGE_CLOEXEC" if marks else "0"
        call = Call(task, "close_range", f"{least}, 4294967295, {text}", table=True)
        slots = task.table.slots
        for fd in [fd for fd in slots if fd >= least]:
            description, _ = slots.pop(fd)
            if marks:
                slots[fd] = description, True
        return call

    # -- tasks

    def number(self, again: bool) -> int:
        # Not before the call that made it has returned its number.
        returned = {other.call.ret for other in self.tasks if other.call}
        if self.reuse and again and self.dead and self.dead[-1] not in returned:
            return self.dead.pop()
        self.next_tid += 1
        return self.next_tid - 1

    def clone(self, task: Task, call: Call, table: Callable[[], Table], thread: bool) -> Call:
        call.table = True
        others = [other.call for other in self.tasks if other.call]
        alone = not any(other.name in {"clone", "vfork"} for other in others)
        task.table.forking = True
        again = bool(self.pick(2))

        def effect() -> None:
            tid = self.number(again)
            child = Task(tid, task.group if thread else tid, table())
            call.ret = tid
            # If only one call is under way, it shows whose child a first line is of.
            child.quiet = None if alone else call
            child.held = call if call.name == "vfork" else None
            if child.held:
                child.quiet = None
            self.tasks.append(child)
            self.everyone.append(child)
            self.separate.setdefault(tid, [])

        call.effect = effect
        return call

    def copied(self, task: Task) -> Callable[[], Table]:
        return lambda: Table(dict(task.table.slots))

    def fork(self, task: Task) -> Call:
        call = Call(task, "clone", FORK, tail=", child_tidptr=0x7f1")
        return self.clone(task, call, self.copied(task), thread=False)

    def thread(self, task: Task) -> Call:
        call = Call(task, "clone", THREAD, tail=", parent_tid=[1], tls=0x7f3, child_tidptr=0x7f4")
        return self.clone(task, call, lambda: task.table, thread=True)

    def share(self, task: Task) -> Call:
        return self.clone(task, Call(task, "clone", FILES), lambda: task.table, thread=False)

    def vfork(self, task: Task) -> Call | None:
        if any(other.call and other.call.name in {"clone", "vfork"} for other in self.tasks):
            return None
        if any(other.quiet or other.held for other in self.tasks):
            return None
        return self.clone(task, Call(task, "vfork", ""), self.copied(task), thread=False)

    def execute(self, task: Task) -> Call | None:
        """Only of a process with one thread: what becomes of others follows rules of their own."""
        if any(other is not task and other.group == task.group for other in self.tasks):
            return None
        call = Call(task, "execve", '"/bin/x", ["x"], 0x7ff /* 1 var */', table=True)
        if self.pick(4) == 0:
            call.ret, call.error = -1, "ENOENT (No such file or directory)"
            task.table.forking = True
            return call

        def last() -> None:
            slots = {fd: slot for fd, slot in task.table.slots.items() if not slot[1]}
            task.table.busy -= 1
            task.table = Table(slots, busy=1)  # `finish` counts it down.
            task.held = None
            task.started = True

        task.table.forking = True
        call.last = last
        return call

    def exit(self, task: Task) -> Call | None:
        if len(self.tasks) == 1 or any(
            other is not task and other.group == task.group for other in self.tasks
        ):
            return None
        return Call(task, "exit_group", "0", ret=None)
