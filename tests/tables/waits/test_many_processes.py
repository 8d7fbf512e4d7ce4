"""The end of a process does not look at all others."""

import time

from tracefast import _core


def seconds(path, processes):
    """How long the table takes of a log in which so many processes end one after the other."""
    path.write_text(
        "".join(
            f"{pid} 1700000000.{pid:06} exit_group(0) = ?\n"
            f"{pid} 1700000000.{pid:06} +++ exited with 0 +++\n"
            for pid in range(1, processes + 1)
        )
    )
    batches = list(_core.Reader([str(path)]))
    taken = []
    for _ in range(3):
        fold = _core.Waits(min_ns=0)
        start = time.process_time()
        for batch in batches:
            fold.push(batch)
        taken.append(time.process_time() - start)
    return min(taken)


def test_time_grows_with_the_processes(tmp_path):
    few, many = (seconds(tmp_path / "log", processes) for processes in (8_000, 64_000))
    # Eight times as long, rather than 64 times.
    assert many < 24 * few
