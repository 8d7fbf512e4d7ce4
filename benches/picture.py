"""Draw the comparison of a recorded result: ``picture.py [RESULT.json]``.

It writes ``docs/comparison.svg``: bars of the time that each way takes, in the table's order, on
an axis from zero. Without a name it takes the newest result that has a comparison.
"""

from __future__ import annotations

import json
import math
import sys
from html import escape
from pathlib import Path

import comparison
import make_log
from cases import Case, middle

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "docs" / "comparison.svg"

WIDTH, LEFT, RIGHT = 760, 250, 100
ROW, TOP, BOTTOM = 30, 64, 46

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.small { font-size: 11px; fill: #59636e }
.own { fill: #0969da }
.other { fill: #9198a1 }
.grid { stroke: #d1d9e0 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .own { fill: #4493f8 }
  .other { fill: #656c76 }
  .grid { stroke: #3d444d }
}
"""

HEADS = {
    "parquet": "every line into columns of Parquet",
    "syscalls": "calls, errors and time by name",
}
"""The name of each job, by its first case."""


def load(result: Path) -> tuple[dict, list[Case]]:
    """Return a recorded result, and the cases that are compared in it."""
    content = json.loads(result.read_text(encoding="utf-8"))
    cases = []
    for values in content["cases"]:
        if values.get("compared"):
            known = {name: value for name, value in values.items() if name != "bytes"}
            cases.append(Case(**{**known, "log": Path(values["log"])}))
    return content, cases


def step(most: float) -> float:
    """Return the distance of the lines of an axis up to `most`: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(most))
    return next(power * part for part in (0.1, 0.2, 0.5, 1) if most <= 8 * power * part)


def draw(content: dict, cases: list[Case]) -> str:
    """Return the picture."""
    seconds = {case.tool: middle(comparison.times(case)) for case in cases}
    counted = middle([took for case in cases for took in case.counted])
    width = WIDTH - LEFT - RIGHT
    scale = width / max(seconds.values())
    body = [
        bar("other", TOP, counted * scale),
        text(LEFT - 8, TOP + 13, "wc -l, 1 thread", "", "end"),
        text(LEFT + counted * scale + 6, TOP + 13, show_seconds(counted), ""),
    ]
    y = TOP + ROW
    for case in cases:
        if case.tool in HEADS:
            body.append(text(LEFT, y + 14, HEADS[case.tool], "small"))
            y += 24
        kind = "own" if case.label.startswith("tracefast") else "other"
        length = seconds[case.tool] * scale
        threads = f"{case.threads} threads" if case.threads > 1 else "1 thread"
        body += [
            bar(kind, y, length),
            text(LEFT - 8, y + 13, f"{case.label}, {threads}", "", "end"),
            text(LEFT + length + 6, y + 13, show_seconds(seconds[case.tool]), ""),
        ]
        y += ROW
    grid = []
    apart = step(max(seconds.values()))
    for number in range(math.floor(max(seconds.values()) / apart) + 1):
        at = LEFT + number * apart * scale
        grid += [
            f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 6}" y2="{y}"/>',
            text(at, y + 16, f"{number * apart:g}{' s' if number else ''}", "small", "middle"),
        ]
    versions = content["versions"]
    used = ", ".join(dict.fromkeys(versions[case.tool] for case in cases))
    facts = f"{content['machine']['processor']}, {content['machine']['date']}: {used}"
    height = y + BOTTOM
    log = make_log.show_size(next(one["bytes"] for one in content["cases"] if one.get("compared")))
    about = f"Time that several ways take to read one log of strace, {log}"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{about}">',
        f"<style>{STYLE}</style>",
        text(16, 26, f"{about} (shorter is faster)", "title"),
        *grid,
        *body,
        text(16, height - 10, facts, "small"),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def show_seconds(seconds: float) -> str:
    """Return a time with three digits."""
    return f"{seconds:.3g} s"


def bar(kind: str, y: int, width: float) -> str:
    """Return a bar that starts at the left."""
    return f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="18" rx="2"/>'


def text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    """Return a piece of text."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def write(result: Path, target: Path = TARGET) -> Path:
    """Draw a recorded result."""
    target.write_text(draw(*load(result)), encoding="utf-8")
    return target


def main() -> int:
    """Draw the named result, or the newest one."""
    results = [Path(name) for name in sys.argv[1:]] or sorted((HERE / "results").glob("*.json"))
    for result in reversed(results):
        if load(result)[1]:
            print(write(result))
            return 0
    print("no result has a comparison: make bench BENCH='--record' makes one", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
