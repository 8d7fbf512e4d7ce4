"""Pictures on the pages, drawn by commands: `make pictures`.

The same log and the same versions of Graphviz and Vega give the same bytes.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
# By picture, the command, the log and the options.
PICTURES = {
    "flow-demo.svg": ["flow", "tests/data/demo.strace.zst"],
    "flow-train.svg": ["flow", "tests/data/flow/train.strace.zst"],
    "flow-phases.svg": ["flow", "tests/data/flow/train.strace.zst", "--by", "phase"],
    "chart-offsets.svg": ["files", "tests/data/demo.strace.zst", "--plot", "offsets"],
    "chart-gantt.svg": ["processes", "tests/data/demo.strace.zst", "--plot", "gantt"],
    "disk-reads.svg": ["files", "tests/data/join/reads.strace.zst", "--plot", "offsets"],
    "chart-timeline.svg": ["files", "tests/data/demo.strace.zst", "--plot", "timeline"],
}


def draw(name: str, folder: Path) -> Path:
    """Draw a picture into a folder."""
    path = folder / name
    command = [sys.executable, "-m", "tracefast", *PICTURES[name], "-q", "-o", path]
    subprocess.run(command, check=True, cwd=ROOT)
    return path


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        draw(picture, FOLDER)
