"""The command line. Importing it imports little else: every start pays for what it uses only."""

import sys
from contextlib import suppress

from tracefast.cli.system.signals import fill_streams, hear_endings


def main() -> None:
    """Run the command line, and leave with its exit code."""
    fill_streams()
    if sys.argv[1:] == ["--version"]:
        # Scripts ask for it often, and need none of the commands.
        from tracefast._core import __version__

        with suppress(OSError):  # Which the commands have words for.
            print(f"tracefast {__version__}", flush=True)
            return
    hear_endings()
    from tracefast.cli.app import run

    run()
