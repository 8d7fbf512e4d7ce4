"""The events that a command is asked about."""
