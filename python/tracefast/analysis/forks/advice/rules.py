"""All rules of advice, in the order in which they are applied."""

from collections.abc import Callable
from typing import Final

from tracefast.analysis.forks.advice.case import Advice, Case
from tracefast.analysis.forks.advice.error_pipe import error_pipe
from tracefast.analysis.forks.advice.fork_per_epoch import fork_per_epoch
from tracefast.analysis.forks.advice.many_processes import many_processes
from tracefast.analysis.forks.advice.page_table_copy import page_table_copy
from tracefast.analysis.forks.advice.path_probes import path_probes
from tracefast.analysis.forks.advice.re_imports import re_imports
from tracefast.analysis.forks.advice.slow_linking import slow_linking
from tracefast.analysis.forks.advice.threads_at_fork import threads_at_fork

RULES: Final[tuple[Callable[[Case], Advice | None], ...]] = (
    page_table_copy,
    error_pipe,
    many_processes,
    fork_per_epoch,
    re_imports,
    threads_at_fork,
    path_probes,
    slow_linking,
)


def advise(case: Case) -> list[Advice]:
    """Ask all rules about the processes of one group."""
    said = (rule(case) for rule in RULES)
    return [advice for advice in said if advice is not None]
