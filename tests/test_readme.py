"""The examples in the README run, on the program that is bundled."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()


@pytest.fixture
def folder(tmp_path, spawn_strace):
    (tmp_path / "app.strace").write_bytes(spawn_strace.read_bytes())
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    return tmp_path


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_commands(folder, command):
    ran = 0
    environment = {"PATH": f"{Path(command).parent}:/usr/bin:/bin"}
    for block in blocks("console"):
        for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = text.partition("\n")
            if not line.startswith("tracefast "):
                continue
            result = subprocess.run(
                ["bash", "-o", "pipefail", "-c", line],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert result.returncode == 0, result.stderr
            if expected.strip():
                assert result.stdout == expected
            ran += 1
    assert ran >= 6


def test_python(folder):
    (program,) = blocks("python")
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "/srv/spawn/data.bin" in ran.stdout


def test_files_that_it_names_are_there():
    for name in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / name).is_file()
