"""`tracefast flow`: where data went, what files were for, the parts of the run."""

from dataclasses import replace
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from tracefast.cli.command_line.exit_codes import DONE, FAILED
from tracefast.cli.command_line.request import Request, table_command
from tracefast.cli.messages.errors import CommandError
from tracefast.cli.output.form import Format

if TYPE_CHECKING:
    import polars as pl

    from tracefast.analysis.flow.edges import By as Grouping

PICTURES: Final = (".svg", ".dot", ".mmd", ".html")
_MAIN: Final = ("ts_first", "how", "bytes", "calls", "phase", "src_kind", "src", "dst_kind", "dst")
# What narrow terminals do without, the first one first.
_SPARE: Final = ("phase", "ts_first", "src_kind", "dst_kind", "calls")
_ROLES: Final = ("role", "decided_by", "removed", "writers", "readers", "path", "from_path")
_SPARE_ROLES: Final = ("from_path", "removed", "decided_by", "readers", "writers")
_PHASES: Final = ("ts_start", "dur_ns", "count", "pid", "name")
_NODES: Final = 60
_LINES_PER_NODE: Final = 2


class By(StrEnum):
    """What processes are called by."""

    PROCESS = "process"
    IMAGE = "image"
    PHASE = "phase"


class Kind(StrEnum):
    """What data comes from and goes to, apart from processes."""

    FILE = "file"
    PIPE = "pipe"
    SOCKET = "socket"
    SHM = "shm"
    HOST = "host"


@table_command(pictures=PICTURES)
def flow(
    request: Request,
    *,
    match: Annotated[
        str | None,
        typer.Option(metavar="GLOB", help="Only what goes to or comes from names that match."),
    ] = None,
    type_: Annotated[
        Kind | None, typer.Option("--type", help="Only what goes to or comes from this.")
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="One node per process, program, or phase.  [default: process]", show_default=False
        ),
    ] = None,
    roles: Annotated[
        bool, typer.Option("--roles", help="One row per file: what it was for.")
    ] = False,
    phases: Annotated[
        bool, typer.Option("--phases", help="One row per phase that the program marked.")
    ] = False,
    code: Annotated[
        bool,
        typer.Option("--code", help="Draw programs, libraries, modules and settings, too."),
    ] = False,
    nodes: Annotated[
        int,
        typer.Option(min=2, metavar="N", help="Draw at most N nodes, and twice as many lines."),
    ] = _NODES,
) -> int:
    """Show where data went: which process read and wrote what, and what is input and result.

    First come the inputs, intermediate files and results in numbers, then how much went from where
    to where; files and processes that are alike are one line. Programs, libraries, modules and
    settings are left out. Formats other than table, --wide and --sort give all edges, one row per
    source, target and way; --roles what each file was for. With -o and the suffix .svg, .dot
    (Graphviz), .mmd (Mermaid) or .html, a picture.

    \b
    Examples:
      strace -f -ttt -T -yy -o app.strace ./app; tracefast flow app.strace
      tracefast flow app.strace -o flow.svg
      tracefast flow app.parquet --roles --where "role = 'result'"
      tracefast flow app.parquet --match '*.csv' --by image
      tracefast flow app.strace --by phase -o flow.html
    """
    if roles and phases:
        raise CommandError("--roles and --phases are two tables", "leave out one of them")
    if request.picture and (roles or phases):
        raise CommandError(
            f"-o {request.output}: a picture shows the edges", "leave out --roles or --phases"
        )
    grouping: Grouping = (by or By.PROCESS).value
    phase = None
    if phases or by is By.PHASE:
        # The events of a phase alone do not show that they are in it.
        phase = request.phase
        request = replace(request, phase=None)
    if phases:
        complete = _print_phases(request, match, phase)
    elif roles:
        complete = _print_roles(request, match)
    elif request.picture or (request.form is Format.TABLE and not (request.wide or request.sort)):
        chosen = _Chosen(match, type_, phase)
        complete = _report(request, grouping, chosen, code=code, nodes=nodes)
    else:
        complete = _print_edges(request, grouping, _Chosen(match, type_, phase))
    return DONE if complete else FAILED


class _Chosen(NamedTuple):
    """Which edges are wanted: None for all."""

    match: str | None
    kind: Kind | None
    phase: str | None


def _print_phases(request: Request, match: str | None, name: str | None) -> bool:
    """Print the phases; say whether all inputs could be read."""
    from tracefast.analysis.flow.phases import SCHEMA, phases
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.messages.hints import NO_PHASE
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    check_columns(request, SCHEMA)
    rows, complete = run_analysis(request, phases)
    if rows is None:
        return False
    if rows.is_empty():
        request.note(NO_PHASE)
    if name is not None:
        rows = rows.filter(name=name)
    table = filter_rows(rows, request, match, "name")
    print_table(table, request, main=_PHASES, noun=("phase", "phases"))
    return complete


