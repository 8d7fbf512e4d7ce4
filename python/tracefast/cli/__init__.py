"""The command line. Importing it imports little: each command imports what it needs."""

import gc
import sys
from contextlib import suppress
from typing import Final, NoReturn

from tracefast.cli.system.leave import leave
from tracefast.cli.system.signals import (
    exit_code_of_interrupt,
    ignore_interrupts,
    turn_termination_into_interrupt,
)
from tracefast.cli.system.streams import open_missing_streams

# Modules make many objects, and all of them stay: with the default, a tenth of the start goes into
# looking for garbage among them.
_NEW_OBJECTS: Final = 50_000


def main() -> None:
    """Run the command line, and leave with its exit code."""
    gc.set_threshold(_NEW_OBJECTS)
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


def installed() -> NoReturn:
    """Run the command line as the installed command: nothing of this process is needed after it."""
    code: object = None
    try:
        main()
    except SystemExit as end:
        code = end.code
    leave(code if isinstance(code, int) else 0)
