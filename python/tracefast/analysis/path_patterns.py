"""Which paths are alike: what varies in them, from file to file or from run to run, is `*`."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from os.path import commonpath
from pathlib import PurePosixPath
from typing import Final

# In this order, the longest first: a hash has numbers in it.
_VARIES: Final = re.compile(
    # A UUID, with or without the name of its kind before it.
    r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    # Objects of git: the first two digits of the hash are a folder (gitrepository-layout(5)).
    r"|(?<=/objects/)[0-9a-f]{2}(?=/|$)"
    # A hash in hexadecimal digits; in the digits of base 32, as Nix writes it.
    r"|(?<![A-Za-z0-9])(?=[a-z]*[0-9])(?:[0-9a-f]{8,}|[0-9a-z]{26,})(?![A-Za-z0-9])"
    # mkstemp(3): of tempfile in Python, mktemp(1), gcc, git, and after a dot or a dash.
    r"|(?<=[/._-]tmp)[a-z0-9_]{8}(?![A-Za-z0-9_])"
    r"|(?<=tmp[._-])[A-Za-z0-9]{6,10}(?![A-Za-z0-9])"
    r"|(?<=/cc)(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{6}(?=\.)"
    r"|(?<=[/._-])(?=[a-z_]*[0-9])[a-z0-9_]{8}(?=/|$)"
    r"|(?<=tmp_obj_)[A-Za-z0-9]{6}(?![A-Za-z0-9])"
    r"|(?<=[._-])(?=[A-Za-z0-9]*[A-Z])(?=[A-Za-z0-9]*[a-z0-9])[A-Za-z0-9]{6}$"
    # A pattern that somebody else has made.
    r"|\*"
    r"|[0-9]+"
)
_ANY: Final = "*"
# Longer ones are part of the name.
_LONGEST_SUFFIX: Final = 12
# With more names of one suffix, a folder is said to have files that are alike; and with more
# folders that have such files, so are these.
_FEW: Final = 8
_ANY_FOLDERS: Final = "**"


def folder(path: str) -> str:
    """Give the folder that a path is in; empty for the root, and for a name without one.

    Examples
    --------
    >>> folder("/srv/images/1.jpg"), folder("/srv"), folder("pipe")
    ('/srv/images', '', '')
    """
    return path.rpartition("/")[0]


def suffix(path: str) -> str:
    """Give what the name of a file ends in, from its first dot on; empty where that is no suffix.

    Where this is long, it is what follows the last dot.

    Examples
    --------
    >>> suffix("/srv/a.tar.gz"), suffix("/srv/.profile"), suffix("/usr/lib/a.7")
    ('.tar.gz', '', '')
    >>> suffix("/usr/lib/a.cpython-311.pyc")
    '.pyc'
    """
    stem, dot, rest = path.rpartition("/")[2].partition(".")
    if len(rest) > _LONGEST_SUFFIX:
        rest = rest.rpartition(".")[2]
    return dot + rest if stem and len(rest) <= _LONGEST_SUFFIX and not rest.isdigit() else ""


def shape(path: str) -> str:
    """Replace all that may vary in a path: numbers, hashes, names of temporary files.

    The result depends on the path alone, so it can be compared between runs.

    Examples
    --------
    >>> shape("/proc/4711/fd/3"), shape("pipe:[837108]")
    ('/proc/*/fd/*', 'pipe:[*]')
    >>> shape("/tmp/tmpa1_x9zq0/part-00017.bin"), shape("/tmp/ccyr765A.o")
    ('/tmp/tmp*/part-*.bin', '/tmp/cc*.o')
    >>> shape("/x/.git/objects/d6/dfbc1fd84f05d39f1e428bf32d75334f6ce848")
    '/x/.git/objects/*/*'
    """
    return _VARIES.sub(_ANY, path)


def patterns(paths: Iterable[str]) -> dict[str, str]:
    """Say for each of some paths which pattern it has together with those that are like it.

    Only what differs between two of these paths is replaced, so a path that is like no other is its
    own pattern. Where a folder has more than eight names of one suffix, these are alike, too, and
    where more than eight folders have names of one suffix, all of these (``**``).

    Parameters
    ----------
    paths
        Paths, or other names of what a call acts on.

    Examples
    --------
    >>> found = patterns(["/lib/libm.so.6", "/data/1/a7.bin", "/data/2/a7.bin"])
    >>> list(found.values())
    ['/lib/libm.so.6', '/data/*/a7.bin', '/data/*/a7.bin']
    >>> set(patterns(["/proc/*/status", "/proc/12/status"]).values())
    {'/proc/*/status'}
    >>> names = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis"]
    >>> set(patterns(f"/img/{name}.jpg" for name in names).values())
    {'/img/*.jpg'}
    >>> set(patterns(f"/srv/{name}/__init__.py" for name in names).values())
    {'/srv/**/*.py'}
    """
    found: dict[str, str] = {}
    alike: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        if path not in found:
            found[path] = path
            alike[shape(path)].append(path)
    for same in alike.values():
        if len(same) > 1:
            found |= dict.fromkeys(same, _common(same))
    for fold in (_names, _folders):
        folded = fold(set(found.values()))
        found = {path: folded.get(pattern, pattern) for path, pattern in found.items()}
    return found


def _names(found: Collection[str]) -> dict[str, str]:
    """Fold many names of one suffix in one folder."""
    names: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in found:
        if "/" in path:
            names[folder(path), suffix(path)].append(path)
    return {
        path: in_folder(*key) for key, alike in names.items() if len(alike) > _FEW for path in alike
    }


def _folders(found: Collection[str]) -> dict[str, str]:
    """Fold names of one suffix in many folders, below what these have in common."""
    by_suffix: dict[str, list[str]] = defaultdict(list)
    for path in found:
        ending = PurePosixPath(path).suffix
        if "/" in path and ending and not ending[1:].isdigit():
            by_suffix[ending].append(path)
    folded: dict[str, str] = {}
    for ending, alike in by_suffix.items():
        if len({folder(path) for path in alike}) > _FEW:
            above = commonpath([f"{folder(path)}/" for path in alike])
            pattern = in_folder(f"{above.rstrip('/')}/{_ANY_FOLDERS}", ending)
            folded |= dict.fromkeys(alike, pattern)
    return folded


def in_folder(of: str, ending: str) -> str:
    """Write the pattern of all files of a folder that end in the same way.

    Examples
    --------
    >>> in_folder("/srv/images", ".jpg"), in_folder("", "")
    ('/srv/images/*.jpg', '/*')
    """
    return f"{of}/{_ANY}{ending}"


def _common(same: list[str]) -> str:
    """Write paths of one shape as one: what varies stays where all of them have the same."""
    between = _VARIES.split(same[0])
    varying = [set(parts) for parts in zip(*map(_VARIES.findall, same), strict=True)]
    parts = [part.pop() if len(part) == 1 else _ANY for part in varying]
    return "".join(text for pair in zip(between, [*parts, ""], strict=True) for text in pair)
