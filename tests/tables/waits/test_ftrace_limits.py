"""ftrace: a call whose limit is in a register waits for that long at most."""

import polars as pl
import pytest

import tracefast as tf

POLL = """\
# tracer: nop
           app-7     [000] .....   100.000000: sys_{call}({args})
           app-7     [000] d..2.   100.000010: sched_switch: prev_comm=app prev_pid=7 \
prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
        <idle>-0     [000] d.h2.   100.050020: sched_waking: comm=app pid=7 prio=120 target_cpu=000
        <idle>-0     [000] d..2.   100.050030: sched_switch: prev_comm=swapper/0 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=app next_pid=7 next_prio=120
           app-7     [000] .....   100.050040: sys_{call} -> {ret}
"""


@pytest.mark.parametrize(
    ("call", "args"),
    [
        ("poll", "ufds: 0x7ffe, nfds: 0x1, timeout_msecs: {}"),
        ("epoll_wait", "epfd: 0x3, events: 0x7ffe, maxevents: 0x8, timeout: {}"),
    ],
)
@pytest.mark.parametrize(
    ("limit", "ret", "timeout", "end"),
    [
        ("0x32", "0x0", 50_000_000, "timeout"),
        ("0x64", "0x1", 100_000_000, "woken"),
        ("0xffffffff", "0x1", None, "woken"),
    ],
)
def test_limits_of_polls(call, args, limit, ret, timeout, end, tmp_path):
    text = POLL.format(call=call, args=args.format(limit), ret=ret)
    (tmp_path / "log").write_text(text)
    row = tf.waits(tf.scan(tmp_path / "log")).filter(pl.col("name") == call).collect()
    assert row.select("timeout_ns", "end").rows() == [(timeout, end)]
