"""Which format a text has, wherever its events are; what is no log is refused by name."""

from __future__ import annotations

import gzip

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tracefast as tf
from support.paths import DATA

CALLS = 'openat(AT_FDCWD, "/x", O_RDONLY) = 3\nread(3, "abc", 10) = 3\nclose(3) = 0\n'
RECORDS = (DATA / "golden" / "ftrace-default.log").read_text()
CODE = "static void f(void)\n{\n\texiting_irq();\nexiting_irq();\nmunmap(p, n);\nclose(fd);\n}\n"
PROSE = "This happens in foo(bar), see close(fd).\n"


def events(path, text: str) -> pl.DataFrame:
    path.write_text(text)
    found = pl.DataFrame(tf.read(path)).drop("source", "line")
    return found.filter(pl.col("kind") != "unparsed")


def refused(path, text: str | bytes) -> tf.Error:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(tf.Error) as raised:
        tf.parse(path, None)
    return raised.value


@pytest.mark.parametrize("before", [PROSE, CODE, "\n", "# note\n", "12 close(fd);\n"])
@pytest.mark.parametrize("times", [1, 199, 200, 20_000])
def test_a_log_behind_other_text(tmp_path, before, times):
    before = (before * times)[:1_000_000]
    if "close(fd)" in before and before != PROSE * times:
        # Calls of C may be torn calls of strace: not those with columns.
        calls = "".join(f"7 12:00:00.000001 {line}\n" for line in CALLS.splitlines())
    else:
        calls = CALLS
    found = events(tmp_path / "log", before + "\n" + calls)
    assert found["name"].to_list() == ["openat", "read", "close"]
    assert found["offset"].to_list() == events(tmp_path / "log", calls)["offset"].to_list()


@pytest.mark.parametrize("times", [1, 250, 20_000])
def test_records_behind_other_text(tmp_path, times):
    expected = events(tmp_path / "log", RECORDS)
    found = events(tmp_path / "log", (PROSE * times)[:1_000_000] + "\n" + RECORDS)
    assert found.height == expected.height > 0


def test_fences_of_markdown_are_other_text(tmp_path):
    page = f"# Trouble\n\nIt hangs:\n\n```console\n$ strace ./a\n{CALLS}```\n\nWhy?\n"
    assert events(tmp_path / "log", page)["name"].to_list() == ["openat", "read", "close"]
    page = f"# Trouble\n\nIt hangs:\n\n```\n{RECORDS}```\n"
    assert events(tmp_path / "log", page).height > 0


SMALL = {
    "signals": "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=7} ---\n",
    "exit": "+++ exited with 0 +++\n",
    "killed": "7 +++ killed by SIGKILL +++\n",
    "cut": "futex(0x7ffe, FUTEX_WAIT_PRIVATE, 2, NULL",
    "detached": "pause( <detached ...>\n",
    "second half": '7 <... read resumed>"", 10) = 0\n',
    "unknown call": "new_call(3) = 0\n",
}


@pytest.mark.parametrize("text", SMALL.values(), ids=SMALL)
def test_small_logs_are_logs(tmp_path, text):
    assert events(tmp_path / "log", text).height == 1


NO_LOGS = {
    "services": "# Network services\n#\n#  More\n\ntcpmux\t\t1/tcp\necho\t\t7/udp\n" * 20,
    "CMake": "project(x)\nif(WIN32)\nset(A b)\nendif()\ninclude(x)\nlink(a)\nopen(x)\n",
    "C": CODE,
    "C++": "#include <a>\nint main() {\n  auto x = f(1);\nread(fd, b, 3);\nexit(0);\n}\n",
    "Python": 'x = open("/x")\nclose(x)\nprint("f(x) = 3")\n',
    "diff": "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-close(fd);\n+  close(fd);\n",
    "titles": "// --- Contents ---\n# --- end ---\n",
    "lock": "version = 4\n\n[[package]]\nname = 'x'\n",
}


@pytest.mark.parametrize("text", NO_LOGS.values(), ids=NO_LOGS)
def test_text_without_events_is_refused(tmp_path, text):
    error = refused(tmp_path / "text", text)
    assert error.kind == "not_a_log"
    assert "no line of the first megabyte looks like strace or ftrace" in str(error)


