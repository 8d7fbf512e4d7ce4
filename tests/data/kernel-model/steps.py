"""Run a list of steps on files, and read from /proc/self/fdinfo where each left its descriptors.

``python steps.py FOLDER NUMBER...``: the numbers choose the steps, so that a test can make any
program of them. Run under strace by `tests/kernel/test_random_programs.py`.
"""

import fcntl
import os
import sys

FLAGS = [os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_RDONLY, os.O_RDWR | os.O_TRUNC, os.O_RDWR]
WHENCE = [os.SEEK_SET, os.SEEK_CUR, os.SEEK_END]


def show(*fds):
    for fd in fds:
        info = os.open(f"/proc/self/fdinfo/{fd}", os.O_RDONLY)
        os.read(info, 100)
        os.close(info)


def add(fds, fd):
    fds.append(fd)
    return fds[-1:]


def remove(fds, fd):
    fds.remove(fd)
    os.close(fd)
    return []


def child(numbers, fds, fd, depth):
    if depth > 1:
        return []
    pid = os.fork()
    if pid == 0:
        run(numbers, fds, depth + 1, 3)
        os._exit(0)
    os.waitpid(pid, 0)
    os.read(fd, 10)
    return [fd]


def step(numbers, fds, depth):
    """Do one step with any of the descriptors; give those that it is about."""

    def pick(many):
        return next(numbers) % many

    if not fds or pick(8) == 0:
        fd = os.open("abc"[pick(3)], FLAGS[pick(5)] | os.O_CREAT, 0o644)
        os.fstat(fd)
        fds.append(fd)
        return []
    fd, other = fds[pick(len(fds))], fds[pick(len(fds))]
    steps = [
        lambda: os.read(fd, pick(900)),
        lambda: os.read(fd, pick(900)),
        lambda: os.read(fd, pick(900)),
        lambda: os.readv(fd, [bytearray(1 + pick(90)), bytearray(1 + pick(90))]),
        lambda: os.pread(fd, pick(900), pick(5000)),
        lambda: os.write(fd, b"x" * pick(900)),
        lambda: os.write(fd, b"x" * pick(900)),
        lambda: os.pwrite(fd, b"x" * pick(900), pick(5000)),
        lambda: os.lseek(fd, pick(3000) - 500, WHENCE[pick(3)]),
        lambda: os.ftruncate(fd, pick(5000)),
        lambda: add(fds, os.dup(fd)),
        lambda: [os.dup2(fd, other)],
        lambda: add(fds, fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 50)),
        lambda: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND * pick(2)),
        lambda: remove(fds, fd),
        lambda: child(numbers, fds, fd, depth),
    ]
    done = steps[pick(len(steps))]()
    return done if isinstance(done, list) else [fd]


def run(numbers, fds, depth, steps):
    while steps:
        steps -= 1
        try:
            show(*step(numbers, fds, depth))
        except OSError:
            pass
        except StopIteration:
            return


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    run(iter(map(int, sys.argv[2:])), [], 0, -1)
