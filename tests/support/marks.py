"""Logs of processes that mark phases, make processes, and end: made by hypothesis."""

from hypothesis import strategies as st

from support.reference.calls import Row

# Starts and ends of calls are all different: each call has a number, and its own nanosecond.
_CALLS = 64
_MARKS = ["phase/load", "phase/train", "begin/train", "begin/epoch", "end/epoch", "end/train"]
_TASKS = 4


@st.composite
def marked(
    draw: st.DrawFn, call: st.SearchStrategy[Row], *, children_first: bool = True
) -> list[Row]:
    """Draw the rows of a log, in the order in which they became complete.

    Children may have rows before the call that made them, which returns later.
    """
    born = {0: 0}
    roots = {0: 0}
    rows = []

    def add(task: int, start: int, dur: int, **more: object) -> None:
        number = len(rows)
        ts = start * _CALLS + number
        own = {"ts": ts, "dur_ns": dur * _CALLS + _CALLS // 2 if dur else 0}
        pid = 100 + task
        rows.append({"source": "log", "task": task, "tid": pid, "pid": pid} | more | own)

    for task in range(1, draw(st.integers(1, _TASKS))):
        maker = draw(st.sampled_from([*born, None]))
        if maker is None:
            born[task], roots[task] = 0, task
            continue
        start = born[maker] + draw(st.integers(1, 8))
        born[task], roots[task] = start, roots[maker]
        clone = {"kind": "syscall", "name": "clone", "child": task, "ret": 100 + task}
        add(maker, start, draw(st.integers(0, 9)) if children_first else 0, **clone)
    for _ in range(draw(st.integers(0, 30))):
        task = draw(st.sampled_from(list(born)))
        start = born[task] + draw(st.integers(1, 30))
        if draw(st.integers(0, 2)):
            row = draw(call)
            # Only processes that have a maker in common share open files.
            for name in ("ofd", "ofd2"):
                row[name] += roots[task] * 10
            add(task, start, draw(st.integers(0, 15)), **row)
        else:
            path = f"/tracefast/{draw(st.sampled_from(_MARKS))}"
            add(task, start, 0, kind="syscall", name="access", path=path, ret=-1, errno="ENOENT")
    for task in born:
        if draw(st.booleans()):
            add(task, 60, 0, kind="exit", name="exited", ret=0)
    return sorted(rows, key=lambda row: row["ts"] + row["dur_ns"])
