"""The columns of tables about worker processes."""
