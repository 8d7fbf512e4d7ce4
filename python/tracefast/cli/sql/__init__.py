"""The engines of `tracefast sql`, and the tables that a query may name."""
