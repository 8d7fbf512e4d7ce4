"""How files are looked up: open-close-churn, failed-opens, repeated-stats, directory-scans."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from tracefast import _core
from tracefast.analysis.insights.files.data import calls_on, of_files, path_of, total
from tracefast.analysis.insights.finding import Calls, Finding, Rule, Threshold
from tracefast.analysis.insights.log import CLOSES, LISTS, LOOKS, OPENS, READS, WRITES, Log
from tracefast.analysis.insights.tables import Tables
from tracefast.quantities import percent, plural

REOPENED: Final = Threshold("opens of a file, for each process", 20, "", "a loop, not a start")
MISSED: Final = Threshold(
    "opens that failed", 50, "", "the linker and an interpreter fail at about as many"
)
MISSED_SHARE: Final = Threshold("share of the opens", 0.3, "share", "most searches find something")
LOOKED_AT: Final = Threshold(
    "looks at one path, for each process", 50, "", "a loop that waits or checks before each use"
)
LISTED: Final = Threshold("opens of a folder, for each process", 10, "", "its content is known")
METADATA: Final = Threshold("calls on names and descriptors", 1000, "", "fewer are a start")
METADATA_SHARE: Final = Threshold(
    "share of the time in them", 0.2, "share", "a run that does something else has less"
)
BY_DATA: Final = Threshold(
    "their time by that of reads and writes", 3, "", "below, they come with the data"
)
_CHANGES: Final = (
    *("unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir"),
    *("chmod", "fchmodat", "chown", "fchownat", "utimensat", "link", "linkat", "symlink"),
)
_METADATA: Final = OPENS | LOOKS | LISTS | CLOSES | set(_CHANGES)
_ERRORS: Final = ("ENOENT", "ENOTDIR", "EACCES")


def _reopened(tables: Tables) -> pl.DataFrame:
    return tables.data_files.filter(
        pl.col("opens") >= REOPENED.value * pl.col("processes").clip(1)
    ).sort("opens", descending=True, nulls_last=True, maintain_order=True)


def open_close_churn(log: Log) -> Iterator[Finding]:
    """Find files that a process opens and closes again and again."""
    files = log.chosen(_reopened)
    if files.is_empty():
        return
    opens = total(files, "opens")
    _, _, time = log.spent(OPENS | CLOSES | LOOKS, files["file"])
    weight = log.weight(time)
    if weight is None:
        return
    first = files.row(0, named=True)
    yield Finding(
        weight=weight,
        evidence=f"{of_files(files)} {'was' if files.height == 1 else 'were'} opened {opens:,}"
        f" times, {first['path']} alone {first['opens']:,} times by"
        f" {plural(first['processes'], 'process', 'processes')}; opening, looking and closing took"
        f" {time}",
        numbers={"files": files.height, "opens": opens},
        object=path_of(files),
        calls=calls_on(files, OPENS),
        saving=time,
        advice=OPEN_CLOSE_CHURN.advice,
    )


OPEN_CLOSE_CHURN: Final = Rule(
    code="open-close-churn",
    title="The same files are opened and closed again and again.",
    looks_for="Files of data that one process opens twenty times or more.",
    advice="Open it once and keep the descriptor; read with pread where several threads use it.",
    find=open_close_churn,
    thresholds=(REOPENED,),
    tables=frozenset({"files", "roles"}),
)


def _missed(tables: Tables) -> pl.DataFrame:
    return tables.files.filter(pl.col("opens_failed") > 0, pl.col("path").is_not_null()).sort(
        "opens_failed", "path", descending=[True, False]
    )


def failed_opens(log: Log) -> Iterator[Finding]:
    """Find names that are looked for in one folder after another."""
    missed = log.chosen(_missed)
    failed = total(missed, "opens_failed")
    if failed < MISSED.value:
        return
    opens = log.calls.filter(pl.col("name").is_in(sorted(OPENS)))
    calls = int(opens["calls"].sum())
    if failed < MISSED_SHARE.value * calls:
        return
    time = log.time(int(opens["error_ns"].sum()), int(opens["errors"].sum()), OPENS)
    weight = log.weight(time)
    if weight is None:
        return
    parts = pl.col("path").str.extract_groups(r"^(.*/)?([^/]*)$")
    names = (
        missed.select(
            "path",
            "opens_failed",
            parts.struct.field("1").alias("folder"),
            parts.struct.field("2").alias("name"),
        )
        .group_by("name")
        .agg(
            pl.col("opens_failed").sum(),
            pl.col("folder").n_unique().alias("folders"),
            pl.col("path").sort_by("opens_failed", descending=True).first(),
        )
        .sort("opens_failed", "name", descending=[True, False])
    )
    first = names.row(0, named=True)
    search = _search(log, failed)
    # Nothing shows that these are a search: who goes through a tree asks in each folder, too.
    of_name = (
        f"{first['name']} alone {first['opens_failed']:,} times, in"
        f" {plural(first['folders'], 'folder')}"
    )
    yield Finding(
        weight=weight,
        title="Many opens fail." if search is None else None,
        evidence=f"{failed:,} of {plural(calls, 'open')} failed ({percent(failed / calls)}), which"
        f" took {time}; {of_name if search is None else search.words}",
        numbers={
            "opens": calls,
            "failed": failed,
            "names": names.height,
            **({} if search is None else search.numbers),
        },
        object=first["path"],
        calls=Calls(names=OPENS, paths=missed["path"].to_list(), errno=_ERRORS),
        saving=time,
        advice=_NO_SEARCH if search is None else _SHORTER.get(search.kind, _START_LESS),
    )


class _Search(NamedTuple):
    kind: str
    words: str
    numbers: dict[str, float]


def _search(log: Log, failed: int) -> _Search | None:
    """Give the search that most of the failed opens are a part of, if there is one."""
    found = (
        log.errors.filter(
            pl.col("name").is_in(sorted(OPENS)), pl.col("search").is_in(list(_SHORTER))
        )
        .group_by("search", maintain_order=True)
        .agg(
            pl.col("count").sum().cast(pl.Int64),
            pl.col("wanted", "folders").explode().drop_nulls().unique(maintain_order=True),
        )
        .sort("count", descending=True, maintain_order=True)
    )
    if found.is_empty():
        return None
    kind, count, wanted, folders = found.row(0)
    if 2 * count <= failed:
        return None
    where = f", such as {folders[0]}" if folders else ""
    # What Python reads as it starts is no module.
    sought = _SOUGHT[kind] if wanted else "files of Python itself"
    names = f", {plural(len(wanted), 'name')}" if wanted else ""
    return _Search(
        kind if wanted else "",
        f"{count:,} of them looked for {sought} ({kind}){names} in"
        f" {plural(len(folders), 'folder')}{where}",
        {"searched": count, "wanted": len(wanted), "folders": len(folders)},
    )


_NO_SEARCH: Final = (
    "Remember what is not there, and open only what may be: a listing of a folder answers for all"
    " its names. If it is a search path, shorten it, what holds most first."
)
_START_LESS: Final = "Start Python less often: each start looks for these files."
# What each search of `tracefast.errors` looks for, and how to shorten it.
_SOUGHT: Final = {
    "PATH": "commands",
    "ld.so": "libraries",
    "import": "Python modules",
    "include": "headers",
    "locale": "translations and character sets",
    "prefixes": "one thing in each folder of a path",
}
_SHORTER: Final = {
    "PATH": "Give the whole path of the command, or put its folder first in PATH.",
    "ld.so": "Shorten LD_LIBRARY_PATH and the run paths: no folders that are empty or hold none of"
    " these libraries, those that hold most first.",
    "import": "Shorten PYTHONPATH and sys.path, the folders that hold most modules first; import"
    " less, or put the modules into a zip.",
    "include": "Pass fewer folders to the compiler (-I, -isystem), those that hold most headers"
    " first; precompiled headers need no search.",
    "locale": "Set LC_ALL=C for programs that need no translations, or install the locale that they"
    " ask for (LANG, LC_ALL).",
    "prefixes": "Start the program further down, or tell it where the file is; remember the"
    " answer.",
}


FAILED_OPENS: Final = Rule(
    code="failed-opens",
    title="Files are looked for where they are not.",
    looks_for="Opens that fail, many and a good part of all: search paths of libraries, modules,"
    " headers, locales. It names the search that most of them are a part of, as tracefast errors"
    " does.",
    advice="Shorten the search path, what holds most first: LD_LIBRARY_PATH and run paths,"
    " PYTHONPATH and sys.path, -I of compilers; LC_ALL=C needs no locales; remember what was"
    " not found.",
    find=failed_opens,
    thresholds=(MISSED, MISSED_SHARE),
    tables=frozenset({"files", "roles"}),
)


def _looked_at(tables: Tables) -> pl.DataFrame:
    return tables.files.filter(
        pl.col("stats") >= LOOKED_AT.value * pl.col("processes").clip(1),
        pl.col("type").is_null() | pl.col("type").is_in(["regular", "directory", "unknown"]),
        # fstat of what is opened again and again is a part of `open_close_churn`.
        pl.col("stats") > 2 * pl.col("opens"),
        pl.col("path").is_not_null(),
    ).sort("stats", descending=True, nulls_last=True, maintain_order=True)


def repeated_stats(log: Log) -> Iterator[Finding]:
    """Find paths that a process looks at again and again."""
    paths = log.chosen(_looked_at)
    if paths.is_empty():
        return
    looks = total(paths, "stats")
    rows = log.syscalls.filter(pl.col("name").is_in(sorted(LOOKS)))
    per_call = int(rows["total_ns"].sum()) / max(int(rows["calls"].sum()), 1)
    time = log.time(int(per_call * looks), looks, LOOKS)
    weight = log.weight(time)
    if weight is None:
        return
    first = paths.row(0, named=True)
    yield Finding(
        weight=weight,
        evidence=f"{looks:,} looks at {plural(paths.height, 'path')} took {time};"
        f" {first['path']} alone {first['stats']:,} times",
        numbers={"paths": paths.height, "looks": looks},
        object=first["path"],
        calls=Calls(names=LOOKS, paths=paths["path"].to_list()),
        saving=time,
        advice=REPEATED_STATS.advice,
    )


REPEATED_STATS: Final = Rule(
    code="repeated-stats",
    title="The same paths are looked at again and again.",
    looks_for="Paths that a process looks at fifty times or more by stat, access, readlink and the"
    " like. In a loop that waits for a file, inotify says when it is there; Python looks at each"
    " folder of sys.path for each import.",
    advice="Remember the answer; wait with inotify; open and handle the error instead of asking"
    " first; for Python, fewer entries in sys.path, or a zip.",
    find=repeated_stats,
    thresholds=(LOOKED_AT,),
    tables=frozenset({"files", "roles"}),
)


def _listed(tables: Tables) -> pl.DataFrame:
    folders = tables.files.filter(
        pl.col("type") == "directory",
        pl.col("opens") >= LISTED.value * pl.col("processes").clip(1),
    )
    lists = (
        tables.calls.filter(pl.col("name").is_in(sorted(LISTS)))
        .group_by("source", "file")
        .agg(pl.col("calls").sum().alias("lists"))
    )
    return (
        folders.join(lists, on=["source", "file"], maintain_order="left")
        .filter(pl.col("lists") >= pl.col("opens"))
        .sort("lists", descending=True, nulls_last=True, maintain_order=True)
    )


def directory_scans(log: Log) -> Iterator[Finding]:
    """Find folders that a process lists again and again."""
    folders = log.chosen(_listed)
    if folders.is_empty():
        return
    calls, _, time = log.spent(LISTS | OPENS | CLOSES, folders["file"])
    weight = log.weight(time)
    if weight is None:
        return
    first = folders.row(0, named=True)
    yield Finding(
        weight=weight,
        evidence=f"{plural(folders.height, 'folder')} listed {total(folders, 'opens'):,} times, in"
        f" {plural(calls, 'call')} and {time}; {first['path']} alone {first['opens']:,} times",
        numbers={"folders": folders.height, "scans": total(folders, "opens"), "calls": calls},
        object=path_of(folders),
        calls=calls_on(folders, LISTS),
        saving=time,
        advice=DIRECTORY_SCANS.advice,
    )


DIRECTORY_SCANS: Final = Rule(
    code="directory-scans",
    title="The same folders are listed again and again.",
    looks_for="Folders that one process opens and lists ten times or more.",
    advice="List it once and keep the names; inotify says what changes; to look for one name, open"
    " or stat it.",
    find=directory_scans,
    thresholds=(LISTED,),
    tables=frozenset({"files", "roles"}),
)


def _on_names(tables: Tables) -> pl.DataFrame:
    return (
        tables.table("syscalls")
        .filter(pl.col("name").is_in(sorted(_METADATA)))
        .filter(pl.col("calls").sum().over("source") >= METADATA.value)
        .sort("total_ns", descending=True, nulls_last=True, maintain_order=True)
    )


def metadata_bound(log: Log) -> Iterator[Finding]:
    """Find programs that spend their time on names and descriptors instead of data."""
    rows = log.chosen(_on_names)
    if rows.is_empty():
        return
    calls, total_ns = int(rows["calls"].sum()), int(rows["total_ns"].sum())
    time = log.time(total_ns, calls, _METADATA)
    data_names = READS | WRITES | set(_core.syscalls_that("transfers"))
    data = log.syscalls.filter(pl.col("name").is_in(sorted(data_names)))
    data_ns = int(data["total_ns"].sum()) - int(data["wait_ns"].fill_null(0).sum())
    if time.high < METADATA_SHARE.value * log.wall_ns or total_ns < BY_DATA.value * data_ns:
        return
    weight = log.weight(time)
    if weight is None:
        return
    worst = rows.row(0, named=True)
    yield Finding(
        weight=weight,
        evidence=f"{plural(calls, 'call')} on names and descriptors took {time}"
        f" ({percent(time.high / log.wall_ns)} of the log's time at most), reads and writes"
        f" {log.time(data_ns, 0, data_names)}; most of it {worst['calls']:,} calls of"
        f" {worst['name']}",
        numbers={"calls": calls, "total_ns": total_ns, "data_ns": data_ns},
        object=worst["name"],
        calls=Calls(names=[worst["name"]]),
        advice=METADATA_BOUND.advice,
    )


METADATA_BOUND: Final = Rule(
    code="metadata-bound",
    title="The time goes into names and descriptors, not into data.",
    looks_for="Runs whose calls of open, stat, close, getdents, unlink and the like take far more"
    " time than their reads and writes: many small files. On network file systems each of them is a"
    " question to the server. Under strace most of that time may be strace's own.",
    advice="Pack small files into larger ones (tar, WebDataset, HDF5, a database); keep what was"
    " looked up; copy the data to a local disk.",
    find=metadata_bound,
    thresholds=(METADATA, METADATA_SHARE, BY_DATA),
)
