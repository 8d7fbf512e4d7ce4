"""The scenarios: what is run, and which kind of loss it is about."""

from __future__ import annotations

from dataclasses import dataclass

# What a scenario is about, where it is not an ordinary program.
POINTS = {
    1: "calls that a filter hides",
    2: "order of what tasks share",
    3: "names of one file",
    4: "pid namespaces",
    5: "io_uring",
    6: "unusual calls",
    7: "what is older than the log",
    8: "known after all",
}
ORDINARY = 0


@dataclass(frozen=True)
class Scenario:
    """A program, and how to run it."""

    name: str
    point: int
    group: str  # File of `programs/`, or `commands`.
    command: str | None = None
    setup: str = ""
    words: bool = False  # The data say where they are.
    recorders: tuple[str, ...] = ()  # Others than these make no sense.


def group(
    name: str, point: int, *scenarios: str, words: bool = False, recorders: tuple[str, ...] = ()
) -> list[Scenario]:
    return [
        Scenario(one, point, name, words=words, recorders=recorders) for one in scenarios
    ]


def command(name: str, text: str, setup: str = "") -> Scenario:
    return Scenario(name, ORDINARY, "commands", text, setup)


SCENARIOS = [
    *group(
        "sharing",
        2,
        "forked-readers",
        "forked-readers-of-several-sizes",
        "reading-threads",
        "seeking-threads",
        "writing-threads",
        "appenders",
        "shared-appender",
        words=True,
    ),
    *group("sharing", 2, "truncated-while-appending", "append-flag"),
    *group(
        "sharing", ORDINARY, "in-turn", "own-descriptions", "reused-numbers", "blocked-reader",
        words=True,
    ),
    *group("sharing", ORDINARY, "inherited-by-programs"),
    *group(
        "names",
        3,
        "dot",
        "slashes",
        "dots",
        "absolute",
        "link-symbolic",
        "link-to-folder",
        "link-older",
        "link-hard",
        "link-hard-older",
        "own-folder",
        "folder-of-process",
        "root-of-process",
        "changed-folder",
        "folder-by-descriptor",
        "opened-again",
        "renamed",
        "renamed-folder",
        "removed",
        "exchanged",
        "bind-mount",
        "new-root",
        "unnamed",
    ),
    *group("names", ORDINARY, "case", "same-name"),
]
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
