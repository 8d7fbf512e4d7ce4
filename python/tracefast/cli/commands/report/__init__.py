"""`tracefast report`."""
