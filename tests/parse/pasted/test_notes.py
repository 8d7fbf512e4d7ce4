"""Logs that somebody has edited: notes behind results, blanks at the ends of lines, cut errors."""

from __future__ import annotations

import polars as pl
import pytest

import tracefast as tf

CLEAN = """\
7 1700000000.000001 openat(AT_FDCWD, "/x", O_RDONLY) = 3
7 1700000000.000002 read(3, "abc", 7) = 3
7 1700000000.000003 read(3,  <unfinished ...>
8 1700000000.000004 open("/y", O_RDONLY) = -1 ENOENT (No such file or directory)
7 1700000000.000005 <... read resumed>"abcd", 4) = 4
7 1700000000.000006 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0) = 0x2000
7 1700000000.000007 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---
7 1700000000.000008 +++ exited with 0 +++
"""


def events(folder, text: str) -> pl.DataFrame:
    (folder / "log").write_text(text)
    return pl.DataFrame(tf.read(folder / "log"))


@pytest.mark.parametrize("blanks", [" ", "\t", "  \t "])
def test_blanks_at_the_ends_of_lines_change_nothing(tmp_path, blanks):
    behind = "".join(f"{line}{blanks}\n" for line in CLEAN.splitlines())
    assert events(tmp_path, behind).equals(events(tmp_path, CLEAN))


ENDS = """\
20:10:01.0 clone(Process 27418 attached
child_stack=0, flags=SIGCHLD) = 27418
[pid 27417] 20:10:01.1 wait4(27418, Process 27417 suspended
 <unfinished ...>
[pid 27418] 20:10:01.2 openat(AT_FDCWD, "/dev/null", O_RDONLY <ptrace(SYSCALL):No such process>
[pid 27418] 20:10:01.3 exit_group(0 <unfinished ... exit status 0>
[pid 27418] 20:10:01.4 getpid( <Cannot restart pid 27418 with ptrace(SYSCALL): No such process>
Process 27417 resumed
"""


@pytest.mark.parametrize("blanks", [" ", "\t", "  \t "])
def test_blanks_behind_words_of_strace_change_nothing(tmp_path, blanks):
    behind = "".join(f"{line}{blanks}\n" for line in ENDS.splitlines())
    clean = events(tmp_path, ENDS)
    assert {"unavailable", "killed"} <= set(clean["status"])
    assert events(tmp_path, behind).equals(clean)


@pytest.mark.parametrize(
    "note", ["  ## why?", ";", "  <-- here", " // see above", " // (see above)", "\t| x"]
)
def test_notes_behind_results_are_kept_beside_them(tmp_path, note):
    lines = CLEAN.splitlines()
    noted = "".join(f"{line}{note if ') =' in line else ''}\n" for line in lines)
    clean, found = events(tmp_path, CLEAN), events(tmp_path, noted)
    assert found.drop("extra").equals(clean.drop("extra"))
    extra = found.filter(pl.col("ret").is_not_null() & (pl.col("kind") == "syscall"))["extra"]
    assert set(extra) == {note.strip()}
    assert tf.parse(tmp_path / "log", None).oddities["notes"] == 5


@pytest.mark.parametrize("cut", ["", " (", " (No such file or direc"])
def test_an_error_whose_text_is_cut_is_that_error(tmp_path, cut):
    found = events(tmp_path, CLEAN.replace(" (No such file or directory)", cut))
    assert found.drop("extra").equals(events(tmp_path, CLEAN).drop("extra"))


def test_a_value_that_may_be_cut_is_none(tmp_path):
    for cut in ("-1 ENOE", "3</x", "3 <0.00", "3 close(4) = 0"):
        found = events(tmp_path, f"close(5) = 0\nread(3, 0x7f, 7) = {cut}\n")
        assert found["ret"].to_list() == [0, None], cut
