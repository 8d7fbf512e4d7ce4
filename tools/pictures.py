"""Pictures of the flow of data on the pages, drawn by `tracefast flow`: `make pictures`.

The same log and the same version of Graphviz give the same bytes.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
# By picture, the log and the options.
PICTURES = {
    "flow-demo.svg": ["tests/data/demo.strace.zst"],
    "flow-train.svg": ["tests/data/flow/train.strace.zst"],
    "flow-phases.svg": ["tests/data/flow/train.strace.zst", "--by", "phase"],
}


def draw(name: str, folder: Path) -> Path:
    """Draw a picture into a folder."""
    path = folder / name
    command = [sys.executable, "-m", "tracefast", "flow", "-q", *PICTURES[name], "-o", path]
    subprocess.run(command, check=True, cwd=ROOT)
    return path


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        draw(picture, FOLDER)
