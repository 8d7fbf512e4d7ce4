"""Draw which rooms of the code import which, and find cycles and crowded folders.

    python tools/rooms.py            # write docs/rooms/*.svg
    python tools/rooms.py --check    # fail where they are stale, rooms import in a circle,
                                     # or a folder has too many files

A room is a folder of the Rust core, of the io crate or of the Python package; a file beside the
rooms is a room of its own. Imports of tests do not count, nor does the file that names a crate's
rooms (`lib.rs`, `__init__.py`).
"""

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE, IO, BINDING = "rust/tracefast-core/src", "rust/tracefast-io/src", "rust/tracefast-py/src"
PACKAGE = "python/tracefast"
CRATES = {"tracefast_core": "core", "tracefast_io": "io"}
MOST_FILES = 16

Arrows = dict[tuple[str, str], int]


def files(under: str, suffix: str) -> list[Path]:
    """List the files of a folder that git knows, without tests."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", under],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found = [Path(name) for name in listed if name.endswith(suffix) and (ROOT / name).exists()]
    return [path for path in found if not is_test(path)]


def is_test(path: Path) -> bool:
    """Say whether a file holds only tests: `tests`, or a module that only tests compile."""
    if path.suffix == ".rs" and (parent := ROOT / path.parent / "mod.rs").exists():
        declared = rf"#\[cfg\(test\)\]\s*(pub(\(crate\))? )?mod {path.stem};"
        if re.search(declared, parent.read_text(encoding="utf-8")):
            return True
    return "tests" in path.parts or path.stem == "tests"


def rust_imports(path: Path) -> Iterator[tuple[str, str]]:
    """Give crate and first module of each path to another room in a Rust file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    text = re.split(r"^#\[cfg\(test\)\]\nmod tests \{", text, maxsplit=1, flags=re.MULTILINE)[0]
    text = re.sub(r"//[^\n]*", "", text)
    for crate, first, group in re.findall(
        r"\b(crate|tracefast_core|tracefast_io)::(?:(\w+)|\{([^;]*?)\};)", text
    ):
        for name in [first] if first else re.findall(r"(?:^|,)\s*(\w+)", group):
            yield crate, name


def rust_rooms() -> Arrows:
    """Count the imports between the rooms of the Rust crates."""
    arrows: Counter[tuple[str, str]] = Counter()
    for crate, source in (("core", CORE), ("io", IO)):
        paths = files(source, ".rs")
        rooms = {path.relative_to(source).parts[0].removesuffix(".rs") for path in paths} - {"lib"}
        for path in paths:
            here = path.relative_to(source).parts[0].removesuffix(".rs")
            for other, name in rust_imports(path):
                if other == "crate" and here != "lib" and name in rooms - {here}:
                    arrows[f"{crate} {here}", f"{crate} {name}"] += 1
                elif other != "crate":
                    arrows[f"{crate} {here}", f"{CRATES[other]} {name}"] += 1
    return dict(arrows)


def python_rooms() -> Arrows:
    """Count the imports between the rooms of the Python package."""
    arrows: Counter[tuple[str, str]] = Counter()

    def room(module: str) -> str | None:
        parts = module.split(".")
        if len(parts) < 2 or parts[0] != "tracefast":
            return None
        inner = parts[1] == "cli" and len(parts) > 2
        return f"python {'.'.join(parts[1:3]) if inner else parts[1]}"

    for path in files(PACKAGE, ".py"):
        module = ".".join(path.relative_to("python").with_suffix("").parts)
        here = room(module.removesuffix(".__init__"))
        if here is None:
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for there in filter(None, map(room, names)):
                if there not in {here, "python _core"} and is_room(there):
                    arrows[here, there] += 1
    return dict(arrows)


def is_room(name: str) -> bool:
    """Say whether a module is a file or a folder, not a name that the package exports."""
    place = ROOT / PACKAGE / name.removeprefix("python ").replace(".", "/")
    return place.is_dir() or place.with_suffix(".py").exists()


