"""Threads that race for one number: one is in a call on it, another gives it to another file.

Close(2) warns of such programs. What `words*.bin` and `written*.bin` hold says which place a call
was at. The files are used at places far from each other, so a place says which file it was, too.
"""

import contextlib
import ctypes
import os
import signal
import socket
import struct

from common import (
    APPEND,
    CLONE_FILES,
    RW,
    SIGCHLD,
    WORD,
    R,
    child,
    join,
    run,
    run_in_child,
    syscall,
    together,
    unique,
    words,
)

CLONE3 = 435

ROUNDS = 25
FAR = 1000 * WORD


def two_files(flags=RW):
    """Two files at two places, and a number that refers to the first."""
    first = words("words.bin", 3000, flags)
    second = words("words2.bin", 3000, flags)
    os.lseek(second, FAR, os.SEEK_SET)
    return first, second, os.dup(first)


def two_ends():
    """Two files to append to, of two lengths, and a number that refers to the first.

    O_EXCL shows that they are new, and so two files.
    """
    first = os.open("written.bin", RW | APPEND | os.O_CREAT | os.O_EXCL, 0o644)
    second = os.open("written2.bin", RW | APPEND | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(first, bytes(800))
    os.write(second, bytes(8000))
    return first, second, os.dup(first)


def append(writer, file, rounds):
    for turn in range(rounds):
        os.write(file, unique(writer, turn))


def replace(number, *files, rounds=ROUNDS):
    """Let the number refer to one file after the other."""
    for turn in range(rounds):
        # By dup2 or dup3.
        os.dup2(files[turn % len(files)], number, inheritable=turn % 4 < 2)


def beside(function, *arguments):
    """Run the function in a process with the same table, which does not wait for this one's lock.

    A thread of Python has the lock while it forks, so others have no more than one call in it.
    """
    form = ctypes.create_string_buffer(
        struct.pack("QQQQQQQQ", CLONE_FILES, 0, 0, 0, SIGCHLD, 0, 0, 0)
    )
    return run_in_child(syscall(CLONE3, form, 64), function, *arguments)


def close_and_copy(number, *files):
    """Close the number, which is the lowest then: the next copy has it."""
    for turn in range(ROUNDS):
        os.close(number)
        os.dup(files[turn % len(files)])


def read(number, size=WORD):
    # The number may be closed at the moment.
    with contextlib.suppress(OSError):
        os.read(number, size)


def repeat(function, *arguments, rounds=ROUNDS):
    for _ in range(rounds):
        function(*arguments)


def read_all(*numbers):
    for number in [*numbers, *reversed(numbers)]:
        read(number)


def replaced_beside_reads():
    first, second, number = two_files()
    together(
        lambda: repeat(read, number),
        lambda: replace(number, second, first),
    )
    read_all(first, second, number)


def replaced_beside_reads_at_offsets():
    """These move nothing, but show where files end."""
    first, second, number = two_ends()

    def read_at(size):
        for turn in range(ROUNDS):
            os.pread(number, 8 * WORD, size + 8 * turn - 80)

    together(
        lambda: read_at(800),
        lambda: replace(number, second, first),
        lambda: read_at(8000),
    )
    append(0, first, 4)
    append(1, second, 4)
    append(2, number, 4)


def replaced_beside_seeks():
    first, second, number = two_files()

    def seek():
        for turn in range(ROUNDS):
            if turn % 2:
                os.lseek(number, WORD, os.SEEK_CUR)
            else:
                os.lseek(number, 10 * WORD * turn, os.SEEK_SET)

    def replace_and_read():
        for file in [second, first] * (ROUNDS // 2):
            os.dup2(file, number)
            os.read(file, WORD)

    together(seek, replace_and_read)
    read_all(first, second, number)


def replaced_beside_copies():
    first, second, number = two_files()

    def copy():
        for _ in range(ROUNDS):
            made = os.dup(number)
            os.read(made, WORD)
            os.read(made, WORD)
            os.close(made)

    together(copy, lambda: replace(number, second, first, rounds=2 * ROUNDS))
    read_all(first, second, number)


def send(here, number, rounds=ROUNDS):
    """Send the number, and count the messages."""
    sent = 0
    for _ in range(rounds):
        # The number may be closed at the moment.
        with contextlib.suppress(OSError):
            socket.send_fds(here, [b"x"], [number])
            sent += 1
    return sent


def receive(there, messages):
    for _ in range(messages):
        _, (came,), _, _ = socket.recv_fds(there, 1, 1)
        os.read(came, WORD)
        os.close(came)


def replaced_beside_messages():
    """A number is sent while it is replaced, and what came is read after that."""
    here, there = socket.socketpair()
    first, second, number = two_files()
    together(lambda: send(here, number), lambda: replace(number, second, first))
    receive(there, ROUNDS)
    read_all(first, second, number)


def closed_beside_messages():
    here, there = socket.socketpair()
    first, second, number = two_files()
    pid = beside(close_and_copy, number, second, first)
    sent = send(here, number, 2 * ROUNDS)
    join(pid)
    receive(there, sent)
    read_all(first, second, number)


def replaced_beside_appends():
    first, second, number = two_ends()

    together(
        lambda: append(0, number, ROUNDS),
        lambda: replace(number, second, first),
    )
    append(1, first, 4)
    append(2, second, 4)
    append(3, number, 4)


def replaced_by_two():
    """Two threads replace a number and read it, a third reads it."""
    first, second, _ = two_files()
    number = words("words3.bin", 3000)
    os.lseek(number, 2 * FAR, os.SEEK_SET)

    def replace_and_read(file):
        for _ in range(ROUNDS):
            os.dup2(file, number)
            os.read(number, WORD)

    together(
        lambda: replace_and_read(first),
        lambda: replace_and_read(second),
        lambda: repeat(read, number),
    )
    read_all(number, first, second)
    os.dup2(first, number)
    read_all(number, first, second)


def replaced_beside_forks():
    """A child gets what the number refers to when the kernel copies the table."""
    first, second, number = two_files()
    done = []

    def replace_until_done():
        while not done:
            replace(number, second, first, rounds=2)

    def fork():
        for _ in range(ROUNDS // 2):
            join(child(read_all, number))
        done.append(True)

    together(replace_until_done, fork)
    read_all(first, second, number)


def closed_beside_forks():
    first, second, number = two_files()
    pid = beside(repeat, close_and_copy, number, second, first)
    for _ in range(ROUNDS // 2):
        join(child(read_all, number))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    read_all(first, second, number)


def opened_beside_forks():
    """A child has the number, or makes it, or has nothing there."""
    os.close(words("words.bin", 3000))
    number = os.open("words.bin", R)
    os.close(number)
    done = []

    def open_until_done():
        while not done:
            file = os.open("words.bin", R)
            os.read(file, WORD)
            os.read(file, WORD)
            os.close(file)

    def inside():
        read(number)
        file = os.open("words.bin", R)
        os.read(file, WORD)
        read(number)
        read(number + 1)

    def fork():
        for _ in range(ROUNDS // 2):
            join(child(inside))
        done.append(True)

    together(open_until_done, fork)
    read_all(os.open("words.bin", R))


def closed_and_opened():
    """Two threads read a number that a third closes and opens again."""
    os.close(words("words2.bin", 3000))
    number = words("words.bin", 3000)

    def open_again():
        for turn in range(ROUNDS):
            os.close(number)
            if turn % 2:
                os.read(os.open("words.bin", R), 2 * WORD)
            else:
                os.read(os.open("words2.bin", R), 20 * WORD)

    together(
        open_again,
        lambda: repeat(read, number),
        lambda: repeat(read, number, 3 * WORD),
    )
    read_all(number)


def closed_by_another():
    """Two threads have files of their own, and a third closes their numbers."""
    first, second, number = two_files(R)
    os.close(number)

    def own(name, size):
        for _ in range(ROUNDS):
            file = os.open(name, R)
            read(file, size)
            read(file)
            with contextlib.suppress(OSError):
                os.close(file)

    def close():
        for _ in range(ROUNDS):
            for file in (number, number + 1):
                with contextlib.suppress(OSError):
                    os.close(file)

    together(
        lambda: own("words.bin", 2 * WORD),
        lambda: own("words2.bin", 20 * WORD),
        close,
    )
    read_all(first, second, os.open("words.bin", R))


def closed_by_range_beside_reads():
    """close_range takes two numbers from those who read, and they get other files."""
    first, second, number = two_files()
    other = os.dup(second)

    def close():
        for _ in range(ROUNDS // 2):
            os.closerange(number, other + 1)

    def copy():
        for turn in range(ROUNDS):
            os.dup2(first if turn % 2 else second, number)
            os.dup2(second if turn % 2 else first, other)

    together(
        close,
        copy,
        lambda: repeat(read_all, number, other, rounds=ROUNDS // 2),
    )
    read_all(first, second, number, other)


run(globals())
