"""The columns of the tables about the flow of data."""
