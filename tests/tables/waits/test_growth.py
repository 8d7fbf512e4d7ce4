"""Time grows with the log, and not with its square."""

import time

import pytest

from tracefast import _core


def exits(n):
    """Processes that end one after the other."""
    for pid in range(2, n + 2):
        yield pid, "exit_group(0) = ?"
        yield pid, "+++ exited with 0 +++"


def unfinished(n):
    """Tasks that read something that is older than the log when it ends."""
    for pid in range(2, n + 2):
        yield pid, "read(3,  <unfinished ...>"


def own_pipes(n):
    """Processes that read a pipe of their own when the log ends."""
    for pid in range(2, n + 2):
        yield 1, f"clone(child_stack=NULL, flags=SIGCHLD) = {pid} <0.000200>"
        yield pid, "pipe2([3, 4], 0) = 0 <0.000010>"
        yield pid, "read(3,  <unfinished ...>"


def connections(n):
    """A server that watches many sockets with one set."""
    yield 1, "epoll_create1(0) = 3 <0.000010>"
    for fd in range(4, 2 * n + 4, 2):
        yield 1, f"socketpair(AF_UNIX, SOCK_STREAM, 0, [{fd}, {fd + 1}]) = 0 <0.000010>"
        data = f"{{events=EPOLLIN, data={{u32={fd}, u64={fd}}}}}"
        yield 1, f"epoll_ctl(3, EPOLL_CTL_ADD, {fd}, {data}) = 0 <0.000010>"
    for fd in range(4, 2 * n + 4, 2):
        ready = f"[{{events=EPOLLIN, data={{u32={fd}, u64={fd}}}}}]"
        yield 1, f"epoll_wait(3, {ready}, 10, -1) = 1 <0.010000>"
    for fd in range(4, 2 * n + 4, 2):
        yield 1, f"close({fd}) = 0 <0.000010>"


def seconds(path, lines):
    """How long the table takes."""
    path.write_text(
        "".join(f"{pid} 1700000000.{at:06} {text}\n" for at, (pid, text) in enumerate(lines))
    )
    batches = list(_core.Reader([str(path)]))
    taken = []
    for _ in range(3):
        fold = _core.Waits(min_ns=0)
        start = time.process_time()
        for batch in batches:
            fold.push(batch)
        fold.finish()
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("lines", [exits, unfinished, own_pipes, connections])
def test_time_grows_with_the_log(tmp_path, lines):
    few, many = (seconds(tmp_path / "log", lines(n)) for n in (1000, 16_000))
    # Sixteen times as long, rather than 256 times.
    assert many < 64 * few