OTHER_TOOLS = {
    "perf script": "bash  1977 [000] 17284.993652: sched:sched_switch: prev_comm=bash\n" * 3,
    "perf trace": "     0.000 ( 0.004 ms): ls/12345 close(fd: 3</x>)     = 0\n" * 3,
    "ltrace": 'strlen("abc")     = 3\nread(3, "", 3)     = 0\n+++ exited (status 0) +++\n',
    "dtruss": 'SYSCALL(args) \t\t = return\nopen("/x\\0", 0x2, 0x7FFF5F)\t\t = 3 0\n',
    "gVisor": "I0101 00:00:00.000001 1 strace.go:605] [   1:   1] sh X close(0x3) = 0 (0x0)\n",
    "bpftrace": "Attaching 2 probes...\n@[bash]: 12\n",
}


@pytest.mark.parametrize("tool", OTHER_TOOLS)
def test_other_tools_have_names(tmp_path, tool):
    error = refused(tmp_path / "text", "\n$ run\n" + OTHER_TOOLS[tool])
    assert error.kind == "other_tool"
    assert str(error).startswith(f"{tmp_path}/text: line 3: this is the ")
    assert tool in str(error)
    assert "to read it anyway, name its format" in str(error.hint)
    (tmp_path / "text").write_text(OTHER_TOOLS[tool])
    assert tf.parse(tmp_path / "text", None, format_in="strace").rows > 0


def test_containers_and_encodings_have_names(tmp_path):
    error = refused(tmp_path / "text", '{"log": "close(3) = 0\\n", "stream": "stderr"}\n' * 3)
    assert "this is JSON" in str(error)
    assert "jq" in error.hint
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        error = refused(tmp_path / "text", CALLS.encode(encoding))
        assert "this is text in UTF-16" in str(error)
        name = {"utf-16": "UTF-16"}.get(encoding, encoding.upper().replace("-LE", "LE"))
        assert error.hint.startswith(f"convert it: iconv -f {name.replace('-BE', 'BE')} -t UTF-8")


PAGE = "# Issue\n\n```\n{one}```\nand\n```\n{other}```\nThat is all.\n"


@pytest.mark.parametrize("block_bytes", [64, 262_144])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("prefix", ["", "> "])
@pytest.mark.parametrize("strace_first", [True, False])
def test_a_log_of_strace_and_one_of_ftrace_are_two_sources(
    tmp_path, block_bytes, packed, prefix, strace_first
):
    logs = (CALLS * 3, RECORDS) if strace_first else (RECORDS, CALLS * 3)
    plain = PAGE.format(one=logs[0], other=logs[1])
    page = "".join(f"{prefix}{line}\n" for line in plain.splitlines())
    path = tmp_path / ("log.gz" if packed else "log")
    path.write_bytes(gzip.compress(page.encode()) if packed else page.encode())
    report = tf.parse(path, None, block_bytes=block_bytes)
    assert (report.format, report.warnings) == ("mixed", [])
    assert report.oddities["other_format"] == 0
    found = pl.DataFrame(tf.read(path)).filter(pl.col("kind") != "unparsed")
    assert found["source"].unique(maintain_order=True).to_list() == [str(path), f"{path}#2"]
    for source, log in zip((str(path), f"{path}#2"), logs, strict=True):
        here = found.filter(pl.col("source") == source)
        (tmp_path / "clean").write_text(log)
        expected = pl.DataFrame(tf.read(tmp_path / "clean")).filter(pl.col("kind") != "unparsed")
        before = plain[: plain.index(log)].count("\n")
        expected = expected.with_columns(pl.col("line") + before)
        # Numbers of tasks and descriptions are unique in all logs together.
        own = [name for name in expected.columns if name not in ("source", "task", "ofd", "ofd2")]
        assert_frame_equal(here.select(own), expected.select(own), categorical_as_str=True)


def test_lines_of_another_format_between_those_of_a_log_are_named(tmp_path):
    """What a program prints may look like a log; it is not one of its own."""
    records = [line for line in RECORDS.splitlines(keepends=True) if "[00" in line][:3]
    (tmp_path / "log").write_text(CALLS + "".join(records) + CALLS)
    report = tf.parse(tmp_path / "log", None)
    assert (report.format, report.kinds["syscall"]) == ("strace", 6)
    assert report.oddities["other_format"] == 3
    assert [
        f"{tmp_path}/log: two logs in one file: 3 lines look like ftrace's" in text
        for text in report.warnings
    ] == [True]
    # Who names a format wants no other.
    (tmp_path / "log").write_text(PAGE.format(one=CALLS, other=RECORDS))
    assert tf.parse(tmp_path / "log", None, format_in="strace").kinds["syscall"] == 3
    (tmp_path / "log").write_text(CALLS)
    assert tf.parse(tmp_path / "log", None).warnings == []
