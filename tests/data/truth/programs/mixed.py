"""Programs drawn by a seed: tasks that share files, descriptions and names, in any order."""

import array
import contextlib
import fcntl
import mmap
import os
import socket
import sys
import threading
import time

from common import APPEND, CLONE_FILES, NEW, RW, R, W, child, gate, syscall

NAMES = ["x", "y", "z"]
PIDFD_OPEN, PIDFD_GETFD, CLOSE_RANGE, UNSHARE, FALLOCATE = 434, 438, 436, 272, 285
RWF_DSYNC, RWF_APPEND, RWF_NOAPPEND = 2, 0x10, 0x20
STEPS = 40


class Draw:
    """Numbers that follow from a seed alone."""

    def __init__(self, seed):
        self.state = seed * 2654435761 % 2**32 + 1

    def below(self, end):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % end

    def one(self, things):
        return things[self.below(len(things))]

    def often(self, percent):
        return self.below(100) < percent


class Task:
    """One task: what it has open, and what it does next."""

    def __init__(self, seed, files=None, depth=0, root=None):
        self.draw = Draw(seed)
        self.files = files if files is not None else []
        self.depth = depth
        self.root = root or os.getcwd()
        self.children = []
        self.threads = []

    def run(self, steps):
        for _ in range(steps):
            step = self.draw.one(ALL)
            with contextlib.suppress(OSError, ValueError):
                step(self)
        for thread in self.threads:
            thread.join()
        for pid in self.children:
            os.waitpid(pid, 0)

    # Names.

    def name(self):
        name = self.draw.one(NAMES)
        others = ["./{}", "{root}/{}", "d/../{}", ".//{}", "d/{}", "/proc/self/cwd/{}"]
        form = self.draw.one(["{}"] * 7 + others + ["soft", "hard", "link/x", "new"])
        return form.format(name, root=self.root)

    def file(self):
        if not self.files:
            self.open()
        return self.draw.one(self.files)

    def size(self):
        return self.draw.one([0, 1, 3, 8, 8, 8, 20, 50, 100, 4096])

    def place(self):
        return self.draw.one([0, 1, 5, 16, 40, 100, 150, 300, 5000])

    def maybe(self):
        return self.draw.one([None, None, self.place()])

    def keep(self, file):
        if file >= 0:
            self.files.append(file)
        if len(self.files) > 12:
            os.close(self.files.pop(self.draw.below(12)))

    # Descriptors.

    def open(self):
        flags = self.draw.one([R, R, RW, RW, W])
        for flag, percent in [
            (os.O_CREAT, 60),
            (os.O_TRUNC, 12),
            (APPEND, 25),
            (os.O_EXCL, 4),
            (os.O_CLOEXEC, 50),
        ]:
            if self.draw.often(percent):
                flags |= flag
        file = os.open(self.name(), flags, 0o644)
        os.set_inheritable(file, not flags & os.O_CLOEXEC)
        self.keep(file)

    def open_unnamed(self):
        self.keep(os.open(".", os.O_TMPFILE | RW, 0o600))

    def open_memory(self):
        self.keep(os.memfd_create("m"))

    def open_at(self):
        folder = os.open(self.draw.one([".", "d", "/proc/self/cwd"]), os.O_DIRECTORY)
        self.keep(os.open(self.draw.one(NAMES), RW | os.O_CREAT, 0o644, dir_fd=folder))
        os.close(folder)

    def open_again(self):
        self.keep(os.open(f"/proc/self/fd/{self.file()}", self.draw.one([R, RW, RW | APPEND])))

    def close(self):
        if self.files:
            os.close(self.files.pop(self.draw.below(len(self.files))))

    def close_range(self):
        first = self.file()
        last = first + self.draw.below(3)
        syscall(CLOSE_RANGE, first, last, 0)
        self.files[:] = [file for file in self.files if not first <= file <= last]

    def dup(self):
        self.keep(os.dup(self.file()))

    def dup2(self):
        if len(self.files) > 1:
            os.dup2(self.file(), self.file(), inheritable=self.draw.often(50))

    def dup_from(self):
        self.keep(fcntl.fcntl(self.file(), fcntl.F_DUPFD, 20 + self.draw.below(5)))

    def send(self):
        kind = self.draw.one([socket.SOCK_STREAM, socket.SOCK_DGRAM])
        one, other = socket.socketpair(socket.AF_UNIX, kind)
        file = self.file()
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))]
        one.sendmsg([b"x"], passed)
        if self.draw.often(30):
            self.close()
        if self.draw.often(20):
            self.transfer_any()
        _, got, _, _ = other.recvmsg(1, socket.CMSG_SPACE(4))
        one.close()
        other.close()
        for _, _, data in got:
            for number in array.array("i", data[:4]):
                self.keep(number)

    def take(self):
        pid = self.draw.one([os.getpid(), os.getppid()]) if self.depth else os.getpid()
        process = syscall(PIDFD_OPEN, pid, 0)
        try:
            self.keep(syscall(PIDFD_GETFD, process, self.file(), 0))
        finally:
            os.close(process)

    # Transfers.

    def read(self):
        os.read(self.file(), self.size())

    def write(self):
        os.write(self.file(), bytes(self.size()))

    def readv(self):
        os.readv(self.file(), [bytearray(self.size()), bytearray(self.size())])

    def writev(self):
        os.writev(self.file(), [bytes(self.size()), bytes(self.size())])

    def pread(self):
        os.pread(self.file(), self.size(), self.place())

    def pwrite(self):
        os.pwrite(self.file(), bytes(self.size()), self.place())

    def pwritev(self):
        flags = self.draw.one([0, RWF_APPEND, RWF_NOAPPEND, RWF_DSYNC])
        os.pwritev(self.file(), [bytes(self.size())], self.place(), flags)

    def preadv(self):
        os.preadv(self.file(), [bytearray(self.size())], self.place())

    def at_position(self):
        if self.draw.often(50):
            os.preadv(self.file(), [bytearray(self.size())], -1)
        else:
            os.pwritev(self.file(), [bytes(self.size())], -1, self.draw.one([0, RWF_APPEND]))

    def sendfile(self):
        os.sendfile(self.file(), self.file(), self.maybe(), self.size())

    def copy(self):
        source, target = self.maybe(), self.maybe()
        os.copy_file_range(self.file(), self.file(), self.size(), source, target)

    def splice(self):
        end, start = os.pipe()
        try:
            got = os.splice(self.file(), start, self.size(), self.maybe())
            if got and self.draw.often(70):
                os.splice(end, self.file(), got, None, self.maybe())
        finally:
            os.close(end)
            os.close(start)

    def transfer_any(self):
        self.draw.one(TRANSFERS)(self)

    # Positions and lengths.

    def seek(self):
        whence = self.draw.one([0, 0, 1, 1, 2, 3, 4])
        place = self.draw.one([0, 0, -1, 3, self.place()])
        os.lseek(self.file(), place, whence)

    def truncate(self):
        os.ftruncate(self.file(), self.place())

    def truncate_name(self):
        os.truncate(self.name(), self.place())

    def allocate(self):
        os.posix_fallocate(self.file(), self.place(), self.size() + 1)

    def allocate_mode(self):
        mode = self.draw.one([0, 1, 3, 0x10, 0x11, 8, 0x20])
        start, size = self.draw.one([0, 4096, self.place()]), self.draw.one([4096, 100])
        syscall(FALLOCATE, self.file(), mode, start, size)

    def show(self):
        if self.draw.often(60):
            os.fstat(self.file())
        else:
            os.stat(self.name())

    def switch_append(self):
        file = self.file()
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) ^ APPEND)

    def map(self):
        with mmap.mmap(self.file(), 8) as memory:
            memory[:4] = b"abcd"

    # Names that change hands.

    def rename(self):
        os.rename(self.name(), self.name())

    def link(self):
        os.link(self.name(), self.draw.one(["hard", "new", "d/x"]))

    def symlink(self):
        os.symlink(self.draw.one(NAMES), self.draw.one(["soft", "new", "d/y"]))

    def unlink(self):
        os.unlink(self.name())

    def go(self):
        os.chdir(self.draw.one([self.root, "d", "..", "link"]))

    # Tasks.

    def fork(self):
        if self.depth > 2 or len(self.children) > 3:
            return
        seed = self.draw.below(2**31)
        steps = 3 + self.draw.below(STEPS // 2)
        pid = child(self.child, seed, steps)
        if self.draw.often(60):
            os.waitpid(pid, 0)
        else:
            self.children.append(pid)

    def child(self, seed, steps):
        Task(seed, list(self.files), self.depth + 1, self.root).run(steps)

    def spawn(self):
        if self.depth > 1:
            return
        seed = self.draw.below(2**31)
        files = ",".join(map(str, self.files))
        words = [
            sys.executable,
            "-SEsB",
            __file__,
            str(seed),
            files,
            str(self.depth + 1),
            self.root,
        ]
        pid = os.posix_spawn(sys.executable, words, os.environ)
        if self.draw.often(60):
            os.waitpid(pid, 0)
        else:
            self.children.append(pid)

    def shell(self):
        command = self.draw.one(["cat <&%d", "echo a >&%d", "head -c 5 <&%d; head -c 5 <&%d"])
        file = self.file()
        pid = os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", command.replace("%d", "3")],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, file, 3)],
        )
        os.waitpid(pid, 0)

    def thread(self):
        if self.depth > 1 or len(self.threads) > 2:
            return
        seed = self.draw.below(2**31)
        task = Task(seed, self.files, self.depth + 2, self.root)
        thread = threading.Thread(target=task.run, args=(3 + self.draw.below(STEPS // 2),))
        thread.start()
        if self.draw.often(60):
            thread.join()
        else:
            self.threads.append(thread)

    def thread_apart(self):
        if self.depth > 1 or len(self.threads) > 2:
            return
        seed = self.draw.below(2**31)
        task = Task(seed, list(self.files), self.depth + 2, self.root)

        def run():
            syscall(UNSHARE, CLONE_FILES)
            task.run(3 + self.draw.below(STEPS // 2))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    def rest(self):
        time.sleep(0.001)


TRANSFERS = [
    *[Task.read] * 6,
    *[Task.write] * 6,
    Task.readv,
    Task.writev,
    Task.pread,
    Task.pwrite,
    Task.pwritev,
    Task.preadv,
    Task.at_position,
    Task.sendfile,
    Task.copy,
    Task.splice,
]
DESCRIPTORS = [
    *[Task.open] * 6,
    Task.open_unnamed,
    Task.open_memory,
    Task.open_at,
    Task.open_again,
    Task.close,
    Task.close,
    Task.close_range,
    Task.dup,
    Task.dup2,
    Task.dup_from,
    Task.send,
    Task.take,
]
OTHERS = [
    *[Task.seek] * 4,
    Task.truncate,
    Task.truncate_name,
    Task.allocate,
    Task.allocate_mode,
    *[Task.show] * 2,
    Task.switch_append,
    Task.map,
    Task.rename,
    Task.link,
    Task.symlink,
    Task.unlink,
    Task.go,
]
TASKS = [Task.fork, Task.fork, Task.spawn, Task.shell, Task.thread, Task.thread_apart, Task.rest]
ALL = TRANSFERS * 2 + DESCRIPTORS + OTHERS + TASKS


def main():
    seed, *rest = sys.argv[1:]
    if rest:
        files, depth, root = rest
        numbers = [int(file) for file in files.split(",") if file]
        Task(int(seed), numbers, int(depth), root).run(STEPS // 3)
        return
    os.makedirs("d", exist_ok=True)
    os.symlink("d", "link")
    for name in NAMES:
        made = os.open(name, W | NEW, 0o644)
        os.write(made, bytes(120))
        os.close(made)
    os.symlink("x", "soft")
    os.link("y", "hard")
    gate()
    Task(int(seed)).run(STEPS)


if __name__ == "__main__":
    main()
