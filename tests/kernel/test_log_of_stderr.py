"""Logs that strace writes into the file of a program's own output: `strace PROGRAM 2>log`."""

import shutil
import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf

PROGRAM = """
import os
for text in (TEXTS):
    os.lseek(2, 0, os.SEEK_CUR)
    os.write(2, text)
appended = os.open("other", os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_EXCL)
os.write(appended, b"x")
os.write(appended, b"y")
"""
LOG = """\
openat(AT_FDCWD, "/other", O_RDONLY) = 3
lseek(2, 0, SEEK_CUR) = 400
write(2, "first\\n", 6first
) = 6
lseek(2, 0, SEEK_CUR) = 520
write(2, "second\\nthird\\n", 13second
third
) = 13
read(3, "x"..., 10) = 10
"""
WITHOUT_LINE_FEED = """\
lseek(2, 0, SEEK_CUR) = 400
write(2, "first", 5first) = 5
lseek(2, 0, SEEK_CUR) = 520
write(2, "\\nsecond", 7
second) = 7
lseek(2, 0, SEEK_CUR) = 600
writev(2, [{iov_base="\\nzz", iov_len=3}, {iov_base="two", iov_len=3}], 2
zztwo) = 6
"""
UNSURE = {"assumed", "unknown"}


def known(log, **options) -> list[tuple[int, int | None, str]]:
    """Descriptor, offset, and how well that is known, of each transfer."""
    rows = tf.scan(log, **options).filter(pl.col("name").is_in(["read", "write", "writev"]))
    return (
        rows.select(pl.col("fd"), pl.col("offset"), pl.col("offset_known").cast(pl.String))
        .collect()
        .rows()
    )


def test_a_seek_says_nothing_about_the_next_write(tmp_path):
    (tmp_path / "log").write_text(LOG)
    first, second, other = known(tmp_path / "log")
    assert {first[2], second[2]} <= UNSURE
    assert other == (3, 0, "exact")
    complete = known(tmp_path / "log", assume_complete=True)
    assert complete[1:] == [(2, 520, "exact"), (3, 0, "exact")]


def test_output_need_not_end_or_begin_its_line(tmp_path):
    (tmp_path / "log").write_text(WITHOUT_LINE_FEED)
    assert {how for _, _, how in known(tmp_path / "log")} <= UNSURE


def test_calls_in_two_halves_do_the_same(tmp_path):
    (tmp_path / "log").write_text(
        "[pid 7] lseek(2, 0, SEEK_CUR) = 400\n"
        '[pid 7] write(2, "first", 5first <unfinished ...>\n'
        "[pid 8] getpid() = 8\n"
        "[pid 7] <... write resumed>) = 5\n"
        "[pid 7] lseek(2, 0, SEEK_CUR) = 500\n"
        '[pid 7] write(2, "b\\n", 2b\n'
        " <unfinished ...>\n"
        "[pid 8] getpid() = 8\n"
        "[pid 7] <... write resumed>) = 2\n"
    )
    assert {how for _, _, how in known(tmp_path / "log")} <= UNSURE


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("options", ["-f", "-f -y -ttt -T", "-f -s 0", "-k"])
@pytest.mark.parametrize(
    "texts", [[b"a\n", b"b\nc\n", b"d"], [b".", b"..", b"..."], [b"\na", b"\n"]]
)
def test_what_strace_and_a_program_write_is_never_exact(tmp_path, texts, options):
    program = PROGRAM.replace("TEXTS", repr(texts))
    command = ["strace", *options.split(), sys.executable, "-I", "-c", program]
    with (tmp_path / "log").open("wb") as log:
        subprocess.run(command, cwd=tmp_path, stderr=log, check=True)
    writes = known(tmp_path / "log")[-len(texts) - 2 :]
    assert "exact" not in [how for fd, _, how in writes if fd == 2]
    assert [how for fd, _, how in writes if fd != 2] == ["exact"] * 2
