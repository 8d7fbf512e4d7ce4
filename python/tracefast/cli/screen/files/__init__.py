"""The table of files as text."""
