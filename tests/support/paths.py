"""Where the tests find things, whichever folder they are in."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"
DATA = ROOT / "tests" / "data"
DOCS = ROOT / "docs"


def names_in(folder: Path) -> set[str]:
    """Give the names of what a folder holds."""
    return {path.name for path in folder.iterdir()}
