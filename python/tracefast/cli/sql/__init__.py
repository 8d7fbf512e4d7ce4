"""What `tracefast sql` runs a query with."""
