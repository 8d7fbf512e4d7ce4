"""Logs that strace writes into the file of a program's own output: `strace PROGRAM 2>log`."""

import json
import shutil
import subprocess
import sys

import polars as pl
import pytest

import tracefast as tf

PROGRAM = """
import os
told = []
for text in ("first\\n", "second\\nand third\\n", "last"):
    os.lseek(2, 0, os.SEEK_CUR)
    told.append(int(open("/proc/self/fdinfo/2").readline().split()[1]))
    os.write(2, text.encode())
open("told", "w").write(repr(told))
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


def test_a_seek_says_nothing_about_the_next_write(tmp_path):
    (tmp_path / "log").write_text(LOG)
    rows = tf.scan(tmp_path / "log").filter(pl.col("name") != "openat").collect()
    known = dict(rows.select(pl.col("fd"), pl.col("offset_known").cast(pl.String)).iter_rows())
    assert known == {2: "assumed", 3: "exact"}
    complete = tf.scan(tmp_path / "log", assume_complete=True).filter(name="write").collect()
    assert complete["offset"].to_list()[-1] == 520


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_what_strace_and_a_program_write_is_never_exact(tmp_path):
    command = ["strace", "-f", sys.executable, "-I", "-c", PROGRAM]
    with (tmp_path / "log").open("wb") as log:
        subprocess.run(command, cwd=tmp_path, stderr=log, check=True)
    told = json.loads((tmp_path / "told").read_text())
    writes = tf.scan(tmp_path / "log").filter(name="write", fd=2).collect()
    assert writes["bytes"].to_list() == [6, 17, 4]
    assert len(set(told)) == 3
    assert "exact" not in writes["offset_known"].cast(pl.String).to_list()
