"""The command line. Importing it imports little else: every start pays for what it uses only."""

import sys


def main() -> None:
    """Run the command line, and leave with its exit code."""
    if sys.argv[1:] == ["--version"]:
        # Scripts ask for it often, and need none of the commands.
        from tracefast._core import __version__

        print(f"tracefast {__version__}")
        return
    from tracefast.cli.app import run

    run()
