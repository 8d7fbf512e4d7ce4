"""What is traced: each function is one program, run in a process of its own."""

import ctypes
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

Mark = Callable[[bytes], object]

FOLDER = Path("/srv/ftrace")  # The recording folder: its name stands in some logs.
PR_SET_NAME = 15

_libc = ctypes.CDLL(None, use_errno=True)

# Names that look like columns, that end or begin in blanks, that are no text, that break the line.
NAMES = [
    *[b"a b c", b"x-12 [000]", b"p-1:2 (3)", b"[br]ack]", b"<...>", b"<idle>", b"a: sys_read(fd:"],
    *[b"trail  ", b"  lead", b"", b"-", b"1", b"# tracer: nop", b"CPU:0 [LOST 1]", b"=> frame"],
    *[b"x-1 [0] 1.0: ", b"15 bytes long--", b'q"uo\\te', b"tab\there", b"new\nline", b"\nfirst"],
    *[b"last\n", b"1\n2\n3", b"caf\xc3\xa9", b"\xff\xfe", b"\x1b[31mred"],
]
# What programs write as marks: each is one write.
MARKS = [
    *[b"plain\n", b"no line feed", b"B|12|a slice", b"E|12", b"C|12|counter|7", b"S|12|job|3"],
    *[b"two\nlines\n", b"\n", b"", b"a\n\n\nb\n", b"   blanks in front", b"blanks behind   \n"],
    *[b"x-1 [000] ..... 1.000000: sys_read -> 0x1\n", b"CPU:0 [LOST 5 EVENTS]\n", b"# comment\n"],
    *[b"text\n            bash-1       [000] .....    1.000000: sys_read(fd: 3)\n"],
    *[b" => frame+0x1/0x2\n", b"before\n => frame\nafter\n", b"caf\xc3\xa9 \xff\xfe\n"],
    *[b"nul\0 behind\n", b"cr\r\nlf\r\n", b"key=value with=blanks in it\n", b"#\n# x\n", b"--\n"],
    *[b"text\nCPU:1 [LOST EVENTS]\ntext\n", b"sys_read(fd: 3)", b"<stack trace>\n", b"L" * 900],
]


def name_of_task(name: bytes) -> None:
    """Give the calling task a name."""
    _libc.prctl(PR_SET_NAME, ctypes.c_char_p(name), 0, 0, 0)


def everyday(mark: Mark) -> None:
    """Use files, a pipe, a thread, a child and signals; some calls fail."""
    data = os.open(FOLDER / "data.bin", os.O_RDWR | os.O_CREAT, 0o644)
    os.write(data, b"0123456789" * 100)
    os.lseek(data, 100, os.SEEK_SET)
    os.read(data, 4096)
    os.read(data, 4096)
    os.pread(data, 16, 0)
    os.close(data)
    for call in (os.stat, os.listdir):
        try:
            call("/nowhere")
        except OSError:
            mark(b"not there\n")
    thread = threading.Thread(target=os.getppid)
    thread.start()
    thread.join()
    signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    child = os.fork()
    if child == 0:
        name_of_task(b"child")
        os._exit(3)
    os.waitpid(child, 0)


def short(mark: Mark) -> None:
    """Make four calls, one of which fails, and a mark."""
    os.getppid()
    # The kernel learns a task's name when it gives way.
    time.sleep(0.001)
    os.open("/dev/null", os.O_WRONLY)
    mark(b"between\n")
    try:
        os.close(999)
    except OSError:
        os.getppid()


def names(_mark: Mark) -> None:
    """Run a child under each of the names."""
    for name in NAMES:
        child = os.fork()
        if child == 0:
            name_of_task(name)
            os.getppid()
            os._exit(0)
        os.waitpid(child, 0)


def marks(mark: Mark) -> None:
    """Write each of the marks, a call of the system now and then between them."""
    for number, text in enumerate(MARKS):
        mark(text)
        if number % 5 == 4:
            os.getppid()


def programs(_mark: Mark) -> None:
    """Start a program that is there, and one that is not."""
    for path in ("/bin/true", "/nowhere"):
        child = os.fork()
        if child == 0:
            try:
                os.execv(path, [path])
            except OSError:
                os._exit(127)
        os.waitpid(child, 0)


def sockets(_mark: Mark) -> None:
    """Send a message over a pair of sockets."""
    one, other = socket.socketpair()
    time.sleep(0.001)
    one.sendall(b"message")
    other.recv(100)


def blocks(_mark: Mark) -> None:
    """Write a file through to the disk, and read it from there."""
    path = FOLDER / "blocks.bin"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    buffer = ctypes.create_string_buffer(8192)
    aligned = -ctypes.addressof(buffer) % 4096
    page = memoryview(buffer)[aligned : aligned + 4096]
    os.pwrite(file, page, 0)
    os.fsync(file)
    os.preadv(file, [page], 0)
    os.close(file)
