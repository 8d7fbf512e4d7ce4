"""What users write passes a strict type checker, as the package itself does."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import pages
from support.paths import ROOT


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mypy") is None, reason="mypy is missing")
def test_programs_of_the_pages(tmp_path):
    programs = []
    for page in pages.names():
        if (text := pages.program(page)) and page != "docs/design.md":
            program = tmp_path / f"{Path(page).stem.lower().replace('-', '_')}.py"
            program.write_text(text)
            programs.append(program)
    assert len(programs) >= 10
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file", ""),
            *("--cache-dir", ROOT / ".mypy_cache" / "pages"),
            # pyarrow has no types, and Dask has them for some functions.
            *("--disable-error-code", "import-untyped"),
            *("--disable-error-code", "no-untyped-call"),
            *programs,
        ],
        # Not in the repository: the package is found as users find it.
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
