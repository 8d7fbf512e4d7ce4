"""`tracefast waits` as installed: the screen, the tables, the graph, the exit code."""

import json
import xml.etree.ElementTree as ET

import pytest

from support.paths import DATA

STALLS = DATA / "stalls"
HUNG = STALLS / "lock_at_fork.strace"
HEALTHY = STALLS / "talking_pipes.strace"


@pytest.fixture
def waits(run):
    """Run the command; give what it prints, of an error what it says."""

    def call(*words, code=0):
        ran = run("waits", *words)
        assert ran.returncode == code, ran.stderr
        return ran.stderr if code == 2 else ran.stdout

    return call


def test_who_hangs_comes_first_with_the_line_that_explains_it(waits):
    lines = waits(HUNG).splitlines()
    assert lines[0].startswith("STUCK since ")
    assert lines[0].endswith(": 1 task can never go on, 1 waits for it")
    assert lines[2].startswith("deadlock    hangs ")
    assert lines[3].strip().startswith("All threads of the process wait, and only they")
    assert "Line 31: forked while" in lines[3]
    rest = "\n".join(lines[4:])
    assert "\N{BOX DRAWINGS LIGHT UP AND RIGHT}" in rest
    assert "What to do: start workers before threads" in rest


def test_locks_in_two_orders_are_no_matter_of_forks(waits):
    text = waits(STALLS / "two_locks.strace")
    assert "What to do: take locks in the same order in all threads" in text
    assert "fork" not in text


def test_of_several_logs_each_line_names_its_log(waits):
    text = " ".join(waits(STALLS / "own_pipe.strace", STALLS / "lost_child.strace").split())
    assert "Line 15 of own_pipe.strace: from here" in text
    assert "Line 25 of lost_child.strace: 30130 died." in text


def test_what_is_not_proved_says_so(waits, tmp_path):
    lines = HUNG.read_text().splitlines(keepends=True)
    (tmp_path / "cut").write_text("".join(lines[:34]))
    text = waits(tmp_path / "cut")
    assert ": 1 task may never go on" in text
    assert "A likely-deadlock is not proved" in text
    single = (STALLS / "event.strace").read_text().splitlines(keepends=True)
    (tmp_path / "single").write_text("".join(line.split(maxsplit=1)[1] for line in single))
    text = waits(tmp_path / "single")
    assert "likely-deadlock" in text
    assert "None" not in text
    assert "record with -T" not in waits(STALLS / "attached.strace")


def test_a_log_without_times_names_who_waited(waits, tmp_path):
    lines = (STALLS / "own_pipe.strace").read_text().splitlines(keepends=True)
    untimed = "".join(f"{line.split()[0]} {line.split(maxsplit=2)[2]}" for line in lines)
    (tmp_path / "log").write_text(untimed)
    text = waits(tmp_path / "log")
    assert "The log has no times" in text
    assert "read pipe of line 15" in text
    assert "STUCK" not in text


def test_the_heading_of_a_verdict_is_its_name(waits):
    assert "verdict" in waits(HUNG, "--stuck").splitlines()[0]


def test_waits_that_ended_name_who_ended_them(waits):
    text = waits(HEALTHY)
    assert "STUCK" not in text
    assert "2 waits that ended" in text
    assert "Who waited for whom" in text


@pytest.mark.parametrize(
    ("log", "says"),
    [
        ("attached", "The log starts in mid-run"),
        ("server", "1 task could end it"),
        ("own_handler", "somebody outside of the log could end it"),
    ],
)
def test_what_the_log_cannot_say_is_on_the_screen(waits, log, says, tmp_path):
    lines = (STALLS / f"{log}.strace").read_text().splitlines(keepends=True)
    # As it hung, without its end.
    kept = [line for line in lines if "killed by" not in line and "resumed>" not in line]
    (tmp_path / "log").write_text(
        "".join(kept).replace("<unfinished ...>) = ?", "<unfinished ...>")
    )
    assert says in waits(tmp_path / "log")


def test_a_filtered_log_says_so(waits, tmp_path):
    text = HUNG.read_text().splitlines(keepends=True)
    kept = "".join(line for line in text if " brk(" not in line and " mmap(" not in line)
    (tmp_path / "log").write_text(kept)
    text = waits(tmp_path / "log")
    assert text.startswith("Not all calls were traced")
    assert "\ndeadlock " not in text


@pytest.mark.parametrize(
    ("log", "fail_on", "code"),
    [
        (HUNG, "deadlock", 1),
        (HUNG, "stalled", 1),
        (HEALTHY, "stalled", 0),
        (STALLS / "attached.strace", "deadlock", 0),
        (STALLS / "attached.strace", "likely-deadlock", 1),
    ],
)
def test_fail_on(waits, log, fail_on, code):
    waits(log, "--fail-on", fail_on, code=code)


def test_of_a_log_without_an_event_nobody_can_say_that_nothing_hangs(waits, tmp_path):
    empty = tmp_path / "empty.strace"
    empty.touch()
    waits(empty)
    assert "the log is empty" in waits(empty, "--fail-on", "deadlock", code=2)
    waits(HUNG, empty, "--fail-on", "deadlock", code=1)


def test_rows_of_waits_of_the_stuck_and_of_pairs(waits):
    rows = json.loads(waits(HUNG, "--format", "json"))
    assert {row["name"] for row in rows} >= {"futex", "wait4"}
    stuck = json.loads(waits(HUNG, "--stuck", "--format", "json"))
    assert [row["verdict"] for row in stuck] == ["deadlock", "stalled"]
    pairs = json.loads(waits(HEALTHY, "--pairs", "--format", "json"))
    assert {(row["on"], row["count"]) for row in pairs} == {("pipe", 1)}
    assert len(pairs) == 2


