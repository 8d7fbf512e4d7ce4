"""Inputs and outputs that fail: a message that helps, the exit code, and nothing half-done."""

import contextlib
import resource
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import tracefast as tf
from support import logs
from support.command import interrupts
from support.permissions import obey_permissions

READ = logs.READ.encode()


def refused(ran, *words: str) -> None:
    """Check a failure: its exit code, its message, no traceback."""
    assert ran.returncode == 2, ran.stderr
    assert ran.stdout in {"", b""}
    assert ran.stderr.startswith("error: ")
    assert "\nhint: " in ran.stderr
    assert "Traceback" not in ran.stderr
    for word in words:
        assert word.lower() in ran.stderr.lower()


def leftovers(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("question", ["parse", "files", "forks"])
class TestInputs:
    """Inputs that cannot be read, for every command."""

    @pytest.fixture
    def ask(self, run, question):
        output = ("-o", "out.parquet") if question == "parse" else ()
        return lambda *arguments, **options: run(question, *arguments, *output, **options)

    def test_missing(self, ask, tmp_path):
        refused(ask("no.log"), "error: no.log: No such file or directory")
        refused(ask("no-*.log"), "no-*.log", "pattern")
        assert not leftovers(tmp_path)

    def test_a_directory(self, ask, tmp_path):
        (tmp_path / "logs").mkdir()
        refused(ask("logs"), "error: logs: No log and no Parquet in the directory")
        assert leftovers(tmp_path) == {"logs"}
        (tmp_path / "logs" / "a.strace").write_bytes(READ)
        (tmp_path / "logs" / "b.parquet").write_bytes(b"PAR1")
        refused(ask("logs"), "logs: holds both logs and Parquet or Arrow files", "logs/*.strace")
        assert leftovers(tmp_path) == {"logs"}

    def test_no_permission(self, ask, tmp_path):
        (tmp_path / "log").write_bytes(READ)
        (tmp_path / "log").chmod(0)
        refused(ask("log", preexec_fn=obey_permissions), "error: log: Permission denied")

    def test_a_read_that_fails(self, ask, tmp_path):
        refused_by_the_kernel = "/proc/self/mem"
        ran = ask(refused_by_the_kernel)
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"error: {refused_by_the_kernel}: ")
        assert not leftovers(tmp_path)

    def test_binary(self, ask, tmp_path):
        (tmp_path / "program").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 100)
        refused(ask("program"), "error: program:1: ")
        assert leftovers(tmp_path) == {"program"}

    def test_text_that_is_not_a_log(self, ask, tmp_path):
        (tmp_path / "letter.txt").write_text("Dear all,\nthis is no log.\n" * 50)
        refused(ask("letter.txt"), "error: letter.txt:1: ")

    def test_a_broken_archive(self, ask, tmp_path):
        import gzip

        whole = gzip.compress(READ * 5000)
        (tmp_path / "log.gz").write_bytes(whole[: len(whole) // 2])
        ran = ask("log.gz")
        assert ran.returncode == 2
        assert ran.stderr.startswith("error: log.gz: ")
        assert leftovers(tmp_path) == {"log.gz"}

    def test_nothing_on_standard_input(self, ask):
        ran = ask("-", stdin=subprocess.DEVNULL)
        assert ran.returncode == 0
        assert "warning: " in ran.stderr

    def test_binary_on_standard_input(self, ask, tmp_path):
        ran = ask("-", input=b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 1000, text=False)
        assert ran.returncode == 2
        assert ran.stderr.startswith(b"error: ")
        assert not leftovers(tmp_path)


class TestText:
    """Odd text in a log: data, not an error."""

    def events(self, tmp_path, text: bytes) -> tuple[pl.DataFrame, tf.Report]:
        log = tmp_path / "log"
        log.write_bytes(text)
        report = tf.parse(log, tmp_path / "out.parquet")
        assert sum(report.accounting.values()) == report.lines
        assert report.bytes == len(text)
        return pl.read_parquet(tmp_path / "out.parquet"), report

    def test_empty(self, run, tmp_path):
        (tmp_path / "log").touch()
        ran = run("parse", "log", "-o", "out.parquet", "--strict")
        assert ran.returncode == 0
        assert "warning: " in ran.stderr
        assert pl.read_parquet(tmp_path / "out.parquet").height == 0

    def test_a_line_cut_in_the_middle(self, tmp_path):
        events, report = self.events(tmp_path, READ * 3 + READ[:40])
        assert report.lines == 4
        assert events["ret"].to_list()[:3] == [3, 3, 3]
        assert events.height == 4
        assert events["line"].to_list() == [1, 2, 3, 4]

    def test_no_newline_at_the_end(self, tmp_path):
        events, report = self.events(tmp_path, (READ * 3)[:-1])
        assert report.lines == 3
        assert events["ret"].to_list() == [3, 3, 3]

    def test_carriage_returns(self, tmp_path):
        plain, _ = self.events(tmp_path, READ * 3)
        odd, report = self.events(tmp_path, READ.replace(b"\n", b"\r\n") * 3)
        assert report.accounting["unparsed"] == 0
        assert odd.equals(plain)

    def test_nul_bytes(self, tmp_path):
        odd = READ.replace(b"abc", b"a\0c")
        events, report = self.events(tmp_path, READ * 10 + b"\0\0\0\n" + odd + b"\0" * 100 + READ)
        assert report.lines == 13
        assert events.filter(pl.col("name") == "read").height >= 11

    @pytest.mark.slow
    @pytest.mark.parametrize("known", [True, False], ids=["a call", "not understood"])
    def test_a_line_of_100_megabytes(self, run, tmp_path, known):
        size = 100_000_000
        with (tmp_path / "log").open("wb") as log:
            log.write(READ * 3)
            log.write(b'100 1700000000.000200 write(1, "' if known else b"!! ")
            log.write(b"x" * size)
            log.write(b'", 100000000) = 100000000\n' if known else b"\n")
            log.write(READ * 3)
        ran = run("parse", "log", "-o", "out.parquet")
        assert ran.returncode == 0, ran.stderr
        events = pl.scan_parquet(tmp_path / "out.parquet")
        rows = events.select("line", "name", "ret", pl.col("args").str.len_bytes()).collect()
        assert rows["line"].to_list() == list(range(1, 8))
        assert rows["ret"].to_list()[4:] == [3, 3, 3]
        assert rows["args"][3] > size
        if known:
            assert rows["ret"][3] == size

    def test_bytes_that_are_no_text(self, tmp_path):
        events, _ = self.events(tmp_path, READ * 3 + READ.replace(b"/srv/a", b"/srv/\xff\xfe"))
        assert events["path"][3] == "/srv/\\xff\\xfe"

    @pytest.mark.parametrize(
        "event",
        [
            b"NAME(3) = 0 <0.000010>",
            b"NAME(3 <unfinished ...>",
            b"<... NAME resumed>) = 0 <0.000010>",
            b"--- NAME {si_signo=1} ---",
            b"+++ killed by NAME +++",
        ],
        ids=["call", "entry", "exit", "signal", "death"],
    )
    def test_names_that_nothing_has(self, tmp_path, event):
        for length, unparsed in [(255, 0), (256, 1), (100_000, 1)]:
            name = b"SIG" + b"N" * (length - 3)
            line = b"100 1700000000.000200 " + event.replace(b"NAME", name) + b"\n"
            events, report = self.events(tmp_path, READ * 3 + line + READ)
            assert report.accounting["unparsed"] == unparsed, length
            assert events.filter(kind="unparsed").height == unparsed
            names = events.filter(line=4)["name"].cast(str).to_list()
            assert names == [None if unparsed else name.decode()]

    def test_errors_that_nothing_has(self, tmp_path):
        for length, known in [(63, True), (64, False), (100_000, False)]:
            name = b"E" * length
            line = READ.replace(b"= 3", b"= -1 " + name + b" (Other)")
            events, _ = self.events(tmp_path, READ * 3 + line + READ)
            assert events["name"].to_list() == ["read"] * 5
            assert events["errno"].to_list()[3] == (name.decode() if known else None), length

    def test_names_in_ftrace_that_nothing_has(self, tmp_path):
        line = "            bash-7     [000] .....     1.000001: NAME: a=1\n"
        text = "".join(line.replace("NAME", name) for name in ["wake", "n" * 1024, "n" * 9999])
        events, report = self.events(tmp_path, ("# tracer: nop\n#\n" + text).encode())
        assert report.accounting["unparsed"] == 0
        assert events["name"].to_list() == ["wake", "n" * 1024, "n" * 1024]
        assert events["args"].to_list() == ["a=1"] * 3

    @pytest.mark.parametrize(
        ("enter", "use"),
        [
            ('chdir("DIR") = 0', 'rmdir("a") = 0'),
            ('open("DIR", O_RDONLY) = 5', 'unlinkat(5, "a", 0) = 0'),
            ('open("DIR", O_RDONLY) = 5\nfchdir(5) = 0', 'rmdir("a") = 0'),
            ('unlinkat(AT_FDCWD<DIR>, "b", 0) = 0', 'rmdir("a") = 0'),
            ('chroot("DIR") = 0', 'rmdir("/a") = 0'),
        ],
        ids=["chdir", "dirfd", "fchdir", "annotation", "chroot"],
    )
    def test_directories_that_nobody_can_enter(self, tmp_path, enter, use):
        name = "/a" if "chroot" in enter else "a"
        for length, joined in [(8192, True), (8193, False)]:
            folder = "/" + "d" * (length - 1)
            log = f'chdir("/known") = 0\n{enter.replace("DIR", folder)}\n{use}\n'
            events, _ = self.events(tmp_path, log.encode())
            assert events["path"][-1] == (f"{folder}/a" if joined else name), length


def limit_files() -> None:
    """Let no file grow beyond a few bytes: what a full disk does, without a disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("question", ["parse", "files"])
class TestOutputs:
    """Outputs that cannot be written."""

    def test_a_missing_folder(self, run, question, pth, tmp_path):
        ran = run(question, pth, "-o", "no/out.parquet")
        refused(ran, "error: no/out.parquet: No such file or directory", "hint: create the folder")
        assert not leftovers(tmp_path)

    def test_a_folder_of_that_name(self, run, question, pth, tmp_path):
        (tmp_path / "out.parquet").mkdir()
        refused(run(question, pth, "-o", "out.parquet"), "error: out.parquet: Is a directory")
        assert leftovers(tmp_path) == {"out.parquet"}

    def test_a_folder_that_may_not_be_written(self, run, question, pth, tmp_path):
        (tmp_path / "folder").mkdir(mode=0o500)
        ran = run(question, pth, "-o", "folder/out.parquet", preexec_fn=obey_permissions)
        refused(ran, "error: folder/out.parquet: Permission denied")
        assert not leftovers(tmp_path / "folder")

    def test_a_folder_that_nobody_may_write(self, run, question, pth):
        ran = run(question, pth, "-o", "/proc/out.parquet")
        assert ran.returncode == 2
        assert ran.stderr.startswith("error: /proc/out.parquet: ")

    def test_a_full_device(self, run, question, spawn_strace):
        ran = run(question, spawn_strace, "-o", "/dev/full", *self.parquet(question))
        refused(ran, "error: /dev/full: No space left on device", "hint: free some space")

    def test_a_full_standard_output(self, run, question, spawn_strace):
        with Path("/dev/full").open("wb") as full:
            ran = run(
                question,
                spawn_strace,
                *(("-o", "-", "-q") if question == "parse" else ()),
                stdout=full,
                stderr=subprocess.PIPE,
                capture_output=False,
            )
        assert ran.returncode == 2
        assert "standard output: No space left on device" in ran.stderr
        assert "Traceback" not in ran.stderr

    def test_a_full_disk_leaves_what_was_there(self, run, question, spawn_strace, tmp_path):
        output = tmp_path / "out.parquet"
        output.write_text("precious")
        ran = run(question, spawn_strace, "-o", "out.parquet", preexec_fn=limit_files)
        assert ran.returncode == 2
        assert ran.stderr.startswith("error: out.parquet: File too large")
        assert output.read_text() == "precious"
        assert leftovers(tmp_path) == {"out.parquet"}

    def test_a_reader_that_has_seen_enough(self, command, question, spawn_strace):
        arguments = [spawn_strace, *(("-o", "-", "-q") if question == "parse" else ())]
        with subprocess.Popen(
            [command, question, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            process.stdout.close()
            message = process.stderr.read()
            assert process.wait(timeout=180) == 0
        assert message == b""

    @staticmethod
    def parquet(question) -> tuple[str, ...]:
        return ("--sink", "parquet") if question == "parse" else ("--format", "parquet")


QUIET = {"nothing came": b"", "a log began": READ * 3, "columns began": b"PAR1"}


@pytest.mark.parametrize("came", QUIET)
@pytest.mark.parametrize(
    "question", ["parse", "files", "forks", "processes", "syscalls", "events", "python"]
)
def test_an_interrupt_while_waiting_for_standard_input(command, question, came, tmp_path):
    if question in {"parse", "python"} and came == "columns began":
        pytest.skip("no log")
    arguments = [command, question, "-", "-o", "out.parquet"]
    if question == "python":
        script = "import tracefast as tf; tf.parse('-', 'out.parquet')"
        arguments = [sys.executable, "-c", script]
    process = subprocess.Popen(
        arguments,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        preexec_fn=interrupts.allowed,  # noqa: PLW1509
    )
    with process:
        process.stdin.write(QUIET[came])
        process.stdin.flush()
        interrupts.wait_until_quiet(process)
        code, message = interrupts.interrupt(process)
    assert code == (-signal.SIGINT if question == "python" else 130), message
    assert ("KeyboardInterrupt" in message) == (question == "python")
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("question", ["parse", "files"])
def test_an_interrupt_is_prompt_and_leaves_nothing(command, question, tmp_path):
    output = tmp_path / "out.parquet"
    process = subprocess.Popen(
        [command, question, "-", "-o", output],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=interrupts.allowed,  # noqa: PLW1509
    )
    with process, contextlib.suppress(BrokenPipeError):
        # More than a pipe holds: once it is written, the parser is reading.
        process.stdin.write(READ * 40_000)
        process.stdin.flush()
        code, message = interrupts.interrupt(process)
    assert code == 130
    assert "Traceback" not in message
    assert not leftovers(tmp_path)
