"""The rules of the model of the kernel: `tests/data/kernel-rules`, which Rust reads as well.

What those files cannot hold is here: a log in several files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import tracefast as tf
from support.kernel import rules, truth
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

RULES = [
    pytest.param(rule, id=f"{path.stem}/{rule.name}")
    for path in sorted((DATA / "kernel-rules").glob("*.rules"))
    for rule in rules.parse(path.read_text())
]


def read(rule: rules.Rule, folder: Path) -> list[rules.Row]:
    log = folder / "made.log"
    log.write_text("".join(f"{line}\n" for line in rule.lines))
    return truth.read_rows(log).to_dicts()


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_holds(rule: rules.Rule, tmp_path: Path) -> None:
    assert rule.expected
    assert list(rules.differences(rule, read(rule, tmp_path))) == []


def test_there_are_rules() -> None:
    assert len(RULES) >= 140
    names = [param.id for param in RULES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "wrong",
    [
        "    ^ ofd=A",
        "    ^ path=/b",
        "    ^ path=null",
        "    ^ offset=0",
        "    ^ ofd=null",
        "    ^ path=/b or path=/c",
        "    + name=offset-base",
        "7 hello",
        "7 lseek(0, 0, SEEK_CUR) = 9",
    ],
)
def test_differences_are_seen(wrong: str, tmp_path: Path) -> None:
    def found(expected: str) -> list[str]:
        (rule,) = rules.parse(
            '== rule\n7 read(0, "x", 9) = 4\n7 openat(AT_FDCWD, "/a", O_RDONLY) = 3\n'
            f'{expected}\n7 read(3, "x", 9) = 4\n    ^ ofd=B\n'
        )
        return list(rules.differences(rule, read(rule, tmp_path)))

    assert found("    ^ path=/b or ofd=B path=/a offset=null") == []
    assert found(wrong) != []


def test_separate_logs_overlap_by_their_times(tmp_path: Path) -> None:
    """In logs of `strace -ff` no line is split: times show which calls overlap.

    A call has surely ended at the next line of its task. As strace handles one task at a time, it
    has also ended as long after the next line of any task as it took.
    """
    (tmp_path / "cut.strace.1000").write_text(
        """
1700000000.000100 openat(AT_FDCWD, "/data", O_RDONLY) = 3 <0.000010>
1700000000.000200 clone(child_stack=NULL, flags=SIGCHLD) = 1001 <0.000050>
1700000000.001000 read(3, "x"..., 10) = 10 <0.000500>
1700000000.003000 read(3, "x"..., 5) = 5 <0.000010>
1700000000.003500 getpid() = 1000 <0.000010>
1700000000.009000 exit_group(0) = ?
1700000000.009100 +++ exited with 0 +++
""".lstrip()
    )
    (tmp_path / "cut.strace.1001").write_text(
        """
1700000000.000300 set_robust_list(0x7f1, 24) = 0 <0.000010>
1700000000.001200 read(3, "x"..., 20) = 20 <0.000100>
1700000000.001400 getpid() = 1001 <0.000010>
1700000000.004000 read(3, "x"..., 7) = 7 <0.000010>
1700000000.009000 exit_group(0) = ?
1700000000.009100 +++ exited with 0 +++
""".lstrip()
    )
    reads = truth.read_rows(tmp_path / "cut.strace").filter(name="read")
    assert reads.select("tid", "line", "offset", "offset_known").rows() == [
        (1001, 2, None, "ambiguous"),
        (1000, 3, None, "ambiguous"),
        (1000, 4, 30, "exact"),
        (1001, 4, 35, "exact"),
    ]


@pytest.mark.parametrize(
    "times",
    [("", "", "", ""), ("12:00:01 ", "12:00:01 ", "12:00:01 ", "12:00:02 ")],
    ids=["without times", "whole seconds"],
)
def test_separate_logs_without_fine_times_have_no_order(
    times: tuple[str, ...], tmp_path: Path
) -> None:
    """What their tasks share is ambiguous, and what one of them opens for itself is exact."""
    opened, read, forked, again = times
    (tmp_path / "cut.strace.1000").write_text(
        f"""\
{opened}openat(AT_FDCWD, "/data", O_RDONLY) = 3
{read}read(3, "x"..., 10) = 10
{forked}clone(child_stack=NULL, flags=SIGCHLD) = 1001
{again}read(3, "x"..., 10) = 10
"""
    )
    (tmp_path / "cut.strace.1001").write_text(
        f"""\
{forked}read(3, "x"..., 20) = 20
{again}openat(AT_FDCWD, "/own", O_RDONLY) = 4
{again}read(4, "x"..., 20) = 20
"""
    )
    rows = truth.read_rows(tmp_path / "cut.strace").filter(name="read").sort("tid", "line")
    found = rows.select("tid", "path", "offset", "offset_known").rows()
    assert found == [
        (1000, "/data", 0, "exact"),
        (1000, "/data", None, "ambiguous"),
        (1001, "/data", None, "ambiguous"),
        (1001, "/own", 0, "exact"),
    ]


def test_nothing_is_assumed_where_the_user_says_that_the_log_is_complete(tmp_path: Path) -> None:
    log = tmp_path / "filtered.strace"
    log.write_text(
        """\
