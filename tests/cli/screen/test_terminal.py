"""The real command on a pseudo-terminal: widths, heights, colours, the progress bar."""

import os
import pty
import re
import subprocess
import time
from contextlib import suppress

import pytest

from support.command.pseudo_terminal import SGR, Terminal
from support.paths import DATA

COLOURS = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|9[0-7])(?:;[0-9]+)*m")
HEADING = re.compile(r"^\x1b\[1m(.*)\x1b\[0m$")


@pytest.fixture
def on_terminal(command, tmp_path):
    """Run the command on a terminal to its end; give what it showed, and its exit code."""

    def run(*arguments, **options):
        terminal = Terminal(command, *arguments, cwd=tmp_path, **options)
        code = terminal.end()
        return terminal.text.decode().replace("\r\n", "\n"), code

    return run


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


def test_the_rest_of_an_indented_line_is_further_in(on_terminal):
    screen = {"columns": 80, "TERM": "dumb"}
    text, _ = on_terminal("files", DATA / "demo.strace.zst", "--top", "1", **screen)
    lines = text.splitlines()
    total = next(at for at, line in enumerate(lines) if line.startswith("       1 "))
    assert re.match(r" {9}\S", lines[total + 1])


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
