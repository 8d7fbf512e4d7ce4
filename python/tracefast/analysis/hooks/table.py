"""One row per system call of a log: its tracepoints, its functions, what watching it would cost."""

import os
from collections.abc import Iterator
from typing import Any, Final

import polars as pl

from tracefast import _core
from tracefast._polars.declared_schema import declared_schema
from tracefast._polars.folds import folded
from tracefast._polars.given_events import Events
from tracefast._polars.map_rows import map_rows
from tracefast.analysis.hooks.inventory import Inventory, read_inventory, this_machine
from tracefast.analysis.hooks.points import Function, Points, read_points

SCHEMA: Final = declared_schema("hooks")
# What the choice of calls for a script needs besides.
DETAILS: Final = ("bytes",)
# How strace prints a call that it does not know.
_BY_NUMBER: Final = "syscall_0x"
_SECOND: Final = 1_000_000_000


def hooks(
    events: Events,
    inventory: str | os.PathLike[str] | None = None,
    *,
    points: str | os.PathLike[str] | None = None,
) -> pl.LazyFrame:
    r"""Give one row per system call of a log: where the kernel lets you watch it, and at what rate.

    Parameters
    ----------
    events
        The events of a log, of Parquet files, or a part of them.
    inventory
        A folder with the lists of the kernel that will be traced: ``available_events`` and
        ``available_filter_functions`` of tracefs, ``kallsyms`` of ``/proc``, or some of them. By
        default they are read from this machine, as far as it lets.
    points
        A file with more hook points, in the form of the package's own ``points.toml``.

    Returns
    -------
    polars.LazyFrame
        Largest `total_ns` first. Null means that it is not known, or that there is none: see `why`.

        `source` : String
            The log.
        `name` : String
            The call.
        `calls` : UInt32
            Number of calls.
        `errors` : UInt32
            Calls that returned an error, as in `tracefast.syscalls`.
        `total_ns` : Int64
            Sum of all durations; null if the log has none.
        `events_per_s` : Float64
            Entries and exits of the call per second of the log, from its first event to its last.
            This is how often a probe on both tracepoints would have run. Null if the log has no
            times.
        `tracepoint_enter`, `tracepoint_exit` : String
            Its tracepoints, such as ``syscalls:sys_enter_read``; null if there is none, see `why`.
        `wrapper` : String
            The function at which the call arrives in the kernel, such as ``__x64_sys_read``. Its
            only argument are the registers of the program, as ``struct pt_regs`` (from 4.17). Null
            if the kernel lacks it, or if its machine is not known.
        `functions` : List(Struct)
            Functions of the kernel that serve the call, from the outside inwards: `name`; `probe`,
            which is ``fentry`` or ``fexit`` where the kernel has its own types (BTF), otherwise
            ``kprobe`` or ``kretprobe``; `tells`, what its arguments or its result say; `since` and
            `until`, the first and last version that is known to have it (null: older than 4.4;
            still there). Without those that the kernel lacks.
        `related` : List(String)
            Tracepoints that show what the call set off: scheduler, page cache, disks, network.
            Without those that the kernel lacks.
        `available` : String
            Whether the kernel has its tracepoints: ``yes``, ``no``, or ``unknown`` without a list.
        `why` : String
            Why it is not available, why its exit is not, and which functions the kernel lacks.

    Raises
    ------
    OSError
        The folder, a list in it, or the file with more points cannot be read.
    Error
        The folder has none of the lists; or the file does not have the form.
    polars.exceptions.ColumnNotFoundError
        The events lack a column that is needed.

    Examples
    --------
    The kernel that will be traced has these tracepoints:

    >>> from pathlib import Path
    >>> import tracefast as tf
    >>> kernel = Path("kernel")
    >>> kernel.mkdir()
    >>> names = ["enter_read", "exit_read", "enter_openat", "exit_openat"]
    >>> listed = "".join(f"syscalls:sys_{name}\n" for name in names)
    >>> _ = (kernel / "available_events").write_text(listed)
    >>> table = tf.hooks(tf.scan("demo.strace"), kernel).collect()
    >>> table.select("name", "calls", "tracepoint_enter", "available").row(2)
    ('read', 2, 'syscalls:sys_enter_read', 'yes')
    >>> table["functions"][2][0]
    {'name': 'ksys_read', 'probe': 'kprobe', 'tells': 'arg0 descriptor, arg2 bytes asked for',
     'since': '4.18', 'until': None}
    """
    return hooks_in_detail(events, chosen_inventory(inventory), read_points(points)).select(
        SCHEMA.names()
    )


def chosen_inventory(folder: str | os.PathLike[str] | None) -> Inventory:
    """Give the lists of a kernel: from a folder, or of this machine."""
    return this_machine() if folder is None else read_inventory(folder)


def hooks_in_detail(events: Events, inventory: Inventory, points: Points) -> pl.LazyFrame:
    """Give the rows of `hooks` with what the choice of calls for a script needs besides."""
    calls = folded(
        events,
        lambda: _core.Syscalls(span=True),
        name="SYSCALLS",
        question="tracefast.hooks",
    )
    details = {name: calls.collect_schema()[name] for name in DETAILS}
    return map_rows(calls, lambda rows: _with_hooks(rows, inventory, points), {**SCHEMA, **details})


