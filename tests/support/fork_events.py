"""Events made by hand for the tests of `forks`: one task calls, at milliseconds."""

MS = 1_000_000
FORK = "child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD"


def call(name, task, ts, ret=0, dur=MS, **rest) -> dict[str, object]:
    """Make a row of a call that returned; its task has the thread id `10 * task`."""
    tid = task * 10
    row = {"name": name, "task": task, "pid": tid, "tid": tid, "ts": ts * MS, "ret": ret}
    return row | {"dur_ns": dur} | rest
