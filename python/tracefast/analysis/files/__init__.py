"""The table of files, and what else is asked about files."""
