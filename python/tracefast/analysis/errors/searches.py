"""Which failed calls are parts of a search: a program that looks for one thing in many folders."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from tracefast import _core
from tracefast.analysis.path_patterns import folder, suffix

# Calls that look for a file by its name, or open or execute it.
_EXECS: Final = frozenset(_core.syscalls_that("execs"))
_LOOKS: Final = frozenset(_core.syscalls_that("looks")) | frozenset(_core.syscalls_that("stats"))
_LOOKUPS: Final = _LOOKS | _EXECS | frozenset(_core.syscalls_that("opens"))
_READLINKS: Final = frozenset({"readlink", "readlinkat"})

_ABSENT: Final = frozenset({"ENOENT", "ENOTDIR"})
# execvp(3) goes on with the next folder after this one, too.
_NOT_EXECUTABLE: Final = "EACCES"
# What readlink(2) says of a path that is no symbolic link: realpath(3) asks it of each prefix.
_NO_LINK: Final = "EINVAL"

# Folders of commands, as in PATH.
_COMMAND_FOLDERS: Final = frozenset({"bin", "sbin", "games", "shims"})
# setlocale(3), gettext(3).
_LOCALE: Final = re.compile(
    r"/locale(-langpack)?(/|$)|/locale-archive$|/locale\.alias$|/LC_[A-Z]+(/|$)|\.mo$"
)
# ld.so(8): libraries, its own files, and folders for kinds of processors.
_LIBRARY: Final = re.compile(
    r"\.so(\.[0-9.*]+)?$|/glibc-hwcaps(/|$)|/tls(/[^.]*)?$|/(haswell|avx512_1|x86_64|i[3-6]86)$"
)
_OWN_FILE: Final = "/etc/ld.so."
# They look for the files that ld.so looks for, but to link with them.
_LINKERS: Final = re.compile(r"(^|-)(ld(\.\w+)?|lld|mold|gold|collect2)$")
# importlib of Python: extension modules, sources, caches; site and the paths of the interpreter.
_IMPORT: Final = re.compile(
    r"\.py[cdo]?$|\.(cpython|pypy)[^/]*\.so$|\.abi3\.so$|/__init__\.so$|/__pycache__(/|$)"
    r"|/python[0-9]+\.zip(/|$)|/pyvenv\.cfg$|\._pth$|/pybuilddir\.txt$|/lib-dynload$"
    r"|/(site|dist)-packages$"
)
_INCLUDE: Final = re.compile(r"\.(h|hh|hpp|hxx|h\+\+|inc|gch|pch)$|/include(-\w+)?(/|$)")
# Of these, what belongs to a module; the others are the interpreter's own.
_MODULE: Final = re.compile(r"\.(py[cdo]?|so)$")
_PACKAGE: Final = re.compile(r"/__init__\.[^/]*$")
# Looked for in a folder, the one above, and the one above that: on the way to the root. Unless
# that is reached, there are as many folders for each one in which a search starts.
_FOLDERS_UP: Final = 3


class Failed(NamedTuple):
    """The failed calls of one name, error and path by one program."""

    errno: str
    name: str
    path: str


class Try(NamedTuple):
    """What a failed call was a part of: which search, for what, in which folder.

    The prefixes of a path are only on the way to what is wanted.
    """

    search: str
    wanted: str | None
    folder: str


def find_searches(image: str | None, failed: Collection[Failed]) -> dict[Failed, Try]:
    """Find those failed calls of a program that are parts of a search.

    Parameters
    ----------
    image
        The program.
    failed
        Its failed calls.

    Examples
    --------
    >>> missing = [Failed("ENOENT", "execve", f"{folder}/cc") for folder in ("/opt", "/usr/bin")]
    >>> for found in find_searches("/bin/sh", missing).values():
    ...     print(found)
    Try(search='PATH', wanted='cc', folder='/opt')
    Try(search='PATH', wanted='cc', folder='/usr/bin')
    """
    program = "" if image is None else image.rpartition("/")[2]
    paths = {one.path for one in failed if _is_lookup(one)}
    commands = _commands(one for one in failed if _is_lookup(one) or _is_exec(one))
    upwards = _upwards(paths)
    chained = _chained({one.path for one in failed if one.name in _READLINKS})
    chained |= _chained({one.path for one in failed if one.name in _LOOKS and _is_lookup(one)})
    found = {}
    for one in failed:
        if not (_is_lookup(one) or _is_exec(one) or _is_no_link(one)) or "/" not in one.path:
            continue
        search = None
        if not _is_no_link(one):
            search = _by_name(one.path, program)
            if search is None and one.path in commands:
                search = "PATH"
        if search is not None:
            found[one] = Try(search, *_wanted(search, one.path))
        elif one.path in upwards:
            found[one] = Try("prefixes", *_wanted("prefixes", one.path))
        elif one.path in chained:
            wanted = one.path if chained[one.path] else None
            found[one] = Try("prefixes", wanted, folder(one.path) or "/")
    return found


def _is_lookup(one: Failed) -> bool:
    return one.errno in _ABSENT and one.name in _LOOKUPS


def _is_exec(one: Failed) -> bool:
    return one.errno == _NOT_EXECUTABLE and one.name in _EXECS


def _is_no_link(one: Failed) -> bool:
    return one.errno == _NO_LINK and one.name in _READLINKS


def _by_name(path: str, program: str) -> str | None:
    """Give the search that looks for files with such names."""
    if _LOCALE.search(path):
        return "locale"
    if _IMPORT.search(path):
        return "import"
    if path.startswith(_OWN_FILE):
        return "ld.so"
    if _LIBRARY.search(path):
        return None if _LINKERS.search(program) else "ld.so"
    return "include" if _INCLUDE.search(path) else None


def _commands(failed: Iterable[Failed]) -> set[str]:
    """Give the paths that were tried for a command: of names that were looked for in a `bin`.

    A name that was to be executed in several folders is one, too, whatever these are called.
    """
    by_name: dict[str, list[Failed]] = defaultdict(list)
    for one in failed:
        name = one.path.rpartition("/")[2]
        if name.strip(".") and "/" in one.path and (one.name in _EXECS or not suffix(one.path)):
            by_name[name].append(one)
    found: set[str] = set()
    for tries in by_name.values():
        folders = {folder(one.path) for one in tries}
        executed = {folder(one.path) for one in tries if one.name in _EXECS}
        if len(executed) > 1 or any(of.rpartition("/")[2] in _COMMAND_FOLDERS for of in folders):
            found.update(one.path for one in tries)
    return found


def _upwards(paths: Collection[str]) -> set[str]:
    """Give the paths of a name that was looked for in folder after folder, towards the root.

    Who goes through a tree and asks in each folder, as git does for .gitignore, searches for
    nothing: most folders have others beside them, and it does not ask above the tree.
    """
    chains: dict[str, list[list[str]]] = defaultdict(list)
    inner: set[str] = set()
    for path in paths:
        of, slash, name = path.rpartition("/")
        chain = [path]
        while of and slash and name.strip("."):
            of = folder(of)
            if (above := f"{of}/{name}") not in paths:
                break
            chain.append(above)
        chains[chain[-1]].append(chain)
        inner.update(chain[1:2])
    found: set[str] = set()
    for top, of_top in chains.items():
        starts = sum(chain[0] not in inner for chain in of_top)
        if top.rfind("/") == 0 or len(of_top) >= _FOLDERS_UP * starts:
            found.update(path for chain in of_top if len(chain) >= _FOLDERS_UP for path in chain)
    return found


def _chained(paths: Collection[str]) -> dict[str, bool]:
    """Give the paths that are prefixes of others, and these; and whether each is one of the latter.

    Those are the whole paths.
    """
    found: dict[str, bool] = {}
    for path in paths:
        above = folder(path)
        while above:
            if above in paths:
                found[above] = False
                found.setdefault(path, True)
            above = folder(above)
    return found


def _wanted(search: str, path: str) -> tuple[str | None, str]:
    """Say what was looked for in which folder."""
    of, name = folder(path), path.rpartition("/")[2]
    if search == "import":
        if not _MODULE.search(name):
            return None, of or "/"
        if of.endswith("/__pycache__"):
            of = folder(of)
        if _PACKAGE.search(path):
            of, name = folder(of), of.rpartition("/")[2]
        name = name.partition(".")[0]
    elif search == "include":
        name = name.removesuffix(".gch")
    return name, of or "/"
