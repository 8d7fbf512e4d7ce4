"""The columns of the tables that compare runs."""
