"""The package as others see it: its names, its types, and what it costs to import."""

import subprocess
import sys

import pytest

import tracefast as tf

HEAVY = ("polars", "pyarrow", "pandas", "rich", "typer")


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
    assert set(tf.__all__) <= set(dir(tf))
    with pytest.raises(AttributeError, match="nothing"):
        _ = tf.nothing


def test_importing_is_cheap():
    assert modules_after("import tracefast") == set()


def test_parse_needs_neither_polars_nor_pyarrow(spawn_strace, tmp_path):
    code = """
from tracefast.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 0, stop.code
"""
    output = str(tmp_path / "events.parquet")
    assert modules_after(code, "parse", str(spawn_strace), "-o", output, "-q") == {"typer"}


def test_errors_are_of_the_usual_kinds():
    assert issubclass(tf.Error, ValueError)


def test_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert tf.__version__ == version("tracefast")
