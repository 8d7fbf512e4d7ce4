"""What ran, what is worth a change, and where the time went."""

from typing import Final

import polars as pl

from tracefast.analysis.insights.registry import GROUPS
from tracefast.cli.text import units
from tracefast.page.activity import STEPS, Activity
from tracefast.page.answers import Answers
from tracefast.page.charts import heat_map, times
from tracefast.page.charts.in_page import BRUSH, FOLLOW, in_page
from tracefast.page.elements import Panel, code, empty, facts, sentence
from tracefast.page.shell import figure, text
from tracefast.plot.bounds import nanoseconds
from tracefast.plot.charts import gantt, timeline
from tracefast.plot.intervals import at_once
from tracefast.quantities import Range, plural

MOST_FINDINGS: Final = 10
# Where to look further: for each group of rules, the panels.
_SHOWN: Final = {
    "Files": [("offsets", "how it was read"), ("files", "files")],
    "Processes": [("lifetimes", "lifetimes"), ("starting", "starting processes")],
    "Waits": [("activity", "activity"), ("waits", "waits")],
    "Memory": [("starting", "workers"), ("kernel", "memory")],
    "The log itself": [("run", "the run"), ("log", "what the log lacks")],
}
_TIMES: Final = "strace -f -ttt -T"
_WINDOW: Final = '<p class="whole">Shown: <span class="window-text"></span></p>'


def run(answers: Answers) -> Panel:
    """Say what ran."""
    tasks, processes = answers.table("tasks"), answers.table("processes")
    calls, files = answers.table("syscalls"), answers.table("files")
    others = answers.others.height
    rows = [("Logs", ", ".join(answers.inputs) or "-")]
    argv = processes.filter(pl.col("argv").is_not_null())["argv"].to_list()
    if argv:
        rows.append(("Command", " ".join(argv[0])))
    if answers.activity is not None:
        rows.append(("Length", units.duration(answers.activity.length_ns)))
    rows += [
        ("Tracer", answers.tracer),
        ("Events", f"{int(tasks['events'].sum()):,}"),
        ("Processes", f"{processes.height - others:,}"),
        *([("Other tasks", f"{others:,}, of which the log shows no calls")] if others else []),
        ("System calls", f"{int(calls['calls'].sum()):,}, {int(calls['errors'].sum()):,} failed"),
        ("Read", units.size(int(files["read_bytes"].sum()))),
        ("Written", units.size(int(files["write_bytes"].sum()))),
        ("Lines not understood", f"{int(tasks['unparsed'].sum()):,}"),
        (
            "Missing in the log",
            "see “What the log cannot tell” below" if answers.lacks else "nothing that is known",
        ),
    ]
    return Panel("run", "Run", facts(rows))


def findings(answers: Answers) -> Panel:
    """Say what is worth a change, and where to look."""
    rows = answers.table("insights").head(MOST_FINDINGS)
    if rows.is_empty():
        return Panel(
            "findings", "Findings", empty("No rule found anything that is worth a change.")
        )
    group_of = {rule.code: name for name, rules in GROUPS.items() for rule in rules}
    items = []
    for row in rows.rows(named=True):
        said, saving = row["evidence"], ""
        if row["saving_high_ns"]:
            saving = f" A change saves {Range(row['saving_low_ns'] or 0, row['saving_high_ns'])}."
        lines = f" Lines {', '.join(map(str, row['lines']))}." if row["lines"] else ""
        evidence = f"{said[:1].upper()}{said[1:]}.{saving}{lines}"
        links = " · ".join(
            f'<a href="#{name}">{words}</a>' for name, words in _SHOWN[group_of[row["code"]]]
        )
        items.append(
            f'<li data-code="{row["code"]}"><span class="severity {row["severity"]}">'
            f"{row['severity']}</span> <b>{text(row['title'], 300)}</b>"
            f"{sentence(evidence)}{sentence('Do: ' + row['advice'])}"
            f"<p class=dim>See {links}. Repeat: "
            f"{code(answers.command('insights', '--select', row['code']))}</p></li>"
        )
    return Panel("findings", "Findings", f'<ul class="findings">{"".join(items)}</ul>')


