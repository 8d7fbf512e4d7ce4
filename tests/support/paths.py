"""Where the tests find things, whichever folder they are in."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"
DATA = ROOT / "tests" / "data"
DOCS = ROOT / "docs"