def test_waits_of_tasks_that_a_log_only_mentions_are_counted(run):
    demo = DATA / "demo.ftrace.zst"
    shown = run("waits", demo, "--pairs")
    every = json.loads(run("waits", demo, "--format", "json").stdout)
    others = [row for row in every if row["image"] is None]
    assert others
    assert f"note: {len(others)} more waits of tasks of which the log shows no" in shown.stderr
    waiters = {line.split()[0] for line in shown.stdout.splitlines()}
    assert waiters.isdisjoint(str(row["pid"]) for row in others)
    listed = run("waits", demo, "--wide")
    assert len(listed.stdout.splitlines()) == 1 + len(every)
    assert listed.stderr == ""


def test_nobody_who_hangs_is_said(run):
    assert "the log shows nobody who hangs" in run("waits", HEALTHY, "--stuck").stderr


def test_short_waits_are_left_out(waits):
    assert len(json.loads(waits(HEALTHY, "--min", "40ms", "--format", "json"))) < len(
        json.loads(waits(HEALTHY, "--min", "0", "--format", "json"))
    )


def test_graph(waits, tmp_path):
    for suffix in ("svg", "dot", "mmd"):
        waits(HUNG, "--graph", tmp_path / f"w.{suffix}")
    picture = ET.parse(tmp_path / "w.svg").getroot()
    texts = {"".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"deadlock", "stalled", "nobody"} <= texts
    assert (tmp_path / "w.dot").read_text().startswith("digraph waits {")
    mermaid = (tmp_path / "w.mmd").read_text().splitlines()
    assert mermaid[0] == "flowchart LR"
    assert sum("-->" in line for line in mermaid) == 2


def test_graph_of_a_log_without_waits(waits, tmp_path):
    (tmp_path / "log").write_text("7 close(3) = 0\n")
    waits(tmp_path / "log", "--graph", tmp_path / "w.svg")
    assert ET.parse(tmp_path / "w.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--graph", "w.png"], "name a file that ends in .svg, .dot or .mmd"),
        (["--stuck", "--pairs"], "leave out one of them"),
        (["--min", "soon"], "not a span of time"),
    ],
)
def test_wrong_command_lines(waits, words, says):
    assert says in waits(HUNG, *words, code=2)


def sleeper(path, *calls, unfinished="rt_sigsuspend([], 8 <unfinished ...>) = ?"):
    """Write a log of a process that sets timers, and waits for two seconds until it is killed."""
    lines = [
        'execve("/usr/bin/timeout", ["timeout"], 0x7 /* 1 var */) = 0',
        *calls,
        f"{unfinished}",
    ]
    text = [f"7 {1700000000 + at / 1000:.6f} {call} <0.0001>" for at, call in enumerate(lines)]
    text[-1] = text[-1].removesuffix(" <0.0001>")
    path.write_text("\n".join([*text, "7 1700000002.500000 +++ killed by SIGKILL +++", ""]))
    return path


IT = "{{it_interval={{tv_sec={}, tv_{}=0}}, it_value={{tv_sec={}, tv_{}=0}}}}, NULL) = 0"


def spec(seconds, again=0, unit="nsec"):
    return IT.format(again, unit, seconds, unit)


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (["timer_settime(0, 0, " + spec(3)], "its own timer of 3.0 s could end it"),
        (["setitimer(ITIMER_REAL, " + spec(3, unit="usec")], "its own timer of 3.0 s could"),
        (["alarm(3) = 0"], "its own timer of 3.0 s could end it"),
        (["timer_settime(0, TIMER_ABSTIME, " + spec(1700000100)], "its own timer could end it"),
        (["timer_settime(0, 0, " + spec(1, again=1)], "its own timer of 1.0 s could end it"),
        # No timer, one that was stopped or deleted, one that is over and has not ended the wait.
        ([], "somebody outside"),
        (["timer_settime(0, 0, " + spec(3), "timer_settime(0, 0, " + spec(0)], "somebody outside"),
        (["timer_settime(0, 0, " + spec(3), "timer_delete(0) = 0"], "somebody outside"),
        (["alarm(3) = 0", "setitimer(ITIMER_REAL, " + spec(0, unit="usec")], "somebody outside"),
        (["timer_settime(0, 0, " + spec(1)], "somebody outside"),
        (["timer_settime(0, 0, " + spec(3).replace("= 0", "= -1 EINVAL (x)")], "somebody outside"),
    ],
)
def test_a_timer_of_its_own_may_end_a_wait_for_a_signal(waits, tmp_path, calls, said):
    log = sleeper(tmp_path / "log", *calls)
    assert said in waits(log)
    assert "own_timer" not in waits(log, "--format", "json")
    assert "own_timer" not in waits(log, "--wide")


def test_a_timer_of_another_process_may_end_no_wait(waits, tmp_path):
    made = "clone(child_stack=NULL, flags=SIGCHLD) = 8"
    log = sleeper(tmp_path / "log", "alarm(3) = 0", made)
    lines = log.read_text().splitlines(keepends=True)
    lines[3] = lines[3].replace("7 ", "8 ", 1)
    lines[4] = lines[4].replace("7 ", "8 ", 1)
    log.write_text("".join(lines))
    assert "somebody outside" in waits(log)
