"""The commands that compare runs with each other, and with limits."""
