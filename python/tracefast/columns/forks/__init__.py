"""The columns of tables about processes that were started."""
