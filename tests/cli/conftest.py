"""What tests of the command share: lines of bash, a log that takes a while."""

import subprocess

import pytest

from support.logs import READS


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
    path.write_bytes(b"".join(READS % (i % 10**6, i % 1000) for i in range(600_000)))
    return path
