"""`--plot` and `--hist`: what commands draw instead of printing their tables."""

import functools
import inspect
from collections.abc import Callable, Collection
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tracefast.cli.messages.errors import CommandError

if TYPE_CHECKING:
    from tracefast.cli.command_line.request import Request

# Which command draws what.
PLOTS: Final = {
    "blocks": ("latency", "timeline"),
    "files": ("offsets", "sizes", "timeline"),
    "forks": ("forks",),
    "processes": ("gantt", "memory"),
    "syscalls": ("latency", "timeline"),
    "waits": ("timeline",),
    "workers": ("batches",),
}
# Which command has histograms in text, of what.
HISTOGRAMS: Final = {
    "blocks": "latencies and sizes of requests",
    "files": "sizes of reads and writes",
    "forks": "times in the calls that start processes",
    "syscalls": "durations of the calls that take longest in sum",
    "waits": "durations of waits",
}
# Of these, --match chooses what is drawn.
_MATCHED: Final = frozenset(
    {
        ("files", "offsets"),
        ("files", "sizes"),
        ("files", "hist"),
        ("blocks", "latency"),
        ("syscalls", "latency"),
        ("syscalls", "hist"),
    }
)


def with_plots(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options ``--plot`` and ``--hist``, where it has charts and histograms.

    Parameters
    ----------
    command
        Takes a request, and its own options by name.
    """
    name = command.__name__
    signature = inspect.signature(command)

    @functools.wraps(command)
    def run(
        request: "Request",
        *,
        plot: StrEnum | None = None,
        hist: bool = False,
        **given: Any,  # noqa: ANN401
    ) -> int:
        if plot is None and not hist:
            return command(request, **given)
        if plot is not None and hist:
            raise CommandError("--plot and --hist: one result at a time", "leave out one of them")
        kind = "hist" if plot is None else plot.value
        option = "--hist" if plot is None else f"--plot {kind}"
        taken = {"match"} if (name, kind) in _MATCHED else set()
        _refuse_others(request, signature, given, taken, option)
        match = given.get("match")
        if plot is None:
            from tracefast.cli.commands.charts.histograms import print_histograms

            return print_histograms(request, name, match=match)
        from tracefast.cli.commands.charts.draw import draw

        return draw(request, name, kind, match=match)

    parameters = [*signature.parameters.values(), *_options(name)]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _options(name: str) -> list[inspect.Parameter]:
    """Declare the options of a command, for typer to read."""
    declared: list[tuple[str, object, object]] = []
    if name in PLOTS:
        kinds = StrEnum("Plot", {kind: kind for kind in PLOTS[name]})  # type: ignore[misc]
        plot = typer.Option("--plot", help="Draw a chart instead, into -o FILE.svg, .png or .html.")
        declared.append(("plot", None, Annotated[kinds | None, plot]))
    if name in HISTOGRAMS:
        hist = typer.Option("--hist", help=f"Print histograms instead: {HISTOGRAMS[name]}.")
        declared.append(("hist", False, Annotated[bool, hist]))
    return [
        inspect.Parameter(
            one, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for one, default, annotation in declared
    ]


def _refuse_others(
    request: "Request",
    signature: inspect.Signature,
    given: dict[str, Any],
    taken: Collection[str],
    option: str,
) -> None:
    """Refuse options that choose rows or columns of the table.

    Raises
    ------
    CommandError
        One of them was given.
    """
    changed = [
        name
        for name, value in given.items()
        if value != signature.parameters[name].default and name not in taken
    ]
    changed += [name for name in ("where", "sort", "top") if getattr(request, name) is not None]
    changed += ["wide"] if request.wide else []
    if changed:
        refused = "--" + changed[0].rstrip("_").replace("_", "-")
        raise CommandError(f"{refused}: not available with {option}", "leave it out")
