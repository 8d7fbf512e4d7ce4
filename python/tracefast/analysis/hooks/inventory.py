"""What a kernel has to hook into: its tracepoints and functions, as far as somebody listed them."""

import os
import platform
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tracefast.error_hints import error_with_hint

# Where tracefs is mounted by default: Documentation/trace/ftrace.rst of the kernel.
_TRACEFS: Final = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
_LISTS: Final = ("available_events", "available_filter_functions", "kallsyms")
# The file of a kernel's own types, whose presence means that fentry and fexit may be used.
_BTF: Final = "vmlinux"
# Prefixes of the functions at which system calls arrive (SYSCALL_DEFINEn of each architecture).
_WRAPPERS: Final = {
    "x86_64": "__x64_sys_",
    "aarch64": "__arm64_sys_",
    "riscv64": "__riscv_sys_",
    "s390x": "__s390x_sys_",
}
# Before 4.17 the function of every architecture: commit d5a00528b58c.
_OLD_WRAPPER: Final = "SyS_"
_FIRST_WORD: Final = re.compile(r"^(\S+)", re.MULTILINE)
_SYMBOL: Final = re.compile(r"^\S+[ \t]+\S[ \t]+(\S+)", re.MULTILINE)
# A compiler that made another function of one leaves this in its name.
_MADE_OF: Final = re.compile(r"(\w+)\.(?:isra|constprop|part)\.[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a kernel has; None for what nobody listed.

    Attributes
    ----------
    events
        Names of tracepoints, with their subsystem.
    traceable
        Functions to which a probe can be attached.
    symbols
        All symbols of the kernel.
    variants
        Functions that a compiler made of others, such as ``do_readlinkat.part.0``, by the name of
        the other one.
    kprobes, btf
        Whether it has kprobes; whether it has its own types, which fentry and fexit need.
    wrapper
        What the names of the functions start with at which system calls arrive.
    """

    events: frozenset[str] | None = None
    traceable: frozenset[str] | None = None
    symbols: frozenset[str] | None = None
    variants: Mapping[str, str] = field(default_factory=dict)
    kprobes: bool | None = None
    btf: bool | None = None
    wrapper: str | None = None

    def has_event(self, event: str) -> bool | None:
        """Say whether it has a tracepoint; None if its lists do not say.

        Examples
        --------
        >>> inventory = Inventory(events=frozenset({"syscalls:sys_enter_read"}))
        >>> inventory.has_event("syscalls:sys_enter_read"), inventory.has_event("sched:x")
        (True, False)
        >>> Inventory(symbols=frozenset({"vfs_read"})).has_event("syscalls:sys_enter_read")
        """
        if self.events is not None:
            return event in self.events
        if self.symbols is None:
            return None
        system, _, name = event.partition(":")
        if system == "syscalls":
            # SYSCALL_METADATA makes event_enter__NAME, in include/linux/syscalls.h. Only kernels
            # with CONFIG_KALLSYMS_ALL list it, and those list all of them.
            symbol = f"event_{name.removeprefix('sys_').replace('_', '__', 1)}"
            known = "event_enter__openat" in self.symbols
            return symbol in self.symbols if known else None
        # Modules bring more, so only what is there is sure. From 5.10: include/linux/tracepoint.h.
        return True if f"__traceiter_{name}" in self.symbols else None

    def has_function(self, name: str) -> bool | None:
        """Say whether a probe can be attached to a function; None if its lists do not say.

        Examples
        --------
        >>> Inventory(symbols=frozenset({"do_exit.cold", "vfs_read"})).has_function("do_exit")
        False
        """
        if self.traceable is not None:
            return name in self.traceable
        return None if self.symbols is None else name in self.symbols


def read_inventory(folder: str | os.PathLike[str]) -> Inventory:
    """Read the lists of a kernel from a folder: any of them.

    Parameters
    ----------
    folder
        Has ``available_events``, ``available_filter_functions`` (both from tracefs) or
        ``kallsyms`` (from ``/proc``), and may have ``vmlinux`` (from ``/sys/kernel/btf``).

    Raises
    ------
    OSError
        The folder or a list cannot be read.
    Error
        It has none of the lists.
    """
    path = Path(folder)
    names = {each.name for each in path.iterdir()}
    if not names & set(_LISTS):
        raise error_with_hint(
            f"{path}: none of the lists of a kernel is in it",
            "copy available_events and available_filter_functions from /sys/kernel/tracing there,"
            " or kallsyms from /proc",
        )
    events, functions, symbols = (path / name if name in names else None for name in _LISTS)
    return _inventory(events, functions, symbols, btf=True if _BTF in names else None)


def this_machine() -> Inventory:
    """Read the lists of the kernel that runs here, as far as this user may."""
    for tracefs in _tracefs():
        # Somebody may unmount one meanwhile.
        with suppress(FileNotFoundError):
            found = _of_machine(tracefs)
            if found.events is not None:
                return found
    return _of_machine(None)


def _of_machine(tracefs: Path | None) -> Inventory:
    events, functions = (None if tracefs is None else tracefs / name for name in _LISTS[:2])
    events, functions = _readable(events), _readable(functions)
    # It is long, and the two others say all that it does.
    symbols = None if events and functions else _readable(Path("/proc/kallsyms"))
    here = _inventory(events, functions, symbols)
    return replace(
        here,
        # The file is there if CONFIG_KPROBE_EVENTS is on: Documentation/trace/kprobetrace.rst.
        kprobes=None if tracefs is None else (tracefs / "kprobe_events").exists(),
        btf=Path("/sys/kernel/btf", _BTF).exists(),
        wrapper=here.wrapper or _WRAPPERS.get(platform.machine()),
    )


def _tracefs() -> Iterator[Path]:
    """Give the folders where tracefs is mounted."""
    for folder in map(Path, _TRACEFS):
        if _readable(folder / "available_events") is not None:
            yield folder
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for line in mounts.splitlines():
        _, mounted, kind, *_ = [*line.split(" "), "", "", ""]
        if kind == "tracefs" and _readable(Path(mounted, "available_events")) is not None:
            yield Path(mounted)


def _readable(file: Path | None) -> Path | None:
    """Give a file that can be read; a kernel may refuse its own lists, even to root."""
    if file is None:
        return None
    try:
        with file.open("rb") as opened:
            opened.read(1)
    except OSError:
        return None
    return file


def _inventory(
    events: Path | None, functions: Path | None, symbols: Path | None, *, btf: bool | None = None
) -> Inventory:
    traceable = None if functions is None else frozenset(_first_words(functions))
    known = None if symbols is None else frozenset(_symbols(symbols))
    return Inventory(
        events=None if events is None else frozenset(_first_words(events)),
        traceable=traceable,
        symbols=known,
        variants=dict(_variants(traceable or known or ())),
        btf=btf,
        wrapper=_wrapper(traceable or known or ()),
    )


def _first_words(file: Path) -> list[str]:
    # A function of a module is followed by the module's name.
    return _FIRST_WORD.findall(file.read_text(encoding="utf-8", errors="replace"))


def _symbols(file: Path) -> list[str]:
    # Address, type, name; a name of a module follows.
    return _SYMBOL.findall(file.read_text(encoding="utf-8", errors="replace"))


def _variants(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if "." in name and (made := _MADE_OF.fullmatch(name)) is not None:
            yield made[1], name


def _wrapper(names: Collection[str]) -> str | None:
    known = (*_WRAPPERS.values(), _OLD_WRAPPER)
    return next((prefix for prefix in known if f"{prefix}openat" in names), None)
