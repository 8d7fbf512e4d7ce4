"""`tracefast insights`."""
