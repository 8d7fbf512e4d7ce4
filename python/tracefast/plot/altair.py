"""Altair, which only those who draw need."""

import importlib
from typing import Any, Final

NEEDED: Final = "charts need altair and vl-convert: pip install 'tracefast[report]'"


def altair() -> Any:  # noqa: ANN401 - a module whose calls have long signatures
    """Import altair.

    Raises
    ------
    ModuleNotFoundError
        It is not installed; the message says how to install it.

    Examples
    --------
    >>> altair().Chart.__name__
    'Chart'
    """
    try:
        return importlib.import_module("altair")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(NEEDED, name="altair") from error
