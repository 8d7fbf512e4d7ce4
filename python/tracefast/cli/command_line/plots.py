"""`--plot`: the charts that commands draw instead of printing their tables."""

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from tracefast.cli.messages.errors import CommandError

if TYPE_CHECKING:
    from tracefast.cli.command_line.request import Request

# Which command draws what.
PLOTS: Final = {
    "files": ("offsets", "sizes", "timeline"),
    "forks": ("forks",),
    "processes": ("gantt", "memory"),
    "syscalls": ("latency", "timeline"),
    "waits": ("timeline",),
    "workers": ("batches",),
}
# Of these, --match chooses what is drawn.
_MATCHED: Final = frozenset({("files", "offsets"), ("files", "sizes"), ("syscalls", "latency")})


def with_plots(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the option ``--plot``.

    Parameters
    ----------
    command
        Takes a request, and its own options by name.
    """
    name = command.__name__
    kinds = StrEnum("Plot", {kind: kind for kind in PLOTS[name]})  # type: ignore[misc]
    signature = inspect.signature(command)
    defaults = {
        one.name: one.default
        for one in signature.parameters.values()
        if one.default is not one.empty
    }

    @functools.wraps(command)
    def run(request: "Request", *, plot: StrEnum | None, **given: Any) -> int:  # noqa: ANN401
        if plot is None:
            return command(request, **given)
        taken = {"match"} if (name, plot.value) in _MATCHED else set()
        changed = [
            option
            for option, value in given.items()
            if value != defaults[option] and option not in taken
        ]
        changed += [option for option in ("where", "sort", "top") if getattr(request, option)]
        changed += ["wide"] if request.wide else []
        if changed:
            option = "--" + changed[0].rstrip("_").replace("_", "-")
            raise CommandError(f"{option}: not available with --plot {plot.value}", "leave it out")
        from tracefast.cli.pictures.plots import draw

        return draw(request, name, plot.value, match=given.get("match"))

    option = inspect.Parameter(
        "plot",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[
            kinds | None,
            typer.Option("--plot", help="Draw a chart instead, into -o FILE.svg, .png or .html."),
        ],
    )
    parameters = [*signature.parameters.values(), option]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run
