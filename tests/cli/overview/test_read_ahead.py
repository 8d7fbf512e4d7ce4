"""A large log is read while what asks for it is imported: nothing else changes."""

import subprocess
import sys
import time

import pytest

from support.paths import DATA
from tracefast.cli.command_line.request import Request
from tracefast.cli.commands.overview import command
from tracefast.cli.output.form import Format
from tracefast.cli.screen.overview.report import render
from tracefast.scanning.ahead import Ahead
from tracefast.scanning.time_window import Window

DEMO = DATA / "demo.strace.zst"
# Rows of a batch.
BATCH = 8192


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """Every log counts as large."""
    monkeypatch.setattr(command, "_QUICK", -1)


@pytest.fixture
def taken(monkeypatch):
    """Whether those who asked for the columns of a log got the reader that had started."""
    found = []
    take = Ahead.take

    def noted(self, columns):
        reader = take(self, columns)
        found.append(reader is not None)
        return reader

    monkeypatch.setattr(Ahead, "take", noted)
    return found


# Prints whether polars is there when a log starts to be read.
LOOK = """
import sys
from tracefast.cli.commands.overview import command
from tracefast.scanning.ahead import Ahead
start = Ahead.__init__
def look(*given, **options):
    print("polars" in sys.modules, file=sys.stderr)
    start(*given, **options)
Ahead.__init__ = look
command._QUICK = -1
from tracefast.cli import main
main()
"""


def asked(*logs, **options):
    return Request(form=Format.TABLE, inputs=[str(log) for log in logs], quiet=True, **options)


def screen(request):
    found, complete = command.made_overview(request)
    assert complete
    return render(found, request.inputs, width=100)


def test_the_screen_is_the_same(taken, monkeypatch):
    ahead = screen(asked(DEMO))
    assert taken == [True]
    monkeypatch.setattr(command, "_read_ahead", lambda _: None)
    assert screen(asked(DEMO)) == ahead
    assert taken == [True]


def test_it_starts_before_polars_is_imported():
    ran = subprocess.run(
        [sys.executable, "-c", LOOK, DEMO], capture_output=True, text=True, check=True
    )
    assert ran.stderr == "False\n"
    assert "21,270 events" in ran.stdout


def test_only_one_whole_log_is_read_ahead(taken):
    for request in (
        asked(DEMO, DATA / "demo.ftrace.zst"),
        asked(DEMO, window=Window.parse("0.1", "0.5")),
    ):
        screen(request)
    assert taken == []


def test_what_is_no_log_is_said_once(tmp_path, capsys):
    other = tmp_path / "other.strace"
    other.write_text("nothing of the kind\n" * 100)
    found, complete = command.made_overview(asked(other))
    assert (found, complete) == (None, False)
    assert capsys.readouterr().err.count("other.strace") == 1


def test_a_reader_that_was_closed_is_not_given():
    ahead = Ahead(str(DEMO), ["ts"])
    ahead.close()
    assert ahead.take(["ts"]) is None


def test_batches_wait_until_the_first_is_taken(tmp_path):
    log = tmp_path / "long.strace"
    log.write_text('7 1.000000 read(3</a>, "", 5) = 0 <0.000001>\n' * 400_000)
    ahead = Ahead(str(log), ["ts"])
    # Without, a reader makes as many as there are processors, or two.
    wanted = 30 * BATCH
    end = time.monotonic() + 30
    while ahead.progress.rows < wanted and time.monotonic() < end:
        time.sleep(0.01)
    assert ahead.progress.rows >= wanted
    assert sum(len(batch) for batch in ahead.take(["ts"])) == 400_000


def test_a_log_that_is_gone_meanwhile_is_an_error(tmp_path, monkeypatch, capsys):
    log = tmp_path / "gone.strace"
    log.write_text("7 1.000000 getpid() = 7 <0.000001>\n")
    start = Ahead.__init__

    def started(self, *given, **options):
        start(self, *given, **options)
        log.unlink()

    monkeypatch.setattr(Ahead, "__init__", started)
    assert command.made_overview(asked(log)) == (None, False)
    assert "gone.strace" in capsys.readouterr().err
