"""The real command on a pseudo-terminal, in pipes, on full disks, and when it is interrupted."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from support.paths import DATA

COLOURS = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|9[0-7])(?:;[0-9]+)*m")
SGR = re.compile(r"\x1b\[[0-9;]*m")
HEADING = re.compile(r"^\x1b\[1m(.*)\x1b\[0m$")
LINE = (
    b'7 1700000000.%06d read(3</srv/a/rather/long/path/to/file-%d>, "", 4096) = 4096 <0.000010>\n'
)


class Terminal:
    """A command that runs on a pseudo-terminal."""

    def __init__(self, command, *arguments, cwd, columns=100, stdout=None, **environment):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [command, *map(str, arguments)],
            stdin=slave,
            stdout=slave if stdout is None else stdout,
            stderr=slave,
            cwd=cwd,
            env={
                **{name: value for name, value in os.environ.items() if "COLOR" not in name},
                "COLUMNS": str(columns),
                "LINES": "30",
                "TERM": "xterm-256color",
                **environment,
            },
            start_new_session=True,
        )
        os.close(slave)
        self.text = b""

    def read(self, until=None, seconds=180):
        """Read until the command ends, or shows a text."""
        end = time.monotonic() + seconds
        while until is None or until not in self.text:
            if not select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
                pytest.fail(f"nothing new on the terminal after {self.text!r}")
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                break  # The other end is closed: that is how a terminal says it.
            if not piece:
                break
            self.text += piece

    def read_for(self, seconds):
        """Read what comes within a time."""
        end = time.monotonic() + seconds
        while select.select([self.master], [], [], max(end - time.monotonic(), 0))[0]:
            try:
                self.text += os.read(self.master, 65536)
            except OSError:
                break

    def shown(self):
        """Give what it shows, without styles; of a character that is half there, nothing."""
        return SGR.sub("", self.text.decode(errors="ignore"))

    def end(self):
        """Wait for the end; give the exit code."""
        self.read()
        code = self.process.wait(timeout=180)
        os.close(self.master)
        return code


@pytest.fixture
def on_terminal(command, tmp_path):
    """Run the command on a terminal to its end; give what it showed, and its exit code."""

    def run(*arguments, **options):
        terminal = Terminal(command, *arguments, cwd=tmp_path, **options)
        code = terminal.end()
        return terminal.text.decode().replace("\r\n", "\n"), code

    return run


@pytest.fixture
def shell(command, tmp_path):
    """Run a line of bash, in which $T is the command; give exit codes of all its parts."""

    def run(line, **options):
        script = f'T="{command}"\n{line}\necho "codes ${{PIPESTATUS[*]}}" >&2'
        return subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def big(tmp_path_factory):
    """A log that takes a second or so to read, with a thousand files."""
    path = tmp_path_factory.mktemp("big") / "big.strace"
    path.write_bytes(b"".join(LINE % (i % 10**6, i % 1000) for i in range(600_000)))
    return path


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("form", ["table", "csv", "ndjson"])
def test_a_reader_that_has_seen_enough_is_no_error(shell, big, form):
    ran = shell(f'"$T" files {big} --format {form} | head -3')
    assert len(ran.stdout.splitlines()) == 3
    assert "Traceback" not in ran.stderr
    assert "error" not in ran.stderr
    assert ran.stderr.endswith("codes 0 0\n")


def test_neither_is_one_that_reads_nothing(shell, big):
    for arguments in (
        "files",
        "forks",
        "processes --tree",
        "events",
        "schema #",
        "parse --explain",
    ):
        ran = shell(f'"$T" {arguments.replace("#", "")} {"" if "#" in arguments else big} | true')
        assert re.search(r"codes 0 0\n$", ran.stderr), ran.stderr
        assert "Traceback" not in ran.stderr
        assert "error" not in ran.stderr.lower()


@pytest.mark.parametrize(
    "arguments",
    [
        "files LOG --format csv",
        "files LOG",
        "files LOG -o /dev/full",
        "forks LOG",
        "processes LOG --tree",
        "syscalls LOG --strace-c",
        "files LOG --explain libc.so.6",
        "schema",
        "version",
        "parse LOG -o -",
        "parse LOG -o /dev/full --sink arrow",
    ],
)
def test_a_full_disk_is_an_error(shell, spawn_strace, tmp_path, arguments):
    ran = shell(f'"$T" {arguments.replace("LOG", str(spawn_strace))} > /dev/full')
    assert "No space left on device" in ran.stderr
    assert ran.stderr.count("error: ") == 1
    assert re.search(r"^error: (standard output|/dev/full|-): ", ran.stderr, re.MULTILINE)
    assert "hint: free some space" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "Exception ignored" not in ran.stderr
    assert ran.stderr.endswith("codes 2\n")
    assert not left(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("arguments", [("parse", "-", "-o", "out.parquet"), ("files", "-")])
def test_a_command_that_is_terminated_leaves_no_files(command, tmp_path, arguments, number):
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        [command, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(folder)},
        # Whoever runs the tests may ignore some of them.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509 - in time
    ) as process:

        def feed():
            # A log that never ends.
            with suppress(OSError):
                while True:
                    process.stdin.write(b"".join(LINE % (j, j) for j in range(100)))
                    process.stdin.flush()
                    time.sleep(0.01)

        feeder = threading.Thread(target=feed)
        feeder.start()
        end = time.monotonic() + 120
        while not list(tmp_path.rglob("*.tmp")) and time.monotonic() < end:
            time.sleep(0.02)
        assert list(tmp_path.rglob("*.tmp"))
        process.send_signal(number)
        assert process.wait(timeout=120) == 128 + number
        feeder.join()
        assert b"Traceback" not in process.stderr.read()
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert left(tmp_path) == {"temporary"}
    assert not left(folder)


def wait_until_open(path, process):
    """Wait until a process has a file open, or has ended."""
    while process.poll() is None:
        with suppress(OSError):  # A descriptor, or the process, may be gone already.
            if any(one.readlink() == path for one in Path(f"/proc/{process.pid}/fd").iterdir()):
                return
        time.sleep(0.001)


def test_an_interrupt_while_it_ends(command, tmp_path):
    (tmp_path / "a.strace").write_bytes(LINE % (1, 1))
    for wait in range(20):
        terminal = Terminal(command, "files", "a.strace", cwd=tmp_path)
        terminal.read(until=b"total: ")
        time.sleep(wait / 1000)
        with suppress(ProcessLookupError):
            os.killpg(terminal.process.pid, signal.SIGINT)
        code = terminal.end()
        assert b"Traceback" not in terminal.text, terminal.text
        assert code in {0, 130}, terminal.text


def test_an_interrupt_from_the_keyboard(command, tmp_path, big):
    for arguments in (("parse", big, "-o", "out.parquet"), ("files", big, "-o", "out.parquet")):
        (tmp_path / "out.parquet").write_text("precious")
        terminal = Terminal(command, *arguments, cwd=tmp_path)
        wait_until_open(big, terminal.process)
        os.killpg(terminal.process.pid, signal.SIGINT)
        code = terminal.end()
        assert b"Traceback" not in terminal.text, terminal.text
        assert code in {0, 130}, terminal.text
        assert left(tmp_path) == {"out.parquet"}
        # Whoever is fast enough is done, even if the interrupt comes while the process ends: then
        # all of it is there.
        if code == 0 or (tmp_path / "out.parquet").read_bytes() != b"precious":
            assert pl.scan_parquet(tmp_path / "out.parquet").select(pl.len()).collect().item() > 0


def test_a_folder_without_permission_to_write(command, spawn_strace, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    # Without its capabilities, root may not do it either.
    plain = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]
    if os.geteuid() != 0:
        plain = []
    elif not shutil.which("setpriv"):
        pytest.skip("root may write everywhere, and there is no setpriv")
    for question in ("parse", "files"):
        ran = subprocess.run(
            [*plain, command, question, spawn_strace, "-o", "locked/out.parquet"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        check_refused(ran, "locked/out.parquet")
    assert not left(locked)


def check_refused(ran, name):
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"error: {name}: ")
    assert ran.stderr.count("\n") == 2
    assert "\nhint: " in ran.stderr


@pytest.mark.parametrize("command_line", [("parse",), ("files",), ("sql", "SELECT 1 AS a")])
def test_places_where_nothing_can_be_written(run, spawn_strace, tmp_path, command_line):
    (tmp_path / "file").touch()
    # No user, root included, can make files in these.
    for name in (
        "/proc/out.parquet",
        "missing/out.parquet",
        "file/out.parquet",
        "/sys/out.parquet",
    ):
        check_refused(run(*command_line, spawn_strace, "-o", name), name)
    assert left(tmp_path) == {"file"}


@pytest.mark.parametrize("question", ["parse", "files"])
def test_when_two_write_the_same_file_one_wins_whole(command, tmp_path, spawn_strace, question):
    logs = [tmp_path / name for name in ("a.strace", "b.strace")]
    for log in logs:
        log.write_bytes(spawn_strace.read_bytes())
    expected = []
    for log in logs:
        subprocess.run([command, question, log.name, "-o", "one.parquet"], cwd=tmp_path, check=True)
        expected.append((tmp_path / "one.parquet").read_bytes())
    asked = [
        [command, question, log.name, "-o", "out.parquet", "-q"] for log in (*logs, *logs, *logs)
    ]
    running = [subprocess.Popen(line, cwd=tmp_path) for line in asked]
    assert [process.wait(timeout=180) for process in running] == [0] * 6
    assert (tmp_path / "out.parquet").read_bytes() in expected
    assert left(tmp_path) == {"a.strace", "b.strace", "one.parquet", "out.parquet"}


@pytest.mark.parametrize("question", ["parse", "files"])
def test_of_two_that_may_not_replace_exactly_one_wins(command, tmp_path, spawn_strace, question):
    for attempt in range(3):
        line = [command, question, spawn_strace, "-o", f"{attempt}.parquet", "--no-clobber"]
        running = [
            subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            for _ in range(5)
        ]
        messages = [process.communicate(timeout=180)[1] for process in running]
        assert sorted(process.returncode for process in running) == [0, 2, 2, 2, 2]
        assert sum("already exists" in text for text in messages) == 4
        pl.read_parquet(tmp_path / f"{attempt}.parquet")
        assert len(left(tmp_path)) == attempt + 1


@pytest.mark.parametrize(
    "arguments",
    [("files",), ("forks",), ("processes",), ("processes", "--tree"), ("syscalls",), ("events",)],
)
@pytest.mark.parametrize("columns", [40, 80])
def test_narrow_terminals(on_terminal, spawn_strace, arguments, columns):
    # Without a progress bar, which a slow machine shows.
    text, code = on_terminal(*arguments, spawn_strace, "--quiet", columns=columns)
    assert code == 0
    # Headings are bold, whole lines.
    lines = [HEADING.sub(r"\1", line) for line in text.splitlines()]
    assert len(lines) > 2
    # Forty columns do not hold the numbers of a tree, nor the last line of some.
    if columns == 80 or arguments[0] == "files":
        assert max(map(len, lines)) <= columns
    assert all(SGR.sub("", line) == line for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [
        ("demo.strace.zst",),
        ("insights", "demo.strace.zst"),
        ("workers", "workers/train_fork.strace.zst"),
        ("diff", "builds/old-1.strace.zst", "builds/new-1.strace.zst"),
        ("files", "demo.strace.zst", "--hist"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_reports_fit_and_have_titles_in_bold(on_terminal, arguments):
    words = [DATA / word if "/" in word or "." in word else word for word in arguments]
    # Without a progress bar, which a slow machine shows.
    text, code = on_terminal(*words, "--quiet", columns=80)
    assert code == 0
    lines = text.splitlines()
    assert any(HEADING.match(line) for line in lines)
    plain = [HEADING.sub(r"\1", line) for line in lines]
    assert max(map(len, plain)) <= 80
    assert not any(SGR.search(line) for line in plain)


@pytest.mark.parametrize(
    "arguments",
    [
        ("files",),
        ("files", "--by", "open"),
        ("processes",),
        ("syscalls",),
        ("syscalls", "--by", "process"),
        ("events",),
        ("forks", "--each", "--threads"),
        ("sql", "SELECT * FROM events"),
    ],
    ids=str,
)
@pytest.mark.parametrize("height", [24, 40, 100])
def test_a_screenful_is_what_the_terminal_has_room_for(on_terminal, arguments, height):
    # On a dumb terminal a slow machine shows no progress bar, which would count as lines.
    screen = {"columns": 300, "TERM": "dumb"}
    log = DATA / "demo.strace.zst"
    text, code = on_terminal(*arguments, log, LINES=str(height), **screen)
    assert code == 0
    lines = text.splitlines()
    # One for the prompt.
    assert len(lines) < height
    if "; --top 0 prints all" in text:
        assert len(lines) >= height - 4
    else:
        assert len(text) == len(on_terminal(*arguments, log, "--top", 0, **screen)[0])


def test_without_lines_the_size_of_the_terminal_counts(command):
    import fcntl
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    environment = {
        name: value for name, value in os.environ.items() if name not in {"LINES", "COLUMNS"}
    }
    arguments = [command, "events", DATA / "demo.strace.zst"]
    with subprocess.Popen(
        arguments, stdout=slave, stderr=subprocess.PIPE, env=environment
    ) as process:
        os.close(slave)
        text = b""
        with suppress(OSError):
            while piece := os.read(master, 65536):
                text += piece
        assert b"more rows; --top 0 prints all" in process.stderr.read()
    os.close(master)
    lines = text.splitlines()
    assert len(lines) == 33 - 5 + 1
    assert max(map(len, lines)) <= 77


def test_a_low_terminal_still_shows_ten_rows(terminal):
    lines = terminal("events", DATA / "demo.strace.zst", lines=5).splitlines()
    assert len(lines) == 1 + 10 + 1


def test_one_row_more_is_shown_in_place_of_the_word_that_there_is_one(terminal, tmp_path):
    for rows, shown in ((25, 25), (26, 26), (27, 25)):
        log = "".join(f"7 1700000000.{i:06} call{chr(97 + i)}() = 0\n" for i in range(rows))
        (tmp_path / "log").write_text(log)
        lines = terminal("events", "log").splitlines()
        assert len(lines) == 1 + shown + (rows > shown)


@pytest.mark.parametrize("arguments", [("files",), ("processes",), ("syscalls",), ("forks",)])
def test_pipes_get_whole_names_and_no_colours(shell, spawn_strace, arguments):
    line = f'"$T" {" ".join(arguments)} {spawn_strace} | cat'
    for environment in ({"COLUMNS": "40"}, {"COLUMNS": "40", "FORCE_COLOR": "1"}):
        ran = shell(line, env={**os.environ, **environment})
        assert ran.stderr.endswith("codes 0 0\n")
        assert "…" not in ran.stdout
        assert not SGR.search(ran.stdout)


def test_a_bar_is_shown_on_a_terminal_only(command, tmp_path, big):
    os.mkfifo(tmp_path / "slow.strace")
    piece = big.read_bytes()[: 1 << 20]

    def watch(*options, until=None, **environment):
        """Show how a log is read that comes bit by bit: until this is seen, or for a while."""
        terminal = Terminal(
            *(command, "parse", "slow.strace", "-o", "out.parquet", *options),
            cwd=tmp_path,
            **environment,
        )
        # A busy machine shows late what it shows.
        end = time.monotonic() + (120 if until else 1.6)
        with (tmp_path / "slow.strace").open("wb") as log:
            while time.monotonic() < end:
                log.write(piece)
                log.flush()
                terminal.read_for(0.4)
                if until and re.search(until, terminal.shown()):
                    break
        assert terminal.end() == 0
        return terminal.text.decode()

    speed = r"reading.* [0-9.]+ ([KMG]i)?B/s"
    seen = watch(until=speed)
    assert re.search(speed, SGR.sub("", seen))
    assert COLOURS.search(seen)
    plain = watch(until="reading", NO_COLOR="1")
    assert "reading" in plain
    assert not COLOURS.search(plain)
    assert "reading" not in watch("-q")
    # It could not be taken back, and would leave an empty line.
    dumb = watch(TERM="dumb")
    assert "reading" not in dumb
    assert dumb.strip("\r\n") == dumb.rstrip("\r\n")
    assert "\r\n\r\n" not in dumb


def test_no_bar_in_pipes(run, big):
    ran = run("events", big, env={**os.environ, "FORCE_COLOR": "1"})
    assert ran.stderr == ""
    assert "\x1b" not in ran.stdout


def test_help_names_the_exit_codes(run):
    text = run("--help").stdout
    for code, meaning in (
        ("0", "done"),
        ("1", "--strict"),
        ("2", "failed"),
        ("130", "interrupted"),
    ):
        assert re.search(rf"^ *{code} .*{meaning}", text, re.MULTILINE)


def test_strict_is_an_exit_code_of_its_own(run, tmp_path):
    (tmp_path / "log").write_text("1 close(3) = 0\nwhat is this\n")
    assert run("parse", "log", "-o", "a.parquet").returncode == 0
    assert run("parse", "log", "-o", "a.parquet", "--strict").returncode == 1
    assert (tmp_path / "a.parquet").exists()


@pytest.mark.parametrize(
    ("closed", "arguments", "code", "words"),
    [
        (">&-", ["--version"], 2, "standard output: "),
        (">&-", ["--help"], 2, "standard output: "),
        (">&-", ["version"], 2, "standard output: "),
        (">&-", ["files", "LOG"], 2, "standard output: "),
        (">&-", ["files", "LOG", "--format", "csv"], 2, "standard output: "),
        (">&-", ["parse", "LOG", "-o", "out.parquet"], 0, "out.parquet: "),
        (">&-", ["files", "LOG", "-o", "out.csv"], 0, ""),
        ("2>&-", ["parse", "LOG", "-o", "out.parquet", "-q"], 0, ""),
        ("2>&-", ["files", "missing"], 2, ""),
        ("2>/dev/full", ["files", "missing"], 2, ""),
        ("2>/dev/full", ["parse", "LOG", "-o", "out.parquet"], 2, ""),
        ("<&-", ["files", "LOG", "-o", "out.csv"], 0, ""),
        ("<&-", ["files", "-"], 2, "error: "),
    ],
)
def test_streams_that_are_closed(command, spawn_strace, tmp_path, closed, arguments, code, words):
    line = " ".join(str(spawn_strace) if word == "LOG" else word for word in arguments)
    ran = subprocess.run(
        ["sh", "-c", f"exec {command} {line} {closed}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, "Traceback" in ran.stderr) == (code, False), ran.stderr
    assert words in ran.stderr
    assert ran.stderr.count("error: ") == (code == 2 and closed != "2>&-" and "full" not in closed)


def test_an_output_that_is_a_link_is_written_through(run, spawn_strace, tmp_path):
    for question, name in (("parse", "one.parquet"), ("files", "two.parquet"), ("files", "3.csv")):
        target, link = tmp_path / f"target-{name}", tmp_path / name
        link.symlink_to(target.name)
        assert run(question, spawn_strace, "-o", name).returncode == 0
        assert link.is_symlink()
        size = target.stat().st_size
        target.write_text("old")
        assert run(question, spawn_strace, "-o", name).returncode == 0
        assert (link.is_symlink(), target.stat().st_size) == (True, size)
        assert run(question, spawn_strace, "-o", name, "--no-clobber").returncode == 2


def test_names_as_long_as_names_may_be(run, spawn_strace, tmp_path):
    for question in ("parse", "files"):
        name = f"{question}{'x' * (255 - len(question) - 8)}.parquet"
        assert run(question, spawn_strace, "-o", name).returncode == 0
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["out.xlsx", "out.cvs", "out.arrow"])
def test_suffixes_that_promise_something_else(run, spawn_strace, tmp_path, name):
    check_refused(run("files", spawn_strace, "-o", name), name)
    assert not left(tmp_path)
    assert run("files", spawn_strace, "-o", name, "--format", "table").returncode == 0
    for plain in ("out", "out.txt", "run-1.5"):
        assert run("files", spawn_strace, "-o", plain).returncode == 0


def test_names_that_are_empty(run, spawn_strace, tmp_path):
    for arguments in (("files", "-o"), ("parse", "-o"), ("parse", "--out-dir")):
        ran = run(arguments[0], spawn_strace, *arguments[1:], "")
        assert (ran.returncode, ran.stderr.splitlines()[0]) == (
            2,
            "error: the name of the output is empty",
        )
    assert not left(tmp_path)


def test_pipes_that_have_names_are_read_once(shell, run, spawn_strace):
    # Without an order, either count may come first.
    counts = "SELECT count(*) AS n FROM events UNION ALL SELECT count(*) FROM files"
    query = f"SELECT n FROM ({counts}) AS counts ORDER BY n"
    expected = run("sql", query, spawn_strace).stdout
    for engine in ("polars", "duckdb"):
        ran = shell(f'$T sql "{query}" <(cat {spawn_strace}) --engine {engine}')
        assert (ran.stdout, ran.stderr.splitlines()[-1]) == (expected, "codes 0"), ran.stderr
    expected = run("events", spawn_strace).stdout
    assert shell(f"$T events <(cat {spawn_strace})").stdout == expected
    assert shell(f"$T events - - < {spawn_strace}").stdout == expected
    expected = run("files", spawn_strace, "--from", "0.01").stdout
    assert expected.count("\n") > 3
    assert shell(f"cat {spawn_strace} | $T files /dev/stdin --from 0.01").stdout == expected


def test_patterns_pass_folders_by(run, spawn_strace, tmp_path):
    (tmp_path / "logs" / "more").mkdir(parents=True)
    for name in ("a.strace", "more/b.strace"):
        shutil.copy(spawn_strace, tmp_path / "logs" / name)
    for pattern, logs in (("logs/*", 1), ("logs/**", 2)):
        ran = run("events", pattern, "--format", "csv")
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.splitlines()[0].startswith("source") == (logs == 2)