def circles(arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Find the groups of rooms that import each other in a cycle: each reaches the others."""
    out = defaultdict(set)
    for here, there in arrows:
        out[here].add(there)

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            new = out.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        return seen

    reached = {room: reach(room) for room in list(out)}
    found = {
        tuple(sorted(o for o in reached[room] if room in reached.get(o, ())))
        for room in out
        if room in reached[room]
    }
    return [list(group) for group in sorted(found)]


def floors(arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Order rooms so that each imports only from floors below its own; the lowest comes last."""
    below = defaultdict(set)
    for here, there in arrows:
        below[here].add(there)
        below[there] |= set()
    height: dict[str, int] = {}
    while len(height) < len(below):
        ready = [r for r in below if r not in height and below[r] <= height.keys()]
        if not ready:  # A cycle, which `main` reports: leave its rooms on one floor.
            ready = [r for r in below if r not in height]
        height |= {r: 1 + max((height.get(b, 0) for b in below[r]), default=0) for r in ready}
    levels = defaultdict(list)
    for room, level in height.items():
        levels[level].append(room)
    return [sorted(levels[level]) for level in sorted(levels, reverse=True)]


def crowded() -> list[str]:
    """List the folders of code that have too many files."""
    paths = [
        p
        for under in ("rust", "python", "tests", "tools", "benches")
        for suffix in (".rs", ".py")
        for p in files_with_tests(under, suffix)
    ]
    counts = Counter(path.parent.as_posix() for path in paths)
    return [f"{folder}: {n} files" for folder, n in sorted(counts.items()) if n > MOST_FILES]


def files_with_tests(under: str, suffix: str) -> list[Path]:
    """List the files of a folder that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", under], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return [Path(n) for n in listed if n.endswith(suffix) and not n.startswith("tests/data/")]


def drawing(title: str, levels: list[list[str]], arrows: Arrows) -> str:
    """Draw rooms floor by floor, with an arrow for each import that goes down."""
    wide, high, gap = 150, 26, 64
    width = max(len(level) for level in levels) * (wide + 14) + 20
    place = {
        room: (10 + (width - 20) * (i + 0.5) / len(level), 44 + gap * floor)
        for floor, level in enumerate(levels)
        for i, room in enumerate(level)
    }
    height = 44 + gap * len(levels)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
    parts = [
        head + 'font-family="sans-serif" font-size="12">',
        f'<rect width="{width:.0f}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="20" font-size="14" fill="#222">{title}</text>',
    ]
    for (here, there), count in sorted(arrows.items()):
        (x, y), (u, v) = place[here], place[there]
        thick = min(0.5 + count / 12, 3)
        parts.append(
            f'<path d="M{x:.0f},{y + high} C{x:.0f},{y + high + 24} {u:.0f},{v - 24} {u:.0f},{v}" '
            f'fill="none" stroke="#7a94b8" stroke-opacity="0.6" stroke-width="{thick:.1f}"/>'
        )
    for room, (x, y) in place.items():
        name = room.split(" ", 1)[1]
        parts.append(
            f'<rect x="{x - wide / 2:.0f}" y="{y}" width="{wide}" height="{high}" rx="4" '
            f'fill="#eef3fa" stroke="#4a6a94"/>'
            f'<text x="{x:.0f}" y="{y + 17}" text-anchor="middle" fill="#222">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def outputs() -> tuple[dict[Path, str], list[str]]:
    """Make the pictures, and say what is wrong."""
    rust, python = rust_rooms(), python_rooms()
    wrong = [
        f"rooms import each other: {', '.join(group)}" for group in circles(rust) + circles(python)
    ]
    wrong += [f"{folder}; at most {MOST_FILES}" for folder in crowded()]
    docs = ROOT / "docs"
    made = {}
    for crate in ("core", "io"):
        own = {
            (h, t): n for (h, t), n in rust.items() if h.startswith(crate) and t.startswith(crate)
        }
        made[docs / "rooms" / f"{crate}.svg"] = drawing(f"tracefast-{crate}", floors(own), own)
    made[docs / "rooms" / "python.svg"] = drawing("python/tracefast", floors(python), python)
    return made, wrong


def main(argv: list[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where stale")
    check = parser.parse_args(argv).check
    made, wrong = outputs()
    for path, text in made.items():
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(f"{path.relative_to(ROOT)} is stale: run make rooms")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