def activity(answers: Answers) -> list[Panel]:
    """Draw where the time went, who did what when, what moved, who was there."""
    names = {
        "times": "Where the time went",
        "activity": "Activity",
        "throughput": "Throughput and processes",
        "lifetimes": "Lifetimes of processes",
    }
    known = answers.activity
    if known is None:
        why = "The log has no times." if answers.has_events else "The log has no events."
        none = empty(why, _TIMES)
        return [Panel(name, title, none) for name, title in names.items()]
    bodies = {
        "times": _times(known, answers),
        "activity": _activity(known, answers),
        "throughput": _throughput(known, answers),
        "lifetimes": _lifetimes(known, answers),
    }
    return [Panel(name, title, bodies[name]) for name, title in names.items()]


def _times(known: Activity, answers: Answers) -> str:
    spent = times.rows(known, answers.found)
    if spent.is_empty():
        return _no_calls()
    return figure(in_page(times.chart(spent)), "Where the time went")


def _activity(known: Activity, answers: Answers) -> str:
    heat = heat_map.rows(known, answers.table("waits"))
    if heat.is_empty():
        return _no_calls()
    buttons = "".join(
        f'<label><input type="radio" name="measure" value="{name}"'
        f"{' checked' if name == heat_map.MEASURES[0] else ''}> {name}</label>"
        for name in heat_map.MEASURES
    )
    drawn = in_page(
        heat_map.chart(known), span_s=known.span_s, attribute=FOLLOW, rows=heat_map.data(heat)
    )
    return (
        f"<fieldset><legend>Measure</legend>{buttons}</fieldset>{_WINDOW}"
        f"{figure(drawn, 'Activity', attributes=f'{FOLLOW} data-choice')}"
    )


def _throughput(known: Activity, answers: Answers) -> str:
    width = known.step_ns
    sums = known.done.group_by(pl.col("step").cast(pl.Int64).alias("bin")).agg(
        pl.col("calls", "read", "written").sum()
    )
    own = answers.own(answers.table("processes"))
    lives = known.since_start(own.lazy(), "ts_start", "ts_end")
    lived = lives.filter(pl.col("ts_start").is_not_null()).select(
        start=nanoseconds("ts_start").clip(0), end=nanoseconds("ts_end").fill_null(width * STEPS)
    )
    there = timeline.series("processes", "running", at_once(lived, 0, width, STEPS))
    found = [*timeline.rates_of_sums(sums, width, STEPS, ["bytes"]), there]
    rows = timeline.at_times(found, 0, width)
    moved, running = (timeline.panel(rows, measure) for measure in ("bytes", "processes"))
    return (
        sentence(
            "Drag over the first chart to choose a part of the time: the activity, lifetimes,"
            " offsets and calls follow.",
            dim=True,
        )
        + figure(
            in_page(moved, height=150, span_s=known.span_s, attribute=BRUSH),
            "Throughput",
            attributes=BRUSH,
        )
        + figure(in_page(running, height=70, span_s=known.span_s), "Processes")
    )


def _lifetimes(known: Activity, answers: Answers) -> str:
    # A mark is where the program has been loaded: the call of execve has returned.
    at = pl.col("ts") + pl.duration(
        nanoseconds=pl.sum_horizontal("call_ns", "exec_gap_ns", "exec_ns")
    )
    forks = answers.table("forks").filter(pl.col("exec_ns").is_not_null())
    execs = known.since_start(
        forks.lazy().select("source", pid="child_pid", at=at, program="image"), "at"
    ).with_columns(nanoseconds("at"))
    table = known.since_start(
        answers.own(answers.table("processes")).lazy(), "ts_start", "ts_end"
    ).collect()
    ends = known.since_start(
        answers.table("tasks").lazy().group_by("source").agg(pl.col("last").max()), "last"
    ).with_columns(nanoseconds("last"))
    bars = gantt.rows_of_table(table, execs.collect(), ends.collect(), origin=0)
    if bars.is_empty():
        return empty("The log shows no process.", _TIMES)
    count = bars.filter(pl.col("mark") == "process").height
    # A height that depends on the data would not go with a width that depends on the page.
    height = gantt.LANE * count
    drawn = in_page(gantt.chart(bars), height=height, span_s=known.span_s, attribute=FOLLOW)
    return (
        _WINDOW
        + figure(drawn, "Lifetimes of processes", attributes=FOLLOW)
        + sentence(f"{plural(count, 'bar')}; marks are programs that were executed.", dim=True)
    )


def _no_calls() -> str:
    return empty("The log has no system calls.", _TIMES)
