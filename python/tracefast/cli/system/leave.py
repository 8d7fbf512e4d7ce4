"""The end of the process."""

import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """End the process with an exit code, once everything is written.

    Python would take every object down first, and unload every module: a tenth of a second after a
    large log. The system takes all of it back in one go.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Python has words and an exit code for this.
        sys.exit(code)
    os._exit(code)
