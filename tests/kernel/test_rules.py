"""The rules of the model of the kernel: `tests/data/kernel-rules`, which Rust reads as well.

What those files cannot hold is here: a log in several files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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
