"""Completion in shells: `tracefast completion`."""

import os
import shlex
import shutil
import subprocess

import pytest
import typer

from tracefast.cli.app import make_app

COMMANDS = typer.main.get_command(make_app()).commands
NAMES = sorted(name for name, command in COMMANDS.items() if not command.hidden)

COMPLETE = """
tracefast() {{ "{command}" "$@"; }}
export -f tracefast
export PATH="{folder}:$PATH"
eval "$(tracefast completion bash)"
COMP_WORDS=({words})
COMP_CWORD={at}
_tracefast_completion tracefast
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def completed(command, tmp_path):
    """Say what bash makes of a line when its last word is to be completed."""
    (tmp_path / "tracefast").symlink_to(command)

    def complete(*words):
        script = COMPLETE.format(
            command=command,
            folder=tmp_path,
            words=" ".join(map(shlex.quote, ["tracefast", *words])),
            at=len(words),
        )
        ran = subprocess.run(
            ["bash", "--norc", "-c", script],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
        )
        assert ran.stderr == ""
        return ran.stdout.split()

    return complete


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_completes_commands_options_and_choices(completed):
    assert set(completed("")) == set(NAMES)
    assert completed("pro") == ["processes"]
    assert set(completed("files", "--no")) == {"--no-clobber"}
    assert completed("files", "--format", "") == ["table", "json", "ndjson", "csv", "parquet"]
    assert completed("files", "--format", "nd") == ["ndjson"]
    assert completed("files", "--type", "re") == ["regular"]
    assert completed("forks", "x", "--format-in", "s") == ["strace"]
    assert completed("completion", "") == ["bash", "zsh", "fish"]
    assert completed("schema", "offset_") == ["offset_known"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_shells(run, shell, tmp_path):
    ran = run("completion", shell)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "_TRACEFAST_COMPLETE=complete_" + shell in ran.stdout
    if not shutil.which(shell):
        pytest.skip(f"no {shell} to check it")
    (tmp_path / "script").write_text(ran.stdout)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_unknown_shells(run):
    ran = run("completion", "tcsh")
    assert ran.returncode == 2
    assert "tcsh: invalid choice" in ran.stderr


def test_completion_without_the_library_that_guesses_shells(run, tmp_path):
    (tmp_path / "shellingham.py").write_text("def detect_shell(): raise RuntimeError\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = run("completion", "bash", env={**os.environ, "PYTHONPATH": path})
    assert ran.returncode == 0
    assert "complete -o default" in ran.stdout
