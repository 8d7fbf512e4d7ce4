"""Run a command on a pseudo-terminal."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

SGR = re.compile(r"\x1b\[[0-9;]*m")


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
