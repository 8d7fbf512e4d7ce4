"""What the columns of tables mean: read from the docstrings, where each is described once."""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

# The tables, and the functions that give them. The events themselves are in `event_columns`.
TABLES: Final = {
    "files": "files",
    "accesses": "accesses",
    "page_cache": "page_cache",
    "blocks": "blocks",
    "forks": "forks",
    "fork_summary": "fork_summary",
    "fork_advice": "fork_advice",
    "processes": "processes",
    "syscalls": "syscalls",
    "event_counts": "events",
}
_COLUMNS: Final = re.compile(r"^ {8}(`\w+`(?:, `\w+`)*) : (\S+)$")


class Entry(NamedTuple):
    """Columns of one type that are described together."""

    names: list[str]
    type: str
    meaning: str


class Words(NamedTuple):
    """What is said of a column."""

    type: str
    meaning: str


def entries(function: Callable[..., object]) -> Iterator[Entry]:
    """Give the columns that a docstring describes, in order."""
    names: list[str] = []
    kind = ""
    meaning: list[str] = []
    # Python may have been told to leave docstrings out.
    _, _, returns = (function.__doc__ or "").partition("\n    Returns\n    -------\n")
    returns = re.split(r"\n    \w+\n    -+\n", returns)[0]
    for line in [*returns.splitlines(), "end"]:
        begin = _COLUMNS.match(line)
        if names and (begin or (line and not line.startswith(" " * 12))):
            yield Entry(names, kind, " ".join(meaning))
            names = []
        if begin:
            names, kind, meaning = re.findall(r"\w+", begin[1]), begin[2], []
        elif names and line:
            meaning.append(line.strip())


def described(function: Callable[..., object]) -> dict[str, Words]:
    """Give the type and the meaning of every column that a docstring describes.

    What is said of several columns together names them all.

    Of files, reads are described; there is the same of writes, but for what only reads meet.

    Examples
    --------
    >>> import tracefast as tf
    >>> words = described(tf.files)
    >>> words["read_rewinds"]
    Words(type='UInt32', meaning='Those of `read_backward` that go to 0.')
    >>> words["write_rewinds"].meaning
    'Of writes, what `read_rewinds` is of reads.'
    """
    words: dict[str, Words] = {}
    for names, kind, meaning in entries(function):
        of = f"{', '.join(f'`{name}`' for name in names)}: " if len(names) > 1 else ""
        words |= dict.fromkeys(names, Words(kind, of + meaning.replace("``", "`")))
    if function.__name__ == "files":
        for name, (kind, _) in list(words.items()):
            if name.startswith("read") and name != "read_eof":
                other = "write" + name.removeprefix("read")
                words[other] = Words(kind, f"Of writes, what `{name}` is of reads.")
    return words


def table(name: str) -> dict[str, Words]:
    """Give the type and the meaning of every column of a table.

    Parameters
    ----------
    name
        One of `TABLES`.

    Examples
    --------
    >>> table("blocks")["bytes"]
    Words(type='Int64', meaning='How much they were about.')
    """
    import tracefast

    return described(getattr(tracefast, TABLES[name]))
