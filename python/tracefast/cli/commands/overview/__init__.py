"""The command that runs for a log without a command."""
