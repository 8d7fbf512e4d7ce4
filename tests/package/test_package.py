"""The package as others see it: its names, its types, and what it costs to import."""

import subprocess
import sys
import time

import pytest

import tracefast as tf
from support.paths import DATA, ROOT

HEAVY = ("polars", "pyarrow", "numpy", "pandas", "rich", "typer", "pydantic")

# Runs the command in the arguments, to the end.
COMMAND = """
from tracefast.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
"""


def modules_after(code: str, *arguments: str) -> set[str]:
    """Run code in a new interpreter, and say which of the heavy modules it imported."""
    program = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(HEAVY) & set(ran.stderr.split())


def test_public_names_are_there():
    for name in tf.__all__:
        assert getattr(tf, name) is not None
    # What a completion offers is what the pages describe.
    assert dir(tf) == sorted(tf.__all__)
    page = (ROOT / "docs" / "api.md").read_text()
    for name in set(tf.__all__) - {"__version__"}:
        assert f":: tracefast.{name}" in page, name
    with pytest.raises(AttributeError, match="nothing"):
        _ = tf.nothing


def test_importing_is_cheap():
    assert modules_after("import tracefast") == set()


def test_help_and_version_need_no_more_than_they_say():
    assert modules_after(COMMAND, "--version") == set()
    assert modules_after(COMMAND, "--help") == {"typer"}


def test_tables_of_one_log_need_no_polars(tmp_path):
    # As text, without a condition: what most people ask for first.
    code = """
from tracefast.cli.app import run
*inputs, commands = sys.argv[1:]
for command in commands.split("\\n"):
    for name in inputs:
        sys.argv = ["tracefast", *command.split(), name]
        assert run() == 0, command
"""
    commands = ("files", "files --by process --wide", "files --match '*.so*' --sort reads")
    commands += ("syscalls", "syscalls --by phase", "processes", "processes --top 1")
    commands += ("errors", "errors --wide", "forks --each")
    log, saved = DATA / "spawn" / "spawn.strace", tmp_path / "spawn.parquet"
    tf.parse(log, saved)
    assert modules_after(code, str(log), str(saved), "\n".join(commands)) == {"typer"}


def test_a_command_is_imported_without_the_others():
    code = COMMAND + "prefix = 'tracefast.cli.commands.'\n"
    code += "print(*[name for name in sys.modules if name.startswith(prefix)])"

    def imported(*arguments):
        command = [sys.executable, "-c", f"import sys\n{code}", *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return ran.stdout.splitlines()[-1].split()

    assert imported("--help") == []
    assert imported("errors", "--help") == ["tracefast.cli.commands.errors"]


def test_version_is_the_same_by_both_ways():
    def said(*arguments):
        command = [sys.executable, "-m", "tracefast", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    # The second one is read by typer.
    assert said("--version") == said("--version", "--version") == f"tracefast {tf.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        # An interpreter that does nothing takes some 10 ms.
        (("-c", "import tracefast"), 6),
        (("-m", "tracefast", "--version"), 15),
        (("-m", "tracefast", "--help"), 15),
    ],
)
def test_starting_takes_little_more_than_the_interpreter(arguments, most):
    def seconds(*arguments):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    # On a busy machine single runs say nothing: one good moment is enough.
    ratios = []
    for _ in range(20):
        ratios.append(seconds(*arguments) / seconds("-c", "pass"))
        if ratios[-1] < most:
            return
    pytest.fail(f"{min(ratios):.1f} times as long as an interpreter that does nothing")


def test_parse_needs_neither_polars_nor_pyarrow(spawn_strace, tmp_path):
    output = str(tmp_path / "events.parquet")
    arguments = ("parse", str(spawn_strace), "-o", output, "-q")
    assert modules_after(COMMAND, *arguments) - {"pydantic"} == {"typer"}


def test_tables_of_events_in_parquet_do_not_need_pyarrow(spawn_strace, tmp_path):
    events = str(tmp_path / "events.parquet")
    tf.parse(spawn_strace, events)
    code = "import tracefast as tf\nassert len(tf.files(tf.scan(sys.argv[1])).collect())"
    assert modules_after(code, events) == {"polars"}


def test_errors_are_of_the_usual_kinds():
    assert issubclass(tf.Error, ValueError)


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert tf.__version__ == version("tracefast")
