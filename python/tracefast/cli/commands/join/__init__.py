"""`tracefast join`."""
