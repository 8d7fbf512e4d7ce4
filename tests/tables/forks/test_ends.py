"""How children ended, and times that no child can have."""

from __future__ import annotations

import pytest

import tracefast as tf

THREAD = "flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM"
OUTLASTED = f"""
99 1699999999.000000 fork() = 100 <0.000100>
100 1700000000.000000 clone(child_stack=0x7f, {THREAD}) = 101 <0.000010>
100 1700000000.000100 exit(0) = ?
101 1700000000.000200 exit(5) = ?
101 1700000000.000300 +++ exited with 5 +++
100 1700000000.000400 +++ exited with 0 +++
""".lstrip()


def sigchld(at: str, status: int, *, utime: int = 0, stime: int = 0) -> str:
    return (
        f"99 {at} --- SIGCHLD {{si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=100, si_uid=0,"
        f" si_status={status}, si_utime={utime}, si_stime={stime}}} ---\n"
    )


@pytest.fixture
def both(tmp_path):
    """Give the row of a log's first child in `forks`, and that of its process in `processes`."""

    def rows(text):
        log = tmp_path / "log.strace"
        log.write_text(text)
        events = tf.scan(log)
        born = tf.forks(events).collect().row(0, named=True)
        ran = tf.processes(events).collect().to_dicts()
        return born, next(row for row in ran if row["pid"] == born["child_pid"])

    return rows


@pytest.mark.parametrize(
    ("got", "status"), [("", 5), (sigchld("1700000000.000500", 0), 0), ("99 x\n", 5)]
)
def test_the_status_of_a_child_is_that_of_its_last_thread(both, got, status):
    born, ran = both(OUTLASTED + got)
    assert (born["exit_status"], born["exit_signal"]) == (status, None)
    assert ran["exit_status"] == status


def test_a_thread_has_a_status_of_its_own(tmp_path):
    log = tmp_path / "log.strace"
    log.write_text(OUTLASTED)
    table = tf.forks(tf.scan(log)).select("kind", "exit_status").collect()
    assert table.rows() == [("fork", 5), ("thread", 5)]


def test_a_child_that_is_not_followed_has_the_status_that_its_parent_got(both):
    born, ran = both(
        "99 1699999999.000000 fork() = 100 <0.000100>\n" + sigchld("1700000000.000000", 3)
    )
    assert (born["exit_status"], ran["exit_status"]) == (3, 3)


def test_times_across_a_step_of_the_clock_are_unknown(both):
    born, _ = both(
        "99 1700000000.000000 fork() = 100 <0.000100>\n"
        "100 1700000000.500000 <... fork resumed>) = 0 <0.000010>\n"
        "100 1699999999.000000 getpid() = 100 <0.000010>\n"
        "100 1699999999.100000 +++ exited with 0 +++\n"
        "99 1699999990.000000 wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 100"
        " <0.100000>\n"
    )
    assert (born["lifetime_ns"], born["reap_ns"]) == (None, None)


def test_rounded_times_of_a_wait_are_no_step_of_the_clock(both):
    born, _ = both(
        "99 1700000000.000000 fork() = 100 <0.000100>\n"
        "100 1700000000.100000 getpid() = 100 <0.000010>\n"
        "99 1700000000.200000 wait4(-1,  <unfinished ...>\n"
        "100 1700000000.300001 +++ exited with 0 +++\n"
        "99 1700000000.300002 <... wait4 resumed>[{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL)"
        " = 100 <0.099999>\n"
    )
    assert born["reap_ns"] == 0


def test_processor_times_longer_than_the_life_of_a_child_are_unknown(both):
    child = (
        "99 1700000000.000000 fork() = 100 <0.000100>\n"
        "100 1700000000.100000 getpid() = 100 <0.000010>\n"
        "100 1700000000.500000 +++ exited with 0 +++\n"
    )
    born, _ = both(child + sigchld("1700000000.600000", 0, utime=90_000, stime=40))
    assert (born["child_utime_ns"], born["child_stime_ns"]) == (None, 400_000_000)


def test_processor_times_of_several_threads_add_up(both):
    text = OUTLASTED + sigchld("1700000000.600000", 5, utime=350)
    # 1 s, two threads, and times that may be whole seconds.
    assert both(text)[0]["child_utime_ns"] == 3_500_000_000


def test_impossible_times_are_counted(tmp_path):
    log = tmp_path / "log.strace"
    log.write_text(
        "99 1700000000.000000 fork() = 100 <0.000100>\n"
        + sigchld("1700000000.600000", 0, utime=9223372036854775807)
        + sigchld("1700000000.700000", 0, stime=-3)
        + sigchld("1700000000.800000", 0, utime=3)
        + "99 1700000001.000000 read(3, <unfinished ...>\n"
        "98 1699999999.000000 getpid() = 98 <-1.999990>\n"
        '99 1699999999.500000 <... read resumed>"", 1) = 0\n'
    )
    report = tf.parse(log, None)
    assert report.accounting["unparsed"] == 0
    assert report.oddities["impossible_cpu_times"] == 2
    assert report.oddities["impossible_durations"] == 2
    rows = tf.scan(log).filter(kind="syscall").select("name", "dur_ns", "result").collect().rows()
    assert rows == [("fork", 100_000, None), ("getpid", None, None), ("read", None, None)]
