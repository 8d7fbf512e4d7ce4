"""Programs that take long to load their libraries."""

from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.quantities import percent, plural

SLOW_NS: Final = 10_000_000
# What happens once cannot be done less often, and is hardly worth a change.
LEAST_SLOW: Final = 2
MANY_MISSES: Final = 10
LEAST: Final = 10
SLOW_SHARE: Final = 0.05
SEARCH_SHARE: Final = 0.02


def slow_linking(case: Case) -> Advice | None:
    """Find programs whose dynamic linking is slow, or looks for many libraries in vain."""
    linked = case.column("startup_ns").count()
    if not linked:
        return None
    linking = case.linking
    misses = case.median("startup_misses") or 0
    wall = case.number("wall_ns")
    searches = linked >= LEAST and misses >= MANY_MISSES and linking.high >= SEARCH_SHARE * wall
    slow = linked >= LEAST_SLOW and linking.low >= max(SLOW_NS * linked, SLOW_SHARE * wall)
    if not slow and not searches:
        return None
    name = (case.text("image") or "The program").rpartition("/")[2]
    libraries = case.median("startup_libraries") or 0
    calls = case.median("startup_calls") or 0
    remedy = (
        "Shorten the search: a run path (RPATH, LD_LIBRARY_PATH) that has few folders, and no"
        " folders that are empty or far away."
        if searches
        else "Link it statically or to fewer libraries, and prelink or cache what is on slow disks."
    )
    return Advice(
        "slow-linking",
        f"{name} spends a long time finding and loading its libraries before it runs.",
        f"{plural(linked, 'start')}: {linking.per(linked)} each,"
        f" {linking} in total ({percent(linking.high / wall if wall else 0)} of the log's time at"
        f" most); median of {plural(calls, 'call')}, {plural(libraries, 'library', 'libraries')}"
        f" mapped, {plural(misses, 'file')} looked for but not found",
        remedy + " Or start it less often.",
        touched=linking,
        numbers={"starts": linked, "libraries": libraries, "misses": misses},
    )
