"""Signals: what a command leaves when it is interrupted."""

import os
import signal
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from support.command.pseudo_terminal import Terminal
from support.logs import READS
from support.paths import names_in


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
                    process.stdin.write(b"".join(READS % (j, j) for j in range(100)))
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
    assert names_in(tmp_path) == {"temporary"}
    assert not names_in(folder)


def wait_until_open(path, process):
    """Wait until a process has a file open, or has ended."""
    while process.poll() is None:
        with suppress(OSError):  # A descriptor, or the process, may be gone already.
            if any(one.readlink() == path for one in Path(f"/proc/{process.pid}/fd").iterdir()):
                return
        time.sleep(0.001)


def test_an_interrupt_while_it_ends(command, tmp_path):
    (tmp_path / "a.strace").write_bytes(READS % (1, 1))
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
        assert names_in(tmp_path) == {"out.parquet"}
        # Whoever is fast enough is done, even if the interrupt comes while the process ends: then
        # all of it is there.
        if code == 0 or (tmp_path / "out.parquet").read_bytes() != b"precious":
            assert pl.scan_parquet(tmp_path / "out.parquet").select(pl.len()).collect().item() > 0
