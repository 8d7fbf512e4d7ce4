"""Print the overview of a log."""
