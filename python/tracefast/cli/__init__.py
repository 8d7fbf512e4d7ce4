"""The command line. Importing it imports little: each command imports what it needs."""

import sys
from contextlib import suppress

from tracefast.cli.system.signals import (
    exit_code_of_interrupt,
    ignore_interrupts,
    turn_termination_into_interrupt,
)
from tracefast.cli.system.streams import open_missing_streams


def main() -> None:
    """Run the command line, and leave with its exit code."""
    open_missing_streams()
    if sys.argv[1:] == ["--version"]:
        # Scripts call this often: it is fast without the commands.
        from tracefast._core import __version__

        with suppress(OSError):  # The commands print a message for this.
            print(f"tracefast {__version__}", flush=True)
            return
    turn_termination_into_interrupt()
    try:
        from tracefast.cli.app import run

        code = run()
        ignore_interrupts()
    except KeyboardInterrupt:
        ignore_interrupts()
        code = exit_code_of_interrupt()
    sys.exit(code)
