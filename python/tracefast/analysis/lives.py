"""The lives of tasks: when they start, which programs they run, how they end and are collected."""

import polars as pl

from tracefast.analysis import vocabulary as calls

# siginfo and rusage count processor time in ticks of this length on every machine that matters.
_TICK_NS = 10_000_000


def starts(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give each task's start: the return of its creation in the child, else its first event.

    And its `child_group`: the process that it belongs to.
    """
    returned = (
        (pl.col("kind") == "syscall") & pl.col("name").is_in(calls.FORKS) & (pl.col("ret") == 0)
    )
    return rows.group_by("source", pl.col("task").alias("child_task")).agg(
        pl.coalesce(pl.col("ts").filter(returned).min(), pl.col("ts").min()).alias("start"),
        pl.col("pid").min_by("line").alias("child_group"),
    )


def execs(rows: pl.LazyFrame) -> pl.DataFrame:
    """Give every attempt to start a program, with the path where the log has one.

    ftrace prints the address of the path only; the scheduler's event has the text.
    """
    named = pl.col("kind") == "event"
    return (
        rows.filter(
            ((pl.col("kind") == "syscall") & pl.col("name").is_in(calls.EXECS))
            | (named & (pl.col("name") == "sched_process_exec"))
        )
        .filter(pl.col("status").ne_missing("injected"))
        .select(
            "source",
            "task",
            "line",
            "ts",
            "dur_ns",
            pl.when(named)
            .then(pl.col("args").str.extract(r"filename=(.*) pid=-?\d+ old_pid=-?\d+$"))
            .otherwise(pl.col("path"))
            .alias("path"),
            named.alias("event"),
            (~named & pl.col("errno").is_not_null()).alias("failed"),
            (named | (pl.col("ret") == 0)).fill_null(value=False).alias("done"),
        )
        .sort("source", "line")
        .collect()
    )


def parent_images(creations: pl.DataFrame, execs: pl.DataFrame) -> pl.Series:
    """Give the program that the caller of each creation runs.

    That is the path of its last execve; a task that has none runs the program of its creator.
    Where the log begins after all of these, the command name, if it is printed.
    """
    done = execs.filter(pl.col("done") & pl.col("path").is_not_null())
    images: dict[tuple[str, int], str] = {}
    # Lines are the order of both: a program is started before it creates anything, and a task is
    # created before it starts a program.
    program = iter(done.select("source", "line", "task", "path").rows())
    following = next(program, None)
    parents: list[str | None] = []
    wanted = creations.select("source", "line", "task", "child_task", "comm").rows()
    for source, line, task, child, comm in wanted:
        while following is not None and (following[0], following[1]) < (source, line):
            images[following[0], following[2]] = following[3]
            following = next(program, None)
        image = images.get((source, task))
        parents.append(image or comm)
        if image is not None and child is not None:
            images[source, child] = image
    return pl.Series("parent_image", parents, dtype=pl.String)


def first_programs(execs: pl.LazyFrame) -> pl.LazyFrame:
    """Give the first program that each task started, and the attempts that failed before it."""
    success = pl.col("done") & ~pl.col("event")
    first = pl.col("line").filter(success).min().over("source", "task")
    # Up to the first success; all, where none of the attempts succeeded.
    before = pl.col("failed") & (first.is_null() | (pl.col("line") < first))
    own = success & (pl.col("line") == first)
    return (
        execs.with_columns(before.alias("before"), own.alias("own"))
        .group_by("source", pl.col("task").alias("child_task"))
        .agg(
            pl.col("ts").filter(pl.col("own")).first().alias("exec_ts"),
            pl.col("dur_ns").filter(pl.col("own")).first().alias("exec_ns"),
            pl.coalesce(
                pl.col("path").filter(pl.col("own")).first(),
                pl.col("path").filter(pl.col("event")).first(),
            ).alias("image"),
            pl.col("before").sum().alias("exec_failed"),
            pl.when(pl.col("dur_ns").filter("before").count() > 0)
            .then(pl.col("dur_ns").filter("before").sum())
            .alias("exec_failed_ns"),
        )
    )


def exits(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give the end of each task: when, with which status, by which signal."""
    ended = pl.col("kind") == "exit"
    event = (pl.col("kind") == "event") & (pl.col("name") == "sched_process_exit")
    asked = (pl.col("kind") == "syscall") & pl.col("name").is_in(calls.ENDS)
    # ftrace has no line for the status, but the call that asked to exit with it.
    status = (
        pl.col("args")
        .str.extract(r"^error_code: (?:0x)?([0-9a-f]+)")
        .str.to_integer(base=16, strict=False)
        .mod(256)
    )
    return (
        rows.filter(ended | event | asked)
        .group_by("source", pl.col("task").alias("child_task"))
        .agg(
            pl.coalesce(pl.col("ts").filter(ended).max(), pl.col("ts").filter(event).max()).alias(
                "exit_ts"
            ),
            pl.coalesce(
                pl.col("ret").filter(ended & (pl.col("name") == "exited")).first(),
                status.filter(asked).last(),
            ).alias("exit_status"),
            pl.col("name")
            .filter(ended & pl.col("name").str.starts_with("SIG"))
            .first()
            .alias("exit_signal"),
        )
    )


def with_collection(children: pl.LazyFrame, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Add how each process was collected: `reap_ns`, and the times in its SIGCHLD.

    A number names a process only until the next process of that number starts; within that span
    the first wait that returns it is the one that collected it.
    """
    span = ["source", "child_pid"]
    counted = (
        children.filter(pl.col("child_pid").is_not_null(), pl.col("kind").ne_missing("thread"))
        .select(*span, "line", pl.coalesce("start", "ts").alias("from"))
        .sort("from")
        .with_columns(pl.col("from").shift(-1).over(span, order_by="from").alias("until"))
        .pipe(_next, _waits(rows), "wait_end")
        .pipe(_next, _child_signals(rows), "signal_ts")
    )

    def within(name: str, when: str) -> pl.Expr:
        known = pl.col("until").is_null() | (pl.col(when) <= pl.col("until"))
        return pl.when(known).then(pl.col(name)).alias(name)

    found = counted.select(
        *span,
        "line",
        within("wait_end", "wait_end"),
        within("child_utime_ns", "signal_ts"),
        within("child_stime_ns", "signal_ts"),
    )
    return children.join(found, on=[*span, "line"], how="left").with_columns(
        (pl.col("wait_end") - pl.col("exit_ts")).dt.total_nanoseconds().alias("reap_ns")
    )


def _next(spans: pl.LazyFrame, events: pl.LazyFrame, when: str) -> pl.LazyFrame:
    """Add the first event of the same process after the beginning of its span."""
    return spans.join_asof(
        events,
        left_on="from",
        right_on=when,
        by=["source", "child_pid"],
        strategy="forward",
        check_sortedness=False,  # Both are sorted; polars cannot see it within groups.
    )


def _waits(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give the waits that collected a process, and when they returned."""
    # A wait also tells of children that stopped or went on; ftrace does not print which.
    stopped = pl.col("args").str.contains("WIFSTOPPED|WIFCONTINUED|WNOWAIT").fill_null(value=False)
    ended = pl.col("args").str.contains(r"si_code=CLD_(?:EXITED|KILLED|DUMPED)")
    told = pl.col("args").str.extract(r"si_pid=(\d+)").cast(pl.Int32)
    pid = (
        pl.when((pl.col("name") == "waitid") & ended & (pl.col("ret") == 0))
        .then(told)
        .when((pl.col("name") != "waitid") & (pl.col("ret") > 0))
        .then(pl.col("ret").cast(pl.Int32, strict=False))
    )
    return (
        rows.filter(
            pl.col("kind") == "syscall",
            pl.col("name").is_in(calls.WAITS),
            pl.col("dur_ns").is_not_null(),
            ~stopped,
        )
        .select(
            "source",
            pid.alias("child_pid"),
            (pl.col("ts") + pl.col("dur_ns").cast(pl.Duration("ns"))).alias("wait_end"),
        )
        .drop_nulls()
        .sort("wait_end")
    )


def _child_signals(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give the SIGCHLD of processes that ended, with the processor time that they used."""
    text = pl.col("args")

    def field(name: str) -> pl.Expr:
        return text.str.extract(rf"\b{name}=(\d+)").cast(pl.Int64)

    return (
        rows.filter(
            pl.col("kind") == "signal",
            pl.col("name") == "SIGCHLD",
            text.str.contains(r"si_code=CLD_(?:EXITED|KILLED|DUMPED)"),
        )
        .select(
            "source",
            field("si_pid").cast(pl.Int32).alias("child_pid"),
            pl.col("ts").alias("signal_ts"),
            (field("si_utime") * _TICK_NS).alias("child_utime_ns"),
            (field("si_stime") * _TICK_NS).alias("child_stime_ns"),
        )
        .filter(pl.col("child_pid").is_not_null())
        .sort("signal_ts")
    )
