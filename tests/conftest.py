"""What the tests share: the installed command, the bundled logs, events made by hand."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import terminals
import tracefast as tf
from support.command.runs import Runs
from support.paths import DATA
from tracefast._polars.event_schema import event_schema

COMMAND = Path(sys.executable).with_name("tracefast")
TIMEOUT_S = 180

# On a busy machine an example takes longer than Hypothesis allows, and so does drawing one.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# Else the constants of all modules that are loaded are tried, too, and what a test draws depends on
# which tests ran before it in the same process.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = providers.Constants  # noqa: SLF001

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command() -> str:
    """Path of the installed command."""
    return str(COMMAND)


@pytest.fixture(scope="session")
def command_runs() -> Iterator[Runs]:
    """Start the installed command, often."""
    found = Runs()
    yield found
    found.close()


@pytest.fixture
def run(tmp_path: Path, command_runs: Runs) -> Run:
    """Run the installed command in a folder of its own."""

    def call(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [str(COMMAND), *map(str, arguments)]
        folder = Path(options.pop("cwd", tmp_path))
        if not options and command_runs.fit:
            return command_runs.run(command, folder, TIMEOUT_S)
        settings = {"capture_output": True, "text": True, "timeout": TIMEOUT_S} | options
        return subprocess.run(command, check=False, cwd=folder, **settings)

    return call


@pytest.fixture
def terminal(tmp_path: Path) -> Callable[..., str]:
    """Run the installed command on a terminal, and give what it shows there."""

    def call(*arguments: object, columns: int = 100, lines: int = 30, cwd: Path = tmp_path) -> str:
        environment = os.environ | {"COLUMNS": str(columns), "LINES": str(lines), "TERM": "dumb"}
        return terminals.shown([COMMAND, *map(str, arguments)], cwd=cwd, env=environment)

    return call


@pytest.fixture
def pth() -> Path:
    return DATA / "image-loading" / "pth.strace"


@pytest.fixture
def spawn_strace() -> Path:
    return DATA / "spawn" / "spawn.strace"


@pytest.fixture
def spawn_parquet(spawn_strace: Path, tmp_path: Path) -> Path:
    """Parse the log into columns."""
    output = tmp_path / "events.parquet"
    tf.parse(spawn_strace, output)
    return output


@pytest.fixture
def spawn_ftrace() -> Path:
    return DATA / "spawn" / "spawn.ftrace"


@pytest.fixture(params=["spawn.strace", "spawn.ftrace"])
def spawn(request: pytest.FixtureRequest) -> Path:
    return DATA / "spawn" / request.param


@pytest.fixture
def make_events() -> Callable[[list[dict[str, object]]], pl.DataFrame]:
    """Make a frame of events from the columns that matter to a test."""

    def make(rows: list[dict[str, object]]) -> pl.DataFrame:
        schema = event_schema()
        common: dict[str, object] = {"source": "log", "kind": "syscall", "status": "complete"}
        lines = ({"line": i} for i in range(1, len(rows) + 1))
        full = [
            dict.fromkeys(schema) | common | line | row
            for line, row in zip(lines, rows, strict=True)
        ]
        return pl.DataFrame(full, schema=schema)

    return make
