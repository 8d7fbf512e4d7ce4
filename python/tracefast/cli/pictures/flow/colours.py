"""The colours of what files were for."""

from typing import Final

# Fill and frame, readable in print and for people who do not see all colours.
ROLES: Final[dict[str, tuple[str, str]]] = {
    "input": ("#dbeafe", "#2563eb"),
    "intermediate": ("#fef3c7", "#b45309"),
    "result": ("#dcfce7", "#15803d"),
    "log": ("#ccfbf1", "#0f766e"),
    "scratch": ("#f3f4f6", "#6b7280"),
    "program": ("#f3e8ff", "#7e22ce"),
    "library": ("#fae8ff", "#a21caf"),
    "module": ("#ffe4e6", "#be123c"),
    "configuration": ("#ffedd5", "#c2410c"),
}
KINDS: Final[dict[str, tuple[str, str]]] = {
    "process": ("#ffffff", "#111827"),
    "phase": ("#ffffff", "#111827"),
    "host": ("#e0e7ff", "#4338ca"),
    "socket": ("#e0e7ff", "#4338ca"),
    "shm": ("#fef9c3", "#a16207"),
    "pipe": ("#f9fafb", "#6b7280"),
}
OTHER: Final = ("#f9fafb", "#6b7280")


def colours(kind: str, role: str | None) -> tuple[str, str]:
    """Give the colours of a node: those of its role, or else of its kind."""
    return ROLES.get(role or "", KINDS.get(kind, OTHER))


def legend(kind: str, role: str | None) -> str:
    """Say what the colour of a node means."""
    words = {"shm": "shared memory", "file": "terminal, other file"}
    return role or words.get(kind, kind)
