"""What the traced programs share: they run as `python GROUP.py SCENARIO` in an empty folder."""

import ctypes
import os
import signal
import struct
import sys

WORD = 8
SIGCHLD = 17
CLONE_VM, CLONE_FILES, CLONE_VFORK = 0x100, 0x400, 0x4000
CLONE_NEWNS, CLONE_NEWPID = 0x20000, 0x20000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
R, W, RW = os.O_RDONLY, os.O_WRONLY, os.O_RDWR
NEW = os.O_CREAT | os.O_TRUNC
APPEND = os.O_APPEND


def gate():
    """Wait for a tracer that attaches, if there is to be one."""
    if "TRUTH_GATE" in os.environ:
        os.kill(os.getpid(), signal.SIGSTOP)


def run(scenarios):
    """Run the scenario named on the command line; one with a parameter passes the gate itself."""
    function = scenarios[sys.argv[1].replace("-", "_")]
    if function.__code__.co_argcount:
        function(gate)
    else:
        gate()
        function()


def cannot(why):
    """End where this machine does not have what the scenario needs."""
    os.write(1, why.encode())
    os._exit(77)


def make(name, size=0, flags=RW):
    """Create a file of this size, and open it again."""
    made = os.open(name, W | NEW, 0o644)
    if size:
        os.write(made, bytes(size))
    os.close(made)
    return os.open(name, flags)


def words(name, count, flags=RW):
    """Create a file in which each word of 8 bytes says where it is."""
    made = os.open(name, W | NEW, 0o644)
    os.write(made, b"".join(struct.pack("<Q", WORD * at) for at in range(count)))
    os.close(made)
    return os.open(name, flags)


def unique(writer, number):
    """Give a word that only this write writes."""
    return struct.pack("<HHI", writer + 1, 0xFACE, number)


def child(function, *arguments):
    """Fork a child that runs a function."""
    return run_in_child(os.fork(), function, *arguments)


def run_in_child(pid, function, *arguments):
    """Run a function in the child of a fork, which then ends; give the parent its pid."""
    if pid == 0:
        status = 1
        try:
            function(*arguments)
            status = 0
        finally:
            os._exit(status)
    return pid


def join(*pids):
    for pid in pids:
        _, status = os.waitpid(pid, 0)
        if status:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF or 1)


def together(*functions):
    """Run the functions in threads."""
    import threading

    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


LIBC = ctypes.CDLL(None, use_errno=True)


def syscall(number, *arguments):
    """Make a system call by number; numbers are those of x86-64."""
    if os.uname().machine != "x86_64":
        cannot("system calls by number need x86-64")
    LIBC.syscall.restype = ctypes.c_long
    wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *wide)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
