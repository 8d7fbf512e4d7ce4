"""The command line. Importing it imports nothing else: every start pays for what it uses only."""


def main() -> None:
    """Run the command line, and leave with its exit code."""
    from tracefast.cli.app import app

    app()
