"""Keep the lines of a kernel's lists that the hook points need. The README says how it was run."""

import argparse
import re
import subprocess
from pathlib import Path

from tracefast.analysis.hooks.points import read_points

POINTS = read_points()
SYSTEMS = {event.partition(":")[0] for events in POINTS.related.values() for event in events}
EVENTS = {event.partition(":")[2] for events in POINTS.related.values() for event in events}
PREFIXES = ("event_enter__", "event_exit__", "__x64_sys_")


def wanted(symbol: str) -> bool:
    if symbol.startswith("__traceiter_"):
        return symbol.removeprefix("__traceiter_") in EVENTS
    return symbol.startswith(PREFIXES) or symbol.partition(".")[0] in POINTS.known


def kept_symbols(file: Path) -> list[str]:
    """Keep types and names; addresses differ at each start of a kernel."""
    rows = (line.split()[-2:] for line in file.read_text().splitlines() if "[" not in line)
    return sorted({f"0000000000000000 {kind} {name}" for kind, name in rows if wanted(name)})


def kept_events(file: Path) -> list[str]:
    names = file.read_text().splitlines()
    return [name for name in names if name.partition(":")[0] in {"syscalls", *SYSTEMS}]


def published_functions(repository: Path, kernel: str) -> list[str]:
    """Keep the names that github.com/DepSurf/function has among the symbols of a Ubuntu kernel."""
    found = []
    for name in sorted(POINTS.known):
        page = ["git", "-C", str(repository), "show", f"HEAD:{name.strip('_')[0]}/{name}.md"]
        text = subprocess.run(page, capture_output=True, text=True, check=False).stdout
        of_kernel = text.partition(f"<summary>In <code>{kernel}</code>")[2]
        symbols = of_kernel.partition("</details>")[0].partition("**Symbols:**")[2]
        if re.search(rf"-[0-9a-f]+: {name} \(", symbols):
            found.append(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--symbols", type=Path, help="/proc/kallsyms, or what nm prints")
    parser.add_argument("--events", type=Path, help="available_events of tracefs")
    parser.add_argument("--depsurf", type=Path, help="a clone of github.com/DepSurf/function")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    if given.depsurf is not None:
        names = published_functions(given.depsurf, given.folder.name.removeprefix("linux-"))
        lines = "".join(f"{name}\n" for name in names)
        (given.folder / "available_filter_functions").write_text(lines)
    for file, keep, name in (
        (given.symbols, kept_symbols, "kallsyms"),
        (given.events, kept_events, "available_events"),
    ):
        if file is not None:
            (given.folder / name).write_text("".join(f"{line}\n" for line in keep(file)))


if __name__ == "__main__":
    main()