def _print_roles(request: Request, match: str | None) -> bool:
    """Print the roles of files; say whether all inputs could be read."""
    from tracefast.analysis.flow.roles import SCHEMA, roles
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.flow.gaps import gap_lines
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    check_columns(request, SCHEMA)
    gaps: list[str] = []
    rows, complete = run_analysis(request, lambda events: roles(events, gaps=gaps.extend))
    if rows is None:
        return False
    request.note_lines(gap_lines(gaps, None))
    table = filter_rows(rows, request, match, "path")
    print_table(table, request, main=_ROLES, spare=_SPARE_ROLES, noun=("file", "files"))
    return complete


def _print_edges(request: Request, grouping: "Grouping", chosen: _Chosen) -> bool:
    """Print the edges; say whether all inputs could be read."""
    from tracefast.analysis.flow.edges import SCHEMA, flow
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.flow.gaps import gap_lines
    from tracefast.cli.screen.result_table import check_columns, filter_rows, print_table

    check_columns(request, SCHEMA)
    gaps: list[str] = []
    rows, complete = run_analysis(
        request, lambda events: flow(events, by=grouping, gaps=gaps.extend)
    )
    if rows is None:
        return False
    request.note_lines(gap_lines(gaps, None))
    table = filter_rows(_filtered(rows, request, chosen), request)
    print_table(table, request, main=_MAIN, spare=_SPARE, noun=("edge", "edges"))
    return complete


def _report(
    request: Request,
    grouping: "Grouping",
    chosen: _Chosen,
    *,
    code: bool,
    nodes: int,
) -> bool:
    """Print or draw both tables; say whether all inputs could be read."""
    import polars as pl

    from tracefast.analysis.flow.edges import SCHEMA, flow
    from tracefast.cli.inputs.event_sources import run_analysis
    from tracefast.cli.screen.flow.gaps import gap_lines
    from tracefast.cli.screen.flow.report import print_flow_report
    from tracefast.cli.screen.result_table import check_columns, filter_rows

    check_columns(request, SCHEMA)
    if request.picture:
        _check_picture(request)
    gaps: list[str] = []

    parts: list[pl.DataFrame] = []
    found, complete = run_analysis(
        request,
        lambda events: flow(events, by=grouping, gaps=gaps.extend, roles=parts.append),
    )
    if found is None:
        return False
    files = pl.concat(parts)
    found = filter_rows(_filtered(found, request, chosen), request)
    if any(chosen) or request.where is not None:
        files = _used(files, found)
    if request.picture:
        request.note_lines(gap_lines(gaps, None))
        _draw(found, files, request, code=code, nodes=nodes)
    else:
        wanted = any(chosen) or request.where is not None
        print_flow_report(found, files, request, gaps=gaps, chosen=wanted)
    return complete


def _filtered(edges: "pl.DataFrame", request: Request, chosen: _Chosen) -> "pl.DataFrame":
    """Keep the edges of names that match, of one kind of thing, of one phase."""
    import polars as pl

    from tracefast.cli.screen.result_table import filter_matching

    if chosen.kind is not None:
        wanted = chosen.kind.value
        edges = edges.filter(pl.any_horizontal(pl.col("src_kind", "dst_kind") == wanted))
    if chosen.phase is not None:
        edges = edges.filter(phase=chosen.phase)
    return filter_matching(edges, request, chosen.match, "src", "dst")


def _used(files: "pl.DataFrame", edges: "pl.DataFrame") -> "pl.DataFrame":
    """Keep the files that edges lead from or to."""
    import polars as pl

    names = pl.concat([edges.select("source", path=end) for end in ("src", "dst")]).unique()
    return files.join(names, on=["source", "path"], how="semi", nulls_equal=True)


def _check_picture(request: Request) -> None:
    """Refuse what cannot be drawn here, before any work is done."""
    from tracefast.cli.pictures.layout import can_layout

    if PurePath(request.output).suffix.lower() in {".svg", ".html"} and not can_layout():
        raise CommandError(
            f"-o {request.output}: this picture needs pygraphviz",
            "run: pip install 'tracefast[report]'; .dot and .mmd do not need it",
        )


def _draw(
    edges: "pl.DataFrame", files: "pl.DataFrame", request: Request, *, code: bool, nodes: int
) -> None:
    """Write a picture."""
    from tracefast.cli.output.write import write_bytes
    from tracefast.cli.pictures.flow import page, svg, texts
    from tracefast.cli.pictures.flow.graph import graph_of

    graph = graph_of(edges, files, code=code, nodes=nodes, most_lines=nodes * _LINES_PER_NODE)
    if not graph.groups:
        request.warn("nothing to draw: no data went anywhere")
    title = f"Where the data went: {', '.join(PurePath(name).name for name in request.inputs)}"
    match PurePath(request.output).suffix.lower():
        case ".dot":
            text = texts.dot(graph)
        case ".mmd":
            text = texts.mermaid(graph)
        case ".svg":
            text = svg.svg(graph, title)
        case _:
            text = page.page(graph, files, title)
    write_bytes(text.encode(), request.output, clobber=request.clobber)
