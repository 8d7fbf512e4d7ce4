"""The columns of tables by windows of time."""