100 execve("/bin/x", ["x"], 0x7ffc /* 9 vars */) = 0
100 openat(AT_FDCWD, "/data", O_RDONLY) = 3
100 read(3, "x"..., 10) = 10
100 read(3, "x"..., 10) = 10
"""
    )
    for complete, known in [(False, "assumed"), (True, "exact")]:
        target = tmp_path / f"{known}.parquet"
        tf.parse(log, target, assume_complete=complete)
        read = pl.DataFrame(tf.read(log, assume_complete=complete))
        scanned = tf.scan(log, assume_complete=complete).collect()
        tf.parse_many(log, tmp_path / known, assume_complete=complete)
        (made,) = (tmp_path / known).glob("*.parquet")
        for rows in (read, scanned, pl.read_parquet(target), pl.read_parquet(made)):
            reads = rows.filter(pl.col("name").cast(pl.String) == "read")
            assert reads["offset"].to_list() == [0, 10]
            assert reads["offset_known"].cast(pl.String).unique().to_list() == [known]
        (file,) = tf.files(scanned).filter(pl.col("reads") > 0).collect().iter_rows(named=True)
        assert file["offset_known"] == known
        assert (file["read_consecutive"], file["read_unknown"]) == (1, 0)
        assert file["read_unique_bytes"] == 20
        gaps = tf.accesses(scanned, "/data").select("offset_known", "gap").collect().rows()
        assert gaps == [(known, None), (known, 0)]


def test_a_message_may_come_through_any_connection(tmp_path: Path) -> None:
    """Which sockets `connect` has joined the log does not show, unless there is only one."""
    text = '{msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, '
    text += "msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
    text += "cmsg_data=[%d]}], msg_controllen=24, msg_flags=0}"
    start = """\
100 openat(AT_FDCWD, "/a", O_RDONLY) = 3
100 openat(AT_FDCWD, "/b", O_RDONLY) = 4
100 connect(5, {sa_family=AF_UNIX, sun_path="/s"}, 5) = 0
100 connect(6, {sa_family=AF_UNIX, sun_path="/s"}, 5) = 0
"""
    for socket, known in [(5, "exact"), (6, "relative")]:
        log = tmp_path / f"{known}.strace"
        log.write_text(
            f"{start}100 sendmsg(5, {text % 3}, 0) = 1\n100 sendmsg({socket}, {text % 4}, 0) = 1\n"
            f"100 recvmsg(8, {text % 9}, 0) = 1\n100 recvmsg(7, {text % 10}, 0) = 1\n"
            '100 read(10, "x"..., 10) = 10\n100 read(9, "x"..., 10) = 10\n'
        )
        rows = pl.DataFrame(tf.read(log, assume_complete=True)).tail(2)
        assert rows["offset_known"].cast(pl.String).to_list() == [known, known]
        assert rows["path"].to_list() == (["/b", "/a"] if known == "exact" else [None, None])


def test_a_supervisor_and_its_task_in_a_log_in_several_files(tmp_path: Path) -> None:
    """By strace's times the call returned before the supervisor gave it what it returns."""
    start = 1700000000
    (tmp_path / "log.100").write_text(
        f'{start}.000100 openat(AT_FDCWD, "/data", O_RDONLY) = 3 <0.000010>\n'
        f"{start}.000200 clone(child_stack=NULL, flags=SIGCHLD) = 101 <0.000050>\n"
        f"{start}.000777 ioctl(6, SECCOMP_IOCTL_NOTIF_ADDFD, {{id=0x22ed, "
        "flags=SECCOMP_ADDFD_FLAG_SEND, srcfd=3, newfd=0, newfd_flags=0}) = 4 <0.000327>\n"
    )
    (tmp_path / "log.101").write_text(
        f'{start}.000280 openat(AT_FDCWD, "/own", O_RDONLY) = 5 <0.000010>\n'
        f"{start}.000300 seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, "
        "{len=4, filter=0x7ffd10}) = 6 <0.000010>\n"
        f'{start}.000478 openat(AT_FDCWD, "/other", O_RDONLY) = 4 <0.000297>\n'
        f'{start}.000821 read(4, "x"..., 16) = 16 <0.000005>\n'
        f'{start}.000831 read(5, "x"..., 16) = 16 <0.000005>\n'
    )
    rows = pl.DataFrame(tf.read(tmp_path / "log")).filter(pl.col("name") == "read")
    assert rows["offset_known"].cast(pl.String).to_list() == ["ambiguous", "exact"]
