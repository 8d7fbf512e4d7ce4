"""What data came from and went to, by number: a large log has few of these, and many edges."""

from collections.abc import Collection
from typing import Final, NamedTuple

import polars as pl

# Files that are no data of the run.
CODE: Final = ("program", "library", "module", "configuration")
PROCESSES: Final = ("process", "phase")
# What is read and written at a terminal is worth a node, what goes to other devices is not.
_TERMINALS: Final = ("/dev/pts/", "/dev/tty", "/dev/console")
# Edges between two names of a file.
_NAMING: Final = ("rename", "link")
_KINDS: Final = (*PROCESSES, "file", "shm", "pipe", "socket", "host")
# Of the numbers of logs, kinds and names, which are one number together; the last one is null.
_RANGES: Final = (1 << 24, 1 << 8, 1 << 32)


class End(NamedTuple):
    """What data came from or went to: its log, what it is, its name, its role if it is a file."""

    log: str | None
    kind: str | None
    name: str | None
    role: str | None

    @property
    def is_file(self) -> bool:
        """Whether it has a path."""
        return self.kind == "file" or (self.kind == "shm" and "/" in (self.name or ""))


class Flows(NamedTuple):
    """The ends; the edges that are worth a line; how many files of each hidden role there are.

    The columns of `edges` are `source` and `target`, indices of `ends`, and `bytes` and `how`.
    """

    ends: list[End]
    edges: pl.DataFrame
    hidden: dict[str, int]


def flows_of(edges: pl.DataFrame, roles: pl.DataFrame, hidden: Collection[str]) -> Flows:
    """Give numbers to the ends of edges, and leave out what is not worth a line.

    Parameters
    ----------
    edges
        `tracefast.flow`.
    roles
        `tracefast.roles`.
    hidden
        Roles of files that are left out.
    """
    ends, numbers = _numbered(edges)
    ends = _with_role(ends, roles)
    counts = ends.filter(pl.col("role").is_in(hidden)).group_by("role").len()
    # Most edges lead to libraries: what polars leaves out costs no Python objects.
    rows = edges.select(*numbers, pl.col("bytes").fill_null(0), "how")
    naming = pl.col("how").is_in(_NAMING)
    code = pl.col("role").is_in(hidden).fill_null(value=False)
    shown, named = (
        ends.select(~code & _is_shown(names=names)).to_series() for names in (False, True)
    )
    rows = rows.filter((naming & _both(named)) | _both(shown))
    # A name that a file only had for a while is no node.
    data = rows.filter(~naming)
    drawn_ends = pl.concat([data["source"], data["target"]])
    used = pl.Series(range(ends.height)).is_in(drawn_ends.implode())
    rows = rows.filter(~naming | _both(used))
    number = used.cast(pl.UInt32).cum_sum() - 1
    rows = rows.with_columns(
        pl.lit(number).gather(pl.col(end)).alias(end) for end in ("source", "target")
    )
    found = [End(*row) for row in ends.filter(used).iter_rows()]
    return Flows(found, rows, dict(counts.iter_rows()))


def _numbered(edges: pl.DataFrame) -> tuple[pl.DataFrame, list[pl.Series]]:
    """Give all ends, and the numbers of those of each edge."""
    both = pl.concat(
        [edges.select("source", kind=f"{end}_kind", name=end) for end in ("src", "dst")]
    )
    # One number for all three: polars joins numbers in a fraction of the time of texts.
    sources = pl.Enum(edges["source"].unique().drop_nulls())
    words = pl.col("source").cast(sources), pl.col("kind").cast(pl.Enum(_KINDS))
    number = pl.lit(0, pl.UInt64)
    for word, most in zip((*words, pl.col("name").cast(pl.Categorical)), _RANGES, strict=True):
        number = number * most + word.to_physical().cast(pl.UInt64).fill_null(most - 1)
    keys = both.select(key=number).with_row_index("first")
    known = keys.unique("key", keep="first", maintain_order=True).with_row_index("end")
    numbers = keys.join(known, on="key", how="left", maintain_order="left")["end"]
    ends = both[known["first"]]
    return ends, [
        numbers[: edges.height].alias("source"),
        numbers[edges.height :].alias("target"),
    ]


def _with_role(ends: pl.DataFrame, roles: pl.DataFrame) -> pl.DataFrame:
    """Add the roles of the ends that are files."""
    files = roles.select("source", kind=pl.lit("file"), name="path", role="role")
    files = files.unique(["source", "name"], keep="last")
    on = ["source", "kind", "name"]
    return ends.join(files, on=on, how="left", nulls_equal=True, maintain_order="left")


def _is_shown(*, names: bool) -> pl.Expr:
    """Say whether an end is worth a node, or a name that a file had."""
    is_file = pl.col("kind").eq_missing(pl.lit("file"))
    terminal = pl.any_horizontal(pl.col("name").str.starts_with(start) for start in _TERMINALS)
    return (
        pl.when(is_file & pl.col("name").str.starts_with("/dev/"))
        .then(terminal)
        .otherwise(~is_file | pl.col("role").is_not_null() | names)
    )


def _both(ends: pl.Series) -> pl.Expr:
    """Say whether something is true of both ends of an edge."""
    return pl.all_horizontal(pl.lit(ends).gather(pl.col(end)) for end in ("source", "target"))
