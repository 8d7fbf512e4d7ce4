"""`tracefast export`."""
