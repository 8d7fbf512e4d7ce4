"""What ran, what is worth a change, and where the time went."""

from typing import Final

import polars as pl

from tracefast.analysis.insights.registry import GROUPS
from tracefast.cli.text import units
from tracefast.page.answers import Answers
from tracefast.page.charts import over_time
from tracefast.page.charts.times import time_rows, times
from tracefast.page.elements import Panel, code, empty, facts, sentence
from tracefast.page.shell import figure, text
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


def run(answers: Answers) -> Panel:
    """Say what ran."""
    tasks, processes = answers.table("tasks"), answers.table("processes")
    calls, files = answers.table("syscalls"), answers.table("files")
    rows = [("Logs", ", ".join(answers.inputs) or "-")]
    argv = processes.filter(pl.col("argv").is_not_null())["argv"].to_list()
    if argv:
        rows.append(("Command", " ".join(argv[0])))
    if answers.activity is not None:
        rows.append(("Length", units.duration(round(answers.activity.span_s * 1e9))))
    rows += [
        ("Tracer", "ftrace" if answers.is_ftrace else "strace"),
        ("Events", f"{int(tasks['events'].sum()):,}"),
        ("Processes", f"{processes.height:,}"),
        ("System calls", f"{int(calls['calls'].sum()):,}, {int(calls['errors'].sum()):,} failed"),
        ("Read", units.size(int(files["read_bytes"].sum()))),
        ("Written", units.size(int(files["write_bytes"].sum()))),
        ("Lines not understood", f"{int(tasks['unparsed'].sum()):,}"),
        ("Missing in the log", ", ".join(answers.found.gaps) or "nothing that is known"),
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
        none = empty("The log has no times.", _TIMES)
        return [Panel(name, title, none) for name, title in names.items()]
    span, processes = known.span_s, answers.table("processes")
    spent = time_rows(known, answers.found)
    bars = over_time.lifetime_rows(known, processes)
    execs = over_time.exec_rows(known, bars, answers.table("forks"))
    heat = over_time.heat_map_rows(known, answers.table("waits"))
    buttons = "".join(
        f'<label><input type="radio" name="measure" value="{name}"'
        f"{' checked' if name == 'bytes' else ''}> {name}</label>"
        for name in over_time.MEASURES
    )
    window = '<p class="whole">Shown: <span class="window-text"></span></p>'
    bodies = {
        "times": figure(times(spent), names["times"]) if spent.height else _no_calls(),
        "activity": f"<fieldset><legend>Measure</legend>{buttons}</fieldset>{window}"
        + figure(
            over_time.heat_map(heat, known), names["activity"], attributes="data-follow data-choice"
        )
        if heat.height
        else _no_calls(),
        "throughput": sentence(
            "Drag over the first chart to choose a part of the time: the activity, lifetimes,"
            " offsets and calls follow.",
            dim=True,
        )
        + figure(
            over_time.throughput(over_time.throughput_rows(known), span),
            "Throughput",
            attributes="data-brush",
        )
        + figure(over_time.running(over_time.running_rows(known, processes), span), "Processes"),
        "lifetimes": window
        + figure(
            over_time.lifetimes(bars, execs, span), names["lifetimes"], attributes="data-follow"
        )
        + sentence(
            f"{plural(bars.height, 'bar')}; marks are programs that were executed.", dim=True
        )
        if bars.height
        else empty("The log shows no process.", _TIMES),
    }
    return [Panel(name, title, bodies[name]) for name, title in names.items()]


def _no_calls() -> str:
    return empty("The log has no system calls.", _TIMES)
