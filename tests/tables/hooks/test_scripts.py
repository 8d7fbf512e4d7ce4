"""The scripts: they are well-formed, and nothing of a log becomes code in them."""

import ast
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support.paths import DATA
from tracefast import _core
from tracefast.analysis.hooks.scripts.watched_calls import watched_calls
from tracefast.analysis.hooks.scripts.write import WRITERS

KERNEL = DATA / "hooks" / "linux-6.18"
SHELL = ("perf", "tracefs", "trace-cmd")
HOSTILE = (
    'read"; system("touch pwned"); printf("',
    "read'; touch pwned; '",
    "$(touch pwned)",
    "`touch pwned`",
    "read\ntouch pwned\n",
    "read */ system(touch) /*",
    'x") = 0\n"""\nimport os',
    "sys_enter_read:pwned",
    "../../pwned",
    "",
    "read\x00",
    "réad",
)


def made(names, source="app.strace"):
    """Make events of calls with any names."""
    events = pl.DataFrame({"name": names, "kind": "syscall", "source": source})
    needed = pl.Schema(_core.Syscalls(span=True).needed)
    return events.select(
        *(
            pl.col(name) if name in events.columns else pl.lit(None, dtype).alias(name)
            for name, dtype in needed.items()
        )
    )


@pytest.fixture(scope="module")
def calls():
    """All calls of the demo log that can be watched."""
    return watched_calls(tf.hooks(tf.scan(DATA / "demo.strace.zst"), KERNEL).collect())


@pytest.mark.parametrize("tool", WRITERS)
def test_every_call_is_in_every_script(calls, tool):
    text = WRITERS[tool](calls)
    assert len(calls) > 60
    for call in calls:
        assert f"sys_enter_{call.tracepoint}" in text
        assert (f"sys_exit_{call.tracepoint}" in text) == call.returns
    assert text.isascii()
    assert text.endswith("\n")
    assert max(map(len, text.splitlines())) <= 100 or tool == "perf"


@pytest.mark.parametrize("tool", WRITERS)
def test_names_in_a_log_never_become_code(tool):
    source = "$(touch pwned)\"'`touch pwned`\n*/ system(touch).strace"
    rows = tf.hooks(made(["read", *HOSTILE], source), KERNEL).collect()
    assert rows["name"].n_unique() == 1 + len(HOSTILE)
    only_read = tf.hooks(made(["read"]), KERNEL).collect()
    assert WRITERS[tool](watched_calls(rows)) == WRITERS[tool](watched_calls(only_read))


@pytest.mark.parametrize("tool", WRITERS)
def test_a_log_written_by_an_enemy_gives_a_script_of_its_real_calls(run, tmp_path, tool):
    log = tmp_path / "$(touch pwned).strace"
    log.write_text(
        '7 1700000000.000000 read(3, "$(touch pwned)`touch pwned`", 9) = 9 <0.000010>\n'
        '7 1700000000.000100 openat(AT_FDCWD, "\'; touch pwned; \\"; system(touch)", 0) = 3 <0.1>\n'
        "7 1700000000.000200 read$(touch pwned)(3) = 0 <0.000010>\n"
        '7 1700000000.000300 x";system("touch pwned");"(3) = 0 <0.000010>\n'
    )
    ran = run("hooks", log, "--inventory", KERNEL, "--emit", tool, "-o", "watch")
    assert ran.returncode == 0, ran.stderr
    assert "pwned" not in (tmp_path / "watch").read_text()
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("tool", SHELL)
def test_shell_scripts_are_well_formed(calls, tool, tmp_path):
    path = tmp_path / "watch.sh"
    path.write_text(WRITERS[tool](calls))
    for shell in filter(shutil.which, ("sh", "dash", "bash")):
        subprocess.run([shell, "-n", path], check=True)
        usage = subprocess.run([shell, path], capture_output=True, text=True, check=False)
        assert (usage.returncode, usage.stdout) == (2, "")
        assert usage.stderr.startswith("usage: ")


# What bcc makes of its own words, as far as a compiler has to know.
BCC = """
#include <stddef.h>
#include <stdint.h>
typedef uint8_t u8; typedef uint32_t u32; typedef uint64_t u64;
#define ROOT 1
#define BPF_HASH(name, key, value) static struct { \\
    value *(*lookup)(key *); void (*update)(key *, value *); void (*delete)(key *); \\
    void (*increment)(key, ...); } name
#define BPF_HISTOGRAM(name, key) static struct { void (*increment)(key); } name
struct fields { long ret; u32 child_pid, old_pid; };
#define TRACEPOINT_PROBE(group, event) int group##event(struct fields *args)
u64 bpf_get_current_pid_tgid(void), bpf_ktime_get_ns(void);
unsigned bpf_log2l(unsigned long);
"""


def test_python_and_c_for_bcc_are_well_formed(calls):
    tree = ast.parse(WRITERS["bcc"](calls))
    values = {node.targets[0].id: node.value for node in tree.body if isinstance(node, ast.Assign)}
    assert ast.literal_eval(values["NAMES"]) == [call.name for call in calls]
    program = ast.literal_eval(values["PROGRAM"]).replace("#include <linux/syscalls.h>\n", "")
    compiler = shutil.which("clang") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no compiler of C is installed")
    check = [
        compiler,
        "-x",
        "c",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
        "-fsyntax-only",
        "-",
    ]
    subprocess.run(check, input=BCC + program, text=True, check=True)
    broken = program.replace("traced.lookup(", "traced.look(", 1)
    assert subprocess.run(check, input=BCC + broken, text=True, check=False).returncode != 0


def test_c_for_libbpf_is_well_formed(calls, tmp_path):
    path = tmp_path / "watch.c"
    path.write_text(WRITERS["libbpf"](calls))
    if not Path("/usr/include/bpf/libbpf.h").exists():
        pytest.skip("the headers of libbpf are not installed")
    if shutil.which("gcc"):
        check = ["gcc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", path]
        subprocess.run(check, check=True)
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    machine = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout
    include = f"-I/usr/include/{machine.strip()}-linux-gnu"
    subprocess.run(
        [
            "clang",
            "-target",
            "bpf",
            "-O2",
            "-g",
            "-Wall",
            "-Werror",
            include,
            "-c",
            path,
            "-o",
            tmp_path / "watch.bpf.o",
        ],
        check=True,
    )


def test_only_calls_that_return_bytes_have_them():
    rows = tf.hooks(made(["read", "openat", "sendmmsg", "recvmmsg", "sendto"]), KERNEL).collect()
    moves = {call.name for call in watched_calls(rows) if call.moves}
    assert moves == {"read", "sendto"}


def test_calls_without_a_tracepoint_are_left_out():
    rows = tf.hooks(made(["read", "stat64", "exit_group"]), KERNEL).collect()
    calls = {call.name: call for call in watched_calls(rows)}
    assert set(calls) == {"read", "exit_group"}
    assert not calls["exit_group"].returns