def _with_hooks(calls: pl.DataFrame, inventory: Inventory, points: Points) -> pl.DataFrame:
    """Add hook points to the table of system calls."""
    finder = _Finder(inventory, points)
    found = [finder.hooks(name) for name in calls["name"].unique(maintain_order=True)]
    known = {name: SCHEMA[name] for name in _FOUND}
    no_exit = pl.col("name").is_in(finder.no_exit)
    exits = (
        pl.when(no_exit).then(0).otherwise(pl.col("calls").cast(pl.Int64) - pl.col("unfinished"))
    )
    span = pl.when(pl.col("span_ns") > 0).then(pl.col("span_ns"))
    return (
        calls.with_columns(events_per_s=(pl.col("calls") + exits) * _SECOND / span)
        .join(pl.DataFrame(found, schema=known), on="name", how="left", maintain_order="left")
        .select(*SCHEMA.names(), *DETAILS)
    )


class _Finder:
    """Finds the hook points of calls in one kernel."""

    def __init__(self, inventory: Inventory, points: Points) -> None:
        self._inventory, self._points = inventory, points
        self._no_exit = dict.fromkeys(_core.syscalls_that("ends"), "it does not return")
        self._no_exit |= points.no_exit

    @property
    def no_exit(self) -> list[str]:
        """Calls whose exit is never traced."""
        return list(self._no_exit)

    def hooks(self, call: str) -> dict[str, Any]:
        """Give the hook points of a call, in the columns of the table."""
        name = self._points.tracepoint(call)
        event = f"syscalls:sys_enter_{name}"
        available = False if name is None else self._inventory.has_event(event)
        enter = exits = wrapper = None
        if name is not None and available is not False:
            enter = event
            exits = None if call in self._no_exit else f"syscalls:sys_exit_{name}"
            wrapper = self._wrapper(name)
        functions = list(self._functions(call))
        notes = (self._why(call, available), self._missing(call))
        return {
            "name": call,
            "tracepoint_enter": enter,
            "tracepoint_exit": exits,
            "wrapper": wrapper,
            "functions": functions,
            "related": self._related(call),
            "available": {True: "yes", False: "no", None: "unknown"}[available],
            "why": "; ".join(note for note in notes if note) or None,
        }

    def _why(self, call: str, available: bool | None) -> str | None:
        """Say why a call cannot be watched, or not from both ends."""
        if available is None:
            return "no list of tracepoints: available_events was not given, or cannot be read"
        if available:
            reason = self._no_exit.get(call)
            return reason and f"no exit: {reason}"
        if self._points.tracepoint(call) is None:
            return "not the name of a call"
        if self._inventory.has_event("syscalls:sys_enter_exit_group") is False:
            return "this kernel has no tracepoints of system calls (CONFIG_FTRACE_SYSCALLS)"
        if call.startswith(_BY_NUMBER):
            return "the log has only its number: a newer strace knows its name"
        return self._points.absent.get(
            call, "not in this kernel (another version or machine, or 32-bit)"
        )

    def _wrapper(self, name: str) -> str | None:
        if self._inventory.wrapper is None:
            return None
        wrapper = f"{self._inventory.wrapper}{name}"
        return None if self._inventory.has_function(wrapper) is False else wrapper

    def _functions(self, call: str) -> Iterator[dict[str, str | None]]:
        """Give the probes on functions of the kernel; of those that it has, or may have."""
        inventory = self._inventory
        if inventory.kprobes is False and not inventory.btf:
            return
        at = ("fentry", "fexit") if inventory.btf else ("kprobe", "kretprobe")
        for function in self._known(call):
            if inventory.has_function(function.name) is False:
                continue
            for probe, tells in zip(at, (function.entry, function.result), strict=True):
                if tells is not None:
                    yield {
                        "name": function.name,
                        "probe": probe,
                        "tells": tells,
                        "since": function.since,
                        "until": function.until,
                    }

    def _known(self, call: str) -> list[Function]:
        names = self._points.functions.get(call, ())
        return [self._points.known[name] for name in names if name in self._points.known]

    def _missing(self, call: str) -> str | None:
        """Name the functions that the kernel lacks, apart from those of older versions."""
        inventory = self._inventory
        functions = self._known(call)
        if functions and inventory.kprobes is False and not inventory.btf:
            return "no probes on functions (CONFIG_KPROBES, CONFIG_DEBUG_INFO_BTF)"
        lacking = []
        for function in functions:
            if inventory.has_function(function.name) is not False or function.until is not None:
                continue
            if (variant := inventory.variants.get(function.name)) is not None:
                lacking.append(f"{function.name} (there is {variant}, its arguments may differ)")
            elif function.since is not None:
                lacking.append(f"{function.name} (since {function.since}, or inlined)")
            else:
                lacking.append(f"{function.name} (inlined)")
        return f"no {', '.join(lacking)}" if lacking else None

    def _related(self, call: str) -> list[str]:
        events = self._points.related.get(call, ())
        return [event for event in events if self._inventory.has_event(event) is not False]


# The columns that are found by the name of a call.
_FOUND: Final = (
    "name",
    "tracepoint_enter",
    "tracepoint_exit",
    "wrapper",
    "functions",
    "related",
    "available",
    "why",
)
