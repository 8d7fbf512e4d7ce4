"""Recorded logs with their truth: an archive for each group of scenarios."""

import atexit
import functools
import tarfile
import tempfile
from pathlib import Path

from support.paths import DATA
from truth.recording import Recording

FOLDER = DATA / "truth" / "positions"


def pack(group: str, folder: Path) -> None:
    """Put the folders SCENARIO/RECORDER below `folder` into the archive of a group."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    FOLDER.mkdir(exist_ok=True)
    with tarfile.open(FOLDER / f"{group}.tar.xz", "w:xz", preset=9) as archive:
        for part in sorted(folder.iterdir()):
            archive.add(part, part.name, filter=plain)


@functools.cache
def unpacked(group: str) -> tempfile.TemporaryDirectory[str]:
    """Unpack the archive of a group, once."""
    folder = tempfile.TemporaryDirectory(prefix="tracefast-truth-")
    atexit.register(folder.cleanup)
    with tarfile.open(FOLDER / f"{group}.tar.xz") as archive:
        archive.extractall(folder.name, filter="data")
    return folder


def recorded(group: str, scenario: str, recorder: str) -> Recording | None:
    """Give a recorded log; None where the machine of the recording could not run it."""
    folder = Path(unpacked(group).name, scenario, recorder)
    if not folder.exists():
        return None
    return Recording(folder / "log.strace", folder / "truth.tsv")
